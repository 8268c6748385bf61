/**
 * The figures of a card by cause: incidences stacked, and a hundred people. Cause k has the page's colour of
 * predictions or of observations in turn, at a strength of its own, so that neighbours differ in hue and in darkness;
 * those without any are in outline. The keys of the legend are drawn the same.
 */
import * as Plot from "@observablehq/plot";
import type { ExplainedCause } from "../../verbs/people/explained-quantities.ts";
import { type Html, html, trustMarkup } from "../page/html.ts";
import {
  axisTo,
  drawPlot,
  GRID,
  LINE,
  labelAxis,
  MUTED,
  OBSERVED,
  type PlotDocument,
  PREDICTED,
} from "../plots/plot-canvas.ts";
import type { CardTime } from "./card-data.ts";
import { FRAME, placePeople, TICKS } from "./card-figures.ts";

/** In turn; eight causes is more than anyone reads off a figure. */
const STRENGTHS = [1, 0.45, 0.7, 0.25, 0.5, 0.85, 0.35, 0.6] as const;

function shadeOf(k: number): { readonly colour: string; readonly strength: number } {
  return { colour: k % 2 === 0 ? PREDICTED : OBSERVED, strength: STRENGTHS[k % STRENGTHS.length] };
}

/** Each cause on top of those before it; dotted, the same of everyone's mean. */
export function drawStacked(
  document: PlotDocument,
  causes: readonly ExplainedCause[],
  { edges, label }: CardTime,
): Html {
  const stack = (curves: readonly Float64Array[]) => {
    const total = new Float64Array(edges.length);
    return curves.map((curve) =>
      edges.map((time, t) => {
        const low = total[t];
        total[t] += t === 0 ? 0 : curve[t - 1];
        return { time, low, high: total[t] };
      }),
    );
  };
  const own = stack(causes.map(({ incidence }) => incidence));
  const everyone = stack(causes.map(({ everyone: mean }) => mean));
  return drawPlot(document, {
    ...FRAME,
    x: axisTo(edges[edges.length - 1], TICKS),
    y: { domain: [0, 1], label: null, ticks: [0, 0.2, 0.4, 0.6, 0.8, 1], tickFormat: ".1f", tickSize: 0 },
    marks: [
      Plot.gridY({ ticks: [0.2, 0.4, 0.6, 0.8, 1], stroke: GRID, strokeOpacity: 1 }),
      Plot.ruleY([0], { stroke: LINE }),
      ...own.map((points, k) => {
        const { colour, strength } = shadeOf(k);
        return Plot.areaY(points, {
          x: "time",
          y1: "low",
          y2: "high",
          fill: colour,
          fillOpacity: strength,
        });
      }),
      ...own.map((points, k) =>
        Plot.lineY(points, { x: "time", y: "high", stroke: shadeOf(k).colour, strokeWidth: 1.6 }),
      ),
      ...everyone.map((points) =>
        Plot.lineY(points, { x: "time", y: "high", stroke: MUTED, strokeWidth: 2, strokeDasharray: "2 4" }),
      ),
      labelAxis(label, 40),
    ],
  });
}

/** The shade of a cause, or the outline of those without any (null). */
export function causeKey(k: number | null): Html {
  const look = k === null ? `fill="none" stroke="${LINE}"` : lookOf(k);
  return trustMarkup(
    `<svg class="key" width="16" height="12" viewBox="0 0 16 12" aria-hidden="true">` +
      `<rect x="1" y="1" width="14" height="10" ${look}/></svg>`,
  );
}

function lookOf(k: number): string {
  const { colour, strength } = shadeOf(k);
  return `fill="${colour}" fill-opacity="${strength}" stroke="${colour}"`;
}

/** A hundred people: so many of each cause in the model's order, and last those without any. */
export function drawCauseHundred(counts: readonly number[], sentence: string): Html {
  const none = counts.length - 1;
  const looks = counts.flatMap((count, k) =>
    Array.from({ length: count }, () => (k === none ? 'class="free"' : `stroke-width=".9" ${lookOf(k)}`)),
  );
  const picture = placePeople((place) => looks[place] ?? 'class="free"');
  return html`<div class="hundred" role="img" aria-label="${sentence}">${picture}</div>`;
}
