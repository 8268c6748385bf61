// The demo as `npm run demo` gives it, with fewer steps: what it prints where stdout is a pipe, and what it leaves.
import { mkdtempSync, readdirSync, readFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { expect, test } from "vitest";
import { readModel } from "../../src/node/io/model-file.ts";
import { runFresh } from "./run-cli.ts";

test("the demo describes, trains, audits and writes the report", async () => {
  const folder = join(mkdtempSync(join(tmpdir(), "demo-")), "new");
  const { code, stdout } = runFresh(["demo", "--out", folder, "--steps", "10"]);
  expect(code).toBe(0);
  const report = join(folder, "graduate-demo-report.html");
  for (const part of [
    "4028 rows",
    "seqno",
    "12 of 12 groups met on the training and validation rows",
    "on the test rows:",
    "12 groups",
    `\n  ${report}\n`,
  ]) {
    expect(stdout).toContain(part);
  }
  // Every line but those that hold a path fits.
  const wide = stdout.split("\n").filter((line) => [...line].length > 100 && !line.includes(folder));
  expect(wide).toEqual([]);
  expect(readdirSync(folder).sort()).toEqual(["graduate-demo-report.html", "nwtco.model"]);
  expect(readFileSync(report, "utf8").slice(0, 15).toLowerCase()).toBe("<!doctype html>");
  const model = await readModel(join(folder, "nwtco.model"));
  expect([model.method, model.training.verdict.length]).toEqual(["graduate", 12]);
});
