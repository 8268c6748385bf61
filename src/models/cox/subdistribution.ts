/**
 * The model of Fine and Gray (1999): the hazard of the subdistribution of one cause, from which its cumulative
 * incidence follows, F(t|x) = 1 − exp(−H0(t) exp(xβ)). A row with another cause stays at risk after its time T with
 * weight G(t−)/G(T−), G the Kaplan-Meier curve of the censoring with events before censorings at ties: the weights of
 * R's finegray(), whose expanded rows coxph is fitted to with errors robust by person; nothing is expanded here
 * (interval-likelihood.ts). Under late entry the weight is G(t−)H(t−)/(G(T−)H(T−)), H(t) the probability to have
 * entered by t (Geskus 2011): the product limit of the entries with time running backwards, in which somebody is at
 * risk of entering at s if under observation after it. How many people a row stands for multiplies its likelihood; G
 * and H count rows, as in R. The errors, as R's, take both as known.
 */
import { countAtMost, countBelow, keepDistinct } from "../../core/ascending.ts";
import { InputError, nameRows } from "../../core/errors.ts";
import { present } from "../../core/present.ts";
import { joinOutcomeTimes } from "../../data/outcomes/intervals.ts";
import { type Outcomes, refuseBeyondCensoring } from "../../data/outcomes/outcomes.ts";
import { productLimit, tallyRisk } from "../../data/outcomes/rows-by-time.ts";
import { checkCauseNumber, toOutcomes } from "../../data/plain-input.ts";
import { checkInput } from "./check-input.ts";
import { type CoxRobust, robustCox } from "./coefficients.ts";
import { type CoxModel, type CoxOptions, type CoxPredictor, coxCurves, fitPreparedCox } from "./cox.ts";
import type { Staying } from "./intervals.ts";
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
  refuseBeyondCensoring(input, "Fine and Gray's model", ["cause", "entry", "weight"]);
  checkCauseNumber(options.of);
  const { ties = "efron", timefix = true } = options;
  const { x, D, names } = input;
  const given = toOutcomes(input);
  const { time, cause = new Uint8Array(0), id, entry, weight } = timefix ? joinOutcomeTimes(given) : given;
  const event = Uint8Array.from(cause, (one) => (one === options.of ? 1 : 0));
  const rows: CoxInput = { time, event, x, D, ...present({ names, entry, weight }) };
  checkInput(rows);
  if (!event.includes(1))
    throw new InputError(`no events of cause ${options.of}`, {
      code: "outcome.noEvents",
      hint: "check which cause is meant",
    });
  const staying = {
    rows: Uint8Array.from(cause, (one) => (one > 0 && one !== options.of ? 1 : 0)),
    uncensored: estimateObserved({ time, event: given.event, ...present({ entry }) }),
  };
  refuseNobodySeen(staying, time);
  const prepared = prepareRows(rows, { ties, timefix: false, weights: undefined, staying });
  const fit = fitPreparedCox(prepared, rows, options);
  const model = { ...fit, baseline: fit.baselines[0] };
  const robust = robustCox(prepared, model, id ?? Int32Array.from(time.keys()));
  return { model, robust, prepared };
}

/** Where all who were under observation had left before others came, nothing says how many stayed and entered. */
function refuseNobodySeen({ rows, uncensored }: Staying, time: Float64Array): void {
  const wrong = time.findIndex((end, row) => rows[row] === 1 && !(uncensored(end) > 0));
  if (wrong < 0) return;
  throw new InputError(
    `Fine and Gray's weights are not defined: at some time until ${time[wrong]}, everyone left`,
    {
      code: "cox.weights",
      where: nameRows([wrong + 1]),
      hint: "leave out the rows that ended before people were under observation throughout, or leave out --entry",
    },
  );
}

/** G(t−)H(t−). */
function estimateObserved(rows: Pick<Outcomes, "time" | "event" | "entry">): (at: number) => number {
  const G = estimateUncensored(rows);
  if (rows.entry === undefined) return G;
  const H = estimateEntered(rows.entry, rows.time);
  return (at) => G(at) * H(at);
}

/** H(t−) = Π (1 − entries / at risk of entering) over the entries from t on; the first of all is that of everyone. */
function estimateEntered(entry: Float64Array, time: Float64Array): (at: number) => number {
  const entries = Float64Array.from(entry).sort();
  const exits = Float64Array.from(time).sort();
  const distinct = keepDistinct(entries.slice());
  const from = new Float64Array(distinct.length + 1).fill(1);
  for (let k = distinct.length - 1; k > 0; k--) {
    const entered = countAtMost(entries, distinct[k]);
    const atRisk = entered - countAtMost(exits, distinct[k]);
    from[k] = from[k + 1] * (1 - (entered - countBelow(entries, distinct[k])) / atRisk);
  }
  from[0] = from[1];
  return (at) => from[countBelow(distinct, at)];
}

/** G(t−): those who have the event at a time leave before those who are censored then. */
function estimateUncensored(rows: Pick<Outcomes, "time" | "event" | "entry">): (at: number) => number {
  const table = tallyRisk(rows);
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
