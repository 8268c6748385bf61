// The statistics of an audit by cause: against survfit's curves and R's scores, against the same statistics of survival
// where there is one cause, central differences, rows written twice, and audits of models that are right.
import { describe, expect, test } from "vitest";
import { isAbsent, type Measured } from "../../src/core/measured.ts";
import { causeCurves, hazardsByCause, hazardsOf, survivalOf } from "../../src/data/curves/cause-curves.ts";
import type { People } from "../../src/data/outcomes/people.ts";
import { simultaneousNoiseFloor } from "../../src/stats/calibration/noise-floor.ts";
import {
  type BinnedCauses,
  incidenceOf,
  meanIncidence,
  observedIncidences,
  rowsAtRisk,
  supportOfCauses,
  tallyCauses,
} from "../../src/stats/causes/binned-causes.ts";
import { boundCauses, influenceOfCause } from "../../src/stats/causes/cause-bounds.ts";
import { logrankOfCause } from "../../src/stats/causes/cause-calibration.ts";
import { causeNoiseFloor } from "../../src/stats/causes/cause-noise-floor.ts";
import { type CauseResamples, resampleCauses } from "../../src/stats/causes/cause-resamples.ts";
import { scoreIncidence } from "../../src/stats/causes/cause-scores.ts";
import { brierOfCause, scoreCauses } from "../../src/stats/causes/score-cause.ts";
import { bootstrapWeights } from "../../src/stats/scores/bootstrap.ts";
import { boundGroups } from "../../src/stats/certificates/certificates.ts";
import { brierBinned } from "../../src/stats/scores/brier.ts";
import { causeOracle, historyTables } from "./history-oracles.ts";
import { drawCounts } from "./draw-counts.ts";
import { simulateCauses } from "./simulated-causes.ts";

function given<Value>(value: Measured<Value>): Value {
  if (isAbsent(value)) throw new Error(value.absent);
  return value as Value;
}

const { mgus2 } = historyTables;
/** Months as bins. */
function mgusBins(more: Partial<BinnedCauses> = {}): BinnedCauses {
  const bin = Int32Array.from(mgus2.number("months"));
  const cause = Uint8Array.from(mgus2.text("event"), (one) => ["pcm", "death"].indexOf(one) + 1);
  const T = Math.max(...bin);
  return { T, bin, event: cause.map((one) => Math.min(one, 1)), cause, ...more };
}
const everyRow = (N: number) => Int32Array.from({ length: N }, (_, row) => row);
/** The outcomes of one cause, as those of survival are told. */
const asSurvival = ({ T, bin, event }: BinnedCauses) => ({ T, bin, event });

describe("Aalen-Johansen on bins", () => {
  test.each(["plain", "weights"] as const)("%s, as survfit", (name) => {
    const weight = Float64Array.from(mgus2.number("weight"));
    const outcomes = mgusBins(name === "weights" ? { weight } : {});
    const rows = everyRow(outcomes.bin.length);
    const counted = incidenceOf(tallyCauses(outcomes, 2, rows));
    const limits = observedIncidences(outcomes, 2, rows);
    const { time, pstate, error } = causeOracle.aj[name];
    time.forEach((t, k) => {
      expect(counted.survival[t]).toBeCloseTo(pstate[k][0], 12);
      for (const c of [0, 1]) {
        expect(counted.incidence[c][t]).toBeCloseTo(pstate[k][c + 1], 12);
        expect(limits[c].incidence[t]).toBeCloseTo(pstate[k][c + 1], 12);
        expect(Math.sqrt(limits[c].variance[t])).toBeCloseTo(error[k][c + 1], 11);
      }
    });
  });

  test("rows at risk and support, by hand, from the bin of entry on", () => {
    const cause = new Uint8Array(12);
    const bin = Int32Array.from([1, 2, 3, 3, 3, 3, 3, 3, 3, 3, 3, 3]);
    const outcomes = { T: 4, bin, event: cause, cause };
    expect([...rowsAtRisk(outcomes, everyRow(12))]).toEqual([0, 12, 11, 10, 0]);
    expect(supportOfCauses(outcomes, everyRow(12))).toBe(3);
    // The second enters and leaves within bin 2; the third comes in bin 3.
    const firstBin = Int32Array.from([1, 3, 3, 1, 1, 1, 1, 1, 1, 1, 1, 1]);
    expect([...rowsAtRisk({ ...outcomes, firstBin }, everyRow(12))]).toEqual([0, 10, 9, 10, 0]);
    expect(supportOfCauses({ ...outcomes, firstBin }, everyRow(12))).toBe(2);
  });
});

describe("draws", () => {
  test("of one cause are those of survival", () => {
    const { curves, outcomes, groups } = simulateCauses(300, 12, 1, { causes: 1 });
    const options = { draws: 20, seed: 7 };
    const rows = groups.map((one) => one.rows);
    const byCause = drawCounts(curves, outcomes, rows, options);
    const plain = drawCounts(survivalOf(curves), asSurvival(outcomes), rows, options);
    byCause.forEach(({ events, censored }, g) => {
      expect(events).toEqual(plain[g].events);
      expect(censored).toEqual(plain[g].censored);
    });
  });

  test("the cause of a drawn event has the probability h_k / h", () => {
    const N = 4000;
    // Bins 1 and 2: causes 3 to 1, then 1 to 1; half have an event in each.
    const own = [0.375, 0.5, 0.125, 0.25];
    const incidence = Array.from({ length: N }, () => own).flat();
    const curves = causeCurves({ N, T: 2, causes: ["a", "b"], incidence });
    const outcomes = {
      T: 2,
      bin: new Int32Array(N).fill(2),
      event: new Uint8Array(N),
      cause: new Uint8Array(N),
    };
    const [drawn] = drawCounts(curves, outcomes, [everyRow(N)], { draws: 10, seed: 3 });
    const share = (counts: Float64Array, t: number) => {
      let sum = 0;
      for (let draw = 1; draw <= 10; draw++) sum += counts[draw * 3 + t];
      return sum / (10 * N);
    };
    const expected = [0.375, 0.125, 0.125, 0.125];
    const found = [1, 2].flatMap((t) => drawn.byCause.map((counts) => share(counts, t)));
    // Standard errors are below 0.0025.
    found.forEach((one, k) => {
      expect(Math.abs(one - expected[k])).toBeLessThan(0.008);
    });
    expect(share(drawn.censored, 2)).toBeCloseTo(1 - found.reduce((a, b) => a + b), 12);
  });

  test("a row of weight 2 counts twice", () => {
    const { curves, outcomes, groups } = simulateCauses(60, 6, 2);
    const options = { draws: 5, seed: 4 };
    const [once] = drawCounts(curves, outcomes, [groups[0].rows], options);
    const weight = new Float64Array(60).fill(2);
    const [twice] = drawCounts(curves, { ...outcomes, weight }, [groups[0].rows], options);
    once.byCause.forEach((counts, k) => {
      expect([...twice.byCause[k]]).toEqual(Array.from(counts, (one) => 2 * one));
    });
  });
});

describe("causeNoiseFloor", () => {
  test("of one cause is the noise floor of survival", () => {
    const { curves, outcomes, groups } = simulateCauses(400, 15, 5, { causes: 1 });
    const options = { draws: 60, seed: 2 };
    const found = causeNoiseFloor(curves, outcomes, groups, options);
    const plain = simultaneousNoiseFloor(survivalOf(curves), asSurvival(outcomes), groups, options);
    expect(found.p).toBe(plain.p);
    found.causes[0].forEach(({ noise, adjustedP }, g) => {
      const floor = given(plain.groups[g].floor);
      expect(given(noise).floor).toBeCloseTo(floor.ece, 13);
      expect(given(noise).critical).toBeCloseTo(floor.eceCritical, 13);
      expect(given(noise).p).toBe(floor.p);
      expect(adjustedP).toBe(plain.groups[g].adjustedP);
    });
  });

  test("is that of a table once, where every person is there twice", () => {
    const { curves, outcomes } = simulateCauses(150, 8, 6);
    const { N, K, T, causes } = curves;
    const twice = everyRow(2 * N).map((row) => row >> 1);
    const incidence = Float64Array.from({ length: 2 * N * K * T }, (_, at) => {
      const row = Math.floor(at / (K * T));
      return curves.incidence[twice[row] * K * T + (at % (K * T))];
    });
    const both = causeCurves({ N: 2 * N, T, causes, incidence });
    const pick = <Values extends Int32Array | Uint8Array>(values: Values) =>
      Array.from(twice, (row) => values[row]);
    const doubled = { T, bin: pick(outcomes.bin), event: pick(outcomes.event), cause: pick(outcomes.cause) };
    const people: People = { count: N, of: twice };
    const options = { draws: 40, seed: 3 };
    const one = causeNoiseFloor(curves, outcomes, [{ rows: everyRow(N) }], options);
    const two = causeNoiseFloor(both, doubled, [{ rows: everyRow(2 * N) }], { ...options, people });
    one.causes.forEach(([{ noise }], k) => {
      expect(given(two.causes[k][0].noise).floor).toBeCloseTo(given(noise).floor, 12);
      expect(given(two.causes[k][0].noise).p).toBe(given(noise).p);
    });
    const bounds = boundCauses(curves, outcomes, [{ rows: everyRow(N) }], { alpha: 0.05, seed: 1 });
    const again = boundCauses(both, doubled, [{ rows: everyRow(2 * N) }], { alpha: 0.05, seed: 1, people });
    bounds.causes.forEach(([bound], k) => {
      expect(given(again.causes[k][0])).toBeCloseTo(given(bound), 12);
    });
  });
});

describe("boundCauses", () => {
  test("of one cause are the bounds of survival", () => {
    const { curves, outcomes, groups } = simulateCauses(300, 10, 8, { causes: 1 });
    const options = { alpha: 0.05, seed: 4 };
    const found = boundCauses(curves, outcomes, groups, options);
    const plain = boundGroups(survivalOf(curves), asSurvival(outcomes), groups, options);
    found.causes[0].forEach((bound, g) => {
      expect(given(bound)).toBeCloseTo(given(plain.groups[g]), 12);
    });
  });

  test("influences are the derivatives of the gap by the weight of a row", () => {
    const { curves, outcomes } = simulateCauses(40, 6, 9);
    const rows = everyRow(40);
    const weight = Float64Array.from(rows, (row) => 0.5 + (row % 4) / 2);
    const [T, last] = [6, 5];
    const gapOf = (own: Float64Array, cause: number) => {
      const mean = given(meanIncidence(curves, cause, rows, own));
      const { incidence } = incidenceOf(tallyCauses({ ...outcomes, weight: own }, 2, rows));
      return mean.map((F, t) => F - incidence[cause - 1][t]);
    };
    for (const cause of [1, 2]) {
      const mean = given(meanIncidence(curves, cause, rows, weight));
      const write = influenceOfCause(curves, { ...outcomes, weight }, { rows, cause, mean, last });
      const out = new Float64Array(T);
      const total = new Float64Array(T);
      for (const row of rows) {
        write(row, out, 0);
        for (let t = 0; t < last; t++) total[t] += out[t];
        const step = 1e-5;
        const moved = (by: number) =>
          gapOf(
            weight.map((w, k) => (k === row ? w + by : w)),
            cause,
          );
        const [high, low] = [moved(step), moved(-step)];
        for (let t = 1; t <= last; t++)
          expect(out[t - 1] / 40).toBeCloseTo((weight[row] * (high[t] - low[t])) / (2 * step), 8);
      }
      for (let t = 0; t < last; t++) expect(total[t]).toBeCloseTo(0, 10);
    }
  });

  test("reasons: too few events of a cause, no follow-up, late entry", () => {
    const { curves, outcomes } = simulateCauses(60, 6, 3);
    const few = { rows: everyRow(60).filter((row) => row < 12) };
    const none = { rows: everyRow(60).filter((row) => row < 5) };
    const { causes } = boundCauses(curves, outcomes, [few, none], { alpha: 0.05, seed: 1 });
    expect(causes[0][0]).toMatchObject({ absent: expect.stringContaining("fewer than 10 events") });
    expect(causes[1][1]).toEqual({ absent: "no time bin has 10 rows at risk" });
    const late = { ...outcomes, firstBin: new Int32Array(60).fill(1) };
    const groups = [{ rows: everyRow(60) }];
    const why =
      "means of predicted curves over people who entered late are not comparable with Aalen-Johansen";
    expect(boundCauses(curves, late, groups, { alpha: 0.05, seed: 1 }).causes[0][0]).toEqual({ absent: why });
    expect(causeNoiseFloor(curves, late, groups, { draws: 5, seed: 1 }).causes[0][0].noise).toEqual({
      absent: why,
    });
  });
});

describe("scores", () => {
  test("the Brier score is Score's, and its mean is the integrated one", () => {
    const outcomes = mgusBins();
    const { T } = outcomes;
    const N = outcomes.bin.length;
    const { risk, brier } = causeOracle.scores.death;
    const incidence = new Float64Array(N * T);
    causeOracle.score_times.forEach((t, k) => {
      for (let row = 0; row < N; row++) incidence.fill(risk[row][k], row * T + t - 1, (row + 1) * T);
    });
    const curves = { N, K: 1, T, causes: ["death"], incidence };
    // Its only curve is that of deaths, which the table has as the second cause.
    const swapped = outcomes.cause.map((one) => (one === 0 ? 0 : 3 - one));
    const found = given(brierOfCause(curves, { ...outcomes, cause: swapped }, 1, everyRow(N)));
    causeOracle.score_times.forEach((t, k) => {
      expect(found.brier[t - 1]).toBeCloseTo(brier[k], 12);
    });
    expect(found.ibs).toBeCloseTo(found.brier.reduce((sum, one) => sum + one, 0) / T, 14);
  });

  test("of one cause it is that of survival; in every bin it is that at the time", () => {
    const one = simulateCauses(200, 9, 11, { causes: 1 });
    const rows = one.groups[3].rows;
    const plain = given(brierBinned(survivalOf(one.curves), asSurvival(one.outcomes), { rows }));
    expect(given(brierOfCause(one.curves, one.outcomes, 1, rows)).ibs).toBeCloseTo(plain.ibs, 13);
    const { curves, outcomes } = simulateCauses(200, 9, 12);
    const weight = Float64Array.from({ length: 200 }, (_, row) => row % 3);
    const weighted = { ...outcomes, weight };
    const found = given(brierOfCause(curves, weighted, 2, everyRow(200)));
    const times = [1, 2, 3, 4, 5, 6, 7, 8, 9];
    const incidence: number[] = [];
    for (let row = 0; row < 200; row++)
      for (const t of times) incidence.push(curves.incidence[(row * 2 + 1) * 9 + t - 1]);
    const { bin: time, event, cause } = outcomes;
    const slow = given(
      scoreIncidence({ outcomes: { time, event, cause, weight }, cause: 2, times, incidence }),
    );
    times.forEach((t, k) => {
      expect(found.brier[t - 1]).toBeCloseTo(given(slow.brier[k]), 12);
    });
  });

  test("weights are rows written so often", () => {
    const { curves, outcomes } = simulateCauses(120, 7, 13);
    const weight = Float64Array.from({ length: 120 }, (_, row) => row % 4);
    const rows = Int32Array.from(
      Array.from(everyRow(120)).flatMap((row) => Array<number>(row % 4).fill(row)),
    );
    const hazard = hazardsOf(curves);
    const hazards = [0, 1].map((k) =>
      Float64Array.from({ length: 120 * 7 }, (_, at) => hazard[(Math.floor(at / 7) * 2 + k) * 7 + (at % 7)]),
    );
    const bins = [2, 4, 6];
    const once = scoreCauses(
      "w",
      { curves, outcomes: { ...outcomes, weight }, hazards, bins },
      everyRow(120),
    );
    const often = scoreCauses("w", { curves, outcomes, hazards, bins }, rows);
    const close = (a: number | null, b: number | null) => expect(a).toBeCloseTo(b ?? Number.NaN, 11);
    once.forEach((one, k) => {
      const other = often[k];
      for (const field of ["ibs", "concordance", "ece", "distanceL2"] as const)
        close(one[field], other[field]);
      one.at.forEach(({ brier, auc, concordance }, b) => {
        close(brier, other.at[b].brier);
        close(auc, other.at[b].auc);
        close(concordance, other.at[b].concordance);
      });
      close(one.logrankIndividual.observed, other.logrankIndividual.observed);
      close(one.logrankIndividual.expected, other.logrankIndividual.expected);
    });
  });

  test("a row that enters and leaves within one bin does not count", () => {
    const outcomes = { T: 3, bin: [2, 3, 2], event: [1, 1, 1], cause: [1, 1, 1], firstBin: [1, 1, 3] };
    const hazard = Array<number>(9).fill(0.1);
    const test = given(logrankOfCause({ outcomes, cause: 1, hazard }));
    expect(test.observed).toBe(2);
    expect(test.expected).toBeCloseTo(0.5, 14);
    const some = given(logrankOfCause({ outcomes, cause: 1, hazard, rows: [1, 2] }));
    expect(some.expected).toBeCloseTo(0.3, 14);
  });
});

describe("many audits", () => {
  const AUDITS = 80;
  const T = 10;
  /** The law's mean incidence of a cause in a group, of many people. */
  const law = simulateCauses(20_000, T, 1);
  const truth = [1, 2].map((cause) =>
    law.groups.map(({ rows }) => given(meanIncidence(law.curves, cause, rows))),
  );

  test("a model that is right is rejected in one of twenty", () => {
    let rejected = 0;
    for (let audit = 0; audit < AUDITS; audit++) {
      const { curves, outcomes, groups } = simulateCauses(250, T, 100 + audit);
      const floor = causeNoiseFloor(curves, outcomes, groups, { draws: 99, seed: audit });
      if (given(floor.p) <= 0.05) rejected++;
    }
    // Binomial, 80 at 5 %: more than 10 has a probability below 0.2 %.
    expect(rejected).toBeLessThanOrEqual(10);
  });

  test("a model that is off for one cause is found, and the bounds hold for all groups and causes together", () => {
    let found = 0;
    let held = 0;
    const wide: number[] = [];
    for (let audit = 0; audit < AUDITS; audit++) {
      const { curves, outcomes, groups } = simulateCauses(600, T, 500 + audit);
      const incidence = curves.incidence.map((F, at) => (Math.floor(at / T) % 2 === 0 ? 0.7 * F : F));
      const off = { ...curves, incidence };
      const floor = causeNoiseFloor(off, outcomes, groups, { draws: 99, seed: audit });
      if (given(floor.causes[0][0].adjustedP) <= 0.05) found++;
      const { causes } = boundCauses(off, outcomes, groups, { alpha: 0.05, draws: 512, seed: audit });
      const isHeld = causes.every((bounds, k) =>
        bounds.every((bound, g) => {
          if (isAbsent(bound)) return true;
          const last = supportOfCauses(outcomes, groups[g].rows);
          const F = truth[k][g].subarray(1, last + 1);
          const distance = Math.sqrt(F.reduce((sum, one) => sum + (k === 0 ? 0.3 * one : 0) ** 2, 0) / last);
          if (k === 0 && g === 0) wide.push(bound / distance);
          return bound >= distance;
        }),
      );
      if (isHeld) held++;
    }
    // 600 people, 30 % too low: nearly always seen. Of 80 audits at 95 %, fewer than 69 hold with probability 0.1 %.
    expect(found).toBeGreaterThan(0.9 * AUDITS);
    expect(held).toBeGreaterThanOrEqual(69);
    // And the bounds say something: that of everyone is below twice the distance.
    expect(wide.reduce((sum, one) => sum + one, 0) / wide.length).toBeLessThan(2);
  });
});

describe("resampled rows", () => {
  const { curves, outcomes, groups } = simulateCauses(120, 8, 5, { perPerson: 2 });
  const pairs: People = { count: 60, of: Int32Array.from({ length: 120 }, (_, row) => Math.floor(row / 2)) };
  const weight = Float64Array.from({ length: 120 }, (_, row) => [1, 2, 0.5][row % 3]);
  const firstBin = Int32Array.from({ length: 120 }, (_, row) => (row % 4 === 0 ? 3 : 1));
  /** The slow way: the audit's scores of rows written as often as they were drawn. */
  function repeat(rows: ArrayLike<number>, counts: ArrayLike<number>): Int32Array {
    return Int32Array.from(Array.from(rows).flatMap((row) => Array<number>(counts[row]).fill(row)));
  }
  test.each([
    ["rows", {}, undefined],
    ["weighted rows", { weight }, undefined],
    ["late entries", { firstBin }, undefined],
    ["people", {}, pairs],
  ] as const)("%s: a resample has the scores of rows that are repeated", (_, more, people) => {
    const observed = { ...outcomes, ...more };
    const members = groups.slice(1).map(({ rows }) => rows);
    const replicates = 4;
    const draws = resampleCauses(curves, observed, {
      replicates,
      seed: 3,
      groups: members,
      ...(people && { people }),
    });
    let found: readonly CauseResamples[] = [];
    for (let next = draws.next(); ; next = draws.next()) {
      if (!next.done) continue;
      found = next.value;
      break;
    }
    const scoring = { curves, outcomes: observed, hazards: hazardsByCause(curves), bins: [] };
    for (let r = 0; r < replicates; r++) {
      const counts = bootstrapWeights(120, 3, r, people);
      const everyone = scoreCauses("all", scoring, repeat(everyRow(120), counts));
      const ofGroups = members.map((rows) => scoreCauses("", scoring, repeat(rows, counts)));
      found.forEach((own, k) => {
        const { concordance, ece, ibs, logrankIndividual } = everyone[k];
        const near = (value: number, wanted: number | null) =>
          wanted === null ? expect(value).toBeNaN() : expect(value).toBeCloseTo(wanted, 12);
        near(own.concordance[r], concordance);
        near(own.ece[r], ece);
        near(own.ibs[r], ibs);
        near(
          own.eventError[r],
          Math.abs((logrankIndividual.expected ?? 0) / (logrankIndividual.observed ?? 1) - 1),
        );
        own.groupEce.forEach((values, g) => {
          near(values[r], ofGroups[g][k].ece);
        });
      });
    }
    expect(Number.isNaN(found[0].ibs[0])).toBe("firstBin" in more);
  });
});
