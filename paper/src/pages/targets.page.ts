/** The page docs/results/targets.md (summaries/targets.ts has the numbers). */
import type { TargetsSummary, TargetTable } from "../summaries/targets.ts";
import { CLASH_LEVEL } from "../summaries/targets.ts";
import { formatMarkdown, formatSigned, listOf } from "./markdown.ts";

export function targetsPage({ plan, tables: [eye, flchain], wishes, worst }: TargetsSummary): string {
  const met = wishes.filter(({ isMet }) => isMet).length;
  return `# Survival known from outside

Made by \`graduate reproduce targets\` and \`graduate reproduce targets --page\`; every run is a line of \
\`paper/targets.jsonl\`, and the plan is \`paper/plans/targets.json\`.
**${eye.lines} of ${eye.plannedLines} planned lines** of the simulated people are there and ${flchain.lines} of \
${flchain.plannedLines} of flchain. Means are over the draws that
have every system. What targets are, and what they assume: [targets](../concepts/targets.md).

## Simulated people, a registry of the same law

${plan.eye.rows} local people of the simulated eye cohort (level ${plan.eye.level}, ${plan.eye.censoring} censoring), \
four fifths to train and a fifth to validate. The targets are Kaplan-Meier curves
with Greenwood's standard errors of ${plan.eye.registryPeople} other people, at ${listOf(plan.eye.years.map(String))} \
years, for everyone and for ${listOf(plan.eye.groups.map((one) => `\`${one}\``))}. Curves are judged on
${plan.eye.truthPeople} fresh people against their true ones. *A*: root mean square over time of the gap between a \
group's mean predicted and mean true curve; *worst A* is the largest of
the five. *ISE*: everyone's mean squared error of single curves. *With targets, slack 1* is the default of \`--targets\`, \
*with targets* weighs them beside the rows
(\`--target-slack auto\`). ${eye.seeds} of ${eye.planned} draws.

${meansTable(eye)}

${sayDifferences(eye)}

${formatMarkdown(
  ["wanted", "measured; without targets", ""],
  wishes.map(({ what, measured, isMet }) => [what, measured, isMet ? "met" : "**missed**"]),
)}

${met} of ${wishes.length} are met. ${sayWorst(eye, worst[0])}

**Clashes.** The local people follow the registry's law, so every clash is a false alarm. At Holm's p below \
${CLASH_LEVEL}, ${eye.clashed} of ${eye.seeds} draws have one; a test at its level would have
${(CLASH_LEVEL * eye.seeds).toFixed(1)} on average. *Observed / expected* is of all draws' local people together.

${clashTable(eye)}

## Real people, a life table

${plan.flchain.rows} people of flchain learn (a fifth of them validates), without *chapter*; the remaining people \
judge. The targets are what Minnesota's life table expects at 1, 3, 5, 8 and 10 years
of someone of the mean age of an age band and sex from 1995 on, with a standard error of .005 \
(\`paper/life-table\`). The life table is the state's and the people are of one county,
so targets may clash; they are held all the same. ECE is the paper's, its mean over the bands with \
ten events. ${flchain.seeds} of ${flchain.planned} draws.

${meansTable(flchain)}

${sayDifferences(flchain)} Draws share most of
the people who judge: the standard errors say how draws differ, not how other people would.

**Clashes.** ${flchain.clashed} of ${flchain.seeds} draws have one. *Observed / expected* is of all draws' learning \
people together.

${clashTable(flchain)}
`;
}

function meansTable({ columns, means }: TargetTable): string {
  return formatMarkdown(
    ["system", ...columns.map(({ name }) => name)],
    means.map(({ system, values }) => [
      system,
      ...values.map((value, k) => value.toFixed(columns[k].digits)),
    ]),
  );
}

function clashTable({ clashes, seeds }: TargetTable): string {
  return formatMarkdown(
    ["group", "events a draw", "observed / expected", "draws with a clash"],
    clashes.map(({ group, draws, events, ratio }) => [
      group,
      events.toFixed(1),
      ratio.toFixed(2),
      `${draws} of ${seeds}`,
    ]),
  );
}

/** Whose error the worst is, and how few of them there are. */
function sayWorst(
  { clashes, seeds }: TargetTable,
  { group, draws }: TargetsSummary["worst"][number],
): string {
  const events = clashes.find((one) => one.group === group)?.events;
  return events === undefined
    ? ""
    : `Without targets the worst group is \`${group}\` in ${draws} of ${seeds} draws, which has \
${events.toFixed(1)} events a draw.`;
}

/** Differences paired by draw. */
function sayDifferences({ columns, differences }: TargetTable): string {
  const systems = [...new Set(differences.map(({ system }) => system))];
  const sentences = systems.map((system) => {
    const parts = differences
      .filter((one) => one.system === system)
      .map(({ column, mean, error }, k) => {
        const { digits } = columns[k];
        return `${column} ${formatSigned(mean, digits)}${error === null ? "" : ` ± ${error.toFixed(digits)}`}`;
      });
    return `*${system}* less *without targets*: ${parts.join(", ")}.`;
  });
  return `Paired by draw, ± standard error: ${sentences.join(" ")}`;
}
