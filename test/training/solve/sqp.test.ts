// The constrained solve against closed forms and SciPy (test/oracles/solve), and the conditions of optimality on data.
import { readFileSync } from "node:fs";
import { describe, expect, test } from "vitest";
import { createRandom } from "../../../src/core/random.ts";
import { createLayout, type Layout, listByRow, type SolveRows } from "../../../src/training/solve/layout.ts";
import { type HeldProblem, solveHeld } from "../../../src/training/solve/sqp.ts";
import { createRowSums } from "../../../src/training/solve/sums.ts";

interface Small {
  readonly T: number;
  readonly bin: readonly number[];
  readonly event: readonly number[];
  readonly base: readonly number[]; // [N,T]
  readonly x?: readonly number[]; // [N]
  readonly member: readonly (readonly number[])[];
  readonly groups: readonly (readonly number[])[];
  readonly precision: readonly number[] | ((layout: Layout) => Float64Array);
}

/** Every bin is a block of its own. */
function createProblem({ T, bin, event, base, x = [], member, groups, precision }: Small): HeldProblem {
  const N = bin.length;
  const blocks = Array.from({ length: T }, (_, t) => ({ first: t + 1, last: t + 1 }));
  const events = new Float64Array(T);
  event.forEach((one, n) => {
    events[bin[n] - 1] += one;
  });
  const layout = createLayout(blocks, events, { dense: x.length / N, shaped: member.length });
  const first = new Float64Array(N + 1);
  for (let n = 0; n < N; n++) first[n + 1] = first[n] + bin[n];
  const logits = Float64Array.from(bin.flatMap((last, n) => base.slice(n * T, n * T + last)));
  const rows: SolveRows = {
    N,
    bin: Int32Array.from(bin),
    event: Uint8Array.from(event),
    logits,
    first,
    x: Float64Array.from(x),
    stride: x.length / N,
    shaped: listByRow(
      N,
      member.map((rowsOf) => ({ rows: rowsOf })),
    ),
  };
  const held = listByRow(
    N,
    groups.map((rowsOf) => ({ rows: rowsOf })),
  );
  const P = layout.at[T];
  return {
    layout,
    sums: createRowSums(layout, rows, held, groups.length),
    prior: {
      precision: typeof precision === "function" ? precision(layout) : Float64Array.from(precision),
      centre: new Float64Array(P),
    },
    rows: N,
    eventTotals: new Float64Array(P).fill(event.reduce((sum, one) => sum + one, 0)),
    followed: new Int32Array(groups.length).fill(T),
  };
}

const FREE = Number.POSITIVE_INFINITY;

describe("one group, one bin", () => {
  // With one bin the constraint is n(p − h)²/(h(1−h)) ≤ c: h within Wilson's interval with z² = c. A prior that wants
  // h = ½ leaves it at the end of that interval.
  const [n, e, c] = [40, 4, 1.7];
  const problem = createProblem({
    T: 1,
    bin: Array(n).fill(1),
    event: Array.from({ length: n }, (_, k) => (k < e ? 1 : 0)),
    base: Array(n).fill(0),
    member: [],
    groups: [Array.from({ length: n }, (_, k) => k)],
    precision: [400],
  });

  test("the held hazard is the end of Wilson's interval", () => {
    const p = e / n;
    const centre = (p + c / (2 * n)) / (1 + c / n);
    const half = (Math.sqrt((p * (1 - p)) / n + c / (4 * n * n)) * Math.sqrt(c)) / (1 + c / n);
    const { theta, distance, converged } = solveHeld(problem, Float64Array.of(c), { tolerance: 1e-11 });
    expect(converged).toBe(true);
    expect(1 / (1 + Math.exp(-theta[0]))).toBeCloseTo(centre + half, 10);
    expect(distance[0]).toBeCloseTo(c, 9);
  });

  test("the price is the loss of F for each unit of slack", () => {
    const at = (slack: number) => solveHeld(problem, Float64Array.of(slack), { tolerance: 1e-11 });
    const { multipliers } = at(c);
    const difference = (at(c - 1e-4).value - at(c + 1e-4).value) / 2e-4;
    expect(multipliers[0] / (2 * c)).toBeCloseTo(difference, 4);
  });

  test("a constraint that is met costs nothing", () => {
    const free = solveHeld(problem, Float64Array.of(FREE));
    const held = solveHeld(problem, Float64Array.of(1000), { from: free.theta });
    expect(held.theta).toEqual(free.theta);
    expect(held.multipliers[0]).toBe(0);
  });
});

describe("two overlapping groups and everyone", () => {
  const oracle = JSON.parse(readFileSync(new URL("../../oracles/solve/solve.json", import.meta.url), "utf8"));
  const problem = createProblem(oracle);

  test("without constraints", () => {
    const free = solveHeld(problem, new Float64Array(3).fill(FREE), { tolerance: 1e-10 });
    expect(free.value).toBeCloseTo(oracle.free.value, 7);
    free.distance.forEach((distance, g) => {
      expect(distance).toBeCloseTo(oracle.free.distance[g], 5);
    });
  });

  test("held, as SciPy's SLSQP has it", () => {
    const held = solveHeld(problem, Float64Array.from(oracle.slack), { tolerance: 1e-9 });
    expect(held.converged).toBe(true);
    expect(held.value).toBeCloseTo(oracle.held.value, 6);
    held.theta.forEach((value, k) => {
      expect(value).toBeCloseTo(oracle.held.theta[k], 4);
    });
    held.multipliers.forEach((multiplier, g) => {
      expect(multiplier / oracle.held.multipliers[g]).toBeCloseTo(1, 3);
    });
  });

  test("from elsewhere the same solution", () => {
    const random = createRandom(3);
    const slack = Float64Array.from(oracle.slack);
    const first = solveHeld(problem, slack);
    const from = first.theta.map(() => random.uniform() - 0.5);
    expect(solveHeld(problem, slack, { from }).value).toBeCloseTo(first.value, 6);
  });
});

describe("derivatives", () => {
  const oracle = JSON.parse(readFileSync(new URL("../../oracles/solve/solve.json", import.meta.url), "utf8"));
  const { sums, layout } = createProblem(oracle);
  const random = createRandom(11);
  const theta = new Float64Array(layout.at[layout.blocks.length]).map(() => random.uniform() - 0.5);
  const shifted = (k: number, by: number) => theta.map((one, j) => (j === k ? one + by : one));

  test("the gradient of the likelihood is its differences", () => {
    const { gradient } = sums.differentiate(theta, []);
    gradient.forEach((slope, k) => {
      const difference =
        (sums.measure(shifted(k, 1e-5)).value - sums.measure(shifted(k, -1e-5)).value) / 2e-5;
      expect(slope).toBeCloseTo(difference, 6);
    });
  });

  test("losses of rows add up to the value", () => {
    const total = sums.losses(theta).reduce((sum, loss) => sum + loss, 0);
    expect(total).toBeCloseTo(sums.measure(theta).value, 10);
  });

  test("the arrow's solution is that of the information, column by column", () => {
    const arrow = sums.inform(theta, 1, null);
    arrow.addDiagonal(new Float64Array(theta.length).fill(0.5));
    const factor = arrow.factor();
    const right = theta.map(() => random.uniform() - 0.5);
    const solved = factor.solve(right);
    // The information times the solution, by differences of the gradient along it.
    const along = (by: number) => theta.map((one, k) => one + by * solved[k]);
    const [up, down] = [1e-5, -1e-5].map((by) => sums.differentiate(along(by), []).gradient);
    right.forEach((wanted, k) => {
      expect((up[k] - down[k]) / 2e-5 + 0.5 * solved[k]).toBeCloseTo(wanted, 6);
    });
    const diagonal = factor.inverseDiagonal();
    theta.forEach((_, k) => {
      const unit = theta.map((_one, j) => (j === k ? 1 : 0));
      expect(diagonal[k]).toBeCloseTo(factor.solve(unit)[k], 10);
    });
  });
});
