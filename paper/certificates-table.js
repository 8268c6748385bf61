/**
 * docs/results/certificates.md from the lines of paper/certificates.jsonl.
 *   node paper/certificates-table.js [paper/certificates.jsonl] > docs/results/certificates.md
 */
import { readFileSync } from "node:fs";
import { fileURLToPath } from "node:url";

const path = process.argv[2] ?? fileURLToPath(new URL("certificates.jsonl", import.meta.url));
const lines = readFileSync(path, "utf8")
  .split("\n")
  .filter(Boolean)
  .map((line) => JSON.parse(line))
  .sort((one, other) => one.n - other.n || one.distance - other.distance);

const row = (cells) => `| ${cells.join(" | ")} |`;
const bound = (value) => (value === null ? "–" : value.toFixed(3));
const ratio = (value) => (value === null ? "–" : value.toFixed(1));

function tableOf(basis) {
  const head = [
    "n",
    "true d",
    "observed",
    "exact: held",
    "U",
    "U/d",
    "population: held",
    "U",
    "U/d",
    "tight: held",
    "given",
    "U",
    "U/d",
  ];
  const body = lines
    .filter((line) => line.basis === basis)
    .map(({ n, distance, observed, audits, exact, exactPopulation, tight }) => {
      const held = ({ covered }) => `${((100 * covered) / audits).toFixed(1)} %`;
      return [
        n,
        distance,
        observed.toFixed(3),
        held(exact),
        bound(exact.bound),
        ratio(exact.ratio),
        held(exactPopulation),
        bound(exactPopulation.bound),
        ratio(exactPopulation.ratio),
        held(tight),
        `${(100 * tight.stated).toFixed(0)} %`,
        bound(tight.bound),
        ratio(tight.ratio),
      ];
    });
  return [row(head), row(head.map(() => "--:")), ...body.map(row)].join("\n");
}

const [{ audits, alpha, groups, seed, n: smallest }] = lines;
const level = 100 * (1 - alpha);
// Three binomial standard errors below what is asked for.
const least = (share) => 100 * (share - 3 * Math.sqrt((share * (1 - share)) / audits));
const worst = (key) => Math.min(...lines.map((line) => (100 * line[key].covered) / line.audits));
const censored = lines.reduce((sum, line) => sum + line.censored, 0) / lines.length;

const listBounds = (n) =>
  lines
    .filter((line) => line.n === n && line.distance === 0)
    .map(({ exact, basis }) => `${bound(exact.bound)} (${basis})`)
    .join(" and ");

console.log(`# Certificates under simulation

Made by \`node paper/certificates.js\` and \`node paper/certificates-table.js\`; every cell is a line of \`paper/certificates.jsonl\`. ${audits} audits a cell of
people whose true curves are known, ${groups} overlapping groups at once (everyone, 1.5 n people, and five of about n), ${Math.round(100 * censored)} % censored by chance alone. The
predicted curves are the true ones lowered by d in every bin, so the distance of every group is d. *Held*: the share of audits in which the
bounds of **all** groups held (asked for: ${level} %). *U*: the median bound. *U/d*: the median of bound over true distance; for *exact* that is the distance of the mean
curve of these very people, for *population* and *tight* d itself. *Observed*: the median distance to Kaplan-Meier. *Given*: the share of groups with a tight bound; it is
left out below ten events. What they are and what they assume: [certificates](../concepts/certificates.md).

## λ and bins fixed by training rows

${tableOf("training rows")}

## Without training rows

λ by the size of the group, bins those with ten of the audited rows at risk.

${tableOf("audited rows")}

## What it says

Asked for: exact bounds that hold in at least ${level} % of audits within three binomial standard errors (${least(1 - alpha).toFixed(1)} %), tight ones in 92 % (${least(0.92).toFixed(1)} %). Lowest of all cells:
exact ${worst("exact").toFixed(1)} %, population ${worst("exactPopulation").toFixed(1)} %, tight ${worst("tight").toFixed(1)} %. The bounds are wider than they need be: the exact ones pay for holding at every time and sample
size, the tight ones for the triangle inequality, which takes chance at its worst in the direction of the true gap. In groups of ${smallest} the exact bound of
a perfect model is ${listBounds(smallest)}. Seeds start at ${Math.floor(seed / 1e6) * 1e6}; the places of λ were chosen with others.`);
