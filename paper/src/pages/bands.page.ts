/** The page on bands and bounds: how often they hold the truth of simulated people, and where they do not. */
import type { BandKind } from "../studies/bands.ts";
import type { BandPart, BandRow, BandsSummary } from "../summaries/bands.ts";
import type { Estimate } from "../summaries/summary.ts";
import { formatMarkdown } from "./markdown.ts";

const KINDS: Readonly<Record<BandKind, string>> = {
  shipped: "graduate, as shipped",
  products: "… products of columns for the form: judged, not taken",
  "posterior alone": "… posterior alone, nothing for the form",
  "spread of the runs": "… spread of its runs alone",
};

/** What a law is to the constants. */
const LAWS: Readonly<Record<string, string>> = {
  loans: "Loans: a judge",
  valves: "Valves: a judge",
  members: "Members: a judge",
  grafts: "Grafts: a law that the constants were chosen on, other seeds",
  wards: "Wards: a law that the constants were chosen on, other seeds",
  clinics: "Clinics: a law that the constants were chosen on, other seeds",
  eye: "Eye cohort: a law that the constants were chosen on, other seeds",
};

const percent = (share: number) => (100 * share).toFixed(1);
const withError = ({ mean, error }: Estimate) =>
  `${percent(mean)}${error === null ? "" : ` ± ${percent(error)}`}`;

export function bandsPage(summary: BandsSummary): string {
  const { plan, planned, made, parts } = summary;
  const wanted = parts.map((part) => ({ part, covered: shippedOf(part)?.covered.mean ?? Number.NaN }));
  const within = wanted.filter(({ covered }) => covered >= 0.93 && covered <= 0.97);
  const places = (list: typeof wanted) =>
    list.map(({ part, covered }) => `${part.law} ${count(part.rows)} (${percent(covered)} %)`).join(", ");
  const outside = wanted.filter((one) => !within.includes(one));
  return `${[
    "# Bands and bounds against the truth",
    `Made by \`graduate reproduce bands --page docs/results/bands.md\` from \`paper/bands.jsonl\`: ${made} of ${planned} ` +
      "planned lines. The plans, with what was chosen on which law and seed and what was tried before, are " +
      "`paper/plans/bands.json` and, for the valves and the members, `paper/plans/bands-products.json`; each was " +
      "committed before its runs.",
    `Covered: the share of ${count(plan.freshPeople)} fresh people and of the edges of the time grid at which a ` +
      `pointwise ${percent(plan.level)} % band holds the true S(t|x), a mean over cohorts with its standard error. ` +
      "Width: upper less lower, a mean. Wanted: 93 to 97 %.",
    `Within that: ${within.length === 0 ? "none" : places(within)}. Outside: ` +
      `${outside.length === 0 ? "none" : places(outside)}.`,
    ...parts.flatMap(partSection),
    "*Cox* is of the same features, without the groups, with the errors that R's `survfit` gives it and nothing added: its " +
      "bands are narrow, and right only where its form is. *Spread of its runs* takes the five runs of an ensemble as a " +
      "jackknife, on four degrees of freedom, and nothing else. *Products of columns*: what the form misses is " +
      "estimated from the rows, by products of two columns in one Newton step ([decision 19](../decisions/019-bands.md)).",
  ].join("\n\n")}\n`;
}

function shippedOf({ bands }: BandPart): BandRow | undefined {
  return bands.find(({ system, kind }) => system === "graduate" && kind === "shipped");
}

const count = (value: number) => Math.round(value).toLocaleString("en");

function partSection(part: BandPart): string[] {
  const { law, rows, events, bands, byRisk, byTime, groups, bounds, bytes } = part;
  const tenths = Array.from({ length: 10 }, (_, k) => String(k + 1));
  const smallest = groups.slice(0, 3);
  const lowest = groups.toSorted((a, b) => a.covered - b.covered).slice(0, 3);
  const hasProducts = bands.some(({ kind }) => kind === "products");
  const leastHeld = groups.toSorted((a, b) => a.held - b.held)[0];
  const nameGroup = ({ group, rows: own, covered }: BandPart["groups"][number]) =>
    `${group} (${count(own)} rows) ${percent(covered)}`;
  return [
    `## ${LAWS[law] ?? law}, ${count(rows)} people`,
    `${count(events)} events among the training rows; a model of ${count(bytes.model / 1000)} kB, of which ` +
      `${count(bytes.uncertainty / 1000)} kB are for bands${hasProducts ? ", those of the products among them" : ""}.`,
    formatMarkdown(
      ["bands", "cohorts", "covered, %", "width"],
      bands.map(({ system, kind, cohorts, covered, width }) => [
        system === "cox" ? "Cox, delta method" : KINDS[kind],
        String(cohorts),
        withError(covered),
        width.toFixed(3),
      ]),
    ),
    "Covered by the shipped bands, %, by tenths of the true risk (lowest first) and of the time grid:",
    formatMarkdown(
      ["", ...tenths],
      [
        ["risk", ...byRisk.map(percent)],
        ["time", ...byTime.map(percent)],
      ],
    ),
    `Smallest groups: ${smallest.map(nameGroup).join("; ")}. Least covered: ${lowest.map(nameGroup).join("; ")}.`,
    formatMarkdown(
      ["lower bound, level 0.9", "event at it or later, %", "bound at the end, % of people"],
      bounds.map(({ system, held, beyond }) => [
        system === "cox" ? "Cox, everyone" : "graduate, everyone and by group",
        withError(held),
        percent(beyond),
      ]),
    ),
    `The group in which graduate's bound holds least often: ${leastHeld.group}, ${percent(leastHeld.held)} %.`,
  ];
}
