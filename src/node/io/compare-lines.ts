/**
 * A run of `graduate compare` as a line of a results file: the method, the split by name, and what `--json` reports of
 * the run, with the scores of every resample if there were any.
 */
import { z } from "zod";
import type { AuditTable } from "../../verbs/audit.ts";
import { COMPARED_SCORES, type ComparedScore, type ScoreDraws } from "../../verbs/comparison/differences.ts";
import type { CompareTask, MethodResult } from "../../verbs/comparison/method-run.ts";
import { KEY_PATTERN, type RunForm } from "./run-results.ts";

const score = z.number().nullable();
const byScore = <Schema extends z.ZodType>(schema: Schema) => ({
  concordance: schema,
  ece: schema,
  groupEce: schema,
  worstEce: schema,
  ibs: schema,
});

const lineSchema = z.strictObject({
  compare: z.literal(1),
  key: z.string().regex(KEY_PATTERN),
  method: z.strictObject({
    label: z.string(),
    method: z.string(),
    distance: z.string().nullable(),
    boosted: z.boolean(),
  }),
  split: z.string(),
  replicates: z.int().nullable(),
  scores: z
    .strictObject({ ...byScore(score), worstGroup: z.string().nullable(), judged: z.int() })
    .nullable(),
  met: z.int().nullable(),
  constrained: z.int().nullable(),
  seconds: score,
  failure: z.string().nullable(),
  warnings: z.array(z.string()),
  /** A null in a list means that the score is undefined in that resample. */
  draws: z.strictObject(byScore(z.array(score))).nullable(),
  audit: z.looseObject({ overall: z.looseObject({}), groups: z.array(z.looseObject({})) }).nullable(),
});

type Line = z.infer<typeof lineSchema>;

/** Applies `to` to every score. */
function eachScore<From, To>(
  draws: Readonly<Record<ComparedScore, From>>,
  to: (one: From) => To,
): Record<ComparedScore, To> {
  const entries = COMPARED_SCORES.map((name) => [name, to(draws[name])] as const);
  return Object.fromEntries(entries) as Record<ComparedScore, To>;
}

const readDraws = (draws: NonNullable<Line["draws"]>): ScoreDraws =>
  eachScore(draws, (values) => Float64Array.from(values, (value) => value ?? Number.NaN));
const writeDraws = (draws: ScoreDraws): Line["draws"] =>
  eachScore(draws, (values) => Array.from(values, (value) => (Number.isNaN(value) ? null : value)));

export const COMPARE_LINES: RunForm<CompareTask, MethodResult> = {
  of: "compare",
  code: "compare.results",
  option: "--results",
  starts: ['{"compare":1,'],
  parse(json) {
    const parsed = lineSchema.safeParse(json);
    if (!parsed.success) return null;
    const { compare: _, key, method, split, replicates, draws, audit, ...rest } = parsed.data;
    return {
      key,
      task: { method: method as CompareTask["method"], split, replicates },
      result: {
        ...rest,
        draws: draws === null ? null : readDraws(draws),
        audit: audit as AuditTable | null,
      },
    };
  },
  write({ key, task, result: { draws, audit, ...rest } }) {
    return { compare: 1, key, ...task, ...rest, draws: draws === null ? null : writeDraws(draws), audit };
  },
};
