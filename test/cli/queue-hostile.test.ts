// Commands on a Redis that somebody else writes to: where files go, which tables a worker reads, what is printed.
import { spawn } from "node:child_process";
import { once } from "node:events";
import {
  copyFileSync,
  existsSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  renameSync,
} from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { type OpenQueue, openQueue } from "../../src/node/queue/open-queue.ts";
import { createRedis, findMissing, type TestRedis } from "../node/redis-server.ts";
import { launcher, root, runCli } from "./run-cli.ts";

const missing = await findMissing();
if (missing !== null) console.log(`hostile queues are not tested: ${missing}`);

const folder = mkdtempSync(join(tmpdir(), "graduate-hostile-"));
const [work, home] = ["work", "home"].map((name) => join(folder, name));
const sweep = (table: string) => [
  ...["tune", table, "--time", "rfstime", "--event", "status", "--deterministic", "--sweep", "kappa=0.5,1"],
  ...["--network", "linear", "--steps", "3", "--bins", "8", "--features", "age,nodes"],
];
const oneLine = (text: string) => text.replace(/\s+/g, " ");

describe.skipIf(missing !== null)("with a Redis", { timeout: 120_000 }, () => {
  let redis: TestRedis;
  let queue: OpenQueue;
  /** The id of the one plan, and its head as it was submitted. */
  let id: string;
  let head: Readonly<Record<string, unknown>>;
  const run = (args: readonly string[], cwd = work) => runCli([...args, "--queue", redis.url], "", cwd);
  const writeHead = (changes: object) =>
    queue.redis.call("HSET", "graduate:plans", id, JSON.stringify({ ...head, ...changes }));
  /** A command that is stopped once its plan is there. */
  const submit = async (args: readonly string[], cwd = work) => {
    const child = spawn(process.execPath, [launcher, ...args, "--queue", redis.url], {
      cwd,
      stdio: "ignore",
    });
    const jobs = async () => Number(await queue.redis.call("EXISTS", "graduate:plans"));
    for (let tries = 0; tries < 300 && (await jobs()) === 0; tries++)
      await new Promise((resolve) => setTimeout(resolve, 50));
    await new Promise((resolve) => setTimeout(resolve, 500));
    child.kill("SIGINT");
    await once(child, "exit");
    const [text] = (await queue.redis.call("HVALS", "graduate:plans")) as readonly string[];
    head = JSON.parse(text);
    id = String(head.id);
  };

  beforeAll(async () => {
    redis = await createRedis();
    await redis.start();
    queue = await openQueue(redis.url);
    for (const path of [work, home, join(work, "tables")]) mkdirSync(path);
    copyFileSync(join(root, "test", "tables", "gbsg.csv"), join(work, "tables", "gbsg.csv"));
    await submit(sweep("tables/gbsg.csv"));
    expect(run(["worker", "--concurrency", "1", "--until-empty"]).stderr).toContain("has made 2 runs");
  });
  afterAll(async () => {
    queue.close();
    await redis.kill();
  });

  test("a plan names its table below the submitter's folder", () => {
    expect(head.files).toEqual([
      { path: "tables/gbsg.csv", sha256: expect.stringMatching(/^[0-9a-f]{64}$/) },
    ]);
  });

  test.each([
    join(home, ".bash_profile"),
    "../home/.bash_profile",
    ".bash_profile",
    "Makefile",
    "a/b.jsonl",
    "..jsonl",
    "CON.jsonl",
    "x\u001b[2J.jsonl",
  ])("resume writes no file of another kind of name: %s", async (results) => {
    await writeHead({ results });
    const before = [readdirSync(work), readdirSync(home)];
    const refused = run(["jobs", "resume", "gbsg.csv.tune"]);
    expect([refused.code, refused.stdout]).toEqual([1, ""]);
    const sentence = oneLine(refused.stderr);
    expect(sentence).toMatch(/the results of gbsg\.csv\.tune-\w+ have no plain name that ends in \.jsonl: "/);
    expect(sentence).toContain("name the file yourself: --results runs.jsonl");
    expect(refused.stderr).not.toContain("\u001b");
    expect([readdirSync(work), readdirSync(home)]).toEqual(before);
    expect(run(["jobs", "resume", "gbsg.csv.tune", "--results", "mine.jsonl"]).code).toBe(0);
    expect(readFileSync(join(work, "mine.jsonl"), "utf8").split("\n").length).toBe(3);
    renameSync(join(work, "mine.jsonl"), join(folder, "mine.jsonl"));
  });

  test("resume takes no run and no result of another program; what it prints is quoted and on one line", async () => {
    await writeHead({ results: "good.jsonl", said: ["tune", "x; rm -rf ~", "\n$(reboot)", "\u001b[2J"] });
    const [key] = (await queue.redis.call(
      "ZRANGE",
      `graduate:runs:${id}:completed`,
      0,
      0,
    )) as readonly string[];
    const job = `graduate:runs:${id}:${key}`;
    const data = String(await queue.redis.call("HGET", job, "data"));
    const setting = JSON.stringify({ setting: { "$(reboot)": 1 }, seed: 1 });
    await queue.redis.call("HSET", job, "data", JSON.stringify({ ...JSON.parse(data), line: setting }));
    const resumed = run(["jobs", "resume", "gbsg.csv.tune"]);
    expect(resumed.code).toBe(0);
    expect(oneLine(resumed.stderr)).toContain(`is passed over: ${key}: its task is none of this program`);
    expect(readFileSync(join(work, "good.jsonl"), "utf8")).not.toContain("reboot");
    expect(readFileSync(join(work, "good.jsonl"), "utf8").split("\n").length).toBe(2);
    const printed = resumed.stdout.trimEnd().split("\n");
    expect(printed.length).toBe(2);
    expect(printed[1]).toMatch(/ tune 'x; rm -rf ~' '\\n\$\(reboot\)' '\\u001b\[2J'$/);
    await queue.redis.call("HSET", job, "data", data);
  });

  test("the submitter of malformed results ends without a stack, and writes the right ones", async () => {
    await writeHead({});
    const ids = (await queue.redis.call(
      "ZRANGE",
      `graduate:runs:${id}:completed`,
      0,
      -1,
    )) as readonly string[];
    for (const one of ids)
      await queue.redis.call(
        ...([
          "HSET",
          `graduate:runs:${id}:${one}`,
          "returnvalue",
          '{"result":"{\\"scores\\":7}","seal":null}',
        ] as const),
      );
    const args = [...sweep("tables/gbsg.csv"), "--results", "again.jsonl", "--queue", redis.url];
    const child = spawn(process.execPath, [launcher, ...args], { cwd: work });
    let stderr = "";
    child.stderr.on("data", (part) => {
      stderr += part;
    });
    child.stdout.resume();
    const worker = spawn(process.execPath, [launcher, "worker", "--queue", redis.url], {
      cwd: work,
      stdio: "ignore",
    });
    const [code] = await once(child, "close");
    worker.kill("SIGTERM");
    await once(worker, "exit");
    expect(code).toBe(0);
    expect(
      oneLine(stderr).match(/is not taken \(it is damaged, or not of this program\): the run is made again/g)
        ?.length,
    ).toBe(2);
    expect(stderr).not.toMatch(/^\s+at /m);
    expect(readFileSync(join(work, "again.jsonl"))).toEqual(readFileSync(join(folder, "mine.jsonl")));
  });

  test("a worker reads tables below its folder, and says no more of others than that", async () => {
    await queue.redis.call("FLUSHALL");
    await submit(sweep("tables/gbsg.csv"));
    const refusal = () => {
      const { code, stderr } = run(["worker", "--concurrency", "1", "--until-empty"], home);
      expect(code).toBe(0);
      expect(stderr).toContain("has made 0 runs");
      return oneLine(stderr)
        .replaceAll(/"[^"]*"/g, "TABLE")
        .match(/is left to other workers: (.*?) worker /)?.[1];
    };
    const sentences: unknown[] = [refusal()];
    for (const path of [
      join(work, "tables", "gbsg.csv"),
      "../work/tables/gbsg.csv",
      "/etc/passwd",
      "/none",
      "/dev/zero",
    ]) {
      await writeHead({ files: [{ path, sha256: (head.files as readonly { sha256: string }[])[0].sha256 }] });
      sentences.push(refusal());
    }
    expect(new Set(sentences)).toEqual(
      new Set([
        "the table TABLE with the plan's SHA-256 is not below this worker's folder; copy it there, " +
          "name the folder that holds it (--tables FOLDER), or submit with --ship-table",
      ]),
    );
    // A plan without a hash is none.
    await writeHead({ files: [{ path: "/dev/zero", sha256: null }] });
    const { code, stderr } = run(["worker", "--concurrency", "1", "--until-empty"], home);
    expect([code, stderr]).toEqual([0, expect.stringContaining("has made 0 runs")]);
    expect(stderr).not.toContain("zero");
    await writeHead({});
    expect(run(["worker", "--tables", join(home, "none")], home).stderr).toContain("no such folder");
    const worked = run(["worker", "--concurrency", "1", "--until-empty", "--tables", work], home);
    expect(worked.stderr).toContain("has made 2 runs");
    expect(readdirSync(home)).toEqual([]);
  });

  test("what has no hash cannot be submitted", () => {
    const refused = runCli(
      [...sweep("-"), "--queue", redis.url],
      readFileSync(join(work, "tables", "gbsg.csv"), "utf8"),
      work,
    );
    expect([refused.code, refused.stdout]).toEqual([1, ""]);
    expect(refused.stderr).toContain("graduate: tune needs a table in a file");
    expect(existsSync(join(work, "-.tune.jsonl"))).toBe(false);
  });

  test.each([
    "graduate:plans",
    "graduate:workers",
    "graduate:cancelled",
    "graduate:collected",
    "graduate:runs:ID:wait",
  ])("a key of another kind is one sentence, for whoever reads it: %s", async (key) => {
    await queue.redis.call("FLUSHALL");
    await submit(sweep("tables/gbsg.csv"));
    const name = key.replace("ID", id);
    await queue.redis.call("DEL", name);
    await queue.redis.call("SET", name, "words");
    const args = [...sweep("tables/gbsg.csv"), "--results", "none.jsonl"];
    const said = [["jobs"], ["worker", "--until-empty", "--concurrency", "1"], args].map((one) => run(one));
    const refused = said.filter(({ code }) => code !== 0);
    expect(refused.length).toBeGreaterThan(0);
    for (const { code, stderr } of refused) {
      expect([code, oneLine(stderr)]).toEqual([
        1,
        expect.stringMatching(/the queue at redis:\S+ cannot be read \(WRONGTYPE/),
      ]);
      expect(stderr).not.toMatch(/^\s+at |a bug/m);
    }
    expect(existsSync(join(work, "none.jsonl"))).toBe(false);
  });

  test("a key: the sweep of one machine, and a short key is refused", async () => {
    await queue.redis.call("FLUSHALL");
    const env = { ...process.env, GRADUATE_QUEUE_KEY: "0123456789abcdef0123456789abcdef" };
    const start = (args: readonly string[]) =>
      spawn(process.execPath, [launcher, ...args, "--queue", redis.url], { cwd: work, env, stdio: "ignore" });
    const worker = start(["worker", "--concurrency", "1"]);
    const [code] = await once(start([...sweep("tables/gbsg.csv"), "--results", "sealed.jsonl"]), "exit");
    expect(code).toBe(0);
    worker.kill("SIGTERM");
    await once(worker, "exit");
    expect(readFileSync(join(work, "sealed.jsonl"))).toEqual(readFileSync(join(folder, "mine.jsonl")));
    // Without the key, nothing of the plan is taken.
    const resumed = run(["jobs", "resume", "gbsg.csv.tune", "--results", "forged.jsonl"]);
    expect([resumed.code, oneLine(resumed.stderr)]).toEqual([
      1,
      expect.stringContaining("it is sealed, and this program has no key: set GRADUATE_QUEUE_KEY"),
    ]);
    expect(existsSync(join(work, "forged.jsonl"))).toBe(false);
  });
});
