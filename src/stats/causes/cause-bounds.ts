/**
 * How far off each group's mean incidence of each cause could be: bounds on the r.m.s. distance between the mean
 * predicted F_k and the true incidence over the group's support, that hold for all groups and causes together with
 * probability about 1 − α (large groups; censoring independent within each). The method is that of
 * certificates/tight.ts: a multiplier bootstrap of each row's influence on Δ_k = mean F_k − Aalen-Johansen, one fair
 * coin a row or person shared by all groups and causes, U = ‖Δ̂‖ + q s. With n rows of weights w_i, W their sum, the
 * influence of row i is
 *   n (w_i/W) (F_k(t|x_i) − m_k(t)) − n w_i U_i(t),
 * U_i the infinitesimal jackknife of Aalen-Johansen (jackknife.ts): with A(t) = Σ d/(r(r−d)), B(t) = Σ ΔF_k(A(t−) −
 * 1/r) and r at risk, U_i = B(t) before the row's own bin b; from it on B(b) + 1[cause k] S(b−)/r + u (F_k(t) −
 * F_k(b)), u = A(b) − 1[event]/(r − d).
 */
import { absent, isAbsent, type Measured } from "../../core/measured.ts";
import { present } from "../../core/present.ts";
import type { CauseCurves } from "../../data/curves/cause-curves.ts";
import { countPeopleWithEvents, haveSeveralRows, type People } from "../../data/outcomes/people.ts";
import { type BinnedOutcomesInput, toInt32 } from "../../data/plain-input.ts";
import { checkBoundOptions, DEFAULT_BOUND_DRAWS, whyNotTight } from "../certificates/certificates.ts";
import {
  boundTogether,
  drawInfluences,
  drawSigns,
  rootGap,
  type WriteInfluence,
} from "../certificates/tight.ts";
import { MINIMUM_AT_RISK } from "../kaplan-meier.ts";
import {
  type BinnedCauses,
  incidenceOf,
  LATE_ENTRY,
  matchCauses,
  meanIncidence,
  supportOfCauses,
  tallyCauses,
} from "./binned-causes.ts";

/** The level of the bounds, and whose rows are whose. */
export interface CauseBoundOptions {
  /** The probability with which any of the bounds may fail. */
  readonly alpha: number;
  /** Draws of the multiplier bootstrap: a power of two; 1024 unless given. */
  readonly draws?: number;
  /** Seed of the draws. */
  readonly seed: number;
  /** The person of each row, where people have several: one coin a person. */
  readonly people?: People;
  /** Pairs of a group and a cause whose draws are done, and all. */
  readonly onProgress?: (done: number, total: number) => void;
}

/** Bounds by cause, and for each cause by group. */
export interface CauseBounds {
  readonly alpha: number;
  readonly draws: number;
  readonly seed: number;
  readonly causes: readonly (readonly Measured[])[]; // [K][G]
}

/** A group's curves of one cause, and the bins over which they are compared. */
export interface BoundedCause {
  readonly rows: Int32Array;
  readonly cause: number; // 1…K
  readonly mean: Float64Array; // [T+1]
  readonly last: number;
}

/** Bounds on every group's distance for every cause; absent, with the reason, where the group is too small. */
export function boundCauses(
  curves: CauseCurves,
  observed: BinnedOutcomesInput,
  groups: readonly { readonly rows: ArrayLike<number> }[],
  options: CauseBoundOptions,
): CauseBounds {
  const { alpha, draws = DEFAULT_BOUND_DRAWS, seed, onProgress } = options;
  checkBoundOptions(alpha, draws);
  const outcomes = matchCauses(curves, observed);
  const people = options.people && haveSeveralRows(options.people) ? options.people : undefined;
  const bounded: BoundedCause[] = [];
  const places = Array.from({ length: curves.K }, (_, k) =>
    groups.map(({ rows: given }): number | string => {
      const rows = toInt32(given);
      const chosen = chooseCause(curves, outcomes, rows, k + 1, people);
      return typeof chosen === "string" ? chosen : bounded.push(chosen) - 1;
    }),
  );
  const signs = drawSigns(curves.N, draws, seed, people);
  const observedOf = bounded.map(
    ({ rows, cause }) => incidenceOf(tallyCauses(outcomes, curves.K, rows)).incidence[cause - 1],
  );
  const { groups: bounds } = boundTogether(
    bounded.map(({ mean, last }, g) => rootGap(mean, observedOf[g], last)),
    (g) => drawInfluences(bounded[g], influenceOfCause(curves, outcomes, bounded[g]), signs),
    { alpha, draws, ...present({ onProgress }) },
  );
  return {
    alpha,
    draws,
    seed,
    causes: places.map((own) =>
      own.map((place) => (typeof place === "number" ? bounds[place].upper : absent(place))),
    ),
  };
}

/** The curves that are bounded, or why they are not. */
function chooseCause(
  curves: CauseCurves,
  outcomes: BinnedCauses,
  rows: Int32Array,
  cause: number,
  people: People | undefined,
): BoundedCause | string {
  if (outcomes.firstBin !== undefined) return LATE_ENTRY;
  const mean = meanIncidence(curves, cause, rows, outcomes.weight);
  if (isAbsent(mean)) return "no rows";
  const last = supportOfCauses(outcomes, rows);
  if (last === 0) return `no time bin has ${MINIMUM_AT_RISK} rows at risk`;
  const own = outcomes.cause.map((one) => (one === cause ? 1 : 0));
  const events =
    people === undefined
      ? rows.reduce((sum, row) => sum + own[row], 0)
      : countPeopleWithEvents(people, own, rows);
  // The support has rows at risk in its last bin.
  return whyNotTight(events, last) ?? { rows, cause, mean, last };
}

/** Writes a row's influence on mean F_k − Aalen-Johansen at t = 1…last. */
export function influenceOfCause(
  curves: CauseCurves,
  outcomes: BinnedCauses,
  { rows, cause, mean, last }: BoundedCause,
): WriteInfluence {
  const { K, T, incidence } = curves;
  const table = tallyCauses(outcomes, K, rows);
  const { survival, incidence: estimates } = incidenceOf(table);
  const F = estimates[cause - 1];
  const n = rows.length;
  const total = rows.reduce((sum, row) => sum + (outcomes.weight?.[row] ?? 1), 0);
  const A = new Float64Array(last + 1);
  const B = new Float64Array(last + 1);
  const left = new Float64Array(last + 1); // r − d
  for (let t = 1; t <= last; t++) {
    const r = table.atRisk[t];
    const d = table.events.reduce((sum, own) => sum + own[t], 0);
    left[t] = r - d;
    const step = F[t] - F[t - 1];
    B[t] = B[t - 1] + (step > 0 ? step * (A[t - 1] - 1 / r) : 0);
    // Once everyone has had an event nothing moves any more.
    A[t] = A[t - 1] + (d > 0 && survival[t] > 0 ? d / (r * (r - d)) : 0);
  }
  return (row, out, offset) => {
    const w = outcomes.weight?.[row] ?? 1;
    const own = outcomes.bin[row];
    const start = (row * K + cause - 1) * T - 1;
    const until = Math.min(own - 1, last);
    const put = (t: number, U: number) => {
      out[offset + t - 1] = n * w * ((incidence[start + t] - mean[t]) / total - U);
    };
    for (let t = 1; t <= until; t++) put(t, B[t]);
    if (own > last) return;
    const atExit = B[own] + (outcomes.cause[row] === cause ? survival[own - 1] / table.atRisk[own] : 0);
    const jump = outcomes.event[row] === 1 && survival[own] > 0 ? 1 / left[own] : 0;
    const u = A[own] - jump;
    for (let t = own; t <= last; t++) put(t, atExit + u * (F[t] - F[own]));
  };
}
