/**
 * What an explanation takes apart: by each time the risk and the log of a cumulative hazard. With one kind of event
 * they are 1 − S(t) and log(−log S(t)). With several causes every cause has its own, F_k(t) and log(−log(1 − F_k(t))),
 * and all causes are read off one pass over the composed rows. Curves go by as `free` [N,K,T], the chance to be without
 * the event, or without this cause.
 */
import type { Backend } from "../../compute/backend.ts";
import { log } from "../../core/elementary.ts";
import { InputError } from "../../core/errors.ts";
import { absent, type Measured } from "../../core/measured.ts";
import { quoteValue } from "../../core/text.ts";
import type { EncodedFeatures } from "../../data/encode/encode.ts";
import type { TimeGrid } from "../../data/outcomes/time-grid.ts";
import type { Table } from "../../data/table.ts";
import { survivalAtTimes } from "../../stats/curve-readings.ts";
import type { Model } from "../../training/model.ts";
import { checkSurvival, prepareCurves, prepareIncidence } from "../predict.ts";
import type { Contributions } from "./shapley.ts";

/** Baseline, contributions and prediction of one quantity. */
export interface Breakdown {
  /** The mean of the quantity over the background. */
  readonly baseline: number;
  readonly prediction: number;
  /** One a column, in the order of the explanation; with the baseline they add up to the prediction. */
  readonly contributions: Float64Array;
  /** Of drawing orders of the columns; 0 where all subsets were computed. */
  readonly standardErrors: Float64Array;
}

/** What each column contributes by one time. */
export interface ExplainedTime {
  readonly time: number;
  /** The chance to be without the event, of any cause, by then. */
  readonly survival: number;
  /** Of log(−log(1 − risk)); absent where a composed row has a risk of 0 or 1. */
  readonly logHazard: Measured<Breakdown>;
  /** Of having had the event by then; with several causes, an event of the cause. */
  readonly risk: Breakdown;
  /** Whether the log cumulative hazard is a sum over columns here: a Cox model, at the edge of a time bin. */
  readonly isAdditive: boolean;
}

/** One of several causes, taken apart. */
export interface ExplainedCause {
  readonly name: string;
  readonly times: readonly ExplainedTime[];
  /** The person's cumulative incidence at the end of every bin. */
  readonly incidence: Float64Array; // [T]
  /** The mean of the background's incidence. */
  readonly everyone: Float64Array; // [T]
}

/** The number of the cause that is asked for, from 0: the first unless named; null where the model has one event. */
export function chooseCause({ causes }: Pick<Model, "causes">, name: string | undefined): number | null {
  if (causes === undefined) {
    if (name === undefined) return null;
    throw new InputError(`the model tells no causes apart: there is no cause ${quoteValue(name)}`, {
      code: "cause.none",
      hint: "leave the cause out; train with --causes to tell several apart",
    });
  }
  const k = name === undefined ? 0 : causes.indexOf(name);
  if (k >= 0) return k;
  throw new InputError(`no such cause in the model: ${quoteValue(String(name))}`, {
    code: "cause.unknown",
    hint: `it has ${causes.join(", ")}`,
  });
}

/** `free` of encoded rows, checked to be curves; `where` is the table they come from. */
export type ComputeFree = (features: EncodedFeatures, where: Table) => Promise<Float64Array>; // [N,K,T]

/** Prepares a model of one kind of event, or of several causes. */
export function prepareFree(model: Model, backend: Backend | null, grid: TimeGrid): ComputeFree {
  const compute =
    model.causes === undefined
      ? prepareCurves(model, backend, grid)
      : prepareComplements(prepareIncidence(model, backend, grid));
  return async (features, where) => {
    const free = await compute(features);
    checkSurvival(free, where);
    return free;
  };
}

/** An incidence that rounding has put above 1 leaves nobody. */
function prepareComplements(compute: (features: EncodedFeatures) => Promise<Float64Array>) {
  return async (features: EncodedFeatures) => (await compute(features)).map((F) => Math.max(1 - F, 0));
}

/** S = 1 − Σ_k F_k from `free` [K,T] of one person. */
export function survivalOf(free: Float64Array, T: number): Float64Array {
  const K = free.length / T;
  return Float64Array.from({ length: T }, (_, t) => {
    let left = free[t];
    for (let k = 1; k < K; k++) left -= 1 - free[k * T + t];
    return Math.max(left, 0);
  });
}

/** The log cumulative hazard and the risk of each curve at each time. */
export function readQuantities(
  free: Float64Array, // [N,K,T]
  grid: TimeGrid,
  at: readonly number[],
): Float64Array /* [N,K,at,2] */ {
  const atTimes = survivalAtTimes({ N: free.length / grid.T, T: grid.T, survival: free }, grid, at);
  const quantities = new Float64Array(2 * atTimes.length);
  atTimes.forEach((left, k) => {
    quantities[2 * k] = log(-log(left));
    quantities[2 * k + 1] = 1 - left;
  });
  return quantities;
}

/** What was played, and for what. */
export interface PlayedQuantities {
  readonly at: readonly number[];
  readonly prediction: Float64Array; // [K,at,2]
  readonly played: Contributions;
  readonly model: Model;
  readonly grid: TimeGrid;
}

/** The times of one cause, or of the one event there is (cause 0). */
export function describeTimes(all: PlayedQuantities, cause: number): readonly ExplainedTime[] {
  const { at, prediction, played, model, grid } = all;
  const causes = model.causes?.length ?? 1;
  const isEdgeOfCox = (time: number) => model.predictor.kind === "cox" && grid.edges.includes(time);
  return at.map((time, k): ExplainedTime => {
    const q = 2 * (cause * at.length + k);
    const logHazard = pickQuantity(q, prediction, played);
    const risk = pickQuantity(q + 1, prediction, played);
    const isKnown = [logHazard.baseline, ...logHazard.contributions].every(Number.isFinite);
    let survival = 1;
    for (let c = 0; c < causes; c++) survival -= prediction[2 * (c * at.length + k) + 1];
    return {
      time,
      survival,
      logHazard: isKnown ? logHazard : absent(causes === 1 ? NO_LOGARITHM : NO_LOGARITHM_OF_CAUSE),
      risk,
      isAdditive: isKnown && isEdgeOfCox(time),
    };
  });
}

const NO_LOGARITHM =
  "a composed row has a survival of 0 or 1 by then, whose cumulative hazard has no logarithm";
const NO_LOGARITHM_OF_CAUSE =
  "a composed row has a risk of 0 or 1 of this cause by then, whose cumulative hazard has no logarithm";

function pickQuantity(
  q: number,
  prediction: Float64Array,
  { values, standardErrors, baseline }: Contributions,
): Breakdown {
  const Q = prediction.length;
  const pick = (all: Float64Array) => all.filter((_, c) => c % Q === q);
  return {
    baseline: baseline[q],
    prediction: prediction[q],
    contributions: pick(values),
    standardErrors: pick(standardErrors),
  };
}
