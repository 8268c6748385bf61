/**
 * In which order people are drawn, and with which numbers. A person's rows that follow one another are one path: a
 * row that another follows is not censored at its end, and an event that is drawn in it takes the person out of the
 * rows after. Where somebody was observed beyond an event, events recur: each bin at risk then has its own with
 * probability h. Rows of a person that overlap are drawn with the same numbers: how their outcomes depend on each
 * other is unknown, and of all dependences that leave each row its own curve, this makes the counts of events vary
 * most. People are ranked by outcome, and those of one outcome by their curves, the end first: so the numbers do not
 * depend on the order of rows. People alike in both have the order of the table; they are exchangeable unless their
 * groups differ.
 */
import { groupByPerson, haveSeveralRows, type People } from "../../data/outcomes/people.ts";
import type { DrawnTable } from "./drawn-outcomes.ts";

export type PathKind = "path" | "recurrent" | "overlapping";

/** The rows of everyone, person by person, each person's in the order of time. */
export interface PersonRows {
  readonly rows: Int32Array; // [N]
  /** Where each person's rows begin, and N. */
  readonly starts: Int32Array; // [people + 1]
  readonly kinds: readonly PathKind[];
  /** By row: 1 if another row of the person follows. */
  readonly goesOn: Uint8Array; // [N]
}

/** The paths of everyone, by the number of the person. */
export function orderPeople({ N, bin, firstBin, cause }: DrawnTable, people?: People): PersonRows {
  const rows = Int32Array.from({ length: N }, (_, row) => row);
  const goesOn = new Uint8Array(N);
  if (people === undefined || !haveSeveralRows(people)) {
    const starts = Int32Array.from({ length: N + 1 }, (_, row) => row);
    return { rows, starts, kinds: new Array<PathKind>(N).fill("overlapping"), goesOn };
  }
  const firstOf = (row: number) => firstBin?.[row] ?? 1;
  const starts = [0];
  const kinds: PathKind[] = [];
  for (const own of groupByPerson(people, rows.slice())) {
    own.sort((a, b) => firstOf(a) - firstOf(b) || bin[a] - bin[b] || cause[a] - cause[b]);
    const overlaps = own.some((row, k) => k > 0 && firstOf(row) <= bin[own[k - 1]]);
    const recurs = own.slice(0, -1).some((row) => cause[row] > 0);
    kinds.push(overlaps ? "overlapping" : recurs ? "recurrent" : "path");
    if (!overlaps) for (const row of own.slice(0, -1)) goesOn[row] = 1;
    const from = starts[starts.length - 1];
    rows.set(own, from);
    starts.push(from + own.length);
  }
  return { rows, starts: Int32Array.from(starts), kinds, goesOn };
}

/** The place of each person in an order that does not depend on the table's. */
export function rankPeople(
  { T, survival, bin, firstBin, cause, weight }: DrawnTable,
  { rows, starts }: PersonRows,
): Int32Array {
  const count = starts.length - 1;
  const first = Int32Array.from({ length: count }, (_, person) => rows[starts[person]]);
  const compareCurves = (a: number, b: number) => {
    for (let t = T - 1; t >= 0; t--) {
      const difference = survival[a * T + t] - survival[b * T + t];
      if (difference !== 0) return difference;
    }
    return 0;
  };
  const order = Int32Array.from({ length: count }, (_, person) => person).sort((p, q) => {
    const [a, b] = [first[p], first[q]];
    return (
      bin[a] - bin[b] ||
      cause[a] - cause[b] ||
      (firstBin === undefined ? 0 : firstBin[a] - firstBin[b]) ||
      (weight === undefined ? 0 : weight[a] - weight[b]) ||
      compareCurves(a, b) ||
      p - q
    );
  });
  const ranks = new Int32Array(count);
  order.forEach((person, rank) => {
    ranks[person] = rank;
  });
  return ranks;
}
