// Rows cut in two at an edge of bins, or in the middle of one, say the same as the whole row, where the features are the
// same: likelihood, statistics of groups, start and solve must not notice. Weights of 2 are the row twice.
import { describe, expect, test } from "vitest";
import { createRandom } from "../../src/core/random.ts";
import { type Outcomes, requireSingleCause, type SingleCause } from "../../src/data/outcomes/outcomes.ts";
import { binOutcomes, equalTimeGrid } from "../../src/data/outcomes/time-grid.ts";
import { fitAdditiveStart } from "../../src/models/start/additive-start.ts";
import { prepareConstraints } from "../../src/objectives/constraints.ts";
import { createCurveWorkspace, fillCurves } from "../../src/objectives/curves.ts";
import { backThroughStatistics, measureStatistics } from "../../src/objectives/group-statistics.ts";
import { discreteLikelihood } from "../../src/objectives/likelihood.ts";
import { createLayout, listByRow, type SolveRows } from "../../src/training/solve/layout.ts";
import { createRowSums } from "../../src/training/solve/sums.ts";
import { expectEntries } from "../objectives/gradient-checks.ts";

const T = 12;
const D = 2;
const grid = equalTimeGrid(T, 24);

interface Cohort {
  readonly outcomes: SingleCause;
  /** The person of each row. */
  readonly of: Int32Array;
}

function drawPeople(N: number, seed: number) {
  const random = createRandom(seed, 11);
  const x = Float64Array.from({ length: N * D }, () => random.normal());
  const time = Float64Array.from({ length: N }, () => 0.1 + 23 * random.uniform());
  const entry = Float64Array.from({ length: N }, (_, n) =>
    n % 3 === 0 ? time[n] * random.uniform() * 0.8 : 0,
  );
  const event = Uint8Array.from({ length: N }, () => (random.uniform() < 0.5 ? 1 : 0));
  const logits = Float64Array.from({ length: N * T }, () => random.normal() - 2);
  return { N, x, time, entry, event, logits, random };
}

/** Everyone's time in one row, and the same cut at two moments. */
function cutRows({ N, time, entry, event, random }: ReturnType<typeof drawPeople>): [Cohort, Cohort] {
  const rows: { id: number; entry: number; time: number; event: number }[] = [];
  for (let n = 0; n < N; n++) {
    const [a, b] = [random.uniform(), random.uniform()]
      .map((share) => entry[n] + share * (time[n] - entry[n]))
      .sort((p, q) => p - q);
    const cuts = [entry[n], a, b, time[n]];
    for (let k = 0; k < 3; k++)
      rows.push({ id: n, entry: cuts[k], time: cuts[k + 1], event: k === 2 ? event[n] : 0 });
  }
  const cut: Outcomes = {
    time: Float64Array.from(rows, (row) => row.time),
    entry: Float64Array.from(rows, (row) => row.entry),
    event: Uint8Array.from(rows, (row) => row.event),
    id: Int32Array.from(rows, ({ id }) => id),
  };
  const everyone = Int32Array.from({ length: N }, (_, n) => n);
  return [
    { outcomes: { time, entry, event }, of: everyone },
    { outcomes: requireSingleCause(cut, "a test"), of: cut.id ?? everyone },
  ];
}

function spread(values: Float64Array, width: number, of: Int32Array): Float64Array {
  return Float64Array.from(
    { length: of.length * width },
    (_, k) => values[of[Math.floor(k / width)] * width + (k % width)],
  );
}

const people = drawPeople(60, 3);
const [whole, cut] = cutRows(people);

function groupsOf({ of }: Cohort) {
  return [
    { name: "all", rows: Int32Array.from(of.keys()) },
    { name: "even", rows: Int32Array.from(of.keys()).filter((row) => of[row] % 2 === 0) },
  ];
}

describe("rows cut in three are the whole row", () => {
  test("each bin at risk is in exactly one row", () => {
    const count = ({ outcomes, of }: Cohort) => {
      const { bin, firstBin } = binOutcomes(outcomes, grid);
      const times = new Float64Array(people.N * T);
      for (let row = 0; row < of.length; row++) {
        for (let t = firstBin?.[row] ?? 1; t <= bin[row]; t++) times[of[row] * T + t - 1]++;
      }
      return times;
    };
    expect(count(cut)).toEqual(count(whole));
  });

  test("the likelihood and its gradient", () => {
    const measure = ({ outcomes, of }: Cohort) => {
      const logits = spread(people.logits, T, of);
      const dLogits = new Float64Array(logits.length);
      const loss = discreteLikelihood(
        logits,
        binOutcomes(outcomes, grid),
        { tail: false },
        dLogits,
        of.length,
      );
      const sums = new Float64Array(people.N * T);
      dLogits.forEach((d, k) => {
        sums[of[Math.floor(k / T)] * T + (k % T)] += d;
      });
      return { loss: loss * of.length, sums };
    };
    expectEntries([measure(cut).loss], [measure(whole).loss], 1e-13);
    expectEntries(measure(cut).sums, measure(whole).sums, 1e-13);
  });

  test("the statistics of groups", () => {
    const measure = (cohort: Cohort) => {
      const binned = binOutcomes(cohort.outcomes, grid);
      const blocks = [
        { first: 1, last: 4 },
        { first: 5, last: 12 },
      ];
      const constraints = prepareConstraints({
        binned,
        groups: groupsOf(cohort),
        distance: "atRisk",
        variant: "default",
        blocks,
      });
      const curves = createCurveWorkspace(cohort.of.length, T);
      fillCurves(spread(people.logits, T, cohort.of), cohort.of.length, T, curves);
      return { constraints, statistics: measureStatistics(constraints, curves) };
    };
    expectEntries(measure(cut).statistics, measure(whole).statistics, 1e-13);
    const observed = (one: ReturnType<typeof measure>) =>
      one.constraints.groups.flatMap((group) => [...group.observed]);
    expect(observed(measure(cut))).toEqual(observed(measure(whole)));
  });

  test("the start", () => {
    const startOf = ({ outcomes, of }: Cohort) =>
      fitAdditiveStart({
        ...binOutcomes(outcomes, grid),
        x: spread(people.x, D, of),
        D,
        groups: 0,
        splines: [1],
      });
    expectEntries(startOf(cut).slopes, startOf(whole).slopes, 1e-7);
    expectEntries(startOf(cut).baselineHazard, startOf(whole).baselineHazard, 1e-7);
  });

  test("the sums of the solve", () => {
    const sums = (cohort: Cohort) => createSums(cohort);
    const theta = Float64Array.from({ length: sums(whole).P }, (_, k) => Math.sin(k) / 3);
    const [one, other] = [sums(whole), sums(cut)];
    expectEntries([other.measure(theta).value], [one.measure(theta).value], 1e-13);
    expectEntries(other.measure(theta).D, one.measure(theta).D, 1e-12);
    expectEntries(other.measure(theta).V, one.measure(theta).V, 1e-12);
    expectEntries(
      other.differentiate(theta, [0, 1]).gradient,
      one.differentiate(theta, [0, 1]).gradient,
      1e-12,
    );
  });
});

function createSums(cohort: Cohort, weight?: Float64Array) {
  const { bin, event, firstBin } = binOutcomes(cohort.outcomes, grid);
  const N = cohort.of.length;
  const blocks = [
    { first: 1, last: 5 },
    { first: 6, last: T },
  ];
  const events = new Float64Array(T);
  for (let n = 0; n < people.N; n++)
    if (whole.outcomes.event[n] === 1) events[Math.ceil(whole.outcomes.time[n] / 2) - 1]++;
  const layout = createLayout(blocks, events, { dense: D, shaped: 1 });
  const all = spread(people.logits, T, cohort.of);
  const first = new Float64Array(N + 1);
  for (let n = 0; n < N; n++) first[n + 1] = first[n] + bin[n];
  const logits = new Float64Array(first[N]);
  for (let n = 0; n < N; n++) logits.set(all.subarray(n * T, n * T + bin[n]), first[n]);
  const groups = groupsOf(cohort);
  const rows: SolveRows = {
    N,
    bin,
    event,
    ...(firstBin && { firstBin }),
    ...(weight && { weight }),
    logits,
    first,
    x: spread(people.x, D, cohort.of),
    stride: D,
    shaped: listByRow(N, [groups[1]]),
  };
  return {
    P: layout.at[layout.blocks.length],
    layout,
    ...createRowSums(layout, rows, listByRow(N, groups), 2),
  };
}

describe("weights", () => {
  const weight = Float64Array.from({ length: people.N }, (_, n) => [0, 1, 2, 0.5][n % 4]);

  test("the sums of the solve against differences, late entry included", () => {
    const sums = createSums(whole, weight);
    const theta = Float64Array.from({ length: sums.P }, (_, k) => Math.cos(k) / 4);
    const { gradient, slopes } = sums.differentiate(theta, [0, 1]);
    const step = 1e-5;
    const moved = theta.slice();
    const differences = theta.map((one, k) => {
      moved[k] = one + step;
      const above = sums.measure(moved);
      moved[k] = one - step;
      const below = sums.measure(moved);
      moved[k] = one;
      expectSlope(k, above, below);
      return (above.value - below.value) / (2 * step);
    });
    expectEntries(gradient, differences, 1e-7);

    /** −dD and dV of both groups in the parameters of the border, which every block has. */
    function expectSlope(
      k: number,
      above: ReturnType<typeof sums.measure>,
      below: ReturnType<typeof sums.measure>,
    ) {
      if (k >= D + 1) return;
      for (let g = 0; g < 2; g++) {
        for (let b = 0; b < 2; b++) {
          const { ofD, ofV } = slopes[g]?.[b] ?? { ofD: [], ofV: [] };
          expect(-ofD[k]).toBeCloseTo((above.D[g * 2 + b] - below.D[g * 2 + b]) / (2 * step), 6);
          expect(ofV[k]).toBeCloseTo((above.V[g * 2 + b] - below.V[g * 2 + b]) / (2 * step), 6);
        }
      }
    }
  });

  test("a weight of 2 is the row twice in likelihood and D, and four times in V", () => {
    const once = createSums(whole);
    const twice = createSums(whole, new Float64Array(people.N).fill(2));
    const theta = new Float64Array(once.P).fill(0.1);
    const [one, two] = [once.measure(theta), twice.measure(theta)];
    expectEntries([two.value], [2 * one.value], 1e-12);
    expectEntries(
      two.D,
      one.D.map((d) => 2 * d),
      1e-12,
    );
    expectEntries(
      two.V,
      one.V.map((v) => 4 * v),
      1e-12,
    );
  });

  test("the likelihood is a weighted mean, with its gradient", () => {
    const binned = { ...binOutcomes(whole.outcomes, grid), weight };
    const dLogits = new Float64Array(people.logits.length);
    const loss = discreteLikelihood(people.logits, binned, { tail: false }, dLogits, 1);
    const total = weight.reduce((sum, one) => sum + one, 0);
    let expected = 0;
    for (let n = 0; n < people.N; n++) {
      for (let t = binned.firstBin?.[n] ?? 1; t <= binned.bin[n]; t++) {
        const z = people.logits[n * T + t - 1];
        const h = 1 / (1 + Math.exp(-z));
        const isEvent = binned.event[n] === 1 && t === binned.bin[n];
        expected -= (weight[n] * Math.log(isEvent ? h : 1 - h)) / total;
        expect(dLogits[n * T + t - 1]).toBeCloseTo((weight[n] * (h - (isEvent ? 1 : 0))) / total, 14);
      }
    }
    expectEntries([loss], [expected], 1e-13);
  });

  test("the statistics' gradient is by weight", () => {
    const binned = { ...binOutcomes(whole.outcomes, grid), weight };
    const constraints = prepareConstraints({
      binned,
      groups: groupsOf(whole),
      distance: "atRisk",
      variant: "default",
    });
    const W = 2 * constraints.blocks.length;
    const curvesAt = (z: Float64Array) => {
      const curves = createCurveWorkspace(people.N, T);
      fillCurves(z, people.N, T, curves);
      return curves;
    };
    const pull = new Float64Array(2 * W);
    for (let g = 0; g < 2; g++)
      for (let b = 0; b < constraints.blocks.length; b++) pull[g * W + b] = 1 + g + b;
    const valueAt = (z: Float64Array) =>
      measureStatistics(constraints, curvesAt(z)).reduce((sum, one, k) => sum + pull[k] * one, 0);
    const dLogits = new Float64Array(people.logits.length);
    backThroughStatistics(constraints, pull, curvesAt(people.logits), null, dLogits, 1);
    const moved = people.logits.slice();
    for (const k of [0, 5, 17, 100, 333, 719]) {
      moved[k] += 1e-5;
      const above = valueAt(moved);
      moved[k] -= 2e-5;
      const below = valueAt(moved);
      moved[k] = people.logits[k];
      expect(dLogits[k]).toBeCloseTo((above - below) / 2e-5, 6);
    }
  });
});
