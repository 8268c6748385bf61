/**
 * How much distance a group is allowed, c_g (method §6): a number for all, a table by name, or "auto", which takes it from the
 * group's own noise: l2 κ × the mean Greenwood variance over the bins compared, atRisk κ × 1, κ = 0.25 (at κ = 1 the
 * constraint sleeps: a plain linear fit meets it). The variance distance is in standard errors already: 1.96 in `paper`,
 * which is pointwise and which a perfect model breaks in a quarter of groups, 2.8 in `default`; κ does not enter.
 * `freshNoise` says, beside it, what distance a perfect model would show on a fresh sample of the group's size.
 */
import { square } from "../core/elementary.ts";
import { InputError } from "../core/errors.ts";
import { createRandom } from "../core/random.ts";
import type { ConstraintGroup, Constraints } from "./constraints.ts";

/** One slack for all groups, one each by name, or `auto`. */
export type SlackSpecification = number | Readonly<Record<string, number>> | "auto";

/** How much of a group's noise `auto` allows. */
export interface SlackOptions {
  /** κ of the automatic slack. */
  readonly kappa?: number;
}

export const SLACK_KAPPA = 0.25;
export const VARIANCE_SLACK = { paper: 1.96, default: 2.8 } as const;

/** Draws and seed of the simulated largest gap: its mean to about 0.02 standard errors, the same in every run. */
const NOISE_DRAWS = 1000;
const NOISE_SEED = 1;

/**
 * Mean Greenwood variance over the bins compared. A group without events has none: the square of the smallest step its
 * Kaplan-Meier curve can make, 1/N_g, stands in, so that the slack stays positive.
 */
function meanVariance(group: ConstraintGroup): number {
  let sum = 0;
  let defined = 0;
  for (let t = 1; t <= group.bins; t++) {
    const variance = group.km.variance[t];
    if (Number.isNaN(variance)) continue;
    sum += variance;
    defined++;
  }
  return sum > 0 ? sum / defined : 1 / square(Math.max(group.rows.length, 1));
}

/**
 * E max_t |B(v_t)|/√v_t, B Brownian motion and v Greenwood's sum: the law of the standardised Kaplan-Meier error, by
 * simulation. 0 without any bin that has a variance.
 */
function meanLargestGap(group: ConstraintGroup): number {
  const { greenwood, variance } = group.km;
  const clock: number[] = [];
  for (let t = 1; t <= group.bins; t++) {
    if (variance[t] > 0 && greenwood[t] !== clock[clock.length - 1]) clock.push(greenwood[t]);
  }
  const random = createRandom(NOISE_SEED);
  let sum = 0;
  for (let draw = 0; draw < NOISE_DRAWS; draw++) {
    let position = 0;
    let before = 0;
    let largest = 0;
    for (const v of clock) {
      position += Math.sqrt(v - before) * random.normal();
      before = v;
      largest = Math.max(largest, Math.abs(position) / Math.sqrt(v));
    }
    sum += largest;
  }
  return sum / NOISE_DRAWS;
}

/** The expected distance of a perfect model on a fresh sample of each group's size. */
export function freshNoise(constraints: Constraints): Float64Array {
  return Float64Array.from(constraints.groups, (group) => {
    switch (constraints.kind) {
      case "l2":
        return meanVariance(group);
      case "variance":
        return meanLargestGap(group);
      case "atRisk":
        return 1;
    }
  });
}

function automaticSlack(constraints: Constraints, group: ConstraintGroup, kappa: number): number {
  switch (constraints.kind) {
    case "l2":
      return kappa * meanVariance(group);
    case "variance":
      return VARIANCE_SLACK[constraints.variant];
    case "atRisk":
      return kappa;
  }
}

function requirePositive(what: string, value: number): void {
  if (value > 0 && Number.isFinite(value)) return;
  throw new InputError(`${what} is not a positive number: ${value}`, { code: "slack.invalid" });
}

/** c_g of every group, constrained or not; groups that a table does not name take "auto". */
export function resolveSlack(
  constraints: Constraints,
  specification: SlackSpecification,
  options: SlackOptions = {},
): Float64Array {
  const { kappa = SLACK_KAPPA } = options;
  requirePositive("kappa", kappa);
  const { groups } = constraints;
  if (typeof specification === "number") {
    requirePositive("slack", specification);
    return new Float64Array(groups.length).fill(specification);
  }
  const table = new Map<string, number>(specification === "auto" ? [] : Object.entries(specification));
  for (const [name, value] of table) {
    if (!groups.some((group) => group.name === name)) {
      throw new InputError(
        `slack for an unknown group: ${JSON.stringify(name)} (have ${groups.map((group) => group.name).join(", ")})`,
        { code: "slack.group" },
      );
    }
    requirePositive(`slack of group ${JSON.stringify(name)}`, value);
  }
  return Float64Array.from(
    groups,
    (group) => table.get(group.name) ?? automaticSlack(constraints, group, kappa),
  );
}
