/**
 * The audit's tables where people enter late or have weights: observed against expected events of every group, and
 * with weights alone the calibration error too. What is absent for everybody alike has no column.
 */
import { formatNumber, formatP } from "../../report/words/text-table.ts";
import type { AuditedScores } from "../../verbs/audit.ts";
import { nameColumn, numberColumns, print, printNote, printTable } from "./output.ts";

/** Everyone first, then the groups. */
export function printHistories(all: readonly AuditedScores[], T: number): void {
  const { hasEntries, hasWeights } = all[0].atRisk ?? { hasEntries: false, hasWeights: false };
  const calibration = hasEntries ? [] : ["ECE", "floor", "ECE p", "IBS"];
  const titles = ["n", "events", "observed", "expected", "O/E", "C", ...calibration];
  printTable(
    [nameColumn("group"), ...numberColumns(...titles, "distance", "indiv. p", "p", "adj. p", "bins")],
    all.map((scores) => [
      scores.name,
      String(scores.n),
      String(scores.events),
      formatNumber(scores.logrankIndividual.observed, hasWeights ? 1 : 0),
      formatNumber(scores.logrankIndividual.expected, 1),
      formatNumber(scores.atRisk?.ratio, 2),
      formatNumber(scores.concordance, 3),
      ...(hasEntries
        ? []
        : [
            formatNumber(scores.ece),
            formatNumber(scores.noiseFloor?.ece),
            formatP(scores.noiseFloor?.p),
            formatNumber(scores.ibs),
          ]),
      formatNumber(scores.atRisk?.distance, 2),
      formatP(scores.logrankIndividual.p),
      formatP(scores.departure?.adjustedP == null ? null : scores.departure.p),
      formatP(scores.departure?.adjustedP),
      `${scores.supported.bins}/${T}`,
    ]),
  );
  printNote(sayColumns(hasEntries, hasWeights));
  const outside = all[0].atRisk?.outside ?? 0;
  if (outside > 0)
    printNote(
      `${outside} of ${all[0].n} rows enter and leave within one time bin: they are at risk in none.`,
    );
  print("");
}

function sayColumns(hasEntries: boolean, hasWeights: boolean): string {
  const counted = hasWeights ? "sums of weights; n and events count rows" : "counts";
  return (
    `observed, expected: events, and the sum of everyone's own hazards while at risk (${counted}). C: the paper's ` +
    `concordance${hasEntries ? ", which compares people under observation at the same time" : ""}. distance: the ` +
    "mean of (O - E)²/V over blocks of time, about 1 for a perfect model. indiv. p: logrank of observed against " +
    "expected; p: how often outcomes drawn from the curves" +
    `${hasEntries ? ", given that each row got to its entry," : ""} depart as much, in events up to any time` +
    `${hasEntries ? "" : " or in curves"}; adj. p allows for all groups. bins: up to the last with at least ten ` +
    "at risk."
  );
}
