/** Parameters in one array, each where a binding may begin: their handles are pointed into it, and out of it again. */
import type { DeviceArray } from "../../backend.ts";
import type { HandleTable } from "../../host.ts";
import { type Placed, placeAlone } from "../device-memory.ts";
import type { Engine } from "../engine.ts";
import type { GpuBuffer } from "../gpu.ts";

/** Numbers between which a binding may begin: 256 bytes, which every device allows. */
const ALIGNED = 64;

export interface CommonPlaces {
  readonly places: readonly { readonly from: number; readonly length: number }[];
  /** Numbers of the whole array. */
  readonly count: number;
}

export function placeTogether(arrays: readonly DeviceArray[]): CommonPlaces {
  const places: { readonly from: number; readonly length: number }[] = [];
  let count = 0;
  for (const { length } of arrays) {
    places.push({ from: count, length });
    count += Math.ceil(length / ALIGNED) * ALIGNED;
  }
  return { places, count };
}

/** The handle lies in the common array from now on, with what it had. */
export function moveInto(
  engine: Engine,
  handles: HandleTable<Placed>,
  array: DeviceArray,
  common: GpuBuffer,
  from: number,
): void {
  const { buffer, length, shared } = handles.find("a parameter", array);
  engine.encode((encoder) => {
    encoder.copyBufferToBuffer(buffer.buffer, buffer.offset, common, from * 4, length * 4);
  });
  const place = { buffer: common, offset: from * 4, size: Math.ceil(length / 4) * 16 };
  handles.replace(array, { length, buffer: place, shared: true });
  if (shared !== true) engine.destroy(buffer.buffer);
}

/** The handle has an array of its own again. */
export function moveOut(engine: Engine, handles: HandleTable<Placed>, array: DeviceArray): void {
  const { buffer, length } = handles.find("a parameter", array);
  const alone = placeAlone(engine, length);
  engine.encode((encoder) => {
    encoder.copyBufferToBuffer(buffer.buffer, buffer.offset, alone.buffer.buffer, 0, length * 4);
  });
  handles.replace(array, alone);
}
