/**
 * What the report says about each group: the audit's agreement (stats/calibration/agreement.ts), the direction of the
 * gap, the bound, and how it looks. Green is for a group whose bound is below what the reader calls acceptable, never
 * for a test that merely did not reject; a group where no disagreement is shown but much could be wrong is neutral. And
 * how numbers and verdicts are put into words and small marks, the same in every section: four decimals for errors, two
 * or three digits for p, points (hundredths) for gaps in survival, and an icon with a word wherever a colour carries
 * meaning.
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
import type { Scores } from "../../stats/scores/scores.ts";
import type { AuditedScores } from "../../verbs/audit.ts";
import type { GroupCurve, ReportData, ReportGroup } from "../data/report-data.ts";
import { type Html, html, trustMarkup } from "../page/html.ts";
import { momentOf } from "./report-time.ts";
import { formatNumber, formatP } from "./text-table.ts";

/**
 * Disagrees; no disagreement and a bound within the tolerance; no disagreement and a bound beyond it; too little data.
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
  T: number,
  tolerance: number,
): readonly ReportVerdict[] {
  const judged = judgeAgreement(
    groups.map(({ scores }) => scores),
    T,
  );
  return groups.map(
    ({ scores: { bound, absent }, gap }, g): ReportVerdict => ({
      ...judged[g],
      look: lookOf(judged[g], bound, tolerance),
      direction: directionOf(gap),
      bound,
      boundAbsent: bound === null ? (absent.bound ?? "none was drawn") : null,
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
  return lacks === "events" ? `fewer than ${MINIMUM_EVENTS} events` : reason;
}

/** Reasons against a bound that hold for every group alike: the page says them once, not with each group. */
const SAID_ONCE: ReadonlySet<string> = new Set([ENTERED_LATE, WEIGHED]);

/** The verdict as a clause: what was found, and how far off the group could be. */
export function verdictSentence(verdict: ReportVerdict): string {
  const { agreement, bound, boundAbsent, reason } = verdict;
  const far =
    bound === null
      ? SAID_ONCE.has(boundAbsent ?? "")
        ? ""
        : `; how far off it could be cannot be said (${boundAbsent})`
      : ` could be off by up to ${pointsOf(bound)} on average over time`;
  switch (agreement) {
    case "disagrees":
      return `Disagrees: ${reason}${bound === null ? "" : `; it${far}`}.`;
    case "tooFewEvents":
      return `Not judged: ${lackWords(verdict)}.`;
    case "noDisagreementShown":
      return `No disagreement shown${bound === null ? far : `, but it${far}`}.`;
  }
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
