/**
 * Bootstrap intervals for the scores. Rows are resampled with replacement over the whole table: one vector of
 * multiplicities per replicate, from the stream (seed, replicate), shared by every group and model, so intervals of
 * overlapping groups and differences between models are coherent and a replicate is the same whichever thread computes
 * it. Where people have several rows, people are resampled with all of their rows: a table with every row duplicated
 * has the same intervals as the original. Concordance, IBS, RPS and total score get percentile intervals. For ECE and
 * the two distances, whose null lies on the boundary, a percentile interval covers a perfect model 0 % of the time;
 * they get the one-sided bound ‖Δ̂‖ + q(‖Δ* − Δ̂‖), where q is the `level` quantile over replicates, in the norms of
 * gap-norms.ts, over the group's support; `paper` has those over all bins. The bounds are conservative, and valid where
 * Kaplan-Meier is. Certificates provide bounds over several groups at once.
 */

import { InputError } from "../../core/errors.ts";
import { absent, type Measured } from "../../core/measured.ts";
import { namesOf } from "../../core/names.ts";
import { present } from "../../core/present.ts";
import { createRandom } from "../../core/random.ts";
import type { People } from "../../data/outcomes/people.ts";
import { measureGap } from "../calibration/gap-norms.ts";
import { evaluate, SCORE_FIELDS, SCORE_POSITION, type ScoreField } from "./evaluate-scores.ts";
import { isMetric, METRICS, type MetricName, metricOf } from "./metrics.ts";
import type { PreparedScores } from "./prepared-scores.ts";

/** Replicates, level and seed. */
export interface BootstrapOptions {
  /** Resamples of the rows. */
  readonly replicates: number;
  /** Seed of the resamples. */
  readonly seed: number;
  /** Coverage of intervals and bounds. */
  readonly level?: number;
  /** The person of each row; without it every row is a person of its own. */
  readonly people?: People;
}

export const DEFAULT_LEVEL = 0.95;

/**
 * A score undefined in more than this share of the replicates (a group so small that a draw may hold none of its
 * events) gets no interval: what is left would describe only the draws in which it happened to exist.
 */
export const MAX_UNDEFINED_SHARE = 0.1;

/** Two-sided; both null when absent. */
export interface Interval {
  readonly lower: number | null;
  readonly upper: number | null;
}

/** One-sided: the true value is below `upper` at the stated level. There is no lower limit. */
type UpperBound = Pick<Interval, "upper">;

/** The same for a distance reported here in root units, with its estimate in those units. */
interface RootUpperBound extends UpperBound {
  readonly estimate: number | null;
}

/** The metrics with a two-sided interval. */
export type IntervalMetric = {
  [Name in MetricName]: (typeof METRICS)[Name]["hasInterval"] extends true ? Name : never;
}[MetricName];

const INTERVAL_METRICS = namesOf(METRICS).filter((name): name is IntervalMetric => METRICS[name].hasInterval);

/**
 * Intervals or upper bounds for the scores. For a sum such as rps, the interval is that of the mean per row, times the
 * group's n: the size of a group in a replicate is random. Resampling adds noise to the ECE inside the total score, so
 * near a perfect model its interval lies a little low.
 */
export interface ScoreIntervals extends Readonly<Record<IntervalMetric, Interval>>, CalibrationBounds {
  readonly level: number;
  readonly replicates: number;
  /** The same three bounds, which are over the supported bins. */
  readonly supported: CalibrationBounds;
  /** Over all bins. */
  readonly paper: CalibrationBounds & { readonly totalScore: Interval };
}

interface CalibrationBounds {
  readonly ece: UpperBound;
  /** √ of the L2 distance: the r.m.s. gap. */
  readonly distanceL2Root: RootUpperBound;
  readonly distanceVariance: UpperBound;
}

/** The scores of one group in every replicate. */
export interface GroupBootstrap {
  readonly name: string;
  readonly options: CheckedBootstrap;
  readonly N: number;
  /** The scores of the rows taken once. */
  readonly estimate: Float64Array; // [SCORE_FIELDS.length]
  /** The scores of every replicate; NaN = absent. */
  readonly values: Float64Array; // [replicates, SCORE_FIELDS.length]
  readonly intervals: ScoreIntervals;
  /** Path below `intervals` → why its limits are null. */
  readonly absent: Readonly<Record<string, string>>;
}

/** Options with all defaults filled in. */
export type CheckedBootstrap = Required<Omit<BootstrapOptions, "people">> & Pick<BootstrapOptions, "people">;

export interface BootstrapProgress {
  readonly done: number;
  readonly total: number;
}

/**
 * How often each of N rows is drawn in the replicate; sums to N. With people, each row is drawn as often as its person.
 */
export function bootstrapWeights(N: number, seed: number, replicate: number, people?: People): Uint32Array {
  const random = createRandom(seed, replicate);
  const units = people?.count ?? N;
  const weights = new Uint32Array(units);
  for (let draw = 0; draw < units; draw++) weights[random.integer(units)]++;
  return people === undefined ? weights : Uint32Array.from(people.of, (person) => weights[person]);
}

/** R's type 7: linear between the order statistics, the smallest at 0 and the largest at 1. NaN for no values. */
export function quantile(values: ArrayLike<number>, probability: number): number {
  const sorted = Float64Array.from(values).sort();
  if (sorted.length === 0) return Number.NaN;
  const at = (sorted.length - 1) * probability;
  const below = Math.floor(at);
  const above = Math.min(below + 1, sorted.length - 1);
  return sorted[below] + (at - below) * (sorted[above] - sorted[below]);
}

/** The (1−level)/2 and (1+level)/2 quantiles (type 7). */
export function percentileInterval(
  values: ArrayLike<number>,
  level: number = DEFAULT_LEVEL,
): { readonly lower: number; readonly upper: number } {
  return { lower: quantile(values, (1 - level) / 2), upper: quantile(values, (1 + level) / 2) };
}

export function checkBootstrap(
  groups: readonly PreparedScores[],
  options: BootstrapOptions,
): CheckedBootstrap {
  const { replicates, seed, level = DEFAULT_LEVEL, people } = options;
  if (!(Number.isInteger(replicates) && replicates >= 1)) {
    throw new InputError(`the number of replicates is not a positive whole number: ${replicates}`, {
      code: "option.invalid",
    });
  }
  if (!(level > 0 && level < 1)) {
    throw new InputError(`confidence level outside (0, 1): ${level}`, { code: "option.invalid" });
  }
  for (const group of groups) {
    if (group.N === groups[0].N) continue;
    throw new InputError(
      `the groups come from different tables: "${groups[0].name}" of ${groups[0].N} rows, ` +
        `"${group.name}" of ${group.N}`,
      { code: "rows.mismatch", hint: "prepare all groups from one table; they share each resample" },
    );
  }
  if (people !== undefined && groups.length > 0 && people.of.length !== groups[0].N) {
    throw new InputError(`people are given for ${people.of.length} rows, and scores for ${groups[0].N}`, {
      code: "rows.mismatch",
    });
  }
  return { replicates, seed, level, ...present({ people }) };
}

/** All groups under one resample, written to out[offset …] as [G, SCORE_FIELDS.length]. */
export function runReplicate(
  groups: readonly PreparedScores[],
  seed: number,
  replicate: number,
  out: Float64Array,
  offset: number,
  people?: People,
): void {
  if (groups.length === 0) return;
  const weights = bootstrapWeights(groups[0].N, seed, replicate, people);
  groups.forEach((group, g) => {
    evaluate(group, weights, out, offset + g * SCORE_FIELDS.length);
  });
}

/** The replicates of one field; those of a sum are scaled to the group's own n. */
export function replicatesOf(
  { values, estimate }: Pick<GroupBootstrap, "values" | "estimate">,
  field: ScoreField,
): Float64Array {
  const K = SCORE_FIELDS.length;
  const n = SCORE_POSITION.n;
  const isSum = isMetric(field) && metricOf(field).isSum === true;
  return Float64Array.from({ length: values.length / K }, (_, r) => {
    const value = values[r * K + SCORE_POSITION[field]];
    return isSum ? (value * estimate[n]) / values[r * K + n] : value;
  });
}

function summariseGroup(
  prepared: PreparedScores,
  values: Float64Array,
  options: CheckedBootstrap,
): GroupBootstrap {
  const { replicates, level } = options;
  const estimate = evaluate(prepared, new Uint8Array(prepared.N).fill(1));
  const reasons: Record<string, string> = {};
  const defined = (path: string, field: ScoreField): Float64Array | undefined => {
    const found = replicatesOf({ values, estimate }, field).filter((value) => !Number.isNaN(value));
    if (Number.isNaN(estimate[SCORE_POSITION[field]])) reasons[path] = "the score itself is absent";
    else if (found.length < (1 - MAX_UNDEFINED_SHARE) * replicates) {
      reasons[path] = `undefined in ${replicates - found.length} of ${replicates} resamples`;
    } else return found;
    return undefined;
  };
  const interval = (field: ScoreField, path: string = field): Interval => {
    const found = defined(path, field);
    return found === undefined ? { lower: null, upper: null } : percentileInterval(found, level);
  };
  const bound = (path: string, field: ScoreField, size: number): RootUpperBound => {
    const found = defined(path, field);
    if (found === undefined) {
      return { estimate: Number.isNaN(estimate[SCORE_POSITION[field]]) ? null : size, upper: null };
    }
    return { estimate: size, upper: size + quantile(found, level) };
  };
  const { reference, T } = prepared;
  const boundAll = (prefix: string, names: readonly [ScoreField, ScoreField, ScoreField], last: number) => {
    const size = measureGap(reference.gap, reference, last);
    return {
      ece: { upper: bound(`${prefix}ece`, names[0], size.ece).upper },
      distanceL2Root: bound(`${prefix}distanceL2Root`, names[1], size.l2Root),
      distanceVariance: { upper: bound(`${prefix}distanceVariance`, names[2], size.variance).upper },
    };
  };
  const supported = boundAll("", ["gapEce", "gapL2Root", "gapVariance"], reference.supportedBins);
  for (const key of Object.keys(supported)) {
    if (reasons[key] !== undefined) reasons[`supported.${key}`] = reasons[key];
  }
  const twoSided = Object.fromEntries(INTERVAL_METRICS.map((name) => [name, interval(name)]));
  const intervals: ScoreIntervals = {
    level,
    replicates,
    ...(twoSided as Record<IntervalMetric, Interval>),
    ...supported,
    supported,
    paper: {
      ...boundAll("paper.", ["gapPaperEce", "gapPaperL2Root", "gapPaperVariance"], T),
      totalScore: interval("paperTotalScore", "paper.totalScore"),
    },
  };
  return { name: prepared.name, options, N: prepared.N, estimate, values, intervals, absent: reasons };
}

/** Intervals from all replicates, `values` [replicates, G, SCORE_FIELDS.length] as runReplicate wrote them. */
export function summariseReplicates(
  groups: readonly PreparedScores[],
  values: Float64Array,
  options: BootstrapOptions,
): readonly GroupBootstrap[] {
  const checked = checkBootstrap(groups, options);
  const K = SCORE_FIELDS.length;
  const G = groups.length;
  return groups.map((group, g) => {
    const own = new Float64Array(checked.replicates * K);
    for (let r = 0; r < checked.replicates; r++) {
      own.set(values.subarray((r * G + g) * K, (r * G + g + 1) * K), r * K);
    }
    return summariseGroup(group, own, checked);
  });
}

/** Runs on one thread, yielding after every replicate so that a caller can show progress or stop. */
export function* bootstrapScores(
  groups: readonly PreparedScores[],
  options: BootstrapOptions,
): Generator<BootstrapProgress, readonly GroupBootstrap[]> {
  const { replicates, seed, people } = checkBootstrap(groups, options);
  const size = groups.length * SCORE_FIELDS.length;
  const values = new Float64Array(replicates * size);
  for (let replicate = 0; replicate < replicates; replicate++) {
    runReplicate(groups, seed, replicate, values, replicate * size, people);
    yield { done: replicate + 1, total: replicates };
  }
  return summariseReplicates(groups, values, options);
}

/** A difference with its percentile interval. */
type PairedDifference = Readonly<Record<"estimate" | "lower" | "upper", number>>;

/**
 * The difference first − second of two models on the same rows, or of two groups of one table. Replicates in which
 * either score is undefined are dropped; the interval is absent if there are too many of them.
 */
export function pairedDifference(
  first: GroupBootstrap,
  second: GroupBootstrap,
  field: ScoreField,
  level: number = DEFAULT_LEVEL,
): Measured<PairedDifference> {
  const { seed, replicates, people } = first.options;
  const other = second.options;
  const isSame = seed === other.seed && replicates === other.replicates && first.N === second.N;
  if (!isSame || people?.count !== other.people?.count) {
    throw new InputError("replicates are not paired: they differ in seed, number, table size or people", {
      code: "bootstrap.unpaired",
      hint: "bootstrap both with the same seed, number of replicates and people, on the same rows",
    });
  }
  const estimate = first.estimate[SCORE_POSITION[field]] - second.estimate[SCORE_POSITION[field]];
  if (Number.isNaN(estimate)) return absent("one of the two scores is absent");
  const others = replicatesOf(second, field);
  const found = replicatesOf(first, field)
    .map((value, r) => value - others[r])
    .filter((difference) => !Number.isNaN(difference));
  if (found.length < (1 - MAX_UNDEFINED_SHARE) * replicates) {
    return absent(`undefined in ${replicates - found.length} of ${replicates} resamples`);
  }
  return { estimate, ...percentileInterval(found, level) };
}
