/**
 * The packages `bullmq` and `ioredis`, by the part of them that is used here. Graduate runs without them, so they are
 * loaded only when a queue is asked for, and have no types of their own in this build.
 */
import { BackendError } from "../../core/errors.ts";

export interface RedisOptions {
  readonly host: string;
  readonly port: number;
  readonly username?: string;
  readonly password?: string;
  readonly db?: number;
  readonly tls?: object;
}

/** A connection to Redis. Commands wait while the connection is down. */
export interface Redis {
  on(event: "error", hear: (error: Error) => void): unknown;
  on(event: "close" | "ready", hear: () => void): unknown;
  connect(): Promise<void>;
  disconnect(): void;
  call(command: string, ...args: readonly (string | number | Buffer)[]): Promise<unknown>;
  getrangeBuffer(key: string, start: number, end: number): Promise<Buffer>;
}

export interface RedisConstructor {
  new (
    options: RedisOptions & {
      readonly lazyConnect: boolean;
      readonly connectTimeout: number;
      readonly maxRetriesPerRequest: null;
      readonly retryStrategy: (times: number) => number | null;
    },
  ): Redis;
}

/** How many jobs of a queue are in which state. */
export type JobState = "waiting" | "active" | "delayed" | "prioritized" | "paused" | "completed" | "failed";

/** A job as a worker gets it. */
export interface Job {
  readonly id?: string;
  readonly data: unknown;
  updateProgress(share: number): Promise<void>;
  /** Back among the waiting; `token` proves that the job is ours. */
  moveToWait(token?: string): Promise<unknown>;
}

export interface AddedJob {
  readonly name: string;
  readonly data: unknown;
  readonly opts: {
    /** A job with an id that is there already is not added again. */
    readonly jobId: string;
    /** How often a run is begun before it counts as failed. */
    readonly attempts: number;
    readonly stackTraceLimit: number;
  };
}

interface Shared {
  readonly connection: Redis;
  readonly prefix: string;
  readonly skipVersionCheck: true;
}

export interface Queue {
  on(event: "error", hear: (error: Error) => void): unknown;
  addBulk(jobs: readonly AddedJob[]): Promise<unknown>;
  getJobCounts(...states: readonly JobState[]): Promise<Readonly<Record<JobState, number>>>;
  /** Removes a job, unless a worker has it. */
  remove(id: string): Promise<unknown>;
  /** Removes all jobs that wait. */
  drain(delayed: boolean): Promise<void>;
  /** Removes everything. */
  obliterate(options: { readonly force: boolean }): Promise<void>;
  close(): Promise<void>;
}

export interface WorkerSettings extends Shared {
  readonly concurrency: number;
  readonly lockDuration: number;
  readonly stalledInterval: number;
  readonly maxStalledCount: number;
  readonly runRetryDelay: number;
  readonly drainDelay: number;
  readonly name: string;
}

export interface QueueWorker {
  on(event: "error", hear: (error: Error) => void): unknown;
  on(event: "stalled", hear: (id: string) => void): unknown;
  /** Waits for jobs under way, unless forced. */
  close(force?: boolean): Promise<void>;
  /** For a worker without a processor: looks for jobs whose worker is lost. */
  startStalledCheckTimer(): Promise<void>;
}

type ProcessJob = (job: Job, token?: string) => Promise<unknown>;

export interface QueuePackages {
  readonly Redis: RedisConstructor;
  readonly Queue: new (name: string, options: Shared) => Queue;
  readonly Worker: new (name: string, process: ProcessJob | null, options: WorkerSettings) => QueueWorker;
  /** A failure after which a job is not tried again. */
  readonly UnrecoverableError: new (
    message: string,
  ) => Error;
  /** Says that the job was put back. */
  readonly WaitingError: new () => Error;
}

export async function loadQueuePackages(): Promise<QueuePackages> {
  const { Queue, Worker, UnrecoverableError, WaitingError } =
    await load<Omit<QueuePackages, "Redis">>("bullmq");
  const { Redis } = await load<Pick<QueuePackages, "Redis">>("ioredis");
  return { Redis, Queue, Worker, UnrecoverableError, WaitingError };
}

/** Not a literal, so that compilers and bundlers do not look for a package that need not be there. */
async function load<Package>(name: string): Promise<Package> {
  try {
    return (await import(name)) as Package;
  } catch (error) {
    const missing = (error as { readonly code?: unknown }).code === "ERR_MODULE_NOT_FOUND";
    const why = missing ? "is not installed" : `cannot be loaded: ${(error as Error).message}`;
    throw new BackendError(`the package "${name}" ${why}`, {
      code: "package.missing",
      hint: "`npm install bullmq ioredis` brings what a queue needs; without --queue runs are made on this machine",
    });
  }
}
