// Two eyes a patient through the commands: refused without a word about it, kept together with --id.
import { readFileSync } from "node:fs";
import { describe, expect, test } from "vitest";
import { root, runCli, runJson, writeScratch } from "./run-cli.ts";

const table = "test/tables/retinopathy.csv";
const outcome = ["--time", "futime", "--event", "status"];
const quick = [...outcome, "--method", "cox", "--draws", "40"];
const ids = readFileSync(`${root}${table}`, "utf8")
  .trim()
  .split("\n")
  .slice(1)
  .map((line) => line.split(",")[0]);
const model = writeScratch("eyes.model", "");
const sets = (setOf: (row: number) => string) =>
  `row,set\n${ids.map((_, row) => `${row + 1},${setOf(row)}`).join("\n")}\n`;

describe("several rows a person", () => {
  test.each([
    ["train", ["train", table, ...quick]],
    ["tune", ["tune", table, ...outcome, "--results", writeScratch("none.jsonl", "")]],
    ["compare", ["compare", table, ...outcome, "--methods", "cox,nll", "--steps", "2"]],
  ])("%s refuses without --id, and says both ways out", (_, args) => {
    const { code, stdout, stderr } = runCli(args);
    expect([code, stdout]).toEqual([1, ""]);
    const text = stderr.replaceAll(/\s+/g, " ");
    expect(text).toContain("id identifies 197 patients or groups with several rows each");
    expect(text).toContain(
      "--id id keeps the rows of a person together; --rows-are-independent takes every row",
    );
  });

  test("train with --id: people in each set; the audit knows them again, by person", () => {
    const trained = runJson<{ people: object; warnings: string[] }>([
      "train",
      table,
      ...quick,
      "--id",
      "id",
      "--out",
      model,
    ]);
    expect(trained.people).toEqual({ train: 118, validation: 39, test: 40 });
    const audited = runJson<{
      rows: { which: string; judged: number };
      warnings: string[];
      certificates: { groups: { exact: number | null; tight: number | null }[] };
    }>(["audit", model, table, "--draws", "40", "--certify", "0.05"]);
    expect(audited.rows).toEqual({ which: "test rows", judged: 80 });
    expect(audited.warnings[1]).toMatch(
      /^80 rows of 40 people: noise floor, intervals, tight bounds and the/,
    );
    expect(audited.certificates.groups[0].exact).toBeNull();
    expect(audited.certificates.groups[0].tight).not.toBeNull();
  });

  test("rows taken as independent: the audit by person says how many judged eyes have their fellow in training", () => {
    const path = writeScratch("rows.model", "");
    const args = ["train", table, ...quick, "--rows-are-independent", "--out", path];
    const trained = runJson<{ people?: object; warnings: string[] }>(args);
    expect(trained.people).toBeUndefined();
    expect(trained.warnings.join()).toContain("taken as independent, as asked");
    const audited = runJson<{ warnings: string[] }>(["audit", path, table, "--id", "id", "--draws", "0"]);
    expect(audited.warnings[1]).toMatch(
      /^\d+ of 79 judged rows belong to people with other rows in training or validation/,
    );
  });

  test("discover and boost divide people; a table without the ids is said to be taken by row", () => {
    const curves = writeScratch("eye-curves.csv", "");
    expect(runCli(["predict", model, table, "--out", curves]).code).toBe(0);
    const found = runJson<{
      people: { search: number; confirm: number };
      designEffect: number;
      columns: string[];
    }>([
      "discover",
      "--curves",
      curves,
      table,
      ...outcome,
      "--horizon",
      "75",
      "--id",
      "id",
      "--min-rows",
      "40",
      "--top",
      "2",
    ]);
    expect(found.people.search + found.people.confirm).toBe(197);
    expect(found.designEffect).toBeGreaterThanOrEqual(1);
    expect(found.columns).not.toContain("id");
    const repaired = runCli([
      "boost",
      "--curves",
      curves,
      table,
      ...outcome,
      "--horizon",
      "75",
      "--id",
      "id",
      "--group",
      "trt = 1",
      "--json",
    ]);
    const { rows } = JSON.parse(repaired.stdout) as { rows: { fit: number; held: number } };
    expect([rows.fit % 2, rows.held % 2, rows.fit + rows.held]).toEqual([0, 0, 394]);
    const bare = readFileSync(`${root}${table}`, "utf8").replaceAll(/^[^,]*,/gm, "");
    const { warnings } = runJson<{ warnings: string[] }>([
      "audit",
      model,
      writeScratch("bare.csv", bare),
      "--draws",
      "0",
    ]);
    // The same people, known by their cells.
    expect(warnings).toEqual([
      "the model was trained on this table: only its 80 test rows are judged",
      "the model was trained with --id id, which the table does not have: rows are taken as independent",
    ]);
  });

  test("what boost writes knows whose rows they are, and the audit it prints goes by person", () => {
    const out = writeScratch("repaired.csv", "");
    const curves = writeScratch("all-eyes.csv", "");
    expect(runCli(["predict", model, table, "--out", curves]).code).toBe(0);
    const asked = ["--curves", curves, table, ...outcome, "--horizon", "75", "--id", "id"];
    const { code, stdout } = runCli(["boost", ...asked, "--group", "trt = 1", "--out", out]);
    expect(code).toBe(0);
    expect(stdout).toMatch(/audit --curves .*repaired\.csv --group "set = test" --id person\n/);
    const lines = readFileSync(out, "utf8").trim().split("\n");
    expect(lines[0].endsWith(",bin,event,set,person")).toBe(true);
    const written = lines.slice(1).map((line) => line.slice(line.lastIndexOf(",") + 1));
    const known = new Map<string, string>();
    for (const [row, person] of written.entries()) known.set(ids[row], known.get(ids[row]) ?? person);
    expect(written).toEqual(ids.map((id) => known.get(id)));
    expect(new Set(written).size).toBe(197);
  });

  test("a split from a file that tears a patient apart is refused by name; one that does not is taken", () => {
    const torn = writeScratch(
      "torn.csv",
      sets((row) => ["train", "valid", "test"][row % 3]),
    );
    const refused = runCli(["train", table, ...quick, "--id", "id", "--split", torn]);
    expect(refused.code).toBe(1);
    expect(refused.stderr.replaceAll(/\s+/g, " ")).toMatch(
      /the split puts rows of one person into different sets: id 5 \(row 1 train, row 2 validation\), .* and \d+ more/,
    );
    const whole = writeScratch(
      "whole.csv",
      sets((row) => ["train", "valid", "test"][Number(ids[row]) % 3]),
    );
    const compared = runJson<{ splits: { people: object }[]; test: string }>([
      "compare",
      table,
      ...outcome,
      "--methods",
      "cox,nll",
      "--steps",
      "2",
      "--replicates",
      "100",
      "--id",
      "id",
      "--split",
      whole,
    ]);
    expect(compared.splits[0].people).toBeDefined();
  });

  test("a second --id, and an id that is not there for every row", () => {
    expect(runCli(["train", table, ...quick, "--id", "id", "--id", "age"]).stderr).toContain(
      "expected one column",
    );
    const holes = readFileSync(`${root}${table}`, "utf8").replace(/\n5,/, "\n,");
    const { stderr, code } = runCli(["train", writeScratch("holes.csv", holes), ...quick, "--id", "id"]);
    expect(code).toBe(1);
    expect(stderr).toContain("no id in row 1");
  });
});
