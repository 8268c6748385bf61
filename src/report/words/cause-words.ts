/**
 * What is said of each group and cause: the audit's agreement, which way the predicted incidence is off, and how far
 * off it could be, with the looks of report-words.ts; all groups and causes are judged together. Also the sentence that
 * needs no statistics: of 100 such people, how many will have had each cause by a time. Its numbers are whole people,
 * rounded so that they make 100.
 */
import type { AuditedCause, CauseAuditTable, CauseScores } from "../../verbs/causes/audit-causes.ts";
import { momentOf } from "./report-time.ts";
import { judgeGroups, pointsOf, type ReportVerdict, type ToldTime, verdictWord } from "./report-words.ts";

/** The gap predicted − observed over the supported bins. */
export interface IncidenceGap {
  readonly mean: number;
  readonly meanAbsolute: number;
  readonly largest: number;
  /** The bin of the largest. */
  readonly largestBin: number;
}

/** One cause in one group, and what is said of it. */
export interface JudgedCause {
  readonly cause: string;
  /** Which of the causes, from 0. */
  readonly k: number;
  /** Which of the groups, from 0: everyone. */
  readonly g: number;
  readonly scores: CauseScores;
  readonly verdict: ReportVerdict;
  readonly gap: IncidenceGap | null;
  /** The verdict in words that fit a chip. */
  readonly word: string;
}

/** The gap of a group's curves; null where there is nothing to compare. */
export function gapOf({ incidence, supported }: CauseScores): IncidenceGap | null {
  const last = supported.bins;
  if (incidence === null || last < 1) return null;
  let [sum, absolute, largest, largestBin] = [0, 0, 0, 1];
  for (let t = 1; t <= last; t++) {
    const gap = incidence.predicted[t] - incidence.observed[t];
    sum += gap;
    absolute += Math.abs(gap);
    if (Math.abs(gap) > Math.abs(largest)) [largest, largestBin] = [gap, t];
  }
  return { mean: sum / last, meanAbsolute: absolute / last, largest, largestBin };
}

/** Cause by cause, everyone first: as the audit judged them. */
export function judgeCauses(
  { causes }: CauseAuditTable,
  tolerance: number,
  time: ToldTime,
): readonly JudgedCause[] {
  const lines = causes.flatMap(({ name: cause, overall, groups }, k) =>
    [overall, ...groups].map((scores, g) => ({ cause, k, g, scores, gap: gapOf(scores) })),
  );
  const verdicts = judgeGroups(lines, time, tolerance);
  return lines.map((line, at) => ({
    ...line,
    verdict: verdicts[at],
    word: verdictWord(verdicts[at], DIRECTIONS),
  }));
}

const DIRECTIONS = {
  high: "predicted too high",
  low: "predicted too low",
  shape: "wrong shape",
} as const;

/** Gaps below this round to 0.0 points. */
const NO_GAP = 0.0005;

/** How far the predicted incidence is from the observed, in one sentence. */
export function incidenceGapSentence(gap: IncidenceGap | null, at: (bin: number) => string): string {
  if (gap === null) return "There is no mean curve to compare with what was observed.";
  const side = (value: number) => (value > 0 ? "above" : "below");
  const average = Math.abs(gap.mean) < NO_GAP ? "equal to" : `${pointsOf(gap.mean)} ${side(gap.mean)}`;
  const other = side(gap.largest) === side(gap.mean) ? "" : ` ${side(gap.largest)}`;
  return (
    `Predicted incidence is ${average} the observed on average, ${pointsOf(gap.largest)}${other} at worst ` +
    `(${at(gap.largestBin)}).`
  );
}

/** Whole numbers that make a hundred with what is left, by the largest remainders. */
export function ofHundred(shares: readonly number[]): readonly number[] {
  const exact = shares.map((share) => 100 * share);
  const whole = exact.map(Math.floor);
  const target = Math.round(exact.reduce((sum, one) => sum + one, 0));
  const order = exact.map((_, k) => k).sort((a, b) => exact[b] - whole[b] - (exact[a] - whole[a]) || a - b);
  const missing = target - whole.reduce((sum, one) => sum + one, 0);
  for (const k of order.slice(0, Math.max(0, missing))) whole[k]++;
  return whole;
}

/** "12 have had relapse, 21 death and 67 neither" by a time, of 100 such people. */
export function hundredSentence(
  causes: readonly AuditedCause[],
  g: number,
  bin: number,
  { moment, curve }: { readonly moment: string; readonly curve: "observed" | "predicted" },
): string | null {
  const shares = causes.map(({ overall, groups }) => [overall, ...groups][g].incidence?.[curve][bin]);
  if (shares.some((share) => share === undefined)) return null;
  const counts = ofHundred(shares.map((share) => share ?? 0));
  const rest = 100 - counts.reduce((sum, one) => sum + one, 0);
  const said = causes.map(({ name }, k) => ({ name, count: counts[k] }));
  const [first, ...others] = said;
  const listed = [
    `${first.count} ${first.count === 1 ? "has" : "have"} had ${first.name}`,
    ...others.map(({ name, count }) => `${count} ${name}`),
  ];
  const none = causes.length === 1 ? "not" : causes.length === 2 ? "neither" : "none of these";
  return `by ${moment}, ${listed.join(", ")} and ${rest} ${none}`;
}

/** The end of a bin as a moment. */
export function momentOfBin(edges: readonly number[], label: string): (bin: number) => string {
  return (bin) => momentOf(edges[bin], label);
}
