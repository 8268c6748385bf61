/**
 * Results of runs on disk, for every command that makes many: JSON lines, one a run, written as it ends. A line
 * begins with its kind and the version of its form (`{"tune":1,`) and has the run's key: a hash of everything the run
 * depends on (package, table, rows, options, task). So a file can hold several plans, a run is found again by its key
 * alone in whatever order the lines came, and a plan that was stopped goes on where it was. How lines get there, and
 * what becomes of half a line, growing-lines.ts knows.
 */
import { createHash } from "node:crypto";
import { FormatError } from "../../core/errors.ts";
import type { Runner } from "../../verbs/runs.ts";
import { openGrowingLines } from "./growing-lines.ts";

/** What the lines of a file are. */
export interface LineForm<Line> {
  /** What every line begins with, in all versions that are read. */
  readonly starts: readonly string[];
  /** The line that a whole line of text says; null where it is not ours. */
  readonly parse: (json: unknown) => Line | null;
  /** The command, for refusals: "tune". */
  readonly of: string;
  /** The code of a refusal: "tune.results". */
  readonly code: string;
  /** Which option names the file: "--results". */
  readonly option: string;
}

/** A file of lines that was opened to be continued. */
export interface LinesFile<Line> {
  readonly path: string;
  /** What the file had, in its order. */
  readonly lines: readonly Line[];
  /** Whether a half-written line was cut off. */
  readonly repaired: boolean;
  /** All of them are on the disk afterwards, or none is. */
  append(...lines: readonly object[]): void;
  /** A file that was made here and not written to does not stay. */
  close(): void;
}

/** Opens the file, or makes it; one that holds anything else is refused and left as it is. */
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

/** Whole lines, each with its end; `path` is for refusals. */
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

/** Undefined where the text is no JSON. */
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

/** A run that ended, by its key. */
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
  /** By key; of several lines of a run, the last. */
  readonly recorded: ReadonlyMap<string, Result>;
  /** Adds a run at the end of the file. */
  append(run: KeptRun<Task, Result>): void;
}

/** Opens a file of runs, which is made where it is not there. */
export function openRunResults<Task, Result>(
  path: string,
  form: RunForm<Task, Result>,
): RunResults<Task, Result> {
  const { lines, append, ...file } = openLines(path, form);
  const recorded = new Map(lines.map(({ key, result }) => [key, result]));
  return { ...file, recorded, append: (run) => append(form.write(run)) };
}

/** How runs are kept: the key of each, and what is said of those that are there already. */
export interface KeepOptions<Task> {
  /** What a run depends on, as one text. */
  readonly keyOf: (task: Task) => string;
  /** Is told first how many of the runs the file has. */
  readonly onStart?: (found: { readonly kept: number; readonly total: number }) => void;
}

/** The runner with a file behind it: what the file has is not run again, and what is run is kept before it is told. */
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

/** Hexadecimal digits of a key: 128 bits, no two runs will ever share one. */
const KEY_LENGTH = 32;
/** What a key looks like. */
export const KEY_PATTERN = new RegExp(`^[0-9a-f]{${KEY_LENGTH}}$`);

/** A key of anything that JSON can say, typed arrays as lists. */
export function hashKey(parts: unknown): string {
  return createHash("sha256").update(JSON.stringify(parts, listArrays)).digest("hex").slice(0, KEY_LENGTH);
}

function listArrays(_key: string, value: unknown): unknown {
  return ArrayBuffer.isView(value) ? Array.from(value as unknown as ArrayLike<number>) : value;
}
