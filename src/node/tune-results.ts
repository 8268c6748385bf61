/**
 * The runs of a sweep on disk: JSON lines, one a run, written as it ends. A line's key is a hash of everything the run depends on
 * (package, table, rows, options, setting, seed), so a file can hold several sweeps and a run is found again by its key alone, in whatever
 * order the lines came. What a kill left of the last line is cut off. A file that is something else is refused, not appended to.
 */
import { createHash } from "node:crypto";
import { closeSync, fsyncSync, ftruncateSync, openSync, readFileSync, unlinkSync, writeSync } from "node:fs";
import { z } from "zod";
import { FormatError, InputError } from "../core/errors.ts";
import type { RunScores } from "../tune.ts";
import type { Setting } from "../tune-settings.ts";

const scoresSchema = z.strictObject({
  concordance: z.number().nullable(),
  ece: z.number().nullable(),
  total: z.number().nullable(),
  worst: z
    .strictObject({ group: z.string(), ece: z.number(), critical: z.number(), ratio: z.number() })
    .nullable(),
  p: z.number().nullable(),
  met: z.int(),
  constrained: z.int(),
  steps: z.int(),
});

const lineSchema = z.strictObject({
  tune: z.literal(1),
  key: z.string().regex(/^[0-9a-f]{32}$/),
  setting: z.record(z.string(), z.union([z.string(), z.number()])),
  seed: z.int(),
  scores: scoresSchema.nullable(),
  failure: z.string().nullable(),
});

export interface RecordedRun {
  readonly key: string;
  readonly setting: Setting;
  readonly seed: number;
  readonly scores: RunScores | null;
  readonly failure: string | null;
}

export interface ResultsFile {
  /** Runs that the file has, by key. */
  readonly recorded: ReadonlyMap<string, Pick<RecordedRun, "scores" | "failure">>;
  /** Whether a half-written line was cut off. */
  readonly repaired: boolean;
  append(run: RecordedRun): void;
  close(): void;
}

/** Hexadecimal digits of a key: 128 bits, no two runs will ever share one. */
const KEY_LENGTH = 32;

/** Of anything JSON can say, typed arrays as lists. */
export function hashKey(parts: unknown): string {
  const text = JSON.stringify(parts, (_, value: unknown) =>
    ArrayBuffer.isView(value) ? Array.from(value as unknown as ArrayLike<number>) : value,
  );
  return createHash("sha256").update(text).digest("hex").slice(0, KEY_LENGTH);
}

export function openResults(path: string): ResultsFile {
  let file: number;
  let bytes: Buffer;
  try {
    // Made if it is not there; what is there stays.
    file = openSync(path, "a+");
    bytes = readFileSync(path);
  } catch (error) {
    throw refuseFile(path, error);
  }
  const end = bytes.lastIndexOf(0x0a) + 1;
  const recorded = new Map<string, Pick<RecordedRun, "scores" | "failure">>();
  try {
    const lines = bytes.subarray(0, end).toString("utf8").split("\n").slice(0, -1);
    lines.forEach((line, k) => {
      const run = parseLine(line);
      if (run === null) throw refuseLine(path, k + 1);
      recorded.set(run.key, { scores: run.scores, failure: run.failure });
    });
    const rest = bytes.subarray(end).toString("utf8");
    // The start of a line of ours, or of nothing we know: a foreign file of one line is not cut.
    if (rest !== "" && !LINE_START.startsWith(rest.slice(0, LINE_START.length)))
      throw refuseLine(path, lines.length + 1);
    if (end < bytes.length) ftruncateSync(file, end);
  } catch (error) {
    closeSync(file);
    throw error instanceof FormatError ? error : refuseFile(path, error);
  }
  let isEmpty = end === 0;
  return {
    recorded,
    repaired: end < bytes.length,
    append(run) {
      const { key, setting, seed, scores, failure } = run;
      try {
        writeSync(file, `${JSON.stringify({ tune: 1, key, setting, seed, scores, failure })}\n`);
        fsyncSync(file);
        isEmpty = false;
      } catch (error) {
        throw refuseFile(path, error);
      }
    },
    close() {
      closeSync(file);
      // A sweep that was refused leaves no empty file behind.
      if (isEmpty) unlinkSync(path);
    },
  };
}

const LINE_START = '{"tune":1,';

function parseLine(line: string): z.infer<typeof lineSchema> | null {
  try {
    const parsed = lineSchema.safeParse(JSON.parse(line));
    return parsed.success ? parsed.data : null;
  } catch {
    return null;
  }
}

function refuseLine(path: string, line: number): FormatError {
  return new FormatError(`not a results file of tune: "${path}"`, {
    code: "tune.results",
    where: `${path}, line ${line}`,
    hint: "name another file (--results), or delete this one",
  });
}

function refuseFile(path: string, error: unknown): InputError {
  const { code } = error as NodeJS.ErrnoException;
  return new InputError(`cannot keep the results in "${path}" (${code ?? "unknown reason"})`, {
    code: "file.unwritable",
    hint: "--results names the file",
  });
}
