// Sweeps as a command: their order and workers change nothing, a killed one goes on, and test rows have no part in
// the choice.
import { spawn } from "node:child_process";
import { appendFileSync, existsSync, readFileSync, statSync } from "node:fs";
import { join } from "node:path";
import { describe, expect, test } from "vitest";
import { createRandom } from "../../src/core/random.ts";
import { modelFromBytes } from "../../src/files/model/model-file.ts";
import { TUNE_LINES } from "../../src/node/io/run-lines.ts";
import { openRunResults } from "../../src/node/io/run-results.ts";
import type { RunScores } from "../../src/verbs/tuning/scores.ts";
import { root, runCli, runJson, writeScratch } from "./run-cli.ts";

const ROWS = 300;
/** Train 180, validation 60, test 60, in turn. */
const setOf = (row: number) => (row % 5 < 3 ? "train" : row % 5 === 3 ? "valid" : "test");

/** Risk rises with x; `testTime` replaces the times of the test rows. */
function writeTable(name: string, testTime?: number): string {
  const random = createRandom(5);
  const lines = Array.from({ length: ROWS }, (_, row) => {
    const x = random.normal();
    const site = random.uniform() < 0.5 ? "north" : "south";
    const own = -Math.log(1 - random.uniform()) / Math.exp(x);
    const censoring = 3 * random.uniform();
    const time = Math.min(own, censoring).toFixed(4);
    const shown = testTime !== undefined && setOf(row) === "test" ? `${testTime + row / 1000}` : time;
    return `${x.toFixed(4)},${site},${shown},${own <= censoring ? 1 : 0}`;
  });
  return writeScratch(name, `x,site,time,event\n${lines.join("\n")}\n`);
}

const table = writeTable("tiny.csv");
const splitFile = writeScratch(
  "tiny-split.csv",
  `row,set\n${Array.from({ length: ROWS }, (_, row) => `${row + 1},${setOf(row)}`).join("\n")}\n`,
);
const asked = ["--time", "time", "--event", "event", "--group", "site = north", "--split", splitFile];
const sweep = ["--sweep", "kappa=0.5,none", "--sweep", "hidden=2,4", "--steps", "10", "--bins", "12"];
const fresh = (name: string) => join(writeScratch(`${name}.mark`, "").replace(/\.mark$/, ""));
const linesOf = (path: string) => readFileSync(path, "utf8").trimEnd().split("\n");

interface TuneDocument {
  readonly rows: { readonly train: number; readonly valid: number; readonly test: number };
  readonly rule: string;
  readonly chosen: Record<string, unknown>;
  readonly settings: readonly {
    readonly setting: Record<string, unknown>;
    readonly label: string;
    readonly concordance: number;
    readonly withinNoise: boolean;
    readonly isChosen: boolean;
  }[];
  readonly runs: readonly { readonly seed: number; readonly scores: RunScores }[];
  readonly test: { readonly overall: { readonly n: number } };
}

/** Starts a sweep, waits for its first finished run, sends the signal. */
async function interrupt(args: readonly string[], results: string, signal: NodeJS.Signals) {
  const child = spawn(process.execPath, [join(root, "bin", "graduate.js"), ...args], { cwd: root });
  let stderr = "";
  child.stderr.on("data", (part) => {
    stderr += part;
  });
  const ended = new Promise<number | null>((resolve) => {
    child.on("exit", (code) => resolve(code));
  });
  while (child.exitCode === null && (statSync(results, { throwIfNoEntry: false })?.size ?? 0) === 0) {
    await new Promise((resolve) => setTimeout(resolve, 5));
  }
  child.kill(signal);
  return { code: await ended, stderr };
}

describe("graduate tune", () => {
  const whole = fresh("whole.jsonl");

  test("chooses by its rule on the validation rows, writes the model and scores it on the test rows once", () => {
    const model = fresh("chosen.model");
    const document = runJson<TuneDocument>([
      ...["tune", table, ...asked, ...sweep, "--results", whole, "--workers", "2"],
      ...["--out", model, "--plot", fresh("frontier.svg")],
    ]);
    expect(document.rows).toEqual({ train: 180, validation: 60, test: 60 });
    expect(document.settings.map(({ label }) => label)).toEqual([
      "kappa=0.5 hidden=2",
      "kappa=0.5 hidden=4",
      "slack=none hidden=2",
      "slack=none hidden=4",
    ]);
    const within = document.settings.filter(({ withinNoise }) => withinNoise);
    const best = Math.max(...within.map(({ concordance }) => concordance));
    const chosen = document.settings.find(({ isChosen }) => isChosen);
    expect([document.rule, chosen?.concordance, chosen?.setting]).toEqual([
      "calibrated",
      best,
      document.chosen,
    ]);
    expect(document.test.overall.n).toBe(60);
    const { predictor, training } = modelFromBytes(readFileSync(model), "chosen");
    expect(predictor.kind === "network" && "H" in predictor.network && predictor.network.H).toBe(
      document.chosen.hidden,
    );
    expect([training.steps, training.rows.test]).toEqual([10, 60]);
    expect(readFileSync(fresh("frontier.svg"), "utf8")).toMatch(/^<svg /);
    expect(linesOf(whole)).toHaveLength(4);
  });

  test("killed outright in the middle of a line and resumed, it has the results of one left alone", async () => {
    const results = fresh("killed.jsonl");
    const args = ["tune", table, ...asked, ...sweep, "--results", results, "--workers", "1"];
    await interrupt(args, results, "SIGKILL");
    const before = linesOf(results);
    expect(before.length).toBeLessThan(4);
    appendFileSync(results, before[0].slice(0, 70));
    const { code, stdout, stderr } = runCli(args);
    expect(code).toBe(0);
    expect(stderr).toContain("was cut off in the middle");
    expect(stderr).toContain(`${before.length} of 4 runs are in`);
    expect(linesOf(results).slice(0, before.length)).toEqual(before);
    // One worker or two, in one go or not: the same lines, to the last digit.
    expect([...linesOf(results)].sort()).toEqual([...linesOf(whole)].sort());
    expect(stdout).toMatch(/The 60 test rows had no part\s+in it\./);
    expect(stdout).toContain("rule (calibrated): the highest validation C-index among the settings");
    for (const line of stdout.split("\n")) expect([...line].length, line).toBeLessThanOrEqual(100);
  });

  test("Ctrl-C keeps what is there and says how to go on", async () => {
    const results = fresh("stopped.jsonl");
    const { code, stderr } = await interrupt(
      [
        "tune",
        table,
        ...asked,
        ...sweep,

        "--seeds",
        "1,2",
        "--results",
        results,
        "--workers",
        "1",
      ],
      results,
      "SIGINT",
    );
    expect(code).toBe(130);
    expect(stderr).toMatch(
      /interrupted with \d of 8 runs done; they are in .*stopped\.jsonl, and the same command/,
    );
    expect(linesOf(results).length).toBeLessThan(8);
  });

  test("other outcomes of the test rows change no score", () => {
    const other = writeTable("other-tests.csv", 1.5);
    const results = fresh("other.jsonl");
    const document = runJson<TuneDocument>([
      ...[
        "tune",
        other,
        ...asked,
        "--hidden",
        "2",
        "--sweep",
        "kappa=0.5,none",
        "--steps",
        "10",
        "--bins",
        "12",
      ],
      ...["--results", results],
    ]);
    const recorded = linesOf(whole).map((line) => JSON.parse(line) as { setting: object; scores: RunScores });
    const same = recorded.filter(({ setting }) => "hidden" in setting && setting.hidden === 2);
    const sorted = (all: readonly { scores: RunScores }[]) =>
      all.map(({ scores }) => JSON.stringify(scores)).sort();
    expect(sorted(document.runs)).toEqual(sorted(same));
    expect(same).toHaveLength(2);
  });
});

describe("a results file", () => {
  test("that no run was added to is not left behind", () => {
    const path = fresh("unused.jsonl");
    openRunResults(path, TUNE_LINES).close();
    expect(existsSync(path)).toBe(false);
  });

  test("with a damaged line inside is refused, and left as it is", () => {
    const path = writeScratch("damaged.jsonl", '{"tune":1,"key":"00"}\n');
    expect(() => openRunResults(path, TUNE_LINES)).toThrow("not a results file of tune");
    expect(readFileSync(path, "utf8")).toBe('{"tune":1,"key":"00"}\n');
  });

  test("that has one foreign line without an end is refused, not cut", () => {
    const path = writeScratch("notes.txt", "my notes");
    expect(() => openRunResults(path, TUNE_LINES)).toThrow("not a results file of tune");
    expect(readFileSync(path, "utf8")).toBe("my notes");
  });
});
