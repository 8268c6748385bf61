/**
 * The prior of the output layer. What is shrunk is the whole effect, that of the network below and of the layer
 * together: a solve on training and validation rows is then a penalised fit to both, not a free correction of a
 * penalised one. So an entry's centre is minus what the network below has already, and its precision is the one that
 * the start estimated (models/start/additive-start.ts). The baseline is free but for rounding.
 */
import { GROUP_KNOTS, OFFSET_SCALE, placeKnots } from "../../models/networks/group-offsets.ts";
import type { NetworkSpec } from "../../models/networks/list.ts";
import type { ParameterValues } from "../../models/networks/parameters.ts";
import type { Precisions } from "../../models/start/additive-start.ts";
import { countTheta, type Layout, offsetAt, type Prior } from "./layout.ts";

/** Of a free bin: with five events or more it does not matter, and it keeps the matrix positive. */
const BIN_PRECISION = 0.01;
/** Without an estimate: effects within a unit of log-hazard. */
export const DEFAULT_PRECISION = 1;
/** Of what a block adds to a group's level where nothing was estimated; 3 to 10 made no difference. */
const SHAPE_PRECISION = 5;

/** What the prior needs to know of the network below. */
export interface PriorSource {
  readonly spec: NetworkSpec;
  readonly parameters: ParameterValues;
  /** Null where the start estimated none. */
  readonly precisions: Precisions | null;
  /** Columns of x that are splines of others. */
  readonly splines: readonly number[];
  /** Told groups that are held to an outside curve: what their own rows could not tell must not keep them from it. */
  readonly loose?: readonly number[];
}

/**
 * `told`: how many of the shaped columns are groups that the network knows. The others are chances, whose effects are
 * shrunk on the scale of one standard deviation of the chance: `variances` has their squares.
 */
export function createPrior(
  layout: Layout,
  told: number,
  source: PriorSource | null,
  variances: ArrayLike<number> = [],
): Prior {
  const { dense, shaped, blocks, binsIn, at } = layout;
  const precision = new Float64Array(countTheta(layout));
  const centre = new Float64Array(countTheta(layout));
  const { slopes = DEFAULT_PRECISION, splines = DEFAULT_PRECISION } = source?.precisions ?? {};
  const bends = new Set(source?.splines ?? []);
  const skip = source?.parameters.skip;
  for (let r = 0; r < dense; r++) {
    precision[r] = bends.has(r) ? splines : slopes;
    if (skip !== undefined) centre[r] = -skip[r];
  }
  for (let b = 0; b < blocks.length; b++) precision.fill(BIN_PRECISION, at[b], at[b] + binsIn[b]);
  for (let j = 0; j < shaped; j++) {
    const isLoose = j >= told || source?.loose?.includes(j) === true;
    const estimated = !isLoose && source?.precisions?.level.length ? source.precisions : null;
    const scale = j < told ? 1 : variances[j - told];
    precision[dense + j] = estimated ? estimated.level[j] * GROUP_KNOTS : scale * DEFAULT_PRECISION;
    const effect = j < told && source !== null ? effectOf(source, j, layout) : null;
    const level = effect === null ? 0 : effect.reduce((sum, one) => sum + one, 0) / effect.length;
    centre[dense + j] = -level;
    blocks.forEach((_, b) => {
      const k = offsetAt(layout, b, j);
      precision[k] = estimated ? (estimated.shape[j] * GROUP_KNOTS) / blocks.length : scale * SHAPE_PRECISION;
      if (effect !== null) centre[k] = -(effect[b] - level);
    });
  }
  return { precision, centre };
}

/** What the network below adds for a group, the mean over each block; null where it has no such offsets. */
function effectOf(
  { spec, parameters }: PriorSource,
  group: number,
  { blocks, T }: Layout,
): Float64Array | null {
  const { groupOffsets } = parameters;
  if (groupOffsets === undefined || !("baselineHazard" in spec)) return null;
  const { knot, share } = placeKnots(T, spec.baselineHazard);
  const at = (t: number) => {
    const k = group * GROUP_KNOTS + knot[t];
    return OFFSET_SCALE * ((1 - share[t]) * groupOffsets[k] + share[t] * groupOffsets[k + 1]);
  };
  return Float64Array.from(blocks, ({ first, last }) => {
    let sum = 0;
    for (let t = first - 1; t < last; t++) sum += at(t);
    return sum / (last - first + 1);
  });
}
