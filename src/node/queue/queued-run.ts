/** A run as a job of the queue: what it holds, how it is named, and what its seals cover (queue-key.ts). */
import { z } from "zod";
import { safeLine } from "../../core/text.ts";
import { hashKey, KEY_PATTERN } from "../io/run-results.ts";
import type { OpenQueue } from "./open-queue.ts";
import { sayUnsealed } from "./queue-key.ts";
import type { AddedJob } from "./queue-packages.ts";
import { MOST_RUNS } from "./read-redis.ts";

const runSchema = z.strictObject({
  /** What identifies the run, the same on every machine. */
  key: z.string().regex(KEY_PATTERN),
  /** Its place in the plan. */
  place: z.int().min(0).max(MOST_RUNS),
  name: z
    .string()
    .max(100_000)
    .refine((name) => safeLine(name) === name),
  /** The task, packed. */
  line: z.string(),
  seal: z.string().length(64).nullable(),
});
export type QueuedRun = Readonly<z.infer<typeof runSchema>>;

/** How often a run is begun anew after its thread or its memory was lost, or its result was none. */
export const MOST_ATTEMPTS = 3;

/** The id of a run's job: BullMQ does not take a number for one. */
export function jobIdOf(key: string): string {
  return `run-${KEY_PATTERN.test(key) ? key : hashKey(key)}`;
}

export function toJob(run: QueuedRun): AddedJob {
  return {
    name: "run",
    data: run,
    opts: { jobId: jobIdOf(run.key), attempts: MOST_ATTEMPTS, stackTraceLimit: 0 },
  };
}

export function sealedRun(
  plan: string,
  { key, place, name, line }: Omit<QueuedRun, "seal">,
): readonly unknown[] {
  return [plan, key, place, name, line];
}

/** The result of one run of one plan: no other run's. */
export function sealedResult(plan: string, key: string, result: string): readonly unknown[] {
  return [plan, key, result];
}

/** A run from what its job holds; a sentence where it is none of this plan. */
export function readRun(
  { key: own }: Pick<OpenQueue, "key">,
  plan: string,
  id: string | undefined,
  data: unknown,
): QueuedRun | string {
  const run = runSchema.safeParse(data).data;
  if (run === undefined || jobIdOf(run.key) !== id) return "it is damaged, or not of this program";
  return own.isSealed("run", sealedRun(plan, run), run.seal) ? run : sayUnsealed(own);
}
