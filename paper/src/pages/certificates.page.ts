/** The page docs/results/certificates.md: how often certificates hold (summaries/certificates.ts has the numbers). */
import type { CertificateLine } from "../studies/certificates.ts";
import type { CertificatesSummary } from "../summaries/certificates.ts";
import { formatMarkdown } from "./markdown.ts";

const bound = (value: number | null) => (value === null ? "–" : value.toFixed(3));
const ratio = (value: number | null) => (value === null ? "–" : value.toFixed(1));
const percent = (share: number) => `${(100 * share).toFixed(1)} %`;

export function certificatesPage(summary: CertificatesSummary): string {
  const { audits, groups, censored, cells, least, worst, smallest, firstSeed } = summary;
  const level = 100 * summary.level;
  return `# Certificates under simulation

Made by \`graduate reproduce certificates\` and \`graduate reproduce certificates --page\`; \
every cell is a line of \`paper/certificates.jsonl\`. ${audits} audits a cell of
people whose true curves are known, ${groups} overlapping groups at once \
(everyone, 1.5 n people, and five of about n), ${Math.round(100 * censored)} % censored by chance alone. The
predicted curves are the true ones lowered by d in every bin, so the distance of every group is d. \
*Held*: the share of audits in which the
bounds of **all** groups held (asked for: ${level} %). *U*: the median bound. \
*U/d*: the median of bound over true distance; for *exact* that is the distance of the mean
curve of these very people, for *population* and *tight* d itself. \
*Observed*: the median distance to Kaplan-Meier. *Given*: the share of groups with a tight bound; it is
left out below ten events. What they are and what they assume: [certificates](../concepts/certificates.md).

## λ and bins fixed by training rows

${cellsTable(cells["training rows"])}

## Without training rows

λ by the size of the group, bins those with ten of the audited rows at risk.

${cellsTable(cells["audited rows"])}

## What it says

Asked for: exact bounds that hold in at least ${level} % of audits within three binomial standard errors \
(${percent(least.exact)}), tight ones in 92 % (${percent(least.tight)}). Lowest of all cells:
exact ${percent(worst.exact)}, population ${percent(worst.exactPopulation)}, tight ${percent(worst.tight)}. \
The bounds are wider than they need be: the exact ones pay for holding at every time and sample
size, the tight ones for the triangle inequality, \
which takes chance at its worst in the direction of the true gap. In groups of ${smallest.n} the exact bound of
a perfect model is ${smallest.bounds.map((one) => `${bound(one.bound)} (${one.basis})`).join(" and ")}. \
Seeds start at ${firstSeed}; the places of λ were chosen with others.
`;
}

function cellsTable(cells: readonly CertificateLine[]): string {
  const table = formatMarkdown(
    [
      ...["n", "true d", "observed"],
      ...["exact: held", "U", "U/d"],
      ...["population: held", "U", "U/d"],
      ...["tight: held", "given", "U", "U/d"],
    ],
    cells.map(({ n, distance, observed, audits, exact, exactPopulation, tight }) => [
      String(n),
      String(distance),
      bound(observed),
      percent(exact.covered / audits),
      bound(exact.bound),
      ratio(exact.ratio),
      percent(exactPopulation.covered / audits),
      bound(exactPopulation.bound),
      ratio(exactPopulation.ratio),
      percent(tight.covered / audits),
      `${(100 * tight.stated).toFixed(0)} %`,
      bound(tight.bound),
      ratio(tight.ratio),
    ]),
  );
  return table.replace("| --- |", "| --: |");
}
