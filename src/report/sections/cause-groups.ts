/**
 * Cause by cause, the groups twice: as panels, mean predicted incidence against Aalen-Johansen, and as lines of a table
 * with every score. Counts under five are hidden, and with them what they would follow from; a score that does not
 * exist is a dash whose footnote says why.
 */
import type { CauseScores } from "../../verbs/causes/audit-causes.ts";
import type { CauseReportData } from "../data/cause-report.ts";
import { type Cells, createCells, SMALLEST_CELL } from "../data/small-cells.ts";
import { type Html, html, nameOf, trustMarkup } from "../page/html.ts";
import type { PlotDocument } from "../plots/plot-canvas.ts";
import { drawCausePanel, incidenceTop } from "../plots/plot-causes.ts";
import { incidenceGapSentence, type JudgedCause, momentOfBin } from "../words/cause-words.ts";
import { chipOf, outsideSentence, sayOutside, showsWhen, verdictSentence } from "../words/report-words.ts";
import { formatNumber, formatP } from "../words/text-table.ts";
import { nameOfGroup, unitOfCauses } from "./causes.ts";
import { sayWithheld } from "./groups.ts";
import { shortWord } from "./scores.ts";

export function causeId(k: number): string {
  return `cause-${k + 1}`;
}

function panelId({ k, g }: JudgedCause): string {
  return `cause-${k + 1}-group-${g}`;
}

const sample = (shape: string) =>
  trustMarkup(`<svg width="40" height="18" viewBox="0 0 40 18" aria-hidden="true">${shape}</svg>`);

const LEGEND: readonly (readonly [string, string])[] = [
  [
    '<path d="M2 14 38 4" stroke="var(--predicted)" stroke-width="2.2" stroke-dasharray="7 3"/>',
    "predicted, the mean of the group",
  ],
  [
    '<path d="M2 15H20V3H38" fill="none" stroke="var(--observed)" stroke-width="1.8"/>',
    "observed, Aalen-Johansen",
  ],
  [
    '<rect x="2" y="3" width="36" height="12" fill="var(--observed)" fill-opacity=".2"/>',
    "its pointwise 95 % limits",
  ],
  [
    '<rect x="2" y="3" width="36" height="12" fill="var(--unfollowed)" stroke="var(--line)" stroke-width=".5"/>',
    "fewer than ten at risk",
  ],
];

/** One section a cause. */
export function renderCausePanels(data: CauseReportData, document: PlotDocument): readonly Html[] {
  const cells = createCells(data.hidesSmallCells);
  return data.audit.causes.map(({ name, overall, groups }, k) => {
    const top = incidenceTop([overall, ...groups].filter(({ n }) => cells.shows(n)));
    const lines = data.lines.filter((line) => line.k === k);
    return html`<section aria-labelledby="${causeId(k)}"><h2 id="${causeId(k)}">${nameOf(name)}: predicted against \
observed</h2>
<ul class="legend">${LEGEND.map(([shape, words]) => html`<li>${sample(shape)} ${words}</li>`)}</ul>
<div class="panels">${lines.map((line) => renderPanel(data, line, document, top, cells))}</div></section>`;
  });
}

function renderPanel(
  data: CauseReportData,
  line: JudgedCause,
  document: PlotDocument,
  top: number,
  cells: Cells,
): Html {
  const { scores, verdict, g, gap, word } = line;
  const { time, groups } = data;
  const id = panelId(line);
  const shown = g === 0 ? html`Everyone` : nameOfGroup(data, g);
  const unit = unitOfCauses(data);
  const units = unit === "row" ? "rows" : "people";
  const size = `${cells.countOf(scores.n, unit)}, ${cells.countOf(scores.events, "event", scores.n)}`;
  const { expression } = groups[g];
  const at = momentOfBin(time.edges, time.label);
  const options = { edges: time.edges, timeLabel: time.label, top, cells };
  const picture = cells.shows(scores.n) ? drawCausePanel(document, scores, options) : null;
  const body = !cells.shows(scores.n)
    ? html`<p class="gap">Curves of fewer than ${SMALLEST_CELL} ${units} are not shown.</p>`
    : picture === null
      ? html`<p class="gap">No curves: ${scores.absent.incidence ?? "there are never ten at risk"}. \
${verdictSentence(verdict, showsWhen(verdict, scores, cells))}</p>`
      : html`<div class="figure" role="img" aria-label="${describePanel(line, at)}">${picture}</div>
<p class="gap">${incidenceGapSentence(gap, at)} ${verdictSentence(verdict, showsWhen(verdict, scores, cells))}</p>`;
  const { incidence, departure, supported } = scores;
  const outside = incidence === null ? null : sayOutside(verdict, incidence, departure, supported.bins, time);
  const doubtful = verdict.isDoubtful ? `Worth a second look: ${verdict.reason}.` : null;
  const said = outside === null ? doubtful : cells.shows(scores.n) ? outsideSentence(verdict, outside) : null;
  const doubt = said === null ? null : html`<p class="gap">${said}</p>`;
  return html`<article class="card panel" id="${id}" aria-labelledby="${id}-name">
<div class="title"><h3 id="${id}-name">${shown}</h3>${chipOf(verdict, word)}</div>
<p class="who">${size}${expression === null ? null : html` · <bdi>${expression}</bdi>`}</p>
${body}${doubt}
</article>`;
}

/** The picture in words. */
function describePanel({ scores, cause }: JudgedCause, at: (bin: number) => string): string {
  const { incidence, supported, name } = scores;
  if (incidence === null) return "";
  const say = (t: number) =>
    `at ${at(t)} predicted ${formatNumber(incidence.predicted[t], 3)}, observed ` +
    `${formatNumber(incidence.observed[t], 3)} (95 % limits ${formatNumber(incidence.lower[t], 3)} to ` +
    `${formatNumber(incidence.upper[t], 3)})`;
  const middle = Math.max(1, Math.round(supported.bins / 2));
  return `Incidence of ${cause}, ${name}: ${say(middle)}; ${say(supported.bins)}.`;
}

interface CauseColumn {
  readonly title: string;
  /** The path of its reason. */
  readonly path: string;
  readonly value: (scores: CauseScores, cells: Cells) => string | null;
}

const number = (value: number | null | undefined, digits?: number) =>
  value === null || value === undefined ? null : formatNumber(value, digits);

/** Observed over expected events; hidden where the count of events is. */
function ratioOfCause({ logrankIndividual, events, n }: CauseScores, cells: Cells): string | null {
  const { observed, expected } = logrankIndividual;
  if (observed === null || expected === null || !(expected > 0) || !cells.shows(events, n)) return null;
  return `${formatNumber(observed, 1)} ÷ ${expected.toFixed(1)} = ${(observed / expected).toFixed(2)}`;
}

const COLUMNS: readonly CauseColumn[] = [
  { title: "People", path: "n", value: ({ n }, cells) => cells.text(n) },
  { title: "Events", path: "events", value: ({ events, n }, cells) => cells.text(events, n) },
  { title: "Observed ÷ expected events", path: "logrankIndividual", value: ratioOfCause },
  {
    title: "logrank p, adjusted",
    path: "logrankIndividual.adjustedP",
    value: ({ logrankIndividual: { adjustedP } }) => (adjustedP === null ? null : formatP(adjustedP)),
  },
  { title: "ECE", path: "ece", value: ({ ece }) => number(ece) },
  { title: "ECE of a perfect model", path: "noiseFloor", value: ({ noiseFloor }) => number(noiseFloor?.ece) },
  {
    title: "r.m.s. gap",
    path: "distanceL2",
    value: ({ distanceL2 }) => (distanceL2 === null ? null : formatNumber(Math.sqrt(distanceL2))),
  },
  { title: "Could be up to", path: "bound", value: ({ bound }) => number(bound) },
  { title: "Concordance", path: "concordance", value: ({ concordance }) => number(concordance, 3) },
  { title: "IBS", path: "ibs", value: ({ ibs }) => number(ibs) },
];

/** Every score, one table a cause. */
export function renderCauseScores(data: CauseReportData): Html {
  const cells = createCells(data.hidesSmallCells);
  const reasons: string[] = [];
  const noteOf = (reason: string) => {
    const at = reasons.indexOf(reason);
    return at >= 0 ? at + 1 : reasons.push(reason);
  };
  const tables = data.audit.causes.map(({ name }, k) => {
    const rows = data.lines
      .filter((line) => line.k === k)
      .map((line) => renderRow(data, line, cells, noteOf));
    return html`<div class="card scroll" tabindex="0" role="region" aria-label="Scores of ${name}">\
<table class="main"><caption><b>${nameOf(name)}</b></caption><thead><tr><th scope="col">Group</th>\
<th scope="col" class="judged">Disagreement</th>${COLUMNS.map(({ title }) => html`<th scope="col">${title}</th>`)}\
</tr></thead><tbody>${rows}</tbody></table>${renderAt(data, k)}</div>`;
  });
  return html`<section aria-labelledby="scores" class="scores"><h2 id="scores">Every score</h2>
<p class="lead">Distances are in incidence, 0 to 1. <b>Could be up to</b>: with 95 % confidence for all groups and \
causes together, the true r.m.s. distance stays below. A dash has a footnote that says why there is no number.</p>
<div class="stack">${tables}</div>${sayWithheld(data.withheld)}
${
  reasons.length === 0
    ? null
    : html`<ol class="notes">${reasons.map((reason, k) => html`<li id="why-${k + 1}">${reason}</li>`)}</ol>`
}</section>`;
}

/** Everyone's scores at single times. */
function renderAt({ audit, time }: CauseReportData, k: number): Html | null {
  const { at, incidence } = audit.causes[k].overall;
  const shown = at.filter(({ brier }) => brier !== null);
  if (shown.length === 0 || incidence === null) return null;
  const moment = momentOfBin(time.edges, time.label);
  return html`<details><summary>Everyone at single times</summary><table><thead><tr><th scope="col">By</th>\
<th scope="col">predicted</th><th scope="col">observed</th><th scope="col">Brier score</th><th scope="col">AUC</th>\
<th scope="col">concordance</th></tr></thead><tbody>${shown.map(
    ({ bin, brier, auc, concordance }) =>
      html`<tr><th scope="row">${moment(bin)}</th><td>${formatNumber(incidence.predicted[bin], 3)}</td>\
<td>${formatNumber(incidence.observed[bin], 3)}</td><td>${formatNumber(brier)}</td><td>${formatNumber(auc, 3)}</td>\
<td>${formatNumber(concordance, 3)}</td></tr>`,
  )}</tbody></table></details>`;
}

function renderRow(
  data: CauseReportData,
  line: JudgedCause,
  cells: Cells,
  noteOf: (reason: string) => number,
): Html {
  const { scores, verdict, g } = line;
  const isShown = cells.shows(scores.n);
  const written = COLUMNS.map(({ title, path, value }) => {
    const text = isShown || path === "n" || path === "events" ? value(scores, cells) : null;
    if (text !== null) return html`<td data-label="${title}">${text}</td>`;
    const note = noteOf(reasonOf(scores, path, isShown, cells));
    return html`<td data-label="${title}"><a href="#why-${note}">–<sup>${note}</sup></a></td>`;
  });
  const name = g === 0 ? html`Everyone` : nameOfGroup(data, g);
  return html`<tr><th scope="row"><a href="#${panelId(line)}">${name}</a></th>\
<td class="judged" data-label="Disagreement">${chipOf(verdict, shortWord(verdict))}</td>${written}</tr>`;
}

/** Why there is no number, in the audit's own words where they name no count. */
function reasonOf(scores: CauseScores, path: string, isShown: boolean, cells: Cells): string {
  if (!isShown) return `scores of fewer than ${SMALLEST_CELL} people are not shown`;
  if (path === "logrankIndividual" && !cells.shows(scores.events, scores.n))
    return `a count under ${SMALLEST_CELL} would follow from it`;
  if ((path === "bound" || path.endsWith("adjustedP")) && scores.agreement === "tooFewEvents")
    return "too few events or too little follow-up";
  const said = scores.absent[path] ?? scores.absent[path.split(".")[0]];
  if (said !== undefined) return said;
  return path === "noiseFloor" ? "the noise floor was not drawn" : "not computed for these rows";
}
