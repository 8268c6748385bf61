// A model as `graduate train` leaves it, its output layer solved on training and validation rows: discover, boost and
// certificates have its test rows alone.
import { readFileSync } from "node:fs";
import { beforeAll, describe, expect, test } from "vitest";
import { strangersOf } from "../data/other-rows.ts";
import { root, runCli, runJson, writeScratch } from "./run-cli.ts";

const gbsg = "test/tables/gbsg.csv";
const eyes = "test/tables/retinopathy.csv";
const small = ["--network", "linear", "--bins", "8", "--steps", "3", "--threads", "1", "--draws", "0"];
const solved = writeScratch("solved.model", "");
const whole = writeScratch("whole.model", "");
const twoEyes = writeScratch("two-eyes.model", "");
const search = ["--top", "2", "--cross", "1", "--min-rows", "30", "--min-events", "5"];
const BOTH = "the model has learnt from its training and validation rows";

interface Found {
  readonly rows: { readonly search: number; readonly confirm: number };
  readonly people?: { readonly search: number; readonly confirm: number };
  readonly which: { readonly search: string; readonly confirm: string };
  readonly warnings: readonly string[];
}

interface Repaired {
  readonly rows: { readonly fit: number; readonly held: number };
  readonly warnings: readonly string[];
}

function trainOn(table: string, out: string, more: readonly string[]): void {
  const { code, stderr } = runCli(["train", table, ...small, ...more, "--out", out]);
  if (code !== 0) throw new Error(stderr);
}

beforeAll(() => {
  const columns = ["--time", "rfstime", "--event", "status", "--drop", "pid", "--group", "grade = 3"];
  trainOn(gbsg, solved, columns);
  trainOn(gbsg, whole, [...columns, "--split", "0.8,0.2,0"]);
  // A boost asks for fifty people to fit on.
  const people = ["--id", "id", "--split", "0.3,0.1,0.6", "--group", "trt = 1"];
  trainOn(eyes, twoEyes, ["--time", "futime", "--event", "status", ...people]);
});

describe("a solved model on its own table", () => {
  test("discover searches one half of the test rows and confirms on the other", () => {
    const found = runJson<Found>(["discover", solved, gbsg, ...search]);
    expect(found.rows).toEqual({ search: 69, confirm: 69 });
    expect(found.which).toEqual({ search: "test rows", confirm: "test rows" });
    const sentence = `${BOTH}: one half of its 138 test rows is searched, and the other half confirms`;
    expect(found.warnings).toEqual([sentence]);
    const { code, stdout, stderr } = runCli(["discover", solved, gbsg, ...search]);
    expect(code).toBe(0);
    expect(stderr.replaceAll(/\s+/g, " ")).toContain(sentence);
    expect(stdout.replaceAll(/\s+/g, " ")).toMatch(/searched on 69 test rows .* on the other 69 test rows/);
  });

  test("boost fits on one half of the test rows, or on the share asked for, and judges on the others", () => {
    const { rows, warnings } = runJson<Repaired>(["boost", solved, gbsg]);
    expect(rows).toEqual({ fit: 69, held: 69 });
    expect(warnings[0]).toBe(`${BOTH}: one half of its 138 test rows fits, and the other half judges`);
    const share = runJson<Repaired>(["boost", solved, gbsg, "--fit", "0.75"]);
    expect(share.rows).toEqual({ fit: 103, held: 35 });
    expect(share.warnings[0]).toBe(
      `${BOTH}: a share of 0.75 of its 138 test rows fits, and the others judge`,
    );
  });

  test("with an id, halves are of people", () => {
    const found = runJson<Found>(["discover", twoEyes, eyes, ...search]);
    expect(found.people).toEqual({ search: 59, confirm: 60 });
    expect(found.warnings[0]).toBe(
      `${BOTH}: one half of the 119 people in its 238 test rows is searched, and the other half confirms`,
    );
    const { rows, warnings } = runJson<Repaired>(["boost", twoEyes, eyes]);
    expect(rows).toEqual({ fit: 118, held: 120 });
    expect(warnings[0]).toContain("one half of the 119 people in its 238 test rows fits");
  });

  test("certificates are of its test rows, and refused where a split names rows that it has seen", () => {
    interface Audited {
      readonly rows: object;
      readonly warnings: readonly string[];
      readonly certificates: { readonly groups: readonly { readonly basis: string }[] } | null;
    }
    const audit = ["audit", solved, gbsg, "--draws", "0"];
    const { rows, certificates } = runJson<Audited>([...audit, "--certify"]);
    expect(rows).toEqual({ which: "test rows", judged: 138 });
    expect(certificates?.groups[0].basis).toBe("training rows");
    const lines = Array.from({ length: 686 }, (_, row) => `${row + 1},${row % 5 === 0 ? "test" : "train"}`);
    const split = writeScratch("fifths.csv", `row,set\n${lines.join("\n")}\n`);
    const refused = runCli([...audit, "--split", split, "--certify"]);
    expect([refused.code, refused.stdout]).toEqual([1, ""]);
    expect(refused.stderr).toContain("the model has seen rows that are to certify it");
    const { warnings } = runJson<Audited>([...audit, "--split", split]);
    expect(warnings[0]).toMatch(
      /^the model has seen \d+ of the 138 test rows of the split: what it learnt by/,
    );
  });

  test("on rows of another table nothing is spent", () => {
    const other = writeScratch("others.csv", strangersOf(readFileSync(`${root}${gbsg}`, "utf8"), "age", 400));
    expect(runJson<Found>(["discover", solved, other, ...search])).toMatchObject({
      rows: { search: 200, confirm: 200 },
      which: { search: "rows", confirm: "rows" },
      warnings: [],
    });
    expect(runJson<Repaired>(["boost", solved, other])).toMatchObject({ rows: { fit: 200, held: 200 } });
  });
});

describe("a solved model without test rows", () => {
  test.each([
    ["discover", ["discover", whole, gbsg], "and the table has no others"],
    ["boost", ["boost", whole, gbsg], "and the table has no others"],
    ["boost with a share", ["boost", whole, gbsg, "--fit", "0.5"], "and the table has no others"],
    ["audit --certify", ["audit", whole, gbsg, "--draws", "0", "--certify"], "none is left to judge it by"],
  ])("%s is refused, with a way out", (_, args, says) => {
    const { code, stdout, stderr } = runCli(args);
    expect([code, stdout]).toEqual([1, ""]);
    const text = stderr.replaceAll(/\s+/g, " ");
    expect(text).toContain(says);
    expect(text).toMatch(/give (a table of )?rows it has not seen/);
  });

  test("the audit is refused too; all rows are judged where that is asked for, with a warning", () => {
    const refused = runCli(["audit", whole, gbsg, "--draws", "0"]);
    expect([refused.code, refused.stdout]).toEqual([1, ""]);
    expect(refused.stderr).toContain("--all-rows");
    const all = ["audit", whole, gbsg, "--draws", "0", "--all-rows"];
    const { warnings } = runJson<{ warnings: string[] }>(all);
    expect(warnings).toEqual([
      "the model was trained on this table: of the rows it has seen, what it learnt by heart will look right",
    ]);
    const certified = runCli([...all, "--certify"]);
    expect(certified.stderr).toContain("the model has seen rows that are to certify it");
  });

  test("a part of its table is said to have rows that it knows", () => {
    const rows = readFileSync(`${root}${gbsg}`, "utf8").split("\n").slice(0, 401);
    const part = writeScratch("part.csv", `${rows.join("\n")}\n`);
    const { warnings } = runJson<{ warnings: string[] }>(["audit", solved, part, "--draws", "0"]);
    expect(warnings[0]).toMatch(
      /^the model has learnt from about \d+ of these 400 rows, and nothing says which/,
    );
    const repair = runCli(["boost", solved, part]);
    expect([repair.code, repair.stdout]).toEqual([1, ""]);
    expect(repair.stderr.replaceAll(/\s+/g, " ")).toContain("of these 400 rows, and nothing says which");
  });
});

test("a file of an earlier version was not solved: its validation rows are searched, and fit", () => {
  const old = "test/files/v0.1.0/graduate.model";
  const { which, warnings } = runJson<Found>(["discover", old, gbsg, ...search]);
  expect(which).toEqual({ search: "validation rows", confirm: "test rows" });
  expect(warnings[0]).toContain("validation rows are searched");
  expect(runJson<Repaired>(["boost", old, gbsg]).warnings[0]).toContain("rows that it has not learnt from");
});
