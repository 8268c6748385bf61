/** What the terms mean, and everything needed to make the report again. */

import { FAMILY_LEVEL } from "../../stats/calibration/agreement.ts";
import { MINIMUM_EVENTS } from "../../stats/kaplan-meier.ts";
import type { ReportData } from "../data/report-data.ts";
import { SMALLEST_CELL } from "../data/small-cells.ts";
import { type Html, html, nameOf } from "../page/html.ts";
import { roundedDurationOf } from "../words/report-time.ts";
import { tolerancePoints } from "../words/report-words.ts";

const DEPARTURE: readonly [string, string] = [
  "Departure",
  "The most surprising of three: the r.m.s. gap, the largest gap at any single time in standard errors of the " +
    "model’s own null, and the number of events; ranked among the same of outcomes drawn from the curves. So " +
    "it sees what comes late, or passes.",
];

function listWords({ tolerance, hidesSmallCells }: ReportData): readonly (readonly [string, string])[] {
  return [
    [
      "Observed",
      "The Kaplan-Meier curve of the people audited. It takes censoring inside a group as unrelated to the event.",
    ],
    [
      "Disagrees",
      "Further from the observed than chance explains, all groups considered: the adjusted p-value of its departure " +
        `is at most ${FAMILY_LEVEL}. A perfect model has any group ` +
        `disagree in at most ${100 * FAMILY_LEVEL} of 100 reports.`,
    ],
    DEPARTURE,
    [
      "No disagreement shown",
      "The test finds none. That is no agreement: “up to” says how far off the group could still be. Green " +
        `where that is less than ${tolerancePoints(tolerance)}.`,
    ],
    [
      "Too few events to say",
      `Fewer than ${MINIMUM_EVENTS} events, observed and expected; or followed too briefly, ten people at risk for ` +
        "less than a quarter of the time up to the horizon. Where most events come early, a model trained with a " +
        "shorter horizon can be judged.",
    ],
    [
      "Up to, off by",
      "A bound on the r.m.s. distance between the group’s mean predicted curve and the true survival curve of " +
        "people like these, over the time with ten of them at risk, in points of survival (hundredths). In large " +
        "groups " +
        "all bounds of a report hold together in 95 of 100 reports (multiplier bootstrap). It is an average over " +
        "time: at a single time the curve can be further off.",
    ],
    [
      "R.m.s. gap, largest z",
      "Root of the mean squared distance between predicted mean and observed curve while ten people are at risk; " +
        "and their largest distance in standard errors.",
    ],
    [
      "ECE",
      "Expected calibration error: times are gathered by tenths of predicted mean survival; in each the mean " +
        "predicted is held against the mean observed survival, and the distances are averaged. Over the time " +
        "with ten people at risk.",
    ],
    [
      "Noise floor",
      "The ECE a perfect model would show on these very rows by chance: outcomes are drawn from the model’s own " +
        "curves and scored the same way. An ECE means nothing without it; small groups have large floors.",
    ],
    [
      "p",
      "How often a perfect model would show an error at least as large. Small: chance is an unlikely " +
        "explanation. Large: no evidence against the model, which is not evidence for it.",
    ],
    [
      "Adjusted p",
      "The same with all groups considered: how often the worst of them all would reach this by chance (for ECE " +
        "and departures from the draws themselves, for the logrank test by Holm).",
    ],
    [
      "Observed ÷ predicted",
      "Events that happened over the sum of everyone’s predicted hazards while followed: valid even when " +
        "censoring depends on the features. The logrank test is about this ratio.",
    ],
    [
      "IBS",
      "Integrated Brier score: mean squared error of the predicted probabilities, lower is better. Over all time " +
        "bins up to the horizon.",
    ],
    ...(hidesSmallCells
      ? [
          [
            `Under ${SMALLEST_CELL}`,
            `Counts of people or events under ${SMALLEST_CELL}, and what they would follow from in the same ` +
              "line, are not printed. Curves are drawn as they are.",
          ] as const,
        ]
      : []),
  ];
}

export function renderWords(data: ReportData): Html {
  return html`<section aria-labelledby="words"><h2 id="words">What the words mean</h2>
<div class="card"><dl class="words">${listWords(data).map(
    ([word, meaning]) => html`<dt>${word}</dt><dd>${meaning}</dd>`,
  )}</dl></div></section>`;
}

export function renderSettings({
  provenance,
  modelSettings,
  time,
  tolerance,
}: Pick<ReportData, "provenance" | "modelSettings" | "time" | "tolerance">): Html {
  const { program, command, created, files, settings } = provenance;
  const own = [
    { name: "program", value: program },
    ...(created === undefined ? [] : [{ name: "made", value: created }]),
    { name: "time bins", value: String(time.edges.length - 1) },
    { name: "horizon", value: roundedDurationOf(time.edges[time.edges.length - 1], time.label) },
    { name: "tolerance", value: tolerancePoints(tolerance) },
    ...Object.entries(settings).map(([name, value]) => ({
      name,
      value: value === null ? "none" : String(value),
    })),
  ];
  const list = (entries: readonly { readonly name: string; readonly value: string }[]) =>
    html`<dl class="settings">${entries.map(
      ({ name, value }) => html`<div><dt>${name}</dt><dd>${value}</dd></div>`,
    )}</dl>`;
  return html`<section aria-labelledby="settings"><h2 id="settings">Settings, and how to make this again</h2>
<div class="card stack"><div><h3>Command</h3><pre tabindex="0" aria-label="Command">${command}</pre></div>
${
  files.length === 0
    ? null
    : html`<table><caption>Files, by what is in them</caption><thead><tr><th scope="col">File</th>\
<th scope="col" class="left">Role</th><th scope="col" class="left">SHA-256</th></tr></thead><tbody>${files.map(
        ({ name, role, sha256 }) =>
          html`<tr><th scope="row">${nameOf(name)}</th><td class="left">${role}</td>\
<td class="left">${sha256 === undefined ? "–" : html`<code>${sha256}</code>`}</td></tr>`,
      )}</tbody></table>`
}
<div><h3>Audit</h3>${list(own)}</div>
${modelSettings.length === 0 ? null : html`<div><h3>Model</h3>${list(modelSettings)}</div>`}
</div></section>`;
}
