/** A run of `graduate tune` as a line of a results file: the setting, the seed, and its scores or why it failed. */
import { z } from "zod";
import type { TuneResult, TuneTask } from "../../verbs/tune.ts";
import type { Setting } from "../../verbs/tuning/settings.ts";
import { KEY_PATTERN, type RunForm } from "./run-results.ts";

const score = z.number().nullable();

const scoresSchema = z.strictObject({
  concordance: score,
  ece: score,
  total: score,
  worst: z
    .strictObject({ group: z.string(), ece: z.number(), critical: z.number(), ratio: z.number() })
    .nullable(),
  p: score,
  met: z.int(),
  constrained: z.int(),
  steps: z.int(),
});

const lineSchema = z.strictObject({
  tune: z.literal(1),
  key: z.string().regex(KEY_PATTERN),
  setting: z.record(z.string(), z.union([z.string(), z.number()])),
  seed: z.int(),
  scores: scoresSchema.nullable(),
  failure: z.string().nullable(),
});

export const TUNE_LINES: RunForm<TuneTask, TuneResult> = {
  of: "tune",
  code: "tune.results",
  option: "--results",
  starts: ['{"tune":1,'],
  parse(json) {
    const parsed = lineSchema.safeParse(json);
    if (!parsed.success) return null;
    const { key, setting, seed, scores, failure } = parsed.data;
    return { key, task: { setting: setting as Setting, seed }, result: { scores, failure, warnings: [] } };
  },
  write({ key, task: { setting, seed }, result: { scores, failure } }): z.infer<typeof lineSchema> {
    return { tune: 1, key, setting: setting as Record<string, string | number>, seed, scores, failure };
  },
};
