/** What kernels are bound to: steps repeat themselves, so sizes and bound arrays are kept on the device. */
import type { KernelRun } from "./engine.ts";
import {
  type Bound,
  type GpuBuffer,
  type GpuDevice,
  type GpuObject,
  type GpuPipeline,
  USAGE,
} from "./gpu.ts";

/** Sizes and groups of bound arrays that are kept: a training run has a few hundred. */
const MOST_SIZES = 512;
const MOST_GROUPS = 4096;

export interface Bindings {
  /** The same kernel on the same arrays is bound once. */
  bind(run: KernelRun, pipeline: GpuPipeline): GpuObject;
  /** Whether there is no room for so many more runs. */
  isFull(more: number): boolean;
  /** Only between submissions: a buffer that is gone cannot be submitted. */
  forget(): void;
}

export function createBindings(
  device: GpuDevice,
  createBuffer: (bytes: number, usage: number) => GpuBuffer,
): Bindings {
  const sizesKept = new Map<string, GpuBuffer>();
  const groups = new Map<string, GpuObject>();
  const numbers = new WeakMap<GpuBuffer, number>();
  let counted = 0;

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

  /** Says which buffer this is: handed out in turn. */
  function numberOf(buffer: GpuBuffer): number {
    let number = numbers.get(buffer);
    if (number === undefined) {
      number = ++counted;
      numbers.set(buffer, number);
    }
    return number;
  }

  const nameOf = (one: Bound) =>
    "offset" in one ? `${numberOf(one.buffer)}/${one.offset}` : String(numberOf(one));

  return {
    bind({ kernel, sizes, arrays }, pipeline) {
      const bound: readonly Bound[] = [placeSizes(sizes), ...arrays];
      const name = `${kernel.name}|${bound.map(nameOf).join()}`;
      let group = groups.get(name);
      if (group === undefined) {
        const entries = bound.map((one, binding) => ({
          binding,
          resource: "offset" in one ? one : { buffer: one },
        }));
        group = device.createBindGroup({ layout: pipeline.getBindGroupLayout(0), entries });
        groups.set(name, group);
      }
      return group;
    },
    isFull: (more) => sizesKept.size + more > MOST_SIZES || groups.size > MOST_GROUPS,
    forget() {
      for (const buffer of sizesKept.values()) buffer.destroy();
      sizesKept.clear();
      groups.clear();
    },
  };
}
