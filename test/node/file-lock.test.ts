// One program at a time writes a file of results; a lock that a kill left is recognised.
import { type ChildProcess, spawn } from "node:child_process";
import { once } from "node:events";
import { existsSync, mkdtempSync, readdirSync, readFileSync, utimesSync, writeFileSync } from "node:fs";
import { hostname, tmpdir } from "node:os";
import { join } from "node:path";
import { expect, test } from "vitest";
import { lockFile } from "../../src/node/io/file-lock.ts";
import { HOST } from "../../src/node/io/process-end.ts";
import { launcher, root, runCli } from "../cli/run-cli.ts";

const folder = mkdtempSync(join(tmpdir(), "graduate-lock-"));
const at = (name: string) => join(folder, name);
const table = join(root, "datasets", "nwtco", "nwtco.csv");
const tuneArgs = (results: string, steps = 3) => [
  ...["tune", table, "--time", "edrel", "--event", "rel", "--features", "age,stage", "--network", "linear"],
  ...[
    "--bins",
    "6",
    "--steps",
    String(steps),
    "--sweep",
    "kappa=0.5,1,2",
    "--workers",
    "1",
    "--results",
    results,
  ],
];

/** A sweep in a process of its own that holds its results file; resolves when it does. */
async function startSweep(results: string): Promise<ChildProcess> {
  const child = spawn(process.execPath, [launcher, ...tuneArgs(results, 100_000)], { stdio: "ignore" });
  for (let tries = 0; tries < 300 && !existsSync(`${results}.lock`); tries++)
    await new Promise((resolve) => setTimeout(resolve, 50));
  expect(existsSync(`${results}.lock`)).toBe(true);
  return child;
}

async function end(child: ChildProcess, signal: NodeJS.Signals): Promise<unknown> {
  const ended = once(child, "exit");
  child.kill(signal);
  const [code] = await ended;
  return code;
}

test("a second sweep with the same results is refused in one sentence, and so is a merge into them", async () => {
  const results = at("runs.jsonl");
  const first = await startSweep(results);
  const second = runCli(tuneArgs(results));
  expect([second.code, second.stdout]).toEqual([1, ""]);
  const sentence = second.stderr.replace(/\s+/g, " ");
  expect(sentence).toContain(`another program is writing to "${results}" (process ${first.pid}, since 20`);
  expect(sentence).toContain("wait until it has ended, or name another file (--results)");
  writeFileSync(at("part.jsonl"), "");
  const merged = runCli(["merge", at("part.jsonl"), "--out", results]);
  expect([merged.code, merged.stderr]).toEqual([1, expect.stringContaining("another program is writing to")]);
  expect(await end(first, "SIGTERM")).toBe(143);
  // A run that had ended by then is kept; the lock is not.
  const left = readdirSync(folder).filter((name) => name.startsWith("runs") && name !== "runs.jsonl");
  expect(left).toEqual([]);
});

test("what kill -9 leaves is taken over, which is said, and nothing stays", async () => {
  const results = at("killed.jsonl");
  await end(await startSweep(results), "SIGKILL");
  expect(existsSync(`${results}.lock`)).toBe(true);
  const { code, stderr } = runCli(tuneArgs(results));
  expect([code, stderr.replace(/\s+/g, " ")]).toEqual([
    0,
    expect.stringMatching(/killed\.jsonl\.lock was left by process \d+, which has ended: it is taken over/),
  ]);
  expect(readFileSync(results, "utf8").trimEnd().split("\n").length).toBe(3);
  expect(readdirSync(folder).filter((name) => name.startsWith("killed"))).toEqual(["killed.jsonl"]);
});

test("two sweeps at the same moment: one makes the runs, once each, and the other is refused", async () => {
  const results = at("both.jsonl");
  const codes = await Promise.all(
    [0, 1].map(async () => {
      const child = spawn(process.execPath, [launcher, ...tuneArgs(results, 400)], { stdio: "ignore" });
      return (await once(child, "exit"))[0];
    }),
  );
  const keys = readFileSync(results, "utf8")
    .trimEnd()
    .split("\n")
    .map((line) => JSON.parse(line).key);
  expect([keys.length, new Set(keys).size]).toEqual([3, 3]);
  expect([...codes].sort()).toEqual([0, 1]);
});

const holder = (changes: object) =>
  JSON.stringify({
    ...{ lock: 1, pid: process.pid, host: HOST, machine: hostname(), began: null, since: "2026-01-01" },
    ...changes,
  });
const hours = (count: number) => new Date(Date.now() - count * 3_600_000);

test.each([
  ["a process that is gone", holder({ pid: 2 ** 22 + 1 }), 0, true],
  ["another process with the same number", holder({ pid: process.ppid, began: "1" }), 0, true],
  ["this process, from before", holder({}), 0, true],
  ["a process that runs", holder({ pid: process.ppid }), 2, false],
  ["another machine, touched just now", holder({ host: "000000", machine: "far" }), 0, false],
  ["another machine, untouched for two hours", holder({ host: "000000", machine: "far" }), 2, true],
  ["nobody yet", "", 0, false],
  ["nobody, two hours ago", "", 2, true],
  ["something else, two hours ago", '{"lock":2}', 2, true],
])("a lock of %s", (_, text, age, isTaken) => {
  const path = at("one");
  const lock = `${path}.lock`;
  writeFileSync(path, "");
  writeFileSync(lock, text);
  utimesSync(lock, hours(age), hours(age));
  if (isTaken) {
    lockFile(path, "name another")();
    expect(existsSync(lock)).toBe(false);
  } else {
    expect(() => lockFile(path, "name another")).toThrow(/^another program is writing to ".*one" \(/);
    expect(readFileSync(lock, "utf8")).toBe(text);
  }
});
