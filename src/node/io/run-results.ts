/**
 * Results of runs on disk, for every command that makes many: JSON lines, one per run, written as it ends. A line
 * begins with its kind and format version (`{"tune":1,`) and has the run's key: a hash of everything the run depends on
 * (package, table, rows, options, task). So a file can hold several plans, a run is found by its key alone in any order
 * of lines, and a plan that was stopped continues where it was.
 */
import { createHash } from "node:crypto";
import {
  closeSync,
  fstatSync,
  fsyncSync,
  ftruncateSync,
  openSync,
  readFileSync,
  realpathSync,
  statSync,
  unlinkSync,
  writeSync,
} from "node:fs";
import { dirname } from "node:path";
import { z } from "zod";
import { FormatError, GraduateError, InputError } from "../../core/errors.ts";
import type { Runner } from "../../verbs/runs.ts";
import { HEAD_START, parseHead, type ShardHead } from "../shards/shard-head.ts";
import { lockFile } from "./file-lock.ts";
import { syncFolder } from "./growing-file.ts";
import { cleanAtEnd } from "./process-end.ts";
import { explainErrno } from "./write-errors.ts";

/** The format of a file's lines. */
export interface LineForm<Line> extends Pick<GrowingLinesOptions, "starts" | "option"> {
  /** Parses one complete line; null if it is not ours. */
  readonly parse: (json: unknown) => Line | null;
  /** The command, for error messages: "tune". */
  readonly of: string;
  /** The error code: "tune.results". */
  readonly code: string;
}

/** A file of lines that is open for appending. */
export interface LinesFile<Line> extends Omit<GrowingLines, "append"> {
  readonly path: string;
  /** The lines that were in the file, in order. */
  readonly lines: readonly Line[];
  /** Afterwards either all lines are on disk or none is. */
  append(...lines: readonly object[]): void;
}

/** Opens or creates the file; a file that holds anything else is refused and left unchanged. */
export function openLines<Line>(path: string, form: LineForm<Line>): LinesFile<Line> {
  let lines: readonly Line[] = [];
  const file = openGrowingLines(path, {
    read(text) {
      lines = parseLines(text, path, form);
    },
    starts: form.starts,
    refuseLine: (line) => refuseLine(path, line, form),
    option: form.option,
  });
  return {
    path,
    lines,
    repaired: file.repaired,
    append: (...added) => file.append(added.map((line) => JSON.stringify(line, listArrays))),
    close: file.close,
  };
}

/** Complete lines, each with its line end; `path` is for error messages. */
export function parseLines<Line>(text: string, path: string, form: LineForm<Line>): readonly Line[] {
  return text
    .split("\n")
    .slice(0, -1)
    .map((line, k) => {
      const parsed = form.parse(parseJson(line));
      if (parsed === null) throw refuseLine(path, k + 1, form);
      return parsed;
    });
}

/** Undefined if the text is not JSON. */
function parseJson(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    return undefined;
  }
}

function refuseLine(path: string, line: number, { of, code, option }: LineForm<unknown>): FormatError {
  return new FormatError(`not a results file of ${of}: "${path}"`, {
    code,
    where: `${path}, line ${line}`,
    hint: `name another file (${option}), or delete this one`,
  });
}

/** A run that ended, with its key. */
export interface KeptRun<Task, Result> {
  readonly key: string;
  readonly task: Task;
  readonly result: Result;
}

/** How runs of a kind are written and read. */
export interface RunForm<Task, Result> extends LineForm<KeptRun<Task, Result>> {
  /** The line of a run. */
  readonly write: (run: KeptRun<Task, Result>) => object;
}

/** The same for runs that travel: by a queue, whoever writes there. */
export interface QueuedForm<Task, Result> extends RunForm<Task, Result> {
  /** A task that came from elsewhere; null if it is none. */
  readonly readTask: (value: unknown) => Task | null;
}

const warned = z.object({ warnings: z.array(z.string().max(10_000)).max(10_000) });

/** A result that came from elsewhere; null where its line would not be read as that of this run. */
export function readResult<Task, Result extends { readonly warnings: readonly string[] }>(
  form: Pick<RunForm<Task, Result>, "write" | "parse">,
  { key, task, result }: KeptRun<Task, unknown>,
): Result | null {
  try {
    const run = { key, task, result: result as Result };
    const parsed = form.parse(JSON.parse(JSON.stringify(form.write(run), listArrays)));
    return parsed?.key === key && warned.safeParse(result).success ? run.result : null;
  } catch {
    // What has not even the parts of a result.
    return null;
  }
}

/** A file of runs of one kind. */
export interface RunResults<Task, Result> extends Omit<LinesFile<unknown>, "lines" | "append"> {
  /** Results by key; if a run has several lines, the last one. */
  readonly recorded: ReadonlyMap<string, Result>;
  /** Adds a run at the end of the file. */
  append(run: KeptRun<Task, Result>): void;
  /** Says which runs a shard is to make, unless the file has said so before. */
  begin(head: ShardHead): void;
}

/** Opens a file of runs, or creates it. */
export function openRunResults<Task, Result>(
  path: string,
  form: RunForm<Task, Result>,
): RunResults<Task, Result> {
  const { lines, append, ...file } = openLines<KeptRun<Task, Result> | ShardHead>(path, {
    ...form,
    starts: [...form.starts, HEAD_START],
    parse: (json) => parseHead(json) ?? form.parse(json),
  });
  const recorded = new Map(
    lines.flatMap((line) => ("key" in line ? [[line.key, line.result] as const] : [])),
  );
  const heads = new Set(lines.flatMap((line) => ("key" in line ? [] : [JSON.stringify(line)])));
  return {
    ...file,
    recorded,
    append: (run) => append(form.write(run)),
    begin: (head) => {
      if (!heads.has(JSON.stringify(head))) append(head);
    },
  };
}

/** How runs are kept: the key of each, and what is reported about those already in the file. */
export interface KeepOptions<Task> {
  /** The key of a run: one text made from everything it depends on. */
  readonly keyOf: (task: Task) => string;
  /** Called first, with the number of runs already in the file. */
  readonly onStart?: (found: { readonly kept: number; readonly total: number }) => void;
}

/** A runner backed by a file: a run in the file is not run again, and a new one is saved before it is reported. */
export function keepRuns<Task, Result>(
  runner: Runner<Task, Result>,
  file: RunResults<Task, Result>,
  { keyOf, onStart }: KeepOptions<Task>,
): Runner<Task, Result> {
  return async function* (tasks) {
    const keys = tasks.map(keyOf);
    const open = [...keys.keys()].filter((index) => !file.recorded.has(keys[index]));
    onStart?.({ kept: tasks.length - open.length, total: tasks.length });
    for (const [index, key] of keys.entries()) {
      const result = file.recorded.get(key);
      if (result !== undefined) yield { type: "result", index, result, isKept: true };
    }
    for await (const event of runner(open.map((index) => tasks[index]))) {
      const index = open[event.index];
      if (event.type === "result")
        file.append({ key: keys[index], task: tasks[index], result: event.result });
      yield { ...event, index };
    }
  };
}

/** Hexadecimal digits of a key: with 128 bits, no two runs will ever share one. */
const KEY_LENGTH = 32;
/** What a key looks like. */
export const KEY_PATTERN = new RegExp(`^[0-9a-f]{${KEY_LENGTH}}$`);

/** A key for anything that JSON can express, with typed arrays as lists. */
export function hashKey(parts: unknown): string {
  return createHash("sha256").update(JSON.stringify(parts, listArrays)).digest("hex").slice(0, KEY_LENGTH);
}

function listArrays(_key: string, value: unknown): unknown {
  return ArrayBuffer.isView(value) ? Array.from(value as unknown as ArrayLike<number>) : value;
}

/*
 * The file below them grows during hours of work. Each append is either complete on disk or absent: a part that a
 * full disk let through is cut off at once, and a part that a kill left is cut off at the next start. A file that is
 * something else is refused, not appended to, and so is one that another program writes to (file-lock.ts). Files
 * written once are handled by growing-file.ts.
 */

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
  /** What our lines begin with, in all versions: an incomplete last line is ours if it begins like this. */
  readonly starts: readonly string[];
  /** The error for the line with that number. */
  readonly refuseLine: (line: number) => FormatError;
  /** The option that names the file, for hints: "--results". */
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
  let opened: OpenFile;
  try {
    opened = openForAppending(path, options.option);
  } catch (error) {
    throw refuse(error);
  }
  const { file, real, unlock } = opened;
  const removeEmpty = () => {
    if (opened.isNew && fstatSync(file).size === 0) unlinkSync(real);
  };
  const forget = cleanAtEnd({ remove: removeEmpty });
  const close = () => {
    forget();
    removeEmpty();
    closeSync(file);
    unlock();
  };
  let length = 0;
  let repaired = false;
  try {
    const bytes = readFileSync(real);
    length = bytes.lastIndexOf(0x0a) + 1;
    const text = bytes.subarray(0, length).toString("utf8");
    options.read(text);
    const rest = bytes.subarray(length).toString("utf8");
    if (rest !== "" && !options.starts.some((start) => start.startsWith(rest.slice(0, start.length))))
      throw options.refuseLine(text.split("\n").length);
    repaired = length < bytes.length;
    if (repaired) ftruncateSync(file, length);
    if (opened.isNew) syncFolder(dirname(real));
  } catch (error) {
    close();
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
    close,
  };
}

interface OpenFile {
  readonly file: number;
  /** At the end of its links. */
  readonly real: string;
  /** Whether this program made it. */
  readonly isNew: boolean;
  readonly unlock: () => void;
}

/** Creates the file if it does not exist, at the end of its links, and locks it; existing contents stay. */
function openForAppending(path: string, option: string): OpenFile {
  for (;;) {
    let isNew = false;
    try {
      closeSync(openSync(path, "r"));
    } catch (error) {
      if ((error as NodeJS.ErrnoException).code !== "ENOENT") throw error;
      isNew = true;
    }
    const file = openSync(path, "a+");
    const real = realpathSync(path);
    let unlock: () => void;
    try {
      unlock = lockFile(path, `name another file (${option})`);
    } catch (error) {
      // Another program's file stays, whoever made it; an empty one of ours that cannot be locked does not.
      if (isNew && !(error instanceof GraduateError) && fstatSync(file).size === 0) unlinkSync(real);
      closeSync(file);
      throw error;
    }
    // Whoever had the lock before may have removed or replaced the file that was opened here.
    if (isSameFile(file, real)) return { file, real, isNew, unlock };
    closeSync(file);
    unlock();
  }
}

function isSameFile(file: number, path: string): boolean {
  const [opened, found] = [fstatSync(file), statSync(path, { throwIfNoEntry: false })];
  return found !== undefined && found.ino === opened.ino && found.dev === opened.dev;
}

/** Removes our part of a line, unless someone else has written since; if that fails, the next start does it. */
function cutBack(file: number, length: number, written: number): void {
  try {
    if (fstatSync(file).size === length + written) ftruncateSync(file, length);
  } catch {
    // The disk that failed may fail here too.
  }
}
