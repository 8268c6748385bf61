/**
 * Every score of every group: one table with what a reader needs, and a second, collapsed, with the rest; both sort by
 * any column. The numbers are the audit's, rounded for display and unrounded in `data-value`; a missing score is a dash
 * whose footnote says why.
 */
import type { Scores } from "../../stats/scores/scores.ts";
import type { ReportData, ReportGroup } from "../data/report-data.ts";
import { type Cells, createCells, SMALLEST_CELL } from "../data/small-cells.ts";
import { type Html, html, nameOf } from "../page/html.ts";
import {
  chipOf,
  everyGroup,
  groupId,
  lackWords,
  levelOf,
  type ReportVerdict,
  unitOf,
} from "../words/report-words.ts";
import { formatNumber } from "../words/text-table.ts";
import { CERTIFIED, MORE_COLUMNS, mainColumns, type ScoreColumn } from "./score-columns.ts";

/** The verdicts, short enough for a column; direction and bound are in the panels and in the next columns. */
export function shortWord({ agreement, lacks }: ReportVerdict): string {
  switch (agreement) {
    case "disagrees":
      return "disagrees";
    case "noDisagreementShown":
      return "none shown";
    case "tooFewEvents":
      return lacks === "followUp" ? "too brief" : "too few events";
  }
}

/** Why there is no number, in the audit's own words where it has them. */
function reasonOf(group: ReportGroup, column: ScoreColumn, cells: Cells): string {
  const { absent, intervals, noiseFloor, events, n } = group.scores;
  if (!cells.shows(n)) return `scores of fewer than ${SMALLEST_CELL} people are not shown`;
  if (column.key === "ratio" && !cells.shows(events, n)) {
    return `a count under ${SMALLEST_CELL} would follow from it`;
  }
  if (column.key === "bound" && group.verdict.lacks === "events") return lackWords(group.verdict);
  const { key, path = key } = column;
  const said = absent[path] ?? absent[path.split(".")[0]];
  if (said !== undefined) return said;
  if (column === CERTIFIED) return group.certificate?.absent.exact ?? "not certified";
  if (column.key === "logrankIndividual.adjustedP") return `not tested: ${lackWords(group.verdict)}`;
  if (path === "noiseFloor" && noiseFloor === null) return "the noise floor was not drawn";
  if (path.startsWith("intervals") && intervals === undefined) return "no intervals were asked for";
  return "not computed for these rows";
}

/** Footnotes, one per reason. */
function createNotes() {
  const reasons: string[] = [];
  return {
    reasons,
    number(reason: string): number {
      const at = reasons.indexOf(reason);
      return at >= 0 ? at + 1 : reasons.push(reason);
    },
  };
}

export function renderScores(data: ReportData): Html {
  const notes = createNotes();
  const cells = createCells(data.hidesSmallCells);
  const isDefined = definedIn(data);
  const main = renderTable(data, mainColumns(cells, unitOf(data)).filter(isDefined), cells, notes, "main");
  const more = [...MORE_COLUMNS, ...(data.certificates === undefined ? [] : [CERTIFIED])].filter(isDefined);
  const rest = renderTable(data, more, cells, notes, "more");
  return html`<section aria-labelledby="scores" class="scores"><h2 id="scores">Every score</h2>
<p class="lead"><span class="wide-only">Choose a heading to sort by it. </span>Distances are in survival, 0 to 1. \
<b>Could be up to</b>: with 95 % confidence for all groups together, the true r.m.s. distance stays below. A dash has \
a footnote that says why there is no number.</p>
<p id="sorted" class="hidden" role="status"></p>
<div class="card scroll" tabindex="0" role="region" aria-label="Table of the scores">${main}</div>
<details class="card more"><summary>P-values, intervals and other scores</summary>
<p class="lead">${sayIntervals(data.overall.scores)}</p>
<div class="scroll" tabindex="0" role="region" aria-label="Table of the other scores">${rest}\
</div>${sayCertificates(data)}</details>
${
  notes.reasons.length === 0
    ? null
    : html`<ol class="notes">${notes.reasons.map(
        (reason, k) => html`<li id="why-${k + 1}">${reason}</li>`,
      )}</ol>`
}
</section>`;
}

/** Under late entry or with weights, columns that no group has a value in are left out: the page says why once. */
function definedIn(data: ReportData): (column: ScoreColumn) => boolean {
  if (data.overall.scores.atRisk === undefined) return () => true;
  return ({ value }) => everyGroup(data).some((group) => value(group) !== null);
}

function renderTable(
  data: ReportData,
  columns: readonly ScoreColumn[],
  cells: Cells,
  notes: ReturnType<typeof createNotes>,
  kind: "main" | "more",
): Html {
  const [overall, ...groups] = everyGroup(data).map((group, k) =>
    renderRow(group, k, columns, cells, notes, kind),
  );
  const judged = kind === "main" ? html`<th scope="col" class="judged">Disagreement</th>` : null;
  const group = renderHead("name", "Group", undefined, "text", "ascending");
  const heads = columns.map(({ key, title, small, first = "descending" }) =>
    renderHead(key, title, small, "number", first),
  );
  return html`<table data-sortable class="${kind}"><thead><tr>${group}${judged}${heads}</tr></thead>
<tbody class="everyone">${overall}</tbody><tbody data-rows>${groups}</tbody></table>`;
}

function sayIntervals(scores: Scores): string {
  const { intervals } = scores;
  const ps = "p: adjusted for all groups, below it the test by itself.";
  if (intervals === undefined) return `${ps} No intervals were asked for.`;
  const level = levelOf(scores);
  return (
    `${ps} Intervals and “below” are ${level} bootstrap limits of each group by itself ` +
    `(${intervals.replicates} replicates).`
  );
}

function sayCertificates({ certificates }: ReportData): Html | null {
  if (certificates === undefined) return null;
  const level = Number((100 * (1 - certificates.alpha)).toPrecision(4));
  return html`<p class="lead">Certified gap: the r.m.s. distance of the mean curve to the true survival stays under \
it, for all groups together with ${level} % confidence, at any sample size; below it the same for large groups. \
Assumed: ${certificates.assumes.join("; ")}.</p>
`;
}

function renderHead(
  key: string,
  title: string,
  small: string | undefined,
  kind: "text" | "number",
  first: string,
): Html {
  // The arrow never stands alone on a line.
  const lastWord = title.split(" ").at(-1) ?? title;
  const before = title.slice(0, title.length - lastWord.length);
  return html`<th scope="col" data-key="${key}" data-kind="${kind}" data-first="${first}">\
<button type="button" data-name="${title}">${before}<span class="last">${lastWord}\
<span class="arrow" aria-hidden="true">↕</span></span></button>${
    small === undefined ? null : html`<small>${small}</small>`
  }</th>`;
}

function renderRow(
  group: ReportGroup,
  k: number,
  columns: readonly ScoreColumn[],
  cells: Cells,
  notes: ReturnType<typeof createNotes>,
  kind: "main" | "more",
): Html {
  const name = k === 0 ? html`Everyone` : nameOf(group.name);
  const isShown = cells.shows(group.scores.n);
  const written = columns.map((column) => {
    const isCount = column.key === "n" || column.key === "events";
    const value = isShown || isCount ? column.value(group) : null;
    const second = isShown ? (column.below?.(group) ?? null) : null;
    const more = second === null ? null : html`<small>${second}</small>`;
    const label = column.small === undefined ? column.title : `${column.title} (${column.small})`;
    if (value !== null)
      return html`<td data-key="${column.key}" data-label="${label}" \
data-value="${value}">${column.format?.(value, group) ?? formatNumber(value)}${more}</td>`;
    const note = notes.number(reasonOf(group, column, cells));
    const reason = notes.reasons[note - 1];
    return html`<td data-key="${column.key}" data-label="${label}"><a href="#why-${note}" title="${reason}">–\
<sup>${note}</sup><span class="hidden"> none: ${reason}</span></a>${more}</td>`;
  });
  const chip = chipOf(group.verdict, shortWord(group.verdict));
  const judged = kind === "main" ? html`<td class="judged" data-label="Disagreement">${chip}</td>` : null;
  return html`<tr data-group="${k}"><th scope="row" data-value="${group.name}"><a href="#${groupId(k)}">${name}</a>\
</th>${judged}${written}</tr>`;
}
