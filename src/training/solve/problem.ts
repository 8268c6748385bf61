/**
 * The problem that is solved, made of gathered rows: which columns take part, where each parameter lies, the prior, and
 * what the groups are held to. Blocks, columns and prior are fixed by the training rows; the same frame then takes the
 * training rows alone, for every choice, and training and validation rows together, for the last solve.
 */
import { present } from "../../core/present.ts";
import type { BinnedSingleCause } from "../../data/outcomes/outcomes.ts";
import { type ConstraintGroup, prepareConstraints } from "../../objectives/constraints.ts";
import type { TimeBlock } from "../../objectives/time-blocks.ts";
import { tallyBins } from "../../stats/kaplan-meier.ts";
import type { HeldCurve } from "./curves/curve-constraints.ts";
import { createCurveTerms } from "./curves/curve-terms.ts";
import { countTheta, createLayout, type Layout, listByRow, type SolveRows } from "./layout.ts";
import { createPrior, type PriorSource } from "./prior.ts";
import { type GatheredRows, listMembers, toSolveRows } from "./rows.ts";
import type { HeldProblem } from "./sqp.ts";
import { createRowSums, type RowSums } from "./sums.ts";

/** What the layer is made of, whatever the rows. */
export interface SolveFrame {
  readonly blocks: readonly TimeBlock[];
  /** The first columns of x, which have slopes. */
  readonly dense: number;
  /** The last columns of x: membership of the groups that the model knows. */
  readonly told: number;
}

/** A problem, with the groups it holds. */
export interface FramedProblem extends HeldProblem {
  readonly rowsOf: SolveRows;
  readonly groups: readonly ConstraintGroup[];
  /** Of the chances over the rows, which their effects are shrunk by. */
  readonly variances: readonly number[];
  /** Mean curves that are held too; those that are constraints follow the groups, in order. */
  readonly heldCurves: readonly HeldCurve[];
}

/** Mean curves to hold, where there are any; rows then have logits in every bin. */
export type ListCurves = (
  groups: readonly ConstraintGroup[],
  rows: SolveRows,
  blocks: readonly TimeBlock[],
) => readonly HeldCurve[];

/** Constraints of a problem: groups, then curves. */
export function countConstraints({ groups, heldCurves }: FramedProblem): number {
  return groups.length + heldCurves.filter(({ term }) => term.isConstraint).length;
}

/** The constraints that hold groups to their own rows: their places, or those of their mean curves; no targets. */
export function constraintsOf(
  { groups, heldCurves }: FramedProblem,
  slack: ArrayLike<number>,
  which: readonly number[],
): number[] {
  const places = which.filter((g) => slack[g] < Number.POSITIVE_INFINITY);
  const curves = heldCurves.filter(({ term }) => term.isConstraint);
  const ofCurves = curves.flatMap(({ group, isTarget }, i) =>
    which.includes(group) && !isTarget ? [groups.length + i] : [],
  );
  return [...places, ...ofCurves];
}

/** What is allowed where some constraints are left out. */
export function leaveOut(slack: Float64Array, constraints: readonly number[]): Float64Array {
  const left = new Set(constraints);
  return slack.map((own, k) => (left.has(k) ? Number.POSITIVE_INFINITY : own));
}

/** `chances`: for each group that enters by its chance, the chance of every row. */
export function frameProblem(
  frame: SolveFrame,
  gathered: GatheredRows,
  chances: readonly Float64Array[],
  source: PriorSource | null,
  listCurves?: ListCurves,
): FramedProblem {
  const { blocks, dense, told } = frame;
  const { binned, groups } = gathered;
  const { events } = tallyBins(binned);
  const layout = createLayout(blocks, events.subarray(1), { dense, shaped: told + chances.length });
  const rows = judgedRows(frame, gathered, chances);
  const constraints = prepareConstraints({ binned, groups, distance: "atRisk", variant: "default", blocks });
  const held = listByRow(rows.N, groups);
  const heldCurves = listCurves?.(constraints.groups, rows, blocks) ?? [];
  const terms = heldCurves.map(({ term }) => term);
  const variances = chances.map(varianceOf);
  return {
    heldCurves,
    ...(terms.length > 0 && { curves: createCurveTerms(layout, rows, terms) }),
    layout,
    sums: createRowSums(layout, rows, held, groups.length),
    prior: createPrior(layout, told, source, variances),
    variances,
    rows: rows.N,
    rowsOf: rows,
    eventTotals: sumEvents(layout, rows),
    followed: Int32Array.from(constraints.groups, ({ followedBlocks }) => followedBlocks),
    groups: constraints.groups,
  };
}

/** Rows that are only judged: nothing is solved on them. */
export function judgedRows(
  { told }: SolveFrame,
  gathered: GatheredRows,
  chances: readonly Float64Array[],
): SolveRows {
  return toSolveRows(gathered, listMembers(gathered, told, chances));
}

/** Sums over rows that are only judged. */
export function sumsOf(
  layout: Layout,
  frame: SolveFrame,
  gathered: GatheredRows,
  chances: readonly Float64Array[],
): RowSums {
  const rows = judgedRows(frame, gathered, chances);
  return createRowSums(layout, rows, listByRow(rows.N, gathered.groups), gathered.groups.length);
}

function varianceOf(values: Float64Array): number {
  const mean = values.reduce((sum, one) => sum + one, 0) / values.length;
  return values.reduce((sum, one) => sum + (one - mean) * (one - mean), 0) / values.length;
}

/** Σ y φ, the scale that residuals are measured on. */
function sumEvents(layout: Layout, rows: SolveRows): Float64Array {
  const { N, bin, event, x, stride, shaped, firstBin, weight } = rows;
  const { dense, at, binsIn, blockOf, binOf } = layout;
  const sums = new Float64Array(countTheta(layout));
  for (let n = 0; n < N; n++) {
    if (event[n] === 0 || (firstBin !== undefined && firstBin[n] > bin[n])) continue;
    const own = weight === undefined ? 1 : weight[n];
    const b = blockOf[bin[n] - 1];
    sums[at[b] + binOf[bin[n] - 1]] += own;
    for (let r = 0; r < dense; r++) sums[r] += own * x[n * stride + r];
    for (let k = shaped.first[n]; k < shaped.first[n + 1]; k++) {
      sums[dense + shaped.column[k]] += own * shaped.value[k];
      sums[at[b] + binsIn[b] + shaped.column[k]] += own * shaped.value[k];
    }
  }
  return sums;
}

function sliceBinned(
  { T, bin, event, firstBin, weight, rival }: BinnedSingleCause,
  from: number,
  to?: number,
): BinnedSingleCause {
  return {
    T,
    bin: bin.subarray(from, to),
    event: event.subarray(from, to),
    ...present({
      firstBin: firstBin?.subarray(from, to),
      weight: weight?.subarray(from, to),
      rival: rival?.subarray(from, to),
    }),
  };
}

/** The first rows of gathered ones: the training rows, where those come first. */
export function takeFirst(gathered: GatheredRows, count: number): GatheredRows {
  const { binned, groups, x, D, logits, first, beside } = gathered;
  return {
    binned: sliceBinned(binned, 0, count),
    groups: groups.map(({ name, rows }) => ({ name, rows: rows.filter((row) => row < count) })),
    x: x.subarray(0, count * D),
    D,
    logits: logits.subarray(0, first[count]),
    first: first.subarray(0, count + 1),
    ...present({ beside: beside?.subarray(0, first[count]) }),
  };
}

/** The rows after the first `count`. */
export function takeRest(gathered: GatheredRows, count: number): GatheredRows {
  const { binned, groups, x, D, logits, first, beside } = gathered;
  return {
    binned: sliceBinned(binned, count),
    groups: groups.map(({ name, rows }) => ({
      name,
      rows: rows.filter((row) => row >= count).map((row) => row - count),
    })),
    x: x.subarray(count * D),
    D,
    logits: logits.subarray(first[count]),
    first: first.slice(count).map((place) => place - first[count]),
    ...present({ beside: beside?.subarray(first[count]) }),
  };
}

/** The same rows under (1 − share)·one + share·other. */
export function mixLogits(one: GatheredRows, other: GatheredRows, share: number): GatheredRows {
  if (share === 0) return one;
  if (share === 1) return other;
  const logits = one.logits.slice();
  for (let k = 0; k < logits.length; k++) logits[k] += share * (other.logits[k] - logits[k]);
  return { ...one, logits };
}
