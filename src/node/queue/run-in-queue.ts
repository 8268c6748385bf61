/**
 * The submitting side: a runner whose runs are made by workers anywhere. Runs are jobs named by their keys, so what
 * waits, is under way or is done already is not submitted again, whoever submitted it. Results are handed on in the
 * order of the plan and once each, so a file of them has the bytes that one worker on this machine would write; those
 * that end early wait in Redis until their turn. Stopping leaves the queue as it is.
 */
import { z } from "zod";
import { BackendError, type GraduateError, InputError } from "../../core/errors.ts";
import { countOf, safeLine } from "../../core/text.ts";
import type { RunEvent, Runner } from "../../verbs/runs.ts";
import type { OpenQueue } from "./open-queue.ts";
import { packJson, unpackJson } from "./packed-json.ts";
import {
  countRuns,
  findHead,
  isCancelled,
  listRefusals,
  listWorkers,
  markCollected,
  type PlanDraft,
  type PlanHead,
  saveHead,
} from "./plan-heads.ts";
import { sayUnsealed } from "./queue-key.ts";
import type { AddedJob, Queue } from "./queue-packages.ts";
import { jobIdOf, MOST_ATTEMPTS, sealedResult, sealedRun, toJob } from "./queued-run.ts";
import { explainReply, type JobTexts, orExplain, readJobIds, readJobs } from "./read-redis.ts";
import { orAbort, pause } from "./stoppable.ts";

/** A plan as it is submitted. */
export interface QueuedPlan<Task, Result> {
  readonly head: PlanDraft;
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
  /** What a worker left, as a result of this task; null where it is none. */
  readonly readResult: (task: Task, value: unknown) => Result | null;
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

/** Jobs added at a time. */
const BATCH = 500;
/** Milliseconds between two looks at the queue, and between two looks at its workers. */
const LOOK_EVERY = 200;
const LOOK_FOR_WORKERS_EVERY = 5000;

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
      const jobOf = createJobs(queue, plan);
      yield* collectRuns({ queue, runs, plan, tasks, jobOf, signal, tell });
      await markCollected(queue, plan.head.id);
    } catch (error) {
      throw explainReply(queue, error);
    } finally {
      // While Redis is away a polite end would wait for it.
      runs.close().catch(() => undefined);
      queue.close();
    }
  };
}

/** Failed runs are made again; everything else that is there stays as it is. */
async function submit<Task>(
  queue: OpenQueue,
  runs: Queue,
  plan: QueuedPlan<Task, unknown>,
  tasks: readonly Task[],
): Promise<void> {
  const { head, shared, table, keyOf } = plan;
  await saveHead(queue, head, shared, table);
  const ids = new Set(tasks.map((task) => jobIdOf(keyOf(task))));
  const failed = (await readJobIds(queue, head.id, ["failed"])).filter((id) => ids.has(id));
  for (const id of failed) await runs.remove(id);
  const jobOf = createJobs(queue, plan);
  for (let from = 0; from < tasks.length; from += BATCH)
    await orExplain(queue, runs.addBulk(tasks.slice(from, from + BATCH).map(jobOf)));
}

/** The job of a task. */
function createJobs<Task>(
  { key: own }: OpenQueue,
  { head, keys, keyOf, nameOf }: QueuedPlan<Task, unknown>,
): (task: Task) => AddedJob {
  const places = new Map(keys.map((key, place) => [key, place]));
  return (task) => {
    const key = keyOf(task);
    const run = { key, place: places.get(key) ?? 0, name: safeLine(nameOf(task)), line: packJson(task) };
    return toJob({ ...run, seal: own.seal("run", sealedRun(head.id, run)) });
  };
}

export interface Collecting<Task, Result> extends Pick<QueueRunOptions, "signal" | "tell"> {
  readonly queue: OpenQueue;
  readonly runs: Queue;
  readonly plan: Pick<QueuedPlan<Task, Result>, "keyOf" | "nameOf" | "readResult" | "lost"> & {
    readonly head: Pick<PlanHead, "id" | "name">;
  };
  readonly tasks: readonly Task[];
  /** Makes a job of a task again, whose result was none. */
  readonly jobOf: (task: Task) => AddedJob;
}

interface Failure {
  readonly name: string;
  readonly why: string;
}

/** Waits for runs and hands their results on, in the order of the tasks. */
export async function* collectRuns<Task, Result>(
  collecting: Collecting<Task, Result>,
): AsyncGenerator<RunEvent<Result>, void> {
  const { queue, runs, plan, tasks, signal, tell } = collecting;
  const places = new Map(tasks.map((task, index) => [jobIdOf(plan.keyOf(task)), index]));
  const ended = new Map<number, Ended<Result>>();
  const failures: Failure[] = [];
  const watchWorkers = createWatch(queue, plan.head.id, tell);
  const takeOutcome = createTaker(collecting, ended);
  let [next, seen, emptyLooks] = [0, -1, 0];
  while (next < tasks.length) {
    await orAbort(watchWorkers(), signal);
    const counts = await orAbort(countRuns(queue, runs), signal);
    if (counts.done + counts.failed !== seen) {
      seen = counts.done + counts.failed;
      for await (const { index, job } of readEnded(queue, plan.head.id, places, ended, signal)) {
        if (await orAbort(takeOutcome(index, job), signal)) yield { type: "progress", index, share: 1 };
        else seen = -1;
      }
    }
    for (let one = ended.get(next); one !== undefined; one = ended.get(++next)) {
      const [index, task] = [next, tasks[next]];
      if ("why" in one) failures.push({ name: plan.nameOf(task), why: one.why });
      const result = "why" in one ? plan.lost?.(task, one.why) : one.result;
      if (result !== undefined) yield { type: "result", index, result, isKept: false };
    }
    if (next === tasks.length) break;
    // Nothing waits and nothing is under way, twice in a row: what is not done will not be.
    emptyLooks = counts.waiting + counts.active === 0 && seen !== -1 ? emptyLooks + 1 : 0;
    if (emptyLooks === 2 && ended.size < tasks.length) {
      yield* flush(ended, next);
      throw await explainMissing(queue, plan.head, tasks.length - ended.size);
    }
    yield* readProgress(queue, plan.head.id, places, signal);
    await pause(LOOK_EVERY, signal);
  }
  if (failures.length > 0 && plan.lost === undefined) throw explainFailures(failures, tasks.length);
}

type Ended<Result> = { readonly result: Result } | { readonly why: string };

/** Takes what Redis says of a run that ended; false where that is no result, and the run is made again. */
function createTaker<Task, Result>(
  { queue, runs, plan, tasks, jobOf, tell }: Collecting<Task, Result>,
  ended: Map<number, Ended<Result>>,
): (index: number, job: JobTexts) => Promise<boolean> {
  const refused = new Map<number, number>();
  return async (index, job) => {
    const task = tasks[index];
    const name = plan.nameOf(task);
    const outcome = readOutcome(queue, plan, task, job);
    if (!("wrong" in outcome)) {
      ended.set(index, outcome);
      return true;
    }
    const times = (refused.get(index) ?? 0) + 1;
    refused.set(index, times);
    if (times >= MOST_ATTEMPTS) {
      ended.set(index, { why: `${outcome.wrong}, ${times} times` });
      return true;
    }
    tell(`the result of ${name} in Redis is not taken (${outcome.wrong}): the run is made again`);
    await runs.remove(job.id);
    await orExplain(queue, runs.addBulk([jobOf(task)]));
    return false;
  };
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
  queue: OpenQueue,
  plan: string,
  places: ReadonlyMap<string, number>,
  known: ReadonlyMap<number, unknown>,
  signal: AbortSignal,
): AsyncGenerator<{ readonly index: number; readonly job: JobTexts }> {
  const ids = await orAbort(readJobIds(queue, plan, ["completed", "failed"]), signal);
  const fresh = ids.filter((id) => {
    const index = places.get(id);
    return index !== undefined && !known.has(index);
  });
  for await (const job of readJobs(queue, plan, fresh)) {
    signal.throwIfAborted();
    yield { index: places.get(job.id) ?? 0, job };
  }
}

/** What a worker leaves: the result, packed, and its seal. */
const leftSchema = z.strictObject({ result: z.string(), seal: z.string().length(64).nullable() });
/** What a worker leaves of a run. */
export type LeftResult = Readonly<z.infer<typeof leftSchema>>;

function readOutcome<Task, Result>(
  { key: own }: OpenQueue,
  { head, keyOf, nameOf, readResult }: Collecting<Task, Result>["plan"],
  task: Task,
  { returnvalue, failedReason, isTooLarge }: JobTexts,
): Ended<Result> | { readonly wrong: string } {
  if (isTooLarge) return { wrong: "it is too large" };
  if (returnvalue === null) {
    const why = failedReason === null ? "it left no result" : safeLine(failedReason);
    return { why: /stalled more than/.test(why) ? "every worker that began it was lost" : why };
  }
  const key = keyOf(task);
  try {
    const { result: text, seal } = leftSchema.parse(JSON.parse(returnvalue));
    if (!own.isSealed("result", sealedResult(head.id, key, text), seal)) return { wrong: sayUnsealed(own) };
    const result = readResult(task, unpackJson(text, nameOf(task)));
    if (result !== null) return { result };
  } catch {
    // Not even JSON of this form.
  }
  return { wrong: "it is damaged, or not of this program" };
}

async function* readProgress(
  queue: OpenQueue,
  plan: string,
  places: ReadonlyMap<string, number>,
  signal: AbortSignal,
): AsyncGenerator<RunEvent<never>> {
  const ids = (await orAbort(readJobIds(queue, plan, ["active"]), signal)).filter((id) => places.has(id));
  for await (const { id, progress, returnvalue } of readJobs(queue, plan, ids)) {
    signal.throwIfAborted();
    const share = Number(progress ?? Number.NaN);
    if (returnvalue === null && share >= 0 && share <= 1)
      yield { type: "progress", index: places.get(id) ?? 0, share };
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
