/**
 * What MCBoostSurv (mcboost.ts) looks at: the residual S_i(t) − 1[T_i > t] with Graf's weights, its mean over the
 * columns of a cell, and the two auditors that look for a pattern in it. Weights: 0 for a row censored at or before t;
 * 1/G(T_i−) for an event by t; 1/G(t) for a row followed past t. In G the events of a bin leave before its censorings
 * ("reverse" ties), as in `brierBinned`: on bins only this pair makes the weights of a column add up to N, so that the
 * mean residual of one curve S is exactly S − Kaplan-Meier. Nothing is audited past the last column t with
 * `minimumFollowed` rows known to be alive after it, where only deaths would count; that column is always before T,
 * since those censored in bin T are not known to have outlived it.
 */

import { log, square } from "../core/elementary.ts";
import { factorCholesky, solveCholesky } from "../core/linear-algebra.ts";
import { present } from "../core/present.ts";
import type { BinnedSingleCause } from "../data/outcomes/outcomes.ts";
import { censoringKaplanMeierBinned } from "../stats/censoring.ts";
import { tallyBins } from "../stats/kaplan-meier.ts";

/** No row stands for more than this many rows: the floor of G, 1e-4. */
export const SMALLEST_CENSORING_SURVIVAL = 1e-4;

export interface BoostCell {
  /** Bins fromBin … toBin, both included. */
  readonly fromBin: number;
  readonly toBin: number;
  /** Predicted probabilities in [low, high), and in [low, 1] where high is 1; 0 and 1 hold every prediction. */
  readonly low: number;
  readonly high: number;
}

export interface GroupAuditor {
  readonly kind: "group";
  /** Index in the boost's groups. */
  readonly group: number;
  /** h for its rows; h is 0 for everyone else. */
  readonly value: number;
}

export interface RidgeAuditor {
  readonly kind: "ridge";
  readonly intercept: number;
  readonly coefficients: readonly number[]; // [D], per unit of the features as given
}

export interface BoostFeatures {
  readonly N: number;
  readonly D: number;
  readonly values: ArrayLike<number>; // [N,D]
}

export function isInside(S: number, cell: BoostCell): boolean {
  return S >= cell.low && (S < cell.high || cell.high === 1);
}

/** Outcomes of people who are seen from the start; each row counts by its weight, where it has one. */
export interface WeighedOutcomes extends BinnedSingleCause {
  readonly firstBin?: never;
}

export interface CensoringWeights {
  /** 1/G for an event in bin t, at every column from t on. */
  readonly dead: Float64Array; // [T+1]
  /** 1/G(t) for rows followed past t. */
  readonly alive: Float64Array; // [T+1]
  /** Columns 1 … auditedBins have enough rows followed past them. */
  readonly auditedBins: number;
}

export interface WeighOptions {
  readonly minimumFollowed: number;
  readonly reference: boolean;
  /** The rows G is estimated on, 0-based and distinct; all rows if omitted. */
  readonly rows?: ArrayLike<number>;
}

export function weighCensoring(
  { weight, ...outcomes }: WeighedOutcomes,
  options: WeighOptions,
): CensoringWeights {
  const { minimumFollowed, reference, rows } = options;
  const { T } = outcomes;
  const { atRisk } = tallyBins(outcomes, undefined, rows);
  let auditedBins = T;
  if (!reference) while (auditedBins > 0 && !(atRisk[auditedBins + 1] >= minimumFollowed)) auditedBins--;
  // The reference takes R's survfit(Surv(time, 1 − status)) and its value at T_i: "simple" ties, right-continuous.
  const G = censoringKaplanMeierBinned(outcomes, {
    ties: reference ? "simple" : "reverse",
    ...present({ weights: weight, rows }),
  });
  const invert = (g: number) => 1 / Math.max(g, SMALLEST_CENSORING_SURVIVAL);
  return {
    dead: (reference ? G.survival : G.leftLimit).map(invert),
    alive: G.survival.map(invert),
    auditedBins,
  };
}

/** The calibration rows and their curves at one round. */
export interface AuditedCurves {
  readonly outcomes: WeighedOutcomes;
  readonly survival: Float64Array; // [N,T]
  /** The curves that decide which cell an entry is in. */
  readonly located: Float64Array; // [N,T]
}

export interface CellTargets {
  /** The requested rows that have any entry in the cell, in the order given. */
  readonly rows: Int32Array;
  /**
   * Mean over the cell's audited columns of weight × residual. An entry outside the probability range counts as 0 and
   * is not removed, as in the reference: a row's weight is how much of it lies in the cell.
   */
  readonly target: Float64Array;
}

export function measureTargets(
  audited: AuditedCurves,
  weights: CensoringWeights,
  cell: BoostCell,
  rows: Int32Array,
): CellTargets {
  const { outcomes, survival, located } = audited;
  const { T, bin, event } = outcomes;
  const lastBin = Math.min(cell.toBin, weights.auditedBins);
  const columns = lastBin - cell.fromBin + 1;
  const holdsAll = cell.low === 0 && cell.high === 1;
  const inside = new Int32Array(columns > 0 ? rows.length : 0);
  const target = new Float64Array(inside.length);
  let count = 0;
  for (let k = 0; k < inside.length; k++) {
    const row = rows[k];
    const start = row * T - 1;
    let sum = 0;
    let entries = 0;
    if (holdsAll) {
      entries = columns;
      const followed = Math.min(bin[row] - 1, lastBin);
      for (let t = cell.fromBin; t <= followed; t++) sum += weights.alive[t] * (survival[start + t] - 1);
      if (event[row] === 1) {
        const weight = weights.dead[bin[row]];
        for (let t = Math.max(bin[row], cell.fromBin); t <= lastBin; t++) sum += weight * survival[start + t];
      }
    }
    for (let t = cell.fromBin; t <= lastBin && !holdsAll; t++) {
      if (!isInside(located[start + t], cell)) continue;
      entries++;
      if (t < bin[row]) sum += weights.alive[t] * (survival[start + t] - 1);
      else if (event[row] === 1) sum += weights.dead[bin[row]] * survival[start + t];
    }
    if (entries === 0) continue;
    inside[count] = row;
    target[count++] = sum / columns;
  }
  return { rows: inside.subarray(0, count), target: target.subarray(0, count) };
}

export interface AuditedGroup {
  /** Index in the boost's groups. */
  readonly index: number;
  readonly rows: Int32Array;
  readonly members: Uint8Array; // [N]
  /** Weights from its own censoring curve; without them, everyone's are used. */
  readonly weights?: CensoringWeights;
}

/** One possible update: what an auditor found in a cell. */
export interface Candidate {
  readonly cell: BoostCell;
  readonly auditor: GroupAuditor | RidgeAuditor;
  readonly correlation: number;
}

export interface GroupAudit {
  readonly cell: BoostCell;
  /** The targets of all rows, with pooled weights. */
  readonly targets: CellTargets;
  readonly groups: readonly AuditedGroup[];
  /** What the correlation is a mean over: the rows in the cell, or all. */
  readonly divisor: number;
  readonly reference: boolean;
  /** Standard errors subtracted from a group's mean; only the excess beyond them counts. */
  readonly doubt: number;
}

/**
 * Correlation: mean of 1[i in g] × target. The auditor's h is the group's own mean target, so a small group is moved as
 * far as a large one; `doubt` shrinks it, and the correlation with it, towards 0 by that many standard errors.
 */
export function auditGroups(audited: AuditedCurves, audit: GroupAudit): Candidate[] {
  const { cell, groups, divisor, reference, doubt } = audit;
  const candidates: Candidate[] = [];
  for (const { index, rows, members, weights } of groups) {
    const targets = weights === undefined ? audit.targets : measureTargets(audited, weights, cell, rows);
    const moments = sumTargets(targets, members, audited.outcomes.weight);
    const { count, spread } = moments;
    let { sum } = moments;
    if (doubt > 0) sum -= Math.sign(sum) * Math.min(Math.abs(sum), doubt * Math.sqrt(spread));
    if (sum === 0) continue;
    const correlation = sum / divisor;
    // The reference predicts the correlation itself: the group's mean shrunk by its share of the rows.
    const value = reference ? correlation : sum / count;
    candidates.push({ cell, auditor: { kind: "group", group: index, value }, correlation });
  }
  return candidates;
}

/** Σ w·target over the members, Σ w, and the sum's own variance, where the censoring curve is treated as known. */
function sumTargets({ rows, target }: CellTargets, members: Uint8Array, weight?: Float64Array) {
  let [sum, count] = [0, 0];
  let [ofSquares, ofTargets, ofOnes] = [0, 0, 0]; // of w² by the power of the target
  for (let k = 0; k < rows.length; k++) {
    if (members[rows[k]] === 0) continue;
    const own = weight === undefined ? 1 : weight[rows[k]];
    const weighed = own * target[k];
    sum += weighed;
    count += own;
    ofSquares += weighed * weighed;
    ofTargets += own * weighed;
    ofOnes += own * own;
  }
  const mean = count === 0 ? 0 : sum / count;
  // Σ w²(target − mean)², which is Σ target² − (Σ target)²/n without weights.
  const spread =
    weight === undefined
      ? ofSquares - (count === 0 ? 0 : (sum * sum) / count)
      : ofSquares - 2 * mean * ofTargets + mean * mean * ofOnes;
  return { sum, count, spread: Math.max(0, spread) };
}

/**
 * How much the group's mean over the cell's audited columns falls when the cumulative hazards of its entries there are
 * multiplied by 1 + a, per a: the mean of −S log S, entries outside the probability range counting as 0.
 */
export function measureLeverage(
  { survival, located, outcomes: { T, weight } }: AuditedCurves,
  cell: BoostCell,
  rows: Int32Array,
  auditedBins: number,
): number {
  const lastBin = Math.min(cell.toBin, auditedBins);
  let sum = 0;
  let count = 0;
  for (const row of rows) {
    const start = row * T - 1;
    const own = weight === undefined ? 1 : weight[row];
    let isIn = false;
    for (let t = cell.fromBin; t <= lastBin; t++) {
      if (!isInside(located[start + t], cell)) continue;
      isIn = true;
      const S = survival[start + t];
      if (S > 0) sum -= own * (S * log(S));
    }
    if (isIn) count += own;
  }
  return count === 0 ? 0 : sum / (count * (lastBin - cell.fromBin + 1));
}

/** A feature whose variance is below this share of its mean square is constant up to rounding. */
const CONSTANT_SHARE = 1e-20;
/** Without a penalty, a standardised feature is dropped if earlier features leave less than this of it. */
const SMALLEST_PIVOT = 1e-9;

/**
 * Minimises Σ (target − a − z·b)²/(2n) + penalty·|b|²/2, where z are the features standardised on these rows (variance
 * with 1/n) and the intercept is free: glmnet's objective at α = 0. Correlation: mean of h × target.
 */
export function auditRidge(
  targets: CellTargets,
  features: BoostFeatures,
  cell: BoostCell,
  penalty: number,
  divisor: number,
): Candidate[] {
  const { rows, target } = targets;
  const { D, values } = features;
  const n = rows.length;
  if (n === 0) return [];
  const mean = new Float64Array(D);
  const scale = new Float64Array(D); // 1/sd, 0 for a constant
  for (let j = 0; j < D; j++) {
    let sum = 0;
    let squares = 0;
    for (const row of rows) sum += values[row * D + j];
    mean[j] = sum / n;
    for (const row of rows) squares += square(values[row * D + j] - mean[j]);
    const variance = squares / n;
    if (variance > CONSTANT_SHARE * square(mean[j])) scale[j] = 1 / Math.sqrt(variance);
  }
  const gram = new Float64Array(D * D);
  const moment = new Float64Array(D);
  const z = new Float64Array(D);
  let meanTarget = 0;
  for (let k = 0; k < n; k++) {
    meanTarget += target[k] / n;
    for (let j = 0; j < D; j++) z[j] = (values[rows[k] * D + j] - mean[j]) * scale[j];
    for (let j = 0; j < D; j++) {
      moment[j] += (z[j] * target[k]) / n;
      for (let m = 0; m <= j; m++) gram[j * D + m] += (z[j] * z[m]) / n;
    }
  }
  for (let j = 0; j < D; j++) gram[j * D + j] += penalty;
  const slopes = solveCholesky(factorCholesky(gram, D, new Float64Array(D).fill(SMALLEST_PIVOT)), moment);
  let intercept = meanTarget;
  const coefficients = Array.from(slopes, (slope, j) => slope * scale[j]);
  for (let j = 0; j < D; j++) intercept -= coefficients[j] * mean[j];
  const auditor: RidgeAuditor = { kind: "ridge", intercept, coefficients };
  let sum = 0;
  for (let k = 0; k < n; k++) sum += predictRidge(auditor, features, rows[k]) * target[k];
  return sum === 0 ? [] : [{ cell, auditor, correlation: sum / divisor }];
}

export function predictRidge(auditor: RidgeAuditor, features: BoostFeatures, row: number): number {
  const { D, values } = features;
  let h = auditor.intercept;
  for (let j = 0; j < D; j++) h += auditor.coefficients[j] * values[row * D + j];
  return h;
}
