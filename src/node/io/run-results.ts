/**
 * Results of runs on disk, for every command that makes many: JSON lines, one per run, written as it ends. A line
 * begins with its kind and format version (`{"tune":1,`) and has the run's key: a hash of everything the run depends on
 * (package, table, rows, options, task). So a file can hold several plans, a run is found by its key alone in any order
 * of lines, and a plan that was stopped continues where it was. growing-lines.ts handles how lines are written and what
 * happens to incomplete ones.
 */
import { createHash } from "node:crypto";
import { FormatError } from "../../core/errors.ts";
import type { Runner } from "../../verbs/runs.ts";
import { openGrowingLines } from "./growing-lines.ts";

/** The format of a file's lines. */
export interface LineForm<Line> {
  /** What every line begins with, in all versions that can be read. */
  readonly starts: readonly string[];
  /** Parses one complete line; null if it is not ours. */
  readonly parse: (json: unknown) => Line | null;
  /** The command, for error messages: "tune". */
  readonly of: string;
  /** The error code: "tune.results". */
  readonly code: string;
  /** The option that names the file: "--results". */
  readonly option: string;
}

/** A file of lines that is open for appending. */
export interface LinesFile<Line> {
  readonly path: string;
  /** The lines that were in the file, in order. */
  readonly lines: readonly Line[];
  /** Whether a half-written line was cut off. */
  readonly repaired: boolean;
  /** Afterwards either all lines are on disk or none is. */
  append(...lines: readonly object[]): void;
  /** Removes the file if it was created here and nothing was written. */
  close(): void;
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

/** A file of runs of one kind. */
export interface RunResults<Task, Result> extends Omit<LinesFile<unknown>, "lines" | "append"> {
  /** Results by key; if a run has several lines, the last one. */
  readonly recorded: ReadonlyMap<string, Result>;
  /** Adds a run at the end of the file. */
  append(run: KeptRun<Task, Result>): void;
}

/** Opens a file of runs, or creates it. */
export function openRunResults<Task, Result>(
  path: string,
  form: RunForm<Task, Result>,
): RunResults<Task, Result> {
  const { lines, append, ...file } = openLines(path, form);
  const recorded = new Map(lines.map(({ key, result }) => [key, result]));
  return { ...file, recorded, append: (run) => append(form.write(run)) };
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
