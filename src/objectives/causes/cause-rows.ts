/**
 * People with K causes as rows of one kind of event: row n·K + k is person n seen by cause k, at risk as long as the
 * person is, with an event where it was of that cause. Other causes end the row without one, after the bin they
 * happened in: given the hazards of the others that is the likelihood of cause k itself (cause-curves.ts). Each group
 * is then held to each cause by itself.
 */
import { present } from "../../core/present.ts";
import type { BinnedOutcomes, BinnedSingleCause } from "../../data/outcomes/outcomes.ts";
import type { NamedRows } from "../constraints.ts";

/** The rows that these people are. */
export function causeRows(people: ArrayLike<number>, K: number): Int32Array {
  const rows = new Int32Array(people.length * K);
  for (let n = 0; n < people.length; n++) for (let k = 0; k < K; k++) rows[n * K + k] = people[n] * K + k;
  return rows;
}

/** Outcomes by person and cause. */
export function spreadCauses(binned: BinnedOutcomes, K: number): BinnedSingleCause {
  const { T, bin, cause, firstBin, weight } = binned;
  const spread = <Values extends Int32Array | Float64Array>(values: Values, into: Values): Values => {
    for (let row = 0; row < into.length; row++) into[row] = values[Math.floor(row / K)];
    return into;
  };
  const rows = bin.length * K;
  return {
    T,
    bin: spread(bin, new Int32Array(rows)),
    event: Uint8Array.from({ length: rows }, (_, row) =>
      cause?.[Math.floor(row / K)] === (row % K) + 1 ? 1 : 0,
    ),
    rival: Uint8Array.from({ length: rows }, (_, row) => isOther(cause?.[Math.floor(row / K)], row % K)),
    ...present({
      firstBin: firstBin && spread(firstBin, new Int32Array(rows)),
      weight: weight && spread(weight, new Float64Array(rows)),
    }),
  };
}

/** Every group once for each cause, group by group. */
export function crossCauses(groups: readonly NamedRows[], causes: readonly string[]): NamedRows[] {
  const K = causes.length;
  return groups.flatMap(({ name, rows }) =>
    causes.map((cause, k) => ({ name: nameCell(name, cause), rows: rows.map((row) => row * K + k) })),
  );
}

/** How a group is called where one of several causes is meant. */
export function nameCell(group: string, cause: string): string {
  return `${group}: ${cause}`;
}

/** The outcomes of one cause (from 0): events of the others are censored after the bin they happened in. */
export function seeCause(binned: BinnedOutcomes, k: number): BinnedSingleCause {
  const { T, bin, cause, firstBin, weight } = binned;
  return {
    T,
    bin,
    event: Uint8Array.from(cause ?? [], (one) => (one === k + 1 ? 1 : 0)),
    rival: Uint8Array.from(cause ?? [], (one) => isOther(one, k)),
    ...present({ firstBin, weight }),
  };
}

function isOther(cause = 0, k: number): 0 | 1 {
  return cause > 0 && cause !== k + 1 ? 1 : 0;
}

/**
 * The outcomes of one cause against nothing at all (Begg and Gray 1984): events of the others are censored before the
 * bin they happened in, so that the odds of the event against none, e^{z_k}, are those of an ordinary hazard.
 */
export function seeCauseAgainstNone(binned: BinnedOutcomes, k: number): BinnedSingleCause {
  const { T, bin, cause, firstBin, weight } = binned;
  const ofOther = Uint8Array.from(cause ?? [], (one) => isOther(one, k));
  const first = Int32Array.from(bin, (_, n) => firstBin?.[n] ?? 1);
  const last = bin.map((one, n) => one - ofOther[n]);
  // A person who is left without a bin is there with none.
  const isEmpty = last.map((one, n) => (one < first[n] ? 1 : 0));
  return {
    T,
    bin: last.map((one, n) => (isEmpty[n] === 1 ? bin[n] : one)),
    event: Uint8Array.from(cause ?? [], (one) => (one === k + 1 ? 1 : 0)),
    firstBin: first.map((one, n) => (isEmpty[n] === 1 ? bin[n] + 1 : one)),
    ...present({ weight }),
  };
}
