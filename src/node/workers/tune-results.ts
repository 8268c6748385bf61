/**
 * The runs of a sweep on disk: JSON lines, one a run, written as it ends. A line's key is a hash of everything the run depends on
 * (package, table, rows, options, setting, seed), so a file can hold several sweeps and a run is found again by its key alone, in whatever
 * order the lines came. How they get there, and what becomes of half a line, growing-lines.ts knows.
 */
import { createHash } from "node:crypto";
import { z } from "zod";
import { FormatError } from "../../core/errors.ts";
import type { RunScores } from "../../verbs/tune.ts";
import type { Setting } from "../../verbs/tune-settings.ts";
import { openGrowingLines } from "../io/growing-lines.ts";

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
  const recorded = new Map<string, Pick<RecordedRun, "scores" | "failure">>();
  const file = openGrowingLines(path, {
    read(text) {
      const lines = text.split("\n").slice(0, -1);
      lines.forEach((line, k) => {
        const run = parseLine(line);
        if (run === null) throw refuseLine(path, k + 1);
        recorded.set(run.key, { scores: run.scores, failure: run.failure });
      });
    },
    starts: [LINE_START],
    refuseLine: (line) => refuseLine(path, line),
    option: "--results",
  });
  return {
    recorded,
    repaired: file.repaired,
    append({ key, setting, seed, scores, failure }) {
      file.append([JSON.stringify({ tune: 1, key, setting, seed, scores, failure })]);
    },
    close: file.close,
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
