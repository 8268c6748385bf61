/**
 * The four kinds of error this library throws. A message says what was wrong, then the value; `where` says where it was
 * found (file, row, column), `hint` what to do about it. Anything else that is thrown is a bug, except that memory ran
 * out: engines report that with errors of their own, recognised by their words and codes. Values from outside are cut
 * to a length that fits a sentence, and their control characters are spelled out, whoever prints the message.
 */
import { present } from "./present.ts";
import { safeText, shortenValues } from "./text.ts";

/** What an error carries besides its message. */
export interface ErrorDetails {
  /** Stable and machine-readable, e.g. "column.missing". */
  readonly code: string;
  /** File, row and column, as far as they are known, e.g. `patients.csv, row 17, column "age"`. */
  readonly where?: string;
  /** What the reader can do about it. */
  readonly hint?: string;
}

/** What all errors of this library have in common: a code, where it was found, and what to do. */
export class GraduateError extends Error {
  readonly code: string;
  readonly where: string | undefined;
  readonly hint: string | undefined;

  constructor(message: string, details: ErrorDetails) {
    super(toSentence(message));
    this.name = new.target.name;
    this.code = details.code;
    this.where = details.where === undefined ? undefined : toSentence(details.where);
    this.hint = details.hint === undefined ? undefined : toSentence(details.hint);
  }
}

function toSentence(text: string): string {
  return safeText(shortenValues(text));
}

/** The same refusal, of the same class and code, in other words. */
export function restate(
  error: GraduateError,
  words: { readonly message: string; readonly hint?: string },
): GraduateError {
  const Refusal = error.constructor as typeof GraduateError;
  const { code, where } = error;
  const hint = words.hint ?? error.hint;
  return new Refusal(words.message, {
    code,
    ...present({ where, hint }),
  });
}

/** What the user gave cannot be used: a table, a column, an option. */
export class InputError extends GraduateError {}
/** A computation left the range in which its numbers can be trusted. */
export class NumericalError extends GraduateError {}
/** A device or worker could not be opened or failed. */
export class BackendError extends GraduateError {}
/** A file is not what it claims to be: truncated, of another version, tampered with. */
export class FormatError extends GraduateError {}

/** How many bad rows one error names before it only counts them. */
export const MAX_ROWS_NAMED = 20;

/**
 * "rows 3, 8 and 12", "row 3", "rows 1, 2, … (and 71 more)"; rows are 1-based, as a person counts them below the
 * header.
 */
export function nameRows(rows: readonly number[]): string {
  const shown = rows.slice(0, MAX_ROWS_NAMED);
  const rest = rows.length - shown.length;
  if (shown.length === 1) return `row ${shown[0]}`;
  if (rest > 0) return `rows ${shown.join(", ")} (and ${rest} more)`;
  return `rows ${shown.slice(0, -1).join(", ")} and ${shown[shown.length - 1]}`;
}

/**
 * Ends a switch over a choice: `default: return unreachable(choice)` compiles only where every case is handled, so a
 * new choice cannot be forgotten.
 */
export function unreachable(choice: never): never {
  throw new Error(`unknown choice: ${JSON.stringify(choice)}`);
}

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

/**
 * Whether something failed because memory ran out. Only allocations that can be refused are covered: when V8's own heap
 * is full, it ends the process and nothing more can be reported (SECURITY.md).
 */
export function isMemoryFailure(error: unknown): error is Error {
  if (!(error instanceof Error)) return false;
  if (REFUSED_CODES.has((error as Error & { readonly code?: unknown }).code)) return true;
  return error instanceof RangeError && REFUSED_ALLOCATION.test(error.message);
}

const MEMORY_HINT =
  "give the program more memory (ulimit -v, the limit of the container), " +
  "or fewer rows, columns, bins or threads at a time";

/** The error that people see; `error` is what the engine said. */
export function createMemoryError(error: Error, hint = MEMORY_HINT): BackendError {
  return new BackendError(`not enough memory: ${error.message}`, { code: "memory.exhausted", hint });
}
