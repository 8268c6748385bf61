/**
 * Arrays in the device's memory: a buffer each. Writing, clearing, gathering and reading go through the device's queue,
 * so they happen in the order they are called, between the operations submitted before and after them.
 */
import { BackendError } from "../../core/errors.ts";
import type { Backend, DeviceArray } from "../backend.ts";
import type { HandleTable } from "../host.ts";
import { checkSizes } from "../shapes.ts";
import { createLostError } from "./device-state.ts";
import type { Engine } from "./engine.ts";
import { type GpuSlice, MAP_READ, USAGE } from "./gpu.ts";
import type { KernelSource } from "./wgsl.ts";

/** A device array as this backend sees it. */
export interface Placed {
  readonly length: number;
  readonly buffer: GpuSlice;
  /** Whether the buffer has other arrays too, and is somebody else's to destroy. */
  readonly shared?: boolean;
}

/** A buffer of its own. */
export function placeAlone(engine: Engine, length: number): Placed {
  const buffer = engine.createBuffer(length * 4);
  return { length, buffer: { buffer, offset: 0, size: buffer.size } };
}

const GATHER_THREADS = 256;

const GATHER: KernelSource = {
  name: "gather",
  sizes: ["width", "count"],
  reads: { source: "f32", rows: "u32" },
  writes: { gathered: "f32" },
  threads: GATHER_THREADS,
  body: () => `
  let i = group * ${GATHER_THREADS}u + thread;
  if (i < size.count) { gathered[i] = source[rows[i / size.width] * size.width + i % size.width]; }`,
};

/** The most bytes that one kernel can see of one array. */
export function bindingLimit({ device }: Engine): number {
  return Math.min(device.limits.maxStorageBufferBindingSize, device.limits.maxBufferSize);
}

export function deviceAccess(
  engine: Engine,
  handles: HandleTable<Placed>,
): Pick<Backend, "allocate" | "read" | "write" | "clear" | "view" | "gatherRows"> & {
  releaseArray(array: DeviceArray): void;
} {
  const limit = bindingLimit(engine);
  return {
    allocate(length) {
      engine.check();
      checkSizes({ length });
      if (length * 4 > limit) {
        throw new BackendError(`array too large for this graphics device: ${length * 4} bytes of ${limit}`, {
          code: "device.memory",
          hint: "fewer rows or bins at a time, or --backend wasm",
        });
      }
      return handles.add(placeAlone(engine, length));
    },
    // Work that was submitted before still sees the buffer.
    releaseArray(array) {
      const { buffer, shared } = handles.remove(array);
      if (shared !== true) engine.destroy(buffer.buffer);
    },

    async read(array, from = 0, count = array.length - from) {
      engine.check();
      const { buffer } = handles.find("what is read", array, from + count);
      if (count === 0) return new Float32Array(0);
      const copy = engine.createBuffer(count * 4, USAGE.copyTarget | USAGE.mapRead);
      engine.encode((encoder) => {
        encoder.copyBufferToBuffer(buffer.buffer, buffer.offset + from * 4, copy, 0, count * 4);
      });
      engine.flush();
      try {
        await copy.mapAsync(MAP_READ);
      } catch (error) {
        engine.check();
        throw engine.fail(createLostError(error instanceof Error ? error.message : String(error)));
      }
      const values = new Float32Array(copy.getMappedRange().slice(0, count * 4));
      copy.destroy();
      engine.check();
      return values;
    },
    write(array, values, from = 0) {
      engine.check();
      const { buffer } = handles.find("what is written", array, from + values.length);
      if (values.length === 0) return;
      const single = values instanceof Float32Array ? values : Float32Array.from(values);
      engine.write(buffer.buffer, buffer.offset + from * 4, single);
    },
    clear(array, count = array.length) {
      engine.check();
      const { buffer } = handles.find("what is cleared", array, count);
      if (count === 0) return;
      engine.encode((encoder) => encoder.clearBuffer(buffer.buffer, buffer.offset, count * 4));
    },
    view(array) {
      handles.find("what is viewed", array);
      return null;
    },
    gatherRows(from, width, rows, to) {
      engine.check();
      const source = handles.find("the rows", from);
      const count = rows.length * width;
      const gathered = handles.find("the gathered rows", to, count);
      if (count === 0) return;
      const wanted = engine.createBuffer(rows.length * 4);
      engine.write(wanted, 0, rows);
      const arrays = [source.buffer, wanted, gathered.buffer];
      const groups = Math.ceil(count / GATHER_THREADS);
      engine.submit([{ kernel: GATHER, sizes: [width, count], arrays, groups }]);
      engine.destroy(wanted);
    },
  };
}
