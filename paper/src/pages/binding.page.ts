/** The page docs/results/binding.md: what holding a run to its groups does (summaries/binding.ts has the numbers). */
import { type BindingPartLine, PART_LINES } from "../studies/binding-parts.ts";
import type { BindingSystem } from "../studies/binding-systems.ts";
import {
  type BindingDifference,
  type BindingMeans,
  type BindingSize,
  type BindingSummary,
  WANTED_RESIDUAL,
  WANTED_SHARE,
  type WorstGroup,
} from "../summaries/binding.ts";
import type { Estimate } from "../summaries/summary.ts";
import { formatMarkdown, formatSigned, listOf } from "./markdown.ts";

/** Digits of errors A and of ISE. */
const DIGITS = { worst: 4, ise: 5, everyone: 4, average: 4 } as const;
const TITLES = {
  worst: "worst told A",
  ise: "ISE",
  everyone: "A of everyone",
  average: "mean told A",
} as const;

export function bindingPage(summary: BindingSummary): string {
  const { done, planned, told, truthPeople, sizes, differences, idle } = summary;
  const wanted = differences.filter(({ score }) => score === "worst" || score === "ise");
  const seen = differences.filter((one) => !wanted.includes(one));
  return `# Held to its groups

Made by \`graduate reproduce binding\` and \`graduate reproduce binding --page\`; every run is a line of
\`paper/binding.jsonl\`, and \`paper/plans/binding.json\` is the plan. **${done} of ${planned} planned lines are done**${
    done < planned ? "; what is said below is of these" : ""
  }.

People are drawn from the law of the simulated eye cohort (level 2, dependent censoring), so the true curves are known.
Every seed draws people, split and weights anew. ${told} groups are told, and everyone. Scores are of ${truthPeople}
fresh people. *A* is the root mean square over time of a group's mean predicted minus mean true curve: of everyone, of
the worst told group of each run, and on average over the told groups. *ISE* is each person's mean squared error. C is
the C-index of the fresh people, uncensored. Numbers are means over seeds ± standard errors. *Met* counts groups over all
runs, on the rows that the run was fitted to. *Residual* is the largest of all runs. *Kept the start*: runs whose
validation rows did not want the trained network. Seconds are of one thread on a busy machine; those of the end are of
choosing the mixture and solving.

The systems: *held* is one run of the default, *held, five runs* the mean of five, the default of so small a table. *Trained* is the same without the solve, *start* without that and without
training; *start of all rows* learns from the validation rows too, as *held* does. *0.1.0* and its start take the columns as version 0.1.0 did: numbers as they are, no splines. The controls with
4374 rows are held too, but to everyone alone, or to groups of random members; *no solve of groups* is the network on
the likelihood alone. *Cox with splines* has natural splines of every number (4 df), as R's \`coxph\` with \`ns(x, 4)\`, and learns from the validation rows too: with a 0/1
column for each group (*and group terms*), or with a baseline hazard for every combination of groups (*stratified*, R's \`strata\`).
${sizes.map(sizeSection).join("")}
## The simplest rival: Cox with splines, stratified by three groups

${sayThree(summary)}

## What was wanted, and whether it holds

A difference holds or does not where a t-test of the paired differences says so at 5 %; else it is unclear, and the
sign is that of the mean.

${[sayRatio(summary), ...wanted.map(sayDifference), sayMet(summary), sayResidual(summary)].join("\n")}

## Seen beside that

Other errors of *held* less those of the starts, over the same seeds; below zero *held* is better.

${seen.length === 0 ? "No line is done." : differencesTable(seen)}

Do the constraints bind? In ${listOf(idle.map(sayIdle))}
the output layer solved without any constraint met every group already, and the last solve took no step. What such a run has over its start comes from solving the layer and from
the rows it is solved on, not from the constraints.

*Held* has more to learn from: its last solve is on training and validation rows together, and the other starts and the trained
networks learn from the training rows alone. *Start of all rows* and the controls that are held have the same rows as *held*.

${sayMoreRows(differences)}

## Large tables and many groups

${sayParts(summary.parts)}
`;
}

const STRATIFIED: BindingSystem = "cox with splines, stratified by three";
const TERMS: BindingSystem = "cox with splines and group terms";
const UNTOLD: BindingSystem = "held, all only";

/** The runs that are told of three groups alone, and what strata buy. */
function sayThree({ three, sizes, told, allMet }: BindingSummary): string {
  const { rows, done, planned, means, rivals } = three;
  if (means.length === 0) return "No line is done.";
  const name = (system: BindingSystem) =>
    system === UNTOLD ? `${system} (the default without groups)` : system;
  return `Three groups are named and no other: ${listOf(three.told)}. They are those whose hazards differ in the law, so these are the strata \
of the law itself. ${done} of ${planned} planned lines, with ${rows} rows each.

${meansTable(means.map((one) => ({ ...one, system: name(one.system) })))}

${rivalsTable([...rivals, ...sizes.flatMap((size) => size.rivals)])}

${sayRival(rivals, means)}

${sizes.map((size) => sayAbsent(size, told)).join("\n")}${allMet.runs === allMet.of ? sayAllMet(told) : ""} \
Strata run out of events on real tables too: [twelve overlapping groups of nwtco](quality.md), [seven other tables](tables.md).`;
}

function rivalsTable(rivals: readonly BindingDifference[]): string {
  return formatMarkdown(
    ["*held* less", "groups named", "rows", "score", "difference", "better for", "by the t-test"],
    rivals.map(({ part, rows, score, other, seeds, difference: { mean, error }, wins, found }) => [
      other,
      part === "three" ? "three" : "all",
      String(rows),
      TITLES[score],
      `${formatSigned(mean, DIGITS[score])}${error === null ? "" : ` ± ${error.toFixed(DIGITS[score])}`}`,
      `${wins} of ${seeds}`,
      found,
    ]),
  );
}

/** What the strata of three groups buy, and what the model adds; of the runs that are told of these three. */
function sayRival(rivals: readonly BindingDifference[], means: readonly BindingMeans[]): string {
  const of = (system: BindingSystem) => means.find((one) => one.system === system);
  const against = (score: BindingDifference["score"]) =>
    rivals.find((one) => one.other === STRATIFIED && one.score === score);
  const [held, strata, terms, untold] = (["held", STRATIFIED, TERMS, UNTOLD] as const).map(of);
  const [worst, ise] = [against("worst"), against("ise")];
  if (!held || !strata || !terms || !untold || !worst || !ise) return "Not known yet.";
  const calibration = {
    unclear: "Stratifying by three groups buys the same calibration by group as the constrained solve",
    better: "Stratifying by three groups buys less calibration by group than the constrained solve",
    worse: "Stratifying by three groups buys more calibration by group than the constrained solve",
  }[worst.found];
  const share = 100 * (1 - held.ise.mean / strata.ise.mean);
  const single = {
    better: `What the model adds: single curves are ${share.toFixed(0)} % nearer to the truth`,
    unclear: "The model adds nothing that these runs show in single curves",
    worse: `The model's single curves are ${(-share).toFixed(0)} % farther from the truth`,
  }[ise.found];
  const [A, I] = [DIGITS.worst, DIGITS.ise];
  const { mean, error } = worst.difference;
  const gap = `${formatSigned(mean, A)}${error === null ? "" : ` ± ${error.toFixed(A)}`}, ${worst.found}`;
  return `${calibration}: the worst A is ${strata.worst.mean.toFixed(A)} against ${held.worst.mean.toFixed(A)} \
(*held* less it ${gap}). \
${single}: ISE ${held.ise.mean.toFixed(I)} against ${strata.ise.mean.toFixed(I)}. Group terms do not buy it \
(${terms.worst.mean.toFixed(A)}), and without groups the default has ${untold.worst.mean.toFixed(A)}.`;
}

const sayAllMet = (told: number) =>
  ` *Held* met everyone and all ${told} groups in every run on the same rows.`;

/** Where strata of all groups run out of events. */
function sayAbsent({ rows, absent }: BindingSize, told: number): string {
  return absent
    .map(({ system, seeds, strata, withoutEvents, lost }) => {
      const [least, most] = lost.map((share) => (100 * share).toFixed(0));
      return `*${system}* by all ${told} groups is absent with ${rows} rows, in ${ofSeeds(seeds)}. The groups overlap: they make \
${strata.join(" to ")} strata among the rows learnt from. ${withoutEvents.join(" to ")} strata have no event, and \
${least} to ${most} % of fresh people are in these or in new ones.`;
    })
    .join("\n");
}

const ROWS_ALONE: BindingSystem = "start of all rows";

/** What held has over a start of the same rows: more rows cannot explain that. */
function sayMoreRows(differences: readonly BindingDifference[]): string {
  const own = differences.filter(
    ({ other, score }) => other === ROWS_ALONE && (score === "worst" || score === "ise"),
  );
  const found = (words: BindingDifference["found"]) =>
    own.filter((one) => one.found === words).map(({ score, rows }) => `${TITLES[score]} with ${rows} rows`);
  const parts = [
    ["nearer to the truth", found("better")],
    ["farther from it", found("worse")],
    ["not told apart", found("unclear")],
  ] as const;
  const said = parts.flatMap(([words, which]) =>
    which.length === 0 ? [] : [`${words} in ${listOf(which)}`],
  );
  return `Against the start of the same rows *held* is ${listOf(said)}.`;
}

function sizeSection({ rows, done, planned, means, worstGroups }: BindingSize): string {
  return `
## ${rows} rows

${done} of ${planned} planned lines.

${means.length === 0 ? "No line is done." : meansTable(means)}
${worstGroups.length === 0 ? "" : `\nThe worst told group of *held*: ${listOf(worstGroups.map(sayTimes))}.\n`}`;
}

function sayIdle({ rows, runs, of }: BindingSummary["idle"][number]): string {
  return `${runs} of ${of} runs of *held* with ${rows} rows`;
}

function sayTimes({ group, runs, error }: WorstGroup): string {
  return `${group} (${runs} ${runs === 1 ? "run" : "runs"}, A ${error.toFixed(DIGITS.worst)})`;
}

function within({ mean, error }: Estimate, digits: number): string {
  return `${mean.toFixed(digits)}${error === null ? "" : ` ± ${error.toFixed(digits)}`}`;
}

function meansTable(means: readonly (Omit<BindingMeans, "system"> & { readonly system: string })[]): string {
  return formatMarkdown(
    [
      "system",
      "seeds",
      "A of everyone",
      "A, worst told",
      "A, mean told",
      "ISE",
      "C",
      "met",
      "residual",
      "kept the start",
      "seconds",
      "of the end",
    ],
    means.map((one) => [
      one.system,
      String(one.seeds),
      within(one.everyone, DIGITS.worst),
      within(one.worst, DIGITS.worst),
      within(one.average, DIGITS.worst),
      within(one.ise, DIGITS.ise),
      within(one.concordance, 4),
      one.held === 0 ? "–" : `${one.met} of ${one.held}`,
      one.residual === null ? "–" : one.residual.toExponential(1),
      one.keptStart === null ? "–" : `${one.keptStart.runs} of ${one.keptStart.of}`,
      one.seconds.toFixed(1),
      one.endSeconds === null ? "–" : one.endSeconds.toFixed(1),
    ]),
  );
}

/** Of what is counted; a plan that is not done may still say something else. */
function verdict(holds: boolean, { done, planned }: BindingSummary): string {
  return `**${holds ? "Holds" : "Does not hold"}${done < planned ? " so far" : ""}.**`;
}

const ofSeeds = (seeds: number) => `${seeds} ${seeds === 1 ? "seed" : "seeds"}`;

function sayRatio(summary: BindingSummary): string {
  const { ratio } = summary;
  const wanted = `the worst told A of *held* is at most ${WANTED_SHARE} of that of *0.1.0*`;
  if (ratio === null) return `- Not known yet: ${wanted}.`;
  const { rows, seeds, value, within: met } = ratio;
  return `- ${verdict(value <= WANTED_SHARE, summary)} With ${rows} rows ${wanted}: it is ${value.toFixed(2)} of it \
in the mean, and at most ${WANTED_SHARE} of it for ${met} of ${ofSeeds(seeds)}.`;
}

const FOUND = { better: "**Holds.**", worse: "**Does not hold.**", unclear: "**Unclear.**" } as const;

function sayDifference({ rows, score, other, seeds, difference, wins, found }: BindingDifference): string {
  const { mean, error } = difference;
  const digits = DIGITS[score];
  const spread = error === null ? "no standard error from one seed" : `± ${error.toFixed(digits)}`;
  return `- ${FOUND[found]} With ${rows} rows the ${TITLES[score]} of *held* is no worse than that of *${other}*: \
the paired difference is ${formatSigned(mean, digits)} (${spread}), and *held* is better for ${wins} of \
${ofSeeds(seeds)}.`;
}

function differencesTable(differences: readonly BindingDifference[]): string {
  return formatMarkdown(
    ["score", "rows", "against", "difference", "better for", "by the t-test"],
    differences.map(({ rows, score, other, seeds, difference: { mean, error }, wins, found }) => [
      TITLES[score],
      String(rows),
      other,
      `${formatSigned(mean, DIGITS[score])}${error === null ? "" : ` ± ${error.toFixed(DIGITS[score])}`}`,
      `${wins} of ${seeds}`,
      found,
    ]),
  );
}

function sayMet(summary: BindingSummary): string {
  const { allMet, told } = summary;
  const { runs, of, supported } = allMet;
  if (of === 0) return "- Not known yet: every supported group is met in every run of *held*.";
  return `- ${verdict(runs === of, summary)} Every supported group is met in every run of *held*: in ${runs} of ${of}. All \
${told + 1} groups, with everyone, had support enough in ${supported} of ${of}.`;
}

function sayResidual(summary: BindingSummary): string {
  const { residual } = summary;
  const wanted = `no solve leaves a residual above ${WANTED_RESIDUAL}`;
  if (residual === null) return `- Not known yet: ${wanted}.`;
  const { largest, runs } = residual;
  return `- ${verdict(largest <= WANTED_RESIDUAL, summary)} Of ${runs} runs with a solve, ${wanted}: the largest is \
${largest.toExponential(1)}.`;
}

function sayParts(parts: readonly BindingPartLine[]): string {
  const count = `${parts.length} of ${PART_LINES} planned lines, one seed each, made by \`reproduce binding --parts\`. *MCBoostSurv* repairs, on the validation rows, a network that is told of no group. \
Memory is the most that the process had held by then, with the lines before.`;
  return [`${count}`, ...(parts.length === 0 ? [] : ["", ...parts.map(sayPart), ...sayMany(parts)])].join(
    "\n",
  );
}

/** Whether telling all 300 groups makes a run truer of them than telling 23. */
function sayMany(parts: readonly BindingPartLine[]): string[] {
  const many = parts.filter((line) => line.part === "many groups");
  const [few, all] = [23, 300].map((told) => many.find((line) => line.told === told));
  if (few === undefined || all === undefined) return [];
  const word = all.meanError < few.meanError ? "truer" : "less true";
  return [
    "",
    `Told of all 300 groups a run is ${word} of them than told of 23: its mean A is \
${(all.meanError / few.meanError).toFixed(2)} times as large and its ISE ${(all.ise / few.ise).toFixed(2)} times. \
Being met on the rows of the solve is not the same as being true. One seed.`,
  ];
}

function sayPart(line: BindingPartLine): string {
  const { rows, seed, met, held, residual, seconds, megabytes } = line;
  const solved = residual === null ? "" : `, residual ${residual.toExponential(1)}`;
  const kept = held === 0 ? "" : `${met} of ${held} groups met${solved}; `;
  const ran = `${kept}${seconds.toFixed(0)} s, ${megabytes} MB at most`;
  switch (line.part) {
    case "size":
      return `- *held* with ${rows} rows and ${line.groups} groups (seed ${seed}): ${ran}. True A of everyone \
${line.everyoneError.toFixed(4)}, of the worst told group ${line.worstError.toFixed(4)}.`;
    case "jump":
      return `- *held* with ${rows} rows and ${line.columns} columns, the hazard times ${line.jump} in a tenth of the \
time, two groups (seed ${seed}): everyone is ${line.everyone}; ${ran}. Test rows: largest z of everyone \
${line.largestZ.toFixed(2)}, individual logrank p ${line.logrankIndividualP.toFixed(3)}.`;
    case "many groups":
      return `- *${line.system}* with ${rows} rows (seed ${seed}), scored on ${line.groups} groups: true A \
${line.meanError.toFixed(4)} in the mean, ${line.worstError.toFixed(4)} at worst; ISE ${line.ise.toFixed(5)}, C \
${line.concordance.toFixed(4)}; ${ran}.`;
  }
}
