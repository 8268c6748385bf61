/**
 * The page of the folds: the published table with our rows in it, or our rows alone with their ranks
 * (summaries/fold-ranks.ts has the numbers).
 */

import { isAbsent } from "graduate-survival/core";
import { correctedResampledT } from "graduate-survival/stats";
import type { FoldSystem } from "../runs/folds.ts";
import {
  type CoxGate,
  type FoldLine,
  type FoldSizes,
  GATE,
  linesOf,
  MEASURES,
  PUBLISHED_COX,
  type PublishedFold,
  type RankedLearner,
  rankLearners,
  systemsOf,
} from "../summaries/fold-ranks.ts";
import { mean } from "../summaries/summary.ts";

/** The inputs of the page. */
export interface FoldsShown {
  /** The plan's description of itself. */
  readonly about: string;
  readonly gate: CoxGate;
  readonly tasks: readonly FoldSizes[];
  readonly lines: readonly FoldLine[];
  readonly published: readonly PublishedFold[];
}

function writePage({ about, gate }: FoldsShown, sections: string): string {
  return `# On the folds of a published benchmark

${about}

The systems with *graduate* or *five* in their names were made with the default of version 0.1.0, and rank people by the \
sum of the cumulative hazards over equal bins; the *default* ranks them by their mean cumulative hazard at people's times.

Our Cox model against the published one, ${gate.folds} folds: \
concordances differ by at most ${gate.concordance.toExponential(1)} \
(${GATE.concordance.toExponential(0)} allowed), \
Brier scores by ${gate.ibs.toExponential(1)} (${GATE.ibs.toExponential(0)} allowed).

${sections}
`;
}

/** One section per task: all learners ranked by each measure, and our differences from the Cox model. */
export function foldsPage(shown: FoldsShown): string {
  return writePage(shown, rankSections(shown.tasks, shown.lines, shown.published));
}

/** The same page without published scores. */
export function foldsSummaryPage(shown: FoldsShown): string {
  return writePage(shown, foldsSummary(shown.tasks, shown.lines, shown.published));
}

export function rankSections(
  tasks: readonly FoldSizes[],
  lines: readonly FoldLine[],
  published: readonly PublishedFold[],
): string {
  return writeSections(tasks, lines, (task) => {
    const ranked = MEASURES.map((measure) => rankLearners(task, measure, lines, published));
    const cell = (one: RankedLearner | undefined) => {
      if (one === undefined) return "";
      const text = `${one.name} ${one.mean.toFixed(4)}`;
      return one.ours ? `**${text}**` : text;
    };
    const longest = Math.max(...ranked.map(({ length }) => length));
    return [
      `| rank | ${MEASURES.map(({ title }) => title).join(" | ")} |`,
      `|---|${MEASURES.map(() => "---").join("|")}|`,
      ...Array.from(
        { length: longest },
        (_, k) => `| ${k + 1} | ${ranked.map((list) => cell(list[k])).join(" | ")} |`,
      ),
    ];
  });
}

/**
 * The same without published scores: our means and their ranks, each system ranked by itself among the published
 * learners.
 */
export function foldsSummary(
  tasks: readonly FoldSizes[],
  lines: readonly FoldLine[],
  published: readonly PublishedFold[],
): string {
  return writeSections(tasks, lines, (task) => {
    const cells = (system: FoldSystem) =>
      MEASURES.map((measure) => {
        const own = linesOf(lines, task, system);
        const ranked = rankLearners(task, measure, own, published);
        const place = ranked.find(({ name }) => name === (system === "cox" ? PUBLISHED_COX : system));
        const scores = own.map((line) => line[measure.key]).filter((score) => score !== null);
        const average = scores.length === 0 ? "–" : mean(scores).toFixed(4);
        return `${average}, ${place?.rank ?? "–"} of ${ranked.length}`;
      });
    return [
      `| | ${MEASURES.map(({ title }) => title).join(" | ")} |`,
      `|---|${MEASURES.map(() => "---").join("|")}|`,
      ...systemsOf(lines, task).map((system) => `| ${system} | ${cells(system).join(" | ")} |`),
    ];
  });
}

function writeSections(
  tasks: readonly FoldSizes[],
  lines: readonly FoldLine[],
  writeTable: (task: string) => readonly string[],
): string {
  return tasks
    .filter(({ name }) => lines.some(({ task }) => task === name))
    .map((task) =>
      [`## ${task.name}`, "", ...writeTable(task.name), "", ...sayDifferences(task, lines)].join("\n"),
    )
    .join("\n\n");
}

function sayDifferences({ name: task, test, train }: FoldSizes, lines: readonly FoldLine[]): string[] {
  const cox = new Map(linesOf(lines, task, "cox").map((line) => [line.iteration, line]));
  const said = systemsOf(lines, task)
    .filter((system) => system !== "cox")
    .map((system) => {
      const pairs = linesOf(lines, task, system).flatMap((own) => {
        const other = cox.get(own.iteration);
        return other === undefined ? [] : [{ own, other }];
      });
      const parts = MEASURES.map(({ key, title, higher }) => {
        const differences = pairs.flatMap(({ own, other }) => {
          const [score, against] = [own[key], other[key]];
          return score === null || against === null ? [] : [score - against];
        });
        if (differences.length === 0) return `${title} undefined on every fold`;
        const better = differences.filter((value) => (higher ? value > 0 : value < 0)).length;
        const average = mean(differences);
        const tested = correctedResampledT(differences, { testSize: test, trainSize: train });
        const p = isAbsent(tested) ? null : tested.p;
        const sign = average > 0 ? "+" : "−";
        return (
          `${title} ${sign}${Math.abs(average).toFixed(4)} (better on ` +
          `${better} of ${differences.length} folds, p ${formatP(p)})`
        );
      });
      return `- ${system}: ${parts.join("; ")}`;
    });
  return said.length === 0 ? [] : ["Less the Cox model, fold by fold:", "", ...said];
}

function formatP(p: number | null): string {
  if (p === null) return "–";
  return p < 0.001 ? "< .001" : p.toFixed(3);
}
