/**
 * Every score of every group in one table that sorts by any column. The numbers are the audit's, rounded for the eye and whole
 * in `data-value`; a score that is not there is a dash whose footnote says why.
 */
import type { Scores } from "../stats/scores.ts";
import { type Html, html, nameOf } from "./html.ts";
import type { ReportData, ReportGroup } from "./report-data.ts";
import { chipOf, everyGroup, groupId, levelOf, ratioOf, rootGapOf } from "./report-words.ts";
import { formatNumber, formatP } from "./text-table.ts";
import type { VerdictKind } from "./verdict.ts";

interface ScoreColumn {
  readonly key: string;
  readonly title: string;
  readonly small?: string;
  readonly value: (group: ReportGroup) => number | null;
  readonly format: (value: number) => string;
  /** A second line: interval, bound, or what to compare with. */
  readonly below?: (group: ReportGroup) => string | null;
  /** The path under which the audit says why there is no value. */
  readonly path: string;
  readonly first: "ascending" | "descending";
}

const digits = (count: number) => (value: number) => formatNumber(value, count);

function between(
  interval: { readonly lower: number | null; readonly upper: number | null } | undefined,
  count: number,
) {
  return interval?.lower == null
    ? null
    : `${formatNumber(interval.lower, count)} – ${formatNumber(interval.upper, count)}`;
}

function below(upper: number | null | undefined, count: number): string | null {
  return upper == null ? null : `< ${formatNumber(upper, count)}`;
}

function isFew({ verdict }: ReportGroup): boolean {
  return verdict.kind === "few";
}

const COLUMNS: readonly ScoreColumn[] = [
  {
    key: "n",
    title: "People",
    value: ({ scores }) => scores.n,
    format: String,
    path: "n",
    first: "descending",
  },
  {
    key: "events",
    title: "Events",
    value: ({ scores }) => scores.events,
    format: String,
    path: "events",
    first: "descending",
  },
  {
    key: "concordance",
    title: "C-index",
    small: "interval",
    value: ({ scores }) => scores.concordance,
    format: digits(3),
    below: ({ scores }) => between(scores.intervals?.concordance, 3),
    path: "concordance",
    first: "ascending",
  },
  {
    key: "ece",
    title: "ECE",
    small: "bound",
    value: ({ scores }) => scores.ece,
    format: digits(4),
    below: ({ scores }) => below(scores.intervals?.ece.upper, 4),
    path: "ece",
    first: "descending",
  },
  {
    key: "noiseFloor.ece",
    title: "ECE by chance",
    small: "95 % point",
    value: ({ scores }) => scores.noiseFloor?.ece ?? null,
    format: digits(4),
    below: ({ scores }) =>
      scores.noiseFloor?.eceCritical == null ? null : `≤ ${formatNumber(scores.noiseFloor.eceCritical)}`,
    path: "noiseFloor",
    first: "descending",
  },
  {
    key: "noiseFloor.adjustedP",
    title: "ECE p",
    small: "adj. / alone",
    value: ({ scores }) => scores.noiseFloor?.adjustedP ?? null,
    format: formatP,
    below: ({ scores }) => (scores.noiseFloor?.p == null ? null : formatP(scores.noiseFloor.p)),
    path: "noiseFloor",
    first: "ascending",
  },
  {
    key: "rootGap",
    title: "R.m.s. gap",
    small: "bound",
    value: ({ scores }) => rootGapOf(scores).estimate,
    format: digits(4),
    below: ({ scores }) => below(rootGapOf(scores).upper, 4),
    path: "supported.distanceL2",
    first: "descending",
  },
  {
    key: "supported.distanceVariance",
    title: "Largest z",
    value: ({ scores }) => scores.supported.distanceVariance,
    format: digits(2),
    path: "supported.distanceVariance",
    first: "descending",
  },
  {
    key: "ratio",
    title: "Events, ratio",
    small: "obs ÷ pred",
    value: ({ scores }) => ratioOf(scores).ratio,
    format: (value) => value.toFixed(2),
    below: ({ scores: { logrankIndividual: one } }) =>
      one.observed === null || one.expected === null ? null : `${one.observed} ÷ ${one.expected.toFixed(1)}`,
    path: "logrankIndividual",
    first: "descending",
  },
  {
    key: "logrankAdjustedP",
    title: "Logrank p",
    small: "adj. / alone",
    value: ({ verdict }) => verdict.logrankAdjustedP,
    format: formatP,
    below: ({ scores }) => (scores.logrankIndividual.p === null ? null : formatP(scores.logrankIndividual.p)),
    path: "logrankIndividual",
    first: "ascending",
  },
  {
    key: "ibs",
    title: "IBS",
    small: "interval",
    value: ({ scores }) => scores.ibs,
    format: digits(4),
    below: ({ scores }) => between(scores.intervals?.ibs, 3),
    path: "ibs",
    first: "descending",
  },
];

/** After the r.m.s. gap, where certificates were asked for. */
const CERTIFIED: ScoreColumn = {
  key: "certificate",
  title: "Certified gap",
  small: "tight",
  value: ({ certificate }) => certificate?.exact ?? null,
  format: digits(3),
  below: ({ certificate }) => below(certificate?.tight, 3),
  path: "certificate",
  first: "descending",
};

function columnsOf({ certificates }: ReportData): readonly ScoreColumn[] {
  if (certificates === undefined) return COLUMNS;
  return COLUMNS.flatMap((column) => (column.key === "rootGap" ? [column, CERTIFIED] : [column]));
}

/** The verdicts in the width of a column; the direction is in the panels. */
const SHORT_WORDS: Readonly<Record<VerdictKind, string>> = {
  agrees: "agrees",
  uncertain: "uncertain",
  off: "off",
  few: "too little data",
  untested: "not tested",
};

/** Why there is no number, from the audit's own words where it has them. */
function reasonOf(group: ReportGroup, column: ScoreColumn): string {
  const { absent } = group.scores;
  const said = absent[column.path] ?? absent[column.path.split(".")[0]];
  if (said !== undefined) return said;
  if (column === CERTIFIED) return group.certificate?.absent.exact ?? "not certified";
  if (column.key === "logrankAdjustedP" && isFew(group)) return `not judged: ${group.verdict.reason}`;
  if (column.path === "noiseFloor" && group.scores.noiseFloor === null)
    return "the noise floor was not drawn";
  return "not computed for these rows";
}

/** Footnotes, one a reason. */
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
  const [overall, ...groups] = everyGroup(data).map((group, k) =>
    renderRow(group, k, columnsOf(data), notes),
  );
  return html`<section aria-labelledby="scores" class="scores"><h2 id="scores">Every score</h2>
<p class="lead">Choose a heading to sort by it. ${sayIntervals(data.overall.scores)} A dash has a footnote that says why there is no number.</p>
<p id="sorted" class="hidden" role="status"></p>
<div class="card scroll" tabindex="0" role="region" aria-label="Table of every score">
<table data-sortable><thead><tr>${renderHead("name", "Group", undefined, "text", "ascending")}<th scope="col" class="judged">Verdict</th>${columnsOf(data).map((column) => renderHead(column.key, column.title, column.small, "number", column.first))}</tr></thead>
<tbody class="everyone">${overall}</tbody><tbody data-rows>${groups}</tbody></table></div>
${sayCertificates(data)}${notes.reasons.length === 0 ? null : html`<ol class="notes">${notes.reasons.map((reason, k) => html`<li id="why-${k + 1}">${reason}</li>`)}</ol>`}
</section>`;
}

function sayIntervals(scores: Scores): string {
  const { intervals } = scores;
  if (intervals === undefined) return "No intervals were asked for.";
  const level = levelOf(scores);
  return `Below C-index and IBS their ${level} bootstrap intervals; below ECE and r.m.s. gap the value they stay under with ${level} confidence (${intervals.replicates} replicates).`;
}

function sayCertificates({ certificates }: ReportData): Html | null {
  if (certificates === undefined) return null;
  const level = Number((100 * (1 - certificates.alpha)).toPrecision(4));
  return html`<p class="lead">Certified gap: the r.m.s. distance of the mean curve to the true survival stays under it, for all groups together with ${level} % confidence, at any sample size; below it the same for large groups. Assumed: ${certificates.assumes.join("; ")}.</p>
`;
}

function renderHead(
  key: string,
  title: string,
  small: string | undefined,
  kind: "text" | "number",
  first: string,
): Html {
  // The arrow never stands on a line of its own.
  const lastWord = title.split(" ").at(-1) ?? title;
  const before = title.slice(0, title.length - lastWord.length);
  return html`<th scope="col" data-key="${key}" data-kind="${kind}" data-first="${first}"><button type="button" data-name="${title}">${before}<span class="last">${lastWord}<span class="arrow" aria-hidden="true">↕</span></span></button>${small === undefined ? null : html`<small>${small}</small>`}</th>`;
}

function renderRow(
  group: ReportGroup,
  k: number,
  columns: readonly ScoreColumn[],
  notes: ReturnType<typeof createNotes>,
): Html {
  const name = k === 0 ? html`Everyone` : nameOf(group.name);
  const cells = columns.map((column) => {
    const value = column.value(group);
    const second = column.below?.(group) ?? null;
    const more = second === null ? null : html`<small>${second}</small>`;
    if (value !== null)
      return html`<td data-key="${column.key}" data-value="${value}">${column.format(value)}${more}</td>`;
    const reason = reasonOf(group, column);
    const note = notes.number(reason);
    return html`<td data-key="${column.key}"><a href="#why-${note}" title="${reason}">–<sup>${note}</sup><span class="hidden"> none: ${reason}</span></a>${more}</td>`;
  });
  return html`<tr data-group="${k}"><th scope="row" data-value="${group.name}"><a href="#${groupId(k)}">${name}</a></th><td class="judged">${chipOf(group.verdict, SHORT_WORDS[group.verdict.kind])}</td>${cells}</tr>`;
}
