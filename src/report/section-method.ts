/** What the words mean, and everything needed to make the report again. */
import { type Html, html, nameOf } from "./html.ts";
import type { ReportData } from "./report-data.ts";
import { durationOf } from "./report-words.ts";
import { FAMILY_LEVEL, MINIMUM_EVENTS } from "./verdict.ts";

const WORDS: readonly (readonly [string, string])[] = [
  [
    "Observed",
    "The Kaplan-Meier curve of the people audited. It takes censoring inside a group as unrelated to the event.",
  ],
  [
    "ECE",
    "Expected calibration error: the mean distance between the mean predicted and the observed curve, over all time bins, gathered by tenths of predicted survival.",
  ],
  [
    "Noise floor",
    "The error a perfect model would show on these very rows by chance: outcomes are drawn from the model’s own curves and scored the same way. An ECE means nothing without it; small groups have large floors.",
  ],
  [
    "p",
    "How often a perfect model would show an error at least as large. Small: chance is an unlikely explanation. Large: no evidence against the model, which is not evidence for it.",
  ],
  [
    "Adjusted p",
    "The same with all groups considered: how often the worst of them all would reach this by chance (for ECE from the draws themselves, for the logrank test by Holm).",
  ],
  [
    "Verdict",
    `Off: one of the two adjusted p-values is at most ${FAMILY_LEVEL / 2} (${FAMILY_LEVEL} where there is only one). Uncertain: a p by itself is at most 0.05, the adjusted one is not. Agrees: neither. Too few events to say: fewer than ${MINIMUM_EVENTS}. Followed too briefly: ten people at risk for less than a quarter of the time up to the horizon; where most events come early, a model trained with a shorter horizon can be judged.`,
  ],
  [
    "Bound",
    "For errors only an upper limit is given: near 0 a two-sided interval would be wrong. It says how bad things could be.",
  ],
  [
    "R.m.s. gap, largest z",
    "Root of the mean squared distance between the two curves while ten people are at risk; and their largest distance in standard errors.",
  ],
  [
    "Observed ÷ predicted",
    "Events that happened over the sum of everyone’s predicted hazards while followed: valid even when censoring depends on the features.",
  ],
  ["IBS", "Integrated Brier score: mean squared error of the predicted probabilities, lower is better."],
];

export function renderWords(): Html {
  return html`<section aria-labelledby="words"><h2 id="words">What the words mean</h2>
<div class="card"><dl class="words">${WORDS.map(([word, meaning]) => html`<dt>${word}</dt><dd>${meaning}</dd>`)}</dl></div></section>`;
}

export function renderSettings({ provenance, modelSettings, time }: ReportData): Html {
  const { program, command, created, files, settings } = provenance;
  const own = [
    { name: "program", value: program },
    ...(created === undefined ? [] : [{ name: "made", value: created }]),
    { name: "time bins", value: String(time.edges.length - 1) },
    { name: "horizon", value: durationOf(time.edges[time.edges.length - 1], time.label) },
    ...Object.entries(settings).map(([name, value]) => ({
      name,
      value: value === null ? "none" : String(value),
    })),
  ];
  const list = (entries: readonly { readonly name: string; readonly value: string }[]) =>
    html`<dl class="settings">${entries.map(({ name, value }) => html`<div><dt>${name}</dt><dd>${value}</dd></div>`)}</dl>`;
  return html`<section aria-labelledby="settings"><h2 id="settings">Settings, and how to make this again</h2>
<div class="card stack"><div><h3>Command</h3><pre tabindex="0" aria-label="Command">${command}</pre></div>
${
  files.length === 0
    ? null
    : html`<table><caption>Files, by what is in them</caption><thead><tr><th scope="col">File</th><th scope="col" class="left">Role</th><th scope="col" class="left">SHA-256</th></tr></thead><tbody>${files.map(
        ({ name, role, sha256 }) =>
          html`<tr><th scope="row">${nameOf(name)}</th><td class="left">${role}</td><td class="left">${sha256 === undefined ? "–" : html`<code>${sha256}</code>`}</td></tr>`,
      )}</tbody></table>`
}
<div><h3>Audit</h3>${list(own)}</div>
${modelSettings.length === 0 ? null : html`<div><h3>Model</h3>${list(modelSettings)}</div>`}
</div></section>`;
}
