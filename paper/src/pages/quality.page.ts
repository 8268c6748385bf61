/** The page docs/results/quality.md: means over seeds, and what they show (summaries/quality.ts has the numbers). */
import {
  type QualitySummary,
  SHOWN_GROUPS,
  type StrataOfTable,
  type SystemMeans,
} from "../summaries/quality.ts";
import { formatMarkdown, listOf } from "./markdown.ts";

const fixed = (value: number, digits = 4) => value.toFixed(digits);
const fixedAll = (values: readonly number[]) => values.map((value) => fixed(value)).join(", ");

export function qualityPage(summary: QualitySummary): string {
  const { means, leads, planted } = summary;
  return `# What the default of 0.1.0 does, without the solve

Made by \`graduate reproduce quality\` and \`graduate reproduce quality --page\`; \
every run is a line of \`paper/quality.jsonl\`. Test rows only. C is
the paper's C-index, ECE the paper's, subgroup ECE its mean over the groups. \
*Logrank passes*: the mean-curve logrank of everyone
at 5 %. *Groups rejected*: individual logranks below 5 %, of which a perfect model has one in twenty. \
*Met*: constraints on the
training rows. Seconds are of one thread on a busy machine. \
The systems are explained at the top of \`paper/src/studies/quality.ts\`. *graduate* is the default of version 0.1.0: it trains under the constraints of its \
groups and ends without the solve. So do its controls. Today's default ends with the solve; \
[binding](binding.md) and [seven other tables](tables.md) have it. *paper drsa* and *paper graduate*
are the \`paper\` preset (random start, tail term, Adam 5e-3, slack .02), one split of nwtco.

## nwtco, five splits, 12 groups, without the row id

${meansTable(means.nwtco)}

## flchain, five splits, 25 groups, without chapter

${meansTable(means.flchain)}

## Simulated eye cohort, one split, 24 groups, five initialisations

${meansTable(means.eye)}

True error A: root mean square over time of the group's mean predicted minus mean true curve, \
on the test rows, without their
outcomes.

${trueErrorsTable(summary)}

## What can be said

${leads.map(sayLeads).join("\n")}
${sayRecipe(summary)}
${summary.strata.map(sayStrata).join("\n")}
- True error A of \`graduate\` in the groups whose hazard has another level and shape: \
${planted.map(sayPlanted).join("; ")}. \
The controls know the same groups and start at the same additive model (decision 8). One cohort, so this is no test.
${sayLeastEce(summary)}

`;
}

function meansTable(means: readonly SystemMeans[]): string {
  return formatMarkdown(
    [
      "system",
      "seeds",
      "C",
      "ECE",
      "subgroup ECE",
      "IBS",
      "logrank passes",
      "groups rejected",
      "met",
      "seconds",
    ],
    means.map(({ system, runs, scores, passes, groupsRejected, groups, met, held, seconds }) => [
      system,
      String(runs),
      ...[scores.concordance, scores.ece, scores.subgroupEce, scores.ibs].map((score) => fixed(score)),
      `${passes} of ${runs}`,
      `${fixed(groupsRejected, 1)} of ${groups}`,
      held === 0 ? "–" : `${fixed(met, 1)} of ${fixed(held, 0)}`,
      fixed(seconds, 1),
    ]),
  );
}

function trueErrorsTable({ trueErrors }: QualitySummary): string {
  return formatMarkdown(
    ["system", ...SHOWN_GROUPS, "mean of 24"],
    trueErrors.map(({ system, shown, mean }) => [system, ...shown.map((error) => fixed(error)), fixed(mean)]),
  );
}

function sayLeads({ table, leads }: QualitySummary["leads"][number]): string {
  const said = leads.map(({ other, scores }) => {
    const named = scores.map(({ title, wins, of }) => `${title} (${wins} of ${of})`);
    return `than *${other}* in ${named.length === 0 ? "no score" : listOf(named)}`;
  });
  return `- ${table}: \`graduate\` has the better mean (and is better on so many splits) ${said.join("; ")}.`;
}

function sayRecipe({ recipe: { seed, drsa, graduate, cox, own } }: QualitySummary): string {
  const times = (ece: number) => `${(ece / cox).toFixed(0)} times`;
  return `- With the paper's own recipe on split ${seed} of nwtco the ECE of DRSA is ${fixed(drsa)}, \
${times(drsa)} that of Cox (${fixed(cox)}), and with the L2 constraint ${fixed(graduate)}, ${times(graduate)}; \
that of \`graduate\` is ${fixed(own)}. One split and one initialisation: no test.`;
}

function sayStrata({ table, groups, strata, withoutEvents, lost }: StrataOfTable): string {
  const of = ([least, most]: readonly [number, number]) =>
    least === most ? `${least}` : `${least} to ${most}`;
  return `- Cox with splines, stratified by all groups, has no row for ${table}: its ${groups} groups make ${of(strata)} \
strata among training and validation rows. ${of(withoutEvents)} of them have no event, and ${(100 * lost).toFixed(1)} % \
of the test rows are in these or in new ones.`;
}

function sayPlanted({ name, own, cox, controls }: QualitySummary["planted"][number]): string {
  const below = (others: readonly number[]) => (own < Math.min(...others) ? "below" : "not below");
  return (
    `${name} ${fixed(own)}, ${below(cox)} both Cox models' (${fixedAll(cox)}) ` +
    `and ${below(controls)} every control's (${fixedAll(controls)})`
  );
}

function sayLeastEce({ leastEce: { system, ece, trueMean, place, of } }: QualitySummary): string {
  return `- On the simulated cohort the least ECE is that of *${system}* (${fixed(ece)}), \
whose mean true error, ${fixed(trueMean)}, is number ${place} of ${of} from the least: \
censoring depends on the features there, so that Kaplan-Meier is off too.`;
}
