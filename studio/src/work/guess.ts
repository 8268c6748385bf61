/**
 * Which column is likely the time and which the event, from names and values, with the reason in words. A guess only
 * fills in two fields that the person sees and can change; nothing is fitted by it.
 */
import type { Table } from "graduate-survival";
import type { ColumnView, TableView } from "../protocol.ts";
import { UNIT_OF_DATES, unitOfName } from "../unit.ts";
import { guessDates, guessOrigin } from "./guess-dates.ts";

const EVENT_NAME =
  /^(event|outcome|status|death|dead|died|cens(or|ored)?|fustat|rel(apse)?|fail(ure)?|churn(ed)?|default(ed)?)$/i;
const EVENT_PART = /(event|status|death|dead|died|relaps|censor|recur|failure|churn)/i;
const TIME_NAME = /^(time|t|futime|survtime|rfstime|duration|tenure|os|pfs|dfs|efs|days|months|years)$/i;
const TIME_PART = /(time|follow|surviv|duration|days|months|tenure|_t$)/i;
/** Rows one after the other, as R names them. */
const STOP_NAME = /^t?[._]?stop$/i;
const START_NAME = /^t?[._]?start$/i;
/** Words that a value of an event column may be, besides numbers. */
const EVENT_VALUES = /^(0|1|2|true|false|yes|no|y|n|dead|alive|died|deceased|death|event|censor(ed)?)$/i;
/** A time has more different values than a code. */
const LEAST_TIMES = 8;

interface Scored {
  readonly name: string;
  readonly score: number;
  readonly why: string;
}

export function guessOutcome(columns: readonly ColumnView[], table: Table): Pick<TableView, "guess" | "why"> {
  const event = best(columns.map(scoreEvent));
  const time = best(columns.filter(({ name }) => name !== event?.name).map((one) => scoreTime(one, event)));
  const dates = time === null ? guessDates(table) : null;
  const name = time?.name ?? dates?.time ?? "";
  const isDate = columns.some((one) => one.name === name && one.type === "date");
  const origin = isDate ? (dates?.origin ?? guessOrigin(table, name) ?? "") : "";
  const start = STOP_NAME.test(name) ? (columns.find((one) => START_NAME.test(one.name))?.name ?? "") : "";
  const since = `“${dates?.time}” is never before “${dates?.origin}”, from which days are counted`;
  return {
    guess: {
      ...{ time: name, event: event?.name ?? "", eventIs: "", origin, start },
      unit: isDate ? UNIT_OF_DATES : unitOfName(name),
    },
    why: {
      time:
        time?.why ??
        (dates === null ? "no column looks like a time: choose the one that counts from the start" : since),
      event: event?.why ?? "no column looks like an event: choose the one that says whether it happened",
    },
  };
}

function best(scored: readonly Scored[]): Scored | null {
  const found = scored.filter(({ score }) => score > 0).sort((a, b) => b.score - a.score);
  return found[0] ?? null;
}

function scoreEvent({ name, values, distinct }: ColumnView): Scored {
  const isPair = distinct === 2 && values.every((value) => EVENT_VALUES.test(value.trim()));
  const isCoded = distinct >= 2 && distinct <= 6 && values.length > 0;
  const named = EVENT_NAME.test(name) ? 3 : EVENT_PART.test(name) ? 2 : 0;
  if (isPair && named > 0) return { name, score: 4 + named, why: `“${name}” is ${values.join(" or ")}` };
  if (isCoded && named > 0) return { name, score: 1 + named, why: `the name speaks of an event` };
  const isOne = distinct === 1 && named > 0 && EVENT_VALUES.test((values[0] ?? "").trim());
  if (isOne)
    return { name, score: 1, why: `the name speaks of an event, and it is ${values[0]} in every row` };
  return { name, score: 0, why: "" };
}

function scoreTime({ name, type, distinct, words }: ColumnView, event: Scored | null): Scored {
  const isTime = (type === "number" && !words.startsWith("-")) || type === "date";
  if (!isTime || distinct < LEAST_TIMES) return { name, score: 0, why: "" };
  const named = TIME_NAME.test(name) ? 4 : TIME_PART.test(name) ? 3 : 0;
  if (type === "number" && STOP_NAME.test(name))
    return { name, score: 4, why: `“${name}” is the end of each row` };
  if (named > 0)
    return { name, score: named, why: `“${name}” is never negative, and its name speaks of time` };
  const eventName = event?.name.toLowerCase() ?? "";
  const isAbout = eventName.length >= 3 && name.toLowerCase().includes(eventName);
  if (isAbout) return { name, score: 2, why: `“${name}” is a number named after “${event?.name}”` };
  return { name, score: 0, why: "" };
}
