/**
 * The figures of an audit by cause, in the page's colours: all causes of everyone stacked, so that what is left above
 * them is the share without an event, each named at its end; and one cause of one group, mean predicted incidence
 * against Aalen-Johansen with its band, and the numbers at risk under the axis.
 */
import * as Plot from "@observablehq/plot";
import type { CauseScores } from "../../verbs/causes/audit-causes.ts";
import { cleanText, type Html } from "../page/html.ts";
import { shorten } from "../words/text-table.ts";
import { drawPanel, type PanelAxis } from "./panel.ts";
import {
  axisTo,
  drawPlot,
  GRID,
  LINE,
  labelAxis,
  labelEnd,
  MUTED,
  type PlotDocument,
  spreadLabels,
} from "./plot-canvas.ts";

/** One colour a cause, in turn; names at the ends tell them apart without it. */
const LAYERS = ["var(--series-1)", "var(--series-3)", "var(--series-2)", "var(--series-4)"];
const STACK = { width: 560, height: 300, left: 44, right: 150, top: 12, bottom: 48 };
const LONGEST_NAME = 18;
/** The distance between names at the ends, as a share of the axis. */
const LABEL_DISTANCE = 0.07;
const TICKS = [0, 0.2, 0.4, 0.6, 0.8, 1];

export interface StackedCause {
  readonly name: string;
  readonly values: readonly number[]; // [last+1], t = 0…last
}

/** Observed curves are steps, mean predicted ones lines. */
export function drawStack(
  document: PlotDocument,
  causes: readonly StackedCause[],
  options: { readonly edges: readonly number[]; readonly timeLabel: string; readonly isStep: boolean },
): Html {
  const { edges, timeLabel, isStep } = options;
  const last = (causes[0]?.values.length ?? 1) - 1;
  const end = edges[last];
  const curve = isStep ? ("step-after" as const) : ("linear" as const);
  const below = causes.map((_, c) =>
    Array.from({ length: last + 1 }, (_unused, t) =>
      causes.slice(0, c).reduce((sum, { values }) => sum + values[t], 0),
    ),
  );
  const points = (c: number) =>
    Array.from({ length: last + 1 }, (_, t) => ({
      time: edges[t],
      low: below[c][t],
      high: Math.min(1, below[c][t] + causes[c].values[t]),
    }));
  const layers = causes.map((_, c) => points(c));
  const tops = layers.map((layer) => layer[last]);
  const middles = [...tops.map(({ low, high }) => (low + high) / 2), ((tops.at(-1)?.high ?? 0) + 1) / 2];
  const places = spreadLabels(middles, LABEL_DISTANCE);
  const names = [...causes.map(({ name }) => name), "no event"];
  return drawPlot(document, {
    width: STACK.width,
    height: STACK.height,
    marginLeft: STACK.left,
    marginRight: STACK.right,
    marginTop: STACK.top,
    marginBottom: STACK.bottom,
    x: axisTo(end, 6),
    y: { domain: [0, 1], label: null, ticks: TICKS, tickFormat: ".1f", tickSize: 0 },
    marks: [
      Plot.gridY({ ticks: TICKS, stroke: GRID, strokeOpacity: 1 }),
      ...layers.flatMap((layer, c) => [
        Plot.areaY(layer, {
          x: "time",
          y1: "low",
          y2: "high",
          curve,
          fill: LAYERS[c % LAYERS.length],
          fillOpacity: 0.55,
        }),
        Plot.lineY(layer, {
          x: "time",
          y: "high",
          curve,
          stroke: LAYERS[c % LAYERS.length],
          strokeWidth: 1.8,
        }),
      ]),
      Plot.ruleY([0], { stroke: LINE }),
      ...names.map((name, c) =>
        labelEnd(shorten(cleanText(name), LONGEST_NAME), end, places[c], {
          fill: c < causes.length ? "currentColor" : MUTED,
        }),
      ),
      labelAxis(timeLabel, 40),
    ],
  });
}

export interface CausePanelOptions extends PanelAxis {
  /** Where the vertical axis ends. */
  readonly top: number;
}

/** The end of a vertical axis that all panels of a cause share, in tenths. */
export function incidenceTop(all: readonly CauseScores[]): number {
  let highest = 0;
  for (const { incidence, supported } of all) {
    if (incidence === null) continue;
    for (let t = 0; t <= supported.bins; t++) {
      highest = Math.max(highest, incidence.predicted[t], incidence.upper[t] ?? incidence.observed[t]);
    }
  }
  return Math.min(1, Math.max(0.1, Math.ceil(10 * highest - 1e-9) / 10));
}

/** Tenths, or fifths where tenths would be crowded; twentieths and less where the axis is short. */
function ticksTo(top: number): number[] {
  const step = top > 0.5 ? 0.2 : top > 0.2 ? 0.1 : 0.05;
  return Array.from({ length: Math.floor(top / step + 1e-9) + 1 }, (_, k) => Number((k * step).toFixed(2)));
}

export function drawCausePanel(
  document: PlotDocument,
  scores: CauseScores,
  options: CausePanelOptions,
): Html | null {
  const { edges, top } = options;
  const { incidence, supported, atRisk } = scores;
  const last = supported.bins;
  if (incidence === null || last === 0) return null;
  const points = Array.from({ length: last + 1 }, (_, t) => ({
    time: edges[t],
    observed: incidence.observed[t],
    predicted: incidence.predicted[t],
    lower: incidence.lower[t] ?? incidence.observed[t],
    upper: Math.min(top, incidence.upper[t] ?? incidence.observed[t]),
  }));
  const tickFormat = top > 0.2 ? ".1f" : ".2f";
  const y = { domain: [0, top], label: null, ticks: ticksTo(top), tickFormat, tickSize: 0 };
  return drawPanel(document, { points, atRisk, y }, options);
}
