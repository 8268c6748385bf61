/**
 * The claims page of docs/results: the paper's statements one by one, in our words, with how each is checked, the verdict, the numbers and
 * the command. Nothing is run for it: it reads the printed tables and the results that are there, and says "not run yet" of the rest.
 */

import { claimsOnData } from "./claims-data.ts";
import type { Claim, ClaimInputs, Finding } from "./claims-entry.ts";
import { SOURCE_LABELS } from "./claims-entry.ts";
import { claimsOnEveryone } from "./claims-everyone.ts";
import { claimsOnGroups } from "./claims-groups.ts";
import { claimsOnMethod } from "./claims-method.ts";
import { formatMarkdown } from "./tables.ts";

export type { ClaimInputs, TableFacts } from "./claims-entry.ts";

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

const READING = `Each statement of the paper is in our own words, with its place. *In print*: judged by the paper's own tables (\`paper/published.json\`). *Paper's recipe* and *default preset*: judged by the same rule
on runs made here, the former over initialisations of one split as in the paper, the latter over splits, or over simulated cohorts for eye complication, whose data are
private. A statement that does not hold here was not thereby wrong there: splits, rates, batch sizes and the groups are not all given, and in the default preset the baselines too have our
network and recipe. Scores are means over repeats; the pages of
the cohorts have spreads and tests. Passes of the logrank are shown as shares.`;

export function claimsPage(inputs: ClaimInputs): string {
  const sections = collectClaims(inputs);
  const all = sections.flatMap(({ claims }) => claims);
  const number = (claim: Claim) => all.indexOf(claim) + 1;
  const parts = [
    "# The paper's statements, one by one",
    `Made by \`graduate reproduce claims --out docs/results/claims.md\` from \`paper/published.json\`, the bundled tables and the results in \`paper/results\`${describeResults(inputs)}.`,
    READING,
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

function describeResults({ plans }: ClaimInputs): string {
  const there = [...plans].flatMap(([name, { results }]) =>
    results === undefined || results.runs.size === 0 ? [] : [`${name} ${results.runs.size}`],
  );
  return there.length === 0 ? ", of which there are none yet" : ` (runs: ${there.join(", ")})`;
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
