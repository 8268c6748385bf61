/**
 * Gray's test (1988): do the cumulative incidences of one cause differ between groups? With R_j at risk in group j, S_j
 * and F_j its Kaplan-Meier and incidence curves just before t, h_j = R_j/S_j, the score of group j is
 *   Σ_t [d_j − d h_j(1 − F_j) / Σ_r h_r(1 − F_r)],
 * d_j the events of the cause, and its covariance that of the limiting process, as R's cmprsk::cuminc estimates it,
 * ties included. Censoring must be independent within each group. The test is absent under late entry and weights, for
 * which it is not defined.
 */
import { chiSquareUpperTail, logChiSquareUpperTail } from "../../core/distributions.ts";
import { InputError } from "../../core/errors.ts";
import { solveQuadratic } from "../../core/linear-algebra.ts";
import { absent, type Measured } from "../../core/measured.ts";
import { joinOutcomeTimes } from "../../data/outcomes/intervals.ts";
import { checkLength, groupRowsByTime } from "../../data/outcomes/rows-by-time.ts";
import { checkCauseNumber } from "../../data/plain-input.ts";
import { type CausesInput, toCauses } from "./aalen-johansen.ts";

/** A chi-square test between groups. */
export interface GrayTest {
  readonly chi2: number;
  readonly df: number;
  readonly p: number;
  readonly logP: number;
}

export interface GrayOptions {
  /** The cause that is compared: 1, 2, … */
  readonly cause: number;
  /** Whether times that differ only by rounding are one, by R's rule; default true. */
  readonly timefix?: boolean;
}

/** What happens in each group at one time. */
interface GroupState {
  readonly atRisk: Float64Array; // [G]
  readonly survival: Float64Array; // [G], before the time
  readonly incidence: Float64Array; // [G], before the time
  /** The incidence of all groups together, before the time. */
  pooled: number;
}

/** Sums that make the covariance. */
interface GraySums {
  readonly score: Float64Array; // [G]
  readonly c: Float64Array; // [G,G]
  readonly direct: Float64Array; // [G,G]
  readonly mixed: Float64Array; // [G,G], by group and process
  readonly squared: Float64Array; // [G]
}

/** `groups` holds 0…G−1, or −1 for a row that is left out. */
export function grayTest(
  observed: CausesInput,
  groups: ArrayLike<number>,
  G: number,
  options: GrayOptions,
): Measured<GrayTest> {
  const { outcomes: given, cause } = toCauses(observed);
  checkCauseNumber(options?.cause);
  if (given.entry !== undefined) return absent("Gray's test is not defined under late entry");
  if (given.weight !== undefined) return absent("Gray's test is not defined for weighted people");
  const { time: rowTime } = options.timefix === false ? given : joinOutcomeTimes(given);
  checkLength("group", groups.length, rowTime.length);
  const used = Float64Array.from(rowTime, (_, row) => (groups[row] >= 0 && groups[row] < G ? 1 : 0));
  if (Array.from(groups).some((g) => !(g >= -1 && g < G)))
    throw new InputError(`group outside −1…${G - 1}`, { code: "group.range" });
  const { time, start, rows } = groupRowsByTime(rowTime, { weights: used });
  const state: GroupState = {
    atRisk: new Float64Array(G),
    survival: new Float64Array(G).fill(1),
    incidence: new Float64Array(G),
    pooled: 0,
  };
  for (const row of rows) state.atRisk[groups[row]]++;
  const square = () => new Float64Array(G * G);
  const sums: GraySums = {
    score: new Float64Array(G),
    c: square(),
    direct: square(),
    mixed: square(),
    squared: new Float64Array(G),
  };
  const own = new Float64Array(G);
  const other = new Float64Array(G);
  for (let k = 0; k < time.length; k++) {
    own.fill(0);
    other.fill(0);
    for (let i = start[k]; i < start[k + 1]; i++) {
      const row = rows[i];
      if (cause[row] === options.cause) own[groups[row]]++;
      else if (cause[row] > 0) other[groups[row]]++;
    }
    passTime(state, sums, own, other);
    for (let i = start[k]; i < start[k + 1]; i++) state.atRisk[groups[rows[i]]]--;
  }
  return summarise(sums, G);
}

/** Adds what one time says, then moves the curves past it. */
function passTime(state: GroupState, sums: GraySums, own: Float64Array, other: Float64Array): void {
  const { atRisk, survival, incidence } = state;
  const G = atRisk.length;
  const d = own.reduce((sum, one) => sum + one, 0);
  const others = other.reduce((sum, one) => sum + one, 0);
  if (d + others === 0) return;
  const here = Array.from(atRisk.keys()).filter((g) => atRisk[g] > 0);
  const after = survival.map((S, g) =>
    atRisk[g] > 0 ? (S * (atRisk[g] - own[g] - other[g])) / atRisk[g] : S,
  );
  const h = survival.map((S, g) => (atRisk[g] > 0 ? atRisk[g] / S : 0));
  const total = h.reduce((sum, one) => sum + one, 0);
  const subject = h.reduce((sum, one, g) => sum + one * (1 - incidence[g]), 0);
  const pooled = state.pooled + d / total;
  const a = new Float64Array(G * G);
  for (const i of here) for (const j of here) a[i * G + j] = (i === j ? h[i] : 0) - (h[i] * h[j]) / total;
  for (let at = 0; at < a.length; at++)
    if (a[at] !== 0) sums.c[at] += (a[at] * d) / (total * (1 - state.pooled));
  for (const g of here) sums.score[g] += own[g] - (d * h[g] * (1 - incidence[g])) / subject;
  if (d > 0)
    for (const k of here) {
      const left = after[k] > 0 ? 1 - (1 - pooled) / after[k] : 1;
      const tied = d > 1 ? 1 - (d - 1) / (total * survival[k] - 1) : 1;
      addProcess(sums, k, (tied * survival[k] * d) / (total * atRisk[k]), left, a);
    }
  for (const k of here) {
    if (after[k] <= 0 || other[k] === 0) continue;
    const tied = other[k] > 1 ? 1 - (other[k] - 1) / (atRisk[k] - 1) : 1;
    const jump = (tied * survival[k] * survival[k] * other[k]) / (atRisk[k] * atRisk[k]);
    addProcess(sums, k, jump, -(1 - pooled) / after[k], null);
  }
  for (const g of here) {
    incidence[g] += (survival[g] * own[g]) / atRisk[g];
    survival[g] = after[g];
  }
  state.pooled = pooled;
}

/** The covariance of (a_i − left c_i) + left × (c_i at the end) over one process, of variance `jump` here. */
function addProcess(sums: GraySums, k: number, jump: number, left: number, a: Float64Array | null): void {
  const G = sums.squared.length;
  const term = (i: number) => (a === null ? 0 : a[i * G + k]) - left * sums.c[i * G + k];
  sums.squared[k] += left * left * jump;
  for (let i = 0; i < G; i++) {
    sums.mixed[i * G + k] += term(i) * left * jump;
    for (let j = 0; j < G; j++) sums.direct[i * G + j] += term(i) * term(j) * jump;
  }
}

function summarise({ score, c, direct, mixed, squared }: GraySums, G: number): Measured<GrayTest> {
  const variance = direct.slice();
  for (let i = 0; i < G; i++)
    for (let j = 0; j < G; j++)
      for (let k = 0; k < G; k++) {
        const [ci, cj] = [c[i * G + k], c[j * G + k]];
        variance[i * G + j] += ci * cj * squared[k] + ci * mixed[j * G + k] + cj * mixed[i * G + k];
      }
  const tested = Array.from(score.keys()).filter((g) => variance[g * G + g] > 0);
  if (tested.length < 2) return absent("fewer than two groups had people at risk of the cause");
  const kept = tested.slice(0, -1);
  const chi2 = solveQuadratic(variance, score, kept);
  if (chi2 === undefined) return absent("the events leave no variance");
  const df = kept.length;
  return { chi2, df, p: chiSquareUpperTail(chi2, df), logP: logChiSquareUpperTail(chi2, df) };
}
