// A table as a clinic writes it: dates for times, words for events, decimal commas, holes. One model from it, used by
// every command that takes one.
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { createRandom } from "../../src/core/random.ts";
import { modelFromBytes } from "../../src/files/model/model-file.ts";
import { runCli } from "./run-cli.ts";

const folder = mkdtempSync(join(tmpdir(), "graduate-dates-"));
afterAll(() => rmSync(folder, { recursive: true }));

const DAY = 86_400_000;
const iso = (day: number) => new Date(day * DAY).toISOString().slice(0, 10);

/** The same people with dates, words and commas, and with numbers. */
function writeTables(): void {
  const random = createRandom(7);
  const clinic = ['start,end,vital,age,"bmi"'];
  const plain = ["days,died,age,bmi"];
  for (let row = 0; row < 400; row++) {
    const age = 30 + random.integer(50);
    const bmi = (18 + 15 * random.uniform()).toFixed(1);
    const death = Math.ceil((-Math.log(1 - random.uniform()) * 30_000) / age);
    const end = 100 + random.integer(900);
    const days = Math.min(death, end);
    const start = 15_000 + random.integer(1000);
    const hole = row % 4 === 0;
    clinic.push(
      `${iso(start)},${iso(start + days)},${death <= end ? "Dead" : "alive"},${age},${hole ? "" : `"${bmi.replace(".", ",")}"`}`,
    );
    plain.push(`${days},${death <= end ? 1 : 0},${age},${hole ? "" : bmi}`);
  }
  writeFileSync(join(folder, "clinic.csv"), `${clinic.join("\n")}\n`);
  writeFileSync(join(folder, "plain.csv"), `${plain.join("\n")}\n`);
}

const OUTCOME = ["--time", "end", "--origin", "start", "--event", "vital", "--decimal", "comma"];
const run = (...args: string[]) => runCli(args, "", folder);

beforeAll(() => {
  writeTables();
  const trained = run("train", "clinic.csv", ...OUTCOME, "--method", "cox", "--out", "clinic.model");
  expect(trained.code).toBe(0);
  expect(trained.stderr).toContain("vital is read as dead = event, alive = censored");
  expect(trained.stderr).toContain("missing cells: bmi 25 % (100 of 400)");
});

describe("dates as times", () => {
  test("give the fit that days give", () => {
    const dated = run("cox", "clinic.csv", ...OUTCOME, "--json");
    const plain = run("cox", "plain.csv", "--time", "days", "--event", "died", "--json");
    const message = "vital is read as dead = event, alive = censored";
    const { warnings, findings, ...fit } = JSON.parse(dated.stdout);
    expect(warnings).toEqual([message]);
    expect(findings).toMatchObject([{ code: "event.values", level: "note", column: "vital", message }]);
    expect(fit).toEqual({ ...JSON.parse(plain.stdout), warnings: undefined, findings: undefined });
    const km = (args: readonly string[]) => JSON.parse(run("km", ...args, "--json").stdout);
    const { findings: told, ...curves } = km(["clinic.csv", ...OUTCOME]);
    expect(told).toEqual(findings);
    expect(curves).toEqual({
      ...km(["plain.csv", "--time", "days", "--event", "died"]),
      findings: undefined,
    });
  });

  test("are stored in the model, for audit, discover and boost", () => {
    const model = modelFromBytes(readFileSync(join(folder, "clinic.model")), "clinic.model");
    expect(model.columns).toEqual({ time: "end", event: "vital", origin: "start" });
    expect(model.encoder.columns.map(({ column }) => column)).toEqual(["age", "bmi"]);
    for (const command of ["audit", "discover", "boost"]) {
      const { code, stderr } = run(command, "clinic.model", "clinic.csv", "--decimal", "comma");
      expect({ command, code, stderr: code === 0 ? "" : stderr }).toEqual({ command, code: 0, stderr: "" });
    }
  });

  test("describe says how they were read", () => {
    const { stdout } = run(
      "describe",
      "clinic.csv",
      "--time",
      "end",
      "--origin",
      "start",
      "--event",
      "vital",
    );
    expect(stdout).toContain("time: days from start to end\nevent: dead = event, alive = censored\n");
    expect(stdout).toMatch(/number\.comma: bmi is written with decimal commas in \d+ of 300 cells/);
  });

  test("curves of another program take them too", () => {
    const lines = ["start,end,event,S1,S2"];
    for (let row = 0; row < 40; row++) {
      lines.push(`${iso(row)},${iso(row + 1 + (row % 9))},${row % 2 ? "yes" : "no"},0.8,0.5`);
    }
    writeFileSync(join(folder, "curves.csv"), `${lines.join("\n")}\n`);
    const args = ["--curves", "curves.csv", "--time", "end", "--origin", "start", "--horizon", "10"];
    const { code, stdout, stderr } = run("audit", ...args, "--draws", "0", "--json");
    expect(code).toBe(0);
    expect(stderr).toContain("event is read as yes = event, no = censored");
    expect(JSON.parse(stdout).rows.judged).toBe(40);
  });
});

describe("cells to be predicted", () => {
  test("outside the training range, and missing, are warned of with counts", () => {
    writeFileSync(join(folder, "new.csv"), 'age,bmi\n145,"21,5"\n50,\n55,"22,5"\n');
    const { code, stdout, stderr } = run("predict", "clinic.model", "new.csv", "--decimal", "comma");
    expect(code).toBe(0);
    expect(stdout.trim().split("\n")).toHaveLength(4);
    expect(stderr.replace(/\n {2}/g, " ")).toMatch(
      /age is outside what training had, 30 to 79, in 1 of 3 rows \(row 1: 145\): these curves are guesses\n/,
    );
    expect(stderr).toMatch(/bmi is missing in 1 of 3 rows: the training median, [\d.]+, stands in\n/);
  });
});
