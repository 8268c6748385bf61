/**
 * Rows as intervals (entry, time] under observation. Someone seen from the start is at risk at time 0 too, so an entry
 * at 0 is no entry. Times that differ only by rounding are made one over entries and exits together, as R's aeqSurv
 * does. Several rows of one person that follow on each other are one interval to every statistic without features.
 */
import { joinTimes } from "../../core/ascending.ts";
import { InputError, nameRows } from "../../core/errors.ts";
import { type Outcomes, pickOutcomes } from "./outcomes.ts";

/** Before every time: of rows that are under observation from the start. */
export const FROM_THE_START = Number.NEGATIVE_INFINITY;

/** The time after which each row is at risk. */
export function observedFrom(entry: Float64Array): Float64Array {
  return entry.map((start) => (start === 0 ? FROM_THE_START : start));
}

/** Whether a row comes under observation only when or after it leaves. */
export function isEmptyInterval(entry: number, time: number): boolean {
  return entry >= time && !(entry === 0 && time === 0);
}

/** Throws unless every row enters before it leaves. */
export function checkIntervals({ entry, time }: Pick<Outcomes, "entry" | "time">): void {
  if (entry === undefined) return;
  const wrong: number[] = [];
  for (let row = 0; row < time.length; row++) {
    const isInterval = entry[row] >= 0 && !isEmptyInterval(entry[row], time[row]);
    if (!isInterval) wrong.push(row);
  }
  if (wrong.length === 0) return;
  const [row] = wrong;
  throw new InputError(`entry is not before time: ${entry[row]} and ${time[row]}`, {
    code: "entry.order",
    where: nameRows(wrong.map((at) => at + 1)),
    hint: "entries start at 0; a row is at risk after its entry, up to and including its time",
  });
}

/** The outcomes with times that differ only by rounding made one, those of entries among them. */
export function joinOutcomeTimes<Observed extends Pick<Outcomes, "entry" | "time">>(
  outcomes: Observed,
): Observed {
  const { entry, time } = outcomes;
  if (entry === undefined) {
    const joined = joinTimes(time);
    return joined === time ? outcomes : { ...outcomes, time: joined };
  }
  const both = new Float64Array(2 * time.length);
  both.set(time);
  both.set(entry, time.length);
  const joined = joinTimes(both);
  if (joined === both) return outcomes;
  const close = { ...outcomes, time: joined.slice(0, time.length), entry: joined.slice(time.length) };
  const empty = close.time.findIndex((end, row) => isEmptyInterval(close.entry[row], end));
  if (empty < 0) return close;
  throw new InputError(`entry and time differ by rounding only: ${entry[empty]} and ${time[empty]}`, {
    code: "entry.order",
    where: `row ${empty + 1}`,
    hint: "give such a row a length, or leave it out; --no-timefix keeps the two apart",
  });
}

/**
 * Joins tied times over the rows of all groups together, as R does: which times are tied must not depend on the group.
 */
export function joinGroupedTimes(outcomes: Outcomes, groupOfRow: Int32Array): Outcomes {
  const rows = Int32Array.from(groupOfRow.keys()).filter((row) => groupOfRow[row] >= 0);
  const joined = joinOutcomeTimes(pickOutcomes(outcomes, rows));
  const place = (own: Float64Array, close: Float64Array): Float64Array => {
    const placed = own.slice();
    for (let k = 0; k < rows.length; k++) placed[rows[k]] = close[k];
    return placed;
  };
  const time = place(outcomes.time, joined.time);
  if (outcomes.entry === undefined || joined.entry === undefined) return { ...outcomes, time };
  return { ...outcomes, time, entry: place(outcomes.entry, joined.entry) };
}

/** Rows (0-based) by person and, within each, by entry. */
export function orderIntervals({ entry, time, id }: Outcomes): Int32Array {
  const order = Int32Array.from(time, (_, row) => row);
  if (id === undefined) return order;
  const from = (row: number) => entry?.[row] ?? 0;
  return order.sort((a, b) => id[a] - id[b] || from(a) - from(b) || time[a] - time[b] || a - b);
}

/**
 * The outcomes with a person's rows joined where one begins as the other ends without an event; weights must be equal
 * as well. Nothing but the number of rows changes: between two such rows nobody is censored.
 */
export function joinIntervals(outcomes: Outcomes): Outcomes {
  const { entry, time, event, weight, id } = outcomes;
  if (entry === undefined || id === undefined) return outcomes;
  const order = orderIntervals(outcomes);
  const kept: number[] = [];
  const from: number[] = [];
  for (let k = 0; k < order.length; k++) {
    const row = order[k];
    const before = kept.at(-1);
    const follows =
      before !== undefined &&
      id[before] === id[row] &&
      time[before] === entry[row] &&
      event[before] === 0 &&
      (weight === undefined || weight[before] === weight[row]);
    if (follows) kept[kept.length - 1] = row;
    else {
      kept.push(row);
      from.push(entry[row]);
    }
  }
  if (kept.length === time.length) return outcomes;
  return { ...pickOutcomes(outcomes, kept), entry: Float64Array.from(from) };
}
