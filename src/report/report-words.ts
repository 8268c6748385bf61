/**
 * How the report puts numbers and verdicts into words and small marks, the same in every section: four decimals for errors, two or
 * three digits for p, points (hundredths) for gaps of survival, and an icon with a word wherever a colour says something.
 */
import { DEFAULT_LEVEL } from "../stats/bootstrap.ts";
import type { Scores } from "../stats/scores.ts";
import { type Html, html, trustMarkup } from "./html.ts";
import type { GroupCurve, ReportGroup } from "./report-data.ts";
import { formatNumber, formatP } from "./text-table.ts";
import type { GroupVerdict, VerdictKind } from "./verdict.ts";

/** Shapes differ as well as colours: a tick, a question mark, a cross, a dash. */
const ICONS: Readonly<Record<VerdictKind, string>> = {
  agrees: '<path d="M3 8.5 6.5 12 13 4.5"/>',
  uncertain: '<path d="M5.5 6a2.6 2.6 0 1 1 3.6 2.4c-.8.4-1.1.9-1.1 1.8M8 13v.2"/>',
  off: '<path d="M4 4l8 8M12 4l-8 8"/>',
  few: '<path d="M3.5 8h9"/>',
  untested: '<path d="M3.5 8h9"/>',
};

export function iconOf(kind: VerdictKind): Html {
  return trustMarkup(
    `<svg width="13" height="13" viewBox="0 0 16 16" aria-hidden="true" fill="none" stroke="currentColor" stroke-width="2.6" stroke-linecap="round" stroke-linejoin="round">${ICONS[kind]}</svg>`,
  );
}

export function verdictWord({ kind, direction, lacks }: GroupVerdict): string {
  switch (kind) {
    case "agrees":
      return "agrees";
    case "uncertain":
      return "uncertain";
    case "few":
      return lacks === "followUp" ? "followed too briefly" : "too few events to say";
    case "untested":
      return "not tested";
    case "off":
      return direction === "high"
        ? "off: survival too high"
        : direction === "low"
          ? "off: survival too low"
          : "off: wrong shape";
  }
}

export function chipOf(verdict: GroupVerdict, word = verdictWord(verdict)): Html {
  return html`<span class="chip ${verdict.kind}">${iconOf(verdict.kind)} ${word}</span>`;
}

/** "3.2 points": hundredths of survival. */
export function pointsOf(gap: number): string {
  const points = Math.abs(100 * gap).toFixed(1);
  return `${points} ${points === "1.0" ? "point" : "points"}`;
}

export function percentOf(share: number): string {
  return `${Number((100 * share).toFixed(Math.abs(share) < 0.1 ? 1 : 0))} %`;
}

/** A time for people: no more digits than its size needs. */
export function timeOf(time: number): string {
  return time >= 100 ? String(Math.round(time)) : String(Number(time.toPrecision(3)));
}

/** A moment: "912 days", "time bin 7", "time 912" where the unit is not known. */
export function momentOf(time: number, label: string): string {
  if (label === "time") return `time ${timeOf(time)}`;
  return label === BIN_LABEL ? `time bin ${timeOf(time)}` : `${timeOf(time)} ${label}`;
}

/** A length of time: "912 days", "912" where the unit is not known. */
export function durationOf(time: number, label: string): string {
  return label === "time" ? timeOf(time) : `${timeOf(time)} ${label}`;
}

/** The label of times that are only known by their bin. */
export const BIN_LABEL = "time bins";

export function countOf(count: number, noun: string): string {
  return `${formatCount(count)} ${noun}${count === 1 ? "" : "s"}`;
}

/** 12 345 with a narrow blank, readable in any language. */
export function formatCount(count: number): string {
  return String(count).replace(/\B(?=(\d{3})+(?!\d))/g, count >= 10000 ? "\u202f" : "");
}

/** "p = 0.031", "p < 0.001". */
export function pOf(p: number): string {
  return p < 0.001 ? "p < 0.001" : `p = ${formatP(p)}`;
}

/** Observed over expected events, with the range it has 95 times of 100 when the model is right. */
export function ratioOf({ logrankIndividual }: Scores): {
  readonly ratio: number | null;
  readonly low: number | null;
  readonly high: number | null;
} {
  const { observed, expected, variance } = logrankIndividual;
  if (observed === null || expected === null || !(expected > 0))
    return { ratio: null, low: null, high: null };
  const reach = variance === null ? null : (TWO_SIDED_95 * Math.sqrt(variance)) / expected;
  return {
    ratio: observed / expected,
    low: reach === null ? null : Math.max(0, 1 - reach),
    high: reach === null ? null : 1 + reach,
  };
}

/** The normal distribution's 97.5 % point. */
const TWO_SIDED_95 = 1.959963984540054;

/** What a group's distance is, by the kind of its constraint. */
export const DISTANCE_WORDS: Readonly<Record<string, string>> = {
  l2: "mean squared gap between mean curve and Kaplan-Meier",
  variance: "largest gap between mean curve and Kaplan-Meier, in standard errors",
  atRisk: "mean squared z of observed against predicted events, over stretches of time",
};

/** Rounds to 0.0 points. */
const NO_GAP = 0.0005;

/** How far predicted survival lies from the observed, in one sentence. */
export function gapSentence(gap: GroupCurve["gap"], timeLabel: string): string {
  if (gap === null) return "No stretch of follow-up with ten people at risk to compare over.";
  const side = (value: number) => (value > 0 ? "above" : "below");
  const average = Math.abs(gap.mean) < NO_GAP ? "equal to" : `${pointsOf(gap.mean)} ${side(gap.mean)}`;
  const other = side(gap.largest) === side(gap.mean) ? "" : ` ${side(gap.largest)}`;
  return `Predicted survival is ${average} the observed on average, ${pointsOf(gap.largest)}${other} at worst (${momentOf(gap.largestAt, timeLabel)}).`;
}

/** The r.m.s. gap over the followed bins, with its 95 % bound where replicates were drawn. */
export function rootGapOf(scores: Scores): {
  readonly estimate: number | null;
  readonly upper: number | null;
} {
  const bound = scores.intervals?.supported.distanceL2Root;
  const squared = scores.supported.distanceL2;
  return {
    estimate: bound?.estimate ?? (squared === null ? null : Math.sqrt(squared)),
    upper: bound?.upper ?? null,
  };
}

/** "95 %", of the audit's intervals and bounds. */
export function levelOf({ intervals }: Scores): string {
  return `${Math.round(100 * (intervals?.level ?? DEFAULT_LEVEL))} %`;
}

/** What a calibration error is to be held against, in one sentence. */
export function floorSentence({ ece, noiseFloor }: Scores): string {
  if (ece === null || noiseFloor?.ece == null) return "";
  const { ece: floor, eceCritical, p } = noiseFloor;
  return `A perfect model shows ${formatNumber(floor)} on rows like these and stays below ${formatNumber(eceCritical)} in 95 of 100 cases${p === null ? "" : ` (${pOf(p)})`}.`;
}

export function groupId(index: number): string {
  return `group-${index}`;
}

/** Everyone first, as in the audit. */
export function everyGroup(data: { readonly overall: ReportGroup; readonly groups: readonly ReportGroup[] }) {
  return [data.overall, ...data.groups];
}
