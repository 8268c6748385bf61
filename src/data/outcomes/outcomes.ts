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

/** Outcomes of one kind of event, which may have entries and weights. */
export interface SingleCause extends Outcomes {
  readonly cause?: never;
}

/** Right-censored outcomes on a time grid. */
export interface BinnedRightCensored extends BinnedOutcomes {
  readonly firstBin?: never;
  readonly cause?: never;
  readonly weight?: never;
}

/** Outcomes of one kind of event on a time grid, which may have entries and weights. */
export interface BinnedSingleCause extends BinnedOutcomes {
  readonly cause?: never;
  /** Where it is one of several causes, 1 for a row that ended in an event of another. */
  readonly rival?: Uint8Array; // [N]
}

/** Row multiplicities, e.g. of a bootstrap draw; absent means every row counts once. */
export type RowWeights = ArrayLike<number>;

/** All fields of a shape, including the optional ones: an object built as this cannot forget a field added later. */
export type EveryField<Shape> = { readonly [Field in keyof Required<Shape>]: Shape[Field] | undefined };

/** The outcomes of some rows (0-based), in their order. */
export function pickOutcomes(outcomes: RightCensored, rows: ArrayLike<number>): RightCensored;
export function pickOutcomes(outcomes: SingleCause, rows: ArrayLike<number>): SingleCause;
export function pickOutcomes(outcomes: Outcomes, rows: ArrayLike<number>): Outcomes;
export function pickOutcomes(outcomes: Outcomes, rows: ArrayLike<number>): Outcomes {
  const { time, event, entry, cause, weight, id } = outcomes;
  const N = rows.length;
  const picked: EveryField<Outcomes> = {
    time: pickInto(new Float64Array(N), time, rows),
    event: pickInto(new Uint8Array(N), event, rows),
    entry: entry && pickInto(new Float64Array(N), entry, rows),
    cause: cause && pickInto(new Uint8Array(N), cause, rows),
    weight: weight && pickInto(new Float64Array(N), weight, rows),
    id: id && pickInto(new Int32Array(N), id, rows),
  };
  return present(picked) as Outcomes;
}

/** The binned outcomes of some rows (0-based), in their order. */
export function pickBinned(outcomes: BinnedRightCensored, rows: ArrayLike<number>): BinnedRightCensored;
export function pickBinned(outcomes: BinnedSingleCause, rows: ArrayLike<number>): BinnedSingleCause;
export function pickBinned(outcomes: BinnedOutcomes, rows: ArrayLike<number>): BinnedOutcomes;
export function pickBinned(outcomes: BinnedOutcomes, rows: ArrayLike<number>): BinnedOutcomes {
  const { T, bin, event, firstBin, cause, weight, id } = outcomes;
  const N = rows.length;
  const picked: EveryField<BinnedOutcomes> = {
    T,
    bin: pickInto(new Int32Array(N), bin, rows),
    event: pickInto(new Uint8Array(N), event, rows),
    firstBin: firstBin && pickInto(new Int32Array(N), firstBin, rows),
    cause: cause && pickInto(new Uint8Array(N), cause, rows),
    weight: weight && pickInto(new Float64Array(N), weight, rows),
    id: id && pickInto(new Int32Array(N), id, rows),
  };
  return present(picked) as BinnedOutcomes;
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

/** What a field adds to right censoring, in words; null for nothing. A new field has to be decided on here. */
const ADDED: Readonly<Record<OutcomeField, string | null>> = {
  time: null,
  event: null,
  entry: "late entry",
  cause: "competing causes",
  weight: "weighted people",
  id: null,
  T: null,
  bin: null,
  firstBin: "late entry",
};
const INSTEAD: { readonly [Field in OutcomeField]?: string } = {
  cause:
    "aalenJohansen, grayTest, scoreIncidence and auditCauses take causes; for the hazard of one alone, " +
    "leave `cause` out and give event 1 where it was of that cause",
};
const BEYOND_CENSORING = (Object.keys(ADDED) as OutcomeField[]).filter((field) => ADDED[field] !== null);

/** What outcomes of any shape may hold beyond time and event. */
export type Beyond = { readonly [Field in OutcomeField]?: unknown };

/**
 * Refuses late entry, causes and weights, but for what is `handled`; `what` is the subject of the sentence, such as
 * "Kaplan-Meier", and `instead` says what to do.
 */
export function refuseBeyondCensoring(
  outcomes: Beyond,
  what: string,
  handled: readonly (keyof Beyond)[] = [],
  instead?: string,
): void {
  for (const field of BEYOND_CENSORING) {
    if (outcomes[field] === undefined || handled.includes(field)) continue;
    throw new InputError(`${what} does not take ${ADDED[field]} yet`, {
      code: "outcomes.beyond",
      where: `outcomes.${field}`,
      hint:
        instead ?? INSTEAD[field] ?? `leave out \`${field}\` only if time and event mean the same without it`,
    });
  }
}

/** Whether time and event describe the outcomes completely. */
export function isRightCensored(outcomes: BinnedOutcomes): outcomes is BinnedRightCensored {
  return [outcomes.firstBin, outcomes.cause, outcomes.weight].every((field) => field === undefined);
}

/** The same of outcomes at their times. */
export function isPlainRows({ entry, cause, weight }: Outcomes): boolean {
  return [entry, cause, weight].every((field) => field === undefined);
}

/** The same outcomes, known to be right-censored and nothing else; the refusal says what to do `instead`. */
export function requireRightCensored(outcomes: Outcomes, what: string, instead?: string): RightCensored;
export function requireRightCensored(
  outcomes: BinnedOutcomes,
  what: string,
  instead?: string,
): BinnedRightCensored;
export function requireRightCensored(
  outcomes: Outcomes | BinnedOutcomes,
  what: string,
  instead?: string,
): RightCensored | BinnedRightCensored {
  refuseBeyondCensoring(outcomes, what, [], instead);
  return outcomes as RightCensored | BinnedRightCensored;
}

/** The same outcomes, known to be of one kind of event. */
export function requireSingleCause(outcomes: Outcomes, what: string): SingleCause;
export function requireSingleCause(outcomes: BinnedOutcomes, what: string): BinnedSingleCause;
export function requireSingleCause(
  outcomes: Outcomes | BinnedOutcomes,
  what: string,
): SingleCause | BinnedSingleCause {
  refuseBeyondCensoring(outcomes, what, ["entry", "firstBin", "weight"]);
  return outcomes as SingleCause | BinnedSingleCause;
}
