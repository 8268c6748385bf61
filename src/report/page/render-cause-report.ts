/**
 * The report of an audit by cause as one HTML file, in the style and under the policy of render-report.ts: it loads
 * nothing, runs nothing and prints to A4. First what was found and how many of a hundred people have each cause, then
 * the causes stacked, each cause by group, every score, and what the words mean.
 */
import type { CauseReportData } from "../data/cause-report.ts";
import type { PlotDocument } from "../plots/plot-canvas.ts";
import { causeId, renderCausePanels, renderCauseScores } from "../sections/cause-groups.ts";
import { renderCauseHeadline, renderCauseSubject, renderHundred, renderStack } from "../sections/causes.ts";
import { renderSettings } from "../sections/method.ts";
import { renderFrame } from "./frame.ts";
import { type Html, html } from "./html.ts";
import type { RenderOptions } from "./render-report.ts";

const WORDS: readonly (readonly [string, string])[] = [
  [
    "Incidence",
    "The share of people who have had an event of the cause by a time, with the other causes at work as they are. " +
      "All causes and the share without an event make 1.",
  ],
  [
    "Aalen-Johansen",
    "The observed incidence, which allows for people whose follow-up ended early. It holds if, within a group, the " +
      "end of follow-up has nothing to do with the event to come.",
  ],
  [
    "Expected events",
    "The sum of everyone’s own predicted hazards of the cause while they were followed. Observed ÷ expected above 1: " +
      "more events than predicted. The logrank tests whether chance explains the difference.",
  ],
  [
    "ECE",
    "Expected calibration error: the gap between mean predicted and observed incidence by tenths of predicted " +
      "incidence. Even a perfect model shows some, by chance: that is given beside it.",
  ],
  [
    "Disagrees",
    "The gap of the curves, their largest gap at any single time or the number of events is further from what a " +
      "perfect model shows than chance explains, with all groups and causes considered: with a perfect model, any " +
      "of them disagrees in at most 5 of 100 such reports.",
  ],
  [
    "Could be up to",
    "With 95 % confidence for all groups and causes together, the r.m.s. distance over time between mean predicted " +
      "and true incidence stays below this.",
  ],
  [
    "Concordance",
    "Wolbers’: of a person with the cause and one without it until then, or with another cause before, how often the " +
      "first was given the higher incidence. 0.5 is guessing.",
  ],
  [
    "IBS",
    "Integrated Brier score: the mean squared error of predicted incidence, averaged over the time bins.",
  ],
];

/** The report as one HTML page. */
export function renderCauseReport(data: CauseReportData, options: RenderOptions): string {
  const document = options.document as PlotDocument;
  const hundred = renderHundred(data);
  const contents = [
    { id: "everyone", title: "Everyone" },
    ...(hundred === null ? [] : [{ id: "hundred", title: "Of 100 people" }]),
    ...data.audit.causes.map(({ name }, k) => ({ id: causeId(k), title: name })),
    { id: "scores", title: "Every score" },
    { id: "words", title: "What the words mean" },
    { id: "settings", title: "Settings" },
  ];
  const main = html`${renderCauseHeadline(data)}
${renderSaid(data)}
${renderStack(data, document)}
${hundred}
${[...renderCausePanels(data, document)]}
${renderCauseScores(data)}
<section aria-labelledby="words"><h2 id="words">What the words mean</h2>
<div class="card"><dl class="words">${WORDS.map(([word, meaning]) => html`<dt>${word}</dt><dd>${meaning}</dd>`)}</dl>\
</div></section>
${renderSettings({ ...data, modelSettings: [] })}`;
  return renderFrame({
    data,
    kind: "Calibration report by cause",
    subject: renderCauseSubject(data),
    contents,
    main,
  });
}

function renderSaid({ said }: CauseReportData): Html | null {
  if (said.length === 0) return null;
  return html`<ul class="findings">${said.map((one) => html`<li>${one}</li>`)}</ul>`;
}
