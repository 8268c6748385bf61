// Plain lists, booleans among them, give what typed arrays give, at every door of the library; what is neither 0 nor 1 is no event.
import { describe, expect, test } from "vitest";
import * as library from "../../src/index.ts";

const time = [5, 3, 8, 8, 1, 9, 4, 2, 7, 6, 10, 12];
const event = [1, 0, 1, 1, 1, 0, 0, 1, 1, 0, 1, 0];
const happened = event.map((one) => one === 1);
const risk = [0.5, 0.2, 0.1, 0.3, 0.9, 0.05, 0.4, 0.8, 0.3, 0.25, 0.1, 0.02];
const [N, T] = [time.length, 4];
const typed = { time: Float64Array.from(time), event: Uint8Array.from(event) };
const plain = { time, event: happened };
const grid = library.equalTimeGrid(T, 12);
const binned = library.binOutcomes(typed, grid);
const plainBinned = { T, bin: [...binned.bin], event: [...binned.event].map((one) => one === 1) };
const curves = {
  N,
  T,
  survival: Float64Array.from({ length: N * T }, (_, k) => (1 - risk[Math.floor(k / T)]) ** (1 + (k % T))),
};
const plainCurves = { N, T, survival: [...curves.survival] };
const group = risk.map((one) => (one > 0.28 ? 1 : 0));
const groups = [{ name: "high", rows: [...group.keys()].filter((row) => group[row] === 1) }];
const x = risk.flatMap((one, row) => [one, row % 3]);
const cox = library.fitCox({ ...typed, x: Float64Array.from(x), D: 2 }, {});

type Outcomes = library.OutcomesInput;
type Binned = library.BinnedOutcomesInput;
type Curves = library.CurvesInput;

const DOORS: readonly [string, (outcomes: Outcomes, bins: Binned, matrix: Curves) => unknown][] = [
  ["kaplanMeier", (o) => library.kaplanMeier(o)],
  ["kaplanMeierBinned", (_, b) => library.kaplanMeierBinned(b)],
  ["groupSupport", (_, b) => library.groupSupport(b, { minimumAtRisk: 3 })],
  ["censoringKaplanMeier", (o) => library.censoringKaplanMeier(o, { ties: "reverse" })],
  ["censoringKaplanMeierBinned", (_, b) => library.censoringKaplanMeierBinned(b, { ties: "reverse" })],
  ["logrank", (o) => library.logrank(o, group, 2)],
  ["logrankMeanCurve", (_, b, c) => library.logrankMeanCurve(c, b)],
  ["logrankIndividual", (_, b, c) => library.logrankIndividual(c, b)],
  ["concordanceHarrell", (o) => library.concordanceHarrell(o, risk)],
  ["concordanceUno", (o) => library.concordanceUno(o, risk, { convention: "r", censoring: o })],
  ["timeDependentPairs", (_, b, c) => library.timeDependentPairs(c, b)],
  ["brierBinned", (_, b, c) => library.brierBinned(c, b)],
  ["brierScore", (o) => library.brierScore({ outcomes: o, times: [4], survival: risk, convention: "r" })],
  ["mlr3probaTimes", (o) => library.mlr3probaTimes(o)],
  ["meanCurve", (_, __, c) => library.meanCurve(c)],
  ["dCalibration", (_, b, c) => library.dCalibration(c, b)],
  ["dCalScore", (_, b, c) => library.dCalScore(c, b)],
  ["oneCalibration", (_, b, c) => library.oneCalibration(c, b, { t: 2, groups: 2 })],
  ["rankedProbabilityScore", (_, b, c) => library.rankedProbabilityScore(c, b)],
  ["noiseFloor", (_, b, c) => library.noiseFloor(c, b, undefined, { draws: 5, seed: 1 })],
  ["prepareScores", (_, b, c) => library.prepareScores("all", c, b)],
  ["scoreCurves", (_, b, c) => library.scoreCurves("all", c, b)],
  ["certify", (_, b, c) => library.certify(c, b, groups, { alpha: 0.05, draws: 64, seed: 1 })],
  ["tallyFollowUp", (_, b) => library.tallyFollowUp(b, [0, 1, 2])],
  ["fitTimeGrid", (o) => library.fitTimeGrid(o)],
  ["binOutcomes", (o) => library.binOutcomes(o, grid)],
  ["binningGap", (o) => library.binningGap(o, grid)],
  ["fitCox", (o) => library.fitCox({ ...o, x, D: 2 })],
  ["linearPredictor", () => library.linearPredictor(cox, x)],
  ["coxCurvesOnGrid", () => library.coxCurvesOnGrid(cox, x, [...grid.edges])],
  ["audit", (_, b, c) => library.audit({ curves: c, outcomes: b, groups }, { draws: 10 })],
];

describe("plain lists", () => {
  test.each(DOORS)("%s", async (_, call) => {
    expect(await call(plain, plainBinned, plainCurves)).toEqual(await call(typed, binned, curves));
  });

  test("are not copied where they are typed already", () => {
    const { survival, time: times } = library.kaplanMeier(typed);
    expect(times[0]).toBe(1);
    expect(survival[0]).toBeCloseTo(11 / 12, 12);
  });
});

describe("events that are none", () => {
  test.each([[2], [-1], [Number.NaN], [0.5]])("%s is refused with its row", (strange) => {
    const bad = { time: [1, 2, 3], event: [0, strange, 1] };
    expect(() => library.kaplanMeier(bad)).toThrow(`event is neither 0 nor 1: ${strange}`);
    expect(() => library.kaplanMeier(bad)).toThrow(library.InputError);
  });

  test("lists of two lengths are refused", () => {
    expect(() => library.kaplanMeier({ time: [1, 2], event: [1] })).toThrow("event: 1 values for 2 rows");
    expect(() => library.meanCurve({ N: 2, T: 3, survival: [1, 1] })).toThrow("2 values for 2 rows × 3 bins");
  });
});
