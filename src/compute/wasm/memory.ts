/**
 * The one shared memory of a wasm backend and its allocation. Arrays and work areas stay where they are until they are
 * freed; they are then reused, with neighbouring ones joined. Everything is aligned to 64 bytes, a cache line. The
 * memory grows up to its limit and never shrinks.
 */

import { BackendError, createMemoryError, isMemoryFailure } from "../../core/errors.ts";
import { type KernelMemory, webAssembly } from "./web-assembly.ts";

const ALIGNMENT = 64;
const PAGE = 65536;
/** The limit of 32-bit addresses. */
const MOST_PAGES = 65536;
/** Grown by at least this much, because growing is slow: 16 MiB. */
const GROWTH_PAGES = 256;

export interface MemoryArea {
  readonly address: number;
  readonly bytes: number;
}

export interface SharedKernelMemory {
  readonly memory: KernelMemory;
  /** Null when the limit does not allow it. The area is not cleared. */
  take(bytes: number): MemoryArea | null;
  giveBack(area: MemoryArea): void;
  floats(area: MemoryArea, length: number): Float32Array;
}

/** An engine reserves addresses for the maximum size, and for more: several gigabytes before anything is used. */
function reserve(pages: number): KernelMemory {
  try {
    return new webAssembly.Memory({ initial: 1, maximum: pages, shared: true });
  } catch (error) {
    if (!isMemoryFailure(error)) throw error;
    throw createMemoryError(
      error,
      "the limit of addresses (ulimit -v) is too low for WebAssembly: about 13 GB do",
    );
  }
}

export function createSharedMemory(limit: number): SharedKernelMemory {
  const pages = Math.min(MOST_PAGES, Math.floor(limit / PAGE));
  if (!(pages >= 1)) {
    throw new BackendError(`memory limit is below one page of 64 KiB: ${limit}`, { code: "memory.limit" });
  }
  const memory = reserve(pages);
  // Address 0 is left out: to a kernel it means null.
  let end = ALIGNMENT;
  let free: MemoryArea[] = [];

  function grow(needed: number): boolean {
    const now = memory.buffer.byteLength / PAGE;
    const least = Math.ceil(needed / PAGE) - now;
    if (least <= 0) return true;
    if (now + least > pages) return false;
    try {
      memory.grow(Math.max(least, Math.min(GROWTH_PAGES, pages - now)));
    } catch {
      return false;
    }
    return true;
  }

  return {
    memory,
    take(asked) {
      const bytes = Math.max(ALIGNMENT, Math.ceil(asked / ALIGNMENT) * ALIGNMENT);
      const found = free.findIndex((area) => area.bytes >= bytes);
      if (found >= 0) {
        const { address, bytes: had } = free[found];
        const rest = had > bytes ? [{ address: address + bytes, bytes: had - bytes }] : [];
        free = free.toSpliced(found, 1, ...rest);
        return { address, bytes };
      }
      if (!grow(end + bytes)) return null;
      const area = { address: end, bytes };
      end += bytes;
      return area;
    },
    giveBack(area) {
      const joined: MemoryArea[] = [];
      for (const next of [...free, area].sort((a, b) => a.address - b.address)) {
        const last = joined.at(-1);
        if (last !== undefined && last.address + last.bytes === next.address) {
          joined[joined.length - 1] = { address: last.address, bytes: last.bytes + next.bytes };
        } else joined.push(next);
      }
      const last = joined.at(-1);
      if (last !== undefined && last.address + last.bytes === end) {
        end = last.address;
        joined.pop();
      }
      free = joined;
    },
    // Growing gives new buffers over the same bytes; arrays handed out earlier keep theirs.
    floats: (area, length) => new Float32Array(memory.buffer, area.address, length),
  };
}
