// The backends that every case of cases.ts is run on, and how it is run. A new one is one line here. Those of a graphics
// device are run by webgpu-cases.test.ts, which needs one.
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import type { Backend } from "../../src/compute/backend.ts";
import { BackendScope } from "../../src/compute/memory.ts";
import { createReferenceBackend } from "../../src/compute/reference.ts";
import { openWasmBackend } from "../../src/node/workers/wasm-backend.ts";
import { openWebGpuBackend, openWithEffort } from "../../src/node/workers/webgpu-backend.ts";
import { CASES } from "./cases.ts";
import { LANES } from "./webgpu-device.ts";

export interface TestedBackend {
  readonly name: string;
  open(): Promise<Backend>;
  /** Whether the heavy cases are left out: it is too slow for them, or they are another's. */
  readonly light?: boolean;
}

export const PROCESSOR_BACKENDS: readonly TestedBackend[] = [
  { name: "reference", open: async () => createReferenceBackend() },
  // What it computes with is the reference's own.
  { name: "reference behind a bus", open: async () => separateMemory(createReferenceBackend()), light: true },
  { name: "wasm, plain SIMD, one thread", open: () => openWasmBackend({ threads: 1, deterministic: true }) },
  { name: "wasm, plain SIMD, two threads", open: () => openWasmBackend({ threads: 2, deterministic: true }) },
  { name: "wasm, relaxed SIMD, one thread", open: () => openWasmBackend({ threads: 1 }) },
  { name: "wasm, relaxed SIMD, two threads", open: () => openWasmBackend({ threads: 2 }) },
];

/** `light`: the device is a program. */
export function deviceBackends(light: boolean): readonly TestedBackend[] {
  return [
    { name: "webgpu", open: () => openWebGpuBackend(), light },
    { name: "webgpu, lanes", open: () => openWithEffort({}, LANES), light },
  ];
}

/** The same backend, with memory that the host does not see: what a graphics processor will look like. */
export function separateMemory(backend: Backend): Backend {
  return { ...backend, view: () => null };
}

/** Every case on every one of them. */
export function testCases(backends: readonly TestedBackend[]): void {
  describe.each(backends)("$name", ({ open, light }) => {
    let backend: Backend;
    beforeAll(async () => {
      backend = await open();
    });
    afterAll(() => backend.close());

    test.each(CASES.filter(({ heavy }) => !(heavy && light)))("$name", async ({ run }) => {
      // A scope passes everything on, and gives the case's memory back.
      const scope = new BackendScope(backend);
      await run(scope);
      scope.end();
    });

    test("says what it is", () => {
      expect(["reference", "wasm", "webgpu"]).toContain(backend.name);
      expect(["f32", "f64"]).toContain(backend.precision);
      expect(backend.threads).toBeGreaterThanOrEqual(1);
    });

    test("closing it is harmless, and closing it twice too", async () => {
      const other = await open();
      await other.close();
      await expect(other.close()).resolves.toBeUndefined();
    });
  });
}
