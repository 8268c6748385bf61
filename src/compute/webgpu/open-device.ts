/** From WebGPU's entry to a backend: asks for an adapter, and for a device with all that the adapter allows. */
import { BackendError } from "../../core/errors.ts";
import type { Gpu, GpuAdapter, GpuDevice, GpuLimits } from "./gpu.ts";
import type { LstmEffort } from "./lstm/lstm-plan.ts";
import { createWebGpuBackend, type WebGpuBackend } from "./webgpu-backend.ts";

export interface WebGpuBackendOptions {
  /** Bytes of the device's memory that may hold activations, 1 GiB by default; what does not fit is computed again. */
  readonly tapeLimit?: number;
}

const DEFAULT_TAPE_LIMIT = 2 ** 30;

const RAISED: readonly (keyof GpuLimits)[] = [
  "maxBufferSize",
  "maxStorageBufferBindingSize",
  "maxComputeWorkgroupStorageSize",
  "maxComputeInvocationsPerWorkgroup",
  "maxComputeWorkgroupSizeX",
];

/** `hint` says what to do where there is no usable device; `effort` is for measurements of other layouts. */
export async function openOn(
  gpu: Gpu,
  { tapeLimit = DEFAULT_TAPE_LIMIT }: WebGpuBackendOptions,
  hint: string,
  effort?: LstmEffort,
): Promise<WebGpuBackend> {
  const adapter = await gpu.requestAdapter({ powerPreference: "high-performance" });
  if (adapter === null) {
    throw new BackendError("no graphics device was found", { code: "adapter.missing", hint });
  }
  const device = await requestDevice(adapter, hint);
  return createWebGpuBackend({ device, ...describe(adapter), lanes: countLanes(adapter), tapeLimit, effort });
}

const SUBGROUPS = "subgroups";

/** Neighbouring threads that can pass values to each other; 0 where none can. */
function countLanes({ features, info }: GpuAdapter): number {
  return features?.has(SUBGROUPS) === true ? (info.subgroupMinSize ?? 0) : 0;
}

async function requestDevice(adapter: GpuAdapter, hint: string): Promise<GpuDevice> {
  const requiredLimits = Object.fromEntries(RAISED.map((name) => [name, adapter.limits[name]]));
  try {
    return await adapter.requestDevice({
      requiredLimits,
      requiredFeatures: countLanes(adapter) > 0 ? [SUBGROUPS] : [],
    });
  } catch (error) {
    const what = error instanceof Error ? error.message : String(error);
    throw new BackendError(`the graphics device cannot be opened: ${what}`, {
      code: "adapter.refused",
      hint,
    });
  }
}

/** Name, driver and the limits that decide what fits: one line, which is printed and kept in the model file. */
function describe({ info, limits }: GpuAdapter): { readonly adapter: string; readonly software: boolean } {
  const { device, description, vendor, architecture } = info;
  const join = (words: readonly string[], between: string) =>
    words.filter((word) => word !== "").join(between);
  const words = join([vendor, architecture], " ");
  const name = join([device, description], ", ") || words || "unnamed device";
  const software = info.isFallbackAdapter === true || /swiftshader|llvmpipe|lavapipe/i.test(name + words);
  const buffers = Math.min(limits.maxBufferSize, limits.maxStorageBufferBindingSize) / 2 ** 30;
  const shared = limits.maxComputeWorkgroupStorageSize / 2 ** 10;
  const adapter = `${name}; buffers of ${Number(buffers.toFixed(2))} GiB, workgroups of ${shared} KiB`;
  return { adapter, software };
}
