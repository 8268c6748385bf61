/**
 * What the constraints compare a model with, prepared once per set of rows: each group's Kaplan-Meier curve and
 * Greenwood variance, its support τ_g, its observed events per time block, and whether it is constrained or only
 * reported. Curves are compared on bins 1…L. `paper`: L = T, the Kaplan-Meier curve carried flat past follow-up, every
 * group constrained. `default`: L = τ_g, and a group with τ_g < T/4 or fewer than 10 events is only reported. The
 * distances and their gradients are in distances/, what they need from the model is in group-statistics.ts, and the c_g
 * are in slack.ts. Mean curves of one of several causes are those of 1 − F, and compared with 1 − Aalen-Johansen.
 */

import { InputError, unreachable } from "../core/errors.ts";
import { present } from "../core/present.ts";
import { countOf } from "../core/text.ts";
import {
  type BinnedSingleCause,
  refuseBeyondCensoring,
  requireSingleCause,
} from "../data/outcomes/outcomes.ts";
import { groupSupport, kaplanMeierBinned, MINIMUM_EVENTS, MINIMUM_SUPPORT } from "../stats/kaplan-meier.ts";
import type { GroupStatistic } from "./distances/distance.ts";
import { sumWeights } from "./curves.ts";
import { DISTANCES, type DistanceName } from "./distances/list.ts";
import { type ObservedCurve, observeCurve } from "./observed-curve.ts";
import { checkBlocks, equalEventBlocks, TIME_BLOCKS, type TimeBlock } from "./time-blocks.ts";

/** The paper's reading of a distance, or ours. */
export const VARIANTS = ["paper", "default"] as const;
/** Which conventions apply: the paper's, over all bins, or ours, over those with follow-up. */
export type ConstraintVariant = (typeof VARIANTS)[number];

/** A group: a name and its rows. */
export interface NamedRows {
  readonly name: string;
  /** 0-based rows of the training set, ascending. */
  readonly rows: Int32Array;
}

/** Outcomes, groups, and the distance by which they are constrained. */
export interface ConstraintOptions {
  /** Outcomes of the rows on the time grid. */
  readonly binned: BinnedSingleCause;
  /** The groups to constrain, by their rows. */
  readonly groups: readonly NamedRows[];
  /** The distance between a group's mean curve and what was observed. */
  readonly distance: DistanceName;
  /** The paper's form, or the one that keeps to a group's follow-up. */
  readonly variant: ConstraintVariant;
  /** For atRisk: how many blocks of equal training events, or the blocks themselves. */
  readonly blocks?: number | readonly TimeBlock[];
  /** Bins the curves are compared on: every one (`paper`) or t ≤ τ_g (`default`). */
  readonly support?: "all" | "supported";
  /** A group with fewer events is only reported; 0 in `paper`, 10 in `default`. */
  readonly minimumEvents?: number;
  /** A group whose support is a smaller share of the T bins is only reported; 0 in `paper`, 1/4 in `default`. */
  readonly minimumSupport?: number;
}

/** A group with what its distance is measured against. */
export interface ConstraintGroup extends NamedRows, ObservedCurve {
  readonly events: number;
  /** Σ ω, the number of rows where none has a weight. */
  readonly total: number;
  /** τ_g: the last bin with at least 10 rows at risk. */
  readonly support: number;
  /** L: curves are compared on bins 1…bins. */
  readonly bins: number;
  /** Observed events in each block. */
  readonly observed: Float64Array; // [blocks]
  /** Blocks in which the group has anyone at risk. */
  readonly followedBlocks: number;
  /** False where the distance has no value; it is then reported as 0, without a gradient. */
  readonly measurable: boolean;
  readonly constrained: boolean;
  /** Why the group is only reported; null when it is constrained. */
  readonly reason: string | null;
}

/**
 * Rows that belong to exactly the same groups, taken together: groups overlap, but there are far fewer distinct
 * combinations than rows, so sums over groups cost one pass over the rows and one over the combinations.
 */
export interface Memberships {
  readonly combinationOf: Int32Array; // [N]
  /** Groups of each combination, ascending. */
  readonly groupsOf: readonly (readonly number[])[];
  /** Every row once, combination by combination. */
  readonly order: Int32Array; // [N]
}

/** Everything about the groups that does not change while training. */
export interface Constraints {
  readonly distance: DistanceName;
  readonly variant: ConstraintVariant;
  readonly N: number;
  readonly T: number;
  readonly bin: Int32Array; // [N], the last bin of each row at risk
  /** The first one, where not bin 1; and the weight of each row, where not 1. */
  readonly firstBin?: Int32Array; // [N]
  readonly weight?: Float64Array; // [N]
  /** Whether the rows' curves are 1 − F of one of several causes, which the others' hazards bend too. */
  readonly isIncidence: boolean;
  readonly groups: readonly ConstraintGroup[];
  readonly blocks: readonly TimeBlock[];
  readonly memberships: Memberships;
}

/** The mean curve of people who entered late is not that of their Kaplan-Meier. */
const INSTEAD = "atRisk compares observed with expected events while people are under observation";

/** Computes the Kaplan-Meier curve, support and blocks of every group once. */
export function prepareConstraints(options: ConstraintOptions): Constraints {
  const { binned, distance, variant } = options;
  requireSingleCause(binned, "a constraint");
  const isOfCurves = DISTANCES[distance].statistic === "meanCurve";
  if (isOfCurves) refuseBeyondCensoring(binned, `the distance ${distance}`, ["weight"], INSTEAD);
  const { T, bin, firstBin, weight } = binned;
  const N = bin.length;
  checkGroups(options.groups, N);
  const blocks =
    typeof options.blocks === "object"
      ? options.blocks
      : equalEventBlocks(binned, options.blocks ?? TIME_BLOCKS);
  checkBlocks(blocks, T);
  const groups = options.groups.map((group) => prepareGroup(group, blocks, options));
  return {
    distance,
    variant,
    N,
    T,
    bin,
    ...present({ firstBin, weight }),
    isIncidence: isOfCurves && binned.rival !== undefined,
    groups,
    blocks,
    memberships: listMemberships(options.groups, N),
  };
}

function checkGroups(groups: readonly NamedRows[], N: number): void {
  const names = new Set<string>();
  for (const { name, rows } of groups) {
    if (names.has(name)) {
      throw new InputError(`two groups have the same name: ${JSON.stringify(name)}`, { code: "group.name" });
    }
    names.add(name);
    const wrong = rows.findIndex((row, k) => !(row < N && row > (k === 0 ? -1 : rows[k - 1])));
    if (wrong < 0) continue;
    throw new InputError(
      `rows of group ${JSON.stringify(name)} not ascending within 1…${N}: ${rows[wrong] + 1}`,
      { code: "group.rows" },
    );
  }
}

function prepareGroup(
  group: NamedRows,
  blocks: readonly TimeBlock[],
  options: ConstraintOptions,
): ConstraintGroup {
  const { binned, distance, variant } = options;
  const paper = variant === "paper";
  const { rows } = group;
  const { statistic, findObstacle } = DISTANCES[distance];
  const plain = kaplanMeierBinned(binned, undefined, rows);
  const { km, worth, rivals } =
    statistic === "meanCurve" ? observeCurve(plain, binned, rows) : { km: plain, worth: plain.atRisk };
  const events = countEvents(binned, rows);
  const support = groupSupport(binned, { rows });
  const bins = (options.support ?? (paper ? "all" : "supported")) === "all" ? binned.T : support;
  const observed = Float64Array.from(blocks, ({ first, last }) => {
    let sum = 0;
    for (let t = first; t <= last; t++) sum += km.events[t];
    return sum;
  });
  const followedBlocks = blocks.filter(({ first }) => km.atRisk[first] > 0).length;
  const why =
    findStatisticObstacle(statistic, { rows, bins, followedBlocks }) ?? findObstacle({ km, bins }, variant);
  const minimumEvents = options.minimumEvents ?? (paper ? 0 : MINIMUM_EVENTS);
  const minimumSupport = options.minimumSupport ?? (paper ? 0 : MINIMUM_SUPPORT);
  let reason = why;
  if (reason === null && events < minimumEvents)
    reason = `${countOf(events, "event")}, fewer than ${minimumEvents}`;
  if (reason === null && support < minimumSupport * binned.T) {
    reason = `at least 10 rows at risk in ${support} of ${binned.T} bins only`;
  }
  const constrained = reason === null;
  return {
    ...group,
    events,
    km,
    worth,
    ...present({ rivals }),
    total: sumWeights(binned.weight, rows),
    support,
    bins,
    observed,
    followedBlocks,
    measurable: why === null,
    constrained,
    reason,
  };
}

/** How many rows have an event in a bin at risk, whatever their weights. */
function countEvents({ event, bin, firstBin }: BinnedSingleCause, rows: Int32Array): number {
  let events = 0;
  for (const row of rows) if (firstBin === undefined || firstBin[row] <= bin[row]) events += event[row];
  return events;
}

/** Why the group lacks the statistic that its distance reads, or null. */
function findStatisticObstacle(
  statistic: GroupStatistic,
  { rows, bins, followedBlocks }: Pick<ConstraintGroup, "rows" | "bins" | "followedBlocks">,
): string | null {
  if (rows.length === 0) return "no rows";
  switch (statistic) {
    case "meanCurve":
      return bins === 0 ? "no bin with at least 10 rows at risk" : null;
    case "blockTotals":
      return followedBlocks === 0 ? "nobody at risk in any time block" : null;
    default:
      return unreachable(statistic);
  }
}

function listMemberships(groups: readonly NamedRows[], N: number): Memberships {
  const combinationOf = new Int32Array(N);
  const groupsOf: (readonly number[])[] = [[]];
  const order = new Int32Array(N);
  // Group by group, the members of each combination so far become a new combination: one pass over the memberships.
  groups.forEach(({ rows }, g) => {
    const extended = new Map<number, number>();
    for (const row of rows) {
      const before = combinationOf[row];
      let after = extended.get(before);
      if (after === undefined) {
        after = groupsOf.length;
        extended.set(before, after);
        groupsOf.push([...groupsOf[before], g]);
      }
      combinationOf[row] = after;
    }
  });
  const next = new Int32Array(groupsOf.length + 1);
  for (const combination of combinationOf) next[combination + 1]++;
  for (let c = 0; c < groupsOf.length; c++) next[c + 1] += next[c];
  for (let row = 0; row < N; row++) order[next[combinationOf[row]]++] = row;
  return { combinationOf, groupsOf, order };
}
