/**
 * The model of Fine and Gray (1999): the hazard of the subdistribution of one cause, from which its cumulative
 * incidence follows, F(t|x) = 1 − exp(−H0(t) exp(xβ)). A row with another cause stays at risk after its time T with
 * weight G(t−)/G(T−), G the Kaplan-Meier curve of the censoring with events before censorings at ties: the weights of
 * R's finegray(), whose expanded rows coxph is fitted to with errors robust by person; nothing is expanded here
 * (interval-likelihood.ts). Those errors, as R's, take G as known. Late entry would need the truncation's own
 * distribution as well: it is refused.
 */
import { countBelow } from "../../core/ascending.ts";
import { InputError } from "../../core/errors.ts";
import { present } from "../../core/present.ts";
import { joinOutcomeTimes } from "../../data/outcomes/intervals.ts";
import { refuseBeyondCensoring } from "../../data/outcomes/outcomes.ts";
import { productLimit, tallyRisk } from "../../data/outcomes/rows-by-time.ts";
import { toOutcomes } from "../../data/plain-input.ts";
import { checkInput } from "./check-input.ts";
import { type CoxRobust, robustCox } from "./coefficients.ts";
import { type CoxModel, type CoxOptions, type CoxPredictor, coxCurves, fitPreparedCox } from "./cox.ts";
import { type CoxInput, type PreparedCoxRows, prepareRows } from "./rows.ts";

/** Rows with causes and features. */
export interface SubdistributionInput extends Omit<CoxInput, "cause" | "strata"> {
  /** 0: censored; 1, 2, …: the cause of the event. */
  readonly cause: ArrayLike<number>; // [N]
}

export interface SubdistributionOptions extends Omit<CoxOptions, "weights" | "ridge"> {
  /** The cause whose incidence is modelled: 1, 2, … */
  readonly of: number;
}

/** A fitted model with errors robust by person. */
export interface SubdistributionFit {
  readonly model: CoxModel;
  readonly robust: CoxRobust;
  readonly prepared: PreparedCoxRows;
}

/** Fits the subdistribution hazard of one cause. */
export function fitSubdistribution(
  input: SubdistributionInput,
  options: SubdistributionOptions,
): SubdistributionFit {
  refuseBeyondCensoring(input, "Fine and Gray's model", ["cause"]);
  const { ties = "efron", timefix = true } = options;
  const { x, D, names } = input;
  const given = toOutcomes(input);
  const { time, cause = new Uint8Array(0), id } = timefix ? joinOutcomeTimes(given) : given;
  const event = Uint8Array.from(cause, (one) => (one === options.of ? 1 : 0));
  const rows: CoxInput = { time, event, x, D, ...present({ names }) };
  checkInput(rows);
  if (!event.includes(1))
    throw new InputError(`no events of cause ${options.of}`, {
      code: "outcome.noEvents",
      hint: "check which cause is meant",
    });
  const staying = {
    rows: Uint8Array.from(cause, (one) => (one > 0 && one !== options.of ? 1 : 0)),
    uncensored: estimateUncensored(time, given.event),
  };
  const prepared = prepareRows(rows, { ties, timefix: false, weights: undefined, staying });
  const fit = fitPreparedCox(prepared, rows, options);
  const model = { ...fit, baseline: fit.baselines[0] };
  const robust = robustCox(prepared, model, id ?? Int32Array.from(time.keys()));
  return { model, robust, prepared };
}

/** G(t−): those who have the event at a time leave before those who are censored then. */
function estimateUncensored(time: Float64Array, event: Uint8Array): (at: number) => number {
  const table = tallyRisk({ time, event });
  const G = productLimit({
    atRisk: table.atRisk.map((n, k) => n - table.events[k]),
    events: table.censored,
  }).survival;
  return (at) => {
    const passed = countBelow(table.time, at);
    return passed === 0 ? 1 : G[passed - 1];
  };
}

/** F(t|x) for every row of x [N,D] at each of the given times: [N, times.length] row-major. */
export function subdistributionIncidence(
  model: CoxPredictor,
  x: ArrayLike<number>,
  times: ArrayLike<number>,
): Float64Array {
  return coxCurves(model, x, times).map((S) => 1 - S);
}
