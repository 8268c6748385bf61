// Rows of one person in the bootstrap, the noise floor and the certificates: a table with every row twice says what it
// says once.
import { describe, expect, test } from "vitest";
import { isAbsent } from "../../src/core/measured.ts";
import { createRandom } from "../../src/core/random.ts";
import type { Curves } from "../../src/data/curves/curves.ts";
import type { BinnedRightCensored } from "../../src/data/outcomes/outcomes.ts";
import type { People } from "../../src/data/outcomes/people.ts";
import { bootstrapInParallel } from "../../src/node/workers/replicate-pool.ts";
import { meanCurve } from "../../src/stats/calibration/calibration.ts";
import { boundByMultipliers } from "../../src/stats/certificates/tight.ts";
import { kaplanMeierBinned } from "../../src/stats/kaplan-meier.ts";
import { bootstrapWeights } from "../../src/stats/scores/bootstrap.ts";
import { prepareScores } from "../../src/stats/scores/prepared-scores.ts";
import { audit } from "../../src/verbs/audit.ts";
import { drawCounts } from "./draw-counts.ts";
import { drawPeople } from "../simulated-people.ts";

const N = 240;
const once = drawPeople(N, 5, null);
const everySecond = (_: unknown, k: number) => k >> 1;
const T = once.curves.T;

/** Every row twice, the copies side by side. */
const curves: Curves = {
  N: 2 * N,
  T,
  survival: Float64Array.from({ length: 2 * N * T }, (_, k) => {
    const row = Math.floor(k / T) >> 1;
    return once.curves.survival[row * T + (k % T)];
  }),
};
const outcomes: BinnedRightCensored = {
  T,
  bin: Int32Array.from({ length: 2 * N }, everySecond).map((row) => once.outcomes.bin[row]),
  event: Uint8Array.from(Int32Array.from({ length: 2 * N }, everySecond), (row) => once.outcomes.event[row]),
};
const people: People = { count: N, of: Int32Array.from({ length: 2 * N }, everySecond) };
const women = Int32Array.from({ length: N }, (_, row) => row).filter((row) => row % 3 > 0);
const womenTwice = Int32Array.from([...women].flatMap((row) => [2 * row, 2 * row + 1]));
const settings = { seed: 3, draws: 60, replicates: 120, certify: { alpha: 0.05, draws: 256 } };

describe("a table with every row twice", () => {
  test("by person: the intervals, floors and tight bounds of the table once; by row they are narrower", async () => {
    const single = await audit({ ...once, groups: [{ name: "women", rows: women }] }, settings);
    const groups = [{ name: "women", rows: womenTwice }];
    const twice = await audit({ curves, outcomes, groups, people }, settings);
    const byRow = await audit({ curves, outcomes, groups }, settings);
    const width = ({ lower, upper }: { lower: number | null; upper: number | null }) =>
      (upper ?? Number.NaN) - (lower ?? Number.NaN);
    for (const pick of [(one: typeof single) => one.overall, (one: typeof single) => one.groups[0]]) {
      const [a, b, c] = [single, twice, byRow].map((one) => pick(one).intervals);
      if (a === undefined || b === undefined || c === undefined) return expect.unreachable();
      // Weights are doubled throughout, which no ratio of sums notices to the last bit.
      expect(b.concordance).toEqual(a.concordance);
      // Over all bins: twice the rows at risk support more of them.
      expect(b.paper.ece.upper).toBeCloseTo(a.paper.ece.upper ?? Number.NaN, 12);
      expect(b.ibs.lower).toBeCloseTo(a.ibs.lower ?? Number.NaN, 12);
      expect(width(c.concordance)).toBeLessThan(0.85 * width(b.concordance));
      const floors = [single, twice, byRow].map((one) => pick(one).paper.noiseFloor);
      expect(floors[1]?.ece).toBeCloseTo(floors[0]?.ece ?? Number.NaN, 12);
      expect(floors[1]?.p).toBe(floors[0]?.p);
      expect(floors[2]?.ece).toBeLessThan(0.85 * (floors[1]?.ece ?? Number.NaN));
    }
    // Twice the rows at risk reach further, so the bounds are compared over the same bins.
    const bound = (of: typeof once, rows: Int32Array, who?: People) => {
      const mean = meanCurve(of.curves, undefined, rows);
      if (isAbsent(mean)) throw new Error(mean.absent);
      const group = { rows, mean, km: kaplanMeierBinned(of.outcomes, undefined, rows), last: 12 };
      const together = { alpha: 0.05, draws: 256, seed: 3, ...(who && { people: who }) };
      return boundByMultipliers(of.curves, of.outcomes, [group], together).groups[0].upper;
    };
    const doubled = { ...once, curves, outcomes };
    expect(bound(doubled, womenTwice, people)).toBeCloseTo(bound(once, women), 12);
    expect(bound(doubled, womenTwice)).toBeLessThan(bound(once, women));
    for (const { exact, absent } of twice.certificates?.groups ?? []) {
      expect(exact).toBeNull();
      expect(absent.exact).toBe(`${2 * N} rows of ${N} people are not independent`);
    }
    expect(twice.certificates?.assumes.join()).toContain("rows of one person may hang together");
    expect(byRow.certificates?.groups[0].exact).not.toBeNull();
  });

  test("people of one row each change nothing", async () => {
    const alone: People = { count: N, of: Int32Array.from({ length: N }, (_, k) => k) };
    const groups = [{ name: "women", rows: women }];
    expect(await audit({ ...once, groups, people: alone }, settings)).toEqual(
      await audit({ ...once, groups }, settings),
    );
  });

  test("workers resample the same people", async () => {
    const options = { seed: 3, replicates: 12, people };
    const prepared = [prepareScores("all", curves, outcomes)];
    const [one] = await bootstrapInParallel(prepared, { ...options, threads: 1 });
    const [two] = await bootstrapInParallel(prepared, { ...options, threads: 2 });
    expect(two.values).toEqual(one.values);
    await expect(
      bootstrapInParallel(prepared, { ...options, people: { count: 1, of: new Int32Array(3) } }),
    ).rejects.toThrow("people are given for 3 rows");
  });
});

describe("the noise floor of people with several rows", () => {
  test("no dependence of a person's rows makes the events vary more than the shared numbers do", () => {
    // 300 people of two rows each with the same curve: shared, all rows of a person have the event or none; by row, a
    // half varies.
    const P = 300;
    const random = createRandom(2);
    const flat: Curves = { N: 2 * P, T: 2, survival: new Float64Array(4 * P).fill(0.6) };
    const late: BinnedRightCensored = {
      T: 2,
      bin: new Int32Array(2 * P).fill(2),
      event: Uint8Array.from({ length: 2 * P }, () => (random.uniform() < 0.4 ? 1 : 0)),
    };
    const rows = Int32Array.from({ length: 2 * P }, (_, k) => k);
    const variance = (who?: People) => {
      const [drawn] = drawCounts(flat, late, [rows], { draws: 400, seed: 1, ...(who && { people: who }) });
      const counts = Array.from({ length: 400 }, (_, k) => drawn.events[(k + 1) * 3 + 1]);
      const mean = counts.reduce((sum, one) => sum + one, 0) / 400;
      return counts.reduce((sum, one) => sum + (one - mean) ** 2, 0) / 399;
    };
    const shared = variance({ count: P, of: rows.map((row) => row >> 1) });
    const apart = variance();
    // 2P·q(1−q) = 144 by row and twice that shared; four standard errors of a variance over 400 draws are 28 %.
    expect(Math.abs(apart / 144 - 1)).toBeLessThan(0.28);
    expect(Math.abs(shared / 288 - 1)).toBeLessThan(0.28);
  });

  test("a person's rows are drawn as often as the person", () => {
    const weights = bootstrapWeights(2 * N, 7, 4, people);
    expect(weights.filter((_, k) => k % 2 === 0)).toEqual(bootstrapWeights(N, 7, 4));
    expect(weights.filter((_, k) => k % 2 === 1)).toEqual(bootstrapWeights(N, 7, 4));
  });
});
