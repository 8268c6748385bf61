/** The section of a cohort page on the rules for keeping weights (summaries/kept-rules.ts has the numbers). */

import type { SystemName } from "../runs/plan.ts";
import { compareKeptRules, type KeptRules } from "../summaries/kept-rules.ts";
import { SYSTEM_LABELS } from "../summaries/labels.ts";
import { type CohortRuns, readMetric, runsOf, spreadOf } from "../summaries/summary.ts";
import { formatMarkdown, formatSigned } from "./markdown.ts";

/** One table and one sentence per baseline; empty where no baseline has runs by both rules. */
export function keptRulesSection(cohort: CohortRuns): string[] {
  const found = compareKeptRules(cohort);
  if (found.length === 0) return [];
  const concordance = (system: SystemName) =>
    spreadOf(runsOf(cohort.runs, system), readMetric("concordance", 0))?.mean.toFixed(3) ?? "–";
  const rows = found.map(({ pair, shares }) => [
    pair.name,
    concordance(pair.byConcordance),
    concordance(pair.byLoss),
    ...shares.flatMap(({ byConcordance, byLoss }) => [byConcordance.toFixed(4), byLoss.toFixed(4)]),
  ]);
  const [{ shares: first }] = found;
  return [
    "**How weights are kept.** DRSA, X-Cal and RPS keep the weights of the best C-index on the validation rows, " +
      "GRADUATE and *DRSA without tail* the averaged weights of the least validation loss. Each under both " +
      "rules, over " +
      `the ${first[0].repeats} repeats that have all of them:`,
    formatMarkdown(
      [
        "system",
        "C, by C-index",
        "by loss",
        ...first.flatMap(({ title }) => [`${title}, by C-index`, "by loss"]),
      ],
      [
        ...rows,
        [
          SYSTEM_LABELS.graduate,
          "–",
          concordance("graduate"),
          ...first.flatMap(({ own }) => ["–", own.toFixed(4)]),
        ],
      ],
    ),
    found.map((one) => `- ${sayShares(one)}`).join("\n"),
  ];
}

function sayShares({ pair: { name }, shares }: KeptRules): string {
  const sayP = (p: number) => `p ${p < 0.001 ? "<.001" : p.toFixed(3)}`;
  const said = shares.map(({ title, lead, leadP, share, left, p }) => {
    const led = `${formatSigned(lead, 4)} (${sayP(leadP)})`;
    const explained =
      share === null ? "is not above 0 at 5 %" : `is explained to ${Math.round(100 * share)} % by the rule`;
    return (
      `GRADUATE's lead in ${title}, ${led}, ${explained}; with both kept by loss ` +
      `${formatSigned(-left, 4)} is left (${sayP(p)})`
    );
  });
  return `${name}: ${said.join(". ")}.`;
}
