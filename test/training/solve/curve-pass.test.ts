// The mean incidence of one of two causes in the solve of its output layer, against the incidences of all logits
// (objectives/causes), and its derivatives by differences; beside a cause that never happens it is the survival curve.
import { describe, expect, test } from "vitest";
import { createRandom } from "../../../src/core/random.ts";
import { incidenceCurves } from "../../../src/objectives/causes/cause-curves.ts";
import { seeCause } from "../../../src/objectives/causes/cause-rows.ts";
import { prepareConstraints } from "../../../src/objectives/constraints.ts";
import { measureDistances } from "../../../src/objectives/distances.ts";
import { measureStatistics } from "../../../src/objectives/group-statistics.ts";
import { holdToKaplanMeier } from "../../../src/training/solve/curves/curve-constraints.ts";
import { curvesAt, curvesBelow } from "../../../src/training/solve/curves/curve-pass.ts";
import { type CurveTerm, createCurveTerms } from "../../../src/training/solve/curves/curve-terms.ts";
import { countTheta, createLayout, listByRow, type SolveRows } from "../../../src/training/solve/layout.ts";
import { expectEntries } from "../../objectives/gradient-checks.ts";
import { simulateCauses } from "../../stats/simulated-causes.ts";

const [N, T] = [12, 6];
const random = createRandom(3);
const draw = (length: number, level: number) =>
  Float64Array.from({ length }, () => level + 0.6 * random.normal());
const [own, other] = [draw(N * T, -1.5), draw(N * T, -1)];
const blocks = [
  { first: 1, last: 3 },
  { first: 4, last: 6 },
];
const layout = createLayout(blocks, new Float64Array(T).fill(6), { dense: 1, shaped: 2 });
const x = draw(N, 0);
const rows: SolveRows = {
  N,
  bin: new Int32Array(N).fill(T),
  event: new Uint8Array(N),
  logits: own.map((z, k) => z - Math.log1p(Math.exp(other[k]))),
  beside: other.map((z) => 1 / (1 + Math.exp(z))),
  first: Float64Array.from({ length: N + 1 }, (_, n) => n * T),
  x,
  stride: 1,
  shaped: listByRow(N, [
    { rows: [0, 1, 2, 3, 4] },
    { rows: [3, 4, 5, 9], values: Float64Array.of(0.2, 0.7, 1, 0.4) },
  ]),
};
const theta = draw(countTheta(layout), 0).map((one) => one / 3);

/** 1 − F of this cause from both causes' logits, [N,T]; the layer adds to its own. */
function freeOf(added: ArrayLike<number>): Float64Array {
  const logits = new Float64Array(2 * N * T);
  for (let n = 0; n < N; n++) {
    for (let t = 0; t < T; t++) {
      logits[2 * n * T + t] = own[n * T + t] + added[n * T + t];
      logits[(2 * n + 1) * T + t] = other[n * T + t];
    }
  }
  const incidence = new Float64Array(logits.length);
  incidenceCurves(logits, { N, K: 2, T }, incidence);
  return Float64Array.from({ length: N * T }, (_, k) => 1 - incidence[2 * Math.floor(k / T) * T + (k % T)]);
}

/** What the layer adds: log-odds at θ less those at 0. */
function addedAt(at: Float64Array): Float64Array {
  const hazards = (value: Float64Array) => {
    const { beside: _, ...alone } = rows;
    const survival = curvesAt(layout, alone, value);
    return survival.map((S, k) => 1 - S / (k % T === 0 ? 1 : survival[k - 1]));
  };
  const [from, to] = [hazards(new Float64Array(at.length)), hazards(at)];
  return to.map((h, k) => Math.log(h / (1 - h)) - Math.log(from[k] / (1 - from[k])));
}

const members = Int32Array.of(1, 3, 4, 8, 11);
const target = Float64Array.of(0.9, 0.8, 0.8, 0.7, 0.6, 0.5);
const term: CurveTerm = {
  rows: members,
  residuals: Array.from(target, (one, bin) => ({ weights: [{ bin, weight: 0.5 }], target: one / 2 })),
  isConstraint: true,
};

function gapOf(free: Float64Array): number {
  return target.reduce((sum, one, t) => {
    const mean = members.reduce((all, n) => all + free[n * T + t], 0) / members.length;
    return sum + ((mean - one) / 2) ** 2;
  }, 0);
}

describe("the mean incidence of a cause", () => {
  test("below the layer and under it", () => {
    expectEntries(curvesBelow(rows, T), freeOf(new Float64Array(N * T)), 1e-14);
    const terms = createCurveTerms(layout, rows, [term]);
    expect(terms.measure(theta).distance[0]).toBeCloseTo(gapOf(freeOf(addedAt(theta))), 12);
  });

  const weight = Float64Array.from({ length: N }, (_, n) => 0.5 + (n % 3));
  test.each([
    { what: "beside another cause", of: rows, held: term },
    { what: "with weights", of: rows, held: { ...term, weight } },
    { what: "alone, with weights", of: { ...rows, beside: undefined as never }, held: { ...term, weight } },
  ])("derivatives by differences: $what", ({ of, held }) => {
    const terms = createCurveTerms(layout, of, [held]);
    const gradient = terms.differentiate(theta, [0]).gradients[0] as Float64Array;
    const step = 1e-5;
    const differences = theta.map((_, k) => {
      const moved = (by: number) => theta.map((one, j) => one + (j === k ? by : 0));
      const value = (at: Float64Array) => createCurveTerms(layout, of, [held]).measure(at).distance[0];
      return (value(moved(step)) - value(moved(-step))) / (2 * step);
    });
    expectEntries(gradient, differences, 1e-7);
  });

  test.each(["l2", "variance"] as const)("at the network below, %s is what training measures", (distance) => {
    const people = Int32Array.from({ length: 40 }, (_, n) => n);
    const { outcomes } = simulateCauses(40, T, 8);
    const groups = [{ name: "all", rows: people }];
    const constraints = prepareConstraints({
      binned: seeCause(outcomes, 0),
      groups,
      distance,
      variant: "default",
      minimumEvents: 1,
      minimumSupport: 0,
    });
    expect(constraints.groups[0].constrained).toBe(true);
    const repeat = (values: ArrayLike<number>) =>
      Float64Array.from({ length: 40 * T }, (_, k) => values[k % (N * T)]);
    const below: SolveRows = {
      ...rows,
      N: 40,
      logits: repeat(rows.logits),
      beside: repeat(rows.beside ?? []),
      first: Float64Array.from({ length: 41 }, (_, n) => n * T),
      x: new Float64Array(40),
      shaped: listByRow(40, [{ rows: [0] }, { rows: [1] }]),
    };
    const survival = curvesBelow(below, T);
    const held = holdToKaplanMeier(distance, constraints.groups, [1], survival);
    const terms = createCurveTerms(
      layout,
      below,
      held.map((one) => one.term),
    );
    const values = terms.measure(new Float64Array(theta.length)).distance;
    const [expected] = measureDistances(
      constraints,
      measureStatistics(constraints, { hazard: survival, survival }),
    );
    expect(expected).toBeGreaterThan(0);
    expect(distance === "l2" ? values[0] : Math.sqrt(Math.max(...values))).toBeCloseTo(expected, 12);
  });

  test("beside a cause that never happens it is the survival curve", () => {
    const { beside: _, ...alone } = rows;
    const never = { ...alone, beside: new Float64Array(N * T).fill(1) };
    expectEntries(curvesBelow(never, T), curvesBelow(alone, T), 1e-14);
    const [one, two] = [never, alone].map((asked) => createCurveTerms(layout, asked, [term]));
    expect(one.measure(theta).distance[0]).toBeCloseTo(two.measure(theta).distance[0], 14);
    const gradients = [one, two].map((terms) => terms.differentiate(theta, [0]).gradients[0] as Float64Array);
    expectEntries(gradients[0], gradients[1], 1e-13);
  });
});
