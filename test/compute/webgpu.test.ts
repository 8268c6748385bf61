// What the WebGPU backend does beyond the cases of cases.ts: tables longer than the device takes at once, and what goes
// wrong.
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { watchDevice } from "../../src/compute/webgpu/device-state.ts";
import type { Gpu, GpuDevice } from "../../src/compute/webgpu/gpu.ts";
import { openOn } from "../../src/compute/webgpu/open-device.ts";
import { SOFTWARE } from "../../src/compute/webgpu/lstm/lstm-plan.ts";
import { createWebGpuBackend, type WebGpuBackend } from "../../src/compute/webgpu/webgpu-backend.ts";
import { openWithEffort } from "../../src/node/workers/webgpu-backend.ts";
import {
  bytesOf,
  codeOf,
  drawLstmProblem,
  expectClose,
  type LstmProblem,
  type Numbers,
  place,
  placeLstm,
  runLstm,
} from "./problems.ts";
import { findDevice } from "./webgpu-device.ts";

const found = await findDevice();
if ("missing" in found) console.log(`webgpu.test.ts is skipped: ${found.missing}`);

describe.skipIf("missing" in found)("a WebGPU device", () => {
  const kept: unknown[] = [];
  let gpu: Gpu;
  beforeAll(async () => {
    const name = "webgpu";
    gpu = (await import(name)).create([]);
    kept.push(gpu);
  });
  afterAll(() => {
    // Collected earlier, these objects would take the process with them.
    Object.assign(globalThis, { [Symbol.for("webgpu.test")]: kept });
  });

  /** A device that says that it sees at most this many bytes of an array. */
  async function openSmall(bytes: number, tapeLimit: number): Promise<WebGpuBackend> {
    const adapter = await gpu.requestAdapter();
    const device = await adapter?.requestDevice({ requiredLimits: {} });
    kept.push(adapter, device);
    const { maxComputeWorkgroupStorageSize, maxComputeInvocationsPerWorkgroup } = (device as GpuDevice)
      .limits;
    const limits = {
      maxBufferSize: 2 ** 28,
      maxStorageBufferBindingSize: bytes,
      maxComputeWorkgroupStorageSize,
      maxComputeInvocationsPerWorkgroup,
      maxComputeWorkgroupSizeX: 256,
      maxComputeWorkgroupsPerDimension: 7,
    };
    const small = new Proxy(device as GpuDevice, {
      get(target, key) {
        if (key === "limits") return limits;
        const value = Reflect.get(target, key, target);
        return typeof value === "function" ? value.bind(target) : value;
      },
    });
    return createWebGpuBackend({ device: small, adapter: "small", software: true, tapeLimit });
  }

  test("rows in several stretches, kept or computed again, give what they give in one", async () => {
    const problem = drawLstmProblem({ D: 3, H: 5, T: 7 }, 131);
    const whole = await openSmall(2 ** 27, 2 ** 27);
    const expected = await runLstm(whole, problem);
    // A tile of three rows takes 3360 bytes: 20 to a stretch, so 60, 60 and 11 rows.
    const parts = await openSmall(67_200, 2 ** 27);
    const keptParts = await runLstm(parts, problem);
    expectClose(parts, keptParts, expected);
    expect(bytesOf({ logits: keptParts.logits })).toEqual(bytesOf({ logits: expected.logits }));
    const forgetful = await openSmall(67_200, 80_000);
    expect(bytesOf(await runLstm(forgetful, problem))).toEqual(bytesOf(keptParts));
    await Promise.all([whole, parts, forgetful].map((backend) => backend.close()));
  });

  const known = new Map<LstmProblem, Promise<Numbers>>();
  /** What rows in pairs give, worked out once for all tiles in lanes that are held to it. */
  function givenByPairs(problem: LstmProblem): Promise<Numbers> {
    const run = async () => {
      const pairs = await openWithEffort({});
      const given = await runLstm(pairs, problem);
      await pairs.close();
      return given;
    };
    const given = known.get(problem) ?? run();
    known.set(problem, given);
    return given;
  }

  const single = drawLstmProblem({ D: 3, H: 6, T: 5 }, 70);
  test.each([12, 16, 20])(
    "tiles of %i rows in lanes, one after the other, give what pairs give",
    async (tileRows) => {
      const expected = await givenByPairs(single);
      // Two stretches or more.
      const stretchBytes = 3 * 5 * 5 * 6 * 4 * tileRows;
      for (const writtenOut of [false, true]) {
        const lanes = [{ upTo: 70, tileRows, products: [5, 3], slices: 2, writtenOut }] as const;
        const backend = await openWithEffort({}, { ...SOFTWARE, stretchBytes, lanes });
        const lstm = placeLstm(backend, single);
        await lstm.forward();
        await lstm.backward();
        const own = await lstm.results();
        expectClose(backend, own, expected);
        // The first pass back has used up the tape; another one gives the same all the same.
        await lstm.backward();
        expect(bytesOf(await lstm.results())).toEqual(bytesOf(own));
        await backend.close();
      }
    },
  );

  // Up to four outputs are written into the code each.
  const several = new Map([2, 3, 4, 5].map((K) => [K, drawLstmProblem({ D: 3, H: 6, T: 5, K }, 45)]));
  test.each([
    [5, 8],
    [5, 12],
    [5, 16],
    [5, 20],
    [2, 12],
    [2, 20],
    [3, 8],
    [4, 16],
  ])("%i outputs in lanes, tiles of %i rows, give what pairs give", async (K, tileRows) => {
    const problem = several.get(K) ?? single;
    const expected = await givenByPairs(problem);
    const lanes = [{ upTo: 45, tileRows, products: [5, 3], slices: 2, writtenOut: false }] as const;
    const stretchBytes = 3 * 5 * 5 * 6 * 4 * tileRows;
    const backend = await openWithEffort({}, { ...SOFTWARE, stretchBytes, lanes });
    expectClose(backend, await runLstm(backend, problem), expected);
    await backend.close();
  });

  test("an array that the device cannot see whole is refused, and so is a pass of as many rows", async () => {
    const backend = await openSmall(4096, 2 ** 20);
    expect(await codeOf(() => backend.allocate(1025))).toBe("device.memory");
    expect(backend.allocate(1024).length).toBe(1024);
    expect(backend.rowsAtOnce({ T: 102, keep: true })).toBe(10);
    expect(backend.rowsAtOnce({ T: 102, K: 2, keep: true })).toBe(5);
    await backend.close();
    expect(await codeOf(() => backend.allocate(1))).toBe("backend.closed");
  });

  test("the same run gives the same bytes", async () => {
    const backend = await openSmall(2 ** 27, 2 ** 27);
    const problem = drawLstmProblem({ D: 3, H: 5, T: 7 }, 131);
    expect(bytesOf(await runLstm(backend, problem))).toEqual(bytesOf(await runLstm(backend, problem)));
    await backend.close();
  });

  test("a device that is lost says to go on from the checkpoint", async () => {
    let device: GpuDevice | null = null;
    const adapter = await gpu.requestAdapter();
    kept.push(adapter);
    const watched: Gpu = {
      requestAdapter: async () =>
        adapter && {
          info: adapter.info,
          limits: adapter.limits,
          async requestDevice(settings) {
            device = await adapter.requestDevice(settings);
            kept.push(device);
            return device;
          },
        },
    };
    const backend = await openOn(watched, {}, "");
    expect(backend.adapter).toMatch(/; buffers of [\d.]+ GiB, workgroups of \d+ KiB$/);
    const array = place(backend, [1, 2, 3]);
    (device as GpuDevice | null)?.destroy();
    await expect(backend.read(array)).rejects.toMatchObject({
      code: "device.lost",
      hint: expect.stringContaining("--resume"),
    });
    expect(await codeOf(() => backend.allocate(1))).toBe("device.lost");
    await backend.close();
  });
});

test("a device that refuses, or has too little memory, is said to, once and for all later calls", async () => {
  const heard: ((event: { readonly error: { readonly message: string } }) => void)[] = [];
  const device = {
    lost: new Promise<never>(() => {}),
    addEventListener: (_: string, hear: (typeof heard)[number]) => heard.push(hear),
    destroy() {},
  } as unknown as GpuDevice;
  const fail = (message: string) => {
    const state = watchDevice(device);
    heard.at(-1)?.({ error: { message } });
    heard.at(-1)?.({ error: { message: "a later one" } });
    return () => state.check();
  };
  expect(fail("Error while parsing WGSL: unresolved type")).toThrow(
    expect.objectContaining({
      code: "device.failed",
      message: "the graphics device refused: Error while parsing WGSL: unresolved type",
    }),
  );
  expect(fail("Out of memory")).toThrow(
    expect.objectContaining({ code: "device.memory", message: "the graphics device has too little memory" }),
  );
});

test("a machine without a graphics device is told so", async () => {
  const none: Gpu = { requestAdapter: async () => null };
  await expect(openOn(none, {}, "use another backend")).rejects.toMatchObject({
    code: "adapter.missing",
    message: "no graphics device was found",
    hint: "use another backend",
  });
});
