/**
 * In which bins a row is at risk. Someone who enters late is at risk from the bin after that of the entry: the bin of
 * the entry itself was seen in part only, and counting it would raise the number at risk without its events. Where a
 * person's rows follow on each other without a gap, each bin belongs to exactly one of them: the last that reaches into
 * it, which is also the one that carries an event. A row that is left without a bin has `firstBin` = `bin` + 1.
 */
import { orderIntervals } from "./intervals.ts";
import type { Outcomes } from "./outcomes.ts";

/** The first bin at risk of a row whose entry lies in `bin`; an entry at 0 is none. */
export function firstBinOf(entry: number, bin: number): number {
  return entry === 0 ? 1 : bin + 1;
}

/** First and last bin of every row. */
interface RowBins {
  readonly first: Int32Array; // [N]
  readonly last: Int32Array; // [N]
}

/** When rows begin and end; and whose they are, where a person has several. */
interface IntervalRows extends Pick<Outcomes, "time" | "event"> {
  readonly entry: Float64Array; // [N]
  readonly id: Outcomes["id"];
}

/** Rows of one person divide the bins among them; `reachedAfter` gives the bin that a later row begins in. */
export function divideBins(
  { first, last }: RowBins,
  { entry, time, event, id }: IntervalRows,
  reachedAfter: (time: number) => number,
): { readonly bin: Int32Array; readonly firstBin: Int32Array } {
  const firstBin = first.slice();
  const ends = last.slice();
  if (id !== undefined) {
    const order = orderIntervals({ entry, time, event, id });
    let least = order.length > 0 ? firstBin[order[0]] : 1; // of the rows that follow on each other so far
    for (let k = 1; k < order.length; k++) {
      const [before, row] = [order[k - 1], order[k]];
      // After an event, which keeps its bin, the next row begins as a late entry does.
      if (id[before] !== id[row] || entry[row] !== time[before] || event[before] === 1) {
        least = firstBin[row];
        continue;
      }
      firstBin[row] = Math.max(reachedAfter(entry[row]), least);
      ends[before] = Math.min(ends[before], firstBin[row] - 1);
    }
  }
  const bin = last.slice();
  for (let row = 0; row < bin.length; row++) {
    if (firstBin[row] > ends[row]) firstBin[row] = bin[row] + 1;
    else bin[row] = ends[row];
  }
  return { bin, firstBin };
}
