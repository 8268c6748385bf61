// tune, compare and reproduce by a queue: real workers, a real Redis, and the bytes that this machine alone would write.
import { type ChildProcess, spawn } from "node:child_process";
import { once } from "node:events";
import { appendFileSync, copyFileSync, existsSync, readFileSync, rmSync } from "node:fs";
import { join } from "node:path";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { createRedis, findMissing, PASSWORD, type TestRedis } from "../node/redis-server.ts";
import { type CliResult, launcher, root, runCli, writeScratch } from "./run-cli.ts";

const missing = await findMissing();
if (missing !== null) console.log(`commands with --queue are not tested: ${missing}`);

const folder = writeScratch("queue.mark", "").replace(/[^/]*$/, "");
const at = (name: string) => join(folder, name);
const read = (name: string) => readFileSync(at(name), "utf8");
const subject = ["--time", "rfstime", "--event", "status", "--deterministic"];
const tiny = ["--network", "linear", "--steps", "3", "--bins", "8", "--features", "age,nodes"];
const sweepOf = (table: string) => ["tune", at(table), ...subject, "--sweep", "kappa=0.5,1", ...tiny];
const comparison = (table: string) => {
  const methods = ["--methods", "cox,nll", "--replicates", "100"];
  return ["compare", at(table), ...subject, ...methods, ...tiny];
};
/** As this machine alone does it, in NAME.jsonl; returns the exit code. */
const sweepHere = (table: string) =>
  runCli([...sweepOf(table), "--workers", "1", "--results", at(`${table}.jsonl`)]).code;
/** The table with one person more: other bytes are another plan. */
const writeLonger = (name: string, id: number) => {
  const text = read("right.csv");
  const [, first] = text.split("\n");
  return writeScratch(name, `${text.trimEnd()}\n${first.replace(/^[^,]*/, String(id))}\n`);
};
const withoutSeconds = (text: string) => text.replace(/"seconds":(\{[^}]*\}|[\d.e-]+)/g, '"seconds":0');

describe.skipIf(missing !== null)("with a Redis", { timeout: 120_000 }, () => {
  let redis: TestRedis;
  const said: string[] = [];
  const started = new Set<ChildProcess>();

  /** A command in a process of its own, which may be stopped. */
  function start(args: readonly string[]): {
    readonly process: ChildProcess;
    readonly ended: Promise<CliResult>;
  } {
    const child = spawn(process.execPath, [launcher, ...args], { cwd: folder });
    started.add(child);
    let [stdout, stderr] = ["", ""];
    child.stdout.on("data", (part) => {
      stdout += part;
    });
    child.stderr.on("data", (part) => {
      stderr += part;
    });
    const ended = once(child, "close").then(([code]) => {
      started.delete(child);
      said.push(stdout, stderr);
      return { code, stdout, stderr };
    });
    return { process: child, ended };
  }
  const queued = (args: readonly string[]) => start([...args, "--queue", redis.url]);
  const worker = () => queued(["worker", "--concurrency", "1", "--lost-after", "5"]);
  const stop = async (
    { process: child, ended }: ReturnType<typeof start>,
    signal: NodeJS.Signals = "SIGTERM",
  ) => {
    child.kill(signal);
    return ended;
  };
  /** `graduate jobs`, in the process that has the program loaded. */
  const jobs = (...args: readonly string[]) => {
    const result = runCli(["jobs", ...args, "--queue", redis.url], "", folder);
    said.push(result.stdout, result.stderr);
    return result.stdout;
  };
  /** Waits until the plans in the queue are as they should be. */
  const until = async (pattern: RegExp) => {
    for (let tries = 0; tries < 200; tries++) {
      const stdout = jobs();
      if (pattern.test(stdout)) return stdout;
      await new Promise((resolve) => setTimeout(resolve, 100));
    }
    throw new Error(`never: ${pattern}`);
  };

  beforeAll(async () => {
    redis = await createRedis();
    await redis.start();
    copyFileSync(join(root, "test", "tables", "gbsg.csv"), at("right.csv"));
    expect(sweepHere("right.csv")).toBe(0);
  });
  afterAll(async () => {
    for (const child of started) child.kill("SIGKILL");
    await redis.kill();
    // Whatever was printed by whom, no password was.
    expect(said.join("")).not.toContain(PASSWORD);
    expect(said.join("")).not.toContain(encodeURIComponent(PASSWORD));
  });

  test("a sweep and a comparison leave the bytes of one machine", async () => {
    const one = worker();
    const swept = await queued([...sweepOf("right.csv"), "--results", at("swept.jsonl")]).ended;
    expect([swept.code, swept.stderr]).toEqual([0, expect.stringMatching(/^2\/2 kappa=1 seed 1: C 0\.\d+/m)]);
    expect(read("swept.jsonl")).toBe(read("right.csv.jsonl"));
    expect((await queued([...comparison("right.csv")]).ended).code).toBe(0);
    runCli([...comparison("right.csv"), "--results", at("compared.jsonl")]);
    expect(withoutSeconds(read("right.csv.compare.jsonl"))).toBe(withoutSeconds(read("compared.jsonl")));
    const ended = await stop(one);
    expect([ended.code, ended.stderr]).toEqual([0, expect.stringContaining("has made 4 runs")]);
  });

  test("a worker with another table leaves the plan to others, and the submitter is told", async () => {
    const other = readFileSync(writeLonger("other.csv", 900001), "utf8");
    expect(sweepHere("other.csv")).toBe(0);
    const submitter = queued([...sweepOf("other.csv"), "--results", at("other.jsonl")]);
    await until(/other\.csv\.tune-\w+ +0 +0 +0 +2/);
    appendFileSync(at("other.csv"), "1,2,3\n");
    const one = worker();
    const listed = await until(/is refused by/);
    expect(listed.replace(/\s+/g, " ")).toContain(
      "with the plan's SHA-256 is not below this worker's folder",
    );
    writeScratch("other.csv", other);
    const two = worker();
    expect((await submitter.ended).code).toBe(0);
    const [refusing, working] = await Promise.all([stop(one), stop(two)]);
    expect(refusing.stderr).toContain("is left to other workers: the table");
    expect(working.stderr).toContain("has made 2 runs");
    expect(read("other.jsonl")).toBe(read("other.csv.jsonl"));
  });

  test("Ctrl-C leaves the queue; resume collects what a shipped table gave; cancel and forget say what stays", async () => {
    writeLonger("shipped.csv", 900002);
    expect(sweepHere("shipped.csv")).toBe(0);
    const submitter = queued([...sweepOf("shipped.csv"), "--ship-table", "--results", at("gone.jsonl")]);
    await until(/shipped\.csv\.tune-\w+ +0 +0 +0 +2/);
    const interrupted = await stop(submitter, "SIGINT");
    expect(interrupted.code).toBe(130);
    expect(interrupted.stderr).toContain("the table itself goes into Redis (0.0");
    expect(interrupted.stderr).toContain("interrupted with 0 of 2 runs collected");
    expect(existsSync(at("gone.jsonl"))).toBe(false);
    rmSync(at("shipped.csv"));
    const worked = await queued(["worker", "--concurrency", "1", "--until-empty"]).ended;
    expect(worked.stderr).toContain("has made 2 runs");
    expect(jobs("resume", "shipped.csv.tune")).toContain("all its runs are in gone.jsonl");
    expect(read("gone.jsonl")).toBe(read("shipped.csv.jsonl"));
    expect(jobs("cancel", "shipped.csv.tune")).toContain("0 runs taken back; 2 results stay in Redis");
    expect(jobs("forget", "shipped.csv.tune")).toContain("is forgotten");
    expect(jobs()).not.toContain("shipped.csv");
  });

  test("reproduce: the lines of one machine, but for their seconds", async () => {
    const cohort = {
      name: "nwtco",
      kind: "table",
      table: "datasets/nwtco/nwtco.csv",
      groups: "datasets/nwtco/groups.json",
      time: "edrel",
      event: "rel",
      drop: ["seqno"],
      sizes: [2416, 806, 806],
      paperSlack: 0.02,
    };
    const parts = [{ cohorts: ["nwtco"], systems: ["cox"], seeds: { from: 1, count: 2 } }];
    const settings = { name: "queued", about: "Cox", preset: "default", repeats: "splits", draws: 0 };
    const plan = writeScratch("queued.json", JSON.stringify({ ...settings, cohorts: [cohort], parts }));
    const one = worker();
    const made = await queued(["reproduce", "plan", plan, "--out", at("made.jsonl")]).ended;
    expect([made.code, made.stderr]).toEqual([
      0,
      expect.stringMatching(/^2\/2 nwtco, cox, seed 2: C 0\.\d/m),
    ]);
    await stop(one);
    expect(runCli(["reproduce", "plan", plan, "--out", at("here.jsonl"), "--workers", "1"]).code).toBe(0);
    expect(withoutSeconds(read("made.jsonl"))).toBe(withoutSeconds(read("here.jsonl")));
  });

  test.each([
    [
      "a wrong password",
      () => `redis://:secret@127.0.0.1:${redis.port}`,
      "does not accept the user or password",
    ],
    ["nobody there", () => "redis://:secret@127.0.0.1:1", "cannot reach Redis at redis://127.0.0.1:1"],
  ])("%s is one sentence, and nothing is written", (_, address, sentence) => {
    const refused = runCli([...sweepOf("right.csv"), "--results", at("none.jsonl"), "--queue", address()]);
    expect([refused.code, refused.stdout]).toEqual([1, ""]);
    expect(refused.stderr).toContain(sentence);
    expect(refused.stderr).not.toContain("secret");
    expect(existsSync(at("none.jsonl"))).toBe(false);
  });
});

test.each([
  [["--queue", "redis://:secret@h", "--shard", "1/2"], "two ways to divide the same runs"],
  [["--ship-table"], "--ship-table is for a queue"],
  [["--queue", "secret"], "--queue is no address of a Redis"],
])("%s is refused", (options, sentence) => {
  copyFileSync(join(root, "test", "tables", "gbsg.csv"), at("right.csv"));
  const refused = runCli([...sweepOf("right.csv"), "--results", at("never.jsonl"), ...options]);
  expect(refused.code).toBe(1);
  expect(refused.stderr).toContain(sentence);
  expect(refused.stderr).not.toContain("secret");
});
