// Scores where people enter late or have weights: against R, against loops over every pair and bin, by hand, and
// against the plain scores where there is nothing to weigh.
import { readFileSync } from "node:fs";
import { describe, expect, test } from "vitest";
import { createRandom } from "../../src/core/random.ts";
import { eventNoise } from "../../src/stats/calibration/event-noise.ts";
import { timeDependentPairs } from "../../src/stats/concordance/time-dependent.ts";
import { logrankIndividual } from "../../src/stats/individual-logrank.ts";
import { isAbsent } from "../../src/core/measured.ts";
import { evaluate, readScoreValues } from "../../src/stats/scores/evaluate-scores.ts";
import { prepareScores } from "../../src/stats/scores/prepared-scores.ts";
import { drawCounts } from "./draw-counts.ts";
import { audit } from "../../src/verbs/audit.ts";

const oracle = JSON.parse(
  readFileSync(new URL("../oracles/history/audit-concordance.json", import.meta.url), "utf8"),
);
const T = 12;

/** Curves whose order is that of the risk in every bin. */
function curvesOf(risk: readonly number[]) {
  const survival = risk.flatMap((one) =>
    Array.from({ length: T }, (_, t) => Math.exp(-0.04 * (t + 1) * Math.exp(one))),
  );
  return { N: risk.length, T, survival: Float64Array.from(survival) };
}

const curves = curvesOf(oracle.risk);
const late = {
  T,
  bin: Int32Array.from(oracle.time),
  event: Uint8Array.from(oracle.event),
  firstBin: Int32Array.from(oracle.entry, (one: number) => one + 1),
};
const weight = Float64Array.from(oracle.weight);
const weighed = { ...late, weight };
const { firstBin: _, ...plain } = late;

describe("concordance under late entry", () => {
  test.each([
    ["plain", late],
    ["weighted", weighed],
  ] as const)("%s pairs are R's", (which, outcomes) => {
    const found = timeDependentPairs(curves, outcomes);
    const { concordant, discordant, tied } = oracle[which];
    expect(found.concordant + found.censoredConcordant).toBeCloseTo(concordant, 9);
    expect(found.tied + found.censoredTied).toBeCloseTo(tied, 9);
    expect(found.pairs + found.censoredPairs).toBeCloseTo(concordant + discordant + tied, 9);
  });

  test("pairs of some rows are those of a loop over all pairs", () => {
    const rows = Int32Array.from({ length: 80 }, (_, k) => (7 * k) % 120);
    let [pairs, concordant] = [0, 0];
    for (const i of rows)
      for (const j of rows) {
        const t = late.bin[i];
        if (late.event[i] !== 1 || !(late.bin[j] > t && late.firstBin[j] <= t)) continue;
        pairs += weight[i] * weight[j];
        if (curves.survival[i * T + t - 1] < curves.survival[j * T + t - 1])
          concordant += weight[i] * weight[j];
      }
    const found = timeDependentPairs(curves, weighed, { rows });
    expect(found.pairs).toBeCloseTo(pairs, 9);
    expect(found.concordant).toBeCloseTo(concordant, 9);
  });
});

describe("individual logrank", () => {
  test("three rows by hand: hazards 1/2 and 1/4, one late, one at risk in no bin", () => {
    const halves = { N: 3, T: 2, survival: [1 / 2, 3 / 8, 1 / 2, 3 / 8, 1 / 2, 3 / 8] };
    const outcomes = { T: 2, bin: [2, 2, 1], event: [1, 0, 1], firstBin: [1, 2, 2], weight: [2, 3, 5] };
    const found = logrankIndividual(halves, outcomes);
    // E = 2(1/2 + 1/4) + 3·1/4; V = 4(1/4 + 3/16) + 9·3/16.
    expect(found).toMatchObject({ observed: 2, expected: 9 / 4, variance: 55 / 16 });
  });

  test("weights of 1 and entries at the start change nothing", () => {
    const ones = { ...plain, weight: new Float64Array(120).fill(1), firstBin: new Int32Array(120).fill(1) };
    expect(logrankIndividual(curves, ones)).toEqual(logrankIndividual(curves, plain));
  });
});

describe("drawn histories", () => {
  const everyone = Int32Array.from(plain.bin.keys());

  test("with weights and entries that say nothing they are the plain draws", () => {
    const options = { draws: 20, seed: 4 };
    const ones = { ...plain, weight: new Float64Array(120).fill(1), firstBin: new Int32Array(120).fill(1) };
    const [slow] = drawCounts(curves, ones, [everyone], options);
    const [fast] = drawCounts(curves, plain, [everyone], options);
    expect(slow.events).toEqual(fast.events);
    expect(slow.censored).toEqual(fast.censored);
    slow.expected.forEach((E, k) => {
      expect(E).toBeCloseTo(fast.expected[k], 9);
    });
  });

  test("under late entry, events that are drawn from the curves are as many as expected", () => {
    const draws = 400;
    const [drawn] = drawCounts(curves, late, [everyone], { draws, seed: 2 });
    let [sum, squares] = [0, 0];
    for (let k = 1; k <= draws; k++) {
      const O = drawn.events.subarray(k * (T + 1), (k + 1) * (T + 1)).reduce((a, b) => a + b, 0);
      sum += (O - drawn.expected[k]) / draws;
      squares += (O - drawn.expected[k]) ** 2 / drawn.variance[k] / draws;
    }
    expect(Math.abs(sum)).toBeLessThan(4 * Math.sqrt(drawn.variance[0] / draws));
    expect(Math.abs(squares - 1)).toBeLessThan(4 * Math.sqrt(2 / draws));
  });

  test("a person's event takes the person out of the rows after", () => {
    const certain = { N: 2, T: 2, survival: [0, 0, 1, 0] };
    const outcomes = { T: 2, bin: [1, 2], event: [0, 1], firstBin: [1, 2] };
    const path = { count: 1, of: Int32Array.of(0, 0) };
    const rows = [{ name: "all", rows: Int32Array.of(0, 1) }];
    const typed = { ...outcomes, bin: Int32Array.from(outcomes.bin), event: Uint8Array.from(outcomes.event) };
    const first = { ...typed, firstBin: Int32Array.from(outcomes.firstBin) };
    const curve = { ...certain, survival: Float64Array.from(certain.survival) };
    const [drawn] = drawCounts(curve, first, [rows[0].rows], { draws: 3, seed: 1, people: path });
    expect([...drawn.events.subarray(3)]).toEqual([0, 1, 0, 0, 1, 0, 0, 1, 0]);
  });

  test("a model that predicts a third of the events is found out, one that is right is not", () => {
    const random = createRandom(5, 1);
    const event = Uint8Array.from(late.bin, (bin, row) => {
      const before = late.firstBin[row] === 1 ? 1 : curves.survival[row * T + late.firstBin[row] - 2];
      return random.uniform() > curves.survival[row * T + bin - 1] / before ? 1 : 0;
    });
    const groups = [{ name: "all" }];
    const noiseOf = (of: typeof curves) => {
      const [noise] = eventNoise(of, { ...late, event }, groups, { draws: 99, seed: 1 });
      return isAbsent(noise) ? Number.NaN : noise.p;
    };
    const third = { ...curves, survival: curves.survival.map((S) => S ** (1 / 3)) };
    expect(noiseOf(third)).toBeLessThan(0.02);
    expect(noiseOf(curves)).toBeGreaterThan(0.02);
  });
});

describe("audits", () => {
  const groups = [{ name: "even", rows: Int32Array.from({ length: 60 }, (_, k) => 2 * k) }];

  test("under late entry what is defined is there, and the rest has its reason", async () => {
    const { overall, groups: audited } = await audit({ curves, outcomes: late, groups }, { draws: 20 });
    const counts = timeDependentPairs(curves, late);
    expect(overall.concordance).toBe(counts.concordant / counts.pairs);
    expect(overall.atRisk?.ratio).toBeCloseTo(
      (overall.logrankIndividual.observed ?? 0) / (overall.logrankIndividual.expected ?? 1),
      12,
    );
    expect(overall.logrankIndividual.adjustedP).not.toBeNull();
    expect(["disagrees", "noDisagreementShown"]).toContain(audited[0].agreement);
    for (const path of ["ece", "noiseFloor", "distanceL2", "bound", "logrank", "totalScore"])
      expect(overall.absent[path]).toMatch(/entered late are not comparable with Kaplan-Meier/);
    for (const path of ["ibs", "rps", "dCalibration"]) expect(overall.absent[path]).toMatch(/late entry/);
    const asked = audit({ curves, outcomes: late, groups }, { certify: { alpha: 0.05 } });
    await expect(asked).rejects.toThrow(/no certificate can be given under late entry/);
  });

  test("with weights of 1, scores are those without weights", async () => {
    const ones = { ...plain, weight: new Float64Array(120).fill(1) };
    const given = (await audit({ curves, outcomes: ones, groups }, { draws: 20 })).overall;
    const without = (await audit({ curves, outcomes: plain, groups }, { draws: 20 })).overall;
    for (const name of ["concordance", "ece", "distanceL2", "ibs", "rps", "totalScore"] as const)
      expect(given[name]).toBeCloseTo(without[name] ?? Number.NaN, 12);
    expect(given.noiseFloor).toEqual(without.noiseFloor);
    expect(given.logrankIndividual).toEqual(without.logrankIndividual);
    expect(given.absent.bound).toMatch(/weight of 2 is not two people/);
  });

  test("a whole weight weighs means as so many rows would", async () => {
    const whole = Float64Array.from({ length: 120 }, (_, k) => 1 + (k % 3));
    const rows = Array.from(whole, (w, row) => new Array<number>(w).fill(row)).flat();
    const repeated = {
      curves: {
        N: rows.length,
        T,
        survival: rows.flatMap((row) => [...curves.survival.subarray(row * T, row * T + T)]),
      },
      outcomes: { T, bin: rows.map((row) => plain.bin[row]), event: rows.map((row) => plain.event[row]) },
    };
    const given = (await audit({ curves, outcomes: { ...plain, weight: whole } }, { draws: 0 })).overall;
    const copied = (await audit(repeated, { draws: 0 })).overall;
    for (const name of ["concordance", "ibs", "rps"] as const)
      expect(given[name]).toBeCloseTo(copied[name] ?? Number.NaN, 10);
    expect(given.paper.ece).toBeCloseTo(copied.paper.ece ?? Number.NaN, 10);
  });

  test("replicates measure as the audit does", () => {
    const prepared = prepareScores("all", curves, weighed);
    const values = readScoreValues(evaluate(prepared, new Uint8Array(120).fill(1)));
    const counts = timeDependentPairs(curves, weighed);
    expect(values.concordance).toBeCloseTo(counts.concordant / counts.pairs, 12);
    const tested = logrankIndividual(curves, weighed);
    expect(values.logrankIndividualChi2).toBeCloseTo(isAbsent(tested) ? Number.NaN : tested.chi2, 9);
    expect(values.ece).toBeNaN();
  });
});
