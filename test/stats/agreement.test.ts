// The bound of small groups, held against people whose true curves are known: from ten events on it holds as often as
// it says.
import { describe, expect, test } from "vitest";
import { absent } from "../../src/core/measured.ts";
import { createRandom } from "../../src/core/random.ts";
import { boundGroups } from "../../src/stats/certificates/certificates.ts";
import { audit } from "../../src/verbs/audit.ts";

const T = 25;

/**
 * n people with one hazard, of whom `share` have the event by T, followed for an even time; `late`: most hazard at the
 * end.
 */
function drawPeople(n: number, share: number, late: boolean, random: ReturnType<typeof createRandom>) {
  const weight = (t: number) => (late ? (t > 0.7 * T ? 6 : 0.3) : 1);
  const total = Array.from({ length: T }, (_, k) => weight(k + 1)).reduce((sum, one) => sum + one, 0);
  let S = 1;
  const truth = Array.from({ length: T }, (_, k) => {
    S *= (1 - share) ** (weight(k + 1) / total);
    return S;
  });
  const bin = new Int32Array(n);
  const event = new Uint8Array(n);
  for (let i = 0; i < n; i++) {
    const uniform = random.uniform();
    const dies = truth.findIndex((one) => one <= uniform) + 1;
    const watched = 1 + random.integer(T);
    event[i] = dies > 0 && dies <= watched ? 1 : 0;
    bin[i] = event[i] === 1 ? dies : watched;
  }
  return { truth, outcomes: { T, bin, event } };
}

describe("bounds of groups with few events", () => {
  test.each([
    { n: 30, share: 0.6, late: false },
    { n: 60, share: 0.4, late: false },
    { n: 300, share: 0.08, late: false },
    { n: 120, share: 0.3, late: true },
  ])("$n people, $share with the event, late $late: missed in at most 5 of 100", ({ n, share, late }) => {
    const AUDITS = 150;
    const powers = [0.3, 1, 3];
    const missed = powers.map(() => 0);
    let given = 0;
    for (let k = 0; k < AUDITS; k++) {
      const { truth, outcomes } = drawPeople(n, share, late, createRandom(77, k));
      const rows = Int32Array.from({ length: n }, (_, i) => i);
      const atRisk = (t: number) => outcomes.bin.filter((one) => one >= t).length;
      let last = T;
      while (last > 0 && atRisk(last) < 10) last--;
      const bounds = powers.map((power) => {
        const survival = Float64Array.from({ length: n * T }, (_, i) => truth[i % T] ** power);
        const options = { alpha: 0.05, draws: 256, seed: k };
        return boundGroups({ N: n, T, survival }, outcomes, [{ rows }], options).groups[0];
      });
      if (typeof bounds[0] !== "number") continue;
      given++;
      bounds.forEach((bound, p) => {
        const squares = truth.slice(0, last).map((S) => (S ** powers[p] - S) ** 2);
        const distance = Math.sqrt(squares.reduce((sum, one) => sum + one, 0) / last);
        if (Number(bound) < distance) missed[p]++;
      });
    }
    // The design has about as many events as the fewest that are given a bound.
    expect(given).toBeGreaterThan(AUDITS / 10);
    for (const count of missed) expect(count / given).toBeLessThanOrEqual(0.05);
  });
});

test("below ten events there is no bound, and the audit says so", async () => {
  const { truth, outcomes } = drawPeople(40, 0.6, false, createRandom(5));
  const survival = Float64Array.from({ length: 40 * T }, (_, i) => truth[i % T]);
  const curves = { N: 40, T, survival };
  const few = Int32Array.from({ length: 40 }, (_, i) => i).filter(
    (_, k, all) => all.slice(0, k + 1).filter((one) => outcomes.event[one] === 1).length < 6,
  );
  const result = await audit({ curves, outcomes, groups: [{ name: "few", rows: few }] }, { draws: 20 });
  const [group] = result.groups;
  expect(group).toMatchObject({ events: 5, agreement: "tooFewEvents", bound: null });
  expect(group.absent.bound).toBe("fewer than 10 events: 5");
  expect(group.expectedEvents).toBeLessThan(10);
  const reason = `5 events observed, ${group.expectedEvents.toFixed(1)} expected: fewer than 10 of either, too few to say`;
  expect(group.absent["logrankIndividual.adjustedP"]).toBe(reason);
  expect(group.absent["departure.adjustedP"]).toBe(reason);
  expect(result.bounds).toEqual({ alpha: 0.05, draws: 1024, seed: 1 });
  const seen = await audit({ curves, outcomes }, { draws: 0, unbounded: "seen" });
  expect(seen.overall).toMatchObject({ bound: null, absent: { bound: "seen" } });
  expect(boundGroups(curves, outcomes, [{ rows: Int32Array.of() }], { alpha: 0.05 }).groups).toEqual([
    absent("no rows"),
  ]);
});
