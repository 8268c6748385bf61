/**
 * What the report says about each group: the audit's agreement (stats/calibration/agreement.ts), the direction of the
 * gap, the bound, and how it looks. Green is for a group whose bound is below what the reader calls acceptable, never
 * for a test that merely did not reject; a group where no disagreement is shown but much could be wrong is neutral.
 * And how numbers and verdicts are put into words and small marks, the same in every section: four decimals for
 * errors, two or three digits for p, points (hundredths) for gaps in survival, and an icon with a word wherever a
 * colour carries meaning.
 */

import {
  type GroupAgreement,
  type Judged,
  judgeAgreement,
  SINGLE_LEVEL,
} from "../../stats/calibration/agreement.ts";
import { binomialRange, type CountRange } from "../../stats/comparison.ts";
import { MINIMUM_EVENTS } from "../../stats/kaplan-meier.ts";
import { DEFAULT_LEVEL } from "../../stats/scores/bootstrap.ts";
import { ENTERED_LATE, WEIGHED } from "../../stats/scores/history-scores.ts";
import type { Departure } from "../../stats/calibration/draw-noise.ts";
import type { Scores } from "../../stats/scores/scores.ts";
import type { AuditedScores } from "../../verbs/audit.ts";
import type { GroupCurve, ReportData, ReportGroup } from "../data/report-data.ts";
import type { Cells } from "../data/small-cells.ts";
import { type Html, html, trustMarkup } from "../page/html.ts";
import { momentOf } from "./report-time.ts";
import { formatNumber, formatP } from "./text-table.ts";

/**
 * Disagrees; no disagreement and a bound within the tolerance; no disagreement and a bound beyond it; too little
 * data.
 */
export type VerdictLook = "off" | "within" | "open" | "few";
/** Predicted survival too high, too low, or right on average and wrong in shape. */
export type GapDirection = "high" | "low" | "shape";

export interface ReportVerdict extends GroupAgreement {
  readonly look: VerdictLook;
  /** The direction of the gap, whatever the verdict; null where there is no gap to measure. */
  readonly direction: GapDirection | null;
  /** How far off the group could be on average over time, in survival; null where no bound is given. */
  readonly bound: number | null;
  /** Why there is no bound. */
  readonly boundAbsent: string | null;
  /** When the observed is outside what chance explains at single times, and how far off it is. */
  readonly when: DepartureWhen | null;
}

/** The words, and the counts of events they hold, which a page may have to hide. */
export interface DepartureWhen {
  readonly words: string;
  readonly events: number | null;
  /** Whether it is a stretch of time outside pointwise 95 % limits. */
  readonly isSpan: boolean;
}

/** How bins are told as times. */
export interface ToldTime {
  readonly edges: ArrayLike<number>; // [T+1]
  readonly label: string;
}

export interface RejectionCount {
  /** Groups judged, not counting everyone together. */
  readonly tests: number;
  /** Those of them with an unadjusted p of at most SINGLE_LEVEL. */
  readonly rejected: number;
  /** How many rejections chance alone gives a perfect model, in 95 % of audits, if the groups were disjoint. */
  readonly range: CountRange;
}

/** What counts as acceptable unless the reader says otherwise: five points of survival. */
export const DEFAULT_TOLERANCE = 0.05;
/** If the mean gap is below this share of the mean absolute gap, its signs cancel. */
const CANCELLING_SHARE = 0.5;

/** The scores that a verdict needs. */
export type JudgedScores = Scores & Pick<AuditedScores, "bound">;

export interface JudgedGroup {
  readonly scores: JudgedScores;
  readonly gap: { readonly mean: number; readonly meanAbsolute: number } | null;
}

function directionOf(gap: JudgedGroup["gap"]): GapDirection | null {
  if (gap === null) return null;
  if (Math.abs(gap.mean) < CANCELLING_SHARE * gap.meanAbsolute) return "shape";
  return gap.mean > 0 ? "high" : "low";
}

/**
 * "from 12 years on, 10.6 points too high": the stretch in which the predicted curve is outside what chance explains
 * at single times, or else its largest gap. Up to `last` the group is followed.
 */
export function sayWhen(departure: Departure | null, last: number, time: ToldTime): DepartureWhen | null {
  if (departure === null) return null;
  const { span, gap, eventsBy } = departure;
  const at = momentIn(time);
  if (eventsBy !== undefined) {
    const { bin, observed, expected } = eventsBy;
    const words = `by ${at(bin)}, ${formatEvents(observed)} events against ${expected.toFixed(1)} expected`;
    return { words, events: observed, isSpan: span !== undefined };
  }
  if (gap === undefined) return null;
  if (span === undefined)
    return { words: `at most ${sizeOf(gap.value)} (${at(gap.bin)})`, events: null, isSpan: false };
  return { words: sayStretch({ ...span, gap: gap.value }, last, time), events: null, isSpan: true };
}

const momentIn = (time: ToldTime) => (bin: number) => momentOf(time.edges[bin], time.label);
const sizeOf = (gap: number) => `${pointsOf(gap)} too ${gap > 0 ? "high" : "low"}`;

/** "from 12 years on, up to 10.6 points too high". */
function sayStretch(
  { fromBin, toBin, gap }: { readonly fromBin: number; readonly toBin: number; readonly gap: number },
  last: number,
  time: ToldTime,
): string {
  const at = momentIn(time);
  const isToEnd = toBin >= last;
  if (fromBin === toBin && !isToEnd) return `at ${at(fromBin)}, ${sizeOf(gap)}`;
  const stretch = !isToEnd
    ? `from ${at(fromBin)} to ${at(toBin)}`
    : fromBin === 1
      ? "throughout"
      : `from ${at(fromBin)} on`;
  return `${stretch}, up to ${sizeOf(gap)}`;
}

/** A curve and the pointwise limits it is drawn with, t = 0…T. */
export interface BandedCurve {
  readonly predicted: ArrayLike<number> | null;
  readonly observed: ArrayLike<number>;
  readonly lower: ArrayLike<number | null>;
  readonly upper: ArrayLike<number | null>;
}

/**
 * Where a picture shows the predicted curve outside the pointwise limits of the observed one, of a group that is said
 * to show no disagreement: the stretch with the largest gap, and how often chance alone departs as much. Null where
 * the curve stays inside, or the verdict says the same.
 */
export function sayOutside(
  { agreement }: GroupAgreement,
  { predicted, observed, lower, upper }: BandedCurve,
  departure: Departure | null,
  last: number,
  time: ToldTime,
): { readonly words: string; readonly share: number } | null {
  if (agreement !== "noDisagreementShown" || departure === null || predicted === null) return null;
  const gapAt = (t: number) => predicted[t] - observed[t];
  const sideAt = (t: number) => {
    const [low, high] = [lower[t], upper[t]];
    return low === null || high === null ? 0 : predicted[t] < low ? -1 : predicted[t] > high ? 1 : 0;
  };
  let worst: { fromBin: number; toBin: number; gap: number } | null = null;
  for (let t = 1; t <= last; t++) {
    if (sideAt(t) === 0) continue;
    const fromBin = t;
    let gap = gapAt(t);
    while (t < last && sideAt(t + 1) === sideAt(fromBin))
      if (Math.abs(gapAt(++t)) > Math.abs(gap)) gap = gapAt(t);
    if (worst === null || Math.abs(gap) > Math.abs(worst.gap)) worst = { fromBin, toBin: t, gap };
  }
  if (worst === null) return null;
  const share = Math.max(1, Math.round(100 * departure.p));
  return { words: sayStretch(worst, last, time), share };
}

/** Weighted events are no whole number. */
function formatEvents(events: number): string {
  return Number.isInteger(events) ? String(events) : events.toFixed(1);
}

/** The direction of a late departure is that of its stretch, whatever the average over time. */
function directionOfDeparture(departure: Departure | null, gap: JudgedGroup["gap"]): GapDirection | null {
  if (departure?.statistic !== "largestZ" || departure.span === undefined || departure.gap === undefined)
    return directionOf(gap);
  return departure.gap.value > 0 ? "high" : "low";
}

function lookOf({ agreement }: GroupAgreement, bound: number | null, tolerance: number): VerdictLook {
  switch (agreement) {
    case "disagrees":
      return "off";
    case "tooFewEvents":
      return "few";
    case "noDisagreementShown":
      return bound !== null && bound < tolerance ? "within" : "open";
  }
}

/** What a verdict needs of a group, or of one cause in a group. */
export interface JudgedLine extends Pick<JudgedGroup, "gap"> {
  readonly scores: Judged & Pick<AuditedScores, "bound" | "absent">;
}

/** The verdicts in the order of the groups, which are judged together. */
export function judgeGroups(
  groups: readonly JudgedLine[],
  time: ToldTime,
  tolerance: number,
): readonly ReportVerdict[] {
  const T = time.edges.length - 1;
  const judged = judgeAgreement(
    groups.map(({ scores }) => scores),
    T,
  );
  return groups.map(
    ({ scores: { bound, absent, departure, supported }, gap }, g): ReportVerdict => ({
      ...judged[g],
      look: lookOf(judged[g], bound, tolerance),
      direction: directionOfDeparture(departure, gap),
      bound,
      boundAbsent: bound === null ? (absent.bound ?? "none was drawn") : null,
      when: sayWhen(departure, supported.bins, time),
    }),
  );
}

/** How many groups a test rejects on its own, against what chance alone would give. Null if there is no test. */
export function countRejections(ps: readonly (number | null)[]): RejectionCount | null {
  const present = ps.filter((p) => p !== null);
  if (present.length === 0) return null;
  return {
    tests: present.length,
    rejected: present.filter((p) => p <= SINGLE_LEVEL).length,
    range: binomialRange(present.length, SINGLE_LEVEL),
  };
}

/** Shapes differ as well as colours: a cross, a tick, a wave, a dash, a question mark. */
const ICONS = {
  off: '<path d="M4 4l8 8M12 4l-8 8"/>',
  within: '<path d="M3 8.5 6.5 12 13 4.5"/>',
  open: '<path d="M2 9.5c2-4 4-4 6-1.5s4 2.5 6-1.5"/>',
  few: '<path d="M3.5 8h9"/>',
  doubt: '<path d="M5.5 6a2.6 2.6 0 1 1 3.6 2.4c-.8.4-1.1.9-1.1 1.8M8 13v.2"/>',
} as const;
/** The look of a verdict, or of a finding that deserves attention. */
export type ChipLook = keyof typeof ICONS;

export function iconOf(look: ChipLook): Html {
  return trustMarkup(
    `<svg width="13" height="13" viewBox="0 0 16 16" aria-hidden="true" fill="none" stroke="currentColor" ` +
      `stroke-width="2.6" stroke-linecap="round" stroke-linejoin="round">${ICONS[look]}</svg>`,
  );
}

const DIRECTIONS = { high: "survival too high", low: "survival too low", shape: "wrong shape" } as const;

/** The verdict in words that fit a chip. `directions` says what a disagreement of each kind is called. */
export function verdictWord(
  { agreement, direction, lacks }: ReportVerdict,
  directions: Readonly<Record<keyof typeof DIRECTIONS, string>> = DIRECTIONS,
): string {
  switch (agreement) {
    case "disagrees":
      return direction === null ? "disagrees" : `disagrees: ${directions[direction]}`;
    case "tooFewEvents":
      return lacks === "followUp" ? "followed too briefly to say" : "too few events to say";
    case "noDisagreementShown":
      return "no disagreement shown";
  }
}

/** The words beside the chip: "could be off by up to 3.2 points"; null where that cannot be said. */
export function boundWords({ agreement, bound }: ReportVerdict): string | null {
  return bound === null || agreement === "tooFewEvents" ? null : `could be off by up to ${pointsOf(bound)}`;
}

/** Why a group is not judged, without the count, which its line may hide. */
export function lackWords({ lacks, reason }: ReportVerdict): string {
  return lacks === "events" ? `fewer than ${MINIMUM_EVENTS} events, observed or expected` : reason;
}

/** Reasons against a bound that hold for every group alike: the page says them once, not with each group. */
const SAID_ONCE: ReadonlySet<string> = new Set([ENTERED_LATE, WEIGHED]);

/**
 * The verdict as a clause: what was found, when, and how far off the group could be. `showsEvents`: whether counts of
 * events may be printed.
 */
export function verdictSentence(verdict: ReportVerdict, showsEvents = true): string {
  const { agreement, bound, boundAbsent, reason, when } = verdict;
  const far =
    bound === null
      ? SAID_ONCE.has(boundAbsent ?? "")
        ? ""
        : `; how far off it could be cannot be said (${boundAbsent})`
      : ` could be off by up to ${pointsOf(bound)} on average over time`;
  switch (agreement) {
    case "disagrees":
      return `Disagrees: ${reason}${afterColon(when, showsEvents)}${bound === null ? "" : `; it${far}`}.`;
    case "tooFewEvents":
      return `Not judged: ${lackWords(verdict)}.`;
    case "noDisagreementShown":
      return `No disagreement shown${bound === null ? far : `, but it${far}`}.`;
  }
}

/** Whether the words of a departure hold no count of events that must not be printed. */
export function showsWhen(
  { when }: ReportVerdict,
  { n, events: all }: Pick<Scores, "n" | "events">,
  cells: Cells,
): boolean {
  const events = when?.events ?? null;
  return events === null || (cells.shows(events, n) && (events === all || cells.shows(events, all)));
}

/** ": from 12 years on, 10.6 points too high", where that is known and may be printed. */
function afterColon(when: DepartureWhen | null, showsEvents: boolean): string {
  return when === null || (when.events !== null && !showsEvents) ? "" : `: ${when.words}`;
}

/** The words of sayOutside in a panel. */
export function outsideSentence(
  { isDoubtful }: ReportVerdict,
  { words, share }: { words: string; share: number },
): string {
  const stretch = `${words.slice(0, 1).toUpperCase()}${words.slice(1)}, outside the pointwise limits`;
  return isDoubtful
    ? `Worth a second look: ${words}, outside the pointwise limits. A perfect model departs as much in ` +
        `${share} of 100 samples of such rows; among so many groups chance may explain it.`
    : `${stretch}: a perfect model departs as much somewhere in ${share} of 100 samples of such rows.`;
}

export function chipOf(verdict: ReportVerdict, word = verdictWord(verdict)): Html {
  return html`<span class="chip ${verdict.look}">${iconOf(verdict.look)} ${word}</span>`;
}

/** "3.2 points": hundredths of survival. */
export function pointsOf(gap: number): string {
  const points = Math.abs(100 * gap).toFixed(1);
  return `${points} ${points === "1.0" ? "point" : "points"}`;
}

/** "5 points": what the reader calls acceptable, as given. */
export function tolerancePoints(tolerance: number): string {
  const points = Number((100 * tolerance).toPrecision(6));
  return `${points} ${points === 1 ? "point" : "points"}`;
}

export function percentOf(share: number): string {
  return `${Number((100 * share).toFixed(Math.abs(share) < 0.1 ? 1 : 0))} %`;
}

/** "p = 0.031", "p < 0.001". */
export function pOf(p: number): string {
  return p < 0.001 ? "p < 0.001" : `p = ${formatP(p)}`;
}

/** Observed over expected events, with the range it stays in 95 times out of 100 when the model is right. */
export type EventRatio = Readonly<Record<"ratio" | "low" | "high", number | null>>;

export const NO_RATIO: EventRatio = { ratio: null, low: null, high: null };

export function ratioOf({ logrankIndividual }: Scores): EventRatio {
  const { observed, expected, variance } = logrankIndividual;
  if (observed === null || expected === null || !(expected > 0)) return NO_RATIO;
  const reach = variance === null ? null : (TWO_SIDED_95 * Math.sqrt(variance)) / expected;
  return {
    ratio: observed / expected,
    low: reach === null ? null : Math.max(0, 1 - reach),
    high: reach === null ? null : 1 + reach,
  };
}

/** The normal distribution's 97.5 % point. */
const TWO_SIDED_95 = 1.959963984540054;

/** Gaps below this round to 0.0 points. */
const NO_GAP = 0.0005;

/** How far predicted survival is from observed survival, in one sentence. */
export function gapSentence(gap: GroupCurve["gap"], timeLabel: string): string {
  if (gap === null) return "No stretch of follow-up with ten people at risk to compare over.";
  const side = (value: number) => (value > 0 ? "above" : "below");
  const average = Math.abs(gap.mean) < NO_GAP ? "equal to" : `${pointsOf(gap.mean)} ${side(gap.mean)}`;
  const other = side(gap.largest) === side(gap.mean) ? "" : ` ${side(gap.largest)}`;
  return (
    `Predicted survival is ${average} the observed on average, ${pointsOf(gap.largest)}${other} at worst ` +
    `(${momentOf(gap.largestAt, timeLabel)}).`
  );
}

/** How far a group is from the observed, in one sentence: its curve, or its events where people entered late. */
export function distanceSentence(
  { scores, curve }: ReportGroup,
  timeLabel: string,
  isShown: boolean,
): string {
  if (scores.atRisk?.hasEntries !== true) return gapSentence(curve.gap, timeLabel);
  const { ratio } = ratioOf(scores);
  if (ratio === null || !isShown) return "Observed over predicted events are not shown.";
  return `Observed over predicted events: ${ratio.toFixed(2)}.`;
}

/** The r.m.s. gap over the group's support. */
export function rootGapOf({ distanceL2 }: Scores): number | null {
  return distanceL2 === null ? null : Math.sqrt(distanceL2);
}

/** "95 %": the level of the audit's intervals and bounds. */
export function levelOf({ intervals }: Scores): string {
  return `${Math.round(100 * (intervals?.level ?? DEFAULT_LEVEL))} %`;
}

/** What to compare a calibration error with, in one sentence. */
export function floorSentence({ ece, noiseFloor }: Scores): string {
  if (ece === null || noiseFloor?.ece == null) return "";
  const { ece: floor, eceCritical, p } = noiseFloor;
  return (
    `A perfect model shows ${formatNumber(floor)} on rows like these and stays below ` +
    `${formatNumber(eceCritical)} in 95 of 100 cases${p === null ? "" : ` (${pOf(p)})`}.`
  );
}

/** What a line of the table is: a person, or a row where people have several. */
export function unitOf({ cohort }: Pick<ReportData, "cohort">): "person" | "row" {
  return cohort.audited.people === null ? "person" : "row";
}

/** "people" or "rows". */
export function unitsOf(data: Pick<ReportData, "cohort">): "people" | "rows" {
  return unitOf(data) === "person" ? "people" : "rows";
}

export function groupId(index: number): string {
  return `group-${index}`;
}

/** Everyone first, as in the audit. */
export function everyGroup(data: { readonly overall: ReportGroup; readonly groups: readonly ReportGroup[] }) {
  return [data.overall, ...data.groups];
}
