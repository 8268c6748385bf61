/**
 * The predicted survival of each bin's events in ascending order, and where any other value falls among them. A look-up
 * must not cost more in a long table than in a short one: the range of a bin's values is cut into as many equal steps
 * as there are values, a table says where each step begins, and only the values of one step are searched. Subtraction
 * and multiplication round monotonically, so a smaller value is never in a later step: look-ups are exact, ties
 * included.
 */

/** Rows by position: position i is row rows[i] of the curves, or row i where rows is undefined. */
export interface PositionedRows {
  readonly T: number;
  readonly survival: Float64Array | Float32Array;
  readonly rows: ArrayLike<number> | undefined;
  /** By position, as are events and weights. */
  readonly bin: ArrayLike<number>; // [n]
  readonly event: ArrayLike<number>; // [n]
  readonly weights: ArrayLike<number> | undefined; // [n]
  /** The first bin at risk, never after `bin`; without it, bin 1 for all. */
  readonly firstBin?: ArrayLike<number> | undefined; // [n]
}

/** The distinct values of all bins' events end to end; those of bin t are the entries start[t] … end[t] − 1. */
export interface EventValues {
  readonly start: Int32Array; // [T+1]
  readonly end: Int32Array; // [T+1]
  /** VALUE, BELOW and OWN of each entry side by side in memory, as they are read together. */
  readonly entries: Float64Array; // [events, ENTRY]
  /** Step k of bin t begins at the entry firstOf[start[t] + k]; there are as many steps as entries. */
  readonly firstOf: Int32Array; // [events]
  /** Steps for each unit of survival; 0 where all values are in one. */
  readonly scale: Float64Array; // [T+1]
}

/** Numbers of an entry: its value, the weight of the bin's events with smaller values, that of those with this one. */
export const ENTRY = 3;
const VALUE = 0;
export const BELOW = 1;
export const OWN = 2;

/** The first entry of bin t, which has events, whose value is not below S; end[t] where all are. */
export function findEntry(
  { start, end, entries, firstOf, scale }: EventValues,
  t: number,
  S: number,
): number {
  const from = start[t];
  const stop = end[t];
  const smallest = entries[ENTRY * from + VALUE];
  if (S <= smallest) return from;
  if (S > entries[ENTRY * (stop - 1) + VALUE]) return stop;
  const step = Math.min(Math.floor((S - smallest) * scale[t]), stop - from - 1);
  let low = firstOf[from + step];
  let high = from + step + 1 < stop ? firstOf[from + step + 1] : stop;
  while (low < high) {
    const middle = (low + high) >>> 1;
    if (entries[ENTRY * middle + VALUE] < S) low = middle + 1;
    else high = middle;
  }
  return low;
}

/** Sorts the values of every bin's events; `refuse` is told of a value that is not a number. */
export function sortEventValues(
  positioned: PositionedRows,
  refuse: (row: number, t: number) => never,
): EventValues {
  const { T, survival, rows, bin, event, weights } = positioned;
  const start = new Int32Array(T + 2);
  for (let i = 0; i < bin.length; i++) if (event[i] === 1) start[bin[i] + 1]++;
  for (let t = 1; t <= T + 1; t++) start[t] += start[t - 1];
  const sorted = new Float64Array(start[T + 1]);
  const next = start.slice();
  for (let i = 0; i < bin.length; i++) {
    if (event[i] !== 1) continue;
    const row = rows === undefined ? i : rows[i];
    const S = survival[row * T + bin[i] - 1];
    if (Number.isNaN(S)) refuse(row, bin[i]);
    sorted[next[bin[i]]++] = S;
  }
  const entries = new Float64Array(ENTRY * sorted.length);
  const end = new Int32Array(T + 1);
  for (let t = 1; t <= T; t++) {
    end[t] = placeEntries(entries, start[t], sorted.subarray(start[t], start[t + 1]).sort());
  }
  const values = { start: start.slice(0, T + 1), end, entries, ...placeSteps(start, end, entries) };
  if (weights !== undefined) weighEntries(values, positioned, weights);
  for (let t = 1; t <= T; t++) {
    for (let k = start[t] + 1; k < end[t]; k++) {
      const before = ENTRY * (k - 1);
      entries[ENTRY * k + BELOW] = entries[before + BELOW] + entries[before + OWN];
    }
  }
  return values;
}

/** Writes the distinct values, each with how often it occurs; returns where they end. */
function placeEntries(entries: Float64Array, from: number, ascending: Float64Array): number {
  let end = from;
  for (let k = 0; k < ascending.length; k++) {
    if (k === 0 || ascending[k] !== ascending[k - 1]) entries[ENTRY * end++ + VALUE] = ascending[k];
    entries[ENTRY * (end - 1) + OWN]++;
  }
  return end;
}

/** Where the steps of every bin begin. */
function placeSteps(
  start: Int32Array,
  end: Int32Array,
  entries: Float64Array,
): Pick<EventValues, "firstOf" | "scale"> {
  const firstOf = new Int32Array(entries.length / ENTRY);
  const scale = new Float64Array(end.length);
  for (let t = 1; t < end.length; t++) {
    const from = start[t];
    const count = end[t] - from;
    if (count === 0) continue;
    const smallest = entries[ENTRY * from + VALUE];
    const wanted = count / (entries[ENTRY * (end[t] - 1) + VALUE] - smallest);
    scale[t] = Number.isFinite(wanted) ? wanted : 0; // a single value, or a range too small to divide by
    let step = 0;
    for (let k = from; k < end[t]; k++) {
      const own = Math.min(Math.floor((entries[ENTRY * k + VALUE] - smallest) * scale[t]), count - 1);
      while (step <= own) firstOf[from + step++] = k;
    }
    firstOf.fill(end[t], from + step, end[t]);
  }
  return { firstOf, scale };
}

/** Replaces how often each value occurs by the weight of the events that have it. */
function weighEntries(
  values: EventValues,
  { T, survival, rows, bin, event }: PositionedRows,
  weights: ArrayLike<number>,
): void {
  const { entries } = values;
  for (let at = OWN; at < entries.length; at += ENTRY) entries[at] = 0;
  for (let i = 0; i < bin.length; i++) {
    if (event[i] !== 1) continue;
    const S = survival[(rows === undefined ? i : rows[i]) * T + bin[i] - 1];
    entries[ENTRY * findEntry(values, bin[i], S) + OWN] += weights[i];
  }
}
