/**
 * Does a column say whether the event happened? Every cut of its rows in two (cuts.ts) is a 2×2 table. It raises an
 * alarm only when no column known at the start could have made it: both sides are pure; or one side is pure, most of a
 * class is on it, and the follow-up contradicts any strong but honest predictor (follow-up.ts); or both sides are so
 * nearly pure that it would take a hazard ratio nobody has seen. docs/decisions/005-leak-rules.md has the reasoning.
 * Combinations of columns are not searched.
 */
import { logChiSquareUpperTail } from "../../core/distributions.ts";
import { log } from "../../core/elementary.ts";
import { count, type Part, percent, say, share, whole } from "../../core/sentence.ts";
import { createFinding, type Finding } from "../checks/findings.ts";
import type { Cut, Side } from "./cuts.ts";
import { cutRows } from "./cuts.ts";
import { logChanceOfAllEvents, logChanceOfNoEvent } from "./follow-up.ts";
import { type LeakColumn, type LeakRows, logChoose, MOST, SOME } from "./rows.ts";

/**
 * Agreement with the rarer class (rows in it and on its side, over rows in either) that no honest column reaches: at
 * one event per two rows it takes a hazard ratio above 100 per standard deviation.
 */
const NEAR_AGREEMENT = 0.85;
/** Sensitivity + specificity − 1 that no honest column reaches: with rare events, a hazard ratio of 50 per sd. */
const NEAR_YOUDEN = 0.95;
/**
 * Rows of the rarer class that a cut must have got right before it counts. A threshold is chosen after looking: at a
 * hazard ratio of 10 per sd it separates 5 events of 100 rows perfectly once in 90 tables, 10 events once in 2000.
 */
const MIN_MINORITY_THRESHOLD = 10;
const MIN_MINORITY_NEAR = 10;
const MIN_MINORITY_NEAR_THRESHOLD = 20;

interface Judged {
  readonly cut: Cut;
  readonly verdict: "determines" | "partly" | "near";
  readonly level: "error" | "warning";
  readonly agreement: number;
}

/** The most serious thing the column says about the event, or null. */
export function findEventLeak(column: LeakColumn, leak: LeakRows): Finding | null {
  if (leak.events === 0 || leak.events === leak.rows.length || column.counts.known === 0) return null;
  let worst: Judged | null = null;
  for (const cut of cutRows(column, leak)) {
    const judged = judgeCut(cut, leak);
    if (judged && (worst === null || seriousness(judged) > seriousness(worst))) worst = judged;
  }
  return worst ? describe(column.name, worst, leak) : null;
}

function seriousness(judged: Judged): number {
  return (judged.level === "error" ? 4 : 0) + (judged.verdict === "determines" ? 2 : 0) + judged.agreement;
}

function judgeCut(cut: Cut, leak: LeakRows): Judged | null {
  const { eventSide, otherSide } = cut;
  if (eventSide.rows === 0 || otherSide.rows === 0) return null;
  const hits = eventSide.events;
  const falseHits = eventSide.rows - hits;
  const missed = otherSide.events;
  const quiet = otherSide.rows - missed;
  const events = hits + missed;
  const censored = quiet + falseHits;
  if (events === 0 || censored === 0) return null;
  const wrong = falseHits + missed;
  const minority = Math.min(events, censored);
  const agreement = events <= censored ? hits / (hits + wrong) : quiet / (quiet + wrong);
  // Share of the rarer class, among all usable rows, that the cut covers at all.
  const allCensored = leak.rows.length - leak.events;
  const covered = leak.events <= allCensored ? events / leak.events : censored / allCensored;

  if (wrong === 0) {
    if (cut.logSearched - logChoose(events + censored, events) > leak.logAlpha || covered < SOME) return null;
    if (cut.kind === "threshold" && minority < MIN_MINORITY_THRESHOLD) return null;
    return { cut, verdict: "determines", level: covered >= MOST ? "error" : "warning", agreement };
  }
  // One pure side says nothing for a threshold (honest columns have pure tails) or a vote (small values are pure).
  if (cut.kind === "missing" || cut.kind === "values") {
    const partly = { cut, verdict: "partly", agreement } as const;
    const excludes = (logChance: number) => logChance + cut.logSearched < leak.logAlpha;
    if (falseHits === 0 && hits >= SOME * events && excludes(logChanceOfAllEvents(cut.sideOf, leak))) {
      return { ...partly, level: hits >= MOST * events ? "error" : "warning" };
    }
    // A value known for half of the events, where these are rarer, and for nobody else deserves a look, even where all
    // of them may have died early.
    const logChance = logChoose(leak.events, hits) - logChoose(leak.rows.length, hits);
    const isRareAndKnown = cut.kind === "missing" && falseHits === 0 && leak.events <= allCensored;
    if (isRareAndKnown && hits >= MOST * events && logChance < leak.logAlpha)
      return { ...partly, level: "warning" };
    // Honest columns that say who could have the event at all may also show no event among half of the censored.
    if (missed === 0 && quiet >= MOST * censored && excludes(logChanceOfNoEvent(cut.sideOf, leak))) {
      return { ...partly, level: agreement >= MOST ? "error" : "warning" };
    }
  }
  const youden = hits / events + quiet / censored - 1;
  if (agreement < NEAR_AGREEMENT && youden < NEAR_YOUDEN) return null;
  const enough = cut.kind === "threshold" ? MIN_MINORITY_NEAR_THRESHOLD : MIN_MINORITY_NEAR;
  if (minority < enough || covered < MOST || logChanceOfCut(cut) + cut.logSearched > leak.logAlpha)
    return null;
  return { cut, verdict: "near", level: "warning", agreement };
}

/** Likelihood-ratio test that both sides have one event rate: log of its p-value, chi-square with 1 df. */
function logChanceOfCut({ eventSide, otherSide }: Cut): number {
  const term = (count: number, expected: number) => (count > 0 ? count * log(count / expected) : 0);
  const rate = (eventSide.events + otherSide.events) / (eventSide.rows + otherSide.rows);
  let statistic = 0;
  for (const side of [eventSide, otherSide]) {
    statistic += 2 * term(side.events, side.rows * rate);
    statistic += 2 * term(side.rows - side.events, side.rows * (1 - rate));
  }
  return logChiSquareUpperTail(statistic, 1);
}

function describe(name: string, judged: Judged, leak: LeakRows): Finding {
  const { eventSide, otherSide, kind } = judged.cut;
  const { verdict, level, agreement } = judged;
  return createFinding({
    code: verdict === "near" ? "leak.near" : "leak.event",
    level,
    column: name,
    said: sayCut(name, judged, leak),
    evidence: {
      cut: kind,
      eventSideRows: eventSide.rows,
      eventSideEvents: eventSide.events,
      otherSideRows: otherSide.rows,
      otherSideEvents: otherSide.events,
      agreement,
    },
  });
}

function sayCut(name: string, { cut, verdict }: Judged, leak: LeakRows): readonly Part[] {
  const { eventSide, otherSide } = cut;
  const allOf = (side: Side) => say`${whole("all", side.rows, "row")} ${side.text} had it`;
  const noneOf = (side: Side) => say`${whole("none of the", side.rows, "row")} ${side.text}`;
  const ofOther = ({ events, rows }: Side) => share(events, rows, { before: "the other" });
  if (verdict === "determines") {
    const left = leak.rows.length - eventSide.rows - otherSide.rows;
    const known = left > 0 ? say` where it is known (not in ${count(left, "row")})` : [];
    return say`${name} determines the event${known}: ${allOf(eventSide)}, ${noneOf(otherSide)}`;
  }
  if (verdict === "near") {
    const most = share(eventSide.events, eventSide.rows, { before: "the", noun: "row" });
    return say`${name} all but determines the event: ${most} ${eventSide.text} had it, ${ofOther(otherSide)}`;
  }
  const partly = `${name} partly determines the event`;
  if (eventSide.events === eventSide.rows) {
    const ofAll = percent(eventSide.events, leak.events, "all events");
    return say`${partly}: ${allOf(eventSide)}${ofAll}, ${ofOther(otherSide)}`;
  }
  return say`${partly}: ${noneOf(otherSide)} had it, ${ofOther(eventSide)} did`;
}
