// The clash test by hand, against R (test/oracles/clash.R), and its level and power on simulated cohorts.
import { readFileSync } from "node:fs";
import { describe, expect, test } from "vitest";
import {
  CERTAIN_UP_TO,
  countTwoSided,
  negativeBinomialLowerTail,
  negativeBinomialUpperTail,
  poissonLowerTail,
  poissonUpperTail,
} from "../../src/core/poisson.ts";
import { createRandom, type Random } from "../../src/core/random.ts";
import type { Targets } from "../../src/data/targets/targets.ts";
import { EXACT_BELOW, testClash } from "../../src/stats/clash.ts";
import { binomialRange } from "../../src/stats/comparison.ts";

interface ToldGroup {
  readonly group: string;
  readonly time: readonly number[];
  readonly survival: readonly number[];
  readonly se: readonly number[];
}

function targetsOf(groups: readonly ToldGroup[]): Targets {
  const curves = groups.map(({ group, time, survival, se }) => ({
    group,
    time: Float64Array.from(time),
    survival: Float64Array.from(survival),
    se: Float64Array.from(se),
    floored: 0,
  }));
  return { name: "registry.csv", about: { overlap: 0 }, curves };
}

const near = (actual: number, expected: number, tolerance: number) =>
  expect(Math.abs(actual - expected), `${actual} against ${expected}`).toBeLessThanOrEqual(
    tolerance * Math.max(1, Math.abs(expected)),
  );

describe("by hand", () => {
  // S* = 1/2 at 2 and 1/4 at 6, so Λ* is log 2 at 2 and 2 log 2 at 6.
  const told = { group: "all", time: [2, 6], survival: [0.5, 0.25], se: [0.05, 0.05] };

  test("follow-up is cut at the last target time, and Λ* is linear between the times", () => {
    // Λ*(1) = ½ log 2; Λ*(4) = 1½ log 2; Λ*(6) = 2 log 2, for 6 itself and for 9, whose event comes too late.
    const outcomes = { time: [1, 4, 6, 9], event: [1, 0, 1, 1] };
    const [one] = testClash(outcomes, [], targetsOf([{ ...told, se: [0, 0] }]));
    expect(one).toMatchObject({ group: "all", observed: 2, z: null });
    near(one.expected, 6 * Math.LN2, 1e-15);
    // P(X ≤ 2) = e^−m (1 + m + m²/2) is the smaller tail of m = 6 log 2 = 4.16, and e^−m = 1/64.
    const m = 6 * Math.LN2;
    near(one.p, (2 / 64) * (1 + m + (m * m) / 2), 1e-14);
    expect(one.adjusted).toBe(one.p);
  });

  test("the exact test of an uncertain target is negative binomial", () => {
    // All of 10 people are watched to 1: E = 10 log 2 and V = 100 (se/S*)², so an se of S* log 2 / √2 gives r = 2.
    const uncertain = { group: "all", time: [1], survival: [0.5], se: [(0.5 * Math.LN2) / Math.SQRT2] };
    const time = new Float64Array(10).fill(1);
    const [one] = testClash({ time, event: Array.from(time, (_, i) => i === 0) }, [], targetsOf([uncertain]));
    expect(one).toMatchObject({ observed: 1, z: null });
    // P(X ≤ 1) = q² + 2 q² (1 − q), q = r/(r + E).
    const q = 2 / (2 + 10 * Math.LN2);
    near(one.p, 2 * q * q * (1 + 2 * (1 - q)), 1e-14);
  });

  test("the variance of the target is added to that of the count", () => {
    // a = (30, 20): 10 people leave at 2, 20 at 6. E = 50 log 2. G is 1/100 at 2 and 4/100 at 6, so
    // V = E + 900/100 + 400 · 3/100 = E + 21.
    const time = Array.from({ length: 30 }, (_, i) => (i < 10 ? 2 : 6));
    const [one] = testClash({ time, event: time.map(() => 1) }, [], targetsOf([told]));
    expect(one.observed).toBe(30);
    near(one.expected, 50 * Math.LN2, 1e-14);
    near(one.z ?? 0, (30 - 50 * Math.LN2) / Math.sqrt(50 * Math.LN2 + 21), 1e-13);
  });

  test("a variance that falls is held at its maximum", () => {
    const time = Array.from({ length: 30 }, () => 6);
    const falling = { ...told, se: [0.05, 0.01] };
    const [one] = testClash({ time, event: time.map(() => 1) }, [], targetsOf([falling]));
    near(one.z ?? 0, (30 - 60 * Math.LN2) / Math.sqrt(60 * Math.LN2 + 9), 1e-13);
  });
});

describe("at the edges", () => {
  const told = { group: "older", time: [1], survival: [0.5], se: [0.01] };

  test("the test is exact below 20 expected events, and normal from there on", () => {
    const certain = { group: "all", time: [1], survival: [Math.exp(-1)], se: [0.001] };
    const people = (count: number) => ({
      time: new Float64Array(count).fill(1),
      event: new Uint8Array(count).fill(1),
    });
    const [below] = testClash(people(EXACT_BELOW - 1), [], targetsOf([certain]));
    const [above] = testClash(people(EXACT_BELOW + 1), [], targetsOf([certain]));
    expect([below.z === null, above.z === null]).toEqual([true, false]);
  });

  test("a target that is almost certain is taken as certain, and the p-value does not jump there", () => {
    for (const mean of [0.1, 1, 7.3, 19.99]) {
      for (const count of [0, 1, 5, 20, 45]) {
        const edge = CERTAIN_UP_TO * mean;
        const certain = countTwoSided(count, mean, 0);
        expect(countTwoSided(count, mean, edge)).toBe(certain);
        const beyond = countTwoSided(count, mean, edge * 1.001);
        near(Math.log(beyond), Math.log(certain), 1e-6);
      }
    }
    expect([countTwoSided(0, 0, 0.25), countTwoSided(1, 0, 0.25)]).toEqual([1, 0]);
  });

  test("a group without rows contradicts nothing; nor does a target of 1 without events", () => {
    const outcomes = { time: [3], event: [0] };
    const [empty] = testClash(outcomes, [{ name: "older", rows: [] }], targetsOf([told]));
    expect(empty).toEqual({ group: "older", observed: 0, expected: 0, z: null, p: 1, adjusted: 1 });
    const immortal = targetsOf([{ group: "all", time: [5], survival: [1], se: [0.001] }]);
    expect(testClash(outcomes, [], immortal)[0].p).toBe(1);
    expect(testClash({ time: [3], event: [1] }, [], immortal)[0].p).toBe(0);
  });

  test("an uncertain end of a curve that nobody reaches costs nothing", () => {
    const time = Array.from({ length: 40 }, () => 1);
    const short = targetsOf([{ ...told, group: "all" }]);
    const long = targetsOf([{ group: "all", time: [1, 2], survival: [0.5, 1e-200], se: [0.01, 0.1] }]);
    const event = time.map(() => 1);
    expect(testClash({ time, event }, [], long)[0].z).toBe(testClash({ time, event }, [], short)[0].z);
  });

  test("a target without a group is refused with the known names", () => {
    const act = () => testClash({ time: [1], event: [1] }, [{ name: "olden", rows: [0] }], targetsOf([told]));
    expect(act).toThrowError('unknown group in the targets: "older" (have all, olden)');
    expect(act).toThrowError(
      expect.objectContaining({ code: "targets.group", hint: 'did you mean "olden"?' }),
    );
  });

  test("weights are refused", () => {
    const weighted = { time: [1], event: [1], weight: [2] } as unknown as { time: number[]; event: number[] };
    expect(() => testClash(weighted, [], targetsOf([]))).toThrowError(/clash test/);
  });
});

interface Oracle {
  readonly time: readonly number[];
  readonly event: readonly number[];
  readonly cuts: readonly number[];
  readonly members: readonly { readonly name: string; readonly rows: readonly number[] }[];
  readonly sets: readonly {
    readonly name: string;
    readonly groups: readonly (Omit<ToldGroup, "time"> & {
      readonly observed: number;
      readonly expected: number;
      readonly z: number | null;
      readonly p: number;
      readonly adjusted: number;
    })[];
  }[];
  /** k, mean, log P(X ≤ k), log P(X ≥ k). */
  readonly tails: readonly (readonly [number, number, number, number])[];
  /** k, size, mean, log P(X ≤ k), log P(X ≥ k). */
  readonly mixed: readonly (readonly [number, number, number, number, number])[];
}

const oracle: Oracle = JSON.parse(readFileSync(new URL("../oracles/clash.json", import.meta.url), "utf8"));

describe("R", () => {
  test.each(oracle.sets)("survdiff, pyears, pnbinom and p.adjust on lung, $name targets", ({ groups }) => {
    const targets = targetsOf(groups.map((one) => ({ ...one, time: oracle.cuts })));
    const tested = testClash(oracle, oracle.members, targets);
    expect(tested.map(({ group }) => group)).toEqual(groups.map(({ group }) => group));
    groups.forEach((expected, g) => {
      const { observed, expected: E, z, p, adjusted } = tested[g];
      expect(observed).toBe(expected.observed);
      near(E, expected.expected, 1e-12);
      expect(z === null).toBe(expected.z === null);
      if (z !== null && expected.z !== null) near(z, expected.z, 1e-12);
      near(Math.log(p), Math.log(expected.p), 1e-11);
      near(Math.log(adjusted), Math.log(expected.adjusted), 1e-11);
    });
    // Both tests occur in every set.
    expect(new Set(tested.map(({ z }) => z === null)).size).toBe(2);
  });

  test("ppois, both tails", () => {
    for (const [k, mean, logLower, logUpper] of oracle.tails) {
      near(Math.log(poissonLowerTail(k, mean)), logLower, 1e-12);
      // Down to where float64 can hold it.
      if (logUpper > -700) near(Math.log(poissonUpperTail(k, mean)), logUpper, 1e-12);
    }
    expect([poissonUpperTail(0, 0), poissonUpperTail(1, 0), poissonLowerTail(0, 0)]).toEqual([1, 0, 1]);
    expect(countTwoSided(4, 4, 0)).toBe(1);
  });

  test("pnbinom, both tails", () => {
    for (const [k, size, mean, logLower, logUpper] of oracle.mixed) {
      // Beyond, the incomplete beta function loses digits, and the Poisson distribution is near.
      const tolerance = size <= 1e6 ? 1e-10 : 1e-8;
      near(Math.log(negativeBinomialLowerTail(k, size, mean)), logLower, tolerance);
      if (logUpper > -700) near(Math.log(negativeBinomialUpperTail(k, size, mean)), logUpper, tolerance);
    }
    expect([negativeBinomialLowerTail(-1, 2, 3), negativeBinomialUpperTail(0, 2, 3)]).toEqual([0, 1]);
  });
});

/** Three kinds of people with constant hazards, equally frequent; group k is kind k, "all" is everyone. */
const HAZARDS = [0.02, 0.05, 0.1];
const YEARS = [1, 2, 3, 5];
const CENSORED_BY = 8;

/** What a registry of `N` people, all watched to the last year, prints. */
function drawRegistry(N: number, random: Random): Targets {
  const names = ["all", ...HAZARDS.map((_, k) => `kind ${k}`)];
  const truth = HAZARDS.map((hazard) => YEARS.map((year) => Math.exp(-hazard * year)));
  const people = names.map(() => 0);
  const alive = names.map(() => YEARS.map(() => 0));
  for (let i = 0; i < N; i++) {
    const kind = random.integer(HAZARDS.length);
    const quantile = 1 - random.uniform();
    for (const g of [0, kind + 1]) {
      people[g]++;
      for (let j = 0; j < YEARS.length && quantile < truth[kind][j]; j++) alive[g][j]++;
    }
  }
  const told = names.map((group, g) => {
    const survival = alive[g].map((count) => count / people[g]);
    return { group, time: YEARS, survival, se: survival.map((S) => Math.sqrt((S * (1 - S)) / people[g])) };
  });
  return targetsOf(told);
}

interface Simulation {
  /** Local people. */
  readonly local: number;
  /** Local hazards, as a multiple of the registry's. */
  readonly ratio: number;
  /** People in the registry. */
  readonly registry: number;
}

/** The smallest adjusted p of a local cohort with uniform censoring. */
function drawSmallest({ local, ratio, registry }: Simulation, random: Random): number {
  const kinds = Int32Array.from({ length: local }, () => random.integer(HAZARDS.length));
  const died = Float64Array.from(kinds, (kind) => -Math.log(1 - random.uniform()) / (HAZARDS[kind] * ratio));
  const left = Float64Array.from(kinds, () => CENSORED_BY * random.uniform());
  const time = died.map((t, i) => Math.min(t, left[i]));
  const event = Uint8Array.from(died, (t, i) => (t <= left[i] ? 1 : 0));
  const groups = HAZARDS.map((_, k) => ({ name: `kind ${k}`, rows: [] as number[] }));
  kinds.forEach((kind, i) => {
    groups[kind].rows.push(i);
  });
  const tested = testClash({ time, event }, groups, drawRegistry(registry, random));
  return Math.min(...tested.map(({ adjusted }) => adjusted));
}

/** In how many cohorts some group clashes at 5 %. */
function countAlarms(draws: number, simulation: Simulation): number {
  let alarms = 0;
  for (let draw = 0; draw < draws; draw++) {
    if (drawSmallest(simulation, createRandom(20, draw)) < 0.05) alarms++;
  }
  return alarms;
}

// Expected events of 800 people: 134, 18, 41 and 75, so that kind 0 has the exact test in nine cohorts of ten. Of 200
// people, only "all" has the normal one in most.
describe("local rows in simulation", () => {
  test.each([
    { local: 800, registry: 5000, draws: 300 },
    { local: 800, registry: 800, draws: 500 },
    { local: 200, registry: 200, draws: 1000 },
  ])("$local, registry $registry: no more than 5 % of false alarms", ({ local, registry, draws }) => {
    // Up to so many alarms are no evidence of a level above 5 %.
    const most = binomialRange(draws, 0.05, 0.98).high;
    expect(countAlarms(draws, { local, ratio: 1, registry })).toBeLessThanOrEqual(most);
  });

  test("an alarm in at least 90 % where everyone's hazard is half as high again", () => {
    expect(countAlarms(200, { local: 800, ratio: 1.5, registry: 5000 })).toBeGreaterThanOrEqual(180);
  });
});
