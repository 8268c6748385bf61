/**
 * Calibration and curves by predicted risk, which the groups' means do not show. People's own curves are shown only
 * when asked for.
 */

import { countOf } from "../../core/text.ts";
import type { ReportData, RiskBand, RiskCalibration } from "../data/report-data.ts";
import { type Cells, createCells, SMALLEST_CELL } from "../data/small-cells.ts";
import { type Html, html } from "../page/html.ts";
import type { PlotDocument } from "../plots/plot-canvas.ts";
import { drawBands, drawExamples, drawRiskCalibration } from "../plots/plot-people.ts";
import { momentOf } from "../words/report-time.ts";
import { percentOf, unitOf, unitsOf } from "../words/report-words.ts";

export function renderRiskCalibration(data: ReportData, document: PlotDocument): Html | null {
  const { calibration } = data;
  if (calibration.length === 0) return null;
  const cells = createCells(data.hidesSmallCells);
  return html`<section aria-labelledby="risk"><h2 id="risk">Calibration by predicted risk</h2>
<p class="lead">A mean curve can be right while ${unitsOf(data)} are swapped. Here ${unitsOf(data)} are cut into parts \
of equal size by their predicted risk of the event before a time; in each part the observed risk (1 − Kaplan-Meier, \
with 95 % limits) should lie near the diagonal. An open mark has fewer than ten ${unitsOf(data)} at risk by then.</p>
<div class="three">${calibration.map((one) => renderHorizon(one, data, cells, document))}</div></section>`;
}

function renderHorizon(one: RiskCalibration, data: ReportData, cells: Cells, document: PlotDocument): Html {
  const when = momentOf(one.time, data.time.label);
  if (one.absent !== null) {
    return html`<div class="card"><h3>By ${when}</h3><p class="lead">Not drawn: ${one.absent}.</p></div>`;
  }
  // The position of a mark reveals how many events it stands for.
  const shown = one.bins.filter(({ n, events }) => cells.shows(events, n));
  const hidden = one.bins.length - shown.length;
  const inside = shown.filter(
    ({ predicted, lower, upper }) => predicted >= lower && predicted <= upper,
  ).length;
  const parts = countOf(shown.length, "part");
  const says =
    `Observed against predicted risk by ${when}: in ${inside} of ${parts} the predicted risk lies ` +
    "within the 95 % limits of the observed.";
  const notDrawn =
    `${hidden} of ${one.bins.length} parts ${hidden === 1 ? "is" : "are"} not drawn: a count ` +
    `under ${SMALLEST_CELL} would follow.`;
  const isHidden = hidden > 0;
  const drawn = html`<div class="figure" role="img" \
aria-label="${says}">${drawRiskCalibration(document, { ...one, bins: shown })}</div>
<figcaption>${inside} of ${parts} ${shown.length === 1 ? "has" : "have"} the predicted risk within the \
limits.${isHidden ? ` ${notDrawn}` : ""}</figcaption>`;
  const range = (bin: RiskCalibration["bins"][number]) => `${percentOf(bin.lower)} – ${percentOf(bin.upper)}`;
  return html`<figure class="card"><h3>By ${when}</h3>${
    shown.length === 0 ? html`<figcaption>${notDrawn}</figcaption>` : drawn
  }
<details><summary>Numbers<span class="hidden"> by ${when}</span></summary>\
<div class="scroll" tabindex="0" role="region" aria-label="Numbers by ${when}"><table><thead><tr><th scope="col">part\
</th><th scope="col">${unitsOf(data)}</th><th scope="col">events</th><th scope="col">predicted</th>\
<th scope="col">observed</th><th scope="col">95 % limits</th></tr></thead><tbody>${one.bins.map(
    (bin, k) =>
      html`<tr><th scope="row">${k + 1}</th><td>${cells.text(bin.n)}</td><td>${cells.text(bin.events, bin.n)}</td>\
<td>${percentOf(bin.predicted)}</td>${
        cells.shows(bin.events, bin.n)
          ? html`<td>${percentOf(bin.observed)}</td><td>${range(bin)}</td>`
          : html`<td>–</td><td>–</td>`
      }</tr>`,
  )}</tbody></table></div>${
    isHidden ? html`<p class="lead">–: a count under ${SMALLEST_CELL} would follow from it.</p>` : null
  }</details></figure>`;
}

const PARTS: Readonly<Record<number, string>> = { 3: "third", 5: "fifth" };

export function renderBands(data: ReportData, document: PlotDocument): Html | null {
  const { bands, time } = data;
  if (bands.length === 0) return null;
  const cells = createCells(data.hidesSmallCells);
  const part = PARTS[bands.length] ?? "part";
  const until = momentOf(time.edges[time.audited], time.label);
  const describe = ({ n, events, last, predicted, observed }: RiskBand, k: number) => {
    const end = momentOf(time.edges[last], time.label);
    const seen =
      last === 0 || !cells.shows(events, n)
        ? ""
        : ` At ${end} predicted ${predicted[last].toFixed(3)}, observed ${observed[last].toFixed(3)}.`;
    return (
      `${bandName(k, bands.length, part)}: ${cells.countOf(n, unitOf(data))}, ` +
      `${cells.countOf(events, "event", n)}.${seen}`
    );
  };
  return html`<section aria-labelledby="bands"><h2 id="bands">From low to high predicted risk</h2>
<p class="lead">${unitOf(data) === "row" ? "Rows" : "People"} cut into ${part}s by the risk that was predicted for \
${until}: the mean predicted curve of each ${part} (dashed) beside the Kaplan-Meier curve of the same ${unitsOf(data)} \
(steps), as long as ten of them are at risk. The vertical axis need not start at 0. Nobody’s own curve is shown.</p>
<figure class="card wide"><div class="figure" role="img" aria-label="Mean predicted and observed survival of \
${bands.length} parts of the ${unitsOf(data)} by predicted risk, described \
below">${drawBands(document, bands, auditedAxis(time), (k) => bandName(k, bands.length, part))}</div>
<figcaption><ul>${bands.map((band, k) => html`<li>${describe(band, k)}</li>`)}</ul></figcaption></figure></section>`;
}

/** The edges up to which curves are audited, and their unit. */
function auditedAxis({ edges, audited, label }: ReportData["time"]) {
  return { edges: edges.slice(0, audited + 1), timeLabel: label };
}

/** "lowest fifth", "2nd fifth", "highest fifth". */
function bandName(k: number, K: number, part: string): string {
  if (k === 0) return `lowest ${part}`;
  if (k === K - 1) return `highest ${part}`;
  return `${["2nd", "3rd", "4th"][k - 1] ?? `${k + 1}th`} ${part}`;
}

/** Rendered only when rows were asked for. */
export function renderExamples({ examples, overall, time }: ReportData, document: PlotDocument): Html | null {
  if (examples.length === 0) return null;
  const until = momentOf(time.edges[time.audited], time.label);
  const describe = ({ risk, row, percentile, time: at, event, survival }: (typeof examples)[number]) =>
    `${risk === "low" ? "Low" : risk === "middle" ? "Middle" : "High"} risk (higher than ${percentile} of 100), ` +
    `row ${row}: ${event ? "event" : "last seen without it"} at ${momentOf(at, time.label)}; predicted survival at ` +
    `${until} ${survival[survival.length - 1].toFixed(3)}.`;
  return html`<section aria-labelledby="people"><h2 id="people">Three people’s curves</h2>
<p class="lead">The people whose predicted risk is nearest to the 10th, 50th and 90th \
percentile${examples.every(({ event }) => event) ? ", among those who had the event" : ""}. The mark is the time of \
the event (filled) or when the person was last seen (open); the broad grey line is the mean of everyone. One \
person’s outcome neither confirms nor refutes a probability: this shows what a prediction looks like.</p>
<figure class="card wide"><div class="figure" role="img" aria-label="Predicted survival curves of three people, \
described below">${drawExamples(document, examples, overall.curve.predicted, auditedAxis(time))}</div>
<figcaption><ul>${examples.map((one) => html`<li>${describe(one)}</li>`)}</ul></figcaption></figure></section>`;
}
