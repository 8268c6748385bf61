/**
 * Takes up a plan whose submitter is gone: its runs, their names and their order are read from Redis, and their results
 * are waited for as the submitter would. Nothing is submitted, but for runs whose result was none; a run that was
 * cancelled stays so. What is no run or no result of this program is passed over by name, and reaches no file.
 */
import type { RunEvent } from "../../verbs/runs.ts";
import { type QueuedForm, readResult } from "../io/run-results.ts";
import type { OpenQueue } from "./open-queue.ts";
import { unpackJson } from "./packed-json.ts";
import { markCollected, type PlanHead, requireSealed } from "./plan-heads.ts";
import { type QueuedRun, readRun, toJob } from "./queued-run.ts";
import { readJobIds, readJobs } from "./read-redis.ts";
import { collectRuns } from "./run-in-queue.ts";

const EVERY_LIST = ["completed", "failed", "active", "wait", "delayed", "prioritized", "paused"] as const;

export interface FollowOptions<Task, Result> {
  readonly form: QueuedForm<Task, Result>;
  /** Keys of runs whose results are known. */
  readonly known: ReadonlyMap<string, unknown>;
  readonly signal: AbortSignal;
  readonly tell: (sentence: string) => void;
  readonly onEvent: (event: RunEvent<Result>, run: { readonly key: string; readonly task: Task }) => void;
}

interface FoundRun<Task> {
  readonly run: QueuedRun;
  readonly task: Task;
}

/** Returns how many runs of the plan are in the queue. */
export async function followPlanInQueue<Task, Result extends { readonly warnings: readonly string[] }>(
  queue: OpenQueue,
  head: PlanHead,
  { form, known, signal, tell, onEvent }: FollowOptions<Task, Result>,
): Promise<number> {
  requireSealed(queue, head);
  const runs = queue.openRuns(head.id);
  try {
    const all = await readRuns(queue, head, form, tell);
    const open = all.filter(({ run }) => !known.has(run.key));
    const plan = {
      head,
      keyOf: ({ run }: FoundRun<Task>) => run.key,
      nameOf: ({ run }: FoundRun<Task>) => run.name,
      readResult: ({ run, task }: FoundRun<Task>, result: unknown) =>
        readResult(form, { key: run.key, task, result }),
    };
    const jobOf = ({ run }: FoundRun<Task>) => toJob(run);
    const collecting = { queue, runs, plan, tasks: open, jobOf, signal, tell };
    for await (const event of collectRuns<FoundRun<Task>, Result>(collecting)) {
      const { run, task } = open[event.index];
      onEvent(event, { key: run.key, task });
    }
    await markCollected(queue, head.id);
    return all.length;
  } finally {
    runs.close().catch(() => undefined);
  }
}

/** In the order of the plan. */
async function readRuns<Task>(
  queue: OpenQueue,
  { id: plan, name }: PlanHead,
  { readTask }: Pick<QueuedForm<Task, unknown>, "readTask">,
  tell: (sentence: string) => void,
): Promise<readonly FoundRun<Task>[]> {
  const ids = [...new Set(await readJobIds(queue, plan, EVERY_LIST))];
  const found: FoundRun<Task>[] = [];
  const passedOver: string[] = [];
  for await (const { id, data } of readJobs(queue, plan, ids)) {
    const run = readRun(queue, plan, id, parseJson(data));
    const task = typeof run === "string" ? null : readTask(parseTask(run));
    if (typeof run !== "string" && task !== null) found.push({ run, task });
    else passedOver.push(`${id}: ${typeof run === "string" ? run : "its task is none of this program"}`);
  }
  for (const why of passedOver.slice(0, MOST_NAMED)) tell(`a run of ${name} is passed over: ${why}`);
  if (passedOver.length > MOST_NAMED) tell(`and ${passedOver.length - MOST_NAMED} more are passed over`);
  return found.sort((a, b) => a.run.place - b.run.place);
}

/** Runs passed over that are named. */
const MOST_NAMED = 5;

function parseJson(text: string | null): unknown {
  try {
    return JSON.parse(text ?? "");
  } catch {
    return null;
  }
}

function parseTask({ line, name }: QueuedRun): unknown {
  try {
    return unpackJson(line, name);
  } catch {
    return null;
  }
}
