/** Calibration by predicted risk, and three people's own curves: what the groups' means do not show. */
import { type Html, html } from "./html.ts";
import type { PlotDocument } from "./plot-canvas.ts";
import { drawExamples, drawRiskCalibration } from "./plot-people.ts";
import type { ReportData, RiskCalibration } from "./report-data.ts";
import { momentOf, percentOf } from "./report-words.ts";

export function renderRiskCalibration(
  { calibration, time }: ReportData,
  document: PlotDocument,
): Html | null {
  if (calibration.length === 0) return null;
  return html`<section aria-labelledby="risk"><h2 id="risk">Calibration by predicted risk</h2>
<p class="lead">A mean curve can be right while people are swapped. Here people are cut into parts of equal size by their predicted risk of the event before a time; in each part the observed risk (1 − Kaplan-Meier, with 95 % limits) should lie on the diagonal. An open mark has fewer than ten people at risk by then.</p>
<div class="three">${calibration.map((one) => renderHorizon(one, time.label, document))}</div></section>`;
}

function renderHorizon(one: RiskCalibration, timeLabel: string, document: PlotDocument): Html {
  const when = momentOf(one.time, timeLabel);
  if (one.absent !== null) {
    return html`<div class="card"><h3>By ${when}</h3><p class="lead">Not drawn: ${one.absent}.</p></div>`;
  }
  const inside = one.bins.filter(
    ({ predicted, lower, upper }) => predicted >= lower && predicted <= upper,
  ).length;
  const says = `Observed against predicted risk by ${when}: in ${inside} of ${one.bins.length} parts the predicted risk lies within the 95 % limits of the observed.`;
  return html`<figure class="card"><h3>By ${when}</h3><div class="figure" role="img" aria-label="${says}">${drawRiskCalibration(document, one)}</div>
<figcaption>${inside} of ${one.bins.length} parts have the predicted risk within the limits.</figcaption>
<details><summary>Numbers<span class="hidden"> by ${when}</span></summary><table><thead><tr><th scope="col">part</th><th scope="col">people</th><th scope="col">events</th><th scope="col">predicted</th><th scope="col">observed</th><th scope="col">95 % limits</th></tr></thead><tbody>${one.bins.map(
    (bin, k) =>
      html`<tr><th scope="row">${k + 1}</th><td>${bin.n}</td><td>${bin.events}</td><td>${percentOf(bin.predicted)}</td><td>${percentOf(bin.observed)}</td><td>${percentOf(bin.lower)} – ${percentOf(bin.upper)}</td></tr>`,
  )}</tbody></table></details></figure>`;
}

export function renderExamples({ examples, overall, time }: ReportData, document: PlotDocument): Html | null {
  if (examples.length === 0) return null;
  const describe = ({ risk, row, percentile, time: at, event, survival }: (typeof examples)[number]) =>
    `${risk === "low" ? "Low" : risk === "middle" ? "Middle" : "High"} risk (higher than ${percentile} of 100), row ${row}: ${event ? "event" : "last seen without it"} at ${momentOf(at, time.label)}; predicted survival at the end ${survival[survival.length - 1].toFixed(3)}.`;
  return html`<section aria-labelledby="people"><h2 id="people">Three people’s curves</h2>
<p class="lead">The people whose predicted risk is nearest to the 10th, 50th and 90th percentile${examples.every(({ event }) => event) ? ", among those who had the event" : ""}. The mark is the time of the event (filled) or when the person was last seen (open); the broad grey line is the mean of everyone. One person’s outcome neither confirms nor refutes a probability: this shows what a prediction looks like.</p>
<figure class="card wide"><div class="figure" role="img" aria-label="Predicted survival curves of three people, described below">${drawExamples(document, examples, overall.curve.predicted, { edges: time.edges, timeLabel: time.label })}</div>
<figcaption><ul>${examples.map((one) => html`<li>${describe(one)}</li>`)}</ul></figcaption></figure></section>`;
}
