/** Cox's model as it is called from outside: times, events and features may be plain lists. */
import { toEvents, toFloat64 } from "../../core/plain-arrays.ts";
import type { CoxFit, CoxInput, CoxModel, CoxOptions, CoxPredictor } from "./cox.ts";
import * as typed from "./cox.ts";

/** Outcomes and features of the rows a Cox model is fitted to. */
export type CoxArrays = Omit<CoxInput, "time" | "event" | "x"> & {
  /** Times to the event or to censoring. */
  readonly time: ArrayLike<number>; // [N]
  /** 1 or true: the event happened; 0 or false: censored. */
  readonly event: ArrayLike<number | boolean>; // [N]
  /** The features, person by person. */
  readonly x: ArrayLike<number>; // [N,D]
};

/** The same, of rows that share coefficients and not a baseline hazard. */
export type StratifiedCoxArrays = Omit<CoxArrays, "strata"> & {
  /** The stratum of each row: 0, 1, … */
  readonly strata: ArrayLike<number>; // [N]
};

/** Fits a Cox model as R's coxph does. */
export function fitCox(input: StratifiedCoxArrays, options?: CoxOptions): CoxFit;
export function fitCox(input: CoxArrays, options?: CoxOptions): CoxModel;
export function fitCox(input: CoxArrays | StratifiedCoxArrays, options?: CoxOptions): CoxFit {
  const { time, event, x } = input;
  const rows = { ...input, time: toFloat64(time), event: toEvents(event), x: toFloat64(x) };
  return rows.strata === undefined
    ? typed.fitCox({ ...rows, strata: undefined } as CoxInput, options)
    : typed.fitCox({ ...rows, strata: rows.strata }, options);
}

/** xβ per row, not centred; columns without a coefficient are left out. */
export function linearPredictor(model: CoxPredictor, x: ArrayLike<number>): Float64Array {
  return typed.linearPredictor(model, toFloat64(x));
}

/** S(t|x) for every row of x [N,D] at every one of the given times: [N, times.length], row by row. */
export function coxCurves(model: CoxPredictor, x: ArrayLike<number>, times: ArrayLike<number>): Float64Array {
  return typed.coxCurves(model, toFloat64(x), times);
}

/** Curves on a grid of T bins, read at each bin's upper edge; `edges` has T+1 entries, edges[0] being the start. */
export function coxCurvesOnGrid(
  model: CoxPredictor,
  x: ArrayLike<number>,
  edges: ArrayLike<number>,
): ReturnType<typeof typed.coxCurvesOnGrid> {
  return typed.coxCurvesOnGrid(model, toFloat64(x), edges);
}
