// `graduate train --ensemble` and the commands that take its model. A linear network on a short table keeps it quick.
import { spawn } from "node:child_process";
import { existsSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { beforeAll, describe, expect, test } from "vitest";
import { checkpointFromBytes } from "../../src/files/model/checkpoint-file.ts";
import { root, runCli, runJson, writeScratch } from "./run-cli.ts";

const table = "test/tables/gbsg.csv";
const request = [
  "train",
  table,
  ...["--time", "rfstime", "--event", "status", "--drop", "pid", "--group", "grade = 3"],
  ...["--network", "linear", "--bins", "12", "--threads", "1"],
];
const scratch = (name: string) => writeScratch(name, "");
const model = scratch("ensemble.model");
const report = scratch("ensemble.html");

interface Trained {
  readonly ensemble?: number;
  readonly steps: number;
  readonly multipliers: unknown;
  readonly verdict: readonly { readonly validation: number | null }[];
  readonly test: { readonly overall: { readonly n: number; readonly concordance: number } };
}

describe("graduate train --ensemble", () => {
  let printed = "";
  let trained: Trained;
  beforeAll(() => {
    const asked = [...request, "--steps", "30", "--ensemble", "3", "--out", model];
    const { code, stdout } = runCli([...asked, "--report", report, "--replicates", "0", "--draws", "20"]);
    expect(code).toBe(0);
    printed = stdout;
    trained = runJson<Trained>([...asked, "--draws", "0"]);
  });

  test("says how many runs there were, on how many rows, and leaves the validation column out", () => {
    expect(printed).toMatch(/^graduate: the mean of 3 runs, 90 steps in all on 548 training rows in/);
    expect(printed.split("\n").find((line) => line.startsWith("group "))).not.toContain("validation");
    expect(trained).toMatchObject({ ensemble: 3, steps: 90, multipliers: null });
    expect(trained.test.overall.n).toBe(138);
  });

  test("audit judges its test rows, with the same score", () => {
    const { code, stdout, stderr } = runCli(["audit", model, table, "--draws", "0", "--json"]);
    expect([code, stderr]).toEqual([0, expect.stringContaining("only its 138 test rows are judged")]);
    expect(JSON.parse(stdout).overall.concordance).toBe(trained.test.overall.concordance);
  });

  test("the report names the runs and not a list of objects", () => {
    const page = readFileSync(report, "utf8");
    expect(page).toContain("the mean of 3 runs of 90 steps in all");
    expect(page).toContain("<dt>network.base.members</dt><dd>3</dd>");
    expect(page).not.toContain("[object Object]");
    expect(page).toContain("</b>rows to learn from, not audited");
  });

  test("export writes it, and predict gives a row a person", () => {
    const onnx = scratch("ensemble.onnx");
    expect(runCli(["export", model, "--onnx", onnx]).code).toBe(0);
    expect(existsSync(onnx)).toBe(true);
    expect(runCli(["predict", model, table]).stdout.trimEnd().split("\n")).toHaveLength(687);
  });

  test("boost fits on none of the rows it learnt from, whether the split is drawn again or given", () => {
    const split = writeScratch(
      "ensemble-split.csv",
      `row,set\n${Array.from({ length: 686 }, (_, k) => `${k + 1},${k < 400 ? "train" : k < 550 ? "valid" : "test"}`).join("\n")}\n`,
    );
    const boosted = (extra: readonly string[]) =>
      runJson<{ rows: { fit: number; held: number } }>(["boost", model, table, ...extra]).rows;
    expect(boosted([])).toEqual({ fit: 69, held: 69 });
    expect(boosted(["--split", split])).toEqual({ fit: 68, held: 68 });
  });

  test("of Cox models is refused", () => {
    const { code, stderr } = runCli([...request, "--ensemble", "2", "--method", "cox"]);
    expect([code, stderr]).toEqual([1, expect.stringContaining("an ensemble is made of networks")]);
  });

  test("Ctrl-C in its last run leaves a checkpoint, from which it ends with the same model", async () => {
    const [whole, resumed, checkpoint] = ["whole", "resumed", "stopped"].map((name) =>
      scratch(`ensemble-${name}`),
    );
    // On two threads two runs are made side by side and the third by itself, with a network large enough that it is
    // still going when the signal arrives.
    const network = ["--network", "anchored", "--hidden", "32", "--threads", "2"];
    const asked = [...request, ...network, "--steps", "150", "--ensemble", "3"];
    expect(runCli([...asked, "--out", whole]).code).toBe(0);
    const child = spawn(
      process.execPath,
      [join(root, "bin/graduate.js"), ...asked, "--checkpoint", checkpoint],
      { cwd: root },
    );
    let stderr = "";
    child.stderr.on("data", (chunk) => {
      stderr += chunk;
      if (stderr.includes("run 3 of 3: step 25/") && !child.killed) child.kill("SIGINT");
    });
    const code = await new Promise((resolve) => child.on("close", resolve));
    expect([code, stderr]).toEqual([
      130,
      expect.stringMatching(/interrupted at step \d+ of run 3; the same/),
    ]);
    expect(stderr).not.toContain("the mean of 3 runs");
    expect(checkpointFromBytes(readFileSync(checkpoint), "stopped").members).toHaveLength(2);
    const again = runCli([...asked, "--resume", checkpoint, "--out", resumed]);
    expect([again.code, again.stderr]).toEqual([0, expect.not.stringContaining("run 1 of 3")]);
    expect(readFileSync(resumed).equals(readFileSync(whole))).toBe(true);
    for (const other of [
      [...asked.slice(0, -1), "4"],
      [...request, "--steps", "151", "--ensemble", "3"],
      [...request, "--steps", "150"],
    ]) {
      const refused = runCli([...other, "--resume", checkpoint]);
      expect([refused.code, refused.stderr]).toEqual([1, expect.stringContaining("belongs to another run")]);
    }
  });
});
