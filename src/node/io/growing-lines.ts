/**
 * A file of lines that grows during hours of work: results of sweeps and plans. Each append is either complete on disk
 * or absent: a part that a full disk let through is cut off at once, and a part that a kill left is cut off at the next
 * start. A file that is something else is refused, not appended to. Two programs may not write to one file at once.
 * Files written once are handled by growing-file.ts.
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
import { syncFolder } from "./growing-file.ts";
import { explainErrno } from "./write-errors.ts";

/** A file of lines, open for appending. */
export interface GrowingLines {
  /** Whether a half-written line was cut off. */
  readonly repaired: boolean;
  /** Appends all lines or none. */
  append(lines: readonly string[]): void;
  /** Removes the file if this program made it and wrote nothing to it. */
  close(): void;
}

/** How the existing lines of a file are read, and what is thrown if they are not ours. */
export interface GrowingLinesOptions {
  /** Receives the complete lines of the file; throws a FormatError if they are not ours. */
  readonly read: (text: string) => void;
  /** What each of our lines begins with: an incomplete last line is ours if it begins like this. */
  readonly starts: readonly string[];
  /** The error for the line with that number. */
  readonly refuseLine: (line: number) => FormatError;
  /** The option that names the file, for hints: "--out". */
  readonly option: string;
}

/** Opens or creates a file of lines; an incomplete last line is removed. */
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
    if (isNew) syncFolder(dirname(realpathSync(path)));
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

/** Creates the file if it does not exist, at the end of its links; existing contents stay. */
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

/** Removes our part of a line, unless someone else has written since; if that fails, the next start does it. */
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
