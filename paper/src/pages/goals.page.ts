/** The page docs/results/goals.md: the goals, and what was measured (summaries/goals.ts has the numbers). */
import type { Goal, GoalsSummary } from "../summaries/goals.ts";
import { formatMarkdown } from "./markdown.ts";

function goalsTable(goals: readonly Goal[], title: string, [yes, no]: readonly [string, string]): string {
  const rows = goals.map(({ where, text, measured, met, chance }) => [
    where,
    text,
    measured,
    met === null ? "not run yet" : `${met ? yes : `**${no}**`}${chance === true ? ", within chance" : ""}`,
  ]);
  const table = formatMarkdown(["where", title, "measured", ""], rows);
  return table.replace("| --- | --: | --: | --: |", "| --- | --- | --- | --- |");
}

export function goalsPage({ goals, ensemble, splines, ensembleWithSplines }: GoalsSummary): string {
  return `# What was to be shown

Made by \`graduate reproduce goals --out docs/results/goals.md\` from the results in \`paper/results\`. The \
goals were set before the runs, but for the two lines on multipliers, which were added when the runs were there: \
on tables the mark is Cox's model and the paper's printed
rows, on simulated people the truth, where the floor is the generator's own family fitted by maximum likelihood \
to the same rows. Ours is the default of 0.1.0, without the solve. After
the two means stands the difference, ours less the other, paired by repeat, ± its standard error: a verdict \
*within chance* is one whose difference has p ≥ .05 (the corrected resampled t over splits, Student's over \
cohorts). *ECE within chance*: p of at least .05 among a perfect model's on the same rows.

${goalsTable(goals, "goal", ["met", "missed"])}

## The ensemble against the Cox model of the same rows

A Cox model needs no validation rows: who fits one gives it all rows that are not for the test. \`train \
--ensemble 5\` learns from them too. These lines were not set beforehand.

${goalsTable(ensemble, "than Cox's", ["yes", "no"])}

## With splines

\`--splines\` lets the effects of numbers bend ([why](../decisions/011-splines.md)). It was chosen on other \
splits, of nwtco and flchain too, and is asked for by name. One run with it against one without:

${goalsTable(splines, "than the default of 0.1.0's", ["yes", "no"])}

Five runs with it against the Cox model of the same rows:

${goalsTable(ensembleWithSplines, "than Cox's", ["yes", "no"])}

## On a benchmark's folds

The goal was to be among the five best by C-index and by Brier score on both tables: [the ranks](folds.md) say \
how far that went.
`;
}
