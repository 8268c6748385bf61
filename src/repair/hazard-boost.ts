/**
 * A repair of curves on the hazard scale: in time block b, the hazards of everyone in group g are multiplied by
 * exp(a_gb); those in several groups get all of their ratios,
 *   −log S'(t) = Σ_{s≤t} exp(Σ_{g ∋ i} a_g,b(s)) · (log S(s−1) − log S(s)).
 * Curves stay decreasing and within [0, 1], and people in the same groups keep their ranks. The ratios come from events
 * and the hazards that people were at risk of, which needs no censoring weights and holds when censoring depends on the
 * features. A person's exposure is the cumulative hazard up to their own bin, with half of the event's bin: log(1 −
 * e^−x) = log x − x/2 + x²/24 − …. Groups are estimated one after the other given the others, the clearest excess
 * first, until none moves (hazard-ratios.ts has one group's estimate). The ratios applied are shrunk towards 1: by the
 * probability that the group is wrong at all, and by `doubt` standard errors.
 */

import { exp, log, power } from "../core/elementary.ts";
import { InputError } from "../core/errors.ts";
import { present } from "../core/present.ts";
import type { Curves } from "../data/curves/curves.ts";
import type { BinnedRightCensored } from "../data/outcomes/outcomes.ts";
import { equalEventBlocks, type TimeBlock } from "../objectives/time-blocks.ts";
import { matchOutcomes } from "../stats/calibration/calibration.ts";
import {
  type BoostGroup,
  type BoostInput,
  checkGroups,
  checkRepaired,
  checkSurvival,
  findGroup,
  markMembers,
} from "./boost-input.ts";
import { estimateRatios, type HazardRatios, preparePriors } from "./hazard-ratios.ts";

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

/** Curves are floored at this value: nobody is left to have the hazards beyond it. */
const SMALLEST_SURVIVAL = 1e-6;
/** The groups are revisited until no log ratio moves by more than this. */
const SETTLED = 1e-4;
const MAX_CYCLES = 50;
/** Before the events are seen, one of the named groups is expected to be wrong; a single group has even odds. */
const guessWrong = (G: number) => 1 / Math.max(G, 2);

/** How much each row was at risk of, and when its events came. */
interface Exposure {
  readonly B: number;
  readonly blockOf: Int32Array; // [T+1]
  readonly values: Float64Array; // [N,B]
}

function measureExposure(
  { N, T, survival }: Curves,
  { bin, event }: BinnedRightCensored,
  blocks: readonly TimeBlock[],
): Exposure {
  const B = blocks.length;
  const blockOf = new Int32Array(T + 1);
  blocks.forEach(({ first, last }, b) => {
    blockOf.fill(b, first, last + 1);
  });
  const values = new Float64Array(N * B);
  for (let i = 0; i < N; i++) {
    let before = 1;
    for (let t = 1; t <= bin[i] && before > SMALLEST_SURVIVAL; t++) {
      const now = Math.max(Math.min(survival[i * T + t - 1], before), SMALLEST_SURVIVAL);
      const part = t === bin[i] && event[i] === 1 ? 0.5 : 1;
      values[i * B + blockOf[t]] += part * log(before / now);
      before = now;
    }
  }
  return { B, blockOf, values };
}

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
  const { curves, binned: outcomes } = matchOutcomes(input.curves, input.outcomes, "a repair");
  const { groups = [] } = input;
  const settings = checkOptions({ ...HAZARD_BOOST_DEFAULTS, ...options });
  checkSurvival(curves);
  checkGroups(groups);
  const { N, T } = curves;
  if (N === 0) throw new InputError("no rows to calibrate on", { code: "rows.none" });
  const blocks = equalEventBlocks(outcomes, settings.timeBuckets);
  const exposure = measureExposure(curves, outcomes, blocks);
  const all = groups.map((group) => startGroup(group, outcomes, exposure));
  const sought = all.filter(({ rows }) => rows.length > 0);
  seekRatios(sought, exposure);
  return {
    kind: "hazards",
    T,
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

function checkOptions(settings: HazardBoostOptions): HazardBoostOptions {
  const { timeBuckets, doubt } = settings;
  const refuse = (name: string, value: number) => {
    throw new InputError(`${name} cannot be ${value}`, { code: "option.invalid" });
  };
  if (!(Number.isInteger(timeBuckets) && timeBuckets >= 1)) refuse("timeBuckets", timeBuckets);
  if (!(doubt >= 0 && doubt < Number.POSITIVE_INFINITY)) refuse("doubt", doubt);
  return { timeBuckets, doubt };
}

function startGroup(group: BoostGroup, { bin, event }: BinnedRightCensored, exposure: Exposure): Sought {
  const { B, blockOf, values } = exposure;
  const mask = markMembers(group, bin.length);
  const rows = Int32Array.from(mask.keys()).filter((i) => mask[i] === 1);
  const observed = new Float64Array(B);
  let expected = 0;
  for (const i of rows) {
    if (event[i] === 1) observed[blockOf[bin[i]]]++;
    for (let b = 0; b < B; b++) expected += values[i * B + b];
  }
  return { group, rows, observed, expected, current: new Float64Array(B), found: undefined };
}

/** Fills `found` of every group. */
function seekRatios(sought: readonly Sought[], { B, values }: Exposure): void {
  const priors = preparePriors(B);
  const wrong = guessWrong(sought.length);
  const repaired = values.slice(); // [N,B], under the ratios of all groups
  const estimate = ({ rows, observed, current }: Sought): HazardRatios => {
    const exposure = new Float64Array(B);
    for (const i of rows) for (let b = 0; b < B; b++) exposure[b] += repaired[i * B + b];
    // without its own ratios
    for (let b = 0; b < B; b++) exposure[b] *= exp(-current[b]);
    return estimateRatios({ observed, exposure }, priors, wrong);
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

/** The repair scaled to the given share. */
export function scaleHazardBoost(boost: HazardBoost, share: number): HazardBoost {
  const updates = boost.updates.map(({ group, logRatios }) => ({
    group,
    logRatios: logRatios.map((a) => share * a),
  }));
  return { ...boost, share: boost.share * share, updates: share === 0 ? [] : updates };
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
  const logRatios = new Float64Array(N * B);
  for (const { group, logRatios: own } of boost.updates) {
    const mask = markMembers(findGroup(groups, boost.groups[group].name), N);
    for (let i = 0; i < N; i++) {
      if (mask[i] === 1) for (let b = 0; b < B; b++) logRatios[i * B + b] += own[b];
    }
  }
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
