/**
 * How much distance a group is allowed, c_g: a number for all, a table by name, or "auto", which the distance itself
 * derives from the group's own noise (distances/): κ times the noise, κ = 0.25 unless given (at κ = 1 the constraint is
 * inactive: a plain linear fit meets it). A distance in standard errors takes no κ. `freshNoise` also says what
 * distance a perfect model would show on a fresh sample of the group's size.
 */
import { InputError } from "../core/errors.ts";
import type { Constraints } from "./constraints.ts";
import type { SlackSpecification } from "./distances/distance.ts";
import { DISTANCES } from "./distances/list.ts";

export type { SlackSpecification };

/** How much of a group's noise `auto` allows. */
export interface SlackOptions {
  /** κ of the automatic slack. */
  readonly kappa?: number;
}

export const SLACK_KAPPA = 0.25;

/** The expected distance of a perfect model on a fresh sample of each group's size. */
export function freshNoise({ distance, groups }: Constraints): Float64Array {
  return Float64Array.from(groups, DISTANCES[distance].noise);
}

function requirePositive(what: string, value: number): void {
  if (value > 0 && Number.isFinite(value)) return;
  throw new InputError(`${what} is not a positive number: ${value}`, { code: "slack.invalid" });
}

/** c_g of every group, constrained or not; groups that a table does not name take "auto". */
export function resolveSlack(
  constraints: Pick<Constraints, "groups" | "distance" | "variant">,
  specification: SlackSpecification,
  options: SlackOptions = {},
): Float64Array {
  const { kappa = SLACK_KAPPA } = options;
  requirePositive("kappa", kappa);
  const { groups, distance, variant } = constraints;
  const { automaticSlack } = DISTANCES[distance];
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
  return Float64Array.from(groups, (group) => table.get(group.name) ?? automaticSlack(group, variant, kappa));
}
