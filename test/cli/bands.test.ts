// `graduate predict --bands` and `--lower-bound`: the columns they add, whose rows calibrate, and what is refused.
import { mkdtempSync, readFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { beforeAll, describe, expect, test } from "vitest";
import { runCli } from "./run-cli.ts";

const scratch = mkdtempSync(join(tmpdir(), "graduate-bands-"));
const inScratch = (name: string) => join(scratch, name);
const LUNG = "test/tables/lung.csv";
const model = inScratch("lung.model");

beforeAll(() => {
  const asked = ["--time", "time", "--event", "status", "--event-is", "2", "--features", "age,sex,ph.ecog"];
  const groups = ["--group", "women: sex = 2"];
  const trained = runCli(["train", LUNG, ...asked, ...groups, "--method", "cox", "--out", model]);
  expect(trained.stderr + trained.stdout).toContain("lung.model");
});

const cellsOf = (path: string) =>
  readFileSync(path, "utf8")
    .trimEnd()
    .split("\n")
    .map((line) => line.split(","));

describe("predict", () => {
  test("--bands adds both sides at the end, and --long two columns", () => {
    const out = inScratch("bands.csv");
    expect(
      runCli(["predict", model, LUNG, "--no-curves", "--at", "365", "--bands", "0.9", "--out", out]).code,
    ).toBe(0);
    const [titles, ...rows] = cellsOf(out);
    const last = ["median_lower", "risk_365_lower", "median_upper", "risk_365_upper"];
    expect(titles.slice(-4)).toEqual(last);
    const risk = titles.indexOf("risk_365");
    for (const row of rows) {
      expect(Number(row.at(-3))).toBeLessThan(Number(row[risk]));
      expect(Number(row.at(-1))).toBeGreaterThan(Number(row[risk]));
    }
    const long = runCli(["predict", model, LUNG, "--long", "--at", "100,365", "--bands"]).stdout.split("\n");
    expect(long[0].endsWith(",survival_lower,survival_upper")).toBe(true);
    expect(long[1].split(",").slice(-2).map(Number)[0]).toBeLessThan(Number(long[1].split(",")[2]));
  });

  test("--lower-bound is calibrated on the test rows of the model's own table, and says so", () => {
    const out = inScratch("bounds.csv");
    const bound = ["--lower-bound", "0.8", "--calibrate", LUNG];
    const { code, stderr } = runCli(["predict", model, LUNG, "--no-curves", ...bound, "--out", out]);
    expect(code).toBe(0);
    expect(stderr).toMatch(/the lower bound was calibrated on 46 rows with \d+ events/);
    const [titles, ...rows] = cellsOf(out);
    expect(titles.slice(-2)).toEqual(["bound_80", "bound_80_beyond"]);
    expect(rows.every((row) => Number(row.at(-2)) > 0 && ["0", "1"].includes(row.at(-1) ?? ""))).toBe(true);
  });

  test.each([
    [["--lower-bound"], "--lower-bound needs rows with outcomes that are new to the model"],
    [["--calibrate", LUNG], "--calibrate is for --lower-bound, which was not asked for"],
    [["--lower-bound", "--calibrate", LUNG, "--long"], "--long has one row a person and time"],
    [["--bands", "1.5"], "expected a number between 0 and 1"],
  ])("refuses %j", (options, message) => {
    const { code, stderr } = runCli(["predict", model, LUNG, ...options]);
    expect(code).not.toBe(0);
    expect(stderr.replace(/\s+/g, " ")).toContain(message);
  });
});
