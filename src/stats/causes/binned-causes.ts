/**
 * Several causes on a time grid: who is at risk and what happens in each bin, Aalen-Johansen from those counts,
 *   S(t) = S(t−1)(1 − d/n),  F_k(t) = F_k(t−1) + S(t−1) d_k/n,
 * the mean of a group's predicted incidences, and the support of a group. Within a bin events come before censorings,
 * as everywhere here, so on the bins as times these are the curves of aalen-johansen.ts, which gives their limits.
 * Weights are those of the outcomes: how many people a row stands for. Late entry counts in the numbers at risk alone;
 * means of predicted curves over people who entered late are compared with nothing (LATE_ENTRY).
 */
import { InputError } from "../../core/errors.ts";
import { absent, type Measured } from "../../core/measured.ts";
import type { CauseCurves } from "../../data/curves/cause-curves.ts";
import { type BinnedOutcomes, pickBinned } from "../../data/outcomes/outcomes.ts";
import { checkLength, checkWeights } from "../../data/outcomes/rows-by-time.ts";
import { type BinnedOutcomesInput, toBinnedOutcomes } from "../../data/plain-input.ts";
import { MINIMUM_AT_RISK } from "../kaplan-meier.ts";
import { aalenJohansen, type CausesInput } from "./aalen-johansen.ts";

/** Why a mean of predicted curves is compared with nothing under late entry. */
export const LATE_ENTRY =
  "means of predicted curves over people who entered late are not comparable with Aalen-Johansen";

/** Outcomes on bins that say which cause an event was of. */
export interface BinnedCauses extends BinnedOutcomes {
  readonly cause: Uint8Array; // [N]
}

/** Who is at risk and leaves in bins 0…T, by weight; all arrays are [T+1]. */
export interface CauseTable {
  readonly atRisk: Float64Array;
  readonly censored: Float64Array;
  /** By cause. */
  readonly events: readonly Float64Array[];
}

/** Aalen-Johansen on the bins t = 0…T. */
export interface BinnedIncidence {
  readonly survival: Float64Array; // [T+1]
  readonly incidence: readonly Float64Array[]; // by cause, [T+1]
}

/** Typed outcomes with causes that fit the curves: the same rows, grid and causes. */
export function matchCauses(curves: CauseCurves, observed: BinnedOutcomesInput): BinnedCauses {
  const binned = toBinnedOutcomes(observed);
  const { N, K, T } = curves;
  const { bin, cause, weight } = binned;
  checkLength("bin", bin.length, N);
  checkWeights(weight, N);
  if (binned.T !== T)
    throw new InputError(`curves and outcomes are on different grids: ${T} and ${binned.T} bins`, {
      code: "grid.mismatch",
    });
  if (cause === undefined)
    throw new InputError("no causes are given", {
      code: "cause.value",
      hint: "cause is 0 where censored, and 1, 2, … where the event was of that cause",
    });
  for (let row = 0; row < N; row++) {
    const where = `row ${row + 1}`;
    if (!(bin[row] >= 1 && bin[row] <= T))
      throw new InputError(`bin outside 1…${T}: ${bin[row]}`, { code: "bin.range", where });
    if (cause[row] > K)
      throw new InputError(`a cause beyond the last: ${cause[row]} (of ${K})`, {
        code: "cause.value",
        where,
      });
  }
  return { ...binned, cause };
}

/** What was counted in each bin among some rows (0-based). */
export function tallyCauses(
  { T, bin, cause, weight }: BinnedCauses,
  K: number,
  rows: ArrayLike<number>,
): CauseTable {
  const events = Array.from({ length: K }, () => new Float64Array(T + 1));
  const censored = new Float64Array(T + 1);
  for (let i = 0; i < rows.length; i++) {
    const row = rows[i];
    (cause[row] === 0 ? censored : events[cause[row] - 1])[bin[row]] += weight?.[row] ?? 1;
  }
  return { events, censored, atRisk: countAtRisk(events, censored) };
}

/** Everyone who leaves in the bin or later. */
function countAtRisk(events: readonly Float64Array[], censored: Float64Array): Float64Array {
  const atRisk = new Float64Array(censored.length);
  let later = 0;
  for (let t = censored.length - 1; t >= 0; t--) {
    later += censored[t];
    for (const own of events) later += own[t];
    atRisk[t] = later;
  }
  return atRisk;
}

/** Aalen-Johansen of what was counted. */
export function incidenceOf({ atRisk, events }: CauseTable): BinnedIncidence {
  const T = atRisk.length - 1;
  const survival = new Float64Array(T + 1).fill(1);
  const incidence = events.map(() => new Float64Array(T + 1));
  for (let t = 1; t <= T; t++) {
    const before = survival[t - 1];
    let d = 0;
    for (let k = 0; k < events.length; k++) {
      const own = events[k][t];
      d += own;
      incidence[k][t] = incidence[k][t - 1] + (own > 0 ? (before * own) / atRisk[t] : 0);
    }
    survival[t] = d > 0 ? before * Math.max(0, 1 - d / atRisk[t]) : before;
  }
  return { survival, incidence };
}

/** The mean of the rows' incidences of one cause (1…K), t = 0…T, by the weights of the outcomes. */
export function meanIncidence(
  { K, T, incidence }: CauseCurves,
  cause: number,
  rows: ArrayLike<number>,
  weight?: Float64Array,
): Measured<Float64Array> {
  const mean = new Float64Array(T + 1);
  let total = 0;
  for (let i = 0; i < rows.length; i++) {
    const w = weight?.[rows[i]] ?? 1;
    const start = (rows[i] * K + cause - 1) * T - 1;
    total += w;
    for (let t = 1; t <= T; t++) mean[t] += w * incidence[start + t];
  }
  if (total === 0) return absent("no rows to average");
  for (let t = 1; t <= T; t++) mean[t] /= total;
  return mean;
}

/** How many rows, whatever they weigh, are at risk in bins 0…T; nobody in bin 0. */
export function rowsAtRisk({ T, bin, firstBin }: BinnedCauses, rows: ArrayLike<number>): Float64Array {
  const atRisk = new Float64Array(T + 2);
  for (let i = 0; i < rows.length; i++) {
    const first = firstBin?.[rows[i]] ?? 1;
    if (first > bin[rows[i]]) continue;
    atRisk[first]++;
    atRisk[bin[rows[i]] + 1]--;
  }
  for (let t = 1; t <= T; t++) atRisk[t] += atRisk[t - 1];
  return atRisk.subarray(0, T + 1);
}

/** The bins with at least ten rows at risk: how many there are. Without late entry they are bins 1 to that many. */
export function supportOfCauses(outcomes: BinnedCauses, rows: ArrayLike<number>): number {
  return rowsAtRisk(outcomes, rows).reduce((sum, n) => sum + (n >= MINIMUM_AT_RISK ? 1 : 0), 0);
}

/** A group's curve of one cause on bins 0…T, with pointwise limits. */
export interface ObservedIncidence {
  readonly incidence: Float64Array; // [T+1]
  /** Of the infinitesimal jackknife, by person where `id` says whose rows are whose. */
  readonly variance: Float64Array; // [T+1]
  /** 95 %, symmetric on the log scale; NaN where the incidence is 0. */
  readonly lower: Float64Array; // [T+1]
  readonly upper: Float64Array; // [T+1]
}

/** The curves of some rows, cause by cause, with the limits of aalen-johansen.ts. */
export function observedIncidences(
  outcomes: BinnedCauses,
  K: number,
  rows: ArrayLike<number>,
): readonly ObservedIncidence[] {
  const { T, bin, event, cause, weight, id } = pickBinned(outcomes, rows);
  const input = { time: bin, event, cause, ...(weight && { weight }), ...(id && { id }) };
  const { time, causes } = aalenJohansen(input as CausesInput, { causes: K, timefix: false });
  return causes.map((own) => {
    const spread = (values: Float64Array, start: number) => {
      const out = new Float64Array(T + 1).fill(start);
      for (let k = 0; k < time.length; k++)
        out.fill(values[k], time[k], k + 1 < time.length ? time[k + 1] : T + 1);
      return out;
    };
    return {
      incidence: spread(own.incidence, 0),
      variance: spread(own.variance, 0),
      lower: spread(own.lower, Number.NaN),
      upper: spread(own.upper, Number.NaN),
    };
  });
}
