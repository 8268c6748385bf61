/**
 * The WebGPU backend in Node, through the package `webgpu`. Graduate runs without that package, which is large, so it
 * is loaded only when this backend is asked for.
 */
import type { Gpu } from "../../compute/webgpu/gpu.ts";
import type { LstmEffort } from "../../compute/webgpu/lstm/lstm-plan.ts";
import { openOn, type WebGpuBackendOptions } from "../../compute/webgpu/open-device.ts";
import type { WebGpuBackend } from "../../compute/webgpu/webgpu-backend.ts";
import { BackendError } from "../../core/errors.ts";

interface WebGpuPackage {
  create(flags: readonly string[]): Gpu;
}

const HINT = "a driver for Vulkan, Metal or Direct3D 12 brings one; --backend wasm computes on the processor";

/** Objects of that package must not be collected while the process lives: it would crash. */
const alive: unknown[] = [];
Object.assign(globalThis, { [Symbol.for("graduate.webgpu")]: alive });

async function loadPackage(): Promise<WebGpuPackage> {
  // Not a literal, so that compilers and bundlers do not look for a package that need not be there.
  const name = "webgpu";
  try {
    return (await import(name)) as WebGpuPackage;
  } catch (error) {
    const missing = (error as { readonly code?: unknown }).code === "ERR_MODULE_NOT_FOUND";
    const why = missing ? "is not installed" : `cannot be loaded: ${(error as Error).message}`;
    throw new BackendError(`the package "webgpu" ${why}`, {
      code: "package.missing",
      hint: "`npm install webgpu` brings it; --backend wasm needs nothing more",
    });
  }
}

/** Opens the graphics device; close the backend when done. */
export function openWebGpuBackend(options: WebGpuBackendOptions = {}): Promise<WebGpuBackend> {
  return openWithEffort(options);
}

/** For tests and measurements: with another layout of the LSTM than is taken for such a device. */
export async function openWithEffort(
  options: WebGpuBackendOptions,
  effort?: LstmEffort,
): Promise<WebGpuBackend> {
  const { create } = await loadPackage();
  const gpu = create([]);
  const keeping: Gpu = {
    async requestAdapter(settings) {
      const adapter = await gpu.requestAdapter(settings);
      alive.push(gpu, adapter);
      return adapter;
    },
  };
  const backend = await openOn(keeping, options, HINT, effort);
  alive.push(backend);
  return backend;
}

/** The graphics device if this machine has one that is faster than the processor, else null. */
export async function findGraphics(): Promise<WebGpuBackend | null> {
  let backend: WebGpuBackend;
  try {
    backend = await openWebGpuBackend();
  } catch (error) {
    if (error instanceof BackendError) return null;
    throw error;
  }
  if (!backend.software) return backend;
  await backend.close();
  return null;
}
