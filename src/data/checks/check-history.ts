/**
 * What the gate says of outcomes beyond right censoring: rows that enter after they leave, rows of one person that
 * overlap, leave a gap or follow an event, weights that are none, and late entry that leaves hardly anyone at risk when
 * the first events happen. Each is a problem with its rows; only what makes the statistics wrong is an error.
 */
import { square } from "../../core/elementary.ts";
import { count, named, say, verb } from "../../core/sentence.ts";
import { isEmptyInterval, orderIntervals } from "../outcomes/intervals.ts";
import type { Outcomes } from "../outcomes/outcomes.ts";
import { tallyRisk, WEIGHT_RANGE } from "../outcomes/rows-by-time.ts";
import type { Column } from "../table.ts";
import { type Problem, problem } from "./findings.ts";

/** Below this many at risk a curve jumps by a tenth at every event. */
const FEW_AT_RISK = 10;

/** Rows that are at risk at no time: they enter when or after they leave. */
export function checkEntryOrder(column: Column, { entry, time }: Outcomes): Problem[] {
  if (entry === undefined) return [];
  const rows: number[] = [];
  for (let row = 0; row < time.length; row++) if (isEmptyInterval(entry[row], time[row])) rows.push(row + 1);
  if (rows.length === 0) return [];
  const said = say`${column.name} is not before the time in ${named(rows)}: such a row is never at risk`;
  const hint = "correct or remove these rows; a row is at risk after its entry, up to and including its time";
  return [problem("entry.order", "error", column, said, {}, rows, hint)];
}

/** Overlaps, gaps and events among the rows of one person that cover time one after the other. */
export function checkPersonIntervals(column: Column, outcomes: Outcomes): Problem[] {
  const { entry, time, event, id } = outcomes;
  if (entry === undefined || id === undefined) return [];
  const order = orderIntervals(outcomes);
  const overlapping: number[] = [];
  const afterGap: number[] = [];
  const afterEvent: number[] = [];
  for (let k = 1; k < order.length; k++) {
    const [before, row] = [order[k - 1], order[k]];
    if (id[before] !== id[row]) continue;
    if (entry[row] < time[before]) overlapping.push(row + 1);
    else if (entry[row] > time[before]) afterGap.push(row + 1);
    if (event[before] === 1) afterEvent.push(row + 1);
  }
  const problems: Problem[] = [];
  if (overlapping.length > 0) {
    const rows = overlapping.sort((a, b) => a - b);
    const begins = verb(rows.length, "begins", "begin");
    const said = say`rows of one person overlap: ${named(rows)} ${begins} before the row before ends`;
    const hint = "each moment of a person belongs to one row: correct the starts and stops of these people";
    problems.push(problem("interval.overlap", "error", column, said, {}, rows, hint));
  }
  if (afterGap.length > 0) {
    const rows = afterGap.sort((a, b) => a - b);
    const begins = [count(rows.length, "row"), " ", verb(rows.length, "begins", "begin")];
    const said = say`${begins} later than the person's row before ends: nobody is at risk in the gap`;
    problems.push(problem("interval.gap", "warning", column, said, {}, rows));
  }
  if (afterEvent.length > 0) {
    const rows = afterEvent.sort((a, b) => a - b);
    const follow = [count(rows.length, "row"), " ", verb(rows.length, "follows", "follow")];
    const counted =
      "events are read as recurrent, each counted. If the event can happen once only, these rows are wrong";
    const said = say`${follow} an event of the same person: ${counted}`;
    problems.push(problem("event.recurrent", "warning", column, said, {}, rows));
  }
  return problems;
}

/** Late entries that are, by all appearances, rows of one person that start and stop. */
export function checkFollowingRows(column: Column, outcomes: Outcomes): Problem[] {
  const { entry, time, event, id } = outcomes;
  if (entry === undefined || id === undefined) return [];
  const order = orderIntervals(outcomes);
  const rows: number[] = [];
  for (let k = 1; k < order.length; k++) {
    const [before, row] = [order[k - 1], order[k]];
    if (id[before] === id[row] && entry[row] === time[before] && event[before] === 0) rows.push(row + 1);
  }
  if (rows.length === 0) return [];
  rows.sort((a, b) => a - b);
  const begins = [count(rows.length, "row"), " ", verb(rows.length, "begins", "begin")];
  const so = "If they are one path, --start in place of --entry takes it as one";
  const said = say`${begins} as another row of the same person ends. ${so}`;
  return [problem("interval.follows", "warning", column, said, {}, rows)];
}

/** Weights of many rows that count as fewer people than this make a curve of a handful. */
const FEW_PEOPLE = 10;

/** Weights that are missing, negative, infinite or out of scale, a table in which nobody has one, or hardly anyone. */
export function checkWeightColumn(column: Column, weight: Float64Array): Problem[] {
  const wrong: number[] = [];
  let positive = 0;
  let largest = 0;
  for (let row = 0; row < weight.length; row++) {
    if (!(weight[row] >= 0 && weight[row] < Number.POSITIVE_INFINITY)) wrong.push(row + 1);
    else if (weight[row] > 0) positive++;
    if (weight[row] > largest) largest = weight[row];
  }
  if (wrong.length > 0) {
    const said = say`a weight is missing or not a number from 0 up in ${named(wrong)}`;
    const hint = "give every row the number of people it stands for; 0 leaves it out";
    return [problem("weights.values", "error", column, said, {}, wrong, hint)];
  }
  if (weight.length === 0) return [];
  const refuse = (said: string, hint: string) => [
    problem("weights.values", "error", column, said, {}, [], hint),
  ];
  if (positive === 0)
    return refuse(
      `every weight of ${column.name} is 0`,
      "name the column that says how many people a row stands for",
    );
  const { least, most } = WEIGHT_RANGE;
  if (largest < least || largest > most)
    return refuse(
      `the largest weight of ${column.name} is ${largest}: it is no number of people`,
      `scale the weights so that the largest is between ${least} and ${most}`,
    );
  return checkWeightShares(column, weight, { positive, largest });
}

/** Kish's number of people that weigh alike and say as much, (Σ w)² / Σ w², where it is small. */
function checkWeightShares(
  column: Column,
  weight: Float64Array,
  { positive, largest }: { readonly positive: number; readonly largest: number },
): Problem[] {
  let sum = 0;
  let squares = 0;
  for (const one of weight) {
    sum += one / largest;
    squares += square(one / largest);
  }
  const effective = square(sum) / squares;
  if (effective >= FEW_PEOPLE || positive < 2 * FEW_PEOPLE) return [];
  const alike = `${effective.toFixed(1)} rows of one weight`;
  const said = say`weights of ${column.name} are so uneven that ${count(positive, "row")} say as much as ${alike}`;
  return [problem("weights.values", "warning", column, said, { effective })];
}

/** Events that happen while late entry has left fewer than ten at risk, before more have come. */
export function checkEarlyRisk(column: Column, outcomes: Outcomes): Problem[] {
  const { entry, time, event } = outcomes;
  if (entry === undefined || entry.every((start) => start === 0)) return [];
  const { atRisk, events, time: times } = tallyRisk({ time, event, entry });
  const enough = atRisk.findIndex((n) => n >= FEW_AT_RISK);
  const until = enough < 0 ? times.length : enough;
  let early = 0;
  let fewest = Number.POSITIVE_INFINITY;
  for (let k = 0; k < until; k++) {
    early += events[k];
    if (events[k] > 0) fewest = Math.min(fewest, atRisk[k]);
  }
  if (early === 0) return [];
  const until10 = enough < 0 ? "" : ` (until ${times[enough]})`;
  const where = say`at the first ${count(early, "event")}${until10}, once only ${count(fewest, "row")}`;
  const so =
    "The curve falls by large steps there and stays low: " +
    "judge it from the time at which enough people are under observation";
  const said = say`late entry leaves fewer than ${FEW_AT_RISK} rows at risk ${where}. ${so}`;
  return [problem("entry.risk", "warning", column, said, { events: early, fewest })];
}
