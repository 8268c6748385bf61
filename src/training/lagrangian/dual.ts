/**
 * The multipliers of Algorithm 1. The Lagrangian adds a term to the loss; `distanceWeights` are that term's derivatives
 * with respect to the groups' distances, which are all the primal step needs; `nextMultipliers` is the dual step.
 *   ascent     Σ μ (d − c);                                weights μ;            μ ← max(0, μ + rate·(d − c))
 *   augmented  (1/2ρ) Σ ([μ + ρ r]₊² − μ²), r = d/c − 1;   weights [μ + ρ r]₊/c;  μ ← [μ + ρ r]₊
 * The projection at 0 is ours where the paper prints none. A group that is only reported keeps a multiplier of 0.
 */
import { square } from "../../core/elementary.ts";
import { NumericalError } from "../../core/errors.ts";
import { createRandom } from "../../core/random.ts";
import type { ConstraintGroup } from "../../objectives/constraints.ts";
import type { DualSpec } from "../options.ts";

/** A multiplier beyond this means that the constraint cannot be met and that the loss no longer counts. */
export const LARGEST_MULTIPLIER = 1e6;
/** A run whose multipliers moved by less than this share of their start is in effect a fixed penalty. */
export const FIXED_PENALTY_BELOW = 0.1;
/** A random stream separate from those of splits, weights and batches. */
const MULTIPLIER_STREAM = 0x30000000;

/** The same spec with its per-row rate and start scaled to N rows. */
export function scaleToRows(spec: DualSpec, N: number): DualSpec {
  if (spec.form !== "ascent" || spec.perRow !== true) return spec;
  const { start } = spec;
  const scaled =
    start === "uniform" ? start : typeof start === "number" ? start / N : start.map((value) => value / N);
  return { form: "ascent", rate: spec.rate / N, start: scaled };
}

export function startMultipliers(
  spec: DualSpec,
  groups: readonly ConstraintGroup[],
  seed: number,
): Float64Array {
  const random = createRandom(seed, MULTIPLIER_STREAM);
  return Float64Array.from(groups, ({ constrained }, g) => {
    const drawn = random.uniform();
    if (!constrained) return 0;
    if (spec.start === "uniform") return drawn;
    return typeof spec.start === "number" ? spec.start : spec.start[g];
  });
}

export function lagrangianTerm(
  spec: DualSpec,
  multipliers: Float64Array,
  distances: Float64Array,
  slack: Float64Array,
): number {
  let sum = 0;
  for (let g = 0; g < multipliers.length; g++) {
    if (spec.form === "ascent") sum += multipliers[g] * (distances[g] - slack[g]);
    else
      sum +=
        (square(augment(spec.penalty, multipliers[g], distances[g], slack[g])) - square(multipliers[g])) /
        (2 * spec.penalty);
  }
  return sum;
}

/** [μ + ρ (d/c − 1)]₊ */
function augment(penalty: number, multiplier: number, distance: number, slack: number): number {
  return Math.max(0, multiplier + penalty * (distance / slack - 1));
}

/** ∂(the Lagrangian's term)/∂d for each group. */
export function distanceWeights(
  spec: DualSpec,
  multipliers: Float64Array,
  distances: Float64Array,
  slack: Float64Array,
): Float64Array {
  if (spec.form === "ascent") return multipliers;
  const { penalty } = spec;
  return multipliers.map((multiplier, g) => augment(penalty, multiplier, distances[g], slack[g]) / slack[g]);
}

/** The dual step: returns the new multipliers. */
export function nextMultipliers(
  spec: DualSpec,
  groups: readonly ConstraintGroup[],
  multipliers: Float64Array,
  distances: Float64Array,
  slack: Float64Array,
  step: number,
): Float64Array {
  return multipliers.map((multiplier, g) => {
    if (!groups[g].constrained) return 0;
    const next =
      spec.form === "ascent"
        ? Math.max(0, multiplier + spec.rate * (distances[g] - slack[g]))
        : augment(spec.penalty, multiplier, distances[g], slack[g]);
    refuseDivergence(groups[g].name, next, distances[g], slack[g], step);
    return next;
  });
}

export function refuseDivergence(
  group: string,
  multiplier: number,
  distance: number,
  slack: number,
  step: number,
): void {
  if (multiplier <= LARGEST_MULTIPLIER) return;
  throw new NumericalError(`the multiplier of group "${group}" diverges: ${multiplier} at step ${step}`, {
    code: "multiplier.diverges",
    hint: `its distance is ${distance} against a slack of ${slack}; give it more slack or more rows`,
  });
}

/** Σ |end − start| / Σ start, used to tell whether a run is a fixed penalty; Infinity when it started at 0. */
export function relativeMove(start: ArrayLike<number>, end: ArrayLike<number>): number {
  let moved = 0;
  let size = 0;
  for (let g = 0; g < start.length; g++) {
    moved += Math.abs(end[g] - start[g]);
    size += Math.abs(start[g]);
  }
  if (moved === 0) return 0;
  return size === 0 ? Number.POSITIVE_INFINITY : moved / size;
}
