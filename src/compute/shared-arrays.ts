/**
 * Typed arrays of the host on which a backend's kernels over rows (row-kernels.ts) can work too: float64 and int32
 * views of the backend's own memory, and the way from such a view back to the backend's array. Where a backend has no
 * such kernels, or no room, they are plain arrays, and whoever looks for the array behind one finds none. They are
 * freed with the scope of the backend they were allocated on.
 */
import { BackendError } from "../core/errors.ts";
import type { Backend, DeviceArray, Floats } from "./backend.ts";

/** 256 MiB: longer arrays are left out of a memory that networks need too. */
const MOST_SHARED_WORDS = 2 ** 26;

const arrayBehind = new WeakMap<object, DeviceArray>();

/** Zeroed float64 numbers. */
export function allocateDoubles(backend: Backend, length: number): Float64Array {
  const shared = takeShared(backend, 2 * length);
  if (shared === null) return new Float64Array(length);
  return remember(new Float64Array(shared.view.buffer, shared.view.byteOffset, length), shared.array);
}

/** Zeroed whole numbers of 32 bits. */
export function allocateWords(backend: Backend, length: number): Int32Array {
  const shared = takeShared(backend, length);
  if (shared === null) return new Int32Array(length);
  return remember(new Int32Array(shared.view.buffer, shared.view.byteOffset, length), shared.array);
}

/** The backend's array behind one that was allocated here; null for any other, or where it is not shared. */
export function findShared(view: object): DeviceArray | null {
  return arrayBehind.get(view) ?? null;
}

function remember<View extends object>(view: View, array: DeviceArray): View {
  arrayBehind.set(view, array);
  return view;
}

/** Null without kernels over rows, without room, or where the host does not see the memory. */
function takeShared(
  backend: Backend,
  words: number,
): { readonly array: DeviceArray; readonly view: Floats } | null {
  if (backend.rowKernels === undefined || words > MOST_SHARED_WORDS) return null;
  try {
    const array = backend.allocate(words);
    const view = backend.view(array);
    if (view !== null) return { array, view };
    backend.release(array);
    return null;
  } catch (error) {
    if (error instanceof BackendError && error.code === "memory.exhausted") return null;
    throw error;
  }
}
