/**
 * What the runs of a sweep or a comparison share, as it comes from Redis: how the table is read and what is asked of
 * it. Fields that these commands do not set are refused, and a new field of a request does not compile until it has a
 * line here. What a request means is checked where it is used; here, that it is one.
 */
import { z } from "zod";
import { FormatError, GraduateError } from "../../core/errors.ts";
import { parseGroupsFile } from "../../data/groups/groups.ts";
import { MAX_BINS } from "../../data/outcomes/time-grid.ts";
import type { CellWriting } from "../../data/reading/containers.ts";
import { NETWORKS, PRESETS } from "../../training/choices.ts";
import { namesOf } from "../../core/names.ts";
import type { TrainRequest } from "../../verbs/train-request.ts";
import type { PlanHead } from "./plan-heads.ts";
import type { QueuedSubject } from "./run-kinds.ts";

const text = z.string().max(100_000);
const names = z.array(text).max(100_000);
const rows = z.instanceof(Int32Array);
const split = z.strictObject({ train: rows, validation: rows, test: rows });
const group = z.strictObject({ name: text, expression: text });
/** Numbers, words and lists of them by name: options of the trainer, which checks them. */
const word = z.union([z.number(), z.string().max(100), z.boolean(), z.null()]);
const settings = z.record(z.string().max(100), z.union([word, z.record(z.string().max(100), word)]));
const groupsFile = z.unknown().transform((value, context) => {
  try {
    return parseGroupsFile(JSON.stringify(value), "the plan");
  } catch (error) {
    context.addIssue({
      code: "custom",
      message: error instanceof GraduateError ? error.message : "no groups",
    });
    return z.NEVER;
  }
});
const never = z.never().exactOptional();

const requestFields = {
  time: text,
  event: text,
  eventIs: text.exactOptional(),
  origin: text.exactOptional(),
  entry: text.exactOptional(),
  start: text.exactOptional(),
  weights: text.exactOptional(),
  causes: names.exactOptional(),
  censored: text.exactOptional(),
  id: text.exactOptional(),
  rowsAreIndependent: z.boolean().exactOptional(),
  features: names.exactOptional(),
  drop: names.exactOptional(),
  protected: names.exactOptional(),
  allowLeak: names.exactOptional(),
  groups: z.array(group).max(100_000).exactOptional(),
  groupsFile: groupsFile.exactOptional(),
  autoGroups: z.int().min(0).max(100_000).exactOptional(),
  bins: z.int().min(1).max(MAX_BINS).exactOptional(),
  horizon: z.number().positive().exactOptional(),
  split: split.exactOptional(),
  preset: z.enum(namesOf(PRESETS)).exactOptional(),
  network: z.enum(namesOf(NETWORKS)).exactOptional(),
  splines: z.union([z.boolean(), z.literal("auto")]).exactOptional(),
  hidden: z.int().min(1).max(100_000).exactOptional(),
  constraint: settings.exactOptional(),
  options: settings.exactOptional(),
  fractions: never,
  seed: never,
  fitRows: never,
  inputGroups: never,
  numbers: never,
  method: never,
  provenance: never,
  targets: never,
  targetSlack: never,
  allowClash: never,
} satisfies Record<keyof TrainRequest, z.ZodType>;

const subjectSchema = z.strictObject({
  reading: z.strictObject({
    category: names.exactOptional(),
    number: names.exactOptional(),
    decimal: z.enum(["point", "comma"]).exactOptional(),
    thousands: z.enum(["point", "comma", "space", "none"]).exactOptional(),
    dateOrder: z.enum(["month-first", "day-first"]).exactOptional(),
    ids: names.exactOptional(),
    asWritten: names.exactOptional(),
  } satisfies Record<keyof CellWriting, z.ZodType>),
  request: z.strictObject(requestFields),
  splits: z
    .array(z.strictObject({ name: text, seed: z.int().min(0), split }))
    .min(1)
    .max(100_000)
    .exactOptional(),
  deterministic: z.boolean(),
});

export function parseSubject({ name, files }: PlanHead, shared: unknown): QueuedSubject {
  const parsed = subjectSchema.safeParse(shared);
  if (parsed.success && files.length === 1) return parsed.data as unknown as QueuedSubject;
  const where = parsed.error?.issues[0].path.join(".") ?? "";
  throw new FormatError(
    `what the runs of ${name} share is not what this program writes${where === "" ? "" : ` (${where})`}`,
    {
      code: "queue.damaged",
      hint: "the same command submits it again, once the plan is forgotten (jobs forget)",
    },
  );
}
