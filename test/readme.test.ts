// The README's two tables repeat numbers of other pages: they are held against those pages, which tests make anew from
// the runs.
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

  test("simulated people: the worst group's error of docs/results/binding.md, in points", () => {
    const page = read("docs/results/binding.md");
    const worst = (title: string, system: string) => {
      const section = page.split(`## ${title}`)[1]?.split("\n## ")[0] ?? "";
      const [names, ...rows] = rowsOf(section);
      const cells = rows.find(([name]) => name === system) ?? [];
      return (100 * Number(cells[names.indexOf("A, worst told")]?.split(" ")[0])).toFixed(1);
    };
    const systems = ["cox", "0.1.0", "start", "trained", "held"];
    const shown = rowsOf(readme).filter((cells) => cells.length === 3 && /^\d\.\d$/.test(cells[1]));
    expect(shown.map(([, small, large]) => [small, large])).toEqual(
      systems.map((system) => [worst("4374 rows", system), worst("20000 rows", system)]),
    );
  });
});
