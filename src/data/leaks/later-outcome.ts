/**
 * Another outcome of the same people that comes later than ours: death in a table of relapses. Its time equals that of
 * our follow-up in many rows, is later in others, and is never earlier. That time cannot tell row by row which column
 * says whether the outcome happened, as an earlier outcome's time can (within.ts); but those to whom it happened have
 * the shorter times. So of the columns with two values, the finding asks about the one that is most strongly related to
 * that time, provided the relation is stronger than an honest column's would be.
 */
import { count, say } from "../../core/sentence.ts";
import { createFinding, type Finding } from "../checks/findings.ts";
import { equalTimes, isSameTime } from "./copies.ts";
import { askWhenKnown } from "./later.ts";
import { meanRanks } from "./orders.ts";
import { type LeakColumn, type LeakRows, MAX_SLIPS } from "./rows.ts";
import { splitByValues } from "./splits.ts";

/** The fewest rows in which it is later than ours; fewer are slips in a copy. */
const MIN_LATER = 20;
/**
 * Share of pairs, one row of each value, in which the time is longer on one side: .5 is no relation, and honest values
 * reach .65.
 */
const LEAST_PROBABILITY = 0.7;

/** The time of a later outcome. */
export interface LaterTime {
  readonly name: string;
  /** Average rank of each row's time, 0 where it is missing. */
  readonly ranks: Float64Array; // [N]
  readonly equal: number;
  readonly later: number;
}

/** The column as the time of a later outcome, or null; `unit` is its `commonQuotient`. */
export function findLaterTime(
  { name, numbers }: { readonly name: string; readonly numbers: Float64Array | null },
  unit: number | null,
  leak: LeakRows,
): LaterTime | null {
  if (numbers === null || unit === null || unit < 0) return null;
  let equal = 0;
  let later = 0;
  let slips = 0;
  for (let row = 0; row < numbers.length; row++) {
    if (Number.isNaN(numbers[row])) continue;
    if (isSameTime(numbers[row], leak.time[row], unit)) equal++;
    else if (numbers[row] > unit * leak.time[row]) later++;
    else if (numbers[row] < unit * leak.time[row]) slips++;
  }
  if (later < MIN_LATER || slips > MAX_SLIPS * later) return null;
  // Equal by chance, as a coarse number may be, is no sign of a second outcome.
  if (equalTimes(numbers, name, unit, leak) === null) return null;
  return { name, ranks: rank(numbers), equal, later };
}

function rank(numbers: Float64Array): Float64Array {
  const known = Int32Array.from(numbers.keys()).filter((row) => !Number.isNaN(numbers[row]));
  const ranks = new Float64Array(numbers.length);
  meanRanks(numbers, known).forEach((one, i) => {
    ranks[known[i]] = one;
  });
  return ranks;
}

/** How a column of two values is related to a later time. */
interface JudgedColumn {
  readonly column: string;
  readonly time: LaterTime;
  /** The side with the shorter times, how many rows it has, and the probability that one of them is shorter. */
  readonly side: string;
  readonly rows: number;
  readonly probability: number;
}

/** The column's relation to the later times where it is strong enough; null for columns of other than two values. */
export function judgeIndicator(
  column: LeakColumn,
  times: readonly LaterTime[],
  leak: LeakRows,
): JudgedColumn | null {
  if (times.length === 0 || column.counts.rows.length !== 2) return null;
  const { codes, splits } = splitByValues(column, leak);
  if (splits.length !== 1) return null; // a column with missing values is no record of what happened
  const [split] = splits;
  let best: JudgedColumn | null = null;
  for (const time of times) {
    if (time.name === column.name) continue;
    let n = 0;
    let m = 0;
    let sum = 0;
    for (let row = 0; row < codes.length; row++) {
      if (time.ranks[row] === 0) continue;
      if (codes[row] === split.code) {
        n++;
        sum += time.ranks[row];
      } else m++;
    }
    if (n === 0 || m === 0) continue;
    const longer = (sum - (n * (n + 1)) / 2) / (n * m); // Mann-Whitney
    const probability = Math.max(longer, 1 - longer);
    if (probability < LEAST_PROBABILITY || probability <= (best?.probability ?? 0)) continue;
    const side = longer < 0.5 ? split.text : split.otherText;
    best = { column: column.name, time, side, rows: longer < 0.5 ? n : m, probability };
  }
  return best;
}

/** The finding about the column most strongly related to a later time: one for every such time. */
export function describeLaterOutcomes(judged: readonly (JudgedColumn | null)[]): Finding[] {
  const best = new Map<string, JudgedColumn>();
  for (const one of judged) {
    if (one !== null && one.probability > (best.get(one.time.name)?.probability ?? 0))
      best.set(one.time.name, one);
  }
  return [...best.values()].map(({ column, time, side, rows, probability }) => {
    const { name, equal, later } = time;
    const equals = say`${name} equals the time in ${count(equal, "row")} and is later in ${later}`;
    const shorter = say`it is shorter in the ${count(rows, "row")} ${side}`;
    return createFinding({
      code: "leak.later",
      level: "warning",
      column,
      said: say`${column} and ${name} look like a later outcome of the same people: ${equals}, and ${shorter}`,
      hint: askWhenKnown(`${column},${name}`),
      evidence: { sign: "after", timeColumn: name, side, rows, equal, later, probability },
    });
  });
}
