/**
 * Whether what happened to local people contradicts a target from outside, before a model is held to it. Group by
 * group, with Λ* = −log S* linear between 0 and the target times t_1 < … < t_J, and follow-up cut at t_J:
 *   O = events up to t_J,  E = Σ_i Λ*(min(time_i, t_J)) = Σ_j a_j ΔΛ*_j,  a_j = person-time in (t_{j−1}, t_j] ÷ length
 *   z = (O − E) / √(E + Σ_j a_j² ΔG_j),  G = (se / S*)², the variance of Λ* by the delta method
 * E is the variance of the local count, as in the one-sample logrank test; the sum, V, is that of the target, whose Λ*
 * has independent increments. Small groups have an exact test with the same two variances: the count is Poisson, and
 * its mean gamma distributed with mean E and variance V, so that the count is negative binomial. Where S* is 1 up to
 * t_J, E is 0 and any event is a clash. Rows are taken as independent people.
 */

import { normalUpperTail } from "../core/distributions.ts";
import { log, square } from "../core/elementary.ts";
import { countTwoSided } from "../core/poisson.ts";
import { ALL_GROUP } from "../data/groups/groups.ts";
import { type RightCensoredInput, toRightCensored } from "../data/plain-input.ts";
import { createUnknownGroupError, type TargetCurve, type Targets } from "../data/targets/targets.ts";
import { holm } from "./comparison.ts";

/** Below this many expected events the normal approximation is too rough, and the test is exact. */
export const EXACT_BELOW = 20;

/** The rows of a local group. */
export interface ClashGroup {
  readonly name: string;
  /** 0-based. */
  readonly rows: ArrayLike<number>;
}

/** A group's local outcome beside its target. */
export interface Clash {
  readonly group: string;
  /** Events up to the last target time. */
  readonly observed: number;
  /** Events expected by the target over the same follow-up. */
  readonly expected: number;
  /** Null where few events are expected and the test is exact. */
  readonly z: number | null;
  /** Two-sided. */
  readonly p: number;
  /** Holm's, over the groups that have targets. */
  readonly adjusted: number;
}

/** Tests every target against the rows of its group; "all" is every row unless a group has that name. */
export function testClash(
  input: RightCensoredInput,
  groups: readonly ClashGroup[],
  targets: Targets,
): Clash[] {
  const outcomes = toRightCensored(input, "the clash test");
  const rowsOf = new Map<string, ArrayLike<number>>([
    [ALL_GROUP.name, Int32Array.from(outcomes.time, (_, row) => row)],
    ...groups.map(({ name, rows }) => [name, rows] as const),
  ]);
  const unknown = targets.curves.map(({ group }) => group).filter((group) => !rowsOf.has(group));
  if (unknown.length > 0) throw createUnknownGroupError(targets, unknown, [...rowsOf.keys()]);
  const tested = targets.curves.map((curve) => testGroup(outcomes, rowsOf.get(curve.group) ?? [], curve));
  const adjusted = holm(tested.map(({ p }) => p));
  return tested.map((one, g) => ({ ...one, adjusted: adjusted[g] }));
}

function testGroup(
  outcomes: { readonly time: Float64Array; readonly event: Uint8Array },
  rows: ArrayLike<number>,
  target: TargetCurve,
): Omit<Clash, "adjusted"> {
  const { group, time } = target;
  const last = time[time.length - 1];
  const atRisk = new Float64Array(time.length);
  let observed = 0;
  for (let i = 0; i < rows.length; i++) {
    const row = rows[i];
    if (outcomes.event[row] === 1 && outcomes.time[row] <= last) observed++;
    addTimeAtRisk(atRisk, time, outcomes.time[row]);
  }
  const { expected, varianceOfTarget } = expectEvents(atRisk, target);
  if (expected < EXACT_BELOW)
    return { group, observed, expected, z: null, p: countTwoSided(observed, expected, varianceOfTarget) };
  const z = (observed - expected) / Math.sqrt(expected + varianceOfTarget);
  return { group, observed, expected, z, p: Math.min(1, 2 * normalUpperTail(Math.abs(z))) };
}

/** Adds to each interval the share of it that somebody was watched for; follow-up after the last is cut. */
function addTimeAtRisk(atRisk: Float64Array, edges: Float64Array, followUp: number): void {
  let from = 0;
  for (let j = 0; j < edges.length && from < followUp; j++) {
    atRisk[j] += (Math.min(followUp, edges[j]) - from) / (edges[j] - from);
    from = edges[j];
  }
}

/** E, and the part of the variance of O − E that is the target's, V. */
function expectEvents(
  atRisk: Float64Array,
  { survival, se }: TargetCurve,
): { readonly expected: number; readonly varianceOfTarget: number } {
  let expected = 0;
  let varianceOfTarget = 0;
  let before = 1;
  let largest = 0;
  for (let j = 0; j < atRisk.length; j++) {
    expected += atRisk[j] * log(before / survival[j]);
    before = survival[j];
    // The variance of a sum of independent increments cannot fall. Printed errors do, by rounding or where the
    // registry smoothed them: the running maximum keeps the larger.
    const G = square(se[j] / survival[j]);
    if (G > largest && atRisk[j] > 0) varianceOfTarget += square(atRisk[j]) * (G - largest);
    largest = Math.max(largest, G);
  }
  return { expected, varianceOfTarget };
}
