/**
 * Runs of `graduate compare` and `graduate tune` as lines of a results file: what the keys of saved runs depend on, and
 * what is kept of a run. That is the method, the split by name and what `--json` reports of the run, with the scores of
 * every resample if there were any; or the setting, the seed, and its scores or why it failed.
 */
import { z } from "zod";
import { InputError } from "../../core/errors.ts";
import { namesOf } from "../../core/names.ts";
import { DISTANCES, PRESETS } from "../../training/choices.ts";
import { DEFAULT_PRESET_HIDDEN } from "../../training/options.ts";
import type { AuditTable } from "../../verbs/audit.ts";
import { COMPARED_CAUSE_SCORES } from "../../verbs/comparison/cause-differences.ts";
import type { CauseResult } from "../../verbs/comparison/cause-run.ts";
import { COMPARED_SCORES } from "../../verbs/comparison/differences.ts";
import { COMPARED_METHODS, type CompareTask, type MethodResult } from "../../verbs/comparison/method-run.ts";
import type { TrainRequest } from "../../verbs/train-request.ts";
import type { TuneResult, TuneTask } from "../../verbs/tune.ts";
import { SETTING_OPTIONS, type Setting, type SettingName } from "../../verbs/tuning/settings.ts";
import { readingOptions, type TableOptions } from "../options/table-options.ts";
import { programVersion, type TableFile } from "./provenance.ts";
import { hashKey, KEY_PATTERN, type QueuedForm } from "./run-results.ts";

/** The part of a key that all runs of a plan share; `what` names what needs it, for error messages. */
export function hashShared(
  { sha256 }: TableFile,
  request: TrainRequest,
  options: TableOptions & { readonly deterministic?: boolean },
  what: string,
): string {
  if (sha256 === null) {
    throw new InputError(`${what} needs a table in a file`, {
      code: "results.source",
      hint: "runs are kept by the file's hash, so that they can be taken up again; standard input leaves none",
    });
  }
  const { category = [], number = [], ids: _, ...marks } = readingOptions(options);
  return hashKey({
    version: programVersion,
    table: sha256,
    read: [category, number, ...(Object.keys(marks).length === 0 ? [] : [marks])],
    deterministic: options.deterministic === true,
    blind: request,
    defaults: [
      PRESETS,
      Object.values(DISTANCES).map(({ defaults, paper }) => ({ defaults, paper })),
      DEFAULT_PRESET_HIDDEN,
    ],
  });
}

/** Resamples of a run that came from elsewhere. */
const MOST_REPLICATES = 10_000_000;

const score = z.number().nullable();
const byScore = <Schema extends z.ZodType>(schema: Schema) => ({
  concordance: schema,
  ece: schema,
  groupEce: schema,
  worstEce: schema,
  ibs: schema,
});

const byCauseScore = <Schema extends z.ZodType>(schema: Schema) => ({
  concordance: schema,
  ece: schema,
  groupEce: schema,
  ibs: schema,
  eventError: schema,
});

/** What a run found for each of several causes. */
const causeSchema = z.strictObject({
  scores: z.array(
    z.strictObject({
      cause: z.string(),
      ...byCauseScore(score),
      worstGroup: z.string().nullable(),
      worstEce: score,
      judged: z.int(),
      observed: score,
      expected: score,
      logrankP: score,
    }),
  ),
  audit: z.looseObject({ causes: z.array(z.looseObject({})), T: z.int() }),
  draws: z.array(z.strictObject(byCauseScore(z.array(score)))).nullable(),
});

const compareSchema = z.strictObject({
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
  byCause: causeSchema.nullable().exactOptional(),
});

const compareTask = z.strictObject({
  method: z.strictObject({
    label: z.string().max(200),
    method: z.enum(COMPARED_METHODS),
    distance: z.enum(namesOf(DISTANCES)).nullable(),
    boosted: z.boolean(),
  }),
  split: z.string().max(100_000),
  replicates: z.int().min(0).max(MOST_REPLICATES).nullable(),
});

/** Applies `to` to every score. */
function eachScore<Name extends string, From, To>(
  names: readonly Name[],
  draws: Readonly<Record<Name, From>>,
  to: (one: From) => To,
): Record<Name, To> {
  return Object.fromEntries(names.map((name) => [name, to(draws[name])])) as Record<Name, To>;
}

const readValues = (values: readonly (number | null)[]) =>
  Float64Array.from(values, (value) => value ?? Number.NaN);
const writeValues = (values: Float64Array) =>
  Array.from(values, (value) => (Number.isNaN(value) ? null : value));

type CauseLine = z.infer<typeof causeSchema>;

/** As optional fields: a run of one kind of event has none. */
function readCauses(line: CauseLine | null | undefined): Pick<MethodResult, "byCause"> {
  if (!line) return line === null ? { byCause: null } : {};
  const draws = line.draws?.map((one) => eachScore(COMPARED_CAUSE_SCORES, one, readValues)) ?? null;
  return { byCause: { ...line, draws, audit: line.audit as unknown as CauseResult["audit"] } };
}

function writeCauses(result: CauseResult | null | undefined): { readonly byCause?: CauseLine | null } {
  if (!result) return result === null ? { byCause: null } : {};
  const draws = result.draws?.map((one) => eachScore(COMPARED_CAUSE_SCORES, one, writeValues)) ?? null;
  const scores = [...result.scores];
  return { byCause: { scores, audit: result.audit as unknown as CauseLine["audit"], draws } };
}

export const COMPARE_LINES: QueuedForm<CompareTask, MethodResult> = {
  of: "compare",
  code: "compare.results",
  option: "--results",
  starts: ['{"compare":1,'],
  readTask: (value) => compareTask.safeParse(value).data ?? null,
  parse(json) {
    const parsed = compareSchema.safeParse(json);
    if (!parsed.success) return null;
    const { compare: _, key, method, split, replicates, draws, audit, byCause, ...rest } = parsed.data;
    return {
      key,
      task: { method: method as CompareTask["method"], split, replicates },
      result: {
        ...rest,
        draws: draws === null ? null : eachScore(COMPARED_SCORES, draws, readValues),
        audit: audit as AuditTable | null,
        ...readCauses(byCause),
      },
    };
  },
  write({ key, task, result: { draws, audit, byCause, ...rest } }) {
    const written = draws === null ? null : eachScore(COMPARED_SCORES, draws, writeValues);
    return { compare: 1, key, ...task, ...rest, draws: written, audit, ...writeCauses(byCause) };
  },
};

const scoresSchema = z.strictObject({
  concordance: score,
  ece: score,
  total: score,
  worst: z
    .strictObject({ group: z.string(), ece: score, critical: z.number(), ratio: z.number() })
    .nullable(),
  p: score,
  met: z.int(),
  constrained: z.int(),
  steps: z.int(),
});

const tuneSchema = z.strictObject({
  tune: z.literal(1),
  key: z.string().regex(KEY_PATTERN),
  setting: z.record(z.string(), z.union([z.string(), z.number()])),
  seed: z.int(),
  scores: scoresSchema.nullable(),
  failure: z.string().nullable(),
});

/** Options that can be swept, with values that the command line would take. */
const tuneTask = z.strictObject({
  setting: z
    .record(z.string(), z.union([z.string(), z.number()]))
    .refine((setting) =>
      Object.entries(setting).every(
        ([name, value]) =>
          Object.hasOwn(SETTING_OPTIONS, name) &&
          SETTING_OPTIONS[name as SettingName].read(String(value)) === value,
      ),
    ),
  seed: z.int().min(0),
});

export const TUNE_LINES: QueuedForm<TuneTask, TuneResult> = {
  of: "tune",
  code: "tune.results",
  option: "--results",
  starts: ['{"tune":1,'],
  readTask(value) {
    const task = tuneTask.safeParse(value).data;
    return task === undefined ? null : { setting: task.setting as Setting, seed: task.seed };
  },
  parse(json) {
    const parsed = tuneSchema.safeParse(json);
    if (!parsed.success) return null;
    const { key, setting, seed, scores, failure } = parsed.data;
    return { key, task: { setting: setting as Setting, seed }, result: { scores, failure, warnings: [] } };
  },
  write({ key, task: { setting, seed }, result: { scores, failure } }): z.infer<typeof tuneSchema> {
    return { tune: 1, key, setting: setting as Record<string, string | number>, seed, scores, failure };
  },
};
