/**
 * Makes the runs of one plan on this machine, several at a time, as long as the plan is served. A run that is refused
 * (bad input) fails for good, with its sentence; one whose thread or memory was lost is tried again, here or elsewhere.
 * BullMQ holds a lock on each run while it is made: a worker that stops renewing it is lost, its run is given to
 * another, and only whoever holds the lock can leave a result, so that there is one.
 */
import { BackendError, GraduateError, InputError } from "../../core/errors.ts";
import { type OpenQueue, RUNS_PREFIX } from "./open-queue.ts";
import { packJson, unpackJson } from "./packed-json.ts";
import type { PlanHead } from "./plan-heads.ts";
import type { Job, QueueWorker } from "./queue-packages.ts";
import { readRun, sealedResult } from "./queued-run.ts";
import { MOST_RESULT } from "./read-redis.ts";
import type { LeftResult } from "./run-in-queue.ts";
import { openRunLane, type RunLane, type RunSource } from "./run-lane.ts";

export interface ServeOptions {
  readonly name: string;
  /** How many runs are made at a time. */
  readonly concurrency: number;
  /** Seconds without a sign of life after which a run is given to another worker. */
  readonly lostAfter: number;
  readonly tell: (sentence: string) => void;
}

export interface ServedPlan {
  /** Runs under way here. */
  running(): number;
  /** Runs made here. */
  made(): number;
  /** Takes no more runs, waits for those under way and ends. */
  close(): Promise<void>;
  /** Ends at once, and gives back what was under way. */
  abandon(): Promise<void>;
}

/** How often a run may lose its worker before it counts as what kills them. */
const MOST_LOSSES = 2;
/** Milliseconds between two reports of a run's progress. */
const REPORT_EVERY = 500;
/** Milliseconds until a result that could not be left in Redis is tried again; seconds of one wait for runs. */
const RETRY_AFTER = 500;
const WAIT_FOR = 5;

export function servePlan(
  queue: OpenQueue,
  { id, name: plan }: PlanHead,
  source: RunSource,
  { name, concurrency, lostAfter, tell }: ServeOptions,
): ServedPlan {
  const { UnrecoverableError, WaitingError } = queue.packages;
  const [idle, busy] = [new Set<RunLane>(), new Set<RunLane>()];
  let [made, isLeaving] = [0, false];

  const makeRun = async (job: Job): Promise<LeftResult> => {
    const { key, task } = readTask(queue, id, plan, job, source);
    const [known] = idle;
    const lane = known ?? openRunLane(source);
    idle.delete(lane);
    busy.add(lane);
    let reportedAt = performance.now();
    try {
      const result = await lane.run(task, (share) => {
        if (performance.now() - reportedAt < REPORT_EVERY) return;
        reportedAt = performance.now();
        job.updateProgress(share).catch(() => undefined);
      });
      const failure = source.failureOf?.(result) ?? null;
      if (failure !== null) throw new InputError(failure, { code: "run.failed" });
      const text = packJson(result);
      if (text.length > MOST_RESULT / 2) {
        throw new InputError(`the result is too large for a queue: ${text.length} bytes`, {
          code: "queue.size",
        });
      }
      made++;
      return { result: text, seal: queue.key.seal("result", sealedResult(id, key, text)) };
    } finally {
      busy.delete(lane);
      if (!lane.isLost() && !isLeaving) idle.add(lane);
      else await lane.end();
    }
  };

  const process = async (job: Job, token?: string): Promise<LeftResult> => {
    try {
      return await makeRun(job);
    } catch (error) {
      if (isLeaving) {
        await job.moveToWait(token);
        throw new WaitingError();
      }
      if (!(error instanceof GraduateError)) throw error;
      const sentence = sayError(error);
      tell(`a run of ${plan} failed: ${sentence}`);
      // What was lost may go better elsewhere; what was refused would be refused again.
      throw error instanceof BackendError ? new Error(sentence) : new UnrecoverableError(sentence);
    }
  };

  const worker = openWorker(queue, id, process, { name, concurrency, lostAfter });
  worker.on("stalled", () => tell(`a worker that made a run of ${plan} is lost: the run is made again`));
  const endLanes = async () => {
    await Promise.all([...idle, ...busy].map((lane) => lane.end()));
  };
  return {
    running: () => busy.size,
    made: () => made,
    async close() {
      await worker.close();
      await endLanes();
    },
    async abandon() {
      isLeaving = true;
      await endLanes();
      await worker.close();
    },
  };
}

/** Without a processor it only looks for runs whose worker is lost. */
export function openWorker(
  { packages, redis }: OpenQueue,
  id: string,
  process: ((job: Job, token?: string) => Promise<unknown>) | null,
  { name, concurrency, lostAfter }: Omit<ServeOptions, "tell">,
): QueueWorker {
  const worker = new packages.Worker(id, process, {
    connection: redis,
    prefix: RUNS_PREFIX,
    skipVersionCheck: true,
    name,
    concurrency,
    lockDuration: lostAfter * 1000,
    stalledInterval: lostAfter * 1000,
    maxStalledCount: MOST_LOSSES,
    runRetryDelay: RETRY_AFTER,
    drainDelay: WAIT_FOR,
  });
  // The connection itself says when it is lost; a result whose lock is gone is another worker's to leave.
  worker.on("error", () => undefined);
  return worker;
}

/** A run that is none of the plan's is refused for good. */
function readTask(
  queue: OpenQueue,
  plan: string,
  name: string,
  { id, data }: Job,
  { readTask: read }: RunSource,
): { readonly key: string; readonly task: unknown } {
  const run = readRun(queue, plan, id, data);
  const task = typeof run === "string" ? null : read(unpackJson(run.line, `a run of ${name}`));
  if (typeof run !== "string" && task !== null) return { key: run.key, task };
  const why = typeof run === "string" ? run : "its task is none of this program";
  throw new InputError(`a run in Redis is not taken: ${why}`, { code: "queue.run" });
}

/** The whole of an error in one line, for people who see neither this machine nor its terminal. */
export function sayError({ message, where, hint }: GraduateError): string {
  return [
    message,
    ...(where === undefined ? [] : [`in ${where}`]),
    ...(hint === undefined ? [] : [hint]),
  ].join("; ");
}
