// What is the wasm backend's own: the same bytes from any number of threads, with activations kept, partly kept or run
// again; its memory and its threads; sigmoid and tanh against Math, and the dense layer's tanh against the host's, to
// the last bit.
import { readFile } from "node:fs/promises";
import { describe, expect, test } from "vitest";
import type { DeviceArray } from "../../src/compute/backend.ts";
import { createWasmBackend, type WasmBackend } from "../../src/compute/wasm/wasm-backend.ts";
import { type FromKernelThread, instantiateKernels, webAssembly } from "../../src/compute/wasm/worker.ts";
import { tanh as tanhOnHost } from "../../src/core/elementary.ts";
import { createRandom } from "../../src/core/random.ts";
import { openWasmBackend } from "../../src/node/workers/wasm-backend.ts";
import {
  bytesOf,
  codeOf,
  drawLstmProblem,
  place,
  placeLstm,
  readAll,
  runDense,
  runLstm,
} from "./problems.ts";

/** Relative, for sigmoid and tanh of float32 numbers in the range where they are not cut off. */
const ACTIVATION_TOLERANCE = 2e-6;

describe("the same bytes", () => {
  const problem = drawLstmProblem({ D: 6, H: 9, T: 21 }, 801);

  test("from one, two and three threads, in every run", async () => {
    for (const deterministic of [true, false]) {
      const seen: Record<string, string>[] = [];
      for (const threads of [1, 2, 3, 2]) {
        const backend = await openWasmBackend({ threads, deterministic });
        expect(backend.simd).toBe(deterministic ? "plain" : "relaxed");
        const shape = { inputs: 10, outputs: 33, activation: "tanh" } as const;
        for (let k = 0; k < 2; k++) {
          const dense = await runDense(backend, shape, 2001);
          seen.push(bytesOf({ ...(await runLstm(backend, problem)), ...dense }));
        }
        await backend.close();
      }
      for (const bytes of seen) expect(bytes).toEqual(seen[0]);
    }
  });

  test("when the memory holds the activations of some tiles only, or of none", async () => {
    const open = (memoryLimit?: number) =>
      openWasmBackend({ threads: 2, ...(memoryLimit === undefined ? {} : { memoryLimit }) });
    const whole = await open();
    const expected = bytesOf(await runLstm(whole, problem));
    await whole.close();
    // A tile's activations take (5·9 + 10)·64·21 bytes, those of 51 tiles 3.8 MB, all else about 0.8 MB. Half the limit
    // is theirs: 40 tiles, then 13, then none, because the other half does not hold all else.
    for (const memoryLimit of [6_000_000, 2_000_000, 1_000_000]) {
      const backend = await open(memoryLimit);
      const lstm = placeLstm(backend, problem);
      for (let k = 0; k < 2; k++) {
        await lstm.forward();
        await lstm.backward();
        expect(bytesOf(await lstm.results()), `${memoryLimit}`).toEqual(expected);
      }
      await backend.close();
    }
  });

  test("of several outputs, from one and two threads, with the activations of all tiles or of none", async () => {
    const several = drawLstmProblem({ D: 2, H: 7, T: 12, K: 3 }, 135);
    const seen: Record<string, string>[] = [];
    for (const options of [{ threads: 1 }, { threads: 2 }, { threads: 2, memoryLimit: 400_000 }]) {
      const backend = await openWasmBackend(options);
      seen.push(bytesOf(await runLstm(backend, several)));
      await backend.close();
    }
    for (const bytes of seen) expect(bytes).toEqual(seen[0]);
  });

  test("when a tape lost its room to an array, and when two tapes share it", async () => {
    const backend = await openWasmBackend({ threads: 2, memoryLimit: 8_000_000 });
    const lstm = placeLstm(backend, problem);
    await lstm.forward();
    await lstm.backward();
    const expected = bytesOf(await lstm.results());
    await lstm.forward();
    // 3.6 MB fit nowhere but where the 3.8 MB of the tape lie.
    const large = backend.allocate(900_000);
    await lstm.backward();
    expect(bytesOf(await lstm.results())).toEqual(expected);
    backend.release(large);
    const other = placeLstm(backend, problem);
    await lstm.forward();
    await other.forward();
    for (const one of [lstm, other]) {
      await one.backward();
      expect(bytesOf(await one.results())).toEqual(expected);
    }
    await backend.close();
  });
});

describe("sigmoid and tanh", () => {
  test.each(["plain", "relaxed"])("%s SIMD", async (simd) => {
    const bytes = await readFile(new URL(`../../dist/compute/kernels-${simd}.wasm`, import.meta.url));
    const memory = new webAssembly.Memory({ initial: 64, maximum: 64, shared: true });
    const kernels = instantiateKernels(await webAssembly.compile(new Uint8Array(bytes)), memory);
    const count = 100_000;
    const x = new Float32Array(memory.buffer, 1024, count);
    const sigmoids = new Float32Array(memory.buffer, 1024 + 4 * count, count);
    const tanhs = new Float32Array(memory.buffer, 1024 + 8 * count, count);
    const random = createRandom(3);
    // Half of them spread over ±40, half of every magnitude from 1e-30.
    for (let i = 0; i < count; i++) {
      const sign = random.uniform() < 0.5 ? -1 : 1;
      x[i] = sign * (i % 2 === 0 ? 40 * random.uniform() : 40 * 10 ** (-30 * random.uniform()));
    }
    x.set([0, -0, 1e9, -1e9, Infinity, -Infinity, Number.NaN, 1]);
    kernels.activate(x.byteOffset, sigmoids.byteOffset, tanhs.byteOffset, count, 64);
    expect(Array.from(sigmoids.subarray(0, 7))).toEqual([0.5, 0.5, 1, 2 ** -60, 1, 2 ** -60, Number.NaN]);
    expect(Array.from(tanhs.subarray(0, 7))).toEqual([0, 0, 1, -1, 1, -1, Number.NaN]);
    let worst = 0;
    for (let i = 7; i < count; i++) {
      const tanh = Math.tanh(x[i]);
      worst = Math.max(
        worst,
        Math.abs(sigmoids[i] * (1 + Math.exp(-x[i])) - 1),
        Math.abs(tanhs[i] - tanh) / Math.abs(tanh),
      );
    }
    expect(worst).toBeLessThan(ACTIVATION_TOLERANCE);
  });

  test.each([true, false])(
    "tanh of a dense layer is the host's, rounded (deterministic: %s)",
    async (deterministic) => {
      const backend = await openWasmBackend({ threads: 2, deterministic });
      const random = createRandom(4);
      const count = 200_000;
      const x = Float32Array.from({ length: count }, (_, i) => {
        const sign = random.uniform() < 0.5 ? -1 : 1;
        return sign * (i % 2 === 0 ? 25 * random.uniform() : 25 * 10 ** (-20 * random.uniform()));
      });
      x.set([0, -0, 0.125, -0.125, 22, -22, 23, 1e30, -1e30, Infinity, -Infinity, Number.NaN]);
      const out = backend.allocate(count);
      const weights = { weight: place(backend, [1]), bias: place(backend, [0]) };
      const shape = { inputs: 1, outputs: 1, activation: "tanh" } as const;
      await backend.denseForward(shape, weights, place(backend, x), count, out);
      const expected = Float32Array.from(x, tanhOnHost);
      expected[1] = 0; // −0 + 0, before the tanh
      expect(bytesOf({ out: await backend.read(out) })).toEqual(bytesOf({ out: expected }));
      await backend.close();
    },
  );
});

describe("what is refused", () => {
  const shape = { D: 2, H: 3, T: 4 };

  test("sizes that are none", async () => {
    const backend = await openWasmBackend({ threads: 1 });
    const { weights, x, logits } = placeLstm(backend, drawLstmProblem(shape, 5));
    const forward = (H: number) => backend.lstmForward({ ...shape, H }, weights, x, 5, logits, null);
    expect(await codeOf(() => forward(3))).toBe("none");
    expect(await codeOf(() => forward(0))).toBe("size.invalid");
    expect(await codeOf(() => backend.allocate(-1))).toBe("size.invalid");
    await backend.close();
  });

  test("what is released is handed out again, zeroed", async () => {
    const backend = await openWasmBackend({ threads: 1, memoryLimit: 2 ** 20 });
    const fill = (array: DeviceArray, value: number) =>
      backend.write(array, new Float32Array(array.length).fill(value));
    const kept = backend.allocate(1000);
    fill(kept, 7);
    for (let k = 0; k < 100; k++) {
      const [one, other] = [backend.allocate(100_000), backend.allocate(100_000)];
      const numbers = await readAll(backend, { one, other });
      expect([numbers.one.some(Boolean), numbers.other.some(Boolean)]).toEqual([false, false]);
      for (const array of k % 2 === 0 ? [one, other] : [other, one]) {
        fill(array, k);
        backend.release(array);
      }
    }
    expect((await backend.read(kept)).every((value) => value === 7)).toBe(true);
    await backend.close();
  });

  test("two operations at once, any after the end, more memory than the limit", async () => {
    const backend: WasmBackend = await openWasmBackend({ threads: 1, memoryLimit: 2 ** 20 });
    const { weights, x, logits } = placeLstm(backend, drawLstmProblem(shape, 5));
    const forward = () => backend.lstmForward(shape, weights, x, 5, logits, null);
    const first = forward();
    expect(await codeOf(forward)).toBe("backend.busy");
    await first;
    expect(await codeOf(forward)).toBe("none");
    expect(await codeOf(() => backend.allocate(2 ** 20))).toBe("memory.exhausted");
    await backend.close();
    await backend.close();
    expect(await codeOf(forward)).toBe("backend.closed");
  });

  test("options that are none", async () => {
    await expect(openWasmBackend({ threads: 0 })).rejects.toThrow(
      "the number of threads is not a positive whole number: 0",
    );
    await expect(openWasmBackend({ memoryLimit: 10 })).rejects.toThrow("below one page");
  });

  test("a thread that fails is reported", async () => {
    const module = await webAssembly.compile(
      new Uint8Array(await readFile(new URL("../../dist/compute/kernels-plain.wasm", import.meta.url))),
    );
    let listener: (message: FromKernelThread) => void = () => {};
    const backend = await createWasmBackend({
      module,
      simd: "plain",
      threads: 1,
      memoryLimit: 2 ** 20,
      startThread(listen) {
        listener = listen;
        return {
          start: () => listen({ kind: "ready" }),
          hold: () => queueMicrotask(() => listener({ kind: "failed", what: "no power" })),
          release: () => {},
          end: async () => {},
        };
      },
    });
    const layer = { weight: backend.allocate(1), bias: backend.allocate(1) };
    const x = backend.allocate(1);
    const one = { inputs: 1, outputs: 1, activation: "none" } as const;
    const forward = () => backend.denseForward(one, layer, x, 1, x);
    await expect(forward()).rejects.toThrow("a thread of the wasm backend failed: no power");
    expect(await codeOf(forward)).toBe("backend.failed");
  });
});
