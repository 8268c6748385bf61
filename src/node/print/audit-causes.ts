/**
 * The audit by cause in a terminal: for each cause the table of scores, then the verdict on every group and cause,
 * what was found in short, and what could not be computed.
 */
import { countOf } from "../../core/text.ts";
import type { TimeGrid } from "../../data/outcomes/time-grid.ts";
import { judgeCauses, type JudgedCause } from "../../report/words/cause-words.ts";
import { tellTime } from "../../report/words/report-time.ts";
import { pointsOf, tolerancePoints, type VerdictLook } from "../../report/words/report-words.ts";
import { formatNumber, formatP, formatRange } from "../../report/words/text-table.ts";
import type { CauseAuditTable, CauseScores } from "../../verbs/causes/audit-causes.ts";
import { sayDeparture } from "./audit.ts";
import { nameColumn, numberColumns, print, printNote, printTable, printWrapped } from "./output.ts";

/** `tolerance`: how far off a group may be and still be acceptable to the reader, as a probability. */
export function printCauseAudit(
  table: CauseAuditTable,
  grid: TimeGrid,
  tolerance: number,
  label?: string,
): void {
  for (const { name, overall, groups } of table.causes) {
    print(`${name}\n`);
    printScores([overall, ...groups], table.T);
    printAt(overall, grid);
    print("");
  }
  const note =
    "C: Wolbers' concordance, up to the last bin with follow-up. ECE, max z: how far the mean predicted incidence is " +
    "from Aalen-Johansen over bins, the time bins up to the last with at least ten people at risk; floor and p: the " +
    "ECE that a perfect model has on these rows, and how often it is this large. O, E: events of the cause, observed " +
    "and expected from everyone's own hazards while at risk; indiv. p: their logrank (logrankIndividual).";
  printWrapped(note);
  const judged = judgeCauses(table, tolerance, tellTime(grid.edges, label));
  printVerdicts(judged);
  print("");
  for (const line of sayVerdicts(judged, tolerance)) printWrapped(line, "  ");
  printAbsent(judged);
}

function printScores(all: readonly CauseScores[], T: number): void {
  printTable(
    [
      nameColumn("group"),
      ...numberColumns("n", "events", "C", "ECE", "floor", "p", "max z", "IBS", "O", "E", "indiv. p", "bins"),
    ],
    all.map((scores) => [
      scores.name,
      String(scores.n),
      String(scores.events),
      formatNumber(scores.concordance, 3),
      formatNumber(scores.ece),
      formatNumber(scores.noiseFloor?.ece),
      formatP(scores.noiseFloor?.p),
      formatNumber(scores.distanceVariance, 2),
      formatNumber(scores.ibs),
      formatNumber(scores.logrankIndividual.observed, 1),
      formatNumber(scores.logrankIndividual.expected, 1),
      formatP(scores.logrankIndividual.p),
      `${scores.supported.bins}/${T}`,
    ]),
  );
}

/** Everyone's scores at single times; those of groups are in the JSON document. */
function printAt({ at, incidence }: CauseScores, { edges }: TimeGrid): void {
  const shown = at.filter(({ brier }) => brier !== null);
  if (shown.length === 0 || incidence === null) return;
  print("");
  printTable(
    numberColumns("everyone at", "predicted", "observed", "95 % interval", "Brier", "AUC", "C"),
    shown.map(({ bin, brier, auc, concordance }) => [
      formatNumber(edges[bin], 2),
      formatNumber(incidence.predicted[bin], 3),
      formatNumber(incidence.observed[bin], 3),
      formatRange(incidence.lower[bin], incidence.upper[bin], 3),
      formatNumber(brier),
      formatNumber(auc, 3),
      formatNumber(concordance, 3),
    ]),
  );
}

function printVerdicts(judged: readonly JudgedCause[]): void {
  print("");
  printTable(
    [
      nameColumn("group"),
      { title: "cause" },
      ...numberColumns("r.m.s. gap", "up to", "p", "adj. p"),
      { title: "verdict" },
    ],
    judged.map(({ cause, scores, word }) => [
      scores.name,
      cause,
      formatNumber(scores.distanceL2 === null ? null : Math.sqrt(scores.distanceL2)),
      formatNumber(scores.bound),
      formatP(scores.departure?.adjustedP == null ? null : scores.departure.p),
      formatP(scores.departure?.adjustedP),
      word,
    ]),
  );
  const note =
    "r.m.s. gap: between mean predicted incidence and Aalen-Johansen, an average over time. up to: what the true " +
    "distance stays below, for all groups and causes together, in 95 of 100 audits (0.05 is 5 of 100 people). p: how " +
    "often a perfect model departs as much on these rows, by the gap, at any single time or by the number of events; " +
    "adj. p allows for all groups and causes.";
  printNote(note);
}

function sayVerdicts(judged: readonly JudgedCause[], tolerance: number): string[] {
  const are = (look: VerdictLook) => judged.filter(({ verdict }) => verdict.look === look);
  const names = (some: readonly JudgedCause[]) =>
    some.map(({ cause, scores }) => `${scores.name}, ${cause}`).join("; ");
  const [off, open, within, few] = [are("off"), are("open"), are("within"), are("few")];
  const doubtful = judged.filter(({ verdict }) => verdict.isDoubtful);
  const none = [...open, ...within];
  const widest = Math.max(...none.map(({ scores }) => scores.bound ?? Number.NEGATIVE_INFINITY));
  const far = Number.isFinite(widest)
    ? `; could be off by up to ${pointsOf(widest)} on average over time`
    : "";
  const among = countOf(judged.length, "pair");
  return [
    ...(off.length === 0 ? [] : [`disagrees with the observed beyond chance: ${names(off)}`]),
    ...judged.flatMap(({ cause, scores, verdict }) => sayDeparture(`${scores.name}, ${cause}`, verdict)),
    ...(none.length === 0
      ? []
      : [
          `no disagreement shown: ${none.length} of ${among} of a group and a cause, everyone included${far}`,
        ]),
    ...(within.length === 0
      ? []
      : [`of these, bounded below ${tolerancePoints(tolerance)} (--tolerance): ${names(within)}`]),
    ...(doubtful.length === 0
      ? []
      : [
          `worth a second look (doubtful by itself; among so many chance may explain it): ${names(doubtful)}`,
        ]),
    ...(few.length === 0 ? [] : [`too few events or too little follow-up to say: ${names(few)}`]),
  ];
}

/** One line per cause, group and reason; those of adjusted numbers and single times are in the JSON document. */
function printAbsent(judged: readonly JudgedCause[]): void {
  const lines = judged.flatMap(({ cause, scores }) => {
    const fields = new Map<string, string[]>();
    for (const [field, reason] of Object.entries(scores.absent)) {
      if (/^at\.|adjustedP$|^concordanceBin$/.test(field)) continue;
      if (field === "bound" && scores.agreement === "tooFewEvents") continue;
      fields.set(reason, [...(fields.get(reason) ?? []), field]);
    }
    return Array.from(
      fields,
      ([reason, list]) => `${scores.name}, ${cause}: no ${list.join(", ")} (${reason})`,
    );
  });
  if (lines.length > 0) print("");
  for (const line of lines) printWrapped(line, "  ");
}
