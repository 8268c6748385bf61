/**
 * The submitting side: a runner whose runs are made by workers anywhere. Runs are jobs named by their keys, so what
 * waits, is under way or is done already is not submitted again, whoever submitted it. Results are handed on in the
 * order of the plan and once each, so a file of them has the bytes that one worker on this machine would write; those
 * that end early wait in Redis until their turn. Stopping leaves the queue as it is.
 */
import { BackendError, type GraduateError, InputError } from "../../core/errors.ts";
import { countOf } from "../../core/text.ts";
import type { RunEvent, Runner } from "../../verbs/runs.ts";
import { hashKey } from "../io/run-results.ts";
import type { OpenQueue } from "./open-queue.ts";
import { packJson, unpackJson } from "./packed-json.ts";
import {
  countRuns,
  findHead,
  isCancelled,
  listRefusals,
  listWorkers,
  markCollected,
  type PlanHead,
  saveHead,
} from "./plan-heads.ts";
import type { Job, Queue } from "./queue-packages.ts";
import { orAbort, pause } from "./stoppable.ts";

/** A plan as it is submitted. */
export interface QueuedPlan<Task, Result> {
  readonly head: Omit<PlanHead, "submitted">;
  /** What all runs share. */
  readonly shared: unknown;
  /** The table's bytes, if they travel too. */
  readonly table: Buffer | null;
  /** The keys of all runs of the plan, in its order. */
  readonly keys: readonly string[];
  /** What identifies a run, the same on every machine. */
  readonly keyOf: (task: Task) => string;
  /** What people call it. */
  readonly nameOf: (task: Task) => string;
  /** The result of a run that failed; without it, failures end the plan when the others are done. */
  readonly lost?: (task: Task, why: string) => Result;
}

export interface QueueRunOptions {
  /** Opens the connection, when there are runs to make. */
  readonly open: () => Promise<OpenQueue>;
  readonly signal: AbortSignal;
  /** Takes a sentence about the queue: no worker is there, or one refuses. */
  readonly tell: (sentence: string) => void;
}

/** Jobs added or read at a time. */
const BATCH = 500;
/** How often a run is begun anew after its thread or its memory was lost. */
export const MOST_ATTEMPTS = 3;
/** Milliseconds between two looks at the queue, and between two looks at its workers. */
const LOOK_EVERY = 200;
const LOOK_FOR_WORKERS_EVERY = 5000;

/** What a job holds. */
export interface QueuedRun {
  readonly key: string;
  /** Its place in the plan. */
  readonly place: number;
  readonly name: string;
  /** The task, packed. */
  readonly line: string;
}

/** The id of a run's job: BullMQ does not take a number for one. */
export function jobIdOf(key: string): string {
  return `run-${/^[0-9a-f]{32}$/.test(key) ? key : hashKey(key)}`;
}

export function runInQueue<Task, Result>(
  plan: QueuedPlan<Task, Result>,
  { open, signal, tell }: QueueRunOptions,
): Runner<Task, Result> {
  return async function* (tasks) {
    signal.throwIfAborted();
    if (tasks.length === 0) return;
    const queue = await open();
    const runs = queue.openRuns(plan.head.id);
    try {
      for (const warning of queue.warnings) tell(warning);
      await orAbort(submit(queue, runs, plan, tasks), signal);
      yield* collectRuns({ queue, runs, plan, tasks, signal, tell });
      await markCollected(queue, plan.head.id);
    } finally {
      // While Redis is away a polite end would wait for it.
      runs.close().catch(() => undefined);
      queue.close();
    }
  };
}

/** Failed runs are tried again; everything else that is there stays as it is. */
async function submit<Task>(
  queue: OpenQueue,
  runs: Queue,
  { head, shared, table, keys, keyOf, nameOf }: QueuedPlan<Task, unknown>,
  tasks: readonly Task[],
): Promise<void> {
  await saveHead(queue, head, shared, table);
  const ids = new Set(tasks.map((task) => jobIdOf(keyOf(task))));
  const failed = (await runs.getRanges(["failed"], 0, -1)).filter((id) => ids.has(id));
  for (const id of failed) await (await runs.getJob(id))?.retry("failed");
  const places = new Map(keys.map((key, place) => [key, place]));
  for (let from = 0; from < tasks.length; from += BATCH) {
    const jobs = tasks.slice(from, from + BATCH).map((task) => {
      const key = keyOf(task);
      const data: QueuedRun = { key, place: places.get(key) ?? 0, name: nameOf(task), line: packJson(task) };
      return {
        name: "run",
        data,
        opts: { jobId: jobIdOf(key), attempts: MOST_ATTEMPTS, stackTraceLimit: 0 },
      };
    });
    await runs.addBulk(jobs);
  }
}

export interface Collecting<Task, Result> extends Pick<QueueRunOptions, "signal" | "tell"> {
  readonly queue: OpenQueue;
  readonly runs: Queue;
  readonly plan: Pick<QueuedPlan<Task, Result>, "keyOf" | "nameOf" | "lost"> & {
    readonly head: Pick<PlanHead, "id" | "name">;
  };
  readonly tasks: readonly Task[];
}

interface Failure {
  readonly name: string;
  readonly why: string;
}

/** Waits for runs and hands their results on, in the order of the tasks. */
export async function* collectRuns<Task, Result>({
  queue,
  runs,
  plan,
  tasks,
  signal,
  tell,
}: Collecting<Task, Result>): AsyncGenerator<RunEvent<Result>, void> {
  const places = new Map(tasks.map((task, index) => [jobIdOf(plan.keyOf(task)), index]));
  const ended = new Map<number, { readonly result: Result } | { readonly why: string }>();
  const failures: Failure[] = [];
  const watchWorkers = createWatch(queue, plan.head.id, tell);
  let [next, seen, emptyLooks] = [0, -1, 0];
  while (next < tasks.length) {
    await orAbort(watchWorkers(), signal);
    const counts = await orAbort(countRuns(runs), signal);
    if (counts.done + counts.failed !== seen) {
      for await (const { index, job } of readEnded(runs, places, ended, signal)) {
        ended.set(index, readOutcome<Result>(job, plan.nameOf(tasks[index])));
        yield { type: "progress", index, share: 1 };
      }
      seen = counts.done + counts.failed;
    }
    for (let one = ended.get(next); one !== undefined; one = ended.get(++next)) {
      const [index, task] = [next, tasks[next]];
      if ("why" in one) failures.push({ name: plan.nameOf(task), why: one.why });
      const result = "why" in one ? plan.lost?.(task, one.why) : one.result;
      if (result !== undefined) yield { type: "result", index, result, isKept: false };
    }
    if (next === tasks.length) break;
    // Nothing waits and nothing is under way, twice in a row: what is not done will not be.
    emptyLooks = counts.waiting + counts.active === 0 ? emptyLooks + 1 : 0;
    if (emptyLooks === 2 && ended.size < tasks.length) {
      yield* flush(ended, next);
      throw await explainMissing(queue, plan.head, tasks.length - ended.size);
    }
    yield* readProgress(runs, places, signal);
    await pause(LOOK_EVERY, signal);
  }
  if (failures.length > 0 && plan.lost === undefined) throw explainFailures(failures, tasks.length);
}

/** Results that came before their turn, where their turn will not come. */
function* flush<Result>(
  ended: ReadonlyMap<number, { readonly result: Result } | { readonly why: string }>,
  next: number,
): Generator<RunEvent<Result>> {
  for (const [index, one] of [...ended].sort(([a], [b]) => a - b)) {
    if (index >= next && "result" in one) yield { type: "result", index, result: one.result, isKept: false };
  }
}

/** Jobs of ours that have ended and were not seen before. */
async function* readEnded(
  runs: Queue,
  places: ReadonlyMap<string, number>,
  known: ReadonlyMap<number, unknown>,
  signal: AbortSignal,
): AsyncGenerator<{ readonly index: number; readonly job: Job }> {
  const ids = await orAbort(runs.getRanges(["completed", "failed"], 0, -1), signal);
  const fresh = ids.flatMap((id) => {
    const index = places.get(id);
    return index === undefined || known.has(index) ? [] : [{ index, id }];
  });
  for (let from = 0; from < fresh.length; from += BATCH) {
    const part = fresh.slice(from, from + BATCH);
    const jobs = await orAbort(Promise.all(part.map(({ id }) => runs.getJob(id))), signal);
    for (const [k, job] of jobs.entries()) if (job !== undefined) yield { index: part[k].index, job };
  }
}

function readOutcome<Result>(
  { failedReason, returnvalue }: Job,
  name: string,
): { readonly result: Result } | { readonly why: string } {
  if (typeof returnvalue === "string")
    return { result: unpackJson(returnvalue, `the result of ${name}`) as Result };
  const why = failedReason ?? "it left no result";
  return { why: /stalled more than/.test(why) ? "every worker that began it was lost" : why };
}

async function* readProgress(
  runs: Queue,
  places: ReadonlyMap<string, number>,
  signal: AbortSignal,
): AsyncGenerator<RunEvent<never>> {
  const ids = (await orAbort(runs.getRanges(["active"], 0, -1), signal)).filter((id) => places.has(id));
  const jobs = await orAbort(Promise.all(ids.map((id) => runs.getJob(id))), signal);
  for (const [k, job] of jobs.entries()) {
    const index = places.get(ids[k]);
    if (index === undefined || typeof job?.progress !== "number" || job.returnvalue) continue;
    yield { type: "progress", index, share: job.progress };
  }
}

/** Says, once each, that nobody works and which worker refuses. */
function createWatch(queue: OpenQueue, id: string, tell: (sentence: string) => void): () => Promise<void> {
  const told = new Set<string>();
  let lookedAt = Number.NEGATIVE_INFINITY;
  const tellOnce = (sentence: string) => {
    if (!told.has(sentence)) tell(sentence);
    told.add(sentence);
  };
  return async () => {
    if (performance.now() - lookedAt < LOOK_FOR_WORKERS_EVERY) return;
    lookedAt = performance.now();
    for (const refusal of await listRefusals(queue, id))
      tellOnce(`a worker takes no run of this plan: ${refusal}`);
    if ((await listWorkers(queue)).length === 0)
      tellOnce(
        `no worker is at ${queue.address.shown}: \`graduate worker --queue …\` on any machine makes the runs`,
      );
  };
}

async function explainMissing(
  queue: OpenQueue,
  { id, name }: Pick<PlanHead, "id" | "name">,
  missing: number,
): Promise<GraduateError> {
  const hint = "the same command submits them again; what is done stays done";
  const runs = countOf(missing, "run");
  if (await isCancelled(queue, id))
    return new InputError(`${name} was cancelled: ${runs} will not be made`, {
      code: "queue.cancelled",
      hint,
    });
  const why =
    (await findHead(queue, id)) === null ? "Redis has forgotten the plan" : "they are no longer in Redis";
  return new BackendError(`${runs} of ${name} are lost: ${why}`, { code: "queue.lost", hint });
}

/** Failures that one error names. */
const MOST_NAMED = 5;

function explainFailures(failures: readonly Failure[], total: number): InputError {
  const named = failures.slice(0, MOST_NAMED).map(({ name, why }) => `${name}: ${why}`);
  const more = failures.length > MOST_NAMED ? `; and ${failures.length - MOST_NAMED} more` : "";
  return new InputError(`${failures.length} of ${countOf(total, "run")} failed: ${named.join("; ")}${more}`, {
    code: "queue.failed",
    hint: "the others are kept; the same command tries these again",
  });
}
