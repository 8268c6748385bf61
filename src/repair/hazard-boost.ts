/**
 * A repair of curves on the hazard scale: in time block b, the hazards of everyone in group g are multiplied by
 * exp(a_gb); those in several groups get all of their ratios,
 *   −log S'(t) = Σ_{s≤t} exp(Σ_{g ∋ i} a_g,b(s)) · (log S(s−1) − log S(s)).
 * Curves stay decreasing and within [0, 1], and people in the same groups keep their ranks. The ratios come from events
 * and the hazards that people were at risk of, which needs no censoring weights and holds when censoring depends on the
 * features, and under late entry (hazard-exposure.ts). Weights multiply events and exposures; what a group knows of its
 * ratios is divided by φ = Σ w²x/Σ wx, so that doubling all weights changes nothing. Groups are estimated one after the
 * other given the others, the clearest excess first, until none moves (hazard-ratios.ts has one group's estimate). The
 * ratios applied are shrunk towards 1: by the probability that the group is wrong at all, and by `doubt` standard
 * errors.
 */

import { exp, power, square } from "../core/elementary.ts";
import { InputError } from "../core/errors.ts";
import { present } from "../core/present.ts";
import type { Curves } from "../data/curves/curves.ts";
import type { BinnedSingleCause } from "../data/outcomes/outcomes.ts";
import { equalEventBlocks, type TimeBlock } from "../objectives/time-blocks.ts";
import { matchHistories } from "../stats/calibration/calibration.ts";
import {
  type BoostGroup,
  type BoostInput,
  checkGroups,
  checkRepaired,
  checkSurvival,
  findGroup,
  markMembers,
} from "./boost-input.ts";
import { type Exposure, measureExposure } from "./hazard-exposure.ts";
import { estimateRatios, type GroupEvents, type HazardRatios, preparePriors } from "./hazard-ratios.ts";

export interface HazardBoostOptions {
  /** Maximum number of time blocks, with equally many events each. */
  readonly timeBuckets: number;
  /** Standard errors by which a ratio is shrunk towards 1. */
  readonly doubt: number;
}

/**
 * Measured on planted tables (docs/decisions/009-boost.md): three or eight blocks do equally well. With a doubt of 0, a
 * correct repair overshot on the judging rows in 2 of 30; with 2, it leaves a third of the gap.
 */
export const HAZARD_BOOST_DEFAULTS: HazardBoostOptions = { timeBuckets: 5, doubt: 1 };

/** What was found for a group of the fitting rows. */
export interface FoundGroup {
  readonly name: string;
  readonly expression?: string;
  /** In the fitting rows: observed events, and those the curves predict. */
  readonly events: number;
  readonly expected: number;
  /** Probability that the group is wrong, given the others' repair. */
  readonly probability: number;
  /** Its excess in standard errors. */
  readonly z: number;
}

export interface HazardUpdate {
  /** Index in the boost's groups. */
  readonly group: number;
  /** Logarithms of what its hazards are multiplied by: shrunk towards 0 and multiplied by the boost's share. */
  readonly logRatios: readonly number[]; // [B]
}

/** Plain data that survives JSON. */
export interface HazardBoost {
  readonly kind: "hazards";
  readonly T: number;
  readonly options: HazardBoostOptions;
  /** The share of the estimated ratios that is applied. */
  readonly share: number;
  readonly blocks: readonly TimeBlock[]; // [B]
  readonly groups: readonly FoundGroup[];
  /** At most one per group; the order does not matter. */
  readonly updates: readonly HazardUpdate[];
  /** Groups that could not be estimated, and why. */
  readonly skipped: readonly { readonly name: string; readonly reason: string }[];
}

/** The groups are revisited until no log ratio moves by more than this. */
const SETTLED = 1e-4;
const MAX_CYCLES = 50;
/** Before the events are seen, one of the named groups is expected to be wrong; a single group has even odds. */
const guessWrong = (G: number) => 1 / Math.max(G, 2);

/** The state of one group while the ratios are estimated. */
interface Sought {
  readonly group: BoostGroup;
  readonly rows: Int32Array;
  readonly observed: Float64Array; // [B]
  readonly expected: number;
  /** As the other groups see it: shrunk by its probability. */
  readonly current: Float64Array; // [B]
  found: HazardRatios | undefined;
}

export function fitHazardBoost(input: BoostInput, options: Partial<HazardBoostOptions> = {}): HazardBoost {
  const { curves, binned: outcomes } = matchHistories(input.curves, input.outcomes, "a repair");
  const { groups = [] } = input;
  const settings = checkHazardOptions({ ...HAZARD_BOOST_DEFAULTS, ...options });
  checkSurvival(curves);
  checkGroups(groups);
  if (curves.N === 0) throw new InputError("no rows to calibrate on", { code: "rows.none" });
  const blocks = equalEventBlocks(outcomes, settings.timeBuckets);
  const exposure = measureExposure(curves, outcomes, blocks);
  return fitRatios({ outcomes, blocks, exposure }, groups, settings);
}

/** The events of one cause, or of the only one, and what the rows were at risk of. */
export interface ObservedHazards {
  readonly outcomes: BinnedSingleCause; // [N]
  readonly blocks: readonly TimeBlock[]; // [B]
  readonly exposure: Exposure; // [N,B]
}

/** Finds the ratios of all groups. */
export function fitRatios(
  { outcomes, blocks, exposure }: ObservedHazards,
  groups: readonly BoostGroup[],
  settings: HazardBoostOptions,
): HazardBoost {
  const all = groups.map((group) => startGroup(group, outcomes, exposure));
  const sought = all.filter(({ rows }) => rows.length > 0);
  seekRatios(sought, exposure, outcomes.weight);
  return {
    kind: "hazards",
    T: outcomes.T,
    options: settings,
    share: 1,
    blocks,
    groups: all.map(({ group: { name, expression }, observed, expected, found }) => ({
      name,
      ...present({ expression }),
      events: observed.reduce((sum, count) => sum + count, 0),
      expected,
      probability: found?.probability ?? 0,
      z: found?.z ?? 0,
    })),
    updates: all.flatMap(({ found }, group) =>
      found === undefined ? [] : [{ group, logRatios: drawTowardsOne(found, settings.doubt) }],
    ),
    skipped: all
      .filter(({ rows }) => rows.length === 0)
      .map(({ group }) => ({ name: group.name, reason: "no rows" })),
  };
}

/**
 * Shrinks by the probability that there is anything to repair, and by 1 − 1/z where the excess is clear; never quite to
 * 0.
 */
function drawTowardsOne({ logRatios, probability, z }: HazardRatios, doubt: number): number[] {
  const sure = doubt === 0 ? 1 : 1 - doubt / Math.sqrt(doubt * doubt + z * z);
  return Array.from(logRatios, (a) => probability * sure * a);
}

export function checkHazardOptions(settings: HazardBoostOptions): HazardBoostOptions {
  const { timeBuckets, doubt } = settings;
  const refuse = (name: string, value: number) => {
    throw new InputError(`${name} cannot be ${value}`, { code: "option.invalid" });
  };
  if (!(Number.isInteger(timeBuckets) && timeBuckets >= 1)) refuse("timeBuckets", timeBuckets);
  if (!(doubt >= 0 && doubt < Number.POSITIVE_INFINITY)) refuse("doubt", doubt);
  return { timeBuckets, doubt };
}

function startGroup(group: BoostGroup, outcomes: BinnedSingleCause, exposure: Exposure): Sought {
  const { bin, event, firstBin, weight } = outcomes;
  const { B, blockOf, values } = exposure;
  const mask = markMembers(group, bin.length);
  const rows = Int32Array.from(mask.keys()).filter((i) => mask[i] === 1);
  const observed = new Float64Array(B);
  let expected = 0;
  for (const i of rows) {
    const own = weight === undefined ? 1 : weight[i];
    const isAtRisk = firstBin === undefined || firstBin[i] <= bin[i];
    if (event[i] === 1 && isAtRisk) observed[blockOf[bin[i]]] += own;
    for (let b = 0; b < B; b++) expected += own * values[i * B + b];
  }
  return { group, rows, observed, expected, current: new Float64Array(B), found: undefined };
}

/** φ = Σ w²x/Σ wx by block: a weighted sum of events varies as φ times as many events would. */
function measureDispersion(rows: Int32Array, { B, values }: Exposure, weight: Float64Array): Float64Array {
  const sums = new Float64Array(B);
  const squares = new Float64Array(B);
  for (const i of rows) {
    for (let b = 0; b < B; b++) {
      sums[b] += weight[i] * values[i * B + b];
      squares[b] += square(weight[i]) * values[i * B + b];
    }
  }
  // Without exposure there is nothing to be sure of.
  return sums.map((sum, b) => (sum > 0 ? squares[b] / sum : 1));
}

/** Fills `found` of every group. */
function seekRatios(sought: readonly Sought[], measured: Exposure, weight?: Float64Array): void {
  const { B, values } = measured;
  const dispersions = sought.map(({ rows }) => weight && measureDispersion(rows, measured, weight));
  const priors = preparePriors(B);
  const wrong = guessWrong(sought.length);
  const repaired = values.slice(); // [N,B], under the ratios of all groups
  const estimate = (one: Sought): HazardRatios => {
    const { rows, observed, current } = one;
    const exposure = new Float64Array(B);
    for (const i of rows) {
      const own = weight === undefined ? 1 : weight[i];
      for (let b = 0; b < B; b++) exposure[b] += own * repaired[i * B + b];
    }
    // without its own ratios
    for (let b = 0; b < B; b++) exposure[b] *= exp(-current[b]);
    const known = divideBy(dispersions[sought.indexOf(one)], { observed, exposure });
    return estimateRatios(known, priors, wrong);
  };
  /** Returns how far the furthest log ratio moved. */
  const take = (one: Sought, found: HazardRatios): number => {
    const to = found.logRatios.map((a) => found.probability * a);
    const factors = to.map((a, b) => exp(a - one.current[b]));
    for (const i of one.rows) for (let b = 0; b < B; b++) repaired[i * B + b] *= factors[b];
    const moved = to.reduce((most, a, b) => Math.max(most, Math.abs(a - one.current[b])), 0);
    one.current.set(to);
    one.found = found;
    return moved;
  };
  // The clearest excess first: what it explains is then not attributed to groups that share its rows.
  const order: Sought[] = [];
  const left = [...sought];
  while (left.length > 0) {
    const estimates = left.map(estimate);
    let clearest = 0;
    estimates.forEach(({ probability }, k) => {
      if (probability > estimates[clearest].probability) clearest = k;
    });
    const [one] = left.splice(clearest, 1);
    take(one, estimates[clearest]);
    order.push(one);
  }
  for (let cycle = 0, moved = 1; cycle < MAX_CYCLES && moved > SETTLED; cycle++) {
    moved = 0;
    for (const one of order) moved = Math.max(moved, take(one, estimate(one)));
  }
}

/** What a group's events and exposure are worth: as many of people who weigh 1. */
function divideBy(dispersion: Float64Array | undefined, { observed, exposure }: GroupEvents): GroupEvents {
  if (dispersion === undefined) return { observed, exposure };
  const known = (values: ArrayLike<number>) => dispersion.map((phi, b) => values[b] / phi);
  return { observed: known(observed), exposure: known(exposure) };
}

/** The repair scaled to the given share. */
export function scaleHazardBoost(boost: HazardBoost, share: number): HazardBoost {
  const updates = boost.updates.map(({ group, logRatios }) => ({
    group,
    logRatios: logRatios.map((a) => share * a),
  }));
  return { ...boost, share: boost.share * share, updates: share === 0 ? [] : updates };
}

/** The log ratios of every row, [N,B]: those of all its groups. */
export function sumRatios(
  { updates, groups: known, blocks }: Pick<HazardBoost, "updates" | "groups" | "blocks">,
  N: number,
  groups: readonly BoostGroup[],
): Float64Array {
  const B = blocks.length;
  const logRatios = new Float64Array(N * B);
  for (const { group, logRatios: own } of updates) {
    const mask = markMembers(findGroup(groups, known[group].name), N);
    for (let i = 0; i < N; i++) {
      if (mask[i] === 1) for (let b = 0; b < B; b++) logRatios[i * B + b] += own[b];
    }
  }
  return logRatios;
}

/** Repairs the same model's curves for any rows; groups are matched by name. */
export function applyHazardBoost(
  boost: HazardBoost,
  curves: Curves,
  groups: readonly BoostGroup[] = [],
): Curves {
  const { N, T } = curves;
  checkRepaired(curves, boost.T);
  const B = boost.blocks.length;
  const logRatios = sumRatios(boost, N, groups);
  const survival = Float64Array.from(curves.survival);
  for (let i = 0; i < N; i++) {
    // A person whom no group moves keeps the curve to the last bit.
    if (logRatios.subarray(i * B, (i + 1) * B).every((a) => a === 0)) continue;
    let [before, now] = [1, 1];
    boost.blocks.forEach(({ first, last }, b) => {
      const ratio = exp(logRatios[i * B + b]);
      for (let k = i * T + first - 1; k < i * T + last; k++) {
        const S = Math.min(survival[k], before);
        now = before === 0 ? 0 : now * power(S / before, ratio);
        before = S;
        survival[k] = now;
      }
    });
  }
  return { N, T, survival };
}
