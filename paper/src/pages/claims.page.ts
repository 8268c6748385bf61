/**
 * The claims page of docs/results: the paper's statements one by one, in our words, with how each is checked, the
 * verdict, the numbers and the command (claims/ has the statements and judges them).
 */

import { SOURCE_LABELS } from "../claims/board.ts";
import type { ClaimsSummary, RunsOfPlan } from "../claims/claims.ts";
import type { Claim, Finding } from "../claims/entry.ts";
import { LARGEST_PLAUSIBLE_EFFECT } from "../claims/evidence.ts";

import { formatMarkdown } from "./markdown.ts";

const reading = (
  leastRuns: number,
) => `Each statement of the paper is in our own words, with its place. *In print*: judged by the paper's own \
tables (\`paper/published.json\`). *Paper's recipe* and *default preset*: judged
on runs made here, the former over initialisations of one split as in the paper, the latter over splits, or over \
simulated cohorts for eye complication, whose data are
private. Printed means are compared as they are. Runs judge only where a test over them could have decided \
otherwise: every system concerned has runs enough for an exact
sign test to reach 5 % (${leastRuns} or more), and the test used would see a difference of \
${LARGEST_PLAUSIBLE_EFFECT} standard deviations; else the verdict is *too few runs*, of so many planned. A statement
then *holds* or *does not hold* where tests at 5 % say so, not adjusted for their number, and is *not separated* \
where they do not. Percentages about the hospital's patients *cannot be checked* here. A statement that does not \
hold here was not thereby
wrong there: splits, rates, batch sizes and the groups are not all given, and in the default preset the \
baselines too have our network and recipe. MCBoostSurv is our mended form, not the
R package that the paper names ([nwtco](nwtco.md) has both). Scores are means over repeats; the pages of the \
cohorts have spreads and tests. Passes of the logrank are shown as shares.
*Least difference seen*: the smallest mean difference that the test calls significant, in standard deviations of \
the differences between repeats.`;

export function claimsPage({ sections, plans, leastRuns }: ClaimsSummary): string {
  const all = sections.flatMap(({ claims }) => claims);
  const number = (claim: Claim) => all.indexOf(claim) + 1;
  const parts = [
    "# The paper's statements, one by one",
    "Made by `graduate reproduce claims --out docs/results/claims.md` from `paper/published.json`, the " +
      "bundled tables and the results in `paper/results`.",
    reading(leastRuns),
    runsTable(plans),
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

function runsTable(plans: readonly RunsOfPlan[]): string {
  const rows = plans.map(({ name, repeats, planned, made, failed, effect }) => [
    name,
    repeats,
    String(planned),
    String(made),
    failed === 0 ? "–" : String(failed),
    effect === null ? "–" : `${effect.size.toFixed(2)} sd of ${effect.repeats}`,
  ]);
  return formatMarkdown(["plan", "repeats", "runs planned", "made", "failed", "least difference seen"], rows);
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

/** Sources that agree are named together. */
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
