/**
 * Where a network starts: an additive hazard model of the training rows (models/start). With several causes each has a
 * start of its own, of its events against none at all (Begg and Gray 1984), whose logit is the cause's own; together
 * they are the multinomial model, at next to no loss of efficiency.
 */
import type { Turns } from "../core/progress.ts";
import { type BinnedOutcomes, requireSingleCause } from "../data/outcomes/outcomes.ts";
import { anchorHazards } from "../models/networks/initialise.ts";
import { type AdditiveStart, fitStartInTurns, type Precisions } from "../models/start/additive-start.ts";
import type { LinearStartInput } from "../models/start/linear-start.ts";
import { seeCauseAgainstNone } from "../objectives/causes/cause-rows.ts";
import { tallyBins } from "../stats/kaplan-meier.ts";

/** Values that parameters start from in place of random ones; null leaves the network's own start. */
export interface NetworkStart {
  readonly slopes: Float64Array | null; // [K,D]
  readonly offsets: Float64Array | null; // [K,G,knots]
  /** Of each cause. */
  readonly precisions: readonly (Precisions | null)[]; // [K]
}

/** A start, with the hazards of every bin, cause by cause. */
export interface FittedStart extends NetworkStart {
  readonly baselineHazard: Float64Array; // [K,T]
}

/** Rows and columns of a start. */
export interface StartInput extends Omit<LinearStartInput, "T" | "bin" | "event" | "firstBin" | "weight"> {
  readonly binned: BinnedOutcomes;
  /** How many causes; 1 where there is one kind of event. */
  readonly K: number;
}

/** `onRound`: told how many of the rounds are done, over all causes. */
export function* fitStart(
  { binned, K, ...columns }: StartInput,
  onRound: (done: number, total: number) => void = () => {},
): Turns<FittedStart> {
  if (K === 1) {
    const only = requireSingleCause(binned, "a start of one kind of event");
    const { slopes, offsets, precisions, baselineHazard } = yield* fitStartInTurns(
      { ...only, ...columns },
      onRound,
    );
    return { slopes, offsets, precisions: [precisions], baselineHazard };
  }
  const knotHazard = anchorRows(binned, 1);
  const fits: AdditiveStart[] = [];
  for (let k = 0; k < K; k++) {
    const own = { ...seeCauseAgainstNone(binned, k), ...columns, knotHazard };
    fits.push(yield* fitStartInTurns(own, (done, total) => onRound(k * total + done, K * total)));
  }
  return {
    slopes: joinArrays(fits.map(({ slopes }) => slopes)),
    offsets: joinArrays(fits.map(({ offsets }) => offsets)),
    precisions: fits.map(({ precisions }) => precisions),
    baselineHazard: toCompeting(fits.map(({ baselineHazard }) => baselineHazard)),
  };
}

/** The hazards of every bin and cause among the rows; of events of any cause where K is 1. */
export function anchorRows(binned: BinnedOutcomes, K: number): Float64Array {
  const { cause, ...anyCause } = binned;
  const { events, atRisk } = tallyBins(requireSingleCause(anyCause, "a start"));
  if (K === 1) return anchorHazards(events.subarray(1), atRisk.subarray(1));
  return joinArrays(
    Array.from({ length: K }, (_, k) => {
      const event = Uint8Array.from(cause ?? [], (one) => (one === k + 1 ? 1 : 0));
      const own = tallyBins({ ...anyCause, event }).events;
      return anchorHazards(own.subarray(1), atRisk.subarray(1));
    }),
  );
}

/** From hazards against none, e^z = h/(1 − h), to those of causes that compete, e^{z_k}/(1 + Σ e^{z_j}). */
function toCompeting(alone: readonly Float64Array[]): Float64Array {
  const odds = alone.map((hazards) => hazards.map((h) => h / (1 - h)));
  return joinArrays(
    odds.map((own) => own.map((one, t) => one / (1 + odds.reduce((sum, other) => sum + other[t], 0)))),
  );
}

function joinArrays(parts: readonly Float64Array[]): Float64Array {
  const joined = new Float64Array(parts.reduce((sum, { length }) => sum + length, 0));
  let at = 0;
  for (const part of parts) {
    joined.set(part, at);
    at += part.length;
  }
  return joined;
}
