/**
 * Whether something failed because memory ran out. Engines report that with errors of their own, which can be
 * recognised only by their words and codes. Only allocations that can be refused are covered: when V8's own heap is
 * full, it ends the process and nothing more can be reported (SECURITY.md).
 */
import { BackendError } from "./errors.ts";

/** V8's words for buffers, WebAssembly memories, and lists, texts and dictionaries beyond what it can hold. */
const REFUSED_ALLOCATION = new RegExp(
  "allocation failed|could not allocate memory|out of memory|maximum size exceeded|" +
    "Invalid (?:typed array|array buffer|string) length",
  "i",
);
/** Node's codes for buffers and texts too long to make and for threads without a heap, and the system's own codes. */
const REFUSED_CODES: ReadonlySet<unknown> = new Set([
  "ERR_MEMORY_ALLOCATION_FAILED",
  "ERR_STRING_TOO_LONG",
  "ERR_BUFFER_TOO_LARGE",
  "ERR_FS_FILE_TOO_LARGE",
  "ERR_WORKER_OUT_OF_MEMORY",
  "ERR_WORKER_INIT_FAILED",
  "ENOMEM",
]);

export function isMemoryFailure(error: unknown): error is Error {
  if (!(error instanceof Error)) return false;
  if (REFUSED_CODES.has((error as Error & { readonly code?: unknown }).code)) return true;
  return error instanceof RangeError && REFUSED_ALLOCATION.test(error.message);
}

const HINT =
  "give the program more memory (ulimit -v, the limit of the container), " +
  "or fewer rows, columns, bins or threads at a time";

/** The error that people see; `error` is what the engine said. */
export function createMemoryError(error: Error, hint = HINT): BackendError {
  return new BackendError(`not enough memory: ${error.message}`, { code: "memory.exhausted", hint });
}
