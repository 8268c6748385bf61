/**
 * One HTML file with everything a reader of an audit needs. It uses no network and no second file, opens from disk and
 * prints to A4. The policy in its head lets it load nothing and run only the sorting script, so even a mistake in
 * escaping could not run a stranger's code.
 */

import type { ReportData } from "../data/report-data.ts";
import type { PlotDocument } from "../plots/plot-canvas.ts";
import { renderCohort } from "../sections/cohort.ts";
import { renderGlance } from "../sections/glance.ts";
import { renderPanels } from "../sections/groups.ts";
import { renderHeadline } from "../sections/headline.ts";
import { renderSettings, renderWords } from "../sections/method.ts";
import { renderBands, renderExamples, renderRiskCalibration } from "../sections/people.ts";
import { renderScores } from "../sections/scores.ts";
import { renderSubject } from "../sections/subject.ts";
import { renderTraining } from "../sections/training.ts";
import { cleanText, html, trustMarkup } from "./html.ts";
import { SORT_SCRIPT, SORT_SCRIPT_HASH } from "./report-script.ts";
import { REPORT_STYLE } from "./report-style.ts";

/** What rendering needs besides the data. */
export interface RenderOptions {
  /** What creates the SVG elements: `document` in a page, linkedom's in Node. */
  readonly document: unknown;
}

const POLICY =
  `default-src 'none'; style-src 'unsafe-inline'; script-src '${SORT_SCRIPT_HASH}'; img-src data:; ` +
  "base-uri 'none'; form-action 'none'";

/** The report as one HTML page. */
export function renderReport(data: ReportData, options: RenderOptions): string {
  const document = options.document as PlotDocument;
  const risk = renderRiskCalibration(data, document);
  const bands = renderBands(data, document);
  const people = renderExamples(data, document);
  const training = renderTraining(data, document);
  const contents = [
    { id: "glance", title: "At a glance" },
    { id: "cohort", title: "Who was audited" },
    { id: "groups", title: "Predicted against observed" },
    { id: "scores", title: "Every score" },
    ...(risk === null ? [] : [{ id: "risk", title: "By predicted risk" }]),
    ...(bands === null ? [] : [{ id: "bands", title: "From low to high risk" }]),
    ...(people === null ? [] : [{ id: "people", title: "Three people" }]),
    ...(training === null ? [] : [{ id: "training", title: "Training" }]),
    { id: "words", title: "What the words mean" },
    { id: "settings", title: "Settings" },
  ];
  const { program, created } = data.provenance;
  const page = html`<!doctype html>
<html lang="en">
<head>
<meta charset="utf-8">
<meta http-equiv="Content-Security-Policy" content="${POLICY}">
<meta name="viewport" content="width=device-width, initial-scale=1">
<meta name="color-scheme" content="light dark">
<meta name="referrer" content="no-referrer">
<title>${cleanText(data.title)}</title>
<style>${trustMarkup(REPORT_STYLE)}</style>
</head>
<body>
<a class="skip" href="#main">Skip to the result</a>
<header><p class="eyebrow">Calibration report · ${program}${created === undefined ? "" : ` · ${created}`}</p>
<h1><bdi>${data.title}</bdi></h1>
${renderSubject(data)}
<nav aria-label="Contents"><ul>${contents.map(({ id, title }) => html`<li><a href="#${id}">${title}</a></li>`)}</ul>\
</nav></header>
<main id="main">
${renderHeadline(data)}
${renderGlance(data, document)}
${renderCohort(data)}
${renderPanels(data, document)}
${renderScores(data)}
${risk}
${bands}
${people}
${training}
${renderWords(data)}
${renderSettings(data)}
</main>
<footer>Made by ${program}. Not a medical device: it helps people check models, it does not decide about anyone.\
</footer>
<script>${trustMarkup(SORT_SCRIPT)}</script>
</body>
</html>
`;
  return page.markup;
}
