/**
 * Held to curves from outside: for each target the group's local Kaplan-Meier curve, the target and the model at the
 * target's times, and the test of whether local people contradict it.
 */
import type { TargetReport } from "../../training/solve/curves/hold-targets.ts";
import type { ReportData } from "../data/report-data.ts";
import { createCells } from "../data/small-cells.ts";
import { type Html, html, nameOf } from "../page/html.ts";
import { MUTED, OBSERVED, type PlotDocument, PREDICTED } from "../plots/plot-canvas.ts";
import { drawTarget, type TargetMoment } from "../plots/plot-price.ts";
import { momentOf } from "../words/report-time.ts";
import { formatP } from "../words/text-table.ts";

/** The normal quantile of 95 % limits. */
const LIMITS = 1.96;
/** Where the count of events is hidden, p is only said to be on one side of this. */
const COARSE_P = 0.05;

const drawMark = (shape: Html) =>
  html`<svg width="16" height="16" viewBox="-8 -8 16 16" aria-hidden="true" focusable="false">${shape}</svg>`;
const LOCAL_MARK = drawMark(html`<circle r="4.5" fill="none" stroke="${OBSERVED}" stroke-width="2"/>`);
const TARGET_MARK = drawMark(html`<path d="M0-8V8" stroke="${MUTED}" stroke-width="2.5"/>\
<rect x="-3.5" y="-3.5" width="7" height="7" fill="${MUTED}"/>`);
const MODEL_MARK = drawMark(html`<path d="M0-6L4 0L0 6L-4 0Z" fill="${PREDICTED}"/>`);

export function renderTargets(data: ReportData, document: PlotDocument): Html | null {
  const { targets = [], solvedOn } = data.training?.solve ?? {};
  if (targets.length === 0) return null;
  return html`<section aria-labelledby="targets"><h2 id="targets">Held to outside curves</h2>
<p class="lead">Survival that was given from outside, with its 95 % limits (± ${LIMITS} standard errors), beside the \
Kaplan-Meier curve of the group’s own ${solvedOn ?? "rows"} and the model’s mean curve over them.</p>
<ul class="legend"><li>${LOCAL_MARK} local Kaplan-Meier</li><li>${TARGET_MARK} target with limits</li>\
<li>${MODEL_MARK} model</li></ul>
<div class="two">${targets.map((one) => renderTarget(one, data, document))}</div></section>`;
}

function renderTarget(one: TargetReport, data: ReportData, document: PlotDocument): Html {
  const { label, given } = data.time;
  const moments = listMoments(one, given?.divisor ?? 1, showsEvents(one, data));
  const within = moments.filter(({ model, lower, upper }) => model >= lower && model <= upper).length;
  const says =
    `Survival of ${one.group} at ${moments.length} times: the model is within the target’s limits at ` +
    `${within} of them.`;
  const columns = ["Local", "Target", "95 % limits", "Model"];
  return html`<div class="card"><h3>${nameOf(one.group)}</h3>
<div class="figure" role="img" aria-label="${says}">${drawTarget(document, moments, label)}</div>
<p>${sayClash(one, data)}</p>
<div class="scroll" tabindex="0" role="region" aria-label="Target of ${one.group}">\
<table class="constraints">
<thead><tr><th scope="col">Time</th>${columns.map((title) => html`<th scope="col">${title}</th>`)}</tr></thead>
<tbody>${moments.map(({ time, local, target, lower, upper, model }) => {
    const values = [
      local === null ? "–" : local.toFixed(3),
      target.toFixed(3),
      `${lower.toFixed(3)} – ${upper.toFixed(3)}`,
      model.toFixed(3),
    ];
    return html`<tr><th scope="row">${momentOf(time, label)}</th>${values.map(
      (value, k) => html`<td data-label="${columns[k]}">${value}</td>`,
    )}</tr>`;
  })}</tbody></table></div></div>`;
}

/** Whether the count of events is printed; where it is not, the local curve would give it away. */
function showsEvents({ group, clash }: TargetReport, data: ReportData): boolean {
  return createCells(data.hidesSmallCells).shows(clash.observed, peopleIn(group, data));
}

function peopleIn(name: string, { training }: ReportData): number | undefined {
  return training?.constraints.find(({ group }) => group === name)?.n;
}

function listMoments(one: TargetReport, divisor: number, showsLocal: boolean): readonly TargetMoment[] {
  const { time, target, standardError, local, model } = one;
  return time.map((at, j) => ({
    time: at / divisor,
    target: target[j],
    lower: Math.max(0, target[j] - LIMITS * standardError[j]),
    upper: Math.min(1, target[j] + LIMITS * standardError[j]),
    local: showsLocal ? local[j] : null,
    model: model[j],
  }));
}

/** Observed and expected events; where the count is hidden, nothing from which it would follow. */
function sayClash(target: TargetReport, data: ReportData): string {
  const { group, clash } = target;
  const { observed, expected, p, adjusted } = clash;
  const events = createCells(data.hidesSmallCells).countOf(observed, "event", peopleIn(group, data));
  const had = `Up to the last of these times the group had ${events}`;
  if (!showsEvents(target, data)) {
    const side = adjusted < COARSE_P ? "below" : "at least";
    return (
      `${had}; its local curve, which would give the count away, is left out. The chance of as large a difference ` +
      `from what the target expects is ${side} ${COARSE_P}.`
    );
  }
  const all = adjusted === p ? "" : ` (${formatP(adjusted)} with all targets considered)`;
  return (
    `${had}, and the target expects ${expected.toFixed(1)}. The chance of as large a difference is ` +
    `p\u00a0=\u00a0${formatP(p)}${all}.`
  );
}
