import { describe, expect, test } from "vitest";
import { namesOf } from "../../src/core/names.ts";
import { createRandom } from "../../src/core/random.ts";
import { prepareConstraints } from "../../src/objectives/constraints.ts";
import { createCurveWorkspace, sigmoid } from "../../src/objectives/curves.ts";
import { DISTANCES, type DistanceName } from "../../src/objectives/distances/list.ts";
import { groupDistances } from "../../src/objectives/distances.ts";
import { freshNoise, resolveSlack } from "../../src/objectives/slack.ts";
import { createCohort, expectEntries, rowsWhere } from "./gradient-checks.ts";

const { binned, groups } = createCohort(200, 12, 91);
const prepare = (distance: DistanceName, variant: "paper" | "default" = "default") =>
  prepareConstraints({ binned, groups, distance, variant });

describe("auto", () => {
  test("l2: κ × the mean Greenwood variance of the supported bins; all bins in paper", () => {
    for (const variant of ["paper", "default"] as const) {
      const constraints = prepare("l2", variant);
      const noise = constraints.groups.map(({ km, support }) => {
        const bins = variant === "paper" ? 12 : support;
        const defined = Array.from(km.variance.subarray(1, bins + 1)).filter((v) => !Number.isNaN(v));
        return defined.reduce((sum, v) => sum + v, 0) / defined.length;
      });
      expectEntries(freshNoise(constraints), noise, 1e-14, "noise");
      const quarter = noise.map((value) => value / 4);
      expectEntries(resolveSlack(constraints, "auto"), quarter, 1e-14, "slack");
      expectEntries(resolveSlack(constraints, "auto", { kappa: 1 }), noise, 1e-14, "κ = 1");
    }
  });

  test("worked by hand: four rows, one event in bin 1 of 2", () => {
    const small = { T: 2, bin: Int32Array.of(1, 2, 2, 2), event: Uint8Array.of(1, 0, 0, 0) };
    const all = [{ name: "all", rows: Int32Array.of(0, 1, 2, 3) }];
    const constraints = prepareConstraints({ binned: small, groups: all, distance: "l2", variant: "paper" });
    // S = 3/4 in both bins, Var = (3/4)² · 1/(4·3) = 3/64.
    expectEntries(freshNoise(constraints), [3 / 64], 1e-15);
  });

  test("l2 without events: the smallest step the curve can make, squared", () => {
    const rows = rowsWhere(200, (row) => binned.event[row] === 0).slice(0, 20);
    const constraints = prepareConstraints({
      binned,
      groups: [
        { name: "event-free", rows },
        { name: "nobody", rows: new Int32Array(0) },
      ],
      distance: "l2",
      variant: "paper",
    });
    expectEntries(resolveSlack(constraints, "auto"), [0.25 / 400, 0.25], 1e-15);
  });

  test("variance: in standard errors already; atRisk: κ", () => {
    expect(Array.from(resolveSlack(prepare("variance", "paper"), "auto"))).toEqual([1.96, 1.96, 1.96, 1.96]);
    expect(Array.from(resolveSlack(prepare("variance"), "auto", { kappa: 1 }))).toEqual([2.8, 2.8, 2.8, 2.8]);
    expect(Array.from(resolveSlack(prepare("atRisk"), "auto"))).toEqual([0.25, 0.25, 0.25, 0.25]);
    expect(Array.from(freshNoise(prepare("atRisk")))).toEqual([1, 1, 1, 1]);
  });
});

test("the largest gap a perfect model shows: E|Z| with one event bin, more with many, the same in every run", () => {
  const one = {
    T: 1,
    bin: new Int32Array(40).fill(1),
    event: Uint8Array.from({ length: 40 }, (_, i) => i % 2),
  };
  const all = [{ name: "all", rows: rowsWhere(40, () => true) }];
  const single = prepareConstraints({ binned: one, groups: all, distance: "variance", variant: "paper" });
  // E|Z| = √(2/π); a mean of 1000 draws has a standard error of 0.6/√1000 = 0.019.
  expect(Math.abs(freshNoise(single)[0] - Math.sqrt(2 / Math.PI))).toBeLessThan(3 * 0.019);
  const many = freshNoise(prepare("variance"));
  for (const noise of many) {
    expect(noise).toBeGreaterThan(1.2);
    expect(noise).toBeLessThan(2.2);
  }
  expect(freshNoise(prepare("variance"))).toEqual(many);
});

test("one number for all, or a table; groups it does not name take auto", () => {
  const constraints = prepare("l2");
  expect(Array.from(resolveSlack(constraints, 0.02))).toEqual([0.02, 0.02, 0.02, 0.02]);
  const auto = resolveSlack(constraints, "auto");
  expect(Array.from(resolveSlack(constraints, { even: 0.5 }))).toEqual([auto[0], 0.5, auto[2], auto[3]]);
});

test("unknown names and slacks that are no slack", () => {
  const constraints = prepare("l2");
  expect(() => resolveSlack(constraints, { evne: 0.5 })).toThrow(
    'slack for an unknown group: "evne" (have all, even, first two thirds, every fifth)',
  );
  expect(() => resolveSlack(constraints, 0)).toThrow("slack is not a positive number: 0");
  expect(() => resolveSlack(constraints, { even: Number.NaN })).toThrow(
    'slack of group "even" is not a positive number: NaN',
  );
  expect(() => resolveSlack(constraints, "auto", { kappa: -1 })).toThrow(
    "kappa is not a positive number: -1",
  );
});

test.each(namesOf(DISTANCES))("%s: the noise is what the true model shows on fresh samples", (distance) => {
  const [N, T, draws] = [300, 20, 250];
  const random = createRandom(17);
  const logits = Float64Array.from({ length: N * T }, (_, k) => -3.5 + (k % T) / 20); // the same truth for everyone
  const everyone = [{ name: "all", rows: rowsWhere(N, () => true) }];
  const curves = createCurveWorkspace(N, T);
  let sum = 0;
  let squares = 0;
  let noise = 0;
  for (let draw = 0; draw < draws; draw++) {
    const event = new Uint8Array(N);
    const bin = Int32Array.from({ length: N }, (_, row) => {
      const leaves = 1 + random.integer(T);
      for (let t = 1; t <= leaves; t++) {
        if (random.uniform() >= sigmoid(logits[t - 1])) continue;
        event[row] = 1;
        return t;
      }
      return leaves;
    });
    const sample = { T, bin, event };
    const constraints = prepareConstraints({
      binned: sample,
      groups: everyone,
      distance,
      variant: "default",
    });
    const [measured] = groupDistances(constraints, logits, [0], curves, null, 1);
    sum += measured;
    squares += measured * measured;
    // One sample's noise is an estimate; a few of them are enough, and the simulated ones take milliseconds each.
    if (draw < 10) noise += freshNoise(constraints)[0] / 10;
  }
  const mean = sum / draws;
  const error = Math.sqrt((squares / draws - mean * mean) / draws);
  expect(Math.abs(mean - noise)).toBeLessThan(3 * error);
});
