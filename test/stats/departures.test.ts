import { describe, expect, test } from "vitest";
import { isAbsent, type Measured } from "../../src/core/measured.ts";
import { createRandom } from "../../src/core/random.ts";
import type { Curves } from "../../src/data/curves/curves.ts";
import type { BinnedSingleCause } from "../../src/data/outcomes/outcomes.ts";
import { modelVariance } from "../../src/stats/calibration/calibration.ts";
import { rankDepartures, rankFirst } from "../../src/stats/calibration/departures.ts";
import { countDraws, drawNoise } from "../../src/stats/calibration/draw-noise.ts";
import { drawnTable, drawOutcomes } from "../../src/stats/calibration/drawn-outcomes.ts";
import { noiseFloor } from "../../src/stats/calibration/noise-floor.ts";
import {
  FEWEST_EXPECTED,
  scaleOf,
  surpriseOfLargest,
  surpriseOfSquare,
} from "../../src/stats/calibration/null-scale.ts";
import { audit } from "../../src/verbs/audit.ts";
import { drawCohort } from "./simulated-cohort.ts";

const T = 20;
const everyRow = (N: number) => Int32Array.from({ length: N }, (_, row) => row);
const present = <Value>(value: Measured<Value>): Value => {
  if (isAbsent(value)) throw new Error(value.absent);
  return value as Value;
};

function noiseOf(
  curves: Curves,
  binned: BinnedSingleCause,
  groups: readonly ArrayLike<number>[],
  { draws = 200, seed = 1 } = {},
) {
  const judged = groups.map(() => [true]);
  return drawNoise(drawnTable(curves, binned), groups, { draws, seed, judged }).map(([one]) => one);
}

describe("ranks", () => {
  test("by hand: the largest surprise of each draw, then of the groups that are left", () => {
    const first = { statistics: [Float64Array.of(5, 1, 6, 2), Float64Array.of(1, 2, 1, 4)] };
    const second = { statistics: [Float64Array.of(3, 4, 1, 1)] };
    // Largest of the first: 5, 2, 6, 4; of both: 5, 4, 6, 4.
    const [one, two, none] = rankDepartures([first, second, null]);
    expect(one).toEqual({ p: 2 / 4, adjustedP: 2 / 4, own: [2 / 4, 4 / 4], largest: 0 });
    // The second alone is 2/4; it is not below the first.
    expect(two).toEqual({ p: 2 / 4, adjustedP: 2 / 4, own: [2 / 4], largest: 0 });
    expect(none).toBeNull();
    expect(rankFirst(Float64Array.of(0, 0, 0))).toBe(1);
  });
});

describe("the scale of chance", () => {
  test("moments of the mean square and the range of information, by hand", () => {
    // Two bins with variances 1 and 2 and information 1 and 4: covariance² = 1 · 2 · 1/4.
    const scale = scaleOf([0, 1, 2], [0, 1, 4], [0, FEWEST_EXPECTED - 1, FEWEST_EXPECTED], 2);
    expect(scale.square).toEqual({ mean: 3 / 2, df: 9 / (1 + 4 + 2 * 0.5) });
    expect(Array.from(scale.deviation)).toEqual([0, 0, Math.sqrt(2)]);
    expect([scale.bins, scale.range]).toEqual([1, 0]);
    expect(scaleOf([0, 1, 2], [0, 1, 4], [0, 5, 9], 2).range).toBeCloseTo(Math.log(4), 14);
  });

  test("one bin is a normal and a χ² tail; no variance leaves nothing to chance", () => {
    const scale = scaleOf([0, 0.04], [0, 1], [0, 10], 1);
    // P(|Z| > 1.96) = .05 and P(χ²₁ > 3.841) = .05.
    expect(Math.exp(-surpriseOfLargest(1.959963984540054, scale))).toBeCloseTo(0.05, 12);
    expect(Math.exp(-surpriseOfSquare(0.04 * 3.841458820694124, scale))).toBeCloseTo(0.05, 12);
    const none = scaleOf([0, 0], [0, 0], [0, 0], 1);
    expect([surpriseOfSquare(1, none), surpriseOfSquare(0, none), surpriseOfLargest(3, none)]).toEqual([
      Number.POSITIVE_INFINITY,
      0,
      0,
    ]);
  });

  test("its variance is that of draws where people are alike", () => {
    const N = 400;
    const survival = Float64Array.from({ length: N * T }, (_, k) => 0.97 ** ((k % T) + 1));
    const bin = Int32Array.from({ length: N }, (_, i) => 1 + (i % T));
    const binned = { T, bin: bin.map((one) => Math.max(one, 10)), event: new Uint8Array(N) };
    const table = drawnTable({ N, T, survival }, binned);
    const [{ counts }] = drawOutcomes(table, [everyRow(N)], { draws: 4000, seed: 2 });
    const mean = Float64Array.from({ length: T + 1 }, (_, t) => 0.97 ** t);
    const atRisk = Float64Array.from(
      { length: T + 1 },
      (_, t) => binned.bin.filter((one) => one >= t).length,
    );
    let squares = 0;
    for (let draw = 1; draw <= 4000; draw++) {
      let [S, left] = [1, N];
      for (let t = 1; t <= 9; t++) {
        const d = counts[draw * 2 * (T + 1) + t];
        S *= 1 - d / left;
        left -= d;
      }
      squares += (S - mean[9]) ** 2 / 4000;
    }
    // k of the observed rows is a little more than that of draws, in which people die: six standard errors.
    expect(squares / modelVariance(mean, atRisk)[9]).toBeGreaterThan(0.87);
    expect(squares / modelVariance(mean, atRisk)[9]).toBeLessThan(1.3);
  });
});

describe("draws of an audit", () => {
  const { curves, binned } = drawCohort(300, T, createRandom(3), (S) => S);
  const groups = [everyRow(300), everyRow(300).filter((row) => row % 2 === 0), everyRow(300).slice(0, 90)];

  test("the fast form has the errors of the plain one", () => {
    const fast = noiseOf(curves, binned, groups);
    groups.forEach((rows, g) => {
      const { metrics } = present(noiseFloor(curves, binned, rows, { draws: 200, seed: 1 }));
      const [ece, paper, chi2] = [fast[g].ece, fast[g].paperEce, fast[g].events].map(present);
      for (const [ours, plain] of [
        [ece, metrics.ece],
        [paper, metrics.paperEce],
        [chi2, metrics.logrankIndividual],
      ] as const) {
        const { observed, floor, critical, p } = present(plain);
        expect([ours.observed, ours.floor, ours.critical]).toEqual([
          expect.closeTo(observed, 10),
          expect.closeTo(floor, 10),
          expect.closeTo(critical, 10),
        ]);
        expect(ours.p).toBe(p);
      }
    });
  });

  test("do not depend on the order of rows", () => {
    const order = everyRow(300).sort((a, b) => ((a * 7919) % 300) - ((b * 7919) % 300));
    const placeOf = new Int32Array(300);
    order.forEach((row, place) => {
      placeOf[row] = place;
    });
    // Everybody's own curve: people alike in outcome and curve are exchangeable only within a group.
    const own = curves.survival.map((S, k) => S ** (1 + Math.floor(k / T) * 1e-6));
    const survival = new Float64Array(300 * T);
    order.forEach((row, place) => {
      survival.set(own.subarray(row * T, (row + 1) * T), place * T);
    });
    const moved = {
      T,
      bin: Int32Array.from(order, (row) => binned.bin[row]),
      event: Uint8Array.from(order, (row) => binned.event[row]),
    };
    const before = noiseOf({ N: 300, T, survival: own }, binned, groups);
    const after = noiseOf(
      { N: 300, T, survival },
      moved,
      groups.map((rows) => Int32Array.from(rows, (row) => placeOf[row])),
    );
    before.forEach(({ departure, ece }, g) => {
      const [one, two] = [departure, after[g].departure].map(present);
      expect([two.p, two.adjustedP, two.ownP]).toEqual([one.p, one.adjustedP, one.ownP]);
      expect(present(after[g].ece).p).toBe(present(ece).p);
    });
  });

  test("grow where a p is near a decision: over seeds it then varies by at most .005", () => {
    // A model that is off a little, so that p of everyone is near .05.
    const off = { ...curves, survival: curves.survival.map((S) => S ** 1.2) };
    const found = Array.from({ length: 10 }, (_, seed) =>
      present(noiseOf(off, binned, [groups[0]], { draws: 999, seed })[0].departure),
    );
    const mean = found.reduce((sum, { p }) => sum + p, 0) / 10;
    expect(mean).toBeGreaterThan(0.01);
    expect(mean).toBeLessThan(0.1);
    expect(new Set(found.map(({ draws }) => draws))).toEqual(new Set([4995]));
    const deviation = Math.sqrt(found.reduce((sum, { p }) => sum + (p - mean) ** 2, 0) / 9);
    expect(deviation).toBeLessThan(0.005);
  });

  test("are at least 100 for each group and cause, unless fewer are asked for", () => {
    expect([countDraws(999, 5), countDraws(999, 30), countDraws(50, 30), countDraws(5000, 3)]).toEqual([
      999, 3000, 50, 5000,
    ]);
  });

  test("a perfect model has any group depart in at most 5 of 100 audits", () => {
    let rejected = 0;
    const AUDITS = 150;
    for (let k = 0; k < AUDITS; k++) {
      const one = drawCohort(150, 12, createRandom(777, k), (S) => S);
      const some = [0, 1, 2].map((part) => everyRow(150).filter((row) => row % 3 !== part));
      const noise = noiseOf(one.curves, one.binned, [everyRow(150), ...some], { draws: 99, seed: k });
      if (noise.some(({ departure }) => (present(departure).adjustedP ?? 1) <= 0.05)) rejected++;
    }
    expect(rejected / AUDITS).toBeLessThan(0.05 + 3 * Math.sqrt((0.05 * 0.95) / AUDITS));
    expect(rejected).toBeGreaterThan(0);
  });
});

describe("what the averages do not see", () => {
  test("a departure after half of the time is found by z, with its stretch and size", async () => {
    const N = 2000;
    const random = createRandom(11);
    const survival = Float64Array.from({ length: N * T }, (_, k) => 0.975 ** ((k % T) + 1));
    const dies = Int32Array.from({ length: N }, () => {
      const level = random.uniform();
      let t = 1;
      let S = 1;
      // From bin 13 on the hazard is four times as high.
      for (; t <= T; t++) {
        S *= t > 12 ? 0.9 : 0.975;
        if (S <= level) break;
      }
      return t;
    });
    const outcomes = {
      T,
      bin: dies.map((t) => Math.min(t, T)),
      event: Uint8Array.from(dies, (t) => (t <= T ? 1 : 0)),
    };
    const { overall } = await audit({ curves: { N, T, survival }, outcomes }, { draws: 199 });
    expect(overall.agreement).toBe("disagrees");
    const { span, gap, statistic } = overall.departure ?? {};
    expect(statistic).toBe("largestZ");
    expect(span?.toBin).toBe(T);
    expect(span?.fromBin).toBeGreaterThan(12);
    expect(gap).toMatchObject({ bin: T });
    expect(gap?.value).toBeGreaterThan(0.2);
  });

  test("events that are expected and do not come are enough to judge", async () => {
    const N = 500;
    const survival = Float64Array.from({ length: N * T }, (_, k) => 1 - (0.4 * ((k % T) + 1)) / T);
    const outcomes = {
      T,
      bin: Int32Array.from({ length: N }, (_, i) => (i < 9 ? 2 * i + 1 : T)),
      event: Uint8Array.from({ length: N }, (_, i) => (i < 9 ? 1 : 0)),
    };
    const { overall } = await audit({ curves: { N, T, survival }, outcomes }, { draws: 199 });
    expect(overall).toMatchObject({ events: 9, agreement: "disagrees", bound: null });
    // Σ h over everybody's bins: 20 hazards of .02/S(t − 1), for all but nine people whole.
    expect(overall.expectedEvents).toBeGreaterThan(240);
    const dead = { N, T, survival: new Float64Array(N * T) };
    const alive = { T, bin: new Int32Array(N).fill(T), event: new Uint8Array(N) };
    const gone = (await audit({ curves: dead, outcomes: alive }, { draws: 199 })).overall;
    expect(gone).toMatchObject({ events: 0, expectedEvents: N, agreement: "disagrees" });
  });

  test("under late entry z is of events up to each time", async () => {
    const N = 600;
    const random = createRandom(5);
    const firstBin = Int32Array.from({ length: N }, (_, i) => 1 + (i % 6));
    const survival = Float64Array.from({ length: N * T }, (_, k) => 0.95 ** ((k % T) + 1));
    const bin = new Int32Array(N).fill(T);
    const event = new Uint8Array(N);
    for (let i = 0; i < N; i++)
      for (let t = firstBin[i]; t <= T; t++) {
        // Twice the hazard for a while, half of it after.
        if (random.uniform() >= (t <= 9 ? 0.1 : 0.025)) continue;
        [bin[i], event[i]] = [t, 1];
        break;
      }
    const input = { curves: { N, T, survival }, outcomes: { T, bin, event, firstBin } };
    const { overall } = await audit(input, { draws: 199 });
    expect(overall.agreement).toBe("disagrees");
    expect(overall.departure?.statistic).toBe("largestZ");
    expect(overall.departure?.gap).toBeUndefined();
    const { bin: by = 0, observed = 0, expected = 0 } = overall.departure?.eventsBy ?? {};
    expect(by).toBeGreaterThan(6);
    expect(by).toBeLessThan(12);
    expect(observed).toBeGreaterThan(1.5 * expected);
  });
});
