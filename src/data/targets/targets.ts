/**
 * Survival known from outside, such as a registry's: for some groups, S* at some times with its standard error. A curve
 * is a target for the mean predicted curve of the local group of that name. This rests on two assumptions that no file
 * can prove: the group's mix of features is the registry's, and event, time origin and kind of mortality are the same.
 * parse-targets.ts reads the file; here is what it gives, and whether it fits a study.
 */

import { InputError } from "../../core/errors.ts";
import { nearestName } from "../../core/names.ts";
import { ALL_GROUP } from "../groups/groups.ts";

/** Deaths of every cause, or survival as it would be if the disease were the only cause. */
export const MORTALITIES = ["all-cause", "net"] as const;
/** Whose deaths a curve counts. */
export type Mortality = (typeof MORTALITIES)[number];

/**
 * The least standard error. Registries print survival in tenths of a percent, so less than one unit of the last digit
 * is not known. A standard error of 0, which is how a small one is printed, would outweigh all other targets.
 */
export const SE_FLOOR = 0.001;

/** What the head of a targets file says. */
export interface AboutTargets {
  /** The event that the curves are free of. */
  readonly event?: string;
  /** What times are counted from, e.g. diagnosis. */
  readonly origin?: string;
  readonly mortality?: Mortality;
  /** The calendar years of the registry's people. */
  readonly period?: string;
  /** Share f of the local people whom the registry also holds: se² is inflated by 1/(1 − f). 0 if not said. */
  readonly overlap: number;
}

/** The survival of one group, told from outside. */
export interface TargetCurve {
  readonly group: string;
  /** Above 0, ascending. */
  readonly time: Float64Array; // [J]
  /** S* in (0, 1], never rising. */
  readonly survival: Float64Array; // [J]
  /** Standard errors of S*, inflated for the overlap, at least SE_FLOOR. */
  readonly se: Float64Array; // [J]
  /** At how many of the times the floor was put in place of a smaller standard error. */
  readonly floored: number;
}

/** A targets file as read. */
export interface Targets {
  /** The file's name, for messages. */
  readonly name: string;
  readonly about: AboutTargets;
  /** A curve for each group, in the order of the file. */
  readonly curves: readonly TargetCurve[];
}

/** What targets are checked against. */
export interface CheckTargetsOptions {
  /** Names of the groups there are; "all" need not be among them. */
  readonly groups: readonly string[];
  /** The end of the time grid, in the unit of the target times. */
  readonly horizon: number;
}

/** Refuses targets of groups that nobody defined, and at times that no predicted curve reaches. */
export function checkTargets(targets: Targets, { groups, horizon }: CheckTargetsOptions): void {
  const known = [...new Set([ALL_GROUP.name, ...groups])];
  const unknown = targets.curves.map(({ group }) => group).filter((group) => !known.includes(group));
  if (unknown.length > 0) throw createUnknownGroupError(targets, unknown, known);
  const beyond = targets.curves.flatMap(({ group, time }) => {
    const late = Array.from(time).filter((at) => !(at <= horizon));
    return late.length === 0 ? [] : [`${JSON.stringify(group)} at ${late.join(", ")}`];
  });
  if (beyond.length === 0) return;
  throw new InputError(`target times beyond the horizon ${horizon}: ${beyond.join("; ")}`, {
    code: "targets.horizon",
    where: `${targets.name}, column "time"`,
    hint: "leave out these lines, or choose a later horizon; are the times in the unit of the table?",
  });
}

/** The refusal of groups that are not among the known ones. */
export function createUnknownGroupError(
  { name }: Targets,
  unknown: readonly string[],
  known: readonly string[],
): InputError {
  const quoted = unknown.map((group) => JSON.stringify(group)).join(", ");
  const near = nearestName(unknown[0], known);
  const define = "name the group in the groups file, or with --group";
  const what = unknown.length === 1 ? "unknown group" : "unknown groups";
  return new InputError(`${what} in the targets: ${quoted} (have ${known.join(", ")})`, {
    code: "targets.group",
    where: `${name}, column "group"`,
    hint: near === undefined ? define : `did you mean ${JSON.stringify(near)}?`,
  });
}
