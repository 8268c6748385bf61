// The queue on a real Redis, with runs that take no time: nothing is lost and nothing comes twice, whoever dies.
import { type ChildProcess, spawn } from "node:child_process";
import { once } from "node:events";
import { readFileSync } from "node:fs";
import { fileURLToPath } from "node:url";
import { z } from "zod";
import { afterAll, afterEach, beforeAll, describe, expect, test } from "vitest";
import { programVersion } from "../../src/node/io/provenance.ts";
import { hashKey } from "../../src/node/io/run-results.ts";
import { findOldVersion, openQueue } from "../../src/node/queue/open-queue.ts";
import { packJson, unpackJson } from "../../src/node/queue/packed-json.ts";
import { isCancelled, listHeads, markCancelled } from "../../src/node/queue/plan-heads.ts";
import { parseQueueAddress } from "../../src/node/queue/queue-address.ts";
import { runInQueue } from "../../src/node/queue/run-in-queue.ts";
import { wordsOfCommand } from "../../src/node/queue/submit-plan.ts";
import type { RunEvent } from "../../src/verbs/runs.ts";
import { writeScratch } from "../cli/run-cli.ts";
import { createRedis, findMissing, PASSWORD, type TestRedis } from "./redis-server.ts";

const missing = await findMissing();
if (missing !== null) console.log(`queues are not tested: ${missing}`);

interface TinyTask {
  readonly n: number;
  readonly milliseconds?: number;
  readonly fate?: "made" | "refused" | "lost";
}

const tinyResult = z.strictObject({ square: z.number(), list: z.instanceof(Float64Array) });
type TinyResult = z.infer<typeof tinyResult>;

const count = (length: number, changes: (n: number) => Partial<TinyTask> = () => ({})): TinyTask[] =>
  Array.from({ length }, (_, n) => ({ n, ...changes(n) }));

describe.skipIf(missing !== null)("with a Redis", { timeout: 120_000 }, () => {
  let redis: TestRedis;
  const workers = new Set<ChildProcess>();
  const startWorker = (concurrency = 2, lostAfter = 1): ChildProcess => {
    const file = fileURLToPath(new URL("tiny-worker.js", import.meta.url));
    const args = [file, redis.url, String(lostAfter), String(concurrency)];
    const worker = spawn(process.execPath, args, { stdio: "ignore" });
    workers.add(worker);
    return worker;
  };

  beforeAll(async () => {
    redis = await createRedis();
    await redis.start();
  });
  afterEach(async () => {
    for (const worker of workers) {
      if (worker.exitCode !== null || worker.signalCode !== null) continue;
      worker.kill("SIGTERM");
      await once(worker, "exit");
    }
    workers.clear();
  });
  afterAll(async () => redis.kill());

  function submit(
    name: string,
    tasks: readonly TinyTask[],
    { signal = new AbortController().signal, told = [] as string[] } = {},
  ) {
    const log = writeScratch(`${name}.log`, "");
    const id = hashKey([name]);
    const keyOf = ({ n }: TinyTask) => hashKey([name, n]);
    const runner = runInQueue<TinyTask, TinyResult>(
      {
        head: {
          id,
          name,
          command: "tiny",
          version: programVersion,
          files: [],
          isShipped: false,
          total: tasks.length,
          results: "tiny.jsonl",
          said: ["tiny"],
        },
        shared: { log },
        table: null,
        keys: tasks.map(keyOf),
        keyOf,
        nameOf: ({ n }) => `number ${n}`,
        readResult: (_, value) => tinyResult.safeParse(value).data ?? null,
      },
      { open: () => openQueue(redis.url), signal, tell: (sentence) => told.push(sentence) },
    );
    const results: number[] = [];
    const follow = async (onResult: (event: RunEvent<TinyResult>) => void = () => undefined) => {
      for await (const event of runner(tasks)) {
        if (event.type !== "result") continue;
        expect(event.result.square).toBe(tasks[event.index].n ** 2);
        expect([...event.result.list]).toEqual([tasks[event.index].n, Number.NaN]);
        results.push(event.index);
        onResult(event);
      }
    };
    return { id, log, results, told, follow };
  }

  const madeRuns = (log: string) => readFileSync(log, "utf8").trimEnd().split("\n").map(Number);

  test("2,000 runs by three workers: one is killed, then Redis is; each result comes once, in order", async () => {
    const [first] = [startWorker(), startWorker(), startWorker()];
    const { results, follow, told } = submit(
      "many",
      count(2000, (n) => ({ milliseconds: n % 100 === 0 ? 300 : 0 })),
    );
    let [wounded, isBack] = [false, false];
    await follow(() => {
      if (wounded || results.length < 300) return;
      wounded = true;
      first.kill("SIGKILL");
      setTimeout(async () => {
        await redis.kill();
        await redis.start();
        isBack = true;
      }, 300);
    });
    expect([wounded, isBack]).toEqual([true, true]);
    expect(results).toEqual(Array.from({ length: 2000 }, (_, k) => k));
    expect(told.join()).not.toContain("lost");
  });

  test("what is refused fails once and by name, a thread that dies is tried again, and the others are made", async () => {
    startWorker();
    const tasks = count(6, (n) => ({ fate: n === 2 ? "refused" : n === 4 ? "lost" : "made" }));
    const { results, follow, log } = submit("poisoned", tasks);
    await expect(follow()).rejects.toThrow(
      /^2 of 6 runs failed: number 2: no such number: 2; number 4: .*exit code 1/,
    );
    expect(results).toEqual([0, 1, 3, 5]);
    const made = madeRuns(log);
    expect(made.filter((n) => n === 2).length).toBe(1);
    expect(made.filter((n) => n === 4).length).toBe(3);
  });

  test("two submitters of one plan get the same results, and each run is made once", async () => {
    const tasks = count(20, () => ({ milliseconds: 10 }));
    const [one, other] = [submit("twins", tasks), submit("twins", tasks)];
    startWorker(2, 5);
    await Promise.all([one.follow(), other.follow()]);
    expect(one.results).toEqual(other.results);
    expect(madeRuns(one.log).sort((a, b) => a - b)).toEqual(tasks.map(({ n }) => n));
    // Once more, with nobody at work: what is done is found.
    const third = submit("twins", tasks);
    await third.follow();
    expect(third.results).toEqual(one.results);
  });

  test("stopping leaves the queue as it is; who cancels is told, and so is who waits", async () => {
    const queue = await openQueue(redis.url);
    // The worker that was killed is still taken for one that works.
    await queue.redis.call("DEL", "graduate:workers");
    const stop = new AbortController();
    const left = submit("left", count(5), { signal: stop.signal });
    const following = left.follow();
    setTimeout(() => stop.abort(), 500);
    await expect(following).rejects.toThrow("abort");
    expect(left.told.join()).toContain("no worker is at redis://127.0.0.1");
    expect(left.told.join()).not.toContain(PASSWORD);
    const runs = queue.openRuns(left.id);
    expect(await runs.getJobCounts("waiting")).toMatchObject({ waiting: 5 });
    expect((await listHeads(queue)).map(({ name }) => name)).toContain("left");
    const waiting = submit("left", count(5));
    const outcome = waiting.follow();
    setTimeout(async () => {
      await markCancelled(queue, left.id);
      await runs.drain(true);
    }, 500);
    await expect(outcome).rejects.toThrow("left was cancelled: 5 runs will not be made");
    expect(await isCancelled(queue, left.id)).toBe(true);
    await runs.close();
    queue.close();
  });

  test("a Redis that lacks a command is refused in one sentence", async () => {
    const poor = await createRedis();
    try {
      await expect(poor.start("--rename-command", "BZPOPMIN", "")).rejects.toThrow(
        /^Redis at redis:\/\/127\.0\.0\.1:\d+ has no command BZPOPMIN, and a queue needs more$/,
      );
    } finally {
      await poor.kill();
    }
  });

  test("a Redis that may forget is warned of", async () => {
    const forgetful = await createRedis();
    await forgetful.start("--appendonly", "no", "--maxmemory-policy", "allkeys-lru");
    const queue = await openQueue(forgetful.url);
    expect(queue.warnings).toEqual([
      expect.stringContaining("set maxmemory-policy to noeviction"),
      expect.stringContaining("keeps no append-only file"),
    ]);
    queue.close();
    await forgetful.kill();
  });
});

describe("without a Redis", () => {
  test("addresses: password, user, database and TLS are read, and what is shown has no secret", () => {
    const { options, shown, hideSecrets } = parseQueueAddress("rediss://me:p%40ss@host.example:7000/3", {});
    expect(options).toEqual({
      host: "host.example",
      port: 7000,
      username: "me",
      password: "p@ss",
      db: 3,
      tls: {},
    });
    expect(shown).toBe("rediss://host.example:7000/3");
    expect(hideSecrets("AUTH p@ss and p%40ss failed")).toBe("AUTH [hidden] and [hidden] failed");
    expect(parseQueueAddress("redis://[::1]", {}).options).toEqual({ host: "::1", port: 6379 });
    expect(parseQueueAddress("redis://h", { REDISCLI_AUTH: "x" }).options.password).toBe("x");
  });

  test.each(["http://:secret@h", "secret", "redis://:secret@h/table", "redis://", ""])(
    "no address, and not repeated: %s",
    (text) => {
      const refuse = () => parseQueueAddress(text, {});
      expect(refuse).toThrow("--queue is no address of a Redis");
      expect(refuse).not.toThrow("secret");
    },
  );

  test("versions", () => {
    expect(["5.0.14", "6.0.16", "6.2.0", "7.0.15", "8.0", undefined].map(findOldVersion)).toEqual([
      "5.0.14",
      "6.0.16",
      null,
      null,
      null,
      null,
    ]);
  });

  test("what is kept of a command does not hold the address", () => {
    const said = wordsOfCommand([
      "tune",
      "a b.csv",
      "--queue",
      "redis://:x@h",
      "--steps",
      "3",
      "--queue=redis://:x@h",
    ]);
    expect(said).toEqual(["tune", "a b.csv", "--steps", "3"]);
  });

  test("arrays keep every bit, and a damaged text is refused", () => {
    const value = {
      list: [Float64Array.of(0.1, Number.NaN, -0), Int32Array.of(-1)],
      text: "$array",
      none: null,
    };
    expect(unpackJson(packJson(value), "it")).toEqual(value);
    for (const text of ["", "{", '{"$array":["Function","AA=="]}', '{"$array":["Float64Array","AA=="]}'])
      expect(() => unpackJson(text, "the plan")).toThrow("the plan cannot be read");
  });
});
