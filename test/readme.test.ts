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
