/**
 * What was observed of each person, in two shapes that everything downstream takes: at raw times, and on a time grid of
 * T bins, numbered 1…T. Time and event are always there. Late entry, competing causes, weights and ids are optional.
 * Most statistics take right-censored outcomes only. Read without its entry, a row that came late counts as at risk
 * from the start; read without its cause, a death from something else counts as the event. That must not happen
 * silently: what outcomes hold beyond right censoring is refused at the door by name, until it is handled.
 */
import { InputError } from "../../core/errors.ts";
import { present } from "../../core/present.ts";

/** The outcome of every row. */
export interface Outcomes {
  readonly time: Float64Array; // [N]
  /** 1 = event (of any cause, where causes are told apart), 0 = censored. */
  readonly event: Uint8Array; // [N]
  /** When each row came under observation, before its time; without it, all at 0. */
  readonly entry?: Float64Array; // [N]
  /** 0 = censored, k = the event was of cause k; without it, there is one cause only. */
  readonly cause?: Uint8Array; // [N]
  /** How many people of the population a row stands for; without it, 1 each. */
  readonly weight?: Float64Array; // [N]
  /** Whose row it is: rows with one number are one person's; without it, every row is a person of its own. */
  readonly id?: Int32Array; // [N]
}

/** Outcomes on a time grid. */
export interface BinnedOutcomes {
  readonly T: number;
  readonly bin: Int32Array; // [N], 1…T
  /** 1 = event (of any cause), 0 = censored. */
  readonly event: Uint8Array; // [N]
  /** The first bin at risk; bin + 1 for a row that enters and leaves within one bin. Without it, bin 1 for all. */
  readonly firstBin?: Int32Array; // [N]
  /** 0 = censored, k = the event was of cause k. */
  readonly cause?: Uint8Array; // [N]
  readonly weight?: Float64Array; // [N]
  readonly id?: Int32Array; // [N]
}

/** Outcomes that time and event describe completely, except for whose rows they are. */
export interface RightCensored extends Outcomes {
  readonly entry?: never;
  readonly cause?: never;
  readonly weight?: never;
}

/** The same on a time grid. */
export interface BinnedRightCensored extends BinnedOutcomes {
  readonly firstBin?: never;
  readonly cause?: never;
  readonly weight?: never;
}

/** Row multiplicities, e.g. of a bootstrap draw; absent means every row counts once. */
export type RowWeights = ArrayLike<number>;

/** All fields of a shape, including the optional ones: an object built as this cannot forget a field added later. */
export type EveryField<Shape> = { readonly [Field in keyof Required<Shape>]: Shape[Field] | undefined };

/** The outcomes of some rows (0-based), in their order. */
export function pickOutcomes(outcomes: RightCensored, rows: ArrayLike<number>): RightCensored;
export function pickOutcomes(outcomes: Outcomes, rows: ArrayLike<number>): Outcomes;
export function pickOutcomes(outcomes: Outcomes, rows: ArrayLike<number>): Outcomes {
  const { time, event, entry, cause, weight, id } = outcomes;
  const picked: EveryField<Outcomes> = {
    time: pickNumbers(time, rows),
    event: pickBytes(event, rows),
    entry: entry && pickNumbers(entry, rows),
    cause: cause && pickBytes(cause, rows),
    weight: weight && pickNumbers(weight, rows),
    id: id && pickIntegers(id, rows),
  };
  return present(picked) as Outcomes;
}

/** The binned outcomes of some rows (0-based), in their order. */
export function pickBinned(outcomes: BinnedRightCensored, rows: ArrayLike<number>): BinnedRightCensored;
export function pickBinned(outcomes: BinnedOutcomes, rows: ArrayLike<number>): BinnedOutcomes;
export function pickBinned(outcomes: BinnedOutcomes, rows: ArrayLike<number>): BinnedOutcomes {
  const { T, bin, event, firstBin, cause, weight, id } = outcomes;
  const picked: EveryField<BinnedOutcomes> = {
    T,
    bin: pickIntegers(bin, rows),
    event: pickBytes(event, rows),
    firstBin: firstBin && pickIntegers(firstBin, rows),
    cause: cause && pickBytes(cause, rows),
    weight: weight && pickNumbers(weight, rows),
    id: id && pickIntegers(id, rows),
  };
  return present(picked) as BinnedOutcomes;
}

function pickNumbers(values: Float64Array, rows: ArrayLike<number>): Float64Array {
  return pickInto(new Float64Array(rows.length), values, rows);
}

function pickIntegers(values: Int32Array, rows: ArrayLike<number>): Int32Array {
  return pickInto(new Int32Array(rows.length), values, rows);
}

function pickBytes(values: Uint8Array, rows: ArrayLike<number>): Uint8Array {
  return pickInto(new Uint8Array(rows.length), values, rows);
}

function pickInto<Values extends Float64Array | Int32Array | Uint8Array>(
  picked: Values,
  values: Values,
  rows: ArrayLike<number>,
): Values {
  for (let k = 0; k < rows.length; k++) picked[k] = values[rows[k]];
  return picked;
}

type OutcomeField = keyof Outcomes | keyof BinnedOutcomes;

/**
 * What a field adds to right censoring, in words; null where it adds nothing. A new field has to be decided on here.
 */
function nameBeyondCensoring(field: OutcomeField): string | null {
  switch (field) {
    case "time":
    case "event":
    case "T":
    case "bin":
    case "id":
      return null;
    case "entry":
    case "firstBin":
      return "late entry";
    case "cause":
      return "competing causes";
    case "weight":
      return "weighted people";
    default:
      return field satisfies never;
  }
}

/** Spelled out, so that a new field does not compile until it is listed. */
const EVERY_FIELD: Readonly<Record<OutcomeField, true>> = {
  time: true,
  event: true,
  entry: true,
  cause: true,
  weight: true,
  id: true,
  T: true,
  bin: true,
  firstBin: true,
};

const BEYOND_CENSORING = (Object.keys(EVERY_FIELD) as OutcomeField[]).flatMap((field) => {
  const words = nameBeyondCensoring(field);
  return words === null ? [] : [{ field, words }];
});

/** What outcomes of any shape may hold beyond time and event. */
export type Beyond = { readonly [Field in OutcomeField]?: unknown };

/** Refuses late entry, causes and weights; `what` is the subject of the sentence, such as "Kaplan-Meier". */
export function refuseBeyondCensoring(outcomes: Beyond, what: string): void {
  for (const { field, words } of BEYOND_CENSORING) {
    if (outcomes[field] === undefined) continue;
    throw new InputError(`${what} does not take ${words} yet`, {
      code: "outcomes.beyond",
      where: `outcomes.${field}`,
      hint: `leave out \`${field}\` only if time and event mean the same without it`,
    });
  }
}

/** The same outcomes, known to be right-censored and nothing else. */
export function requireRightCensored(outcomes: Outcomes, what: string): RightCensored;
export function requireRightCensored(outcomes: BinnedOutcomes, what: string): BinnedRightCensored;
export function requireRightCensored(
  outcomes: Outcomes | BinnedOutcomes,
  what: string,
): RightCensored | BinnedRightCensored {
  refuseBeyondCensoring(outcomes, what);
  return outcomes as RightCensored | BinnedRightCensored;
}
