/**
 * What the curves of a solved layer leave uncertain: the penalised information at the solution, of the layer's own
 * parameters and of the slopes below it, which the start has fitted to the same rows. The priors are those of the
 * solve, so that its inverse is the posterior covariance of the whole additive part; what training added beside it is
 * taken as known (docs/decisions/019-bands.md says what that misses). Kept as a factor in single precision: an arrow of
 * a few tens of thousands of numbers.
 */
import type { HeldSpec } from "../../models/networks/held.ts";
import { MOST_START_COLUMNS } from "../../models/start/linear-start.ts";
import { factorSizes, type LayerUncertainty, packLower } from "../../models/uncertainty/layer-uncertainty.ts";
import { type Layout, listByRow, type SolveRows, withColumns } from "./layout.ts";
import { createPrior, type PriorSource } from "./prior.ts";
import type { FramedProblem } from "./problem.ts";
import { createRowSums } from "./sums.ts";

/** Beyond this many numbers (1 MB) the groups' shapes over time are left out: levels alone are uncertain. */
export const MOST_FACTOR_NUMBERS = 250_000;
/** The information is taken from about this many rows: its chance error is below a hundredth of a band's width. */
const INFORMATION_ROWS = 20_000;

/** What is measured, and at which solution. */
export interface UncertaintyInput {
  readonly problem: Pick<FramedProblem, "layout" | "rowsOf" | "variances">;
  readonly theta: Float64Array;
  readonly source: PriorSource;
  readonly told: number;
}

/** Null where there are more features than slopes can be solved for. */
export function measureUncertainty(
  { problem, theta, source, told }: UncertaintyInput,
  spec: HeldSpec,
  mostNumbers = MOST_FACTOR_NUMBERS,
): LayerUncertainty | null {
  const own = spec.D - told;
  if (own > MOST_START_COLUMNS) return null;
  const { layout, rowsOf, variances } = problem;
  const whole = withColumns(layout, { dense: own, shaped: layout.shaped });
  const sizes = factorSizes({ ...whole, bins: freeBins(whole) }, spec.blocks);
  if (sizes.border + sizes.blocks + sizes.cross <= mostNumbers) {
    const moved = new Float64Array(own - layout.dense + theta.length);
    moved.set(theta.subarray(0, layout.dense));
    moved.set(theta.subarray(layout.dense), own);
    const { precision } = createPrior(whole, told, source, variances);
    return factorInformation(whole, rowsOf, moved, precision);
  }
  const flat = withColumns(layout, { dense: spec.D, shaped: 0 });
  const ofWhole = createPrior(whole, told, source, variances).precision;
  const { precision } = createPrior(flat, 0, source);
  precision.set(ofWhole.subarray(0, spec.D));
  return factorInformation(flat, withoutShaped(rowsOf), flatTheta(layout, flat, theta, told), precision);
}

/** Levels in place of levels and offsets; the free bins stay. */
function flatTheta(layout: Layout, flat: Layout, theta: Float64Array, told: number): Float64Array {
  const moved = new Float64Array(flat.at[flat.blocks.length]);
  const own = flat.dense - told;
  moved.set(theta.subarray(0, layout.dense));
  for (let j = 0; j < told; j++) moved[own + j] = theta[layout.dense + j];
  layout.binsIn.forEach((bins, b) => {
    moved.set(theta.subarray(layout.at[b], layout.at[b] + bins), flat.at[b]);
  });
  return moved;
}

function withoutShaped(rows: SolveRows): SolveRows {
  return { ...rows, shaped: listByRow(rows.N, []) };
}

function factorInformation(
  layout: Layout,
  rows: SolveRows,
  theta: Float64Array,
  precision: Float64Array,
): LayerUncertainty {
  const stride = Math.max(1, Math.floor(rows.N / INFORMATION_ROWS));
  const arrow = createRowSums(layout, rows, listByRow(rows.N, []), 0).inform(theta, stride, null);
  arrow.addDiagonal(precision);
  const { border, blocks, cross } = arrow.factor().parts();
  return {
    kind: "layer",
    dense: layout.dense,
    shaped: layout.shaped,
    bins: freeBins(layout),
    border: toSingle([packLower(border)]),
    blocks: toSingle(blocks.map(packLower)),
    cross: toSingle(cross),
  };
}

/** The free bin of each bin, counted over all blocks. */
function freeBins({ blockOf, binOf, binsIn }: Layout): number[] {
  const before = Array.from(binsIn, (_, b) => binsIn.slice(0, b).reduce((sum, bins) => sum + bins, 0));
  return Array.from(binOf, (own, t) => before[blockOf[t]] + own);
}

/** A factor keeps its sign and its square root of the condition in single precision; a matrix might not. */
function toSingle(lists: readonly Float64Array[]): number[] {
  return lists.flatMap((list) => Array.from(list, Math.fround));
}
