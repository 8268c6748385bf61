/** The part on real tables of docs/results/held-not-told.md (summaries/held-real.ts has the numbers). */
import type { PairedTest } from "graduate-survival/stats";
import type {
  HeldGroupMeans,
  HeldRealChange,
  HeldRealGroup,
  HeldRealResult,
  HeldRealSummary,
} from "../summaries/held-real.ts";
import { LEVEL } from "../summaries/summary.ts";
import { formatMarkdown, formatSigned, listOf } from "./markdown.ts";

const DIGITS = 4;

export function realTables({ plan, lines, planned, results }: HeldRealSummary): string {
  return `## Real tables

Made by \`graduate reproduce held-real --data DIR\`; the lines are in \`paper/held-real.jsonl\`, the plan is \
\`paper/plans/held-real.json\`. **${lines} of ${planned} planned lines** are there.
A column is kept from the model, and groups over it are held through the other features, as above. The systems are \
those above. flchain is in the repository and is taken without *chapter*; SUPPORT, as DeepSurv published it,
is not. Two names of its header must be swapped: \`x2_race\` has the values 0 to 9, as a number of comorbidities has, and \
\`x3_numcomorb\` six values, 79 % of the people in one and 15 % in another. The latter is taken as the race.

The truth is unknown here: each split's test rows, ${Math.round(100 * plan.split[2])} % of the table, judge. *Gap*: root mean \
square over time of the group's mean curve less its Kaplan-Meier curve. *Noise*: the gap of a perfect
model on so few people, by drawing outcomes from the curves. *Beyond*: √(gap² − noise²), what noise leaves of the \
gap. All three are root mean squares over the splits. *Off*: splits whose gap a perfect model shows in fewer than
one draw of twenty. *At risk*: the distance of the verdict on the test rows, about 1 for a perfect model. *Refuted*: \
splits in which its p-value is below ${LEVEL}. *Worst other*: the largest gap of the groups that are told.
C and IBS are of everyone. Differences to *free* are paired by split, ± a standard error that allows for the people that \
splits share. A group is called off where more splits are than chance alone explains
in 39 of 40 such studies; that counts splits as independent, which they are not quite.

${sayShort(results)}

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
      worstGap.toFixed(DIGITS),
      concordance.toFixed(DIGITS),
      ibs.toFixed(DIGITS),
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
    ...[gap, noise, beyond].map((value) => value.toFixed(DIGITS)),
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

function offOf({ means }: HeldRealGroup, system: string): number {
  return means.find((row) => row.system === system)?.off ?? 0;
}

/** More splits than chance explains. */
function isOff(group: HeldRealGroup, system: string): boolean {
  return offOf(group, system) > group.chance;
}

function sayShort(results: readonly HeldRealResult[]): string {
  const groups = results.flatMap(({ table, groups: own }) =>
    own.map((group) => ({ name: `${group.group} of ${table.name}`, group })),
  );
  const namesOf = (system: string) =>
    groups.filter(({ group }) => isOff(group, system)).map(({ name }) => name);
  const say = (system: string) => {
    const names = namesOf(system);
    return names.length === 0
      ? `with *${system}* none`
      : `with *${system}* ${names.length} (${listOf(names)})`;
  };
  const systems = ["free", "held", "held, strict", "cox", "cox with the column"];
  return `In short: of ${groups.length} groups, ${listOf(systems.map(say))} are off. ${sayTold(results)}`;
}

/** How many of the changes by holding are told from 0, where it was tried. */
function sayTold(results: readonly HeldRealResult[]): string {
  const changes = results.flatMap(({ table, groups, changes: own }) =>
    groups.some(({ tried }) => tried > 0) ? own.map((one) => ({ ...one, table: table.name })) : [],
  );
  const isTold = (test: PairedTest | null) => test !== null && test.p < LEVEL;
  const gaps = changes.flatMap((one) => one.gaps);
  const dearer = changes.filter(({ concordance }) => isTold(concordance));
  const where = dearer.map(({ table, system }) => `${table}, *${system}*`);
  return `Where holding was tried, ${gaps.filter(isTold).length} of ${gaps.length} changes of a gap are told from 0 \
(p < ${LEVEL}, not adjusted), and ${dearer.length} of ${changes.length} changes of C\
${where.length === 0 ? "" : ` (${where.join("; ")})`}.`;
}

/** Whether there was something to repair, and what holding did to it. */
function sayHeld(one: HeldRealGroup, g: number, { splits, changes }: HeldRealResult): string {
  const { group, chance, tried, within } = one;
  const free = offOf(one, "free");
  const begins = isOff(one, "free")
    ? `- **${capital(group)} are off** without holding, in ${free} of ${splits} splits (chance alone: up to ${chance}).`
    : `- **Of ${group} nothing can be shown:** without holding they are off in ${free} of ${splits} splits, and \
chance alone gives up to ${chance}; their gap is not told from its noise.`;
  if (tried === 0) return `${begins} Holding was not tried in any split: the features tell too little.`;
  const moved = changes.map(
    ({ system, gaps }) => `by ${sayChange(gaps[g])} with *${system}* (off in ${offOf(one, system)})`,
  );
  return `${begins} The gap changes ${listOf(moved)}. Holding was tried in ${tried} of ${splits} splits; in ${within} \
of them the training rows were within the slack before.`;
}

function sayPrice({ system, worstGap, concordance, ibs }: HeldRealChange): string {
  if ([worstGap, concordance, ibs].every((test) => test !== null && test.mean === 0 && test.p === 1))
    return `- *${system}* less *free*: nothing.`;
  return `- *${system}* less *free*: C ${sayChange(concordance)}, IBS ${sayChange(ibs)}, worst other \
${sayChange(worstGap)}.`;
}

function sayChange(test: PairedTest | null): string {
  if (test === null) return "–";
  const { mean, standardError, p } = test;
  const chance = p < 0.001 ? "p < 0.001" : `p = ${p.toFixed(3)}`;
  return `${formatSigned(mean, DIGITS)} ± ${standardError.toFixed(DIGITS)} (${chance})`;
}

function capital(text: string): string {
  return text.charAt(0).toUpperCase() + text.slice(1);
}
