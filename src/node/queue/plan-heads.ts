/**
 * What Redis knows of a plan besides its runs: a head that says what it is, what all its runs share, which workers
 * refuse it and why, whether it was cancelled. A plan's id is a hash of what its runs depend on and of their keys, so
 * the same command finds its own plan again and two different plans are never one, whatever they are called.
 *
 *   graduate:plans          hash, id → head           graduate:cancelled      set of ids
 *   graduate:shared:ID      gzipped JSON              graduate:collected      hash, id → time of Redis, seconds
 *   graduate:table:ID       bytes, if shipped         graduate:workers        hash, name → time of Redis, seconds
 *   graduate:refused:ID     hash, worker → sentence   graduate:runs:ID:…      the runs, by BullMQ
 */
import { gunzipSync, gzipSync } from "node:zlib";
import { z } from "zod";
import { InputError } from "../../core/errors.ts";
import type { OpenQueue } from "./open-queue.ts";
import { packJson, unpackJson } from "./packed-json.ts";
import type { JobState } from "./queue-packages.ts";

const headSchema = z.strictObject({
  queue: z.literal(1),
  id: z.string().regex(/^[0-9a-f]{32}$/),
  /** As people call it: the table or plan, the command and the first digits of the id. */
  name: z.string(),
  command: z.string(),
  /** Of the program: results of another one may differ. */
  version: z.string(),
  /** What runs read, with their hashes. */
  files: z.array(z.strictObject({ path: z.string(), sha256: z.string().nullable() })),
  /** Whether the first file's bytes are in Redis. */
  isShipped: z.boolean(),
  /** Runs of the whole plan. */
  total: z.int(),
  /** Seconds, by the clock of Redis. */
  submitted: z.number(),
  /** The name of the results file, without its folder. */
  results: z.string(),
  /** The command without the queue's address. */
  said: z.string(),
});
/** What is known of a plan without looking at its runs. */
export type PlanHead = Readonly<z.infer<typeof headSchema>>;

/** How many runs of a plan are done, and how many are not. */
export interface PlanCounts {
  readonly done: number;
  readonly failed: number;
  readonly active: number;
  readonly waiting: number;
}

/** Seconds after which the results of a plan that was collected are forgotten. */
const KEPT_FOR = 24 * 3600;
/** Seconds a worker's sign of life counts. */
export const ALIVE_FOR = 15;

const key = (kind: "shared" | "table" | "refused", id: string) => `graduate:${kind}:${id}`;

/** Redis' own clock: those of the machines may differ. */
export async function readClock({ redis }: OpenQueue): Promise<number> {
  const [seconds] = (await redis.call("TIME")) as readonly string[];
  return Number(seconds);
}

/** Puts a plan there if it is new; one that was cancelled is wanted again. */
export async function saveHead(
  queue: OpenQueue,
  head: Omit<PlanHead, "submitted">,
  shared: unknown,
  table: Buffer | null,
): Promise<void> {
  const { redis } = queue;
  const { id } = head;
  await redis.call("SET", key("shared", id), gzipSync(packJson(shared)).toString("base64"));
  if (table !== null) await redis.call("SET", key("table", id), table);
  const known = await findHead(queue, id);
  const submitted = known?.submitted ?? (await readClock(queue));
  const isShipped = head.isShipped || known?.isShipped === true;
  await redis.call("HSET", "graduate:plans", id, JSON.stringify({ ...head, isShipped, submitted }));
  await redis.call("SREM", "graduate:cancelled", id);
  await redis.call("HDEL", "graduate:collected", id);
}

/** Null where there is no such plan, or one of another version of this program. */
export async function findHead({ redis }: OpenQueue, id: string): Promise<PlanHead | null> {
  const text = await redis.call("HGET", "graduate:plans", id);
  return typeof text === "string" ? parseHead(text) : null;
}

function parseHead(text: string): PlanHead | null {
  try {
    const parsed = headSchema.safeParse(JSON.parse(text));
    return parsed.success ? parsed.data : null;
  } catch {
    return null;
  }
}

/** The oldest first. */
export async function listHeads({ redis }: OpenQueue): Promise<readonly PlanHead[]> {
  const texts = (await redis.call("HVALS", "graduate:plans")) as readonly string[];
  const heads = texts.map(parseHead).filter((head) => head !== null);
  return heads.sort((a, b) => a.submitted - b.submitted || (a.id < b.id ? -1 : 1));
}

/** By its name, or by the beginning of its name or id where that is one plan's only. */
export async function requireHead(queue: OpenQueue, asked: string): Promise<PlanHead> {
  const heads = await listHeads(queue);
  const exact = heads.filter(({ name, id }) => name === asked || id === asked);
  const found =
    exact.length > 0
      ? exact
      : heads.filter(({ name, id }) => [name, id].some((one) => one.startsWith(asked)));
  if (found.length === 1) return found[0];
  const have = heads.length === 0 ? "the queue is empty" : `have ${heads.map(({ name }) => name).join(", ")}`;
  const what = found.length === 0 ? "no such plan" : "more than one plan";
  throw new InputError(`${what}: "${asked}" (${have})`, { code: "queue.plan" });
}

export async function readShared({ redis }: OpenQueue, { id, name }: PlanHead): Promise<unknown> {
  const text = await redis.call("GET", key("shared", id));
  const packed = typeof text === "string" ? inflate(text) : "";
  return unpackJson(packed, `what the runs of ${name} share`);
}

function inflate(text: string): string {
  try {
    return gunzipSync(Buffer.from(text, "base64")).toString("utf8");
  } catch {
    return "";
  }
}

export async function readShippedTable({ redis }: OpenQueue, { id }: PlanHead): Promise<Buffer | null> {
  return redis.getBuffer(key("table", id));
}

const COUNTED: readonly JobState[] = [
  "waiting",
  "active",
  "delayed",
  "prioritized",
  "paused",
  "completed",
  "failed",
];

export async function countRuns(runs: ReturnType<OpenQueue["openRuns"]>): Promise<PlanCounts> {
  const { completed, failed, active, ...waiting } = await runs.getJobCounts(...COUNTED);
  return {
    done: completed,
    failed,
    active,
    waiting: Object.values(waiting).reduce((sum, one) => sum + one, 0),
  };
}

/** A worker's reason not to take runs of a plan; null takes it back. */
export async function refusePlan(
  { redis }: OpenQueue,
  id: string,
  worker: string,
  sentence: string | null,
): Promise<void> {
  if (sentence === null) await redis.call("HDEL", key("refused", id), worker);
  else await redis.call("HSET", key("refused", id), worker, sentence);
}

/** "worker: sentence", of workers that are there. */
export async function listRefusals(queue: OpenQueue, id: string): Promise<readonly string[]> {
  const alive = await listWorkers(queue);
  const pairs = (await queue.redis.call("HGETALL", key("refused", id))) as readonly string[];
  return pairs.flatMap((worker, k) =>
    k % 2 === 0 && alive.includes(worker) ? [`${worker}: ${pairs[k + 1]}`] : [],
  );
}

export async function markCancelled({ redis }: OpenQueue, id: string): Promise<void> {
  await redis.call("SADD", "graduate:cancelled", id);
}

export async function isCancelled({ redis }: OpenQueue, id: string): Promise<boolean> {
  return (await redis.call("SISMEMBER", "graduate:cancelled", id)) === 1;
}

/** Says that someone has all results of a plan. */
export async function markCollected(queue: OpenQueue, id: string): Promise<void> {
  await queue.redis.call("HSET", "graduate:collected", id, await readClock(queue));
}

/** Forgets plans whose results were collected a day ago, and workers that were lost then. */
export async function forgetCollected(queue: OpenQueue): Promise<void> {
  const now = await readClock(queue);
  const workers = (await queue.redis.call("HGETALL", "graduate:workers")) as readonly string[];
  const lost = workers.filter((_, k) => k % 2 === 0 && now - Number(workers[k + 1]) > KEPT_FOR);
  if (lost.length > 0) await queue.redis.call("HDEL", "graduate:workers", ...lost);
  const pairs = (await queue.redis.call("HGETALL", "graduate:collected")) as readonly string[];
  for (let k = 0; k < pairs.length; k += 2) {
    if (now - Number(pairs[k + 1]) > KEPT_FOR) await forgetPlan(queue, pairs[k]);
  }
}

/** Removes a plan with its runs and results. */
export async function forgetPlan(queue: OpenQueue, id: string): Promise<void> {
  const { redis } = queue;
  await redis.call("HDEL", "graduate:plans", id);
  const runs = queue.openRuns(id);
  try {
    await runs.obliterate({ force: true });
  } finally {
    await runs.close();
  }
  await redis.call("DEL", key("shared", id), key("table", id), key("refused", id));
  await redis.call("SREM", "graduate:cancelled", id);
  await redis.call("HDEL", "graduate:collected", id);
}

/** A worker's sign of life. */
export async function signWorker(queue: OpenQueue, name: string, isLeaving = false): Promise<void> {
  const { redis } = queue;
  if (isLeaving) await redis.call("HDEL", "graduate:workers", name);
  else await redis.call("HSET", "graduate:workers", name, await readClock(queue));
}

/** Names of the workers that have shown a sign of life. */
export async function listWorkers(queue: OpenQueue): Promise<readonly string[]> {
  const now = await readClock(queue);
  const pairs = (await queue.redis.call("HGETALL", "graduate:workers")) as readonly string[];
  return pairs.filter((_, k) => k % 2 === 0 && now - Number(pairs[k + 1]) <= ALIVE_FOR);
}
