/**
 * Outcomes and curves as a caller has them, including plain lists, and as everything downstream takes them. Each public
 * function converts its input at its door. What already has the right type is checked and passed on as it is, so that
 * calls from within cost no copy. Events are 0 or 1 and nothing else: a 2, which is often another cause, would count as
 * censored.
 */
import { InputError, nameRows } from "../core/errors.ts";
import { present } from "../core/present.ts";
import type { Curves } from "./curves/curves.ts";
import { checkIntervals } from "./outcomes/intervals.ts";
import {
  type BinnedOutcomes,
  type BinnedRightCensored,
  type BinnedSingleCause,
  type EveryField,
  type Outcomes,
  type RightCensored,
  refuseBeyondCensoring,
  requireSingleCause,
  type SingleCause,
} from "./outcomes/outcomes.ts";
import { checkLength, checkWeights } from "./outcomes/rows-by-time.ts";

/** A time for each person, and whether it ended in the event. */
export interface OutcomesInput {
  /** Times to the event or to censoring, from 0 up. */
  readonly time: ArrayLike<number>; // [N]
  /** 1 or true: the event happened; 0 or false: censored. */
  readonly event: ArrayLike<number | boolean>; // [N]
  /** When each person came under observation, where not at time 0. */
  readonly entry?: ArrayLike<number>; // [N]
  /** 0: censored; 1, 2, …: the cause of the event. */
  readonly cause?: ArrayLike<number>; // [N]
  /** How many people each row stands for. */
  readonly weight?: ArrayLike<number>; // [N]
  /** Whose row it is: a whole number for each person. */
  readonly id?: ArrayLike<number>; // [N]
}

/** Outcomes on a time grid. */
export interface BinnedOutcomesInput extends Omit<OutcomesInput, "time" | "entry"> {
  /** The number of bins. */
  readonly T: number;
  /** The bin of each person's time, 1…T. */
  readonly bin: ArrayLike<number>; // [N]
  /** The first bin in which each person was at risk, where not bin 1. */
  readonly firstBin?: ArrayLike<number>; // [N]
}

/** Outcomes without late entry, causes and weights, which is what most statistics take. */
export interface RightCensoredInput extends OutcomesInput {
  /** None: everyone is under observation from time 0. */
  readonly entry?: never;
  /** None: there is one kind of event. */
  readonly cause?: never;
  /** None: every row is one person. */
  readonly weight?: never;
}

/** The same on a time grid. */
export interface BinnedRightCensoredInput extends BinnedOutcomesInput {
  /** None: everyone is at risk from bin 1. */
  readonly firstBin?: never;
  /** None: there is one kind of event. */
  readonly cause?: never;
  /** None: every row is one person. */
  readonly weight?: never;
}

/** Outcomes of one kind of event on a time grid; they may have late entries and weights. */
export interface BinnedSingleCauseInput extends BinnedOutcomesInput {
  /** None: there is one kind of event. */
  readonly cause?: never;
}

/** The same as typed arrays; a cause is refused in the name of `what`. */
export function toBinnedSingleCause(input: BinnedSingleCauseInput, what: string): BinnedSingleCause {
  return requireSingleCause(toBinnedOutcomes(input), what);
}

/** Predicted survival at the end of every bin. */
export interface CurvesInput {
  /** The number of people. */
  readonly N: number;
  /** The number of bins. */
  readonly T: number;
  /** Person by person: entry [i*T + t−1] is the probability that person i is event-free at the end of bin t. */
  readonly survival: ArrayLike<number>; // [N,T]
}

/** Right-censored outcomes as typed arrays; anything beyond is refused in the name of `what`. */
export function toRightCensored(input: RightCensoredInput, what: string): RightCensored {
  refuseBeyondCensoring(input, what);
  return toOutcomes(input) as RightCensored;
}

/** The same on a time grid. */
export function toBinnedRightCensored(input: BinnedRightCensoredInput, what: string): BinnedRightCensored {
  refuseBeyondCensoring(input, what);
  return toBinnedOutcomes(input) as BinnedRightCensored;
}

/** Outcomes with late entry and weights, of one kind of event; a cause is refused in the name of `what`. */
export interface SingleCauseInput extends OutcomesInput {
  /** None: there is one kind of event. */
  readonly cause?: never;
}

/** The same as typed arrays, every row entering before it leaves. */
export function toSingleCause(input: SingleCauseInput, what: string): SingleCause {
  const outcomes = requireSingleCause(toOutcomes(input), what);
  checkIntervals(outcomes);
  checkWeights(outcomes.weight, outcomes.time.length);
  return outcomes;
}

/** Outcomes as typed arrays, with all they hold. */
export function toOutcomes(input: OutcomesInput): Outcomes {
  const { time, event, entry, cause, weight, id } = input;
  const events = checkFields({ event, entry, cause, weight, id }, time.length);
  const isTyped = time instanceof Float64Array && event instanceof Uint8Array && id === undefined;
  if (isTyped && entry === undefined && cause === undefined && weight === undefined) return input as Outcomes;
  const typed: EveryField<Outcomes> = {
    time: toFloat64(time),
    event: events,
    entry: entry && toFloat64(entry),
    cause: cause && toBytes(cause),
    weight: weight && toFloat64(weight),
    id: id && toIds(id),
  };
  return present(typed) as Outcomes;
}

/** Binned outcomes as typed arrays, with all they hold. */
export function toBinnedOutcomes(input: BinnedOutcomesInput): BinnedOutcomes {
  const { T, bin, event, firstBin, cause, weight, id } = input;
  const events = checkFields({ event, firstBin, cause, weight, id }, bin.length);
  const isTyped = bin instanceof Int32Array && event instanceof Uint8Array && id === undefined;
  if (isTyped && firstBin === undefined && cause === undefined && weight === undefined)
    return input as BinnedOutcomes;
  const typed: EveryField<BinnedOutcomes> = {
    T,
    bin: toInt32(bin),
    event: events,
    firstBin: firstBin && toInt32(firstBin),
    cause: cause && toBytes(cause),
    weight: weight && toFloat64(weight),
    id: id && toIds(id),
  };
  return present(typed) as BinnedOutcomes;
}

/** Curves as typed arrays. */
export function toCurves(input: CurvesInput): Curves {
  const { N, T, survival } = input;
  if (survival.length !== N * T) {
    throw new InputError(`curves: ${survival.length} values for ${N} rows × ${T} bins`, {
      code: "rows.mismatch",
    });
  }
  const isTyped = survival instanceof Float64Array || survival instanceof Float32Array;
  return isTyped ? (input as Curves) : { N, T, survival: toFloat64(survival) };
}

/** The events as typed array, once every field has a value for each row and the causes go with the events. */
function checkFields(
  fields: Readonly<Record<string, ArrayLike<unknown> | undefined>> & {
    readonly event: ArrayLike<number | boolean>;
    readonly cause: ArrayLike<number> | undefined;
  },
  N: number,
): Uint8Array {
  for (const [what, values] of Object.entries(fields)) {
    if (values !== undefined) checkLength(what, values.length, N);
  }
  const events = toEvents(fields.event);
  if (fields.cause !== undefined) checkCauses(events, fields.cause);
  return events;
}

/** Throws unless it is the number of a cause. */
export function checkCauseNumber(cause: number): void {
  if (Number.isInteger(cause) && cause >= 1 && cause <= MAX_CAUSE) return;
  throw new InputError(`no number of a cause: ${cause}`, {
    code: "cause.number",
    hint: "causes are numbered 1, 2, … as in the outcomes; 0 is censored",
  });
}

/** The largest cause that fits in a byte. */
const MAX_CAUSE = 255;

/** A cause is a whole number, and there is one exactly where there is an event. */
function checkCauses(event: Uint8Array, cause: ArrayLike<number>): void {
  const strange: number[] = [];
  for (let row = 0; row < event.length; row++) {
    const isCause = Number.isInteger(cause[row]) && cause[row] >= 0 && cause[row] <= MAX_CAUSE;
    if (!isCause || cause[row] > 0 !== (event[row] === 1)) strange.push(row);
  }
  if (strange.length === 0) return;
  const [row] = strange;
  throw new InputError(`event and cause do not go together: ${event[row]} and ${cause[row]}`, {
    code: "cause.value",
    where: nameRows(strange.map((at) => at + 1)),
    hint: `cause is 0 where censored and a whole number from 1 to ${MAX_CAUSE} where the event happened`,
  });
}

/** People by number; a text or a number too long for 32 bits would make one person of several. */
function toIds(values: ArrayLike<number>): Int32Array {
  if (values instanceof Int32Array) return values;
  const ids = Int32Array.from(values);
  const strange = Array.from(ids.keys()).filter((row) => ids[row] !== values[row]);
  if (strange.length === 0) return ids;
  throw new InputError(`an id is not a whole number of 32 bits: ${values[strange[0]]}`, {
    code: "id.value",
    where: nameRows(strange.map((row) => row + 1)),
    hint: "number the people 0, 1, 2, …: rows of one number are one person's",
  });
}

function toBytes(values: ArrayLike<number>): Uint8Array {
  return values instanceof Uint8Array ? values : Uint8Array.from(values);
}

export function toFloat64(values: ArrayLike<number>): Float64Array {
  return values instanceof Float64Array ? values : Float64Array.from(values);
}

export function toInt32(values: ArrayLike<number>): Int32Array {
  return values instanceof Int32Array ? values : Int32Array.from(values);
}

/** 1 = event, 0 = censored. */
export function toEvents(values: ArrayLike<number | boolean>): Uint8Array {
  if (values instanceof Uint8Array) {
    for (let i = 0; i < values.length; i++) if (values[i] > 1) refuseEvents(values);
    return values;
  }
  const events = new Uint8Array(values.length);
  for (let i = 0; i < values.length; i++) {
    const event = Number(values[i]);
    if (event !== 0 && event !== 1) refuseEvents(values);
    events[i] = event;
  }
  return events;
}

function refuseEvents(values: ArrayLike<number | boolean>): never {
  const strange: number[] = [];
  for (let i = 0; i < values.length; i++) {
    const event = Number(values[i]);
    if (event !== 0 && event !== 1) strange.push(i);
  }
  throw new InputError(`event is neither 0 nor 1: ${values[strange[0]]}`, {
    code: "event.value",
    where: nameRows(strange.map((row) => row + 1)),
    hint: "1 or true = event, 0 or false = censored",
  });
}
