/**
 * What people ask of a survival curve: the risk by a time, the time by which a share has had the event, and the mean
 * time up to a limit. Curves are piecewise linear between the edges of their bins, with S(0) = 1
 * (data/outcomes/time-grid.ts reads a single one), so that the three fit together: the risk at a quantile is its share,
 * and the restricted mean is the exact area. A curve says nothing after its horizon: a time there is refused, and a
 * quantile that the curve does not reach by then is absent with the reason.
 */
import { InputError } from "../core/errors.ts";
import { isAbsent, type Measured } from "../core/measured.ts";
import {
  interpolateCurve,
  quantileTime,
  restrictedMeanTime,
  type TimeGrid,
} from "../data/outcomes/time-grid.ts";
import { type CurvesInput, toCurves } from "../data/plain-input.ts";

/** The probability of being event-free at each time, person by person. */
export function survivalAtTimes(
  input: CurvesInput,
  grid: TimeGrid,
  times: ArrayLike<number>,
): Float64Array /* [N,times] */ {
  for (let k = 0; k < times.length; k++) refuseTime(grid, times[k], "time");
  const K = times.length;
  const survival = new Float64Array(input.N * K);
  forEachCurve(input, grid, (curve, i) => {
    for (let k = 0; k < K; k++) survival[i * K + k] = known(interpolateCurve(curve, grid, times[k]));
  });
  return survival;
}

/** The risk 1 − S of having had the event by each time, person by person; 0 at time 0. */
export function riskAt(
  input: CurvesInput,
  grid: TimeGrid,
  times: ArrayLike<number>,
): Float64Array /* [N,times] */ {
  return survivalAtTimes(input, grid, times).map((S) => 1 - S);
}

/**
 * The first time by which each share has had the event, 1 − S(time) ≥ share, person by person; absent where the curve
 * does not come to it by the horizon.
 */
export function quantileTimes(
  input: CurvesInput,
  grid: TimeGrid,
  shares: ArrayLike<number>,
): Measured[] /* [N,shares] */ {
  const times: Measured[] = [];
  forEachCurve(input, grid, (curve) => {
    for (let k = 0; k < shares.length; k++) times.push(quantileTime(curve, grid, shares[k]));
  });
  return times;
}

/** The restricted mean time of each person: the area under the curve from 0 to `until`. */
export function restrictedMeanTimes(
  input: CurvesInput,
  grid: TimeGrid,
  until: number,
): Float64Array /* [N] */ {
  refuseTime(grid, until, "end of a restricted mean");
  const means = new Float64Array(input.N);
  forEachCurve(input, grid, (curve, i) => {
    means[i] = known(restrictedMeanTime(curve, grid, until));
  });
  return means;
}

/** Refuses what is no time, or a time after the horizon; `what` names it in the sentence. */
export function refuseTime({ T, edges }: TimeGrid, time: number, what: string): void {
  if (!(time >= 0))
    throw new InputError(`${what} is not a number from 0 up: ${time}`, { code: "time.invalid" });
  if (time <= edges[T]) return;
  throw new InputError(`${what} after the horizon: ${time} (the curves end at ${edges[T]})`, {
    code: "time.horizon",
    hint: `ask for times from 0 to ${edges[T]}: the curves say nothing of what comes later`,
  });
}

function forEachCurve(
  input: CurvesInput,
  grid: TimeGrid,
  read: (curve: ArrayLike<number>, i: number) => void,
): void {
  const { N, T, survival } = toCurves(input);
  if (T !== grid.T) {
    throw new InputError(`curves of ${T} bins on a time grid of ${grid.T}`, { code: "grid.mismatch" });
  }
  for (let i = 0; i < N; i++) read(survival.subarray(i * T, (i + 1) * T), i);
}

/** Of a time that was checked. */
function known(value: Measured): number {
  return isAbsent(value) ? Number.NaN : value;
}
