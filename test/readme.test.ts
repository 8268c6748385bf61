// The README's table repeats numbers of another page, which tests make anew from the runs. What was measured is on
// docs/results/README.md, which results.test.ts holds against the lines of the runs.
import { readFileSync } from "node:fs";
import { join } from "node:path";
import { describe, expect, test } from "vitest";
import { root } from "./cli/run-cli.ts";

const read = (path: string) => readFileSync(join(root, path), "utf8");
const readme = read("README.md");

/** Cells of the rows of every table in a text. */
function rowsOf(text: string): string[][] {
  return text
    .split("\n")
    .filter((line) => line.startsWith("| "))
    .map((line) =>
      line
        .split("|")
        .slice(1, -1)
        .map((cell) => cell.trim()),
    );
}

const numbersOf = (text: string) => text.match(/\d*\.\d+/g) ?? [];

describe("README", () => {
  test("audits of other programs' models: the numbers of docs/audit-any-model.md", () => {
    const shown = rowsOf(readme).filter((cells) => cells.length === 4 && /^\.\d{3}$/.test(cells[1]));
    const known = rowsOf(read("docs/audit-any-model.md")).filter(([, c]) => /^0\.\d{3}$/.test(c));
    expect(shown.length).toBe(5);
    expect(known.length).toBe(shown.length);
    for (const [k, [, c, everyone, histology]] of shown.entries()) {
      const [, knownC, knownEveryone, knownHistology] = known[k];
      expect(`0${c}`).toBe(knownC);
      expect(numbersOf(everyone)).toEqual(numbersOf(knownEveryone));
      expect(numbersOf(histology)).toEqual(numbersOf(knownHistology));
      expect(histology.includes("disagrees")).toBe(knownHistology.endsWith("disagrees"));
    }
  });
});

/** The README's evidence, cell by cell: the numbers of its own column and of its rival's. */
const evidence = rowsOf(readme).filter(([question]) => question.includes("?"));
const linesOf = <Line>(path: string) =>
  read(path)
    .trimEnd()
    .split("\n")
    .map((line) => JSON.parse(line) as Line);
const meanOf = (values: readonly number[]) => values.reduce((sum, value) => sum + value, 0) / values.length;
/** ".00119" */
const short = (value: number, digits: number) => value.toFixed(digits).replace(/^0/, "");

interface ErrorLine {
  readonly part: string;
  readonly rows: number;
  readonly strength: number;
  readonly system: string;
  readonly worstError: number;
  readonly protectedError: number;
  readonly ise: number;
}

describe("the README's evidence is what the lines of the runs say", () => {
  test("the groups are right: the worst group's error in points, and the error of single curves", () => {
    const lines = linesOf<ErrorLine>("paper/binding.jsonl").filter(
      ({ part, rows }) => part === "systems" && rows === 20_000,
    );
    const [, own, rival] = evidence[0];
    for (const [cell, system] of [
      [own, "held"],
      [rival, "cox with splines, stratified by three"],
    ] as const) {
      const runs = lines.filter((line) => line.system === system);
      expect(runs).toHaveLength(15);
      expect(numbersOf(cell)).toEqual([
        (100 * meanOf(runs.map(({ worstError }) => worstError))).toFixed(1),
        short(meanOf(runs.map(({ ise }) => ise)), 5),
      ]);
    }
  });

  test("a protected group is right: its error in points, and the error of single curves", () => {
    const lines = linesOf<ErrorLine>("paper/held-not-told.jsonl").filter(
      ({ rows, strength }) => rows === 20_000 && strength === 0.88,
    );
    const [, own, rival] = evidence[1];
    for (const [cell, system] of [
      [own, "held"],
      [rival, "free"],
    ] as const) {
      const runs = lines.filter((line) => line.system === system);
      expect(runs).toHaveLength(15);
      expect(numbersOf(cell)).toEqual([
        (100 * meanOf(runs.map(({ protectedError }) => protectedError))).toFixed(1),
        short(meanOf(runs.map(({ ise }) => ise)), 5),
      ]);
    }
  });

  test("people are ranked well: the page of the folds", () => {
    const cells = rowsOf(read("docs/results/folds.md"));
    const scoresOf = (wanted: string) => {
      const rows = cells.filter(([system]) => system === wanted);
      expect(rows).toHaveLength(2);
      const firstOf = (cell: string) => Number(numbersOf(cell)[0]);
      return [
        ...rows.map(([, harrell]) => short(firstOf(harrell), 4)),
        ...rows.map(([, , , brier]) => short(firstOf(brier), 4)),
      ];
    };
    const [, own, rival] = evidence[2];
    expect(numbersOf(own)).toEqual(scoresOf("default"));
    expect(numbersOf(rival)).toEqual(scoresOf("cox"));
  });
});

describe("the README is short", () => {
  const prose = readme.replaceAll(/```.*?```/gs, "");

  test("at most 900 words outside code", () => {
    expect(prose.split(/\s+/).filter((word) => word !== "").length).toBeLessThanOrEqual(900);
  });

  test("the first sentence is that of package.json", () => {
    const { description } = JSON.parse(read("package.json")) as { readonly description: string };
    expect(readme.startsWith(`# graduate\n\n${description}\n`)).toBe(true);
  });

  test("its version is that of package.json", () => {
    const { version } = JSON.parse(read("package.json")) as { readonly version: string };
    expect(readme).toContain(`graduate-survival, version ${version}:`);
  });
});
