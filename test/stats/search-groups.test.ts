// The search against a slow twin that lists every candidate's rows.
import { describe, expect, test } from "vitest";
import { createRandom } from "../../src/core/random.ts";
import { type CellColumn, cutColumn } from "../../src/data/candidate-groups.ts";
import { measureExcess, sumTotals, tallyBlocks } from "../../src/stats/excess-events.ts";
import { type FoundTerm, isMember, searchGroups } from "../../src/stats/search-groups.ts";
import { randomCohort } from "./simulated-cohort.ts";

const N = 240;
const random = createRandom(21);
const { curves, binned } = randomCohort(N, 12, 9);
const blocks = [
  { first: 1, last: 4 },
  { first: 5, last: 12 },
];
const totals = tallyBlocks(curves, binned, blocks);

function cut(cells: number, values: readonly Float64Array[]): CellColumn[] {
  return values.flatMap(
    (column, k) => cutColumn({ type: "number", name: `x${k}`, values: column }, { cells }) ?? [],
  );
}
const values = [
  Float64Array.from({ length: N }, () => random.normal()),
  Float64Array.from({ length: N }, () => (random.uniform() < 0.2 ? Number.NaN : random.integer(3))),
  Float64Array.from({ length: N }, () => random.uniform() ** 3),
];
const columns = { alone: cut(6, values), crossed: cut(4, values) };
const options = { maxCross: 2, minRows: 15, minEvents: 3, keep: 400 };

interface Listed {
  readonly terms: readonly FoundTerm[];
  readonly score: number;
}

function listAll(maxCross: number): Listed[] {
  const { alone, crossed } = columns;
  const D = crossed.length;
  const sets: { terms: readonly FoundTerm[]; kind: number }[] = [{ terms: [], kind: 1 }];
  alone.forEach(({ runs }, column) => {
    for (const run of runs) sets.push({ terms: [{ column, ...run }], kind: runs.length * alone.length });
  });
  for (let a = 0; a < D && maxCross > 1; a++) {
    for (let b = a + 1; b < D; b++) {
      const kind = (crossed[a].runs.length * crossed[b].runs.length * D * (D - 1)) / 2;
      for (const outer of crossed[a].runs) {
        for (const inner of crossed[b].runs)
          sets.push({
            terms: [
              { column: a, ...outer },
              { column: b, ...inner },
            ],
            kind,
          });
      }
    }
  }
  return sets.flatMap(({ terms, kind }) => {
    const rows = Array.from({ length: N }, (_, row) => row).filter((row) => isMember(row, terms, columns));
    const sums = sumTotals(totals, rows);
    const most = Math.max(sums[0] + sums[1], sums[2] + sums[3]);
    if (rows.length < options.minRows || most < options.minEvents) return [];
    return [{ terms, score: -measureExcess(sums, 2).logP - Math.log(kind) }];
  });
}

describe("searchGroups", () => {
  const listed = listAll(2).sort((a, b) => b.score - a.score);

  test("measures every candidate of one and two columns", () => {
    expect(searchGroups(totals, columns, options).candidates).toBe(listed.length);
    expect(searchGroups(totals, columns, { ...options, maxCross: 1 }).candidates).toBe(listAll(1).length);
  });

  test.each([1, 5, 400])("the best %i are the slow twin's", (keep) => {
    const { best } = searchGroups(totals, columns, { ...options, keep });
    expect(best).toHaveLength(Math.min(keep, listed.length));
    best.forEach(({ score, terms }, k) => {
      expect(score).toBeCloseTo(listed[k].score, 9);
      const same = listed
        .filter((one) => Math.abs(one.score - score) < 1e-9)
        .map((one) => JSON.stringify(one.terms));
      expect(same).toContain(JSON.stringify(terms));
    });
  });

  test("three columns: within the best crosses, scored as a cross of three", () => {
    const { best } = searchGroups(totals, columns, { ...options, maxCross: 3, keep: 2000 });
    const triples = best.filter(({ terms }) => terms.length === 3);
    expect(triples.length).toBeGreaterThan(0);
    for (const { terms, score } of triples.slice(0, 50)) {
      const rows = Array.from({ length: N }, (_, row) => row).filter((row) => isMember(row, terms, columns));
      const kind = terms.reduce((product, { column }) => product * columns.crossed[column].runs.length, 1);
      expect(score).toBeCloseTo(-measureExcess(sumTotals(totals, rows), 2).logP - Math.log(kind), 9);
    }
  });
});
