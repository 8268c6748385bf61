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
tables (\`paper/published.json\`). *Paper's recipe* and *default of 0.1.0, without the solve*: judged
on runs made here, the former over initialisations of one split as in the paper, the latter over splits, or over \
simulated cohorts for eye complication, whose data are
private. Printed means are compared as they are. Runs judge only where a test over them could have decided \
otherwise: every system concerned has runs enough for an exact
sign test to reach 5 % (${leastRuns} or more), and the test used would see a difference of \
${LARGEST_PLAUSIBLE_EFFECT} standard deviations; else the verdict is *too few runs*, of so many planned. A statement
then *holds* or *does not hold* where tests at 5 % say so, not adjusted for their number, and is *not separated* \
where they do not. Percentages about the hospital's patients *cannot be checked* here. A statement that does not \
hold here was not thereby
wrong there: splits, rates, batch sizes and the groups are not all given, and in the default of 0.1.0 the \
baselines too have our network and recipe. MCBoostSurv is our mended form; the
R package that the paper names is *reference*. Scores are means over repeats; the pages of the \
cohorts have spreads and tests. Passes of the logrank are shown as shares.
*Least difference seen*: the smallest mean difference that the test calls significant, in standard deviations of \
the differences between repeats. A test finds a difference of that size in half of the cases only. *Found with \
80 % power* is what it finds in four of five. The last column has that in mean ECE of the groups, for GRADUATE (L²) \
less each of the four baselines: the least and the most.`;

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
    ...describeEffect(effect),
  ]);
  return formatMarkdown(
    [
      "plan",
      "repeats",
      "runs planned",
      "made",
      "failed",
      "least difference seen",
      "found with 80 % power",
      "in ECE",
    ],
    rows,
  );
}

function describeEffect(effect: RunsOfPlan["effect"]): string[] {
  if (effect === null) return ["–", "–", "–"];
  const { least, found, repeats, inEce } = effect;
  return [
    `${least.toFixed(2)} sd of ${repeats}`,
    `${found.toFixed(2)} sd`,
    inEce === null ? "–" : inEce.map((value) => value.toFixed(4)).join(" to "),
  ];
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
