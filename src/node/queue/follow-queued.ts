/**
 * Takes up a plan whose submitter is gone: its runs, their names and their order are read from Redis, and their results
 * are waited for as the submitter would. Nothing is submitted; a run that was cancelled stays so.
 */
import { z } from "zod";
import type { RunEvent } from "../../verbs/runs.ts";
import type { OpenQueue } from "./open-queue.ts";
import { unpackJson } from "./packed-json.ts";
import { markCollected, type PlanHead } from "./plan-heads.ts";
import type { Queue } from "./queue-packages.ts";
import { collectRuns, type QueuedRun } from "./run-in-queue.ts";

const runSchema = z.strictObject({ key: z.string(), place: z.int(), name: z.string(), line: z.string() });

const EVERY_STATE = ["completed", "failed", "active", "waiting", "delayed", "prioritized", "paused"] as const;

export interface FollowOptions {
  /** Keys of runs whose results are known. */
  readonly known: ReadonlyMap<string, unknown>;
  readonly signal: AbortSignal;
  readonly tell: (sentence: string) => void;
  readonly onEvent: (event: RunEvent<unknown>, run: { readonly key: string; readonly task: unknown }) => void;
}

/** Returns how many runs of the plan are in the queue. */
export async function followPlanInQueue(
  queue: OpenQueue,
  head: PlanHead,
  { known, signal, tell, onEvent }: FollowOptions,
): Promise<number> {
  const runs = queue.openRuns(head.id);
  try {
    const all = await readRuns(runs);
    const open = all.filter(({ key }) => !known.has(key));
    const plan = { head, keyOf: ({ key }: QueuedRun) => key, nameOf: ({ name }: QueuedRun) => name };
    for await (const event of collectRuns<QueuedRun, unknown>({
      queue,
      runs,
      plan,
      tasks: open,
      signal,
      tell,
    })) {
      const { key, name, line } = open[event.index];
      onEvent(event, { key, task: unpackJson(line, name) });
    }
    await markCollected(queue, head.id);
    return all.length;
  } finally {
    runs.close().catch(() => undefined);
  }
}

/** In the order of the plan. */
async function readRuns(runs: Queue): Promise<readonly QueuedRun[]> {
  const ids = [...new Set(await runs.getRanges(EVERY_STATE, 0, -1))];
  const jobs = await Promise.all(ids.map((id) => runs.getJob(id)));
  return jobs
    .flatMap((job) => {
      const parsed = runSchema.safeParse(job?.data);
      return parsed.success ? [parsed.data] : [];
    })
    .sort((a, b) => a.place - b.place);
}
