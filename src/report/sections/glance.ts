/**
 * Every group as one line: its verdict, its error against chance, and its observed events against the predicted ones.
 */

import type { ReportData } from "../data/report-data.ts";
import { createCells } from "../data/small-cells.ts";
import { type Html, html, nameOf } from "../page/html.ts";
import type { PlotDocument } from "../plots/plot-canvas.ts";
import { drawNoiseStrip, drawRatioStrip, drawStripAxis } from "../plots/plot-groups.ts";
import { chooseTicks } from "../plots/ticks.ts";
import {
  boundWords,
  chipOf,
  everyGroup,
  floorSentence,
  groupId,
  ratioOf,
  unitOf,
} from "../words/report-words.ts";
import { formatNumber } from "../words/text-table.ts";
import { SEVERITY } from "./headline.ts";

export function renderGlance(data: ReportData, document: PlotDocument): Html {
  const all = everyGroup(data);
  const cells = createCells(data.hidesSmallCells);
  const order = data.groups
    .map((_, k) => k + 1)
    .sort((a, b) => SEVERITY.indexOf(all[a].verdict.look) - SEVERITY.indexOf(all[b].verdict.look) || a - b);
  const seen = all.map(({ scores }) => (cells.shows(scores.n) ? scores : null));
  const largest = Math.max(
    ...seen.map((scores) => Math.max(scores?.ece ?? 0, scores?.noiseFloor?.eceCritical ?? 0)),
    1e-3,
  );
  const eceEnd = largest * 1.06;
  const eceTicks = chooseTicks(eceEnd, 4);
  const ratios = all.map(({ scores }) =>
    cells.shows(scores.events, scores.n) ? ratioOf(scores) : { ratio: null, low: null, high: null },
  );
  const spread = Math.max(
    ...ratios.flatMap(({ ratio, low, high }) =>
      [ratio, low, high].map((value) => (value === null || value <= 0 ? 1 : Math.max(value, 1 / value))),
    ),
  );
  const reach = Math.min(Math.max(spread * 1.05, 1.5), WIDEST_RATIO);
  const domain = [1 / reach, reach] as const;
  const ratioTicks = [0.25, 0.5, 0.67, 1, 1.5, 2, 4].filter((tick) => tick >= domain[0] && tick <= domain[1]);
  const renderRow = (k: number) => {
    const { name, scores, verdict } = all[k];
    const { ratio, low, high } = ratios[k];
    const mark = verdict.look;
    const far = boundWords(verdict);
    const { ece = null, noiseFloor = null } = seen[k] ?? {};
    const { observed, expected } = scores.logrankIndividual;
    const eceSays =
      ece === null ? "no calibration error" : `ECE ${formatNumber(ece)}. ${floorSentence(scores)}`;
    const ratioSays =
      ratio === null || expected === null
        ? "observed over predicted events are not shown"
        : `${observed} events observed, ${expected.toFixed(1)} predicted, ratio ${ratio.toFixed(2)}`;
    const strip = {
      ece,
      floor: noiseFloor?.ece ?? null,
      critical: noiseFloor?.eceCritical ?? null,
      mark,
    };
    return html`<tr><th scope="row"><a href="#${groupId(k)}">${k === 0 ? "Everyone" : nameOf(name)}</a>\
<small>${cells.countOf(scores.n, unitOf(data))}, ${cells.countOf(scores.events, "event", scores.n)}</small></th>
<td>${chipOf(verdict)}${far === null ? null : html`<small>${far}</small>`}</td>
<td><span class="read when">calibration error against chance</span>\
<div role="img" aria-label="${eceSays}">${drawNoiseStrip(document, strip, eceEnd)}</div></td>
<td><span class="read when">observed over predicted events</span>\
<div role="img" aria-label="${ratioSays}">${drawRatioStrip(document, { ratio, low, high, mark }, domain)}</div>\
</td></tr>`;
  };
  const threeDigits = (value: number) => String(Number(value.toPrecision(3)));
  const eceAxis = drawStripAxis(document, { domain: [0, eceEnd] }, eceTicks, threeDigits);
  const ratioAxis = drawStripAxis(document, { domain: [...domain], type: "log" }, ratioTicks, String);
  return html`<section aria-labelledby="glance"><h2 id="glance">Every group at a glance</h2>
<p class="lead">Grey: where a perfect model stays 95 times of 100 on rows like these. A mark outside it, in one group \
of many, can be chance. A small group has a wide grey bar: there, much could be wrong without showing.</p>
<div class="card"><table class="glance">
<colgroup><col class="who"><col class="what"><col><col></colgroup>
<thead><tr><th scope="col">Group</th><th scope="col">Verdict</th><th scope="col">Calibration error (ECE)\
<small>thin line: a perfect model’s mean</small></th><th scope="col">Observed ÷ predicted events\
<small>right of 1: more events than predicted</small></th></tr></thead>
<tbody>${[0, ...order].map(renderRow)}
<tr class="axis" aria-hidden="true"><td></td><td></td><td>${eceAxis}</td><td>${ratioAxis}</td></tr>
</tbody></table></div></section>`;
}

/** Ratios beyond this are drawn at the edge; their numbers are in the table. */
const WIDEST_RATIO = 4;
