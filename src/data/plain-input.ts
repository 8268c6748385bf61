/** Outcomes and curves as a caller has them, plain lists included, and as everything downstream takes them. */
import { InputError } from "../core/errors.ts";
import { toEvents, toFloat64, toInt32 } from "../core/plain-arrays.ts";
import type { Curves } from "./curves/curves.ts";
import type { BinnedOutcomes, Outcomes } from "./outcomes/outcomes.ts";

/** A time a person, and whether it ended in the event. */
export interface OutcomesInput {
  /** Times to the event or to censoring, from 0 up. */
  readonly time: ArrayLike<number>; // [N]
  /** 1 or true: the event happened; 0 or false: censored. */
  readonly event: ArrayLike<number | boolean>; // [N]
}

/** Outcomes on a time grid. */
export interface BinnedOutcomesInput {
  /** The number of bins. */
  readonly T: number;
  /** The bin of each person's time, 1…T. */
  readonly bin: ArrayLike<number>; // [N]
  /** 1 or true: the event happened in that bin; 0 or false: censored in it. */
  readonly event: ArrayLike<number | boolean>; // [N]
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

export function toOutcomes(input: OutcomesInput): Outcomes {
  const { time, event } = input;
  checkLength("event", event.length, time.length);
  return { ...input, time: toFloat64(time), event: toEvents(event) };
}

export function toBinnedOutcomes(input: BinnedOutcomesInput): BinnedOutcomes {
  const { bin, event } = input;
  checkLength("event", event.length, bin.length);
  return { ...input, bin: toInt32(bin), event: toEvents(event) };
}

export function toCurves(input: CurvesInput): Curves {
  const { N, T, survival } = input;
  if (survival.length !== N * T) {
    throw new InputError(`curves: ${survival.length} values for ${N} rows × ${T} bins`, {
      code: "rows.mismatch",
    });
  }
  return { ...input, survival: survival instanceof Float32Array ? survival : toFloat64(survival) };
}

function checkLength(what: string, given: number, N: number): void {
  if (given === N) return;
  throw new InputError(`${what}: ${given} values for ${N} rows`, { code: "rows.mismatch" });
}
