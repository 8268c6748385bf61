// Scores against the truth: a slow twin that holds everybody's curves at once, errors worked by hand, and what a Cox
// model misses.

import {
  ALL_GROUP,
  equalTimeGrid,
  findBin,
  findColumn,
  type Group,
  resolveGroups,
  type Table,
} from "graduate-survival/data";
import { coxCurvesOnGrid, fitCox } from "graduate-survival/models";
import { beforeAll, describe, expect, test } from "vitest";
import { type EyeCohort, type EyeSettings, simulateEye } from "../../src/eye/simulate.ts";
import { TERM_NAMES, TERMS } from "../../src/eye/survival.ts";
import { keepLastTruth, type PredictCurves, prepareTruth, scoreAgainstTruth } from "../../src/eye/truth.ts";

const T = 12;
const grid = equalTimeGrid(T, 4383);
const groups: Group[] = [
  ALL_GROUP,
  { name: "old", expression: "age >= 75" },
  { name: "malay", expression: "race = 'Malay'" },
];
const supports = [T, 9, 1];
// More than one chunk, the last one not full.
const settings: EyeSettings = { seed: 500, n: 10_500, level: 2, censoring: "dependent" };

/** Predictions of the rows in turn, from a function of person and bin. */
function predictInTurn(survivalOf: (row: number, t: number) => number): PredictCurves {
  let from = 0;
  return async (table) => {
    const survival = new Float64Array(table.rows * T);
    for (let i = 0; i < table.rows; i++)
      for (let t = 1; t <= T; t++) survival[i * T + t - 1] = survivalOf(from + i, t);
    from += table.rows;
    return { N: table.rows, T, survival };
  };
}

describe("on a fresh sample", () => {
  let cohort: EyeCohort;
  let truth: Float64Array; // [n,T]
  beforeAll(() => {
    cohort = simulateEye(settings);
    truth = cohort.trueSurvival(grid.edges.subarray(1));
  });
  const trueAt = (row: number, t: number) => truth[row * T + t - 1];

  test("the truth has no error, and its own concordance", async () => {
    const scores = await scoreAgainstTruth({
      settings,
      groups,
      supports,
      grid,
      predictCurves: predictInTurn(trueAt),
    });
    expect(scores.groups.map(({ A, B, ise }) => [A, B, ise])).toEqual(groups.map(() => [0, 0, 0]));
    expect(scores.concordance).toBe(scores.concordanceOfTruth);
    expect(scores.concordance).toBeGreaterThan(0.7);
    expect(scores.concordance).toBeLessThan(0.75);
  });

  test("the same error for everyone is A, B and the root of ISE", async () => {
    const { groups: scored } = await scoreAgainstTruth({
      settings,
      groups,
      supports,
      grid,
      predictCurves: predictInTurn((row, t) => trueAt(row, t) - 0.01 * t),
    });
    scored.forEach(({ A, B, ise }, g) => {
      const tau = supports[g];
      const expected = 0.01 * Math.sqrt(((tau + 1) * (2 * tau + 1)) / 6); // √ mean of t², t ≤ τ
      expect(A).toBeCloseTo(expected, 12);
      expect(B).toBeCloseTo(expected, 12);
      expect(Math.sqrt(ise)).toBeCloseTo(expected, 12);
    });
  });

  test("everyone at the group's mean: A is 0, B is not, pairs score 0", async () => {
    const mean = Float64Array.from({ length: T + 1 }, (_, t) => {
      let sum = 0;
      for (let row = 0; row < settings.n; row++) sum += t === 0 ? 1 : trueAt(row, t);
      return sum / settings.n;
    });
    const scores = await scoreAgainstTruth({
      settings,
      groups,
      supports,
      grid,
      predictCurves: predictInTurn((_, t) => mean[t]),
    });
    expect(scores.groups[0].A).toBeLessThan(1e-12);
    expect(scores.groups[0].B).toBeGreaterThan(0.1);
    expect(scores.concordance).toBe(0);
  });

  test("equal a slow twin", async () => {
    // Wrong in level, and differently for different people.
    const guess = (row: number, t: number) => trueAt(row, t) ** (0.7 + (row % 7) / 10);
    const prepared = prepareTruth({ settings, groups, supports, grid });
    const scores = await prepared.score(predictInTurn(guess));
    expect(await prepared.score(predictInTurn(guess))).toEqual(scores);
    resolveGroups(groups, cohort.table).forEach(({ rows }, g) => {
      const tau = supports[g];
      const byRisk = [...rows].sort((i, j) => trueAt(j, tau) - trueAt(i, tau));
      const fifths = [0, 1, 2, 3, 4].map((q) =>
        byRisk.filter((_, rank) => Math.floor((5 * rank) / rows.length) === q),
      );
      const bins = Array.from({ length: tau }, (_, t) => t + 1);
      const meanOver = <I>(items: ArrayLike<I>, value: (item: I) => number) =>
        Array.from(items).reduce((sum, item) => sum + value(item), 0) / items.length;
      const gap = (row: number, t: number) => guess(row, t) - trueAt(row, t);
      const A = Math.sqrt(meanOver(bins, (t) => meanOver(rows, (row) => gap(row, t)) ** 2));
      const squaredB = fifths.reduce(
        (sum, fifth) =>
          sum +
          (fifth.length / rows.length) * meanOver(bins, (t) => meanOver(fifth, (row) => gap(row, t)) ** 2),
        0,
      );
      const ise = meanOver(rows, (row) => meanOver(bins, (t) => gap(row, t) ** 2));
      const scored = scores.groups[g];
      expect(scored.n).toBe(rows.length);
      expect(Math.abs(scored.A - A)).toBeLessThan(1e-12);
      expect(Math.abs(scored.B - Math.sqrt(squaredB))).toBeLessThan(1e-12);
      expect(Math.abs(scored.ise - ise)).toBeLessThan(1e-12);
      expect(scored.A).toBeLessThan(scored.B);
      expect(scored.B).toBeLessThan(Math.sqrt(scored.ise));
    });
  });

  test("a kept sample is the sample of its request", async () => {
    const guess = (row: number, t: number) => trueAt(row, t) ** (0.7 + (row % 7) / 10);
    const prepare = keepLastTruth();
    const few = { ...settings, n: 700 };
    const first = { settings: few, groups, supports, grid };
    const others = [
      { ...first, supports: [T, 8, 2] },
      { ...first, grid: equalTimeGrid(T, 4000) },
      { ...first, groups: groups.toReversed() },
      { ...first, settings: { ...few, level: 1 as const } },
    ];
    expect(prepare(first)).toBe(prepare({ ...first }));
    for (const sample of [first, ...others, first]) {
      const kept = await prepare(sample).score(predictInTurn(guess));
      expect(kept).toEqual(await prepareTruth(sample).score(predictInTurn(guess)));
    }
    const people = prepare(first).people;
    expect(prepare(others[0]).people).toBe(people);
    expect(prepare(others[3]).people).not.toBe(people);
  });

  test("concordance compares the pairs of a chunk by their uncensored times", async () => {
    const n = 300;
    const few = { ...settings, n };
    const guess = (row: number, t: number) => 1 - (t / T) * ((row * 37) % 101) * 0.009;
    const scores = await scoreAgainstTruth({
      settings: few,
      groups: [ALL_GROUP],
      supports: [T],
      grid,
      predictCurves: predictInTurn(guess),
    });
    const count = (survival: (row: number, t: number) => number) => {
      let pairs = 0;
      let concordant = 0;
      for (let i = 0; i < n; i++) {
        if (cohort.eventTime[i] > 4383) continue;
        const t = findBin(grid, cohort.eventTime[i]);
        for (let j = 0; j < n; j++) {
          if (findBin(grid, cohort.eventTime[j]) <= t) continue;
          pairs++;
          if (survival(i, t) < survival(j, t)) concordant++;
        }
      }
      return concordant / pairs;
    };
    expect(scores.concordance).toBeCloseTo(count(guess), 14);
    expect(scores.concordanceOfTruth).toBeCloseTo(count(trueAt), 14);
  });

  test("outcomes are not shown to what predicts", async () => {
    const seen: Table[] = [];
    const predict = predictInTurn(trueAt);
    await prepareTruth({ settings, groups, supports, grid }).score((table) => {
      seen.push(table);
      return predict(table);
    });
    expect(seen.map(({ rows }) => rows)).toEqual([10_000, 500]);
    for (const table of seen) {
      expect(table.columns.length).toBe(38);
      expect(() => findColumn(table, "event")).toThrow("missing column");
    }
  });

  test("refuses supports and curves that do not fit", async () => {
    const sample = { settings: { ...settings, n: 200 }, groups, grid };
    expect(() => prepareTruth({ ...sample, supports: [1, 2] })).toThrow("2 for 3 groups");
    expect(() => prepareTruth({ ...sample, supports: [1, 2, T + 1] })).toThrow("from 1 to 12: 13");
    expect(() =>
      prepareTruth({ ...sample, groups: [{ name: "none", expression: "age > 200" }], supports: [3] }),
    ).toThrow("nobody of 200");
    await expect(
      prepareTruth({ ...sample, supports }).score(async ({ rows }) => ({
        N: rows,
        T: 1,
        survival: new Float64Array(rows),
      })),
    ).rejects.toThrow("curves of 200 rows and 1 bins");
  });
});

describe("Cox's model", () => {
  const named: Group[] = [
    ALL_GROUP,
    { name: "old", expression: "age >= 75" },
    { name: "eye medication", expression: "eye_medication = 1" },
    { name: "poor", expression: "race = 'Malay' and housing = '1-2 room'" },
  ];

  /** Fitted on the terms that all levels have, as drawn. */
  function scoreCox(level: 0 | 2) {
    const cohort = simulateEye({ seed: 21, n: 20_000, level, censoring: "dependent" });
    const fresh = { seed: 22, n: 4000, level, censoring: "dependent" } as const;
    const days = equalTimeGrid(102, 4383);
    const D = TERM_NAMES.indexOf("currentSmoker");
    const x = (of: EyeCohort) => of.terms.x.filter((_, at) => at % TERMS >= 1 && at % TERMS <= D); // less the intercept
    const cox = fitCox({ ...cohort.outcomes, x: x(cohort), D });
    return scoreAgainstTruth({
      settings: fresh,
      groups: named,
      supports: [102, 102, 102, 102],
      grid: days,
      predictCurves: async () => coxCurvesOnGrid(cox, x(simulateEye(fresh)), days.edges),
    });
  }

  test("is close to the truth where it is true, and misses the minorities where it is not", async () => {
    const right = await scoreCox(0);
    for (const { name, A, B } of right.groups) {
      expect(A, name).toBeLessThan(0.01);
      expect(B, name).toBeLessThan(0.015);
    }
    expect(right.concordanceOfTruth - right.concordance).toBeLessThan(0.002);
    const [all, old, eye, poor] = (await scoreCox(2)).groups;
    expect(all.A).toBeLessThan(0.02);
    for (const { name, A } of [old, eye, poor]) expect(A, name).toBeGreaterThan(0.04);
  });
});
