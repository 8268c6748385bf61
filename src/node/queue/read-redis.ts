/**
 * What is read from Redis, with a limit to everything: whoever can write there may have left a gigabyte, a million
 * entries or something of another kind. The limits are kept by Redis itself, in the step that reads, so that no more
 * than them travels. What is too large is marked as such and not read. Nothing here knows what the texts mean: who
 * asks parses them by a schema.
 */
import { gunzipSync, gzipSync } from "node:zlib";
import { BackendError, FormatError, GraduateError } from "../../core/errors.ts";
import type { OpenQueue } from "./open-queue.ts";
import { RUNS_PREFIX } from "./open-queue.ts";

/** Entries of one hash of plans, workers or refusals, and bytes of one of them. */
const MOST_ENTRIES = 10_000;
export const MOST_ENTRY_BYTES = 1 << 20;
/** Runs of a plan, and the length of a job's id (run-in-queue.ts). */
export const MOST_RUNS = 1_000_000;
const ID_LENGTH = 36;
/** Bytes of a run's task, of its result, of its progress, and of why it failed, which is cut. */
const MOST_TASK = 1 << 24;
export const MOST_RESULT = 1 << 26;
const MOST_PROGRESS = 64;
const MOST_REASON = 4000;
/** Bytes of several runs that are read at a time. */
const MOST_AT_A_TIME = 1 << 26;
/** Bytes of what all runs of a plan share: as it travels, and as JSON. */
const MOST_SHARED = 1 << 27;
const MOST_UNPACKED = 1 << 28;

const READ_HASH = `
if redis.call('HLEN', KEYS[1]) > tonumber(ARGV[1]) then return -1 end
local all, kept = redis.call('HGETALL', KEYS[1]), {}
for i = 1, #all, 2 do
  if #all[i] + #all[i + 1] <= tonumber(ARGV[2]) then
    kept[#kept + 1] = all[i]
    kept[#kept + 1] = all[i + 1]
  end
end
return kept`;

const READ_FIELD = `
local value = redis.call('HGET', KEYS[1], ARGV[1])
return value and #value <= tonumber(ARGV[2]) and value`;

const READ_IDS = `
local kept = {}
for _, key in ipairs(KEYS) do
  local kind, ids = redis.call('TYPE', key).ok, {}
  if kind == 'zset' then ids = redis.call('ZRANGE', key, 0, ARGV[1] - 1)
  elseif kind == 'list' then ids = redis.call('LRANGE', key, 0, ARGV[1] - 1) end
  for _, id in ipairs(ids) do
    if #id == tonumber(ARGV[2]) then kept[#kept + 1] = id end
  end
end
return kept`;

const READ_JOBS = `
local fields, total, jobs = {'data', 'returnvalue', 'progress', 'failedReason'}, 0, {}
for i, key in ipairs(KEYS) do
  local job = {false, false, false, false}
  if redis.call('TYPE', key).ok == 'hash' then
    for j, field in ipairs(fields) do
      local value, most = redis.call('HGET', key, field), tonumber(ARGV[j])
      if value and #value > most then
        if field == 'failedReason' then value = string.sub(value, 1, most) else value = #value end
      end
      if type(value) == 'string' then total = total + #value end
      job[j] = value
    end
  end
  if i > 1 and total > tonumber(ARGV[5]) then break end
  jobs[#jobs + 1] = job
end
return jobs`;

/** An answer of Redis that says what it could not do with a key: something else has been put there. */
export async function orExplain<Value>(
  queue: Pick<OpenQueue, "address">,
  answer: Promise<Value>,
): Promise<Value> {
  try {
    return await answer;
  } catch (error) {
    throw explainReply(queue, error);
  }
}

/** The same error, unless it is Redis' own. */
export function explainReply({ address }: Pick<OpenQueue, "address">, error: unknown): unknown {
  if (error instanceof GraduateError || (error as Error | null)?.name !== "ReplyError") return error;
  const why = address.hideSecrets((error as Error).message).slice(0, MOST_REPLY);
  return new BackendError(`the queue at ${address.shown} cannot be read (${why})`, {
    code: "queue.damaged",
    hint: "another program has written to keys that begin with graduate: and redis-cli can remove them",
  });
}

/** Characters of an answer that a message repeats. */
const MOST_REPLY = 256;

function evaluate(
  queue: OpenQueue,
  script: string,
  keys: readonly string[],
  args: readonly (string | number)[],
): Promise<unknown> {
  return orExplain(queue, queue.redis.call("EVAL", script, keys.length, ...keys, ...args));
}

/** Fields and values; an entry that is too large is left out. */
export async function readHash(
  queue: OpenQueue,
  key: string,
): Promise<readonly (readonly [field: string, value: string])[]> {
  const flat = await evaluate(queue, READ_HASH, [key], [MOST_ENTRIES, MOST_ENTRY_BYTES]);
  if (!Array.isArray(flat)) {
    throw new BackendError(
      `the queue at ${queue.address.shown} has more than ${MOST_ENTRIES} entries in ${key}`,
      {
        code: "queue.large",
        hint: "this program leaves no such number: redis-cli can remove the key",
      },
    );
  }
  const texts = flat.map(String);
  return texts.flatMap((field, k) => (k % 2 === 0 ? [[field, texts[k + 1]] as const] : []));
}

/** One value of a hash; null where there is none, or one that is too large. */
export async function readField(queue: OpenQueue, key: string, field: string): Promise<string | null> {
  const value = await evaluate(queue, READ_FIELD, [key], [field, MOST_ENTRY_BYTES]);
  return typeof value === "string" ? value : null;
}

/** The first bytes of a string, one more than the limit where there are more. */
export function readBytes(queue: OpenQueue, key: string, most: number): Promise<Buffer> {
  return orExplain(queue, queue.redis.getrangeBuffer(key, 0, most));
}

export type JobList = "completed" | "failed" | "active" | "wait" | "paused" | "delayed" | "prioritized";

const keyOf = (plan: string, what: string) => `${RUNS_PREFIX}:${plan}:${what}`;

/** Ids of a plan's jobs that have the form of ours. */
export async function readJobIds(
  queue: OpenQueue,
  plan: string,
  lists: readonly JobList[],
): Promise<readonly string[]> {
  const keys = lists.map((list) => keyOf(plan, list));
  return ((await evaluate(queue, READ_IDS, keys, [MOST_RUNS, ID_LENGTH])) as readonly unknown[]).map(String);
}

/** What Redis says of a job. */
export interface JobTexts {
  readonly id: string;
  /** JSON; null where there is none. */
  readonly data: string | null;
  readonly returnvalue: string | null;
  readonly progress: string | null;
  readonly failedReason: string | null;
  /** Whether its result is too large to be read. */
  readonly isTooLarge: boolean;
}

/** Jobs by their ids, one after the other; one that is not there has nothing. */
export async function* readJobs(
  queue: OpenQueue,
  plan: string,
  ids: readonly string[],
): AsyncGenerator<JobTexts> {
  const limits = [MOST_TASK, MOST_RESULT, MOST_PROGRESS, MOST_REASON, MOST_AT_A_TIME];
  for (let from = 0; from < ids.length; ) {
    const part = ids.slice(from, from + BATCH);
    const keys = part.map((id) => keyOf(plan, id));
    const jobs = (await evaluate(queue, READ_JOBS, keys, limits)) as readonly (readonly unknown[])[];
    for (const [k, job] of jobs.entries()) {
      const [data, returnvalue, progress, failedReason] = job.map((one) =>
        typeof one === "string" ? one : null,
      );
      yield {
        id: part[k],
        data,
        returnvalue,
        progress,
        failedReason,
        isTooLarge: typeof job[1] === "number",
      };
    }
    from += Math.max(1, jobs.length);
  }
}

/** Jobs that are asked for at a time. */
const BATCH = 500;

/** What all runs of a plan share, as it travels. */
export function packShared(json: string): string {
  const packed = gzipSync(json).toString("base64");
  if (json.length <= MOST_UNPACKED && packed.length <= MOST_SHARED) return packed;
  throw new BackendError(
    `the plan is too large for a queue: ${json.length} bytes, and the most is ${MOST_UNPACKED}`,
    {
      code: "queue.size",
      hint: "--shard divides it among machines without one",
    },
  );
}

/** The JSON of it; refuses what is larger than any plan, however small it is packed. */
export function unpackShared(packed: Buffer, what: string): string {
  try {
    if (packed.length > MOST_SHARED) throw new Error("too large");
    const bytes = Buffer.from(packed.toString("latin1"), "base64");
    return gunzipSync(bytes, { maxOutputLength: MOST_UNPACKED }).toString("utf8");
  } catch {
    throw new FormatError(`${what} cannot be read`, {
      code: "queue.damaged",
      hint: "it was not written by this program, or it is too large to be a plan",
    });
  }
}

export function readSharedBytes(queue: OpenQueue, key: string): Promise<Buffer> {
  return readBytes(queue, key, MOST_SHARED);
}
