/**
 * A value that people get only later: by leaving follow-up for another reason (a transplantation, a withdrawal), or by
 * lasting long enough to get it (six cycles of treatment, an answered questionnaire). Almost nobody with it has the
 * event, where many would at the rate of the others. A strong honest predictor does that too, so the follow-up is
 * searched for what such a predictor cannot do: people at low risk are censored no faster than others, and no later
 * either. Where neither sign is there, only a ratio beyond that of any predictor counts. The finding is a question, not
 * an accusation: docs/decisions/005-leak-rules.md.
 */
import { log } from "../../core/elementary.ts";
import { present } from "../../core/present.ts";
import { personal, say, share, whole } from "../../core/sentence.ts";
import { createFinding, type Finding } from "../checks/findings.ts";
import { type ComparedExits, compareExits, logChanceOfSoFew, logChanceOfSoMany } from "./follow-up.ts";
import { type LeakColumn, type LeakRows, MOST, splitByValues, type ValueSplit } from "./rows.ts";

/** "Almost no events": a rate surely below this share of the others'. Strong honest values reach that too, … */
const ALMOST_NONE = 0.2;
/** … but for half of the censored, no honest value has a rate below this share. */
const BEYOND_HONEST = 1 / 30;
/** Censored this much faster than the others: the value, and not the end of the study, ended the follow-up. */
const CENSORED_FASTER = 1.1;
/** Censored at no more than this share of the others' rate, at first: nobody could leave before having the value. */
const CENSORED_LATER = 0.2;
/** Chance of one false sign in the censoring, over the sides of a column that have almost no events. */
const CENSORING_ALPHA = 5e-3;
/** Quantiles of the event times that "at first" may end at. */
const EARLY = [0.1, 0.25, 0.5];
/** Fewer events say nothing of rates. */
const MIN_EVENTS = 20;
/** A split is looked at closely where one side has at most this share of the events expected of all alike. */
const SCREEN = 0.5;

/** Which sign gave a split away. */
type Sign = "faster" | "early" | "none";

interface JudgedSplit {
  readonly split: ValueSplit;
  readonly isOther: boolean;
  readonly rows: number;
  readonly sign: Sign;
  readonly until: number | null;
  readonly compared: ComparedExits;
}

/** Everybody's hazard (Nelson-Aalen) for each row: over its whole follow-up, and up to each early time. */
export interface PooledHazards {
  /** [N,S], S = EARLY.length + 1: cumulative hazards, those of the early stretches first. */
  readonly hazards: Float64Array;
  /** [N], from which stretch on the row's event counts; S for a row that is censored. */
  readonly eventFrom: Uint8Array;
  readonly until: readonly number[]; // [S], the last one infinite
}

export function poolHazards(leak: LeakRows): PooledHazards | null {
  if (leak.events < MIN_EVENTS) return null;
  const { time, event } = leak;
  const order = leak.byTime();
  const eventOrder = leak.eventsByTime();
  const early = EARLY.map((share) => time[eventOrder[Math.floor(share * (eventOrder.length - 1))]]);
  const until = [...early, Number.POSITIVE_INFINITY];
  const N = order.length;
  const S = until.length;
  const hazards = new Float64Array(N * S);
  const eventFrom = new Uint8Array(N).fill(S);
  const reached = new Float64Array(S);
  let hazard = 0;
  for (let i = 0; i < N; ) {
    const from = i;
    const now = time[order[i]];
    let events = 0;
    for (; i < N && time[order[i]] === now; i++) events += event[order[i]];
    hazard += events / (N - from);
    const first = until.findIndex((end) => now <= end);
    reached.fill(hazard, first);
    for (let j = from; j < i; j++) {
      hazards.set(reached, order[j] * S);
      if (event[order[j]] === 1) eventFrom[order[j]] = first;
    }
  }
  return { hazards, eventFrom, until };
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
  const logAlpha = leak.logAlpha - log(2 * splits.length * (EARLY.length + 2));
  const suspects = screenSplits(codes, splits, hazards, logAlpha);
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

/** Sides with few events for their follow-up, by everybody's hazard: one pass over the rows for all values. */
function screenSplits(
  codes: Int8Array,
  splits: readonly ValueSplit[],
  { hazards, eventFrom, until }: PooledHazards,
  logAlpha: number,
): Suspect[] {
  const S = until.length;
  // For every value, and last for all other rows: expected and observed events, stretch by stretch.
  const K = Math.max(...splits.map(({ code }) => code)) + 1;
  const expected = new Float64Array((K + 1) * S);
  const events = new Float64Array((K + 1) * S);
  for (let row = 0; row < codes.length; row++) {
    const at = (codes[row] < 0 ? K : codes[row]) * S;
    for (let stretch = 0; stretch < S; stretch++) expected[at + stretch] += hazards[row * S + stretch];
    for (let stretch = eventFrom[row]; stretch < S; stretch++) events[at + stretch]++;
  }
  /** Whether the first side may have almost no events, as far as everybody's hazard can tell. */
  const isFew = (own: number, ownExpected: number, others: number, othersExpected: number) =>
    own <= SCREEN * ownExpected && ALMOST_NONE * ownExpected * (others / othersExpected) > -SCREEN * logAlpha;
  const suspects: Suspect[] = [];
  const sums = [0, 0];
  for (const split of splits) {
    const few = [false, false];
    for (let stretch = 0; stretch < S; stretch++) {
      sums.fill(0);
      for (let k = 0; k <= K; k++) {
        sums[0] += expected[k * S + stretch];
        sums[1] += events[k * S + stretch];
      }
      const ownExpected = expected[split.code * S + stretch];
      const own = events[split.code * S + stretch];
      few[0] ||= isFew(own, ownExpected, sums[1] - own, sums[0] - ownExpected);
      few[1] ||= isFew(sums[1] - own, sums[0] - ownExpected, own, ownExpected);
    }
    if (few[0]) suspects.push({ split, isOther: false });
    if (few[1]) suspects.push({ split, isOther: true });
  }
  return suspects;
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
  const stretches = compareExits(isSide, rows, leak, until);
  const compared = stretches[EARLY.length];
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
  for (let k = 0; k < EARLY.length; k++) {
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
  // The time is that of one person's event.
  const when = until === null ? "" : personal(` up to time ${until}`, " early on");
  const few =
    observed === 0
      ? whole("none of the", rows, "row")
      : share(observed, rows, { before: "the", noun: "row" });
  const many = `${Math.round(expected)} would have at the rate of the others`;
  const why = {
    faster: ", and they were censored faster than the others",
    early: ", and hardly any was censored before that either",
    none: "",
  }[sign];
  return createFinding({
    code: "leak.later",
    level: "warning",
    column: name,
    said: say`${name}: ${few} ${side} had the event${when}, where ${many}${why}`,
    hint: askWhenKnown(name),
    evidence: {
      sign,
      side,
      rows,
      events: observed,
      expected,
      ...present({ until: until ?? undefined }),
    },
  });
}

/** The question every such finding ends with, and what to do after the answer. */
export function askWhenKnown(name: string): string {
  return `Was this known at the start? If not, --drop ${name}`;
}
