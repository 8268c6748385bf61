// Cox with natural splines, stratified by groups or with a term for each, against R's coxph(ns(x, 4), strata()).
import { readFileSync } from "node:fs";
import { readOutcomes, readTable, type Table, type TimeGrid } from "graduate-survival/data";
import { tableSourceFromPath } from "graduate-survival/node";
import { beforeAll, describe, expect, test } from "vitest";
import { checkoutFile } from "../../src/runs/checkout.ts";
import { fitSplineCox, type SplineCox } from "../../src/studies/cox-strata.ts";

const oracle = JSON.parse(readFileSync(checkoutFile("test/oracles/cox/spline-strata.json"), "utf8")) as {
  readonly coefficients: readonly number[];
  readonly logLikelihood: readonly [number, number, number];
  readonly rows: readonly number[];
  readonly times: readonly number[];
  readonly strata: readonly (readonly [number, number])[];
  readonly curves: readonly (readonly number[])[];
  readonly curvesOfTerms: readonly (readonly number[])[];
};
const features = ["age", "size", "nodes", "pgr", "er"];
const groups = ["meno = 1", "hormon = 1", "grade = 3"].map((expression) => ({
  name: expression,
  expression,
}));
const grid: TimeGrid = {
  T: oracle.times.length,
  edges: Float64Array.from([0, ...oracle.times]),
  kind: "quantile",
};

let table: Table;
let fit: (terms: typeof groups, strata: typeof groups) => SplineCox;
beforeAll(async () => {
  table = await readTable(await tableSourceFromPath(checkoutFile("test/tables/gbsg.csv")));
  const outcomes = readOutcomes(table, { time: "rfstime", event: "status" });
  const rows = Int32Array.from({ length: table.rows }, (_, row) => row);
  fit = (terms, strata) => fitSplineCox({ table, outcomes, rows, features, terms, strata });
});

/** Rows of curves, as far as they differ from R's. */
function largestGap({ predictCurves }: SplineCox, curves: readonly (readonly number[])[]): number {
  const { survival } = predictCurves(table, grid);
  const gaps = oracle.rows.flatMap((row, k) =>
    curves[k].map((value, t) => Math.abs(survival[row * grid.T + t] - value)),
  );
  expect(gaps).toHaveLength(16 * 7);
  return Math.max(...gaps);
}

describe("with a baseline for each stratum", () => {
  test("the coefficients of the same basis, and the likelihood of R's ns(), are R's", () => {
    const own = fit([], groups);
    expect(own.fit.names).toHaveLength(17);
    own.fit.coefficients.forEach((value, j) => {
      expect(Math.abs(value / oracle.coefficients[j] - 1)).toBeLessThan(1e-8);
    });
    for (const value of oracle.logLikelihood.slice(0, 2))
      expect(Math.abs(own.fit.logLikelihood / value - 1)).toBeLessThan(1e-11);
  });

  test("curves are those of R's survfit of ns() and strata(), in every stratum", () => {
    const own = fit([], groups);
    expect(own.strata.map(({ rows, events }) => [rows, events])).toEqual(oracle.strata);
    expect(new Set(own.placeRows(table)).size).toBe(8);
    expect(largestGap(own, oracle.curves)).toBeLessThan(1e-8);
  });
});

test("with a term for each group, curves are R's", () => {
  const own = fit(groups, []);
  expect(Math.abs(own.fit.logLikelihood / oracle.logLikelihood[2] - 1)).toBeLessThan(1e-11);
  expect(largestGap(own, oracle.curvesOfTerms)).toBeLessThan(1e-8);
});

test("where a stratum has no event, or nobody learnt from was in it, curves stay at 1", () => {
  const outcomes = readOutcomes(table, { time: "rfstime", event: "status" });
  const all = Int32Array.from({ length: table.rows }, (_, row) => row);
  const hormone = [{ name: "hormon", expression: "hormon = 1" }];
  const without = fitSplineCox({
    table,
    outcomes: { ...outcomes, event: outcomes.event.map((event, row) => (isTreated(row) ? 0 : event)) },
    rows: all,
    features,
    terms: [],
    strata: hormone,
  });
  expect(without.strata.map(({ events }) => events > 0)).toEqual([true, false]);
  expectOnes(without);
  const untreated = all.filter((row) => !isTreated(row));
  const unseen = fitSplineCox({ table, outcomes, rows: untreated, features, terms: [], strata: hormone });
  expect(new Set(unseen.placeRows(table))).toEqual(new Set([0, -1]));
  expectOnes(unseen);

  /** Of the treated, and of nobody else at the end. */
  function expectOnes({ predictCurves }: SplineCox) {
    const { survival } = predictCurves(table, grid);
    for (const row of all) {
      const own = survival.subarray(row * grid.T, (row + 1) * grid.T);
      expect(own.every((S) => S === 1)).toBe(isTreated(row));
    }
    const some = all.filter((row) => row % 50 === 3);
    const chosen = predictCurves(table, grid, some).survival;
    some.forEach((row, k) => {
      expect(chosen[k * grid.T + 6]).toBe(survival[row * grid.T + 6]);
    });
  }

  function isTreated(row: number): boolean {
    const column = table.columns.find(({ name }) => name === "hormon");
    return column?.type === "number" && column.values[row] === 1;
  }
});
