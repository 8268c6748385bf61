/**
 * The card of one person as HTML: the body, which a page of one's own can hold, and a whole page that opens from disk,
 * loads nothing and runs nothing. Embedded, a card needs REPORT_STYLE's variables and CARD_STYLE.
 */
import { isAbsent } from "../../core/measured.ts";
import type { JudgedGroups } from "../../verbs/people/card-groups.ts";
import { type Cells, createCells, SMALLEST_CELL } from "../data/small-cells.ts";
import { cleanText, type Html, html, nameOf, trustMarkup } from "../page/html.ts";
import type { RenderOptions } from "../page/render-report.ts";
import { REPORT_STYLE } from "../page/report-style.ts";
import type { PlotDocument } from "../plots/plot-canvas.ts";
import { iconOf, pointsOf } from "../words/report-words.ts";
import {
  besideRisk,
  type CardData,
  type CardTime,
  listUnknown,
  percentRisk,
  riskSentence,
  showTime,
  toFrequency,
} from "./card-data.ts";
import { curveKey, drawHundred, drawPersonCurve } from "./card-figures.ts";
import { CARD_STYLE } from "./card-style.ts";
import { renderCauseDrivers, renderCauseGroups, renderCauseRisks, renderStacked } from "./render-causes.ts";
import { renderDrivers } from "./render-drivers.ts";

/** What a page is made with. */
export interface CardPageOptions extends RenderOptions {
  /** Name and version of the program. */
  readonly program: string;
}

const POLICY =
  "default-src 'none'; style-src 'unsafe-inline'; img-src data:; base-uri 'none'; form-action 'none'";

/** The whole page. */
export function renderCardPage(card: CardData, options: CardPageOptions): string {
  const title = titleOf(card);
  return html`<!doctype html>
<html lang="en">
<head>
<meta charset="utf-8">
<meta http-equiv="Content-Security-Policy" content="${POLICY}">
<meta name="viewport" content="width=device-width, initial-scale=1">
<meta name="color-scheme" content="light dark">
<meta name="referrer" content="no-referrer">
<title>${cleanText(title)}</title>
<style>${trustMarkup(REPORT_STYLE)}${trustMarkup(CARD_STYLE)}</style>
</head>
<body>
<header><p class="eyebrow">One person’s prediction · ${options.program}</p>
<h1><bdi>${title}</bdi></h1>
<p class="lead">Predicted by a model of method ${card.method}. This page is about one person: hand it on only to those \
who may know.</p></header>
<main id="main">${trustMarkup(renderCardBody(card, options))}</main>
<footer>Made by ${options.program}. Not a medical device: it helps people check models, it does not decide about \
anyone.</footer>
</body>
</html>
`.markup;
}

/** What a page of one's own holds. */
export function renderCardBody(card: CardData, options: RenderOptions): string {
  const document = options.document as PlotDocument;
  const time = showTime(card);
  const { explanation } = card;
  const { byCause } = explanation;
  const parts =
    byCause === null
      ? {
          curve: renderCurve(card, time, document),
          risks: renderRisks(card, time),
          drivers: [
            renderDrivers(explanation, explanation.times, time, {
              id: "card-drivers",
              title: html`What drives it`,
            }),
          ],
        }
      : {
          curve: renderStacked(card, byCause.all, time, document),
          risks: renderCauseRisks(byCause.all, time),
          drivers: renderCauseDrivers(card, time),
        };
  // Two columns: what is left over stands beside the last table of drivers, or in a row of its own.
  const beside = [renderGroups(card, time), renderWarnings(card)];
  return html`<div class="person">
${parts.curve}
${parts.risks}
${parts.drivers}
${parts.drivers.length % 2 === 0 ? beside : html`<div class="stack">${beside}</div>`}
<section class="card full" aria-labelledby="card-unknown"><h2 id="card-unknown">What the model does not know</h2>
<ul class="plain">${listUnknown(card, time).map((sentence) => html`<li>${sentence}</li>`)}</ul></section>
</div>`.markup;
}

function titleOf({ person: { table, row, id } }: CardData): string {
  return id === null || id === "" ? `Row ${row} of ${table}` : `${id}, row ${row} of ${table}`;
}

function renderCurve(card: CardData, time: CardTime, document: PlotDocument): Html {
  const { survival, everyone, bands, explanation } = card;
  const last = survival.length - 1;
  const says =
    `Chance to be without the event over time. At ${time.horizon} it is ${percentRisk(survival[last])} for this ` +
    `person and ${percentRisk(everyone[last])} for everyone on average.`;
  const level = bands === null ? null : `${Math.round(100 * bands.level)} % band`;
  return html`<section class="card" aria-labelledby="card-curve"><h2 id="card-curve">Chance to be without the event</h2>
<ul class="legend"><li>${curveKey("person")} this person</li>
<li>${curveKey("everyone")} mean of ${explanation.background.rows} ${explanation.background.which}</li>
${level === null ? null : html`<li>${curveKey("band")} ${level}</li>`}</ul>
<div class="figure" role="img" aria-label="${says}">${drawPersonCurve(document, card, time)}</div>
<p class="lead">The vertical axis need not start at 0.</p></section>`;
}

function renderRisks(card: CardData, time: CardTime): Html {
  const level = card.bands?.level ?? null;
  const tiles = card.risks.map((one) => {
    const moment = time.momentOf(one.time);
    const sentence = riskSentence(one.risk, moment);
    const { of, count } = toFrequency(one.risk);
    return html`<div><h3>By ${moment}</h3><div class="value">${percentRisk(one.risk)}</div>
${drawHundred(of === 100 ? count : Math.round(100 * one.risk), sentence)}
<p>${sentence}</p><p class="beside">${besideRisk(one, level)}</p></div>`;
  });
  return html`<section class="card" aria-labelledby="card-risks"><h2 id="card-risks">Risk of the event</h2>
<div class="risks">${tiles}</div></section>`;
}

function renderGroups(card: CardData, time: CardTime): Html {
  const { groups } = card;
  const head = html`<h2 id="card-groups">People like this</h2>`;
  if (isAbsent(groups)) {
    return html`<section class="card" aria-labelledby="card-groups">${head}
<p class="lead">How right the model is for this person’s groups cannot be said: ${groups.absent}.</p></section>`;
  }
  if (groups.byCause !== null) {
    return html`<section class="card" aria-labelledby="card-groups">${head}
${renderCauseGroups(card, groups.byCause, time)}</section>`;
  }
  const cells = createCells(card.hidesSmallCells);
  const level = Math.round(100 * (1 - groups.alpha));
  return html`<section class="card" aria-labelledby="card-groups">${head}
<p class="lead">The groups this person belongs to, among ${cells.text(groups.rows)} ${groups.which} that the model has \
not seen. The last column bounds how far the mean curve can be from the truth on average over time, with ${level} % \
confidence for all groups together.</p>
<table class="like"><colgroup><col class="name"><col class="count"><col class="count"><col></colgroup>
<thead><tr><th scope="col">group</th>\
<th scope="col">people</th><th scope="col">events</th><th scope="col">off by up to</th></tr></thead>
<tbody>${groups.groups.map((one) => renderGroup(one, cells))}</tbody></table>${
    groups.groups.some(({ n, events }) => !cells.shows(n) || !cells.shows(events, n))
      ? html`<p class="lead">Counts under ${SMALLEST_CELL} are hidden.</p>`
      : null
  }</section>`;
}

function renderGroup(one: JudgedGroups["groups"][number], cells: Cells): Html {
  const { name, expression, n, events, tight, exactPopulation, absent } = one;
  const bound = tight ?? exactPopulation;
  const isShown = cells.shows(n) && cells.shows(events, n);
  const why = absent.tight ?? absent.exactPopulation ?? "";
  const who = expression === name || expression === "all" ? null : html`<small>${nameOf(expression)}</small>`;
  return html`<tr><th scope="row">${expression === "all" ? "everyone" : nameOf(name)}${who}</th>\
<td>${cells.text(n)}</td><td>${cells.text(events, n)}</td><td>${
    bound === null || !isShown
      ? html`–<small>${isShown ? why : "too few people to say"}</small>`
      : pointsOf(bound)
  }</td></tr>`;
}

function renderWarnings({ warnings }: CardData): Html {
  const items = warnings.map(
    (sentence) => html`<li><span class="chip doubt">${iconOf("doubt")} doubt</span>${sentence}</li>`,
  );
  return html`<section class="card" aria-labelledby="card-doubts"><h2 id="card-doubts">What is doubtful about this \
row</h2>
${
  warnings.length === 0
    ? html`<p class="lead">Nothing: every cell is there, and within what training had.</p>`
    : html`<ul class="findings">${items}</ul>`
}</section>`;
}
