// A Redis that somebody else writes to: what is there is refused in words or passed over, the right results come all
// the same, and nothing of it is read, written or believed.
import { type ChildProcess, execFileSync, spawn } from "node:child_process";
import { createHash } from "node:crypto";
import { once } from "node:events";
import { mkdirSync, mkdtempSync, readFileSync, symlinkSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { gzipSync } from "node:zlib";
import { afterAll, afterEach, beforeAll, describe, expect, test, vi } from "vitest";
import { z } from "zod";
import { isPlainName } from "../../src/node/io/output-path.ts";
import { programVersion } from "../../src/node/io/provenance.ts";
import { COMPARE_LINES, TUNE_LINES } from "../../src/node/io/run-lines.ts";
import { hashKey, readResult } from "../../src/node/io/run-results.ts";
import { type OpenQueue, openQueue } from "../../src/node/queue/open-queue.ts";
import { packJson } from "../../src/node/queue/packed-json.ts";
import { listHeads, listRefusals, readShared, saveHead } from "../../src/node/queue/plan-heads.ts";
import { requirePlanFile } from "../../src/node/queue/plan-tables.ts";
import { readQueueKey } from "../../src/node/queue/queue-key.ts";
import { jobIdOf } from "../../src/node/queue/queued-run.ts";
import { unpackShared } from "../../src/node/queue/read-redis.ts";
import { runInQueue } from "../../src/node/queue/run-in-queue.ts";
import { writeScratch } from "../cli/run-cli.ts";
import { createRedis, findMissing, type TestRedis } from "./redis-server.ts";

const missing = await findMissing();
if (missing !== null) console.log(`hostile queues are not tested: ${missing}`);

const KEY = "0123456789abcdef0123456789abcdef";
const tinyResult = z.strictObject({ square: z.number(), list: z.instanceof(Float64Array) });
type TinyResult = z.infer<typeof tinyResult>;
interface TinyTask {
  readonly n: number;
}
const tasks: readonly TinyTask[] = Array.from({ length: 6 }, (_, n) => ({ n }));

describe.skipIf(missing !== null)("with a Redis", { timeout: 120_000 }, () => {
  let redis: TestRedis;
  let queue: OpenQueue;
  const workers = new Set<ChildProcess>();
  const startWorker = (environment: Readonly<Record<string, string>> = {}) => {
    const file = fileURLToPath(new URL("tiny-worker.js", import.meta.url));
    const env = { ...process.env, ...environment };
    const worker = spawn(process.execPath, [file, redis.url, "1", "2"], { stdio: "ignore", env });
    workers.add(worker);
    return worker;
  };
  const stopWorkers = async () => {
    for (const worker of workers) {
      if (worker.exitCode === null && worker.signalCode === null) {
        worker.kill("SIGTERM");
        await once(worker, "exit");
      }
      // It ended because it was asked to, not because of what it read.
      expect(worker.exitCode).toBe(0);
    }
    workers.clear();
  };

  beforeAll(async () => {
    redis = await createRedis();
    await redis.start();
    queue = await openQueue(redis.url);
  });
  afterEach(async () => {
    await stopWorkers();
    vi.unstubAllEnvs();
  });
  afterAll(async () => {
    queue.close();
    await redis.kill();
  });

  function plan(name: string) {
    const log = writeScratch(`hostile-${name}.log`, "");
    const { mark } = readQueueKey();
    const id = hashKey([name, mark]);
    const keyOf = ({ n }: TinyTask) => hashKey([name, n]);
    const draft = {
      ...{ id, name, command: "tiny", version: programVersion, files: [], isShipped: false },
      ...{ total: tasks.length, results: "tiny.jsonl", said: ["tiny"] },
    };
    const told: string[] = [];
    const collect = async () => {
      const runner = runInQueue<TinyTask, TinyResult>(
        {
          head: draft,
          shared: { log },
          table: null,
          keys: tasks.map(keyOf),
          keyOf,
          nameOf: ({ n }) => `number ${n}`,
          readResult: (_, value) => tinyResult.safeParse(value).data ?? null,
        },
        {
          open: () => openQueue(redis.url),
          signal: AbortSignal.timeout(60_000),
          tell: (sentence) => told.push(sentence),
        },
      );
      const squares: number[] = [];
      for await (const event of runner(tasks)) if (event.type === "result") squares.push(event.result.square);
      return squares;
    };
    const job = (n: number) => `graduate:runs:${id}:${jobIdOf(keyOf({ n }))}`;
    const made = () => readFileSync(log, "utf8").trimEnd().split("\n").filter(Boolean).map(Number);
    return { id, log, draft, told, collect, job, made, keyOf };
  }
  const call = (...args: readonly (string | number | Buffer)[]) =>
    queue.redis.call(String(args[0]), ...args.slice(1));
  const squares = tasks.map(({ n }) => n * n);

  test("results that are none are named and made again, and the right ones come", async () => {
    const { collect, job, told, made } = plan("malformed");
    startWorker();
    expect(await collect()).toEqual(squares);
    const packed = packJson({ square: "4", list: Float64Array.of(1) });
    await call("HSET", job(0), "returnvalue", "no JSON at all");
    await call("HSET", job(1), "returnvalue", JSON.stringify({ result: packed, seal: null }));
    await call(
      "HSET",
      job(2),
      "returnvalue",
      JSON.stringify({ result: '{"__proto__":{"a":1}}', seal: null }),
    );
    await call("HSET", job(3), "returnvalue", "[".repeat(1_000_000));
    await call("SETRANGE", "big", 70_000_000, "x");
    await call("EVAL", "redis.call('HSET', KEYS[1], 'returnvalue', redis.call('GET', 'big'))", 1, job(4));
    expect(await collect()).toEqual(squares);
    expect(told.filter((one) => one.includes("the run is made again")).sort()).toEqual([
      expect.stringContaining("number 0 in Redis is not taken (it is damaged, or not of this program)"),
      expect.stringContaining("number 1 in Redis is not taken (it is damaged"),
      expect.stringContaining("number 2 in Redis is not taken (it is damaged"),
      expect.stringContaining("number 3 in Redis is not taken (it is damaged"),
      expect.stringContaining("number 4 in Redis is not taken (it is too large)"),
    ]);
    expect(made().length).toBe(tasks.length + 5);
  });

  test("a result that is spoilt each time fails by name, after three times", async () => {
    const { collect, job, told } = plan("spoilt");
    startWorker();
    expect(await collect()).toEqual(squares);
    const spoil = setInterval(() => {
      const script = `if redis.call('HEXISTS', KEYS[1], 'returnvalue') == 1 then
        redis.call('HSET', KEYS[1], 'returnvalue', '7') end`;
      call("EVAL", script, 1, job(2)).catch(() => undefined);
    }, 1);
    await call("HSET", job(2), "returnvalue", "7");
    const outcome = collect();
    await expect(outcome).rejects.toThrow(
      "1 of 6 runs failed: number 2: it is damaged, or not of this program, 3 times",
    );
    clearInterval(spoil);
    expect(told.filter((one) => one.includes("is made again")).length).toBe(2);
  });

  test("jobs that are no runs of the plan fail by name, and a worker goes on with the others", async () => {
    const { collect, id, draft, job, made } = plan("jobs");
    await saveHead(queue, draft, {}, null);
    const runs = queue.openRuns(id);
    const opts = { jobId: "run-ffffffffffffffffffffffffffffffff", attempts: 1, stackTraceLimit: 0 };
    const data = { key: "f".repeat(32), place: 0, name: "f", line: "{}", seal: null };
    await runs.addBulk([{ name: "run", data: { ...data, line: '{"n":"one"}' }, opts }]);
    await runs.addBulk([{ name: "run", data: "words", opts: { ...opts, jobId: "words" } }]);
    await runs.addBulk([{ name: "run", data: { ...data, key: "../x" }, opts: { ...opts, jobId: "path" } }]);
    await runs.addBulk([{ name: "run", data, opts: { ...opts, jobId: "broken" } }]);
    await call("HSET", `graduate:runs:${id}:broken`, "data", "{no JSON", "opts", "[1");
    startWorker();
    expect(await collect()).toEqual(squares);
    expect(made().sort()).toEqual(tasks.map(({ n }) => n));
    const refused = `graduate:runs:${id}:run-ffffffffffffffffffffffffffffffff`;
    expect(await call("HGET", refused, "failedReason")).toContain("its task is none of this program");
    expect(await call("HGET", `graduate:runs:${id}:words`, "failedReason")).toContain("it is damaged");
    expect(await call("HGET", `graduate:runs:${id}:path`, "failedReason")).toContain("it is damaged");
    expect(await call("HGET", job(0), "failedReason")).toBeNull();
    await runs.close();
  });

  test("heads are of this program or are not seen: no hash, no name, another id, too long", async () => {
    const { id, draft } = plan("heads");
    await saveHead(queue, { ...draft, files: [{ path: "t.csv", sha256: "0".repeat(64) }] }, {}, null);
    const head = JSON.parse(String(await call("HGET", "graduate:plans", id)));
    const names = async () => (await listHeads(queue)).map(({ name }) => name);
    expect(await names()).toContain("heads");
    for (const changes of [
      { files: [{ path: "/dev/zero", sha256: null }] },
      { name: "heads\u001b[2J" },
      { id: "0".repeat(32) },
      { results: "x".repeat(2_000_000) },
      { total: 1e12 },
      { more: 1 },
    ]) {
      await call("HSET", "graduate:plans", id, JSON.stringify({ ...head, ...changes }));
      expect(await names()).not.toContain("heads");
    }
    await call("HDEL", "graduate:plans", id);
  });

  test("what is shared is the plan's, and a gigabyte in a kilobyte is not unpacked", async () => {
    const { id, draft } = plan("bomb");
    await saveHead(queue, draft, { log: "x" }, null);
    const [head] = (await listHeads(queue)).filter((one) => one.id === id);
    expect(await readShared(queue, head)).toEqual({ log: "x" });
    await call("SET", `graduate:shared:${id}`, gzipSync('{"log":"/etc/x"}').toString("base64"));
    await expect(readShared(queue, head)).rejects.toThrow("what the runs of bomb share cannot be read");
    const bomb = Buffer.from(gzipSync(Buffer.alloc(1 << 29)).toString("base64"));
    const before = process.memoryUsage().rss;
    expect(() => unpackShared(bomb, "it")).toThrow("it cannot be read");
    await call("SET", `graduate:shared:${id}`, bomb);
    await expect(readShared(queue, head)).rejects.toThrow("cannot be read");
    // What was unpacked before the limit was met is all that was held: 256 MB, once or twice.
    expect(process.memoryUsage().rss - before).toBeLessThan(900e6);
    await call("DEL", `graduate:shared:${id}`, "graduate:plans");
  });

  test("keys of another kind, and too many entries, are one sentence", async () => {
    await call("RENAME", "graduate:workers", "kept").catch(() => undefined);
    await call("SET", "graduate:plans", "words");
    await expect(listHeads(queue)).rejects.toThrow(/^the queue at redis:.* cannot be read \(WRONGTYPE/);
    await call("DEL", "graduate:plans");
    const fill = "for i = 1, 10001 do redis.call('HSET', 'graduate:plans', i, 'x') end";
    await call("EVAL", fill, 0);
    await expect(listHeads(queue)).rejects.toThrow("has more than 10000 entries in graduate:plans");
    await call("DEL", "graduate:plans");
  });

  test("what workers say is cut and safe, and names that are none are not heard", async () => {
    const { id } = plan("sentences");
    const now = Math.floor(Date.now() / 1000);
    await call("HSET", "graduate:workers", "good-1", now, "bad\u001b[2J", now);
    await call(
      "HSET",
      `graduate:refused:${id}`,
      "good-1",
      `a\u001b]0;x\n${"y".repeat(9999)}`,
      "bad\u001b[2J",
      "z",
    );
    const refusals = await listRefusals(queue, id);
    expect(refusals).toEqual([expect.stringMatching(/^good-1: a\\u001b\]0;x\\ny{1900,2000}$/)]);
    await call("DEL", "graduate:workers");
  });

  describe("with a key", () => {
    const forged = JSON.stringify({
      result: packJson({ square: 99, list: Float64Array.of(0, Number.NaN) }),
      seal: null,
    });

    test("without one, a forged number is taken; that is what the documentation says", async () => {
      const { collect, job } = plan("trusting");
      startWorker();
      expect(await collect()).toEqual(squares);
      await call("HSET", job(2), "returnvalue", forged);
      expect(await collect()).toEqual([0, 1, 99, 9, 16, 25]);
    });

    test("a forged number is not taken, nor one of another run or another plan", async () => {
      vi.stubEnv("GRADUATE_QUEUE_KEY", KEY);
      const { collect, job, told, made } = plan("sealed");
      const other = plan("other");
      startWorker({ GRADUATE_QUEUE_KEY: KEY });
      expect(await collect()).toEqual(squares);
      expect(await other.collect()).toEqual(squares);
      const { result, seal } = JSON.parse(String(await call("HGET", job(5), "returnvalue")));
      expect(seal).toMatch(/^[0-9a-f]{64}$/);
      await call("HSET", job(1), "returnvalue", JSON.stringify({ result, seal }));
      await call("HSET", job(2), "returnvalue", forged);
      await call("HSET", job(3), "returnvalue", JSON.stringify({ ...JSON.parse(forged), seal }));
      await call("HSET", job(4), "returnvalue", String(await call("HGET", other.job(4), "returnvalue")));
      expect(await collect()).toEqual(squares);
      expect(
        told.filter((one) => one.includes("it is not sealed with the key in GRADUATE_QUEUE_KEY")).length,
      ).toBe(4);
      expect(made().length).toBe(tasks.length + 4);
    });

    test("a worker takes no plan and no run that nobody with its key has submitted", async () => {
      vi.stubEnv("GRADUATE_QUEUE_KEY", KEY);
      const { collect, id, draft, made } = plan("plans");
      await saveHead(queue, draft, {}, null);
      const text = String(await call("HGET", "graduate:plans", id));
      const data = { key: "f".repeat(32), place: 0, name: "f", line: '{"n":7}', seal: null };
      const opts = { jobId: jobIdOf(data.key), attempts: 1, stackTraceLimit: 0 };
      const runs = queue.openRuns(id);
      await runs.addBulk([{ name: "run", data, opts }]);
      await call("HSET", "graduate:plans", id, JSON.stringify({ ...JSON.parse(text), said: ["rm"] }));
      startWorker({ GRADUATE_QUEUE_KEY: KEY });
      await vi.waitFor(
        async () =>
          expect((await listRefusals(queue, id)).join()).toContain("is not trusted: it is not sealed"),
        20_000,
      );
      await stopWorkers();
      startWorker({ GRADUATE_QUEUE_KEY: KEY });
      expect(await collect()).toEqual(squares);
      expect(await call("HGET", `graduate:runs:${id}:${opts.jobId}`, "failedReason")).toContain(
        "it is not sealed",
      );
      expect(made().sort()).toEqual(tasks.map(({ n }) => n));
      await stopWorkers();
      // A worker without the key leaves it to others, since nobody would take what it makes.
      const again = plan("plans");
      await runs.addBulk([{ name: "run", data, opts: { ...opts, jobId: "x" } }]);
      startWorker({ GRADUATE_QUEUE_KEY: "" });
      await vi.waitFor(
        async () =>
          expect((await listRefusals(queue, again.id)).join()).toContain(
            "it is sealed, and this program has no key",
          ),
        20_000,
      );
      await runs.close();
    });
  });
});

describe("without a Redis", () => {
  test("plain names", () => {
    const plain = ["runs.jsonl", "a b (2).jsonl", "été-1.tune.jsonl", "nwtco.csv.tune.jsonl"];
    expect(plain.filter((name) => !isPlainName(name))).toEqual([]);
    const others = [
      "",
      ".",
      "..",
      "/etc/x",
      "../x",
      "a/b",
      "a\\b",
      "C:x",
      ".bash_profile",
      "-rf",
      "~x",
      "a..b",
    ];
    const odd = [
      "con",
      "NUL.jsonl",
      "com1.txt",
      "x\n",
      "x\u001b[2J",
      "x\0",
      "a|b",
      "$(x)",
      "`x`",
      "x ",
      "x.",
      "é".repeat(200),
    ];
    expect([...others, ...odd].filter(isPlainName)).toEqual([]);
  });

  test("a key is long enough, or there is none", () => {
    expect(readQueueKey({}).mark).toBeNull();
    expect(readQueueKey({ GRADUATE_QUEUE_KEY: " " }).isSealed("run", [1], null)).toBe(true);
    expect(() => readQueueKey({ GRADUATE_QUEUE_KEY: "secret" })).toThrow(
      /^GRADUATE_QUEUE_KEY is shorter than 16/,
    );
    const key = readQueueKey({ GRADUATE_QUEUE_KEY: KEY });
    // openssl: printf '["run",1]' | openssl dgst -sha256 -hmac 0123456789abcdef0123456789abcdef
    const seal = execFileSync("openssl", ["dgst", "-sha256", "-hmac", KEY], {
      input: '["run",1]',
      encoding: "utf8",
    });
    expect(key.seal("run", [1])).toBe(seal.trim().replace(/^.*= /, ""));
    expect([
      key.isSealed("run", [1], key.seal("run", [1])),
      key.isSealed("run", [1], key.seal("plan", [1])),
    ]).toEqual([true, false]);
    expect([key.isSealed("run", [1], null), key.isSealed("run", [1], "é".repeat(64))]).toEqual([
      false,
      false,
    ]);
  });

  test("results of sweeps and comparisons are read by the schemas of their files", () => {
    const key = hashKey([1]);
    const task = { setting: { kappa: 1 }, seed: 1 };
    const good = { scores: null, failure: "no", warnings: [] };
    expect(readResult(TUNE_LINES, { key, task, result: good })).toEqual(good);
    for (const result of [
      null,
      7,
      {},
      { ...good, failure: 7 },
      { ...good, warnings: "x" },
      { ...good, scores: { ece: "x" } },
    ])
      expect(readResult(TUNE_LINES, { key, task, result })).toBeNull();
    expect(readResult(TUNE_LINES, { key: "../x", task, result: good })).toBeNull();
    const compared = {
      method: { label: "cox", method: "cox", distance: null, boosted: false },
      split: "s",
      replicates: null,
    };
    expect(COMPARE_LINES.readTask(compared)).toEqual(compared);
    for (const other of [
      null,
      { ...compared, key },
      { ...compared, replicates: -1 },
      { ...compared, method: { ...compared.method, method: "rm" } },
    ])
      expect(COMPARE_LINES.readTask(other)).toBeNull();
    expect(TUNE_LINES.readTask(task)).toEqual(task);
    for (const setting of [{ rm: 1 }, { kappa: -1 }, { kappa: "$(x)" }, { hidden: "7" }, { constructor: 1 }])
      expect(TUNE_LINES.readTask({ setting, seed: 1 })).toBeNull();
    // A result whose task would change its line's key, or that has a field too many, is none.
    const wide = { ...compared, key: hashKey([2]) };
    const empty = {
      scores: null,
      audit: null,
      draws: null,
      met: null,
      constrained: null,
      seconds: 1,
      failure: "x",
      warnings: [],
    };
    expect(readResult(COMPARE_LINES, { key, task: compared as never, result: empty })).toEqual(empty);
    expect(readResult(COMPARE_LINES, { key, task: wide as never, result: empty })).toBeNull();
    expect(
      readResult(COMPARE_LINES, { key, task: compared as never, result: { ...empty, x: 1 } }),
    ).toBeNull();
  });
});

describe("tables of a plan", () => {
  const folder = mkdtempSync(join(tmpdir(), "graduate-tables-"));
  const [inside, outside] = ["inside", "outside"].map((name) => join(folder, name));
  const text = "time,event\n1,1\n";
  const sha256 = createHash("sha256").update(text).digest("hex");
  mkdirSync(join(inside, "deep"), { recursive: true });
  mkdirSync(outside);
  for (const path of [join(inside, "t.csv"), join(inside, "deep", "t.csv"), join(outside, "t.csv")])
    writeFileSync(path, text);
  symlinkSync(join(inside, "t.csv"), join(inside, "link.csv"));
  symlinkSync(join(outside, "t.csv"), join(inside, "out.csv"));
  symlinkSync(outside, join(inside, "away"));
  symlinkSync("/dev/zero", join(inside, "zero.csv"));
  // A folder is a table of its files, and all of them must be below.
  mkdirSync(join(inside, "mixed"));
  symlinkSync(join(outside, "t.csv"), join(inside, "mixed", "t.csv"));
  execFileSync("mkfifo", [join(inside, "pipe.csv")]);

  test.each(["t.csv", "deep/t.csv", "link.csv", "./t.csv", "deep"])("below the folder: %s", async (path) => {
    expect(await requirePlanFile({ path, sha256 }, inside)).toBe(join(inside, path));
  });

  test("the folder itself may be a link", async () => {
    symlinkSync(inside, join(folder, "alias"));
    expect(await requirePlanFile({ path: "t.csv", sha256 }, join(folder, "alias"))).toBe(
      join(inside, "t.csv"),
    );
  });

  test.each([
    join(outside, "t.csv"),
    join(inside, "t.csv"),
    "../outside/t.csv",
    "deep/../t.csv",
    "..\\outside\\t.csv",
    "C:\\t.csv",
    "out.csv",
    "away/t.csv",
    "zero.csv",
    "pipe.csv",
    "mixed",
    "none.csv",
    "t.csv/x",
    "/dev/zero",
    "-",
    "",
    "*.csv",
  ])("one sentence, whatever the reason: %s", async (path) => {
    await expect(requirePlanFile({ path, sha256 }, inside)).rejects.toThrow(
      `the table "${path}" with the plan's SHA-256 is not below this worker's folder`,
    );
  });

  test("another hash is refused in the same words, and so is a name that is none", async () => {
    await expect(requirePlanFile({ path: "t.csv\0", sha256 }, inside)).rejects.toThrow(
      'the table "t.csv\\u0000" with the plan\'s SHA-256 is not below',
    );
    await expect(requirePlanFile({ path: "t.csv", sha256: "0".repeat(64) }, inside)).rejects.toThrow(
      `the table "t.csv" with the plan's SHA-256 is not below this worker's folder`,
    );
  });
});
