// docs/results/certificates.md is what its page makes of the committed simulation, and the simulation keeps what is
// promised.
import { readFileSync } from "node:fs";
import { expect, test } from "vitest";
import { committedLines, STUDY_PAGES } from "../../src/commands/studies.ts";

const root = new URL("../../../", import.meta.url);

interface Cell {
  readonly n: number;
  readonly distance: number;
  readonly basis: string;
  readonly audits: number;
  readonly censored: number;
  readonly exact: { readonly covered: number };
  readonly exactPopulation: { readonly covered: number };
  readonly tight: { readonly covered: number };
}

const cells = readFileSync(new URL("paper/certificates.jsonl", root), "utf8")
  .split("\n")
  .filter(Boolean)
  .map((line) => JSON.parse(line) as Cell);

test("docs/results/certificates.md is made from paper/certificates.jsonl", () => {
  expect(STUDY_PAGES.certificates(committedLines("certificates"))).toBe(
    readFileSync(new URL("docs/results/certificates.md", root), "utf8"),
  );
});

test("every size and distance was audited a thousand times, at least four in five censored", () => {
  for (const basis of ["training rows", "audited rows"]) {
    for (const n of [50, 200, 800, 5000]) {
      const own = cells.filter((cell) => cell.basis === basis && cell.n === n);
      expect(own.map(({ distance }) => distance)).toEqual([0, 0.02, 0.04]);
      for (const { audits, censored } of own) {
        expect(audits).toBe(1000);
        expect(censored).toBeGreaterThan(0.8);
        expect(censored).toBeLessThan(0.85);
      }
    }
  }
});

test("the bounds of all groups together hold as often as asked", () => {
  const least = (share: number, audits: number) =>
    audits * share - 3 * Math.sqrt(audits * share * (1 - share));
  for (const { audits, exact, exactPopulation, tight } of cells) {
    expect(exact.covered).toBeGreaterThanOrEqual(least(0.95, audits));
    expect(exactPopulation.covered).toBeGreaterThanOrEqual(least(0.95, audits));
    expect(tight.covered).toBeGreaterThanOrEqual(0.92 * audits);
  }
});
