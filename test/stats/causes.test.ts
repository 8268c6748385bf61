// Aalen-Johansen against survfit and a slow twin, Gray's test against cmprsk.
import { describe, expect, test } from "vitest";
import { isAbsent } from "../../src/core/measured.ts";
import { createRandom } from "../../src/core/random.ts";
import type { Outcomes } from "../../src/data/outcomes/outcomes.ts";
import {
  type AalenJohansenOptions,
  aalenJohansen,
  type CausesInput,
} from "../../src/stats/causes/aalen-johansen.ts";
import { calibrateIncidence, logrankOfCause } from "../../src/stats/causes/cause-calibration.ts";
import { scoreIncidence } from "../../src/stats/causes/cause-scores.ts";
import { grayTest } from "../../src/stats/causes/gray.ts";
import { kaplanMeier } from "../../src/stats/kaplan-meier.ts";
import { historyTables, causeOracle as oracle } from "./history-oracles.ts";
import { influenceByRows, squareByPerson } from "./jackknife-by-rows.ts";

const { mgus2, transplant } = historyTables;
const codes = (texts: readonly string[], names: readonly string[]) =>
  texts.map((text) => names.indexOf(text) + 1);
const events = (cause: readonly number[]) => cause.map((one) => Math.min(one, 1));
const causesOf = (time: number[], cause: number[]): CausesInput => ({ time, event: events(cause), cause });
const mgusCause = codes(mgus2.text("event"), ["pcm", "death"]);
const plain = causesOf(mgus2.number("months"), mgusCause);
const waiting = causesOf(
  transplant.number("futime"),
  codes(transplant.text("event"), ["death", "ltx", "withdraw"]),
);
const late = { ...causesOf(mgus2.number("exitMonths"), mgusCause), entry: mgus2.number("ageMonths") };

describe("aalenJohansen", () => {
  test.each([
    ["plain", plain, {}],
    ["loglog", plain, { interval: "log-log" }],
    ["weights", { ...plain, weight: mgus2.number("weight") }, {}],
    ["entry", { ...late, id: mgus2.number("id") }, {}],
    ["transplant", waiting, {}],
  ] as [keyof typeof oracle.aj, CausesInput, AalenJohansenOptions][])("%s", (name, outcomes, options) => {
    const expected = oracle.aj[name];
    const found = aalenJohansen(outcomes, options);
    expect([...found.time]).toEqual(expected.time);
    // R counts rows here, whatever they weigh.
    if (name !== "weights")
      for (const [k, atRisk] of expected.atRisk.entries()) expect(found.atRisk[k]).toBeCloseTo(atRisk, 10);
    for (let k = 0; k < found.time.length; k++) {
      expect(found.survival[k]).toBeCloseTo(expected.pstate[k][0], 12);
      let total = found.survival[k];
      for (const [c, { incidence, variance, lower, upper }] of found.causes.entries()) {
        total += incidence[k];
        expect(incidence[k]).toBeCloseTo(expected.pstate[k][c + 1], 12);
        expect(Math.sqrt(variance[k])).toBeCloseTo(expected.error[k][c + 1], 11);
        if (incidence[k] === 0) {
          expect([lower[k], upper[k]]).toEqual([Number.NaN, Number.NaN]);
          continue;
        }
        expect(lower[k]).toBeCloseTo(expected.lower[k][c + 1] ?? 0, 11);
        expect(upper[k]).toBeCloseTo(expected.upper[k][c + 1] ?? 0, 11);
      }
      expect(Math.abs(total - 1)).toBeLessThan(1e-12);
    }
  });

  test.each([1, 2, 3, 4])("the variance is that of the derivatives by every weight, draw %i", (seed) => {
    const random = createRandom(seed);
    const rows = Array.from({ length: 50 }, (_, row) => {
      const entry = random.uniform() < 0.4 ? 0 : Math.floor(6 * random.uniform());
      const cause = random.uniform() < 0.75 ? 1 + Math.floor(3 * random.uniform()) : 0;
      const time = entry + 1 + Math.floor(6 * random.uniform());
      return { entry, time, cause, weight: 0.5 + random.uniform(), id: seed === 1 ? row : row % 20 };
    });
    const outcomes: Outcomes = {
      time: Float64Array.from(rows, ({ time }) => time),
      event: Uint8Array.from(rows, ({ cause }) => Math.min(cause, 1)),
      entry: Float64Array.from(rows, ({ entry }) => entry),
      cause: Uint8Array.from(rows, ({ cause }) => cause),
      weight: Float64Array.from(rows, ({ weight }) => weight),
      id: Int32Array.from(rows, ({ id }) => id),
    };
    const found = aalenJohansen(outcomes as CausesInput, { timefix: false });
    const slow = influenceByRows(outcomes, found.time, 3);
    found.causes.forEach(({ variance }, c) => {
      const squares = squareByPerson(
        outcomes,
        slow.incidence.map((own) => own[c]),
      );
      for (let k = 0; k < variance.length; k++) expect(variance[k]).toBeCloseTo(squares[k], 11);
    });
  });

  test("of one cause it is one less Kaplan-Meier; censoring the other cause overstates", () => {
    const one = { time: plain.time, event: plain.event, cause: plain.event as number[] };
    const { causes, survival } = aalenJohansen(one);
    expect(causes[0].incidence.map((F, k) => F + survival[k] - 1).every((gap) => Math.abs(gap) < 1e-12)).toBe(
      true,
    );
    const { survival: censoring } = kaplanMeier({
      time: plain.time,
      event: mgusCause.map((c) => (c === 1 ? 1 : 0)),
    });
    const last = (values: Float64Array) => values[values.length - 1];
    const incidence = last(aalenJohansen(plain).causes[0].incidence);
    expect(1 - last(censoring)).toBeGreaterThan(1.5 * incidence);
  });

  test("refuses what is no cause", () => {
    expect(() => aalenJohansen({ time: [1, 2], event: [1, 0], cause: [0, 0] })).toThrow("do not go together");
    expect(() => aalenJohansen({ time: [1, 2], event: [1, 0], cause: [3, 0] }, { causes: 2 })).toThrow(
      "a cause beyond the last",
    );
  });
});

describe("grayTest", () => {
  const band = mgus2.number("hgb").map((hgb) => (hgb <= 12 ? 0 : hgb <= 14 ? 1 : 2));
  const sex = mgus2.text("sex").map((one) => (one === "F" ? 0 : 1));
  const abo = transplant.text("abo").map((one) => ["A", "AB", "B", "O"].indexOf(one));
  const coarse = causesOf(
    mgus2.number("months").map((month) => Math.ceil(month / 24)),
    mgusCause,
  );
  test.each([
    ["sex", plain, sex, 2],
    ["band", plain, band, 3],
    ["tied", coarse, band, 3],
    ["abo", waiting, abo, 4],
  ] as const)("%s", (name, outcomes, groups, G) => {
    oracle.gray[name].forEach(([chi2, p, df], c) => {
      const found = grayTest(outcomes, groups, G, { cause: c + 1 });
      if (isAbsent(found)) throw new Error(found.absent);
      expect(found.chi2 / chi2).toBeCloseTo(1, 10);
      // cuminc takes its p as 1 less a probability.
      expect(found.p).toBeCloseTo(p, 13);
      expect(found.df).toBe(df);
    });
  });

  test("is absent under late entry, weights and in one group", () => {
    const absent = (given: CausesInput, G: number) =>
      grayTest(given, G === 1 ? sex.map(() => 0) : sex, G, { cause: 1 });
    expect(absent(late, 2)).toEqual({ absent: "Gray's test is not defined under late entry" });
    expect(absent({ ...plain, weight: mgus2.number("weight") }, 2)).toEqual({
      absent: "Gray's test is not defined for weighted people",
    });
    expect(absent(plain, 1)).toEqual({ absent: "fewer than two groups had people at risk of the cause" });
  });
});

describe("scoreIncidence", () => {
  test.each(["pcm", "death"] as const)("%s, as Score and cindex", (name) => {
    const { risk, brier, ibs, auc, wolbers } = oracle.scores[name];
    const times = oracle.score_times;
    const input = { outcomes: plain, cause: name === "pcm" ? 1 : 2, times, incidence: risk.flat() };
    const found = scoreIncidence(input);
    if (isAbsent(found)) throw new Error(found.absent);
    for (let k = 0; k < times.length; k++) {
      expect(found.brier[k]).toBeCloseTo(brier[k], 12);
      expect(found.auc[k]).toBeCloseTo(auc[k], 12);
      if (k === 0) expect(found.integratedBrier[k]).toEqual({ absent: "nothing lies before the first time" });
      else expect(found.integratedBrier[k]).toBeCloseTo(ibs[k], 12);
      expect(found.concordance[k], `concordance ${k}`).toBeCloseTo(wolbers[k], 10);
    }
  });

  test("is absent under entry, with the reason", () => {
    const found = scoreIncidence({ outcomes: late, cause: 1, times: [9], incidence: late.time });
    expect(isAbsent(found) && found.absent).toContain("not defined under late entry");
  });
});

describe("calibrateIncidence", () => {
  const times = [12, 60, 120, 240];
  const curves = aalenJohansen(plain);
  const at = (values: Float64Array, t: number) => values[curves.time.findLastIndex((time) => time <= t)];
  const N = mgusCause.length;

  test("a group's own curve has no gap, and a shift is the gap, in all norms", () => {
    const own = times.map((t) => at(curves.causes[1].incidence, t));
    const exact = {
      outcomes: plain,
      cause: 2,
      times,
      incidence: Array.from({ length: N }, () => own).flat(),
    };
    const none = calibrateIncidence(exact);
    if (isAbsent(none)) throw new Error(none.absent);
    for (const norm of Object.values(none.norms)) expect(norm).toBeCloseTo(0, 12);
    // Nine people are at risk at 240.
    expect(none.supportedBins).toBe(3);
    const shifted = calibrateIncidence({ ...exact, incidence: exact.incidence.map((F) => F + 0.01) });
    if (isAbsent(shifted)) throw new Error(shifted.absent);
    expect(shifted.norms.l2Root).toBeCloseTo(0.01, 12);
    expect(shifted.norms.ece).toBeCloseTo(0.03 / 4, 12);
    const errors = times.slice(0, 3).map((t) => Math.sqrt(at(curves.causes[1].variance, t)));
    expect(shifted.norms.variance).toBeCloseTo(0.01 / Math.min(...errors), 10);
  });

  test("is of the rows asked for, and absent under entry", () => {
    const incidence = Array.from({ length: N * times.length }, () => 0.2);
    const women = [...mgus2.text("sex").entries()].flatMap(([row, sex]) => (sex === "F" ? [row] : []));
    const some = calibrateIncidence({ outcomes: plain, cause: 1, times, incidence }, women);
    if (isAbsent(some)) throw new Error(some.absent);
    const pick = (values: ArrayLike<number>) => women.map((row) => values[row]);
    const alone = aalenJohansen(causesOf(pick(plain.time), pick(mgusCause)));
    expect(some.observed[2]).toBe(alone.causes[0].incidence[alone.time.findLastIndex((time) => time <= 60)]);
    expect(isAbsent(calibrateIncidence({ outcomes: late, cause: 1, times, incidence }))).toBe(true);
  });
});

describe("logrankOfCause", () => {
  const outcomes = { T: 3, bin: [1, 3, 3, 2], event: [1, 1, 0, 1], cause: [1, 2, 0, 1] };
  const hazard = [0.1, 0.2, 0.3, 0.1, 0.2, 0.3, 0.1, 0.2, 0.3, 0.1, 0.2, 0.3];

  test("counts each row's hazards over its own bins", () => {
    const test = logrankOfCause({ outcomes, cause: 1, hazard });
    if (isAbsent(test)) throw new Error(test.absent);
    expect(test.observed).toBe(2);
    expect(test.expected).toBeCloseTo(0.1 + 0.6 + 0.6 + 0.3, 12);
    expect(test.variance).toBeCloseTo(0.09 + 0.46 + 0.46 + 0.25, 12);
  });

  test("from the first bin at risk, by weight and by person", () => {
    const more = { ...outcomes, firstBin: [1, 3, 2, 1], weight: [2, 1, 1, 1], id: [1, 1, 2, 3] };
    const test = logrankOfCause({ outcomes: more, cause: 1, hazard });
    if (isAbsent(test)) throw new Error(test.absent);
    expect(test.observed).toBe(3);
    expect(test.expected).toBeCloseTo(0.2 + 0.3 + 0.5 + 0.3, 12);
    const [rows, people] = [4 * 0.09 + 0.21 + 0.37 + 0.25, (2 * 0.9 - 0.3) ** 2 + 0.5 ** 2 + 0.7 ** 2];
    expect(test.variance).toBeCloseTo(Math.max(rows, people), 12);
  });
});
