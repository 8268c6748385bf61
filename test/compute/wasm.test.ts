// The float32 kernels against the float64 reference at odd sizes, on one and two threads, with plain and relaxed SIMD; the same
// bytes for any number of threads, with activations kept, partly kept or run again; sigmoid and tanh against Math.
import { readFile } from "node:fs/promises";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import type { Backend, DenseWeights, Floats, LstmShape, LstmWeights } from "../../src/compute/backend.ts";
import { createReferenceBackend } from "../../src/compute/reference.ts";
import { createWasmBackend, type WasmBackend } from "../../src/compute/wasm/wasm-backend.ts";
import { webAssembly } from "../../src/compute/wasm/web-assembly.ts";
import { type FromKernelThread, instantiateKernels } from "../../src/compute/wasm/worker.ts";
import { BackendError } from "../../src/core/errors.ts";
import { createRandom } from "../../src/core/random.ts";
import { openWasmBackend } from "../../src/node/workers/wasm-backend.ts";

/** Of the largest entry. */
const TOLERANCE = 2e-5;
/** Relative, for sigmoid and tanh of float32 numbers in the range where they are not cut off. */
const ACTIVATION_TOLERANCE = 2e-6;

const reference = createReferenceBackend();
const backends: WasmBackend[] = [];

beforeAll(async () => {
  for (const deterministic of [true, false]) {
    for (const threads of [1, 2]) backends.push(await openWasmBackend({ threads, deterministic }));
  }
});

afterAll(async () => {
  for (const backend of backends) await backend.close();
});

function draw(length: number, seed: number, scale = 1): Float32Array {
  const random = createRandom(seed, length);
  return Float32Array.from({ length }, () => random.normal() * scale);
}

function place(backend: Backend, values: Float32Array): Floats {
  const array = backend.allocate(values.length);
  array.set(values);
  return array;
}

function mapArrays<W extends Readonly<Record<keyof W, Floats>>>(weights: W, map: (a: Floats) => Floats): W {
  return Object.fromEntries(Object.entries<Floats>(weights).map(([key, array]) => [key, map(array)])) as W;
}

/** Of the size that a network starts with: 1/√H. */
function drawLstm({ D, H }: LstmShape, seed: number): LstmWeights {
  const scale = 1 / Math.sqrt(H);
  return {
    input: draw(4 * H * (D + 1), seed, scale),
    recurrent: draw(4 * H * H, seed + 1, scale),
    inputBias: draw(4 * H, seed + 2, scale),
    recurrentBias: draw(4 * H, seed + 3, scale),
    output: draw(H, seed + 4, scale),
    outputBias: draw(1, seed + 5, scale),
  };
}

interface Problem {
  readonly shape: LstmShape;
  readonly N: number;
  readonly weights: LstmWeights;
  readonly x: Float32Array;
  readonly dLogits: Float32Array;
}

/** Rows from `distinct` on are the first ones over again. */
function drawProblem(shape: LstmShape, N: number, distinct = N): Problem {
  const x = repeatTo(N * shape.D, draw(distinct * shape.D, 7));
  const dLogits = repeatTo(N * shape.T, draw(distinct * shape.T, 8));
  return { shape, N, weights: drawLstm(shape, 11), x, dLogits };
}

function repeatTo(length: number, values: Float32Array): Float32Array {
  return Float32Array.from({ length }, (_, i) => values[i % values.length]);
}

type Step = "forward" | "backward";

/** Logits and gradient after the steps, in the order given; both start from 0.5, because operations add. */
async function runLstm(backend: Backend, problem: Problem, steps: readonly Step[]) {
  const { shape, N } = problem;
  const weights = mapArrays(problem.weights, (array) => place(backend, array as Float32Array));
  const gradient = mapArrays(weights, (array) => backend.allocate(array.length));
  const x = place(backend, problem.x);
  const logits = backend.allocate(N * shape.T);
  const dLogits = place(backend, problem.dLogits);
  for (const step of steps) {
    if (step === "forward") {
      logits.fill(0.5);
      await backend.lstmForward(shape, weights, x, N, logits);
    } else {
      for (const array of Object.values<Floats>({ ...gradient })) array.fill(0.5);
      await backend.lstmBackward(shape, weights, x, N, dLogits, gradient);
    }
  }
  return { logits, ...gradient };
}

function expectClose(actual: object, expected: object, label: string): void {
  const truth = new Map(Object.entries<Floats>({ ...expected }));
  for (const [name, values] of Object.entries<Floats>({ ...actual })) {
    const wanted = truth.get(name) ?? new Float64Array(0);
    expect(values.length).toBe(wanted.length);
    let largest = 0;
    let worst = 0;
    for (let i = 0; i < wanted.length; i++) {
      largest = Math.max(largest, Math.abs(wanted[i]));
      const gap = Math.abs(values[i] - wanted[i]);
      if (!(gap <= worst)) worst = gap;
    }
    expect(worst / largest, `${label}: ${name}`).toBeLessThan(TOLERANCE);
  }
}

function bytesOf(arrays: object): Record<string, string> {
  return Object.fromEntries(
    Object.entries<Floats>({ ...arrays }).map(([name, a]) => [
      name,
      Buffer.from(a.buffer, a.byteOffset, a.byteLength).toString("base64"),
    ]),
  );
}

const labelOf = (backend: WasmBackend) => `${backend.simd} SIMD, ${backend.threads} threads`;

describe("the LSTM against the reference", () => {
  /**
   * The reference's answer to a problem whose rows repeat: a row's logits are its own, and the gradient is a sum over rows, so it
   * takes one pass over the distinct rows and one over those of the last, incomplete round.
   */
  async function answer(shape: LstmShape, N: number, distinct: number) {
    const pass = (rows: number) =>
      runLstm(reference, drawProblem(shape, rows, distinct), ["forward", "backward"]);
    const { logits, ...sums } = await pass(distinct);
    if (distinct === N) return { logits, ...sums };
    const { logits: _, ...last } = await pass(N % distinct);
    const rounds = Math.floor(N / distinct);
    const gradient = Object.entries<Floats>(sums).map(([name, sum]) => {
      const rest = new Map(Object.entries<Floats>(last)).get(name) ?? [];
      return [name, Float64Array.from(sum, (value, i) => 0.5 + rounds * (value - 0.5) + (rest[i] - 0.5))];
    });
    const all = Float64Array.from({ length: N * shape.T }, (_, i) => logits[i % logits.length]);
    return { logits: all, ...Object.fromEntries(gradient) };
  }

  /** Every backend twice, because a second forward pass keeps its activations. */
  async function expectReference(shape: LstmShape, N: number, distinct = N): Promise<void> {
    const problem = drawProblem(shape, N, distinct);
    const truth = await answer(shape, N, distinct);
    for (const backend of backends) {
      const label = `N ${N}, ${labelOf(backend)}`;
      const again = await runLstm(backend, problem, ["forward", "backward"]);
      const kept = await runLstm(backend, problem, ["forward", "backward", "forward", "backward"]);
      expectClose(again, truth, label);
      expect(bytesOf(kept), label).toEqual(bytesOf(again));
    }
  }

  const shapes = [1, 2, 102].flatMap((T) => [1, 5, 50, 64].map((H) => ({ T, H, D: 10 })));
  test.each(shapes)("T $T, H $H, for N 1, 3, 17 and 257", async (shape) => {
    for (const N of [1, 3, 17]) await expectReference(shape, N);
    // A tile has 16 rows, so in rounds of 17 no two of the 17 tiles are alike; with few bins all rows are distinct.
    await expectReference(shape, 257, shape.T === 102 ? 17 : 257);
  });

  test.each([
    { N: 3, T: 2, H: 5, D: 0 },
    { N: 3, T: 102, H: 64, D: 38 },
    { N: 257, T: 7, H: 3, D: 1 },
    { N: 33, T: 9, H: 24, D: 3 },
  ])("N $N, T $T, H $H, D $D", async ({ N, T, H, D }) => expectReference({ D, H, T }, N));

  test("saturated gates stay finite and right", async () => {
    const problem = drawProblem({ D: 3, H: 4, T: 5 }, 19);
    const large = { ...problem, x: draw(19 * 3, 5, 200) };
    const truth = await runLstm(reference, large, ["forward", "backward"]);
    for (const backend of backends) {
      expectClose(await runLstm(backend, large, ["forward", "backward"]), truth, labelOf(backend));
    }
  });

  test("tiny weights keep their digits", async () => {
    const problem = drawProblem({ D: 3, H: 6, T: 9 }, 33);
    const weights = mapArrays(problem.weights, (array) => array.map((value) => value * 1e-3));
    const tiny = { ...problem, weights: { ...weights, outputBias: new Float32Array(1) } };
    const truth = await runLstm(reference, tiny, ["backward"]);
    for (const backend of backends) {
      const { logits: _, ...gradient } = await runLstm(backend, tiny, ["backward"]);
      const { logits: __, ...wanted } = truth;
      expectClose(gradient, wanted, labelOf(backend));
    }
  });

  test("a row that is not a number spoils only itself", async () => {
    const problem = drawProblem({ D: 2, H: 3, T: 4 }, 20);
    const x = problem.x.slice();
    x[2 * 5] = Number.NaN;
    const clean = await runLstm(backends[0], problem, ["forward"]);
    const spoiled = await runLstm(backends[0], { ...problem, x }, ["forward"]);
    for (let i = 0; i < clean.logits.length; i++) {
      expect(spoiled.logits[i]).toBe(Math.floor(i / 4) === 5 ? Number.NaN : clean.logits[i]);
    }
  });
});

describe("the same bytes", () => {
  const problem = drawProblem({ D: 6, H: 9, T: 21 }, 801);
  const steps: readonly Step[] = ["forward", "backward", "forward", "backward"];

  test("from one, two and three threads, in every run", async () => {
    for (const deterministic of [true, false]) {
      const seen: Record<string, string>[] = [];
      for (const threads of [1, 2, 3, 2]) {
        const backend = await openWasmBackend({ threads, deterministic });
        expect(backend.simd).toBe(deterministic ? "plain" : "relaxed");
        seen.push(bytesOf(await runLstm(backend, problem, steps)));
        seen.push(bytesOf(await runLstm(backend, problem, steps)));
        await backend.close();
      }
      for (const bytes of seen) expect(bytes).toEqual(seen[0]);
    }
  });

  test("when the memory holds the activations of some tiles only, or of none", async () => {
    const expected = bytesOf(await runLstm(backends[3], problem, steps));
    // A tile's activations take (5·9 + 10)·64·21 bytes, those of 51 tiles 3.8 MB, all else about 0.8 MB. Half the limit is theirs:
    // 40 tiles, then 13, then none, because the other half does not hold all else.
    for (const memoryLimit of [6_000_000, 2_000_000, 1_000_000]) {
      const backend = await openWasmBackend({ threads: 2, memoryLimit });
      expect(bytesOf(await runLstm(backend, problem, steps)), `${memoryLimit}`).toEqual(expected);
      await backend.close();
    }
  });

  test("whether the activations were kept is forgotten when x or a weight changes", async () => {
    const backend = backends[1];
    const { shape, N } = problem;
    const weights = mapArrays(problem.weights, (array) => place(backend, array as Float32Array));
    const x = place(backend, problem.x);
    const logits = backend.allocate(N * shape.T);
    const dLogits = place(backend, problem.dLogits);
    const gradient = mapArrays(weights, (array) => backend.allocate(array.length));
    const backward = () => backend.lstmBackward(shape, weights, x, N, dLogits, gradient);
    await backward();
    await backend.lstmForward(shape, weights, x, N, logits);
    for (const array of [weights.recurrent, x]) {
      array[3] += 1;
      for (const sums of Object.values<Floats>({ ...gradient })) sums.fill(0.5);
      await backward();
      const now = {
        ...problem,
        x: Float32Array.from(x),
        weights: mapArrays(weights, (values) => Float32Array.from(values)),
      };
      const { logits: _, ...expected } = await runLstm(backend, now, ["backward"]);
      expect(bytesOf(gradient)).toEqual(bytesOf(expected));
    }
  });
});

describe("the dense layer against the reference", () => {
  const sizes = [
    { N: 1, inputs: 1, outputs: 1 },
    { N: 3, inputs: 5, outputs: 2 },
    { N: 17, inputs: 16, outputs: 33 },
    { N: 257, inputs: 38, outputs: 64 },
    { N: 2001, inputs: 10, outputs: 102 },
  ];
  test.each(sizes)("N $N, $inputs inputs, $outputs outputs", async ({ N, inputs, outputs }) => {
    async function runDense(backend: Backend) {
      const weights: DenseWeights = {
        weight: place(backend, draw(inputs * outputs, 1)),
        bias: place(backend, draw(outputs, 2)),
      };
      const gradient = mapArrays(weights, (array) => backend.allocate(array.length).fill(0.5));
      const x = place(backend, draw(N * inputs, 3));
      const out = backend.allocate(N * outputs);
      const dOut = place(backend, draw(N * outputs, 4));
      const dX = backend.allocate(N * inputs).fill(9);
      await backend.denseForward(weights, inputs, outputs, x, N, out);
      await backend.denseBackward(weights, inputs, outputs, x, N, dOut, gradient, dX);
      const withoutDX = mapArrays(weights, (array) => backend.allocate(array.length).fill(0.5));
      await backend.denseBackward(weights, inputs, outputs, x, N, dOut, withoutDX, null);
      expect(bytesOf(withoutDX)).toEqual(bytesOf(gradient));
      return { out, dX, ...gradient };
    }
    const truth = await runDense(reference);
    const seen = new Map<string, Record<string, string>>();
    for (const backend of backends) {
      const result = await runDense(backend);
      expectClose(result, truth, labelOf(backend));
      const bytes = bytesOf(result);
      expect(bytes).toEqual(seen.get(backend.simd) ?? bytes);
      seen.set(backend.simd, bytes);
    }
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
});

describe("what is refused", () => {
  const shape = { D: 2, H: 3, T: 4 };
  const codeOf = (action: () => unknown) =>
    Promise.resolve()
      .then(action)
      .then(
        () => "none",
        (error) => (error instanceof BackendError ? error.code : String(error)),
      );

  test("arrays of another owner or too short, sizes that are none", async () => {
    const backend = backends[0];
    const weights = mapArrays(drawLstm(shape, 1), (array) => place(backend, array as Float32Array));
    const x = backend.allocate(10);
    const logits = backend.allocate(20);
    const forward = (s: LstmShape, w: LstmWeights, a: Floats) => backend.lstmForward(s, w, a, 5, logits);
    expect(await codeOf(() => forward(shape, weights, x))).toBe("none");
    expect(await codeOf(() => forward(shape, weights, new Float32Array(10)))).toBe("array.foreign");
    expect(await codeOf(() => forward(shape, weights, x.subarray(1)))).toBe("array.length");
    expect(await codeOf(() => forward({ ...shape, H: 0 }, weights, x))).toBe("size.invalid");
    expect(await codeOf(() => backend.allocate(-1))).toBe("size.invalid");
  });

  test("what is released is handed out again, zeroed; once, and only what was handed out", async () => {
    const backend = await openWasmBackend({ threads: 1, memoryLimit: 2 ** 20 });
    const kept = backend.allocate(1000).fill(7);
    for (let k = 0; k < 100; k++) {
      const [one, other] = [backend.allocate(100_000), backend.allocate(100_000)];
      expect([one.some(Boolean), other.some(Boolean)]).toEqual([false, false]);
      for (const array of k % 2 === 0 ? [one, other] : [other, one]) backend.release(array.fill(k));
    }
    expect(kept.every((value) => value === 7)).toBe(true);
    backend.release(kept);
    expect(await codeOf(() => backend.release(kept))).toBe("array.foreign");
    expect(await codeOf(() => backend.release(new Float32Array(3)))).toBe("array.foreign");
    await backend.close();
  });

  test("two operations at once, any after the end, more memory than the limit", async () => {
    const backend = await openWasmBackend({ threads: 1, memoryLimit: 2 ** 20 });
    const weights = mapArrays(drawLstm(shape, 1), (array) => place(backend, array as Float32Array));
    const x = backend.allocate(10);
    const logits = backend.allocate(20);
    const forward = () => backend.lstmForward(shape, weights, x, 5, logits);
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
      "threads are not a positive whole number: 0",
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
    const forward = () => backend.denseForward(layer, 1, 1, x, 1, x);
    await expect(forward()).rejects.toThrow("a thread of the wasm backend failed: no power");
    expect(await codeOf(forward)).toBe("backend.failed");
  });
});
