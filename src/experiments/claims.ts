/**
 * The claims page of docs/results: the paper's statements one by one, in our words, with how each is checked, the verdict, the numbers and
 * the command. Nothing is run for it: it reads the printed tables and the results that are there, and says how many of the planned
 * runs these are.
 */

import type { ClaimInputs } from "./claims-board.ts";
import { SOURCE_LABELS, TARGETS } from "./claims-board.ts";
import { claimsOnData } from "./claims-data.ts";
import type { Claim, Finding } from "./claims-entry.ts";
import { claimsOnEveryone } from "./claims-everyone.ts";
import { detectableEffect, LARGEST_PLAUSIBLE_EFFECT, leastSignP } from "./claims-evidence.ts";
import { claimsOnGroups } from "./claims-groups.ts";
import { claimsOnMethod } from "./claims-method.ts";
import { type PlanResults, PRINTED_COHORT } from "./page.ts";
import { expandPlan, lineKey } from "./plan.ts";
import { collectRuns, LEVEL } from "./summary.ts";
import { formatMarkdown } from "./tables.ts";

export type { ClaimInputs, TableFacts } from "./claims-board.ts";

export interface ClaimSection {
  readonly title: string;
  readonly claims: readonly Claim[];
}

export function collectClaims(inputs: ClaimInputs): readonly ClaimSection[] {
  return [
    { title: "The data and the design", claims: claimsOnData(inputs) },
    { title: "Everyone in the test rows", claims: claimsOnEveryone(inputs) },
    { title: "Subpopulations", claims: claimsOnGroups(inputs) },
    { title: "Other scores, the constraint, the theorem", claims: claimsOnMethod(inputs) },
  ];
}

const READING = `Each statement of the paper is in our own words, with its place. *In print*: judged by the paper's own tables (\`paper/published.json\`). *Paper's recipe* and *default preset*: judged
on runs made here, the former over initialisations of one split as in the paper, the latter over splits, or over simulated cohorts for eye complication, whose data are
private. Printed means are compared as they are. Runs judge only where a test over them could have decided otherwise: every system concerned has runs enough for an exact
sign test to reach 5 % (${leastRuns()} or more), and the test used would see a difference of ${LARGEST_PLAUSIBLE_EFFECT} standard deviations; else the verdict is *too few runs*, of so many planned. A statement
then *holds* or *does not hold* where tests at 5 % say so, not adjusted for their number, and is *not separated* where they do not. Percentages about the hospital's patients *cannot be checked* here. A statement that does not hold here was not thereby
wrong there: splits, rates, batch sizes and the groups are not all given, and in the default preset the baselines too have our network and recipe. MCBoostSurv is our mended form, not the
R package that the paper names ([nwtco](nwtco.md) has both). Scores are means over repeats; the pages of the cohorts have spreads and tests. Passes of the logrank are shown as shares.
*Least difference seen*: the smallest mean difference that the test calls significant, in standard deviations of the differences between repeats.`;

export function claimsPage(inputs: ClaimInputs): string {
  const sections = collectClaims(inputs);
  const all = sections.flatMap(({ claims }) => claims);
  const number = (claim: Claim) => all.indexOf(claim) + 1;
  const parts = [
    "# The paper's statements, one by one",
    `Made by \`graduate reproduce claims --out docs/results/claims.md\` from \`paper/published.json\`, the bundled tables and the results in \`paper/results\`.`,
    READING,
    runsTable(inputs),
    formatMarkdown(
      ["", "statement", "verdict"],
      all.map((claim) => [String(number(claim)), claim.title, describeFindings(claim.findings)]),
    ).replace("| --- | --: | --: |", "| --: | --- | --- |"),
    ...sections.flatMap(({ title, claims }) => [
      `## ${title}`,
      ...claims.flatMap((claim) => describeClaim(claim, number(claim))),
    ]),
  ];
  return `${parts.join("\n\n")}\n`;
}

/** How many of the planned runs exist, and what the tests over them can see. */
function runsTable({ plans }: ClaimInputs): string {
  const rows = [...plans].map(([name, { plan, results }]) => {
    const planned = expandPlan(plan);
    const made = planned.filter((line) => results?.runs.has(lineKey(line)) === true).length;
    const failed = results?.failures.size ?? 0;
    return [
      name,
      plan.repeats,
      String(planned.length),
      String(made),
      failed === 0 ? "–" : String(failed),
      describeEffect(name, { plan, results }),
    ];
  });
  return formatMarkdown(["plan", "repeats", "runs planned", "made", "failed", "least difference seen"], rows);
}

/** Of the cohort that is judged, at the runs that most of its systems have. */
function describeEffect(name: string, { plan, results }: PlanResults): string {
  const target = TARGETS.find((one) => name.endsWith(one));
  if (target === undefined || results === undefined) return "–";
  const systems = [...collectRuns(results, PRINTED_COHORT[target]).values()];
  const most = systems.reduce((longest, runs) => (runs.length > longest.length ? runs : longest), []);
  const effect = detectableEffect({ n: most.length, kind: plan.repeats, rows: most[0]?.rows ?? [1, 1, 1] });
  return Number.isFinite(effect) ? `${effect.toFixed(2)} sd of ${most.length}` : "–";
}

/** For which the exact sign test can reach the level. */
function leastRuns(): number {
  let n = 1;
  while (leastSignP(n) >= LEVEL) n++;
  return n;
}

function describeClaim(claim: Claim, number: number): string[] {
  const { title, place, statement, check, findings, table, note, command } = claim;
  return [
    `### ${number}. ${title}`,
    `*Stated* (${place}): ${statement}`,
    `*Checked by*: ${check}`,
    `**Verdict**: ${describeFindings(findings)}.`,
    ...(table === "" ? [] : [table]),
    ...(note === undefined ? [] : [note]),
    `Command: ${command}.`,
  ];
}

/** The sources that say the same are named together. */
function describeFindings(findings: readonly Finding[]): string {
  const texts = [...new Set(findings.map(({ text }) => text))];
  return texts
    .map((text) => {
      const sources = findings.flatMap((finding) =>
        finding.text === text && finding.source !== null ? [SOURCE_LABELS[finding.source]] : [],
      );
      return sources.length === 0 ? text : `${sources.join(" and ")}: ${text}`;
    })
    .join("; ");
}
