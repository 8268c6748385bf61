/**
 * How the model was trained: loss, validation C and each group's distance and multiplier by step, and the constraints
 * at the end.
 */

import { countOf } from "../../core/text.ts";
import { DISTANCES } from "../../training/choices.ts";
import type { SolveReport } from "../../training/solve/hold.ts";
import type { GroupVerdict, VerdictStatus } from "../../training/solve/verdict.ts";
import type { HistoryEntry, ReportData, ReportTraining } from "../data/report-data.ts";
import { type Cells, createCells, formatCount } from "../data/small-cells.ts";
import { type Html, html, nameOf } from "../page/html.ts";
import type { PlotDocument } from "../plots/plot-canvas.ts";
import { drawSeries, type SeriesLine } from "../plots/plot-series.ts";
import { iconOf, unitOf } from "../words/report-words.ts";
import { formatNumber, formatP } from "../words/text-table.ts";

/** The groups drawn in colour, with their names; the others stay grey. */
const NAMED_LINES = 4;

export function renderTraining(data: ReportData, document: PlotDocument): Html | null {
  const { training } = data;
  if (training === null) return null;
  const { history, constraints } = training;
  return html`<section aria-labelledby="training"><h2 id="training">How the model was trained</h2>
<p class="lead">${describeRun(training)}</p>
<div class="stack">
${history.length < 2 ? null : html`<div class="two">${renderHistory(training, document)}</div>`}
${constraints.length === 0 ? null : renderConstraints(training, data)}
</div></section>`;
}

function describeRun(training: ReportTraining): string {
  const { method, members, steps, bestStep, history, fixedPenalty, solve } = training;
  const kept =
    bestStep === steps || keepsStart(training)
      ? ""
      : `; the weights kept are those of step ${formatCount(bestStep)}`;
  if (members > 1) {
    return (
      `Method ${method}: the mean of ${members} runs of ${formatCount(steps)} steps in all, each with ` +
      "another part of the training rows for its validation."
    );
  }
  const recorded = history.length < 2 ? " No history was recorded." : "";
  const penalty = fixedPenalty ? " The multipliers hardly moved: this run was a fixed penalty." : "";
  return `Method ${method}, ${formatCount(steps)} steps${kept}.${sayMixture(solve)}${recorded}${penalty}`;
}

function renderHistory(training: ReportTraining, document: PlotDocument): readonly Html[] {
  const { history, bestStep, steps } = training;
  const kept = bestStep === steps || keepsStart(training) ? {} : { keptStep: bestStep };
  const single = (name: string, value: (entry: HistoryEntry) => number | null): SeriesLine => ({
    name,
    isNamed: true,
    points: history.flatMap((entry) => {
      const at = value(entry);
      return at === null ? [] : [{ step: entry.step, value: at }];
    }),
  });
  const loss = single("loss", (entry) => entry.loss);
  const concordance = single("C", (entry) => entry.concordance);
  const draw = (title: string, line: SeriesLine, count: number) =>
    line.points.length < 2
      ? null
      : renderFigure(
          title,
          `${title}: ${endpoints(line, count)}.`,
          html`${endpoints(line, count)}.`,
          drawSeries(document, [line], { scale: "linear", ...kept }),
        );
  const ratios = groupLines(
    history,
    ({ distance, slack }) => (slack > 0 ? distance / slack : null),
    lastValue,
  );
  // Multipliers of constraints that are met fall to 0, so the peaks show which constraints were ever active.
  const multipliers = groupLines(history, ({ multiplier }) => multiplier, largestValue);
  const figures = [
    draw("Loss on the validation rows", loss, 4),
    draw("C-index on the validation rows", concordance, 3),
    ratios.length === 0
      ? null
      : renderFigure(
          "Each group’s distance over its slack",
          `Distance divided by slack of ${ratios.length} groups by step. At the end: ${listEnds(ratios, 2)}.`,
          html`Below 1 the constraint is met. In colour the ${Math.min(NAMED_LINES, ratios.length)} largest at \
the end.`,
          drawSeries(document, ratios, { scale: "log", reference: { value: 1, label: "slack" }, ...kept }),
        ),
    multipliers.length === 0
      ? null
      : renderFigure(
          "Each group’s multiplier",
          `Multipliers of ${multipliers.length} groups by step. At the end: ${listEnds(multipliers, 4)}.`,
          html`How hard the constraint presses; 0 is not at all. In colour the \
${Math.min(NAMED_LINES, multipliers.length)} that pressed hardest.`,
          drawSeries(document, multipliers, { scale: "linear", ...kept }),
        ),
  ];
  return figures.filter((figure) => figure !== null);
}

function renderFigure(title: string, says: string, caption: Html, content: Html): Html {
  return html`<figure class="card"><h3>${title}</h3><div class="figure" role="img" aria-label="${says}">${content}\
</div><figcaption>${caption}</figcaption></figure>`;
}

function endpoints({ points }: SeriesLine, count: number): string {
  const [first, last] = [points[0], points[points.length - 1]];
  return (
    `${formatNumber(first.value, count)} at step ${formatCount(first.step)}, ` +
    `${formatNumber(last.value, count)} at step ${formatCount(last.step)}`
  );
}

function lastValue({ points }: SeriesLine): number {
  return points[points.length - 1].value;
}

function listEnds(lines: readonly SeriesLine[], count: number): string {
  return lines.map((line) => `${line.name} ${formatNumber(lastValue(line), count)}`).join(", ");
}

function largestValue({ points }: SeriesLine): number {
  return points.reduce((largest, { value }) => Math.max(largest, value), Number.NEGATIVE_INFINITY);
}

/** One line per group, highest rank first; empty when the history has no groups or the value is always 0. */
function groupLines(
  history: readonly HistoryEntry[],
  value: (group: NonNullable<HistoryEntry["groups"]>[number]) => number | null,
  rank: (line: SeriesLine) => number,
): readonly SeriesLine[] {
  const points = new Map<string, { step: number; value: number }[]>();
  for (const { step, groups = [] } of history) {
    for (const group of groups) {
      const at = value(group);
      if (at === null || !Number.isFinite(at)) continue;
      const line = points.get(group.name) ?? [];
      line.push({ step, value: at });
      points.set(group.name, line);
    }
  }
  const lines = [...points].map(([name, own]) => ({ name, points: own, isNamed: false }));
  if (!lines.some(({ points: own }) => own.length > 1 && own.some((point) => point.value > 0))) return [];
  return lines.sort((a, b) => rank(b) - rank(a)).map((line, k) => ({ ...line, isNamed: k < NAMED_LINES }));
}

const STATUS_LOOKS: Readonly<Record<VerdictStatus, "within" | "off" | "few">> = {
  met: "within",
  infeasible: "off",
  unmet: "off",
  unsupported: "few",
};

function renderConstraints({ constraints, distance, solve }: ReportTraining, data: ReportData): Html {
  const cells = createCells(data.hidesSmallCells);
  const chip = (status: VerdictStatus) => {
    const look = STATUS_LOOKS[status];
    return html`<span class="chip ${look}">${look === "few" ? null : iconOf(look)} ${status}</span>`;
  };
  const columns = [
    unitOf(data) === "row" ? "Rows" : "People",
    "Events",
    "Slack",
    "Distance",
    "On test rows",
    "p, all groups",
    "Price",
    "Status",
  ];
  const rows = solve?.solvedOn ?? "training rows";
  const onTest =
    distance === null || distance === DISTANCES.atRisk.words ? "the same" : DISTANCES.atRisk.words;
  const inWords = distance === null ? "" : `Distance: ${distance}. `;
  return html`<div class="card"><h3>What each group was held to</h3>
<p class="lead">${inWords}Slack: the distance allowed on the ${rows}. On test \
rows: ${onTest}, for people whom nothing was fitted to, and p, the chance of as large a distance if the predicted \
events are right. Price: nats of log-likelihood that a unit of slack costs.</p>
<div class="scroll" tabindex="0" role="region" aria-label="What each group was held to">\
<table class="constraints">
<thead><tr><th scope="col">Group</th>${columns.map((title) => html`<th scope="col">${title}</th>`)}</tr></thead>
<tbody>${constraints.map((one) => {
    // Nothing is said of a few people but that there are few.
    const shown = cells.shows(one.n);
    const number = (value: number | null | undefined, digits: number) =>
      shown ? formatNumber(value, digits) : "–";
    const values: readonly (string | Html)[] = [
      cells.text(one.n),
      cells.text(one.events, one.n),
      one.status === "unsupported" ? "–" : number(one.slack, 3),
      number(one.distance.solve, 3),
      number(one.distance.fresh, 2),
      one.fresh === null || !shown ? "–" : formatP(one.fresh.adjusted),
      number(one.price, 2),
      chip(one.status),
    ];
    const said = [
      ...(one.told ? [] : ["held, not told"]),
      ...(one.reachable === null || !shown ? [] : [`${formatNumber(one.reachable, 3)} is within reach`]),
      ...(one.reason === null ? [] : [sayReason(one.reason, one, cells)]),
    ];
    return html`<tr><th scope="row">${nameOf(one.group)}${
      said.length === 0 ? null : html`<small>${said.join("; ")}</small>`
    }</th>${values.map((value, k) => html`<td data-label="${columns[k]}">${value}</td>`)}</tr>`;
  })}</tbody></table></div></div>`;
}

/** Whether nothing of training was kept. */
function keepsStart({ solve }: ReportTraining): boolean {
  return solve?.mixture?.share === 0;
}

/** Which model the solve was put on. */
function sayMixture(solve: SolveReport | null): string {
  const mixture = solve?.mixture;
  if (!mixture) return "";
  const gain = `${formatNumber(mixture.gain, 4)} ± ${formatNumber(mixture.standardError, 4)} of log-likelihood a row`;
  if (mixture.share === 0) {
    return ` The additive start was kept: on the validation rows training gained ${gain}, which is not beyond noise.`;
  }
  const kept =
    mixture.share === 1 ? "The trained network" : `A mixture (${formatNumber(mixture.share, 2)} of training)`;
  return ` ${kept} was kept over the additive start: on the validation rows it gained ${gain}.`;
}

/** The number of events that a reason begins with, or names among the training rows, as it may be printed. */
export function sayReason(reason: string, { events, n }: GroupVerdict, cells: Cells): string {
  const own = countOf(events, "event");
  if (reason.startsWith(own)) return cells.countOf(events, "event", n) + reason.slice(own.length);
  return reason.replace(
    /(among the training rows )(\d+) events?/,
    (_, before: string, count: string) => before + cells.countOf(Number(count), "event"),
  );
}
