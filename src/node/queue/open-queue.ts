/**
 * A connection to the Redis of a queue. It is checked before anything is put there: reached, let in, of a version that
 * has what is needed. Once open it waits for a Redis that goes away and comes back; commands sent meanwhile wait too.
 */
import { BackendError, InputError } from "../../core/errors.ts";
import { parseQueueAddress, type QueueAddress } from "./queue-address.ts";
import { type QueueKey, readQueueKey } from "./queue-key.ts";
import { loadQueuePackages, type Queue, type QueuePackages, type Redis } from "./queue-packages.ts";

/** What all keys of BullMQ begin with; its queues are named by plans. */
export const RUNS_PREFIX = "graduate:runs";

/** Milliseconds until a Redis that does not answer counts as unreachable, and between two attempts to come back. */
const CONNECT_WITHIN = 5000;
const LONGEST_PAUSE = 1000;

/** The oldest Redis that BullMQ recommends. */
const LEAST_VERSION = [6, 2] as const;
/** Commands of that version; a Redis may be told to have fewer. */
const NEEDED_COMMANDS = ["BZPOPMIN", "XADD", "EVAL", "EVALSHA", "HSET", "INFO"];

export interface OpenQueue {
  readonly address: QueueAddress;
  readonly packages: QueuePackages;
  readonly redis: Redis;
  /** Seals what goes there, where a key is set. */
  readonly key: QueueKey;
  /** What is to be known of this Redis: it may forget, or is not durable. */
  readonly warnings: readonly string[];
  /** The runs of a plan; the caller closes it. */
  openRuns(id: string): Queue;
  close(): void;
}

export interface QueueEvents {
  /** Called once when the connection is lost, and once when it is back. */
  readonly onTrouble?: (sentence: string) => void;
}

export async function openQueue(url: string, { onTrouble }: QueueEvents = {}): Promise<OpenQueue> {
  const address = parseQueueAddress(url);
  const key = readQueueKey();
  const packages = await loadQueuePackages();
  let [isOpen, isDown, isClosing] = [false, false, false];
  let last: Error | null = null;
  const redis = new packages.Redis({
    ...address.options,
    lazyConnect: true,
    connectTimeout: CONNECT_WITHIN,
    maxRetriesPerRequest: null,
    retryStrategy: (times) => (isOpen ? Math.min(times * 100, LONGEST_PAUSE) : null),
  });
  redis.on("error", (error) => {
    last = error;
  });
  try {
    await redis.connect();
    const warnings = await inspectRedis(redis, address);
    isOpen = true;
    redis.on("close", () => {
      if (isDown || isClosing) return;
      isDown = true;
      onTrouble?.(`Redis at ${address.shown} does not answer; waiting for it to come back`);
    });
    redis.on("ready", () => {
      if (isDown) onTrouble?.(`Redis at ${address.shown} is back`);
      isDown = false;
    });
    return {
      address,
      packages,
      redis,
      key,
      warnings,
      openRuns: (id) => openRuns(packages, redis, id),
      close() {
        isClosing = true;
        redis.disconnect();
      },
    };
  } catch (error) {
    redis.disconnect();
    if (error instanceof InputError) throw error;
    throw explainRedis(last ?? (error as Error), address);
  }
}

function openRuns({ Queue }: QueuePackages, connection: Redis, id: string): Queue {
  const queue = new Queue(id, { connection, prefix: RUNS_PREFIX, skipVersionCheck: true });
  // The connection itself says when it is lost.
  queue.on("error", () => undefined);
  return queue;
}

/** Throws an InputError where this Redis cannot hold a queue. */
async function inspectRedis(redis: Redis, { shown }: QueueAddress): Promise<readonly string[]> {
  const known = (await redis.call("COMMAND", "INFO", ...NEEDED_COMMANDS)) as readonly unknown[];
  const missing = NEEDED_COMMANDS.filter((_, k) => known[k] === null);
  if (missing.length > 0) throw refuseVersion(shown, `has no command ${missing[0]}`);
  const about = String(await redis.call("INFO"));
  const read = (field: string) => new RegExp(`^${field}:(.*)$`, "m").exec(about)?.[1].trim();
  const old = findOldVersion(read("redis_version"));
  if (old !== null) throw refuseVersion(shown, `is of version ${old}`);
  const policy = read("maxmemory_policy") ?? "noeviction";
  return [
    ...(policy === "noeviction"
      ? []
      : [
          `Redis at ${shown} may throw runs away when its memory is full: set maxmemory-policy to noeviction there`,
        ]),
    ...(read("aof_enabled") === "0"
      ? [
          `Redis at ${shown} keeps no append-only file: the queue does not outlive it (appendonly yes keeps it)`,
        ]
      : []),
  ];
}

/** The version where it is too old for a queue, else null. */
export function findOldVersion(version: string | undefined): string | null {
  const [major, minor] = (version ?? "").split(".").map(Number);
  if (version === undefined || Number.isNaN(major) || Number.isNaN(minor)) return null;
  return major < LEAST_VERSION[0] || (major === LEAST_VERSION[0] && minor < LEAST_VERSION[1])
    ? version
    : null;
}

function refuseVersion(shown: string, what: string): InputError {
  return new InputError(`Redis at ${shown} ${what}, and a queue needs more`, {
    code: "queue.version",
    hint: `use Redis ${LEAST_VERSION.join(".")} or newer with all its commands`,
  });
}

/** Why a Redis could not be used, without any word that could hold its password. */
export function explainRedis(error: Error, { shown, hideSecrets }: QueueAddress): InputError | BackendError {
  const { message } = error;
  if (/NOAUTH|WRONGPASS|invalid password|invalid username/i.test(message)) {
    return new InputError(`Redis at ${shown} does not accept the user or password`, {
      code: "queue.password",
      hint: "they go into the URL before the host, redis://user:password@host, or REDISCLI_AUTH holds the password",
    });
  }
  if (/NOPERM/.test(message)) {
    return new InputError(`the user may not use Redis at ${shown}: ${hideSecrets(message)}`, {
      code: "queue.permission",
      hint: "a queue needs all keys that begin with graduate: and the commands on them",
    });
  }
  return new BackendError(`cannot reach Redis at ${shown} (${hideSecrets(message)})`, {
    code: "queue.unreachable",
    hint: "is it running, and may this machine connect to it? rediss:// is for TLS, redis:// without",
  });
}
