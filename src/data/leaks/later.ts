/**
 * A value that people get only later: by leaving follow-up for another reason (a transplantation, a withdrawal), or by
 * lasting long enough to get it (six cycles of treatment, an answered questionnaire). Almost nobody with it has the event,
 * where many would at the rate of the others. A strong honest predictor does that too, so the follow-up is asked for what
 * it cannot do: those at low risk are censored no faster than others, and no later either. Where neither tells, only
 * a ratio beyond any predictor's counts. The finding is a question, not an accusation: docs/decisions/005-leak-rules.md.
 */
import { log } from "../../core/elementary.ts";
import type { Finding } from "../findings.ts";
import { countOf } from "../findings.ts";
import { type ComparedExits, compareExits, logChanceOfSoFew, logChanceOfSoMany } from "./exits.ts";
import type { LeakColumn, LeakRows } from "./rows.ts";
import { splitByValues, type ValueSplit } from "./splits.ts";

/** "Almost no events": a rate surely below this share of the others', as strong honest values have it too … */
const ALMOST_NONE = 0.2;
/** … and below this one, for half of the censored, none has. */
const BEYOND_HONEST = 1 / 30;
/** Censored so much faster than the others: the value, and not the end of the study, ended the follow-up. */
const CENSORED_FASTER = 1.1;
/** Censored at no more than this share of the others' rate, at first: nobody could leave before having the value. */
const CENSORED_LATER = 0.2;
/** Chance of one false sign in the censoring, over the sides of a column that have almost no events. */
const CENSORING_ALPHA = 5e-3;
/** Half of the censored rows (less the luck of the draw), where the ratio alone speaks. */
const MOST = 0.45;
/** Quantiles of the event times that "at first" may end at. */
const EARLY = [0.1, 0.25, 0.5];
/** Fewer events say nothing of rates. */
const MIN_EVENTS = 20;
/** A split is looked at closely where one side has at most this share of the events expected of all alike. */
const SCREEN = 0.5;

/** What of a split gave it away. */
type Sign = "faster" | "early" | "none";

interface JudgedSplit {
  readonly split: ValueSplit;
  readonly isOther: boolean;
  readonly rows: number;
  readonly sign: Sign;
  readonly until: number | null;
  readonly compared: ComparedExits;
}

/** The cumulative hazard of everybody at each row's own time, and up to each early time: Nelson-Aalen. */
export interface PooledHazards {
  readonly whole: Float64Array; // [N]
  readonly early: readonly Float64Array[]; // [EARLY][N]
  readonly until: readonly number[]; // [EARLY]
}

export function poolHazards(leak: LeakRows): PooledHazards | null {
  if (leak.events < MIN_EVENTS) return null;
  const { time, event } = leak;
  const order = leak.byTime();
  const eventOrder = leak.eventsByTime();
  const until = EARLY.map((share) => time[eventOrder[Math.floor(share * (eventOrder.length - 1))]]);
  const N = order.length;
  const whole = new Float64Array(N);
  const early = until.map(() => new Float64Array(N));
  const reached = until.map(() => 0);
  let hazard = 0;
  for (let i = 0; i < N; ) {
    const from = i;
    const now = time[order[i]];
    let events = 0;
    for (; i < N && time[order[i]] === now; i++) events += event[order[i]];
    hazard += events / (N - from);
    until.forEach((end, k) => {
      if (now <= end) reached[k] = hazard;
    });
    for (let j = from; j < i; j++) {
      const row = order[j];
      whole[row] = hazard;
      early.forEach((hazards, k) => {
        hazards[row] = reached[k];
      });
    }
  }
  return { whole, early, until };
}

/** The value of a column that is most likely known only later, or null. */
export function findLaterValue(
  column: LeakColumn,
  leak: LeakRows,
  hazards: PooledHazards | null,
): Finding | null {
  if (hazards === null) return null;
  const { codes, splits } = splitByValues(column, leak);
  if (splits.length === 0) return null;
  const suspects = screenSplits(codes, splits, leak, hazards);
  const logAlpha = leak.logAlpha - log(2 * splits.length * (EARLY.length + 2));
  const censored = log(CENSORING_ALPHA / Math.max(1, suspects.length * (EARLY.length + 1)));
  const judged = suspects
    .map((suspect) => judgeSplit(suspect, codes, leak, hazards, { events: logAlpha, censored }))
    .filter((one) => one !== null)
    .sort((a, b) => b.compared.expectedPeople - a.compared.expectedPeople);
  return judged.length > 0 ? describe(column.name, judged[0]) : null;
}

interface Suspect {
  readonly split: ValueSplit;
  /** Whether the side with few events is not the value but all others. */
  readonly isOther: boolean;
}

/** Sides with few events for their follow-up, at everybody's hazard: one pass over the rows for all values. */
function screenSplits(
  codes: Int8Array,
  splits: readonly ValueSplit[],
  leak: LeakRows,
  { whole, early, until }: PooledHazards,
): Suspect[] {
  const all = [whole, ...early];
  const ends = [Number.POSITIVE_INFINITY, ...until];
  const K = Math.max(...splits.map(({ code }) => code)) + 1;
  const { time, event } = leak;
  const isSuspect = new Map<string, Suspect>();
  all.forEach((hazards, stretch) => {
    const expected = new Float64Array(K);
    const events = new Float64Array(K);
    let total = 0;
    let totalEvents = 0;
    for (let row = 0; row < codes.length; row++) {
      const isEvent = event[row] === 1 && time[row] <= ends[stretch] ? 1 : 0;
      total += hazards[row];
      totalEvents += isEvent;
      if (codes[row] < 0) continue;
      expected[codes[row]] += hazards[row];
      events[codes[row]] += isEvent;
    }
    for (const split of splits) {
      const own = { events: events[split.code], expected: expected[split.code] };
      if (own.events <= SCREEN * own.expected) {
        isSuspect.set(`${split.code}`, { split, isOther: false });
      } else if (totalEvents - own.events <= SCREEN * (total - own.expected)) {
        isSuspect.set(`not ${split.code}`, { split, isOther: true });
      }
    }
  });
  return [...isSuspect.values()];
}

function judgeSplit(
  { split, isOther }: Suspect,
  codes: Int8Array,
  leak: LeakRows,
  { until }: PooledHazards,
  logAlpha: { readonly events: number; readonly censored: number },
): JudgedSplit | null {
  const N = leak.rows.length;
  const rows = isOther ? N - split.rows : split.rows;
  const events = isOther ? leak.events - split.events : split.events;
  const isSide = (row: number) => (codes[row] === split.code) !== isOther;
  const stretches = compareExits(isSide, rows, leak, [...until, Number.POSITIVE_INFINITY]);
  const compared = stretches[until.length];
  const isRare = ({ events: exits }: ComparedExits, ratio: number) =>
    exits.others >= MIN_EVENTS && logChanceOfSoFew(exits, ratio) < logAlpha.events;
  const judged = { split, isOther, rows, compared };
  if (isRare(compared, ALMOST_NONE)) {
    if (logChanceOfSoMany(compared.censored, CENSORED_FASTER) < logAlpha.censored) {
      return { ...judged, sign: "faster", until: null };
    }
    const censored = rows - events;
    if (isRare(compared, BEYOND_HONEST) && censored >= MOST * (N - leak.events)) {
      return { ...judged, sign: "none", until: null };
    }
  }
  for (let k = 0; k < until.length; k++) {
    const early = stretches[k];
    if (!isRare(early, ALMOST_NONE)) continue;
    if (logChanceOfSoFew(early.censored, CENSORED_LATER) >= logAlpha.censored) continue;
    return { ...judged, sign: "early", until: until[k], compared: early };
  }
  return null;
}

function describe(name: string, { split, isOther, rows, sign, until, compared }: JudgedSplit): Finding {
  const { observed } = compared.events;
  const expected = compared.expectedPeople;
  const side = isOther ? split.otherText : split.text;
  const when = until === null ? "" : ` up to time ${until}`;
  const few = `${observed === 0 ? "none" : observed} of the ${countOf(rows, "row")} ${side} had the event${when}`;
  const many = `${Math.round(expected)} would have at the rate of the others`;
  const why = {
    faster: ", and they were censored faster than the others",
    early: ", and hardly any was censored before that either",
    none: "",
  }[sign];
  const message = `${name}: ${few}, where ${many}${why}. ${askWhenKnown(name)}`;
  const evidence = { sign, side, rows, events: observed, expected, ...(until === null ? {} : { until }) };
  return { code: "leak.later", level: "warning", column: name, message, evidence };
}

/** The question every such finding ends with, and what to do after the answer. */
export function askWhenKnown(name: string): string {
  return `Was this known at the start? If not, --drop ${name}`;
}
