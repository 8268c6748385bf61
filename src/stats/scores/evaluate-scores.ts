/**
 * All scores of a prepared group under row weights (bootstrap multiplicities), with the same results as scores.ts on
 * physically repeated rows, in a few milliseconds: one pass over the curves for the mean curve and the Brier terms
 * together, table look-ups for the concordance, sums of per-row constants for the rest. It also measures how far the
 * replicate's calibration gap lies from the estimate's (gap-norms.ts), so that replicates need not carry whole curves.
 * Values are at named positions of a Float64Array, where NaN means absent. NaN stays inside this layer; bootstrap.ts
 * turns it into reasons.
 */
import { log, square } from "../../core/elementary.ts";
import { isAbsent, type Measured } from "../../core/measured.ts";
import { namesOf } from "../../core/names.ts";
import type { RowWeights } from "../../data/outcomes/outcomes.ts";
import { checkLength } from "../../data/outcomes/rows-by-time.ts";
import { D_CALIBRATION_BINS, testDCalibration } from "../calibration/d-calibration.ts";
import { measureGap, subtractCurves } from "../calibration/gap-norms.ts";
import { censoringKaplanMeierBinned } from "../censoring.ts";
import {
  concordanceHalfTies,
  concordancePaper,
  countPairsByBin,
  type PairCounts,
} from "../concordance/time-dependent.ts";
import { kaplanMeierBinned, MINIMUM_AT_RISK, tallyBins } from "../kaplan-meier.ts";
import { logrankOneSample, MEAN_SURVIVAL_FLOOR } from "../logrank.ts";
import { METRICS, PAPER_METRICS } from "./metrics.ts";
import type { PreparedScores } from "./prepared-scores.ts";

/**
 * The fields in the order of their positions: the metrics, with calibration over the bins with at least ten rows at
 * risk; the `paper…` ones, over all bins; and the `gap…` ones, which are norms of (gap of these weights − gap of the
 * rows taken once).
 */
export const SCORE_FIELDS = [
  "n",
  "events",
  ...namesOf(METRICS),
  "dCalibrationChi2",
  "logrankExpected",
  "logrankChi2",
  "logrankIndividualExpected",
  "logrankIndividualVariance",
  "logrankIndividualChi2",
  "supportedBins",
  "paperEce",
  "paperDistanceL2",
  "paperDistanceVariance",
  "paperTotalScore",
  "gapEce",
  "gapL2Root",
  "gapVariance",
  "gapPaperEce",
  "gapPaperL2Root",
  "gapPaperVariance",
] as const;

/** The position of each of the paper's metrics. */
const PAPER_FIELDS = {
  ece: "paperEce",
  distanceL2: "paperDistanceL2",
  distanceVariance: "paperDistanceVariance",
  totalScore: "paperTotalScore",
} as const satisfies Readonly<Record<(typeof PAPER_METRICS)[number], ScoreField>>;

/** The name of a score. */
export type ScoreField = (typeof SCORE_FIELDS)[number];
/** NaN = absent. */
export type ScoreValues = Readonly<Record<ScoreField, number>>;

export const SCORE_POSITION = Object.fromEntries(
  SCORE_FIELDS.map((field, position) => [field, position]),
) as ScoreValues;

/** The record stored at values[offset …]. */
export function readScoreValues(values: Float64Array, offset = 0): ScoreValues {
  const entries = SCORE_FIELDS.map((field, position) => [field, values[offset + position]]);
  return Object.fromEntries(entries) as ScoreValues;
}

function numberOf(value: Measured): number {
  return isAbsent(value) ? Number.NaN : value;
}

/** Whole-number weights make every sum here exact, whatever the order. */
function countPairs(prepared: PreparedScores, weight: Float64Array, atRisk: Float64Array): PairCounts {
  if (prepared.concordance === null) return countPairsByBin({ ...prepared, weights: weight });
  const { bin, eventStart, eventRow, later, tableStart, below, tiedStart, notAbove } = prepared.concordance;
  const prefix = new Float64Array(eventRow.length + 1);
  let pairs = 0;
  let concordant = 0;
  let upToTies = 0;
  for (let b = 0; b < bin.length; b++) {
    const events = eventStart[b + 1] - eventStart[b];
    let total = 0;
    for (let k = 0; k < events; k++) {
      total += weight[eventRow[eventStart[b] + k]];
      prefix[k + 1] = total;
    }
    if (total === 0) continue;
    pairs += total * atRisk[bin[b] + 1];
    const rows = later[b];
    // A view of the block keeps the index in the loop a small integer.
    const table = below.subarray(tableStart[b], tableStart[b] + rows);
    let sum = 0;
    for (let j = 0; j < rows; j++) sum += weight[j] * prefix[table[j]];
    concordant += sum;
    if (tiedStart[b] < 0) {
      upToTies += sum;
      continue;
    }
    const tiedTable = notAbove.subarray(tiedStart[b], tiedStart[b] + rows);
    sum = 0;
    for (let j = 0; j < rows; j++) sum += weight[j] * prefix[tiedTable[j]];
    upToTies += sum;
  }
  return { pairs, concordant, tied: upToTies - concordant };
}

interface ColumnSums {
  readonly mean: Float64Array; // [T+1]
  readonly ibs: number;
}

/**
 * Computes the sums of meanCurve (calibration.ts) and brierBinned (brier.ts) in one pass. It takes four rows at a time,
 * so that the running sums are loaded and stored a quarter as often: twice as fast as row by row. Rows come latest bin
 * first, so four neighbours share nearly all their living bins.
 */
function sumColumns(prepared: PreparedScores, weight: Float64Array, n: number): ColumnSums {
  const { T, survival, rows, bin, event } = prepared;
  const G = censoringKaplanMeierBinned(prepared, { ties: "reverse", weights: weight });
  const mean = new Float64Array(T + 1);
  const alive = new Float64Array(T + 1);
  const dead = new Float64Array(T + 1);
  const drawn = new Int32Array(rows.length);
  let K = 0;
  for (let i = 0; i < rows.length; i++) if (weight[i] !== 0) drawn[K++] = i;
  for (let k = 0; k < K; k += 4) {
    // The last pack may be short: it is padded with its first row at weight 0.
    const a = drawn[k];
    const b = k + 1 < K ? drawn[k + 1] : a;
    const c = k + 2 < K ? drawn[k + 2] : a;
    const d = k + 3 < K ? drawn[k + 3] : a;
    const wa = weight[a];
    const wb = k + 1 < K ? weight[b] : 0;
    const wc = k + 2 < K ? weight[c] : 0;
    const wd = k + 3 < K ? weight[d] : 0;
    const startA = rows[a] * T - 1;
    const startB = rows[b] * T - 1;
    const startC = rows[c] * T - 1;
    const startD = rows[d] * T - 1;
    const shared = Math.min(bin[a], bin[b], bin[c], bin[d]);
    for (let t = 1; t < shared; t++) {
      const A = survival[startA + t];
      const B = survival[startB + t];
      const C = survival[startC + t];
      const D = survival[startD + t];
      mean[t] += wa * A + wb * B + (wc * C + wd * D);
      alive[t] +=
        wa * (1 - A) * (1 - A) + wb * (1 - B) * (1 - B) + (wc * (1 - C) * (1 - C) + wd * (1 - D) * (1 - D));
    }
    for (let t = shared; t <= T; t++) {
      mean[t] +=
        wa * survival[startA + t] +
        wb * survival[startB + t] +
        (wc * survival[startC + t] + wd * survival[startD + t]);
    }
    for (let i = k; i < k + 4 && i < K; i++) {
      const row = drawn[i];
      const start = rows[row] * T - 1;
      const own = bin[row];
      for (let t = shared; t < own; t++) {
        const gap = 1 - survival[start + t];
        alive[t] += weight[row] * gap * gap;
      }
      if (event[row] !== 1) continue;
      const inverse = weight[row] / G.leftLimit[own];
      for (let t = own; t <= T; t++) dead[t] += inverse * survival[start + t] * survival[start + t];
    }
  }
  let brier = 0;
  mean[0] = 1;
  for (let t = 1; t <= T; t++) {
    mean[t] /= n;
    brier += (dead[t] + (alive[t] === 0 ? 0 : alive[t] / G.survival[t])) / n;
  }
  return { mean, ibs: brier / T };
}

function testDistribution(prepared: PreparedScores, weight: Float64Array, n: number): number {
  const { dCalibrationBin, dCalibrationOwn, dCalibrationLower } = prepared;
  const own = new Float64Array(D_CALIBRATION_BINS);
  const lower = new Float64Array(D_CALIBRATION_BINS);
  for (let i = 0; i < weight.length; i++) {
    own[dCalibrationBin[i]] += weight[i] * dCalibrationOwn[i];
    lower[dCalibrationBin[i]] += weight[i] * dCalibrationLower[i];
  }
  const test = testDCalibration(own, lower, n);
  return isAbsent(test) ? Number.NaN : test.chi2;
}

/**
 * `weights` has one entry per row of the whole table; the group selects its own. Writes SCORE_FIELDS.length values to
 * out[offset …] and returns `out`.
 */
export function evaluate(
  prepared: PreparedScores,
  weights: RowWeights,
  out: Float64Array = new Float64Array(SCORE_FIELDS.length),
  offset = 0,
): Float64Array {
  checkLength("weights", weights.length, prepared.N);
  const { T, rows, event, reference, ownWeight } = prepared;
  const weight = new Float64Array(rows.length);
  let n = 0;
  let events = 0;
  let rps = 0;
  let individualExpected = 0;
  let individualVariance = 0;
  for (let i = 0; i < rows.length; i++) {
    const w = ownWeight === undefined ? weights[rows[i]] : weights[rows[i]] * ownWeight[i];
    weight[i] = w;
    n += w;
    if (event[i] === 1) events += w;
    rps += w * prepared.rps[i];
    individualExpected += w * prepared.individualExpected[i];
    individualVariance += w * prepared.individualVariance[i];
  }
  const put = (field: ScoreField, value: number) => {
    out[offset + SCORE_POSITION[field]] = value;
  };
  out.fill(Number.NaN, offset, offset + SCORE_FIELDS.length);
  put("n", n);
  put("events", events);
  if (n === 0) return out;

  put("logrankIndividualExpected", individualExpected);
  put("logrankIndividualVariance", individualVariance);
  if (individualVariance > 0) {
    put("logrankIndividualChi2", square(events - individualExpected) / individualVariance);
  }
  if (prepared.entryBin !== undefined) {
    const pairs = countPairsByBin({ ...prepared, weights: weight, firstBin: prepared.entryBin });
    put("concordance", numberOf(concordancePaper(pairs)));
    put("concordanceHalfTies", numberOf(concordanceHalfTies(pairs)));
    return out;
  }
  const km = kaplanMeierBinned(prepared, weight);
  const { mean, ibs } = sumColumns(prepared, weight, n);
  let bins = T;
  const counted = ownWeight === undefined ? km : tallyBins(prepared, pickWeights(weights, rows));
  while (bins > 0 && counted.atRisk[bins] < MINIMUM_AT_RISK) bins--;
  const group = { km, mean, pairs: countPairs(prepared, weight, km.atRisk), supported: { bins }, ibs, rps };
  for (const name of namesOf(METRICS)) put(name, numberOf(METRICS[name].measure(group)));
  const unsupported = { ...group, supported: {} };
  for (const name of PAPER_METRICS) put(PAPER_FIELDS[name], numberOf(METRICS[name].measure(unsupported)));
  put("supportedBins", bins);
  put("dCalibrationChi2", testDistribution(prepared, weight, n));

  let expected = 0;
  for (let t = 1; t <= T; t++) {
    const leaving = km.events[t] + km.censored[t];
    if (leaving > 0) expected -= leaving * log(Math.max(mean[t], MEAN_SURVIVAL_FLOOR));
  }
  const logrank = logrankOneSample(events, expected);
  put("logrankExpected", expected);
  put("logrankChi2", isAbsent(logrank) ? Number.NaN : logrank.chi2);
  const moved = subtractCurves(mean, km.survival);
  for (let t = 0; t <= T; t++) moved[t] -= reference.gap[t];
  const norms = measureGap(moved, reference, reference.supportedBins);
  const paperNorms = measureGap(moved, reference, T);
  put("gapEce", norms.ece);
  put("gapL2Root", norms.l2Root);
  put("gapVariance", norms.variance);
  put("gapPaperEce", paperNorms.ece);
  put("gapPaperL2Root", paperNorms.l2Root);
  put("gapPaperVariance", paperNorms.variance);
  if (ownWeight !== undefined) for (const field of COUNTING_PEOPLE) put(field, Number.NaN);
  return out;
}

/** Fields whose variance counts people: absent where rows have weights. */
const COUNTING_PEOPLE = [
  "distanceVariance",
  "paperDistanceVariance",
  "dCalibrationChi2",
  "logrankChi2",
  "gapVariance",
  "gapPaperVariance",
] as const satisfies readonly ScoreField[];

/** The weights of some rows. */
function pickWeights(weights: RowWeights, rows: Int32Array): Float64Array {
  return Float64Array.from(rows, (row) => weights[row]);
}
