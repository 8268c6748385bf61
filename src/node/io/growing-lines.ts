/**
 * A file of lines that grows as work of hours goes on: results of sweeps and plans. Each append is whole on the disk
 * or not there: what a full disk let through of it is cut off again at once, and what a kill left of it at the next
 * start. A file that is something else is refused, not appended to. Two programs may not write to one file at once.
 * Files that are written once are growing-file.ts' business.
 */
import {
  closeSync,
  fstatSync,
  fsyncSync,
  ftruncateSync,
  openSync,
  readFileSync,
  realpathSync,
  unlinkSync,
  writeSync,
} from "node:fs";
import { dirname } from "node:path";
import { type FormatError, GraduateError, InputError } from "../../core/errors.ts";
import { syncFolderNow } from "./sync-folder.ts";
import { explainErrno } from "./write-errors.ts";

/** A file of lines, open for more of them. */
export interface GrowingLines {
  /** Whether a half-written line was cut off. */
  readonly repaired: boolean;
  /** All of them or none. */
  append(lines: readonly string[]): void;
  /** A file that this program made and wrote nothing to does not stay. */
  close(): void;
}

/** How the lines that a file has already are read, and what is said where they are not ours. */
export interface GrowingLinesOptions {
  /** Is given the whole lines there are; throws a FormatError where they are not ours. */
  readonly read: (text: string) => void;
  /** What every line of ours begins with: a last line cut off before its end is ours if it begins so. */
  readonly starts: readonly string[];
  /** What is thrown for the line of that number. */
  readonly refuseLine: (line: number) => FormatError;
  /** Which option names the file, for hints: "--out". */
  readonly option: string;
}

/** Opens a file of lines, or makes it; a last line that was cut off is taken away. */
export function openGrowingLines(path: string, options: GrowingLinesOptions): GrowingLines {
  const refuse = (error: unknown) =>
    error instanceof GraduateError
      ? error
      : new InputError(`cannot keep the results in "${path}" (${explainErrno(error)})`, {
          code: "file.unwritable",
          hint: `${options.option} names the file`,
        });
  const { file, isNew } = orThrow(refuse, () => openForAppending(path));
  let length = 0;
  let repaired = false;
  try {
    const bytes = readFileSync(path);
    length = bytes.lastIndexOf(0x0a) + 1;
    const text = bytes.subarray(0, length).toString("utf8");
    options.read(text);
    const rest = bytes.subarray(length).toString("utf8");
    if (rest !== "" && !options.starts.some((start) => start.startsWith(rest.slice(0, start.length))))
      throw options.refuseLine(text.split("\n").length);
    repaired = length < bytes.length;
    if (repaired) ftruncateSync(file, length);
    if (isNew) syncFolderNow(dirname(realpathSync(path)));
  } catch (error) {
    closeSync(file);
    if (isNew) unlinkSync(realpathSync(path));
    throw refuse(error);
  }
  return {
    repaired,
    append(lines) {
      const bytes = Buffer.from(lines.map((line) => `${line}\n`).join(""));
      let written = 0;
      try {
        while (written < bytes.length) written += writeSync(file, bytes, written, bytes.length - written);
        fsyncSync(file);
        length += bytes.length;
      } catch (error) {
        cutBack(file, length, written);
        throw refuse(error);
      }
    },
    close() {
      const isEmpty = fstatSync(file).size === 0;
      closeSync(file);
      if (isNew && isEmpty) unlinkSync(realpathSync(path));
    },
  };
}

/** Made if it is not there, at the end of its links; what is there stays. */
function openForAppending(path: string): { readonly file: number; readonly isNew: boolean } {
  let isNew = false;
  try {
    closeSync(openSync(path, "r"));
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code !== "ENOENT") throw error;
    isNew = true;
  }
  return { file: openSync(path, "a+"), isNew };
}

/** Takes back our part of a line, unless somebody else has written meanwhile; failing that, the next start does it. */
function cutBack(file: number, length: number, written: number): void {
  try {
    if (fstatSync(file).size === length + written) ftruncateSync(file, length);
  } catch {
    // The disk that failed may fail here too.
  }
}

function orThrow<R>(refuse: (error: unknown) => GraduateError, step: () => R): R {
  try {
    return step();
  } catch (error) {
    throw refuse(error);
  }
}
