/**
 * Runs kernels on a device: compiles each once, and records runs until there are enough for a submission. Nothing waits
 * for the device here; it works in the order in which things are recorded. So whatever touches a buffer goes through
 * here: a write or the end of a buffer comes after what was recorded before it.
 */
import { createBindings } from "./bindings.ts";
import { type DeviceState, watchDevice } from "./device-state.ts";
import {
  type Bound,
  type GpuBuffer,
  type GpuDevice,
  type GpuEncoder,
  type GpuPipeline,
  USAGE,
} from "./gpu.ts";
import { type KernelSource, writeKernel } from "./wgsl.ts";

/** One run of a kernel: its sizes and arrays in the order the kernel names them, and how many workgroups. */
export interface KernelRun {
  readonly kernel: KernelSource;
  readonly sizes: readonly number[];
  readonly arrays: readonly Bound[];
  readonly groups: number;
}

export interface Engine extends DeviceState {
  readonly device: GpuDevice;
  /** Records the runs, each of which sees what the ones before it wrote. They are submitted a few at a time. */
  submit(runs: readonly KernelRun[]): void;
  /** Records copies and the like, in the order of the runs. */
  encode(commands: (encoder: GpuEncoder) => void): void;
  /** Writes after everything recorded so far. */
  write(buffer: GpuBuffer, offset: number, values: ArrayBufferView): void;
  /** Work that was recorded before still sees the buffer. */
  destroy(buffer: GpuBuffer): void;
  /** Submits what is recorded. */
  flush(): void;
  createBuffer(bytes: number, usage?: number): GpuBuffer;
  /**
   * A work area, as large as the largest use so far. Growing loses its contents, so a submission asks for each of its
   * areas once.
   */
  scratch(name: string, bytes: number): GpuBuffer;
}

const STORAGE = USAGE.storage | USAGE.copySource | USAGE.copyTarget;
/** Runs that are recorded before they are submitted: the device should have work while more is being recorded. */
const MOST_RECORDED = 12;

/** Each kernel is compiled once. */
function createCompiler(device: GpuDevice): (source: KernelSource) => GpuPipeline {
  const pipelines = new Map<string, GpuPipeline>();
  return (source) => {
    let pipeline = pipelines.get(source.name);
    if (pipeline === undefined) {
      const module = device.createShaderModule({ code: writeKernel(source), label: source.name });
      const compute = { module, entryPoint: "main" };
      pipeline = device.createComputePipeline({ layout: "auto", label: source.name, compute });
      pipelines.set(source.name, pipeline);
    }
    return pipeline;
  };
}

export function createEngine(device: GpuDevice): Engine {
  const pipelineOf = createCompiler(device);
  const scratch = new Map<string, GpuBuffer>();
  const bindings = createBindings(device, createBuffer);
  let encoder: GpuEncoder | null = null;
  let recorded = 0;

  function createBuffer(bytes: number, usage: number = STORAGE): GpuBuffer {
    return device.createBuffer({ size: Math.max(16, Math.ceil(bytes / 16) * 16), usage });
  }

  function record(runs: readonly KernelRun[]): void {
    const most = device.limits.maxComputeWorkgroupsPerDimension;
    encoder ??= device.createCommandEncoder();
    const pass = encoder.beginComputePass();
    for (const run of runs) {
      const pipeline = pipelineOf(run.kernel);
      pass.setPipeline(pipeline);
      pass.setBindGroup(0, bindings.bind(run, pipeline));
      const rounds = Math.ceil(run.groups / most);
      pass.dispatchWorkgroups(Math.ceil(run.groups / rounds), rounds);
    }
    pass.end();
    recorded += runs.length;
    if (recorded >= MOST_RECORDED) flush();
  }

  function flush(): void {
    if (encoder === null) return;
    const commands = encoder.finish();
    encoder = null;
    recorded = 0;
    device.queue.submit([commands]);
  }

  return {
    device,
    ...watchDevice(device),
    submit(runs) {
      const real = runs.filter(({ groups }) => groups > 0);
      if (real.length === 0) return;
      if (bindings.isFull(real.length)) {
        flush();
        bindings.forget();
      }
      record(real);
    },
    encode(commands) {
      encoder ??= device.createCommandEncoder();
      commands(encoder);
    },
    write(buffer, offset, values) {
      flush();
      device.queue.writeBuffer(buffer, offset, values);
    },
    destroy(buffer) {
      flush();
      buffer.destroy();
    },
    flush,
    createBuffer,
    scratch(name, bytes) {
      let buffer = scratch.get(name);
      if (buffer === undefined || buffer.size < bytes) {
        if (buffer !== undefined) flush();
        buffer?.destroy();
        buffer = createBuffer(bytes);
        scratch.set(name, buffer);
      }
      return buffer;
    },
  };
}
