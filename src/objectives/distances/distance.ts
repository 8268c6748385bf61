/**
 * What a distance between a group and its observed outcomes is made of. Each distance is one definition in a file of
 * its own (l2.ts, variance.ts, at-risk.ts), and list.ts names them all: whatever depends on the distance reads the
 * definition, so a distance cannot be known in one place and forgotten in another. docs/concepts/adding-a-constraint.md
 * shows how to add one.
 */
import type { ConstraintGroup, Constraints, ConstraintVariant } from "../constraints.ts";

/**
 * What a distance reads from the model (group-statistics.ts): `meanCurve`, the group's mean survival curve over the T
 * bins (of one of several causes, the mean of 1 − F); or `blockTotals`, its expected events in each time block and then
 * their variances.
 */
export type GroupStatistic = "meanCurve" | "blockTotals";

/** What is known about a group before deciding whether it can be measured. */
export type PreparedGroup = Pick<ConstraintGroup, "km" | "bins">;

/** One slack for all groups, one per group by name, or `auto`. */
export type SlackSpecification = number | Readonly<Record<string, number>> | "auto";

/** The complete definition of a distance: what it measures, how it is constrained, and how it is described. */
export interface DistanceDefinition {
  /** What it is, for readers of a report. */
  readonly words: string;
  /** The same where there are several causes, if it is another. */
  readonly wordsOfCauses?: string;
  readonly statistic: GroupStatistic;
  /** Why a group whose statistic is defined still has no distance; null if it has one. */
  readonly findObstacle: (group: PreparedGroup, variant: ConstraintVariant) => string | null;
  /** The distance of a measurable group. */
  readonly measure: (
    constraints: Constraints,
    group: ConstraintGroup,
    statistics: Float64Array, // [W], of this group
  ) => number;
  /** Writes multiplier × ∂distance/∂statistics; entries without a gradient stay 0. */
  readonly fillGradient: (
    constraints: Constraints,
    group: ConstraintGroup,
    statistics: Float64Array, // [W], of this group
    multiplier: number,
    gradient: Float64Array, // [W], of this group
  ) => void;
  /** The expected distance of a perfect model on a fresh sample of the group's size. */
  readonly noise: (group: ConstraintGroup) => number;
  /** The distance that a slack of "auto" allows. */
  readonly automaticSlack: (group: ConstraintGroup, variant: ConstraintVariant, kappa: number) => number;
  /** Its settings in the `default` preset: κ of the automatic slack, and the scale of the multipliers. */
  readonly defaults: {
    readonly kappa: number;
    readonly dual: {
      readonly form: "ascent";
      readonly rate: number;
      readonly start: number;
      readonly perRow?: boolean;
    };
  };
  /** Its settings in the `paper` preset: a slack is in the units of its distance. */
  readonly paper: { readonly slack: SlackSpecification; readonly kappa?: number };
}

/** The group's mean curve over t = 0…T, as stats/calibration/calibration.ts reads it. */
export function withStart(meanCurve: Float64Array): Float64Array {
  const mean = new Float64Array(meanCurve.length + 1);
  mean[0] = 1;
  mean.set(meanCurve, 1);
  return mean;
}
