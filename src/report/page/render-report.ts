/**
 * One HTML file with everything a reader of an audit needs. It uses no network and no second file, opens from disk and
 * prints to A4. The policy in its head lets it load nothing and run only the sorting script, so even a mistake in
 * escaping could not run a stranger's code. Without scripts everything is still there, in the order of the audit.
 */

import type { ReportData } from "../data/report-data.ts";
import type { PlotDocument } from "../plots/plot-canvas.ts";
import { renderCohort, renderSubject } from "../sections/cohort.ts";
import { renderGlance, renderPanels } from "../sections/groups.ts";
import { renderHeadline } from "../sections/headline.ts";
import { renderSettings, renderWords } from "../sections/method.ts";
import { renderBands, renderExamples, renderRiskCalibration } from "../sections/people.ts";
import { renderPrice } from "../sections/price.ts";
import { renderScores } from "../sections/scores.ts";
import { renderTargets } from "../sections/targets.ts";
import { renderTraining } from "../sections/training.ts";
import { renderFrame } from "./frame.ts";
import { html } from "./html.ts";

/** What rendering needs besides the data. */
export interface RenderOptions {
  /** What creates the SVG elements: `document` in a page, linkedom's in Node. */
  readonly document: unknown;
}

/** The page's only script: it sorts the table of scores. */
export const SORT_SCRIPT = `
"use strict";
for (const table of document.querySelectorAll("table[data-sortable]")) {
  const body = table.querySelector("tbody[data-rows]");
  const said = document.getElementById("sorted");
  const heads = [...table.querySelectorAll("thead th")];
  heads.forEach((head, column) => {
    const button = head.querySelector("button");
    if (!button) return;
    button.addEventListener("click", () => {
      const before = head.getAttribute("aria-sort");
      const first = head.dataset.first;
      const order = before === null ? first : before === "ascending" ? "descending" : "ascending";
      for (const other of heads) {
        other.removeAttribute("aria-sort");
        const arrow = other.querySelector(".arrow");
        if (arrow) arrow.textContent = "\\u2195";
      }
      head.setAttribute("aria-sort", order);
      head.querySelector(".arrow").textContent = order === "ascending" ? "\\u2191" : "\\u2193";
      const sign = order === "ascending" ? 1 : -1;
      const keyOf = (row) => row.cells[column].dataset.value;
      const rows = [...body.rows].sort((a, b) => {
        const x = keyOf(a);
        const y = keyOf(b);
        if (x === undefined || y === undefined) return (x === undefined ? 1 : 0) - (y === undefined ? 1 : 0);
        return sign * (head.dataset.kind === "text" ? x.localeCompare(y) : Number(x) - Number(y));
      });
      body.append(...rows);
      said.textContent = "Sorted by " + button.dataset.name + ", " + order;
    });
  });
}
`;

/** The report as one HTML page. */
export function renderReport(data: ReportData, options: RenderOptions): string {
  const document = options.document as PlotDocument;
  const risk = renderRiskCalibration(data, document);
  const bands = renderBands(data, document);
  const people = renderExamples(data, document);
  const training = renderTraining(data, document);
  const price = renderPrice(data, document);
  const targets = renderTargets(data, document);
  const contents = [
    { id: "glance", title: "At a glance" },
    { id: "cohort", title: "Who was audited" },
    { id: "groups", title: "Predicted against observed" },
    { id: "scores", title: "Every score" },
    ...(risk === null ? [] : [{ id: "risk", title: "By predicted risk" }]),
    ...(bands === null ? [] : [{ id: "bands", title: "From low to high risk" }]),
    ...(people === null ? [] : [{ id: "people", title: "Three people" }]),
    ...(training === null ? [] : [{ id: "training", title: "Training" }]),
    ...(price === null ? [] : [{ id: "price", title: "The price of holding" }]),
    ...(targets === null ? [] : [{ id: "targets", title: "Held to outside curves" }]),
    { id: "words", title: "What the words mean" },
    { id: "settings", title: "Settings" },
  ];
  const main = html`${renderHeadline(data)}
${renderGlance(data, document)}
${renderCohort(data)}
${renderPanels(data, document)}
${renderScores(data)}
${risk}
${bands}
${people}
${training}
${price}
${targets}
${renderWords(data)}
${renderSettings(data)}`;
  const kind = "Calibration report";
  return renderFrame({ data, kind, subject: renderSubject(data), contents, main, script: SORT_SCRIPT });
}
