/**
 * A page of docs/results: the tables of one of the paper's cohorts, with their meaning (summaries/cohort.ts has the
 * runs).
 */

import type { Plan } from "../runs/plan.ts";
import type { PageTarget } from "../runs/targets.ts";
import type { CohortSummary, PlanSummary, TargetSummary } from "../summaries/cohort.ts";
import type { Published } from "../summaries/published.ts";
import { keptRulesSection } from "./kept-rules.ts";
import {
  attributeTable,
  differenceTables,
  extraTable,
  populationTable,
  printedAttributes,
  winTables,
} from "./tables.ts";
import { concordanceOfTruth, truthDifferences, truthTable } from "./truth-tables.ts";

const TITLES: Readonly<Record<PageTarget, string>> = {
  nwtco: "nwtco: relapse of Wilms tumour",
  flchain: "flchain: free light chain and mortality",
  eye: "Eye complication, simulated",
};

const NOTES: Readonly<Record<PageTarget, string>> = {
  nwtco:
    "The paper's seven variables include the number of the row, `seqno`; the default of 0.1.0 leaves it out and " +
    "takes `stage` as a category, the paper's plan keeps all seven as numbers.",
  flchain:
    "`chapter` is the chapter of the cause of death: it is known of the dead and of nobody else, so a model that " +
    "sees it knows who died. It is one of the paper's nine variables and the reason for its C-index above .92; " +
    "without it honest models give about .80. Both are shown, always. With it censoring depends on the features, for " +
    "whoever is censored has no chapter: Kaplan-Meier of everyone is then not the mean of the right curves, so that " +
    "logrank and ECE, which compare with it, fault any model more often than the individual logrank, which does not.",
  eye:
    "The hospital's data are private. These people are simulated, from a law fixed before any model was run: " +
    "nobody in them is real, and the printed numbers are of other people. What the simulation gives instead is the " +
    "truth, S(t|x) of everyone.",
};

const REPEATS: Readonly<Record<Plan["repeats"], string>> = {
  splits:
    "The repeats are splits: the seed draws which rows train, validate and test, and the weights. (The paper's " +
    "are initialisations on one split.) Tests are the corrected resampled t, since splits share rows.",
  cohorts:
    "The repeats are cohorts: the seed draws the people, their split and the weights, so repeats are independent " +
    "and tests are Student's paired t.",
  initialisations:
    "The repeats are initialisations on one split, as in the paper; tests are Student's paired t and speak of " +
    "this one test set only. Cox has no initialisation: its repeats are one run.",
};

const READING = `Every number is of the test rows. C is the paper's C-index (ties score 0), *logrank* how often \
the mean curve passes the one-sample logrank at 5 %
(no logrank we know gives the printed column), ECE the paper's over all bins, *total* the harmonic mean of C and \
1 − ECE; mean ± standard deviation
over repeats. Best bold, second underlined, controls aside; \\* and \\*\\*: best against second best at 5 % and \
1 %, as in the paper.
*Controls*: *no multipliers* names the groups, so that the network knows them, and holds nobody to them; \
*placebo groups* names random
groups of the real ones' sizes and overlaps; *all only* names none. Of the other networks only the graduates \
know the groups.
*MCBoostSurv (mended)* is our form of it, *(reference)* the R package's that the paper names, with its faults \
([why two](../decisions/009-boost.md)). *Kept by …*: the same network and loss, its weights kept by the other rule.
*five graduates* is \`train --ensemble 5\`, the mean of five runs of the default of 0.1.0, without the solve. It learns from the \
validation rows too, where the others only stop by them; so does
*Cox, validation rows too*, which is what to compare it with; their time bins reach to the last time of all \
these rows. *graduate with splines* and *five with splines* are one run
and five with \`--splines\`: the effects of numbers may bend.`;

const PAPER_RECIPE = `Where the paper says nothing or this departs from it: one full-batch step of Adam (rate \
5e-3) to a dual step, multipliers stopped at 0, baselines kept by C-index,
and MCBoostSurv mended (*reference* is the R package's form, where it has been run). What lies between DRSA and \
GRADUATE, switched one by one, is in [what the paper's method does](method.md).`;

const ON_DEVICE = `The networks were trained on a graphics device, several at a time: their seconds are of the \
processor beside it. The same seed gives the same digits on the same device;
on a processor it gives another run, since rounding differs and a thousand steps enlarge it.`;

const EXTRA = `*IBS*: integrated Brier score. *Individual logrank*: events against those expected from each \
person's own curve, valid where censoring depends on the features;
how many repeats pass, and the share of groups that do over all repeats (a perfect model: 95 %). *Subgroup ECE*: \
mean over the groups. *Worst-group ECE*: the largest, over bins with ten rows at risk and
groups with ten events and a quarter of the follow-up. *ECE / floor*: in units of the mean ECE a perfect model \
shows on these rows (1 is perfect). *ECE within chance*: repeats in which it
has a p of at least .05 among that model's on the same rows. *Seconds*: of CPU, to fit.`;

const TRUTH = `*Against the truth*: on fresh people whose curves are known. A: r.m.s. over time of a group's \
mean error; B: the same within fifths of true risk; ISE: mean square error of people's own curves.
*Worst*: the largest over the groups, then averaged over repeats; *less generator's*: that group's error less \
the one of the generator's own family, fitted by maximum
likelihood to the same rows, which is what could be reached.`;

export function cohortPage({ target, plans, published }: TargetSummary): string {
  const results = plans.map(({ plan }) => `\`paper/results/${plan.name}.jsonl\``).join(" and ");
  const parts = [
    `# ${TITLES[target]}`,
    `Made by \`graduate reproduce ${target} --tables docs/results/${target}.md\` from ${results}; ` +
      `the runs by \`graduate reproduce ${target}\` and \`graduate reproduce ${target} --preset paper\`.`,
    NOTES[target],
    READING,
    EXTRA,
    ...(target === "eye" ? [TRUTH] : []),
    ...plans.flatMap((one) => planSection(target, one, published)),
    "## Table 1 as printed",
    "A cell there says what a method is made for; the tables above say what came of it.",
    printedAttributes(published),
  ];
  return `${parts.join("\n\n")}\n`;
}

function planSection(target: PageTarget, summary: PlanSummary, published: Published): string[] {
  const { plan, planned, made, failed, cohorts, onDevice } = summary;
  const title = plan.preset === "paper" ? "The paper's recipe" : "The default of 0.1.0, without the solve";
  const head = [`## ${title}`, `${plan.about} ${REPEATS[plan.repeats]}`];
  if (cohorts.length === 0) return [...head, "None of its runs have been made."];
  const failures = failed.length === 0 ? "" : `; these failed: ${failed.join(", ")}`;
  return [
    ...head,
    `${made} of its ${planned} planned runs ${made === 1 ? "has" : "have"} been made${failures}.`,
    ...(plan.preset === "paper" ? [PAPER_RECIPE] : []),
    ...(onDevice ? [ON_DEVICE] : []),
    ...cohorts.flatMap((cohort) => [
      ...cohortSection(target, cohort, published),
      ...(cohort.figures === null ? [] : [figures(cohort.name, cohort.figures)]),
    ]),
  ];
}

function cohortSection(target: PageTarget, cohort: CohortSummary, published: Published): string[] {
  const { isPrinted } = cohort;
  const population = published.population.find((table) => table.cohort === target);
  const wins = published.wins.find((table) => table.cohort === target);
  const ofTable = (number: number | undefined) => (isPrinted ? `Table ${number}` : `As Table ${number}`);
  return [
    `### ${cohort.name} (${cohort.rows.join("/")} rows, ${cohort.groups} groups)`,
    `**${ofTable(population?.table)}**: everyone in the test rows.`,
    populationTable(cohort, isPrinted ? (population?.rows ?? {}) : {}),
    ...headed(
      "**Differences**, paired by repeat; bold where Holm's p over the column is below 5 %.",
      differenceTables(cohort),
    ),
    "**More columns.**",
    extraTable(cohort),
    ...keptRulesSection(cohort),
    ...(cohort.isTrue ? truthSection(cohort) : []),
    ...headed(
      `**${ofTable(wins?.table)}**: wins-losses-draws over the ${cohort.groups} groups, ` +
        `each by a test at 5 %${isPrinted ? ", the printed ones in brackets" : ""}.`,
      winTables(cohort, isPrinted ? wins : undefined),
    ),
    "**Table 1, measured**: within chance is an ECE with a p of at least .05 among a perfect model's on the same rows.",
    attributeTable(cohort),
  ];
}

function truthSection(cohort: CohortSummary): string[] {
  const differences = truthDifferences(cohort);
  return [
    `**Against the truth**, constrained groups. The true curves' C is ${concordanceOfTruth(cohort.runs)}.`,
    truthTable(cohort, "constrained"),
    "**Against the truth**, groups that no system was told of.",
    truthTable(cohort, "audit-only"),
    ...(differences === null ? [] : ["Differences ± standard error.", differences]),
  ];
}

/** Links to the figures that `graduate reproduce figures` draws. */
function figures(cohort: string, name: string): string {
  const path = `figures/${name}`;
  return [
    "**Curves** of the first repeat: everyone's mean beside Kaplan-Meier, and six people's own.",
    `![${cohort}: mean predicted curves of all systems and Kaplan-Meier](${path}-marginal.svg)`,
    `![${cohort}: six people's predicted curves and what became of them](${path}-people.svg)`,
  ].join("\n\n");
}

/** Empty where there are no tables: a single run has no differences. */
function headed(title: string, tables: readonly string[]): string[] {
  return tables.length === 0 ? [] : [title, ...tables];
}
