/** The part on real tables of docs/results/held-not-told.md (summaries/held-real.ts has the numbers). */
import type { PairedTest } from "graduate/stats";
import type {
  HeldGroupMeans,
  HeldRealChange,
  HeldRealGroup,
  HeldRealResult,
  HeldRealSummary,
} from "../summaries/held-real.ts";
import { LEVEL } from "../summaries/summary.ts";
import { formatMarkdown, formatSigned, listOf } from "./markdown.ts";

export function realTables({ plan, lines, planned, results }: HeldRealSummary): string {
  return `## Real tables

Made by \`graduate reproduce held-real --data DIR\`; the lines are in \`paper/held-real.jsonl\`, the plan is \
\`paper/plans/held-real.json\`. **${lines} of ${planned} planned lines** are there.
A column is kept from the model, and groups over it are held through the other features, as above. The systems are \
those above. flchain is in the repository and is taken without *chapter*; SUPPORT, as DeepSurv published it,
is not. Its header has two names swapped: the race is in \`x3_numcomorb\` (all rows were matched to the study's own table).

The truth is unknown here: each split's test rows, ${Math.round(100 * plan.split[2])} % of the table, judge. *Gap*: root mean \
square over time of the group's mean curve less its Kaplan-Meier curve. *Noise*: the gap of a perfect
model on so few people, by drawing outcomes from the curves. *Beyond*: √(gap² − noise²), what noise leaves of the \
gap. All three are root mean squares over the splits. *Off*: splits whose gap a perfect model shows in fewer than
one draw of twenty. *At risk*: the distance of the verdict on the test rows, about 1 for a perfect model. *Refuted*: \
splits in which its p-value is below ${LEVEL}. *Worst other*: the largest gap of the groups that are told.
C and IBS are of everyone. Differences to *free* are paired by split, ± a standard error that allows for the people that \
splits share.

${results.map(describeResult).join("\n\n")}`;
}

function describeResult(result: HeldRealResult): string {
  const { table, splits, groups, means, changes } = result;
  const one = formatMarkdown(
    ["group", "system", "gap", "noise", "beyond", "off", "at risk", "met", "refuted"],
    groups.flatMap(({ group, means: own }) =>
      own.map((row, k) => [k === 0 ? group : "", row.system, ...groupCells(row, splits)]),
    ),
  );
  const everyone = formatMarkdown(
    ["system", "worst other", "C", "IBS"],
    means.map(({ system, worstGap, concordance, ibs }) => [
      system,
      worstGap.toFixed(4),
      concordance.toFixed(4),
      ibs.toFixed(4),
    ]),
  );
  return `### ${table.name}, held by ${table.by}

${splits} splits; \`--protected ${table.protected.join(",")}\`. ${groups.map(sayGroup).join(" ")}

${one}

${everyone}

${groups.map((group, g) => sayHeld(group, g, result)).join("\n")}
${changes.map(sayPrice).join("\n")}`;
}

function groupCells(
  { gap, noise, beyond, off, atRisk, met, refuted }: HeldGroupMeans,
  splits: number,
): string[] {
  const count = (value: number | null) => (value === null ? "" : `${value} of ${splits}`);
  return [
    ...[gap, noise, beyond].map((value) => value.toFixed(4)),
    count(off),
    atRisk.toFixed(2),
    count(met),
    count(refuted),
  ];
}

function sayGroup({ group, n, events, auc, tell }: HeldRealGroup): string {
  return `${capital(group)}: ${n.toFixed(0)} test rows and ${events.toFixed(0)} events a split; the features tell \
them with an area of ${auc.toFixed(2)}, \`${tell}\` most.`;
}

/** Whether there was something to repair, and what holding did to it. */
function sayHeld(one: HeldRealGroup, g: number, { splits, changes }: HeldRealResult): string {
  const { group, means, chance } = one;
  const offOf = (system: string) => means.find((row) => row.system === system)?.off ?? 0;
  const free = offOf("free");
  const moved = changes.map(
    ({ system, gaps }) => `*${system}* changes the gap by ${sayChange(gaps[g], 4)} (off in ${offOf(system)})`,
  );
  const begins =
    free > chance
      ? `- **${capital(group)} are off** without holding, in ${free} of ${splits} splits (chance alone: up to ${chance}).`
      : `- **Of ${group} nothing can be shown:** without holding they are off in ${free} of ${splits} splits, and \
chance alone gives up to ${chance}. Their gap is within its noise.`;
  return `${begins} ${capital(listOf(moved), 1)}. ${sayTried(one, splits)}`;
}

function sayTried({ tried, within }: HeldRealGroup, splits: number): string {
  if (tried === 0) return "Holding was not tried in any split: the features tell too little.";
  return `Holding was tried in ${tried} of ${splits}; in ${within} of them the training rows were within the slack before.`;
}

function sayPrice({ system, worstGap, concordance, ibs }: HeldRealChange): string {
  return `- *${system}* less *free*: C ${sayChange(concordance, 4)}, IBS ${sayChange(ibs, 4)}, worst other \
${sayChange(worstGap, 4)}.`;
}

function sayChange(test: PairedTest | null, digits: number): string {
  if (test === null) return "–";
  const { mean, standardError, p } = test;
  if (mean === 0 && standardError === 0) return "nothing";
  const chance = p < 0.001 ? "p < 0.001" : `p = ${p.toFixed(3)}`;
  return `${formatSigned(mean, digits)} ± ${standardError.toFixed(digits)} (${chance})`;
}

/** With a large first letter, after so many marks. */
function capital(text: string, marks = 0): string {
  return text.slice(0, marks) + text.charAt(marks).toUpperCase() + text.slice(marks + 1);
}
