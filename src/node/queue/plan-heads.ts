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
import { createHash } from "node:crypto";
import { z } from "zod";
import { InputError } from "../../core/errors.ts";
import { safeLine } from "../../core/text.ts";
import { describeCommand } from "../../report/words/command-words.ts";
import { programName } from "../program-name.ts";
import type { OpenQueue } from "./open-queue.ts";
import { packJson, unpackJson } from "./packed-json.ts";
import { sayUnsealed } from "./queue-key.ts";
import type { JobState } from "./queue-packages.ts";
import {
  MOST_ENTRY_BYTES,
  MOST_RUNS,
  orExplain,
  packShared,
  readBytes,
  readField,
  readHash,
  readSharedBytes,
  unpackShared,
} from "./read-redis.ts";

/** Digits of a plan's id, and of a SHA-256. */
const ID = /^[0-9a-f]{32}$/;
const digest = z.string().regex(/^[0-9a-f]{64}$/);
/** A text that people are shown on one line. */
const label = z
  .string()
  .min(1)
  .max(400)
  .refine((text) => safeLine(text) === text);

const headSchema = z.strictObject({
  queue: z.literal(2),
  id: z.string().regex(ID),
  /** As people call it: the table or plan, the command and the first digits of the id. */
  name: label,
  command: z.string().regex(/^[a-z]{1,40}$/),
  /** Of the program: results of another one may differ. */
  version: label,
  /** What runs read, below the folder of tables (plan-tables.ts), with their hashes: nothing is read without one. */
  files: z.array(z.strictObject({ path: z.string().min(1).max(4096), sha256: digest })).max(10_000),
  /** Whether the first file's bytes are in Redis. */
  isShipped: z.boolean(),
  /** Runs of the whole plan. */
  total: z.int().min(0).max(MOST_RUNS),
  /** Seconds, by the clock of Redis. */
  submitted: z.number(),
  /** The name of the results file, without its folder. */
  results: z.string().max(400),
  /** The command without the queue's address, word by word. */
  said: z.array(z.string().max(10_000)).max(10_000),
  /** SHA-256 of what all runs share, as JSON. */
  shared: digest,
  /** Of everything above but `submitted`, with a key (queue-key.ts). */
  seal: digest.nullable(),
});
/** What is known of a plan without looking at its runs. */
export type PlanHead = Readonly<z.infer<typeof headSchema>>;
/** What a submitter says of its plan. */
export type PlanDraft = Omit<PlanHead, "queue" | "submitted" | "shared" | "seal">;

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

const SAVE_PLAN = `
redis.call('SET', KEYS[1], ARGV[3])
if ARGV[4] ~= '' then redis.call('SET', KEYS[2], ARGV[4]) end
redis.call('HSET', 'graduate:plans', ARGV[1], ARGV[2])
redis.call('SREM', 'graduate:cancelled', ARGV[1])
redis.call('HDEL', 'graduate:collected', ARGV[1])`;

/** Puts a plan there, in one step; one that was cancelled is wanted again. */
export async function saveHead(
  queue: OpenQueue,
  draft: PlanDraft,
  shared: unknown,
  table: Buffer | null,
): Promise<void> {
  const { id } = draft;
  const known = await findHead(queue, id);
  const json = packJson(shared);
  const open = {
    ...draft,
    queue: 2 as const,
    submitted: known?.submitted ?? (await readClock(queue)),
    isShipped: draft.isShipped || known?.isShipped === true,
    shared: createHash("sha256").update(json).digest("hex"),
  };
  const text = JSON.stringify({ ...open, seal: queue.key.seal("plan", sealedParts(open)) });
  if (text.length > MOST_ENTRY_BYTES || parseHead(id, text) === null) throw refusePlanTooLong(open);
  const keys = [key("shared", id), key("table", id)];
  const args = [id, text, packShared(json), table ?? ""];
  await orExplain(queue, queue.redis.call("EVAL", SAVE_PLAN, keys.length, ...keys, ...args));
}

function refusePlanTooLong({ name, said, files }: Pick<PlanHead, "name" | "said" | "files">): InputError {
  const length = said.join(" ").length;
  return new InputError(
    `the plan "${name}" is too long for a queue: a command of ${length} characters, and ${files.length} files`,
    { code: "queue.size", hint: "put groups into a file (--groups), or leave --queue out" },
  );
}

/** What a head says, in a fixed order. */
function sealedParts(head: Omit<PlanHead, "seal">): readonly unknown[] {
  const { queue, id, name, command, version, files, isShipped, total, results, said, shared } = head;
  const listed = files.map(({ path, sha256 }) => [path, sha256]);
  return [queue, id, name, command, version, listed, isShipped, total, results, said, shared];
}

/** Refuses a plan that nobody with this program's key has submitted. */
export function requireSealed({ key: own }: OpenQueue, { seal, ...head }: PlanHead): void {
  if (own.isSealed("plan", sealedParts(head), seal)) return;
  throw new InputError(`the plan "${head.name}" is not trusted: ${sayUnsealed(own)}`, {
    code: "queue.seal",
    hint: "submitters and workers of a queue have the same key, or none",
  });
}

/** The command that submitted a plan, as a line to type; its words are those of Redis, and are quoted. */
export function sayCommand({ said }: Pick<PlanHead, "said">): string {
  return safeLine(describeCommand(said, programName()));
}

/** Null where there is no such plan, or one that this version did not write. */
export async function findHead(queue: OpenQueue, id: string): Promise<PlanHead | null> {
  return parseHead(id, (await readField(queue, "graduate:plans", id)) ?? "");
}

function parseHead(id: string, text: string): PlanHead | null {
  try {
    const parsed = headSchema.safeParse(JSON.parse(text));
    return parsed.success && parsed.data.id === id ? parsed.data : null;
  } catch {
    return null;
  }
}

/** The oldest first. */
export async function listHeads(queue: OpenQueue): Promise<readonly PlanHead[]> {
  const entries = await readHash(queue, "graduate:plans");
  const heads = entries.map(([id, text]) => parseHead(id, text)).filter((head) => head !== null);
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

export async function readShared(queue: OpenQueue, { id, name, shared }: PlanHead): Promise<unknown> {
  const what = `what the runs of ${name} share`;
  const json = unpackShared(await readSharedBytes(queue, key("shared", id)), what);
  const isWhole = createHash("sha256").update(json).digest("hex") === shared;
  return unpackJson(isWhole ? json : "", what);
}

/** Bytes of a table that may travel through Redis, which holds everything in memory. */
export const MOST_SHIPPED = 64e6;

export function readShippedTable(queue: OpenQueue, { id }: PlanHead): Promise<Buffer> {
  return readBytes(queue, key("table", id), MOST_SHIPPED);
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

export async function countRuns(
  queue: OpenQueue,
  runs: ReturnType<OpenQueue["openRuns"]>,
): Promise<PlanCounts> {
  const { completed, failed, active, ...waiting } = await orExplain(queue, runs.getJobCounts(...COUNTED));
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
  const refusals = await readHash(queue, key("refused", id));
  return refusals.flatMap(([worker, sentence]) =>
    alive.includes(worker) ? [`${worker}: ${safeLine(sentence.slice(0, MOST_SENTENCE))}`] : [],
  );
}

/** Characters of a worker's reason. */
const MOST_SENTENCE = 2000;

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
  const isOld = ([, seconds]: readonly [string, string]) => !(now - Number(seconds) <= KEPT_FOR);
  const lost = (await readHash(queue, "graduate:workers")).filter(isOld).map(([name]) => name);
  if (lost.length > 0) await queue.redis.call("HDEL", "graduate:workers", ...lost);
  const collected = await readHash(queue, "graduate:collected");
  for (const [id] of collected.filter(isOld)) {
    if (ID.test(id)) await forgetPlan(queue, id);
    else await queue.redis.call("HDEL", "graduate:collected", id);
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

/** What a worker is called: its machine and its process. */
const WORKER_NAME = /^[\w.-]{1,300}$/;

/** Names of the workers that have shown a sign of life. */
export async function listWorkers(queue: OpenQueue): Promise<readonly string[]> {
  const now = await readClock(queue);
  return (await readHash(queue, "graduate:workers")).flatMap(([name, seconds]) =>
    WORKER_NAME.test(name) && now - Number(seconds) <= ALIVE_FOR ? [name] : [],
  );
}
