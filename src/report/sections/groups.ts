/**
 * The groups, twice: each as one line, with its verdict, its error against chance, and its observed events against
 * the predicted ones; and each as a panel, the mean predicted curve against Kaplan-Meier, with its numbers.
 */

import { ENTERED_LATE } from "../../stats/scores/history-scores.ts";
import type { ReportData, ReportGroup } from "../data/report-data.ts";
import { type Cells, createCells, SMALLEST_CELL } from "../data/small-cells.ts";
import { type Html, html, nameOf, trustMarkup } from "../page/html.ts";
import type { PlotDocument } from "../plots/plot-canvas.ts";
import {
  drawGroupPanel,
  drawNoiseStrip,
  drawRatioStrip,
  drawStripAxis,
  type PanelOptions,
  shownBins,
  survivalFloor,
} from "../plots/plot-groups.ts";
import { binOfTime, chooseTicks, momentOf, roundedDurationOf, timeOf } from "../words/report-time.ts";
import {
  boundWords,
  chipOf,
  everyGroup,
  floorSentence,
  groupId,
  NO_RATIO,
  outsideSentence,
  ratioOf,
  showsWhen,
  unitOf,
  unitsOf,
  verdictSentence,
} from "../words/report-words.ts";
import { formatNumber } from "../words/text-table.ts";
import { outsideOf, SEVERITY, sayDistance } from "./headline.ts";

export function renderGlance(data: ReportData, document: PlotDocument): Html {
  const all = everyGroup(data);
  const cells = createCells(data.hidesSmallCells);
  const order = data.groups
    .map((_, k) => k + 1)
    .sort((a, b) => SEVERITY.indexOf(all[a].verdict.look) - SEVERITY.indexOf(all[b].verdict.look) || a - b);
  const isLate = data.overall.scores.atRisk?.hasEntries === true;
  const seen = all.map(({ scores }) => (cells.shows(scores.n) ? scores : null));
  const largest = Math.max(
    ...seen.map((scores) => Math.max(scores?.ece ?? 0, scores?.noiseFloor?.eceCritical ?? 0)),
    1e-3,
  );
  const eceEnd = largest * 1.06;
  const eceTicks = chooseTicks(eceEnd, 4);
  const ratios = all.map(({ scores }) => (cells.shows(scores.events, scores.n) ? ratioOf(scores) : NO_RATIO));
  const spread = Math.max(
    ...ratios.flatMap(({ ratio, low, high }) =>
      [ratio, low, high].map((value) => (value === null || value <= 0 ? 1 : Math.max(value, 1 / value))),
    ),
  );
  const reach = Math.min(Math.max(spread * 1.05, 1.5), WIDEST_RATIO);
  const domain = [1 / reach, reach] as const;
  const ratioTicks = [0.25, 0.5, 0.67, 1, 1.5, 2, 4].filter((tick) => tick >= domain[0] && tick <= domain[1]);
  const renderRow = (k: number) => {
    const { name, scores, verdict } = all[k];
    const { ratio } = ratios[k];
    const mark = verdict.look;
    const far = boundWords(verdict);
    const { ece = null, noiseFloor = null } = seen[k] ?? {};
    const { observed, expected } = scores.logrankIndividual;
    const eceSays =
      ece === null ? "no calibration error" : `ECE ${formatNumber(ece)}. ${floorSentence(scores)}`;
    const ratioSays =
      ratio === null || expected === null
        ? "observed over predicted events are not shown"
        : `${formatCount(observed)} events observed, ${expected.toFixed(1)} predicted, ratio ${ratio.toFixed(2)}`;
    const { ece: floor = null, eceCritical: critical = null } = noiseFloor ?? {};
    const strip = html`<td><span class="read when">calibration error against chance</span>\
<div role="img" aria-label="${eceSays}">${drawNoiseStrip(document, { ece, floor, critical, mark }, eceEnd)}</div></td>`;
    return html`<tr><th scope="row"><a href="#${groupId(k)}">${k === 0 ? "Everyone" : nameOf(name)}</a>\
<small>${cells.countOf(scores.n, unitOf(data))}, ${cells.countOf(scores.events, "event", scores.n)}</small></th>
<td>${chipOf(verdict)}${far === null ? null : html`<small>${far}</small>`}</td>
${isLate ? null : strip}
<td><span class="read when">observed over predicted events</span>\
<div role="img" aria-label="${ratioSays}">${drawRatioStrip(document, { ...ratios[k], mark }, domain)}</div>\
</td></tr>`;
  };
  const threeDigits = (value: number) => String(Number(value.toPrecision(3)));
  const eceAxis = drawStripAxis(document, { domain: [0, eceEnd] }, eceTicks, threeDigits);
  const ratioAxis = drawStripAxis(document, { domain: [...domain], type: "log" }, ratioTicks, String);
  return html`<section aria-labelledby="glance"><h2 id="glance">Every group at a glance</h2>
<p class="lead">Grey: where a perfect model stays 95 times of 100 on rows like these. A mark outside it, in one group \
of many, can be chance. A small group has a wide grey bar: there, much could be wrong without showing.</p>
<div class="card"><table class="glance">
<colgroup><col class="who"><col class="what">${isLate ? null : html`<col>`}<col></colgroup>
<thead><tr><th scope="col">Group</th><th scope="col">Verdict</th>${
    isLate
      ? null
      : html`<th scope="col">Calibration error (ECE)\
<small>thin line: a perfect model’s mean</small></th>`
  }<th scope="col">Observed ÷ predicted events\
<small>right of 1: more events than predicted</small></th></tr></thead>
<tbody>${[0, ...order].map(renderRow)}
<tr class="axis" aria-hidden="true"><td></td><td></td>${isLate ? null : html`<td>${eceAxis}</td>`}\
<td>${ratioAxis}</td></tr>
</tbody></table></div>${sayWithheld(data.withheld)}</section>`;
}

/** Which groups are left out, and why. */
export function sayWithheld(names: readonly string[]): Html | null {
  if (names.length === 0) return null;
  const listed = names.map((name, k) => html`${k === 0 ? "" : ", "}${nameOf(name)}`);
  return html`<p class="lead">Left out, since numbers of fewer than ${SMALLEST_CELL} people would follow from \
${names.length === 1 ? "it" : "them"} and from what is beside: ${listed}.</p>`;
}

/** Weighted events are no whole number. */
function formatCount(events: number | null): string {
  return events === null ? "–" : Number.isInteger(events) ? String(events) : events.toFixed(1);
}

/** Ratios beyond this are drawn at the edge; their numbers are in the table. */
const WIDEST_RATIO = 4;

const TABLE_TIMES = 5;

export function renderPanels(data: ReportData, document: PlotDocument): Html {
  const all = everyGroup(data);
  if (data.overall.scores.atRisk?.hasEntries === true) return renderLateGroups(data);
  const curves = all.map(({ curve }) => curve);
  const floor = survivalFloor(curves);
  const { edges, label } = data.time;
  const cells = createCells(data.hidesSmallCells);
  const shown = edges.slice(0, shownBins(curves, edges.length - 1) + 1);
  const cut =
    shown.length < edges.length
      ? ` The horizontal axis ends at ${momentOf(shown[shown.length - 1], label)} of ` +
        `${roundedDurationOf(edges[edges.length - 1], label)}: later, no group has ten ${unitsOf(data)} at risk.`
      : "";
  const axes = { edges: shown, timeLabel: label, floor, cells };
  const panels = all.map((group, k) => renderPanel(group, k, data, axes, document));
  return html`<section aria-labelledby="groups"><h2 id="groups">Predicted against observed, group by group</h2>
<p class="lead">Mean predicted survival beside the Kaplan-Meier curve of the same ${unitsOf(data)}. All panels share \
their axes${floor > 0 ? `; the vertical one starts at ${floor.toFixed(1)}, not at 0` : ""}.${cut} Curves, gaps, bounds \
and calibration errors of a group end where fewer than ten of its ${unitsOf(data)} are left at risk.</p>
<ul class="legend">
<li>${sample('<path d="M2 9H38" stroke="var(--predicted)" stroke-width="2.4" stroke-dasharray="7 3"/>')} predicted, \
mean of the group</li>
<li>${sample('<path d="M2 3H20V15H38" fill="none" stroke="var(--observed)" stroke-width="1.8"/>')} observed, \
Kaplan-Meier</li>
<li>${sample('<rect x="2" y="3" width="36" height="12" fill="var(--observed)" fill-opacity=".2"/>')} its pointwise \
95 % limits</li>
<li>${sample(
    '<rect x="2" y="3" width="36" height="12" fill="var(--unfollowed)" stroke="var(--line)" ' +
      'stroke-width=".5"/>',
  )} fewer than ten at risk</li>
</ul>
<div class="panels">${panels}</div></section>`;
}

/** Where people entered late there is no curve to draw beside another: each group in words, and the reason once. */
function renderLateGroups(data: ReportData): Html {
  const cells = createCells(data.hidesSmallCells);
  const panels = everyGroup(data).map((group, k) => {
    const { name, expression, scores, verdict } = group;
    const size = `${cells.countOf(scores.n, unitOf(data))}, ${cells.countOf(scores.events, "event", scores.n)}`;
    return html`<article class="card panel" id="${groupId(k)}" aria-labelledby="${groupId(k)}-name">
<div class="title"><h3 id="${groupId(k)}-name">${k === 0 ? html`Everyone` : nameOf(name)}</h3>${chipOf(verdict)}</div>
<p class="who">${size}${expression === null ? null : html` · <bdi>${expression}</bdi>`}</p>
<p class="gap">${sayDistance(group, data)} \
${verdictSentence(verdict, showsWhen(verdict, scores, cells))}</p>${doubtOf(group, data.time)}
</article>`;
  });
  return html`<section aria-labelledby="groups"><h2 id="groups">Predicted against observed, group by group</h2>
<p class="lead">People came under observation late, so no curves, calibration errors and bounds are here: \
${ENTERED_LATE}. What holds is counted while people are at risk: events observed against events predicted, and the \
logrank test of the two.</p>
<div class="panels">${panels}</div></section>`;
}

function sample(shape: string): Html {
  return trustMarkup(`<svg width="40" height="18" viewBox="0 0 40 18" aria-hidden="true">${shape}</svg>`);
}

function renderPanel(
  group: ReportGroup,
  k: number,
  data: ReportData,
  options: PanelOptions,
  document: PlotDocument,
): Html {
  const { name, expression, scores, curve, verdict } = group;
  const { time } = data;
  const shown = k === 0 ? html`Everyone` : nameOf(name);
  const { cells } = options;
  const size = `${cells.countOf(scores.n, unitOf(data))}, ${cells.countOf(scores.events, "event", scores.n)}`;
  const numbers = renderNumbers(group, { edges: options.edges, label: time.label }, cells);
  const body = cells.shows(scores.n)
    ? html`<div class="figure" role="img" \
aria-label="${describePanel(group, time)}">${drawGroupPanel(document, curve, options)}</div>
<p class="gap">${sayDistance(group, data)} \
${verdictSentence(verdict, showsWhen(verdict, scores, cells))}</p>${doubtOf(group, data.time)}
${
  numbers === null
    ? null
    : html`<details><summary>Numbers<span class="hidden"> of ${shown}</span></summary>${numbers}</details>`
}`
    : html`<p class="gap">Curves of fewer than ${SMALLEST_CELL} ${unitsOf(data)} are not shown.</p>`;
  return html`<article class="card panel" id="${groupId(k)}" aria-labelledby="${groupId(k)}-name">
<div class="title"><h3 id="${groupId(k)}-name">${shown}</h3>${chipOf(verdict)}</div>
<p class="who">${size}${expression === null ? null : html` · <bdi>${expression}</bdi>`}</p>
${body}
</article>`;
}

/** A note on a small p that the number of groups explains, or on a curve outside its limits that chance explains. */
function doubtOf(group: ReportGroup, time: ReportData["time"]): Html | null {
  const { verdict } = group;
  const outside = outsideOf(group, time);
  if (outside !== null) return html`<p class="gap">${outsideSentence(verdict, outside)}</p>`;
  if (!verdict.isDoubtful) return null;
  return html`<p class="gap">Worth a second look: ${verdict.reason}.</p>`;
}

/** The picture in words. */
function describePanel({ curve, name }: ReportGroup, { edges, label }: ReportData["time"]): string {
  const { last, predicted, observed, lower, upper } = curve;
  if (last === 0 || predicted === null) return `${name}: there is no follow-up to draw.`;
  const middle = Math.max(1, Math.round(last / 2));
  const at = (t: number) =>
    `at ${momentOf(edges[t], label)} predicted ${formatNumber(predicted[t], 3)}, observed ` +
    `${formatNumber(observed[t], 3)} (95 % limits ${formatNumber(lower[t], 3)} to ${formatNumber(upper[t], 3)})`;
  return `Survival of ${name}: ${at(middle)}; ${at(last)}.`;
}

function renderNumbers(
  { curve, name }: ReportGroup,
  { edges, label }: Pick<ReportData["time"], "edges" | "label">,
  cells: Cells,
): Html | null {
  const { predicted, observed, lower, upper, atRisk, last } = curve;
  const bins = chooseTicks(edges[edges.length - 1], TABLE_TIMES)
    .slice(1)
    .map((time) => binOfTime(edges, time))
    .filter((t) => t <= last);
  if (bins.length === 0 && last > 0) bins.push(last);
  if (bins.length === 0) return null;
  const left = cells.falling(bins.map((t) => atRisk[t]));
  return html`<div class="scroll" tabindex="0" role="region" aria-label="Numbers of \
${name === "all" ? "everyone" : name}"><table><thead><tr><th scope="col">${label}</th><th scope="col">predicted</th>\
<th scope="col">observed</th><th scope="col">95 % limits</th><th scope="col">at risk</th></tr></thead>
<tbody>${bins.map(
    (t, k) =>
      html`<tr><th scope="row">${timeOf(edges[t])}</th><td>${formatNumber(predicted?.[t], 3)}</td>\
<td>${formatNumber(observed[t], 3)}</td><td>${formatNumber(lower[t], 3)} – ${formatNumber(upper[t], 3)}</td>\
<td>${left[k]}</td></tr>`,
  )}</tbody></table></div>`;
}
