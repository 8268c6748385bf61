/**
 * The price of holding: for each group that the model may not see, how well its columns give membership away, what
 * holding the group did to its distance, and what everyone paid for it.
 */
import { countOf } from "../../core/text.ts";
import { BUDGETS } from "../../training/solve/frontier.ts";
import type { BlindPoint, BlindReport, SolveReport } from "../../training/solve/hold.ts";
import type { GroupVerdict } from "../../training/solve/verdict.ts";
import type { ReportData, ReportTraining } from "../data/report-data.ts";
import { createCells } from "../data/small-cells.ts";
import { type Html, html, nameOf } from "../page/html.ts";
import type { PlotDocument } from "../plots/plot-canvas.ts";
import { drawPrice } from "../plots/plot-price.ts";
import { formatNumber } from "../words/text-table.ts";
import { sayReason } from "./training.ts";

/** What is drawn and listed along the frontier. */
const COSTS: readonly Cost[] = [
  { title: "C-index", read: ({ concordance }) => concordance, digits: 4, leastSpan: () => 0.01 },
  { title: "Integrated Brier score", read: ({ ibs }) => ibs, digits: 4, leastSpan: () => 0.01 },
  {
    title: "Largest distance of the other groups",
    read: ({ others }) => others,
    digits: 3,
    leastSpan: (largest) => 0.3 * largest,
  },
];

interface Cost {
  readonly title: string;
  readonly read: (point: BlindPoint) => number | null;
  readonly digits: number;
  /** The least range of its axis, given the largest value. */
  readonly leastSpan: (largest: number) => number;
}

/** Below this a change of C or of the Brier score is called none. */
const LEAST_COST = 5e-4;

/** Columns that tell less than this share of what the strongest tells are not named. */
const WEAK = 0.1;

export function renderPrice(data: ReportData, document: PlotDocument): Html | null {
  const { training } = data;
  const solve = training?.solve;
  if (!training || !solve || solve.blind.length === 0) return null;
  const known = new Set(solve.blind.map(({ group }) => group));
  const others = training.constraints.filter(({ told, group }) => !told && !known.has(group));
  return html`<section aria-labelledby="price"><h2 id="price">The price of holding</h2>
<p class="lead">These groups are held, and the model never sees who is in them. It can come closer to such a group \
only through columns that tell membership, and everyone who resembles its members is moved along. \
${sayBudget(solve, rowsOf(data))}</p>
<div class="stack">
${solve.blind.map((one) => renderGroup(one, training, rowsOf(data), document))}
${others.map((one) => renderUntried(one, data))}
</div></section>`;
}

function renderGroup(one: BlindReport, training: ReportTraining, rows: string, document: PlotDocument): Html {
  const { group, frontier } = one;
  const together = training.solve?.blind.filter((other) => other.frontier.length > 0).length ?? 1;
  const verdict = training.constraints.find((other) => other.group === group);
  return html`<div class="card"><h3>${nameOf(group)}</h3>
<p>The model never sees who is in ${nameOf(group)}. ${sayPrice(one, verdict, together - 1)}</p>
<p class="lead">${sayFeatures(one)}</p>
${frontier.length < 2 ? null : html`<div class="three">${drawCosts(one, document)}</div>`}
${frontier.length < 2 ? null : renderPoints(one, training, rows, verdict)}</div>`;
}

/** A group that the rows say too little of. */
function renderUntried(verdict: GroupVerdict, data: ReportData): Html {
  const cells = createCells(data.hidesSmallCells);
  const { group, status, reason } = verdict;
  const why = reason === null ? "" : `: ${sayReason(reason, verdict, cells)}`;
  const said = status === "met" ? "It is within its slack as it is" : `It is not held${why}`;
  return html`<div class="card"><h3>${nameOf(group)}</h3>
<p>The model never sees who is in this group. ${said}.</p></div>`;
}

/** The rest of it in words that need no statistics. */
function sayPrice({ auc, frontier }: BlindReport, verdict: GroupVerdict | undefined, beside: number): string {
  const told = `Its other columns tell membership with an area under the curve of ${auc.toFixed(2)} (0.5 is chance). `;
  const [first, last] = [frontier[0], frontier[frontier.length - 1]];
  if (frontier.length === 0) return `${told}${sayHidden(verdict)}`;
  if (frontier.length === 1) {
    return (
      `${told}No point that holds it closer is within the budget: the group is left at a distance of ` +
      `${shortOf(first.distance)}.`
    );
  }
  const [before, after] = [shortOf(first.distance), shortOf(last.distance)];
  const holding =
    beside === 0 ? "Holding the group" : `Holding the group together with ${countOf(beside, "other group")}`;
  const moved =
    before === after ? `left its distance at ${after}` : `cut its distance from ${before} to ${after}`;
  return `${told}${holding} ${moved}${sayGap(first, last)} and ${sayCost(first, last)}.`;
}

/** Of the mean curve, where that is held beside the distance. */
function sayGap({ gap: before }: BlindPoint, { gap: after }: BlindPoint): string {
  if (before === undefined || after === undefined) return "";
  return `, and the gap of its mean curve from ${shortOf(before)} to ${shortOf(after)},`;
}

/** Why a group that the features hardly tell is left alone. */
function sayHidden(verdict: GroupVerdict | undefined): string {
  const why =
    "That is too little to go by: holding the group would bend everyone’s curves and hardly close its gap, so it is " +
    "left as it is";
  if (verdict === undefined) return `${why}.`;
  const { distance, slack, status } = verdict;
  const within = status === "met" ? `, which is within its slack of ${shortOf(slack)} all the same` : "";
  return `${why}, at a distance of ${shortOf(distance.solve)}${within}.`;
}

function sayCost(first: BlindPoint, last: BlindPoint): string {
  if (first.concordance === null || last.concordance === null) {
    return `cost everyone ${shortOf(last.lost)} nats of log-likelihood`;
  }
  const cost = first.concordance - last.concordance;
  if (Math.abs(cost) < LEAST_COST) return "cost everyone less than 0.001 of C-index";
  return cost > 0
    ? `cost everyone ${cost.toFixed(3)} of C-index`
    : `raised the C-index by ${(-cost).toFixed(3)}`;
}

/** Two digits that matter: 3.6, 0.41, 0.0023. */
function shortOf(value: number): string {
  return String(Number(value.toPrecision(2)));
}

function sayFeatures({ features }: BlindReport): string {
  if (features.length === 0) return "No column tells membership.";
  const least = WEAK * Math.abs(features[0].slope);
  const strong = features.filter(({ slope }) => Math.abs(slope) >= least);
  const named = strong.map(
    ({ name, slope }) => `${name} (${slope > 0 ? "+" : "−"}${Math.abs(slope).toFixed(2)})`,
  );
  return (
    `What gives the group away, strongest first: ${named.join(", ")}. In brackets: by how much the log-odds of ` +
    "membership change with a standard deviation of the column."
  );
}

/** What could be paid, in words. */
function sayBudget({ blind, hold }: SolveReport, rows: string): Html | null {
  const tried = blind.find(({ frontier }) => frontier.length > 0);
  if (tried === undefined) return null;
  const { budget } = tried;
  if (budget === null) return html`A slack was named for them, so there was no budget.`;
  const option = html`<code>--hold ${hold}</code>`;
  if (hold === "free") return html`The budget was 0: holding them may cost no likelihood at all (${option}).`;
  return html`The budget: holding them may cost ${100 * BUDGETS[hold]} % of the log-likelihood that the model gains \
over Kaplan-Meier on the ${rows}, here ${shortOf(budget)} nats (${option}).`;
}

/** The rows that price a point: an ensemble has no validation rows of its own. */
function rowsOf({ training, cohort }: ReportData): string {
  const hasValidation = training?.members === 1 && cohort.trainedOn?.validation !== 0;
  return hasValidation ? "validation rows" : "training rows";
}

function drawCosts({ group, frontier }: BlindReport, document: PlotDocument): readonly (Html | null)[] {
  return COSTS.map(({ title, read, digits, leastSpan }) => {
    const points = frontier.flatMap((point) => {
      const cost = read(point);
      return cost === null ? [] : [{ distance: point.distance, cost }];
    });
    if (points.length < 2) return null;
    const [first, last] = [points[0], points[points.length - 1]];
    const largest = Math.max(...points.map(({ cost }) => cost));
    const axis = { leastSpan: leastSpan(largest), tickFormat: largest < 0.01 ? "~g" : `.${digits - 1}f` };
    const says =
      `${title} against the distance of ${group}: ${formatNumber(first.cost, digits)} at ` +
      `${shortOf(first.distance)}, ${formatNumber(last.cost, digits)} at ${shortOf(last.distance)}, which was kept.`;
    return html`<figure><h4>${title}</h4><div class="figure" role="img" aria-label="${says}">\
${drawPrice(document, points, axis)}</div></figure>`;
  });
}

function renderPoints(
  { group, frontier }: BlindReport,
  { distance, solve }: ReportTraining,
  rows: string,
  verdict: GroupVerdict | undefined,
): Html {
  const hasGap = frontier.every(({ gap }) => gap !== undefined);
  const gapTitle = hasGap ? ["Gap of the mean curve"] : [];
  const columns = ["Distance", ...gapTitle, ...COSTS.map(({ title }) => title), "Nats lost"];
  const last = frontier.length - 1;
  const again =
    verdict === undefined || !solve || solve.solvedOn === "training rows"
      ? ""
      : ` The model was then solved once more, on ${solve.solvedOn} together: there the group’s distance is ` +
        `${formatNumber(verdict.distance.solve, 3)}.`;
  const ofCurve = hasGap
    ? "Gap: root mean square over time between the group’s mean curve and the one it would have if the model were " +
      "told of it. "
    : "";
  const inWords = distance === null ? "" : `Distance: ${distance}, on the training rows. ${ofCurve}`;
  return html`<p class="lead">Ring: the group is not held. Filled: the point that was kept. ${inWords}C-index, Brier \
score and nats of log-likelihood lost are those of the ${rows}.${again}</p>
<div class="scroll" tabindex="0" role="region" aria-label="The frontier of ${group}">\
<table class="constraints">
<thead><tr><th scope="col">Point</th>${columns.map((title) => html`<th scope="col">${title}</th>`)}</tr></thead>
<tbody>${frontier.map((point, k) => {
    const name = k === 0 ? "not held" : `held to ${formatNumber(point.share, 2)} of the root distance`;
    const values = [
      formatNumber(point.distance, 3),
      ...(hasGap ? [formatNumber(point.gap ?? null, 4)] : []),
      ...COSTS.map(({ read, digits }) => formatNumber(read(point), digits)),
      formatNumber(point.lost, 2),
    ];
    return html`<tr><th scope="row">${name}${k === last ? html`<small>kept</small>` : null}</th>\
${values.map((value, c) => html`<td data-label="${columns[c]}">${value}</td>`)}</tr>`;
  })}</tbody></table></div>`;
}
