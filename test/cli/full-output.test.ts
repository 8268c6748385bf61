// Standard output that takes nothing, or only part of it; memory that is refused: one sentence and exit code 1,
// whatever the command.
import { execFile } from "node:child_process";
import { existsSync, readFileSync, rmSync, statSync } from "node:fs";
import { join } from "node:path";
import { describe, expect, test } from "vitest";
import { type CliResult, launcher, root, writeScratch } from "./run-cli.ts";

const lung = join(root, "test/tables/lung.csv");
const gbsg = join(root, "test/tables/gbsg.csv");
const model = join(root, "test/files/v0.1.0/graduate.model");
const cox = join(root, "test/files/v0.1.0/cox.model");
const outcome = ["--time", "time", "--event", "event", "--features", "age,sex"];
const small = ["--steps", "1", "--bins", "6", "--hidden", "2"];

/** In a shell of its own, with what it says before the command: limits, and where its output goes after. */
function runInShell(limit: string, args: readonly string[], to = ""): Promise<CliResult> {
  const line = `${limit} "$0" "$@" ${to}`;
  return new Promise((resolve) => {
    execFile(
      "bash",
      ["-c", line, process.execPath, launcher, ...args],
      { cwd: root },
      (error, stdout, stderr) => {
        resolve({ code: error === null ? 0 : Number(error.code), stdout, stderr });
      },
    );
  });
}

/** Text, JSON, bytes and help; every other command prints by one of these (test/faults tries them all). */
const COMMANDS: readonly (readonly string[])[] = [
  ["train", "--help"],
  ["describe", lung, "--time", "time", "--event", "event"],
  ["km", lung, "--time", "time", "--event", "event", "--json"],
  ["predict", cox, gbsg],
];

/** One sentence that begins as ours do, and its hint: no stack. */
function expectSentence({ code, stderr }: CliResult, says: string, what: string): void {
  expect(code, `${what}: ${stderr}`).toBe(1);
  const own = stderr.split("\n").filter((line) => line.startsWith("graduate: "));
  expect(own.at(-1), `${what}: ${stderr}`).toContain(says);
  expect(stderr, what).not.toMatch(/^\s+at |please report/m);
}

describe.runIf(existsSync("/dev/full"))("a device that is full", () => {
  test("is named by a sentence", async () => {
    const results = await Promise.all(COMMANDS.map((args) => runInShell("", args, "> /dev/full")));
    COMMANDS.forEach((args, k) => {
      expectSentence(results[k], "cannot write to standard output (the disk is full)", args.join(" "));
    });
  });

  test("where progress cannot be written, the work is done all the same", async () => {
    const { code, stdout } = await runInShell(
      "",
      ["km", lung, "--time", "time", "--event", "event"],
      "2> /dev/full",
    );
    expect(code).toBe(0);
    expect(stdout).toContain("S(end)");
    expect((await runInShell("", ["km", "none.csv"], "2> /dev/full")).code).toBe(1);
  });
});

describe("a disk that fills up in the middle", () => {
  test.each([
    ["a document", ["km", lung, "--time", "time", "--event", "event", "--json"]],
    ["a table", ["predict", cox, gbsg]],
  ])("%s: what is missing is not passed over", async (_, args) => {
    const out = writeScratch("cut-off", "");
    // The largest file that may be written has eight kilobytes.
    const result = await runInShell("ulimit -f 8;", args, `> ${JSON.stringify(out)}`);
    expectSentence(result, "cannot write to standard output (the file would be too large)", args[0]);
    expect(statSync(out).size).toBe(8192);
  });
});

describe("a reader that goes away", () => {
  test("ends the program quietly", async () => {
    const line = ["predict", cox, gbsg];
    const { code, stdout, stderr } = await runInShell("set -o pipefail;", line, "| head -1");
    expect([code, stderr]).toEqual([0, ""]);
    expect(stdout).toMatch(/^row,S1,/);
  });
});

describe("memory that is refused", () => {
  /** WebAssembly reserves addresses for more than is ever used. */
  const limit = "ulimit -v 8000000;";
  test("training and predicting say so", async () => {
    for (const args of [
      ["train", lung, ...outcome, ...small],
      ["predict", model, gbsg],
    ]) {
      expectSentence(await runInShell(limit, args), "not enough memory: ", args[0]);
    }
  });

  test("a sweep that finds no memory keeps nothing of it, and goes on when there is some", async () => {
    const results = writeScratch("memory.jsonl", "");
    rmSync(results);
    const workers = ["--workers", "1", "--results", results];
    const sweep = ["tune", lung, ...outcome, ...small, "--sweep", "rate=0.01,0.02", ...workers];
    expectSentence(await runInShell(limit, sweep), "not enough memory: ", "tune");
    expect(existsSync(results)).toBe(false);
    const again = await runInShell("", sweep);
    expect(again.code, again.stderr).toBe(0);
    expect(readFileSync(results, "utf8")).not.toMatch(/memory|diverged/);
  });
});
