/**
 * The top of the report by cause: what was found in a sentence, how many of 100 such people have each cause by a round
 * time, as predicted and as observed, for everyone and every group, and the causes of everyone stacked.
 */
import { countOf } from "../../core/text.ts";
import type { CauseReportData } from "../data/cause-report.ts";
import { createCells } from "../data/small-cells.ts";
import { type Html, html, nameOf } from "../page/html.ts";
import type { PlotDocument } from "../plots/plot-canvas.ts";
import { drawStack } from "../plots/plot-causes.ts";
import {
  hundredSentence,
  incidenceGapSentence,
  type JudgedCause,
  momentOfBin,
  ofHundred,
} from "../words/cause-words.ts";
import { momentOf, roundedDurationOf } from "../words/report-time.ts";
import { iconOf, pointsOf, tolerancePoints, type VerdictLook } from "../words/report-words.ts";
import { formatNumber } from "../words/text-table.ts";
import { RELATIONS, sayStays } from "./cohort.ts";

/** Worst first. */
const SEVERITY: readonly VerdictLook[] = ["off", "open", "within", "few"];
/** If a sentence would have more names than this, they are left to the tables below. */
const MOST_NAMES = 4;

/** "rows" where people have several. */
export function unitOfCauses({ people }: Pick<CauseReportData, "people">): "person" | "row" {
  return people === null ? "person" : "row";
}

/** The name of a group on the page. */
export function nameOfGroup({ groups }: CauseReportData, g: number): Html {
  return g === 0 ? html`everyone` : nameOf(groups[g].name);
}

export function renderCauseSubject(data: CauseReportData): Html {
  const { audit, time, outcome, table, relation, people } = data;
  const cells = createCells(data.hidesSmallCells);
  const { n } = audit.causes[0].overall;
  const events = audit.causes.map(
    ({ name, overall }) => html`${cells.text(overall.events, n)} ${nameOf(name)}`,
  );
  const listed = events.map((one, k) => html`${k === 0 ? "" : ", "}${one}`);
  const { edges, label, audited } = time;
  const horizon = roundedDurationOf(edges[edges.length - 1], label);
  const until = audited === 0 ? null : momentOf(edges[audited], label);
  const entries: readonly (readonly [string, Html])[] = [
    ["Event", html`${nameOf(outcome.event)}: ${listed}`],
    [
      people === null ? "People" : "Rows",
      html`${cells.countOf(n, unitOfCauses(data))}${
        people === null ? null : html` of ${cells.countOf(people, "person")}`
      } in ${nameOf(table)}; ${
        relation === null ? "whether the curves were fitted to them is not known here" : RELATIONS[relation]
      }.`,
    ],
    [
      "Time",
      html`${
        until === null
          ? "Nothing is compared: there are never ten at risk."
          : `Compared from the start to ${until}; the curves end at ${horizon}.`
      } Column: ${nameOf(outcome.time)}.`,
    ],
  ];
  return html`<dl class="subject" aria-label="What was audited in \
${table}">${entries.map(([word, says]) => html`<div><dt>${word}</dt><dd>${says}</dd></div>`)}</dl>`;
}

function ofLook(lines: readonly JudgedCause[], look: VerdictLook): readonly JudgedCause[] {
  return lines.filter(({ verdict }) => verdict.look === look);
}

export function renderCauseHeadline(data: CauseReportData): Html {
  const { lines, tolerance, momentBin, time, audit } = data;
  const worst = SEVERITY.find((look) => ofLook(lines, look).length > 0) ?? "few";
  const off = ofLook(lines, "off");
  const at = momentOfBin(time.edges, time.label);
  const words = { off: "disagree", few: "too few events to say" } as const;
  const wordOf = (look: VerdictLook) =>
    look === "open" || look === "within"
      ? `no disagreement shown, ${look === "open" ? "not " : ""}bounded below ${tolerancePoints(tolerance)}`
      : words[look];
  const hundred = (curve: "observed" | "predicted") =>
    momentBin === null ? null : hundredSentence(audit.causes, 0, momentBin, { moment: at(momentBin), curve });
  return html`<section aria-labelledby="short">
<div class="card headline ${worst}">
<h2 id="short" class="hidden">In short</h2>
<p class="say">${sayInShort(data)}</p>
${
  hundred("observed") === null
    ? null
    : html`<p>Of 100 such people, ${hundred("observed")}. Predicted: ${hundred("predicted")}.</p>`
}
<ul class="tally" aria-label="Groups and causes by verdict">${SEVERITY.filter(
    (look) => ofLook(lines, look).length > 0,
  ).map(
    (look) =>
      html`<li class="chip ${look}">${iconOf(look)} ${ofLook(lines, look).length} ${wordOf(look)}</li>`,
  )}</ul>
${off
  .slice(0, MOST_NAMES)
  .map(
    ({ cause, g, gap }) =>
      html`<p><b>${nameOf(cause)}, ${nameOfGroup(data, g)}</b>: ${incidenceGapSentence(gap, at)}</p>`,
  )}
${sayBounds(data)}
${sayStays(data)}
</div></section>`;
}

function sayInShort(data: CauseReportData): Html {
  const { lines } = data;
  const off = ofLook(lines, "off");
  const judged = lines.length - ofLook(lines, "few").length;
  if (judged === 0) return html`There are too few events of any cause, or too little follow-up, to judge.`;
  const pairs = `${countOf(judged, "pair")} of a group and a cause that can be judged`;
  if (off.length === 0) return html`None of the ${pairs} shows a disagreement with what was observed.`;
  const shown = off.slice(0, MOST_NAMES);
  const names = shown.map(
    ({ cause, g }, k) => html`${k === 0 ? "" : "; "}${nameOf(cause)}, ${nameOfGroup(data, g)}`,
  );
  const rest = off.length - shown.length;
  return html`The predicted incidences disagree with what was observed in ${off.length} of the ${pairs}: \
${names}${rest > 0 ? ` and ${rest} more` : ""}.`;
}

function sayBounds({ lines, audit }: CauseReportData): Html | null {
  const everyone = audit.causes.filter(({ overall }) => overall.bound !== null);
  if (everyone.length === 0) return null;
  const each = everyone.map(
    ({ name, overall }, k) =>
      html`${k === 0 ? "" : ", "}${nameOf(name)} by up to ${pointsOf(overall.bound ?? 0)}`,
  );
  const pairs = lines.length > everyone.length ? " for all groups and causes together" : "";
  return html`<p>No disagreement shown is not agreement. With 95 % confidence${pairs}, the mean incidence of everyone \
could be off on average over time, for ${each}. A point is 1 of 100 people.</p>`;
}

/** All causes of everyone, one above the other. */
export function renderStack(data: CauseReportData, document: PlotDocument): Html {
  const { audit, time } = data;
  const { edges, label, audited } = time;
  const reason = audit.causes[0].overall.absent.incidence;
  if (reason !== undefined || audited === 0)
    return html`<section aria-labelledby="everyone"><h2 id="everyone">Everyone, all causes</h2>
<p class="lead">No curves are shown: ${reason ?? "there are never ten people at risk"}.</p></section>`;
  const stack = (curve: "observed" | "predicted") =>
    audit.causes.map(({ name, overall }) => ({
      name,
      values: overall.incidence?.[curve].slice(0, audited + 1) ?? [],
    }));
  const figure = (curve: "observed" | "predicted", title: string) => {
    const causes = stack(curve);
    const said = causes.map(({ name, values }) => `${name} ${formatNumber(values[audited], 3)}`).join(", ");
    const options = { edges, timeLabel: label, isStep: curve === "observed" };
    return html`<figure class="card"><h3>${title}</h3><div class="figure" role="img" \
aria-label="${title}, at ${momentOf(edges[audited], label)}: ${said}.">\
${drawStack(document, causes, options)}</div></figure>`;
  };
  return html`<section aria-labelledby="everyone"><h2 id="everyone">Everyone, all causes</h2>
<p class="lead">Causes one above the other: the height of a band is the share of people who have had that cause by \
then. What is left above them has had no event.</p>
<div class="two">${figure("observed", "Observed (Aalen-Johansen)")}${figure("predicted", "Predicted")}</div></section>`;
}

/** Whole people of a hundred, by group and cause. */
export function renderHundred(data: CauseReportData): Html | null {
  const { audit, momentBin, groups, time } = data;
  if (momentBin === null) return null;
  const cells = createCells(data.hidesSmallCells);
  const moment = momentOf(time.edges[momentBin], time.label);
  const rows = groups.map((_, g) => {
    const own = audit.causes.map(({ overall, groups: others }) => [overall, ...others][g]);
    const isShown = cells.shows(own[0].n) && own[0].supported.bins >= momentBin;
    const counts = (curve: "observed" | "predicted") =>
      ofHundred(own.map(({ incidence }) => incidence?.[curve][momentBin] ?? 0));
    const [seen, said] = [counts("observed"), counts("predicted")];
    const written = own.map((_scores, k) =>
      isShown
        ? html`<td data-label="${audit.causes[k].name}">${said[k]} <small>observed ${seen[k]}</small></td>`
        : html`<td data-label="${audit.causes[k].name}">– <small>not followed so long</small></td>`,
    );
    return html`<tr><th scope="row">${g === 0 ? html`Everyone` : nameOfGroup(data, g)}</th>${written}</tr>`;
  });
  return html`<section aria-labelledby="hundred" class="scores"><h2 id="hundred">Of 100 such people</h2>
<p class="lead">How many are predicted to have had each cause by ${moment}, and how many had. A group needs ten people \
at risk at that time.</p>
<div class="card scroll" tabindex="0" role="region" aria-label="People of a hundred"><table class="main"><thead><tr>\
<th scope="col">Group</th>${audit.causes.map(({ name }) => html`<th scope="col">${nameOf(name)}</th>`)}</tr></thead>
<tbody>${rows}</tbody></table></div></section>`;
}
