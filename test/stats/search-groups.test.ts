// The search against a slow twin that lists every candidate's rows.
import { describe, expect, test } from "vitest";
import { createRandom } from "../../src/core/random.ts";
import { type CellColumn, cutColumn } from "../../src/data/groups/candidate-groups.ts";
import { measureExcess, sumTotals, tallyBlocks } from "../../src/stats/search/excess-events.ts";
import {
  type FoundTerm,
  isMember,
  measureAgain,
  type SearchColumn,
  searchGroups,
} from "../../src/stats/search/search-groups.ts";
import { randomCohort } from "./simulated-cohort.ts";

const N = 240;
const random = createRandom(21);
const { curves, binned } = randomCohort(N, 12, 9);
const blocks = [
  { first: 1, last: 4 },
  { first: 5, last: 12 },
];
const totals = tallyBlocks(curves, binned, blocks);

function cut(cells: number, values: readonly Float64Array[]): (CellColumn & SearchColumn)[] {
  return values.flatMap((column, k) => {
    const one = cutColumn({ type: "number", name: `x${k}`, values: column }, { cells });
    if (one === null) return [];
    return [
      { ...one, bounds: Uint8Array.from(one.runs, (run) => (one.describe(run).type === "range" ? 2 : 1)) },
    ];
  });
}
const values = [
  Float64Array.from({ length: N }, () => random.normal()),
  Float64Array.from({ length: N }, () => (random.uniform() < 0.2 ? Number.NaN : random.integer(3))),
  Float64Array.from({ length: N }, () => random.uniform() ** 3),
];
const columns = { alone: cut(6, values), crossed: cut(4, values) };
const options = { maxCross: 2, minRows: 15, minEvents: 3, keep: 1000, minScore: Number.NEGATIVE_INFINITY };

interface Listed {
  readonly terms: readonly FoundTerm[];
  /** The columns, and by how many numbers the group is described. */
  readonly kind: string;
  readonly score: number;
}

const inTerms = (terms: readonly FoundTerm[]) =>
  Array.from({ length: N }, (_, row) => row).filter((row) => isMember(row, terms, columns));

/** By its definition: the runs described by as many numbers, times the sets of so many columns. */
function chargeOf(terms: readonly FoundTerm[]): { readonly bounds: number; readonly charge: number } {
  const D = columns.crossed.length;
  const cells = terms.length === 1 ? columns.alone : columns.crossed;
  const boundsOf = (column: SearchColumn, term: FoundTerm) =>
    column.bounds[column.runs.findIndex(({ first, last }) => first === term.first && last === term.last)];
  const each = terms.map((term) => boundsOf(cells[term.column], term));
  const bounds = each.reduce((sum, one) => sum + one, 0);
  const sets = [1, D, (D * (D - 1)) / 2, (D * (D - 1) * (D - 2)) / 6][terms.length];
  const count = (k: number, wanted: number): number => {
    if (k === terms.length) return wanted === 0 ? 1 : 0;
    return [1, 2].reduce((sum, own) => {
      // A column alone is cut finer: its tails count as in crosses, its ranges as they are.
      const counted = terms.length === 1 && own === 2 ? columns.alone : columns.crossed;
      const alike = counted[terms[k].column].bounds.filter((one) => one === own).length;
      return sum + alike * count(k + 1, wanted - own);
    }, 0);
  };
  const M = Math.max(1, sets * count(0, bounds));
  return { bounds, charge: Math.log(M) + Math.max(0, bounds - 1) * Math.LN2 };
}

function listAll(maxCross: number): Listed[] {
  const { alone, crossed } = columns;
  const every: (readonly FoundTerm[])[] = [[]];
  alone.forEach(({ runs }, column) => {
    for (const run of runs) every.push([{ column, ...run }]);
  });
  for (let a = 0; a < crossed.length && maxCross > 1; a++) {
    for (let b = a + 1; b < crossed.length; b++) {
      for (const outer of crossed[a].runs) {
        for (const inner of crossed[b].runs)
          every.push([
            { column: a, ...outer },
            { column: b, ...inner },
          ]);
      }
    }
  }
  return every.flatMap((terms) => {
    const rows = inTerms(terms);
    const sums = sumTotals(totals, rows);
    const most = Math.max(sums[0] + sums[1], sums[2] + sums[3]);
    if (rows.length < options.minRows || most < options.minEvents) return [];
    const { bounds, charge } = chargeOf(terms);
    const kind = `${terms.map(({ column }) => column).join(",")}: ${bounds}`;
    return [{ terms, kind, score: -measureExcess(sums, 2).logP - charge }];
  });
}

describe("searchGroups", () => {
  const listed = listAll(2).sort((a, b) => b.score - a.score);

  test("measures every candidate of one and two columns", () => {
    expect(searchGroups(totals, columns, options).candidates).toBe(listed.length);
    expect(searchGroups(totals, columns, { ...options, maxCross: 1 }).candidates).toBe(listAll(1).length);
  });

  test.each([1, 5, 1000])("the best %i of each kind are the slow twin's", (keep) => {
    const { best } = searchGroups(totals, columns, { ...options, keep });
    const kinds = [...new Set(listed.map(({ kind }) => kind))];
    const wanted = kinds
      .flatMap((kind) => listed.filter((one) => one.kind === kind).slice(0, keep))
      .sort((a, b) => b.score - a.score);
    expect(best).toHaveLength(wanted.length);
    best.forEach(({ score, terms }, k) => {
      expect(score).toBeCloseTo(wanted[k].score, 9);
      const same = listed
        .filter((one) => Math.abs(one.score - score) < 1e-9)
        .map((one) => JSON.stringify(one.terms));
      expect(same).toContain(JSON.stringify(terms));
    });
  });

  test("those with less than the least score are left out, and no others", () => {
    const minScore = listed[10].score;
    const { best } = searchGroups(totals, columns, { ...options, minScore: minScore + 1e-9 });
    expect(best.map(({ score }) => score.toFixed(9))).toEqual(
      listed.slice(0, best.length).map(({ score }) => score.toFixed(9)),
    );
    expect(listed[best.length].score).toBeLessThanOrEqual(minScore + 1e-9);
  });

  test("measured again, on the same sums and on halved expectations", () => {
    const { best } = searchGroups(totals, columns, { ...options, keep: 3 });
    const halved = { ...totals, values: totals.values.map((value, k) => (k % 7 < 2 ? value : value / 2)) };
    for (const group of best) {
      expect(measureAgain(group, totals, columns).score).toBeCloseTo(group.score, 8);
      const { terms, charge, score } = measureAgain(group, halved, columns);
      expect(score).toBeCloseTo(-measureExcess(sumTotals(halved, inTerms(terms)), 2).logP - charge, 9);
    }
  });

  test("three columns: within the best crosses, scored as a cross of three", () => {
    const { best } = searchGroups(totals, columns, { ...options, maxCross: 3 });
    const triples = best.filter(({ terms }) => terms.length === 3);
    expect(triples.length).toBeGreaterThan(0);
    for (const { terms, score } of triples.slice(0, 50)) {
      const each = terms.map(({ column, first, last }) => {
        const { runs, bounds } = columns.crossed[column];
        const own = bounds[runs.findIndex((run) => run.first === first && run.last === last)];
        return { own, alike: bounds.filter((one) => one === own).length };
      });
      const alike = each.reduce((product, one) => product * one.alike, 1);
      const more = each.reduce((sum, { own }) => sum + own, 0) - 1;
      const logP = measureExcess(sumTotals(totals, inTerms(terms)), 2).logP;
      expect(score).toBeCloseTo(-logP - Math.log(alike) - more * Math.LN2, 9);
    }
  });
});
