/**
 * Where the kernels of a wasm backend work: scratch for each thread and sums for each slot, as large as the largest job
 * so far, and the table of tanh. Tapes are given up before anything is refused: their contents can be computed again.
 */
import { BackendError } from "../../core/errors.ts";
import type { MemoryArea, SharedKernelMemory } from "./memory.ts";
import { buildTanhTable } from "./tanh-table.ts";
import type { TapeTable } from "./tapes.ts";

export interface WorkAreas {
  /** Refused when the limit does not allow it; tapes are given up for it when no kernel is using them. */
  take(bytes: number, tapesAreFree: boolean): MemoryArea;
  /** The address of at least this many bytes; their contents are lost when the area has to grow. */
  place(kind: "scratch" | "slots", bytes: number): number;
  placeTanhTable(): number;
}

export function createWorkAreas(
  shared: SharedKernelMemory,
  tapes: TapeTable,
  memoryLimit: number,
): WorkAreas {
  const areas: Record<"scratch" | "slots", MemoryArea | null> = { scratch: null, slots: null };
  let tanhTable: MemoryArea | null = null;

  function take(bytes: number, tapesAreFree: boolean): MemoryArea {
    let found = shared.take(bytes);
    if (found === null && tapesAreFree && tapes.forget()) found = shared.take(bytes);
    if (found !== null) return found;
    throw new BackendError(`out of memory: another ${bytes} bytes would pass the limit of ${memoryLimit}`, {
      code: "memory.exhausted",
      hint: "raise memoryLimit (at most 4 GiB), or train on fewer rows or bins at a time",
    });
  }

  return {
    take,
    place(kind, bytes) {
      let area = areas[kind];
      if (area === null || area.bytes < bytes) {
        if (area !== null) shared.giveBack(area);
        areas[kind] = null;
        area = take(bytes, true);
        areas[kind] = area;
      }
      return area.address;
    },
    placeTanhTable() {
      if (tanhTable === null) {
        const table = buildTanhTable();
        tanhTable = take(table.byteLength, true);
        new Float64Array(shared.memory.buffer, tanhTable.address, table.length).set(table);
      }
      return tanhTable.address;
    },
  };
}
