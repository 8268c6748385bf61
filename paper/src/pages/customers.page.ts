/** The page on customers' lifetimes: what a table of them asks for, and what was measured on simulated ones. */
import type { CustomerSystem } from "../studies/customers.ts";
import {
  CUSTOMER_SCORES,
  type CustomerRow,
  type CustomerScore,
  type CustomersSize,
  type CustomersSummary,
} from "../summaries/customers.ts";
import { LEVEL } from "../summaries/summary.ts";
import { formatMarkdown, listOf } from "./markdown.ts";
import { formatChance } from "./tables.ts";

const NAMES: Readonly<Record<CustomerSystem, string>> = {
  cox: "Cox",
  "cox with group terms": "Cox with group terms",
  "cox with group terms of all rows": "… of all rows",
  start: "additive start",
  "start of all rows": "… of all rows",
  graduate: "graduate",
};

/** Where a name stands by itself. */
const FULL_NAMES: { readonly [System in CustomerSystem]?: string } = {
  "cox with group terms of all rows": "Cox with group terms of all rows",
  "start of all rows": "additive start of all rows",
};

/** Title, unit and digits of a score. */
const SCORES: Readonly<Record<CustomerScore, readonly [string, number, number]>> = {
  worst: ["worst group's A, points", 100, 2],
  average: ["mean A, points", 100, 2],
  ise: ["ISE × 1000", 1000, 2],
  months: ["lifetime off by, months", 1, 2],
};

const TRY = `## Try it

\`\`\`sh
graduate reproduce customers --write customers
graduate train customers/customers.csv --time months --event cancelled --groups customers/groups.json --fast --report customers.html
\`\`\`

A customer who has not cancelled is censored, not lost: the table needs a row a customer, the months since joining, and \
whether they ended in a cancellation. A group's mean curve, summed over months, is its expected lifetime; times the \
price it is what a customer of that group brings. That sum is right for a group only where its curve is.`;

export function customersPage(summary: CustomersSummary): string {
  const { plan, planned, made, sizes } = summary;
  const parts = [
    "# Customers' lifetimes by plan and region",
    `Made by \`graduate reproduce customers --page docs/results/customers.md\` from \`paper/customers.jsonl\`: ${made} of ` +
      `${planned} planned lines. The paper names customers' lifetimes as future work; this is that example.`,
    "Customers are simulated, so that their true curves are known. The law, written down before any model was run " +
      "(`paper/src/customers/law.ts`): who cancels depends on plan, region, age, devices, calls for support and paying " +
      "by standing order; customers with a discount stay for its twelve months and leave when it ends; from month 18 " +
      "on a rival courts premium customers in the south; basic customers in the west leave less after month 6. They " +
      "joined over the last four years, in the west over the last two and a half, and are followed until today. " +
      `Groups: 3 plans, 4 regions, and the 12 plans within regions. Scores are of ${plan.truthCustomers} fresh customers: A, the ` +
      "distance of a group's mean curve from the true one; ISE, of single curves; and how far the group's predicted " +
      `lifetime within ${plan.horizon} months is from the true one.`,
    ...sizes.flatMap(sizeSection),
    "*Cox with group terms* has a column for every group, which is the cheapest way to tell a model of them. *Additive " +
      "start* is what graduate begins with, told of the groups, before training and the solve. *Of all rows*: with " +
      "the validation rows among those learnt by, as in graduate's last solve.",
    TRY,
  ];
  return `${parts.join("\n\n")}\n`;
}

function sizeSection({ rows, systems, groups }: CustomersSize): string[] {
  const cell = (row: CustomerRow, score: CustomerScore) => {
    const [, by, digits] = SCORES[score];
    const { mean, error } = row.scores[score];
    return `${(by * mean).toFixed(digits)}${error === null ? "" : ` ± ${(by * error).toFixed(digits)}`}`;
  };
  const furthest = groups.toSorted((a, b) => missOf(b) - missOf(a)).slice(0, 5);
  return [
    `## ${rows.toLocaleString("en")} customers`,
    formatMarkdown(
      ["", "cohorts", ...CUSTOMER_SCORES.map((score) => SCORES[score][0])],
      systems.map((row) => [
        NAMES[row.system],
        String(row.seeds),
        ...CUSTOMER_SCORES.map((score) => cell(row, score)),
      ]),
    ),
    systems
      .filter(({ system }) => system !== "graduate")
      .flatMap(sayDifference)
      .join("\n"),
    "Expected months, the five groups that Cox misses most:",
    formatMarkdown(
      ["", "true", ...systems.map(({ system }) => NAMES[system])],
      furthest.map(({ group, trueMonths, months }) => [
        group,
        trueMonths.toFixed(2),
        ...systems.map(({ system }) => months[system]?.toFixed(2) ?? "–"),
      ]),
    ),
  ];
}

function missOf({ trueMonths, months }: CustomersSize["groups"][number]): number {
  return Math.abs((months.cox ?? trueMonths) - trueMonths);
}

/** Which scores graduate has better, worse, or neither, by a paired t-test at 5 %. */
function sayDifference({ system, differences }: CustomerRow): string[] {
  const found = CUSTOMER_SCORES.flatMap((score) => {
    const difference = differences[score];
    return difference === null ? [] : [{ score, ...difference }];
  });
  if (found.length === 0) return [];
  const name = ({ score, p }: (typeof found)[number]) =>
    `${SCORES[score][0].replace(/, .*| ×.*/, "")} (p ${formatChance(p)})`;
  const say = (verdict: string, list: typeof found) =>
    list.length === 0 ? [] : [`${verdict} in ${listOf(list.map(name))}`];
  const clear = found.filter(({ p }) => p < LEVEL);
  const parts = [
    ...say(
      "better",
      clear.filter(({ mean }) => mean < 0),
    ),
    ...say(
      "worse",
      clear.filter(({ mean }) => mean > 0),
    ),
    ...say(
      "not separated",
      found.filter(({ p }) => !(p < LEVEL)),
    ),
  ];
  return [`- graduate against ${FULL_NAMES[system] ?? NAMES[system]}: ${parts.join("; ")}.`];
}
