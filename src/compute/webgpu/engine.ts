/**
 * Runs kernels on a device: compiles each once, and records the runs of an operation into one submission. Nothing waits
 * for the device here; it works in the order of submissions.
 */
import { type DeviceState, watchDevice } from "./device-state.ts";
import { type GpuBuffer, type GpuDevice, type GpuPipeline, USAGE } from "./gpu.ts";
import { type KernelSource, writeKernel } from "./wgsl.ts";

/** One run of a kernel: its sizes and arrays in the order the kernel names them, and how many workgroups. */
export interface KernelRun {
  readonly kernel: KernelSource;
  readonly sizes: readonly number[];
  readonly arrays: readonly GpuBuffer[];
  readonly groups: number;
}

export interface Engine extends DeviceState {
  readonly device: GpuDevice;
  /** Submits the runs, each of which sees what the ones before it wrote. */
  submit(runs: readonly KernelRun[]): void;
  createBuffer(bytes: number, usage?: number): GpuBuffer;
  /**
   * A work area, as large as the largest use so far. Growing loses its contents, so a submission asks for each of its
   * areas once.
   */
  scratch(name: string, bytes: number): GpuBuffer;
}

const STORAGE = USAGE.storage | USAGE.copySource | USAGE.copyTarget;
/** Sizes that are kept on the device: a training run has a few dozen. */
const MOST_SIZES = 512;

export function createEngine(device: GpuDevice): Engine {
  const pipelines = new Map<string, GpuPipeline>();
  const sizesKept = new Map<string, GpuBuffer>();
  const scratch = new Map<string, GpuBuffer>();

  function createBuffer(bytes: number, usage: number = STORAGE): GpuBuffer {
    return device.createBuffer({ size: Math.max(16, Math.ceil(bytes / 16) * 16), usage });
  }

  function pipelineOf(source: KernelSource): GpuPipeline {
    let pipeline = pipelines.get(source.name);
    if (pipeline === undefined) {
      const module = device.createShaderModule({ code: writeKernel(source), label: source.name });
      const compute = { module, entryPoint: "main" };
      pipeline = device.createComputePipeline({ layout: "auto", label: source.name, compute });
      pipelines.set(source.name, pipeline);
    }
    return pipeline;
  }

  function placeSizes(sizes: readonly number[]): GpuBuffer {
    const key = sizes.join();
    let buffer = sizesKept.get(key);
    if (buffer === undefined) {
      buffer = createBuffer(sizes.length * 4, USAGE.uniform | USAGE.copyTarget);
      device.queue.writeBuffer(buffer, 0, Uint32Array.from(sizes));
      sizesKept.set(key, buffer);
    }
    return buffer;
  }

  function forgetSizes(): void {
    for (const buffer of sizesKept.values()) buffer.destroy();
    sizesKept.clear();
  }

  function record(runs: readonly KernelRun[]): void {
    const most = device.limits.maxComputeWorkgroupsPerDimension;
    const encoder = device.createCommandEncoder();
    const pass = encoder.beginComputePass();
    for (const { kernel, sizes, arrays, groups } of runs) {
      const pipeline = pipelineOf(kernel);
      const buffers = [placeSizes(sizes), ...arrays];
      pass.setPipeline(pipeline);
      pass.setBindGroup(
        0,
        device.createBindGroup({
          layout: pipeline.getBindGroupLayout(0),
          entries: buffers.map((buffer, binding) => ({ binding, resource: { buffer } })),
        }),
      );
      const rounds = Math.ceil(groups / most);
      pass.dispatchWorkgroups(Math.ceil(groups / rounds), rounds);
    }
    pass.end();
    device.queue.submit([encoder.finish()]);
  }

  return {
    device,
    ...watchDevice(device),
    submit(runs) {
      const real = runs.filter(({ groups }) => groups > 0);
      if (real.length === 0) return;
      // Only between submissions: a buffer that is gone cannot be submitted.
      if (sizesKept.size + real.length > MOST_SIZES) forgetSizes();
      record(real);
    },
    createBuffer,
    scratch(name, bytes) {
      let buffer = scratch.get(name);
      if (buffer === undefined || buffer.size < bytes) {
        buffer?.destroy();
        buffer = createBuffer(bytes);
        scratch.set(name, buffer);
      }
      return buffer;
    },
  };
}
