/**
 * The figures for people: calibration by predicted risk, mean curves by predicted risk, and a few people's own curves.
 */
import * as Plot from "@observablehq/plot";
import type { ExampleCurve, RiskBand, RiskCalibration } from "../data/report-data.ts";
import type { Html } from "../page/html.ts";
import { binOfTime, chooseTicks } from "../words/report-time.ts";
import {
  axisTo,
  drawPlot,
  floorBelow,
  GRID,
  LINE,
  labelAxis,
  labelEnd,
  MUTED,
  OBSERVED,
  OBSERVED_LINE,
  type PlotDocument,
  PREDICTED_LINE,
  spreadLabels,
  survivalAxis,
  survivalTicks,
} from "./plot-canvas.ts";
import type { PanelOptions } from "./plot-groups.ts";

/** Observed against predicted risk, one mark for each part of the people. */
export function drawRiskCalibration(document: PlotDocument, { bins }: RiskCalibration): Html {
  const top = Math.min(
    1,
    Math.max(...bins.map(({ upper, predicted }) => Math.max(upper, predicted)), 0.02) * 1.04,
  );
  const percent = (value: number) => `${Number((100 * value).toFixed(top < 0.05 ? 1 : 0))}`;
  const ticks = chooseTicks(top, 5);
  return drawPlot(document, {
    width: 340,
    height: 320,
    marginLeft: 46,
    marginBottom: 46,
    marginTop: 14,
    marginRight: 14,
    x: { domain: [0, top], label: null, ticks: [...ticks], tickFormat: percent, tickSize: 4 },
    y: { domain: [0, top], label: null, ticks: [...ticks], tickFormat: percent, tickSize: 0 },
    marks: [
      Plot.gridY({ ticks: [...ticks], stroke: GRID, strokeOpacity: 1 }),
      Plot.line(
        [
          [0, 0],
          [top, top],
        ],
        { stroke: MUTED, strokeDasharray: "2 3" },
      ),
      Plot.ruleY([0], { stroke: LINE }),
      Plot.ruleX(bins, {
        x: "predicted",
        y1: "lower",
        y2: "upper",
        stroke: OBSERVED,
        strokeWidth: 2,
        strokeOpacity: 0.55,
      }),
      Plot.dot(bins, {
        x: "predicted",
        y: "observed",
        r: 4.5,
        stroke: OBSERVED,
        strokeWidth: 1.8,
        fill: (bin: { supported: boolean }) => (bin.supported ? OBSERVED : "var(--surface)"),
      }),
      labelAxis("predicted risk, %", 38),
      Plot.text(["observed risk, %"], { frameAnchor: "left", dx: -38, rotate: -90 }),
    ],
    color: { type: "identity" },
  });
}

/** Each level of risk has its own colour and dash, and its own place for the mark. */
const EXAMPLE_STYLES = {
  low: { stroke: "var(--series-1)", dash: "none" },
  middle: { stroke: "var(--series-2)", dash: "8 3" },
  high: { stroke: "var(--series-3)", dash: "2 3" },
} as const;

/** The share of the height that a line of text takes. */
const LABEL_SHARE = 0.06;

/** Three people's curves with the times at which they were last seen, over the mean of everyone. */
export function drawExamples(
  document: PlotDocument,
  examples: readonly ExampleCurve[],
  everyone: readonly number[] | null,
  { edges, timeLabel }: Pick<PanelOptions, "edges" | "timeLabel">,
): Html {
  const end = edges[edges.length - 1];
  const toPoints = (survival: readonly number[]) =>
    survival.slice(0, edges.length).map((S, t) => ({ time: edges[t], S }));
  const line = { x: "time", y: "S" } as const;
  const ends = examples.map(({ survival }) => survival[survival.length - 1]);
  const endLabels = spreadLabels([...ends, everyone?.[edges.length - 1] ?? 0], LABEL_SHARE);
  return drawPlot(document, {
    ...survivalFrame(end, { floor: 0, labels: 150 }),
    marks: [
      Plot.gridY({ ticks: survivalTicks(0), stroke: GRID, strokeOpacity: 1 }),
      Plot.ruleY([0], { stroke: LINE }),
      everyone === null
        ? null
        : Plot.lineY(toPoints(everyone), { ...line, stroke: MUTED, strokeWidth: 4, strokeOpacity: 0.35 }),
      everyone === null
        ? null
        : labelEnd("mean of everyone", end, endLabels[examples.length], { fill: MUTED }),
      ...examples.flatMap((one, k) => {
        const { stroke, dash } = EXAMPLE_STYLES[one.risk];
        const at = readCurve(one.survival, edges, one.time);
        return [
          Plot.lineY(toPoints(one.survival), { ...line, stroke, strokeWidth: 2.2, strokeDasharray: dash }),
          ...(one.time > end
            ? []
            : [
                Plot.ruleX([one.time], { y1: 0, y2: at, stroke, strokeWidth: 1, strokeOpacity: 0.7 }),
                Plot.dot([{ time: one.time, S: at }], {
                  x: "time",
                  y: "S",
                  r: 5.5,
                  stroke,
                  strokeWidth: 2,
                  fill: one.event ? stroke : "var(--surface)",
                }),
              ]),
          labelEnd(`${one.risk} risk, row ${one.row}`, end, endLabels[k], { fill: stroke, fontWeight: 600 }),
        ];
      }),
      labelAxis(timeLabel, 40),
    ],
  });
}

/**
 * The mean predicted curve of each part of the people (dashed) over its Kaplan-Meier curve (steps), labelled at the
 * end.
 */
export function drawBands(
  document: PlotDocument,
  bands: readonly RiskBand[],
  { edges, timeLabel }: Pick<PanelOptions, "edges" | "timeLabel">,
  nameOf: (k: number) => string,
): Html {
  const end = edges[edges.length - 1];
  const toPoints = (survival: readonly number[]) => survival.map((S, t) => ({ time: edges[t], S }));
  const lowest = Math.min(...bands.flatMap(({ predicted, observed }) => [...predicted, ...observed]));
  const floor = floorBelow(lowest);
  const places = spreadLabels(
    bands.map(({ predicted }) => predicted[predicted.length - 1] - floor),
    LABEL_SHARE * (1 - floor),
  );
  return drawPlot(document, {
    ...survivalFrame(end, { floor, labels: 110 }),
    marks: [
      Plot.gridY({ ticks: survivalTicks(floor), stroke: GRID, strokeOpacity: 1 }),
      Plot.ruleY([floor], { stroke: LINE }),
      ...bands.flatMap(({ predicted, observed }, k) => [
        Plot.lineY(toPoints(observed), { x: "time", y: "S", ...OBSERVED_LINE }),
        Plot.lineY(toPoints(predicted), { x: "time", y: "S", ...PREDICTED_LINE }),
        labelEnd(nameOf(k), end, places[k] + floor),
      ]),
      labelAxis(timeLabel, 40),
    ],
  });
}

/** A wide figure of survival over time; `labels` is the space at the right for the names of the curves. */
function survivalFrame(end: number, { floor, labels }: { readonly floor: number; readonly labels: number }) {
  return {
    width: 720,
    height: 340,
    marginLeft: 46,
    marginRight: labels,
    marginBottom: 46,
    marginTop: 12,
    x: axisTo(end, 7),
    y: survivalAxis(floor),
  };
}

/** Linear between the edges, as everywhere; after the last edge, the last value. */
function readCurve(survival: readonly number[], edges: readonly number[], time: number): number {
  const t = binOfTime(edges, time);
  const share = Math.min(Math.max((time - edges[t - 1]) / (edges[t] - edges[t - 1]), 0), 1);
  return (1 - share) * survival[t - 1] + share * survival[t];
}
