/**
 * The audit in a terminal: the table of scores, the verdict on each group, intervals, and what could not be computed.
 */
import { countOf } from "../../core/text.ts";
import {
  DEFAULT_TOLERANCE,
  judgeGroups,
  pointsOf,
  type ReportVerdict,
  rootGapOf,
  type ToldTime,
  tolerancePoints,
  verdictWord,
} from "../../report/words/report-words.ts";
import { formatNumber, formatP, formatRange } from "../../report/words/text-table.ts";
import type { Certificates } from "../../stats/certificates/certificates.ts";
import type { Scores } from "../../stats/scores/scores.ts";
import type { AuditedScores, AuditTable } from "../../verbs/audit.ts";
import { printHistories } from "./audit-histories.ts";
import { nameColumn, numberColumns, print, printNote, printTable, printWrapped } from "./output.ts";

/** `tolerance`: how far off a group may be and still be acceptable to the reader, in survival. */
export function printAudit(
  { overall, groups, certificates }: AuditTable,
  time: ToldTime,
  tolerance: number = DEFAULT_TOLERANCE,
): void {
  const T = time.edges.length - 1;
  const all = [overall, ...groups];
  if (overall.atRisk !== undefined) {
    printHistories(all, T);
    for (const line of sayVerdicts(all, judgeAll(all, time, tolerance), tolerance)) printWrapped(line, "  ");
    if (overall.intervals !== undefined) printIntervals(all);
    printLines(sayAbsentOnce(all));
    return;
  }
  printTable(
    [
      nameColumn("group"),
      ...numberColumns("n", "events", "C", "ECE", "floor", "p", "L2", "max z", "IBS", "indiv. p", "bins"),
    ],
    all.map((scores) => [
      scores.name,
      String(scores.n),
      String(scores.events),
      formatNumber(scores.concordance, 3),
      formatNumber(scores.ece),
      formatNumber(scores.noiseFloor?.ece),
      formatP(scores.noiseFloor?.p),
      scores.distanceL2 === null ? "–" : scores.distanceL2.toExponential(1),
      formatNumber(scores.distanceVariance, 2),
      formatNumber(scores.ibs),
      formatP(scores.logrankIndividual.p),
      `${scores.supported.bins}/${T}`,
    ]),
  );
  const note =
    "C: the paper's concordance, in which ties score 0. ECE, L2, max z: how far the mean curve is from Kaplan-Meier " +
    "over bins, the time bins up to the last with at least ten people at risk; floor and p: the ECE that a perfect " +
    "model has on these rows, and how often it is this large. indiv. p: logrank of the events against the sum of " +
    "everyone's own hazards (logrankIndividual).";
  printNote(note);
  printVerdicts(all, time, tolerance);
  if (overall.intervals !== undefined) printIntervals(all);
  if (certificates !== undefined) printCertificates(certificates);
  const missing = all.flatMap(sayAbsent);
  printLines(missing);
}

/**
 * One line per group: how far it is from the observed, how far off it could be, and what may be said of it; then a
 * summary.
 */
function printVerdicts(all: readonly AuditedScores[], time: ToldTime, tolerance: number): void {
  const verdicts = judgeAll(all, time, tolerance);
  print("");
  printTable(
    [nameColumn("group"), ...numberColumns("r.m.s. gap", "up to", "p", "adj. p"), { title: "verdict" }],
    all.map((scores, g) => [
      scores.name,
      formatNumber(rootGapOf(scores)),
      formatNumber(scores.bound),
      formatP(scores.departure?.adjustedP == null ? null : scores.departure.p),
      formatP(scores.departure?.adjustedP),
      verdictWord(verdicts[g]),
    ]),
  );
  const note =
    "r.m.s. gap: the root of L2, an average over time. up to: what the true distance stays below, for all groups " +
    "together, in 95 of 100 audits (0.05 is 5 points of survival). p: how often a perfect model departs as much on " +
    "these rows, by the r.m.s. gap, by the curves at any single time or by the number of events; " +
    "adj. p allows for all groups.";
  printNote(note);
  print("");
  for (const line of sayVerdicts(all, verdicts, tolerance)) printWrapped(line, "  ");
}

function judgeAll(
  all: readonly AuditedScores[],
  time: ToldTime,
  tolerance: number,
): readonly ReportVerdict[] {
  return judgeGroups(
    all.map((scores) => ({ scores, gap: null })),
    time,
    tolerance,
  );
}

function sayVerdicts(
  all: readonly AuditedScores[],
  verdicts: readonly ReportVerdict[],
  tolerance: number,
): string[] {
  const are = (look: ReportVerdict["look"]) => all.filter((_, g) => verdicts[g].look === look);
  const names = (some: readonly AuditedScores[]) => some.map(({ name }) => name).join("; ");
  const [off, open, within, few] = [are("off"), are("open"), are("within"), are("few")];
  const among = all.length === 1 ? "everyone together" : `${countOf(all.length, "group")}, everyone included`;
  const none = open.length + within.length;
  const doubtful = all.filter((_, g) => verdicts[g].isDoubtful);
  const limit = tolerancePoints(tolerance);
  const widest = Math.max(...[...open, ...within].map(({ bound }) => bound ?? Number.NEGATIVE_INFINITY));
  const far = Number.isFinite(widest)
    ? `; could be off by up to ${pointsOf(widest)} on average over time`
    : "";
  const share = all.length === 1 ? among : `${none} of ${among}`;
  return [
    ...(off.length === 0 ? [] : [`disagrees with the observed beyond chance: ${names(off)}`]),
    ...all.flatMap((scores, g) => sayDeparture(scores.name, verdicts[g])),
    ...(none === 0 ? [] : [`no disagreement shown: ${share}${far}`]),
    ...(within.length === 0 || all.length === 1
      ? []
      : [`of these, bounded below ${limit} (--tolerance): ${names(within)}`]),
    ...(doubtful.length === 0
      ? []
      : [
          "worth a second look (doubtful by itself; among so many groups chance may explain it): " +
            names(doubtful),
        ]),
    ...(few.length === 0 ? [] : [`too few events or too little follow-up to say: ${names(few)}`]),
  ];
}

/** When a group that disagrees, or is doubtful by itself, is off, by how much, and what says so. */
export function sayDeparture(name: string, { agreement, isDoubtful, test, when }: ReportVerdict): string[] {
  if (when === null || (agreement !== "disagrees" && !isDoubtful)) return [];
  return [`${name}: ${when.words} (${test})`];
}

/** The fields of the JSON document that are null. */
function sayAbsent({ name, absent, agreement }: AuditedScores): string[] {
  // Repeated numbers, those of the paper and adjusted ones appear only in the JSON document.
  const shown = Object.entries(absent).filter(
    ([field]) =>
      !(
        /(^|\.)(supported|paper)\.|adjustedP$/.test(field) ||
        (field === "bound" && agreement === "tooFewEvents")
      ),
  );
  return sayReasons(name, shown);
}

/** What is absent for everybody alike is said once; what some groups lack, with their names. */
function sayAbsentOnce(all: readonly AuditedScores[]): string[] {
  const [overall, ...groups] = all;
  const isShared = ([field, reason]: readonly [string, string]) =>
    all.every(({ absent }) => absent[field] === reason);
  const shared = Object.entries(overall.absent).filter(isShared);
  const said = sayAbsent({ ...overall, name: "every group", absent: Object.fromEntries(shared) });
  const own = [overall, ...groups].map((scores) => ({
    ...scores,
    absent: Object.fromEntries(Object.entries(scores.absent).filter((entry) => !isShared(entry))),
  }));
  return [...said, ...own.flatMap(sayAbsent)];
}

/** One line per reason: the fields that are absent for it. */
function sayReasons(name: string, absent: readonly (readonly [string, string])[]): string[] {
  const fields = new Map<string, string[]>();
  for (const [field, reason] of absent) fields.set(reason, [...(fields.get(reason) ?? []), field]);
  return Array.from(fields, ([reason, list]) => `${name}: no ${list.join(", ")} (${reason})`);
}

/** After an empty line, one paragraph each. */
function printLines(lines: readonly string[]): void {
  if (lines.length > 0) print("");
  for (const line of lines) printWrapped(line, "  ");
}

function printIntervals(all: readonly Scores[]): void {
  const between = (interval: { lower: number | null; upper: number | null } | undefined) =>
    formatRange(interval?.lower, interval?.upper, 3);
  const level = Math.round(100 * (all[0].intervals?.level ?? 0));
  const title =
    `${level} % bootstrap intervals, ${all[0].intervals?.replicates} replicates, each group by itself; ` +
    "distances have an upper bound only";
  printNote(title);
  print("");
  printTable(
    [nameColumn("group"), ...numberColumns("C", "IBS", "ECE below", "r.m.s. gap", "below")],
    all.map(({ name, intervals }) => [
      name,
      between(intervals?.concordance),
      between(intervals?.ibs),
      formatNumber(intervals?.ece.upper),
      formatNumber(intervals?.distanceL2Root.estimate),
      formatNumber(intervals?.distanceL2Root.upper),
    ]),
  );
}

function printCertificates({ alpha, groups, theorem1, assumes }: Certificates): void {
  const level = Number((100 * (1 - alpha)).toPrecision(4));
  const title =
    "certificates: the r.m.s. distance between the mean curve and true survival is below these, " +
    `for all groups together with ${level} % confidence`;
  printNote(title);
  print("");
  printTable(
    [nameColumn("group"), ...numberColumns("n", "bins", "observed gap", "exact", "population", "tight")],
    groups.map(({ name, n, bins, distance, exact, exactPopulation, tight }) => [
      name,
      String(n),
      String(bins),
      formatNumber(distance),
      formatNumber(exact),
      formatNumber(exactPopulation),
      formatNumber(tight),
    ]),
  );
  const { rhoOverB, copies, vacuous } = theorem1;
  const lines = [
    "exact: for the mean curve of these people, at any sample size; population: for that of all people like them; " +
      "tight: the same, for large groups.",
    ...assumes.map((one) => `assumes: ${one}.`),
    `Theorem 1 of the paper, with ${countOf(copies, "copy")} of the data: the squared gap is at most slack + ρ, ` +
      `and ρ is at least ${rhoOverB.toFixed(1)} B, where B is the most it can be` +
      `${vacuous ? ": the theorem is vacuous here, it says nothing" : ""}.`,
  ];
  printLines(lines);
  printLines(groups.flatMap(({ name, absent }) => sayReasons(name, Object.entries(absent))));
}
