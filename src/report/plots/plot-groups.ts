/**
 * The figures for groups: predicted against observed survival, and the one-line strips that compare a group with
 * chance.
 */
import * as Plot from "@observablehq/plot";
import type { GroupCurve } from "../data/report-data.ts";
import type { Html } from "../page/html.ts";
import type { EventRatio, VerdictLook } from "../words/report-words.ts";
import { drawPanel, type PanelAxis } from "./panel.ts";
import { drawPlot, floorBelow, LINE, MUTED, type PlotDocument, survivalAxis } from "./plot-canvas.ts";

/** The start of a shared vertical axis, in tenths of survival, low enough for every panel. */
export function survivalFloor(curves: readonly GroupCurve[]): number {
  let lowest = 1;
  for (const { last, predicted, observed, lower } of curves) {
    for (let t = 0; t <= last; t++) {
      lowest = Math.min(lowest, lower[t] ?? observed[t], predicted?.[t] ?? 1);
    }
  }
  return floorBelow(lowest);
}

/** If no panel is followed for at least this share of the bins, the horizontal axis is cut. */
const SHORT_FOLLOW_UP = 0.5;
/** The share of the cut axis that the longest followed stretch takes. */
const FOLLOWED_SHARE = 0.8;

/** The last bin on a shared horizontal axis: the last of all, unless follow-up would be squeezed into a corner. */
export function shownBins(curves: readonly GroupCurve[], T: number): number {
  const longest = Math.max(...curves.map(({ last }) => last));
  if (longest === 0 || longest >= SHORT_FOLLOW_UP * T) return T;
  return Math.ceil(longest / FOLLOWED_SHARE);
}

export interface PanelOptions extends PanelAxis {
  /** Where the vertical axis starts. */
  readonly floor: number;
}

/** Predicted mean curve against Kaplan-Meier with its band. */
export function drawGroupPanel(document: PlotDocument, curve: GroupCurve, options: PanelOptions): Html {
  const { edges, floor } = options;
  const { last, predicted, observed, lower, upper, atRisk } = curve;
  const points = Array.from({ length: last + 1 }, (_, t) => ({
    time: edges[t],
    observed: observed[t],
    lower: Math.max(floor, lower[t] ?? observed[t]),
    upper: upper[t] ?? observed[t],
    predicted: predicted?.[t],
  }));
  return drawPanel(document, { points, atRisk, y: survivalAxis(floor) }, options);
}

const STRIP = { width: 280, height: 26, side: 8 };

interface NoiseStrip extends Readonly<Record<"ece" | "floor" | "critical", number | null>> {
  readonly mark: VerdictLook;
}

/** The calibration error as a mark over the range that a perfect model stays in 95 times out of 100. */
export function drawNoiseStrip(document: PlotDocument, strip: NoiseStrip, end: number): Html {
  const { ece, floor, critical, mark } = strip;
  return drawStrip(document, { domain: [0, end] }, [
    critical === null
      ? null
      : Plot.rect([0], { x1: 0, x2: critical, y1: 0.28, y2: 0.72, fill: "var(--chance)" }),
    floor === null ? null : Plot.ruleX([floor], { y1: 0.16, y2: 0.84, stroke: MUTED, strokeWidth: 1.5 }),
    ece === null ? null : drawMark(ece, mark),
  ]);
}

interface RatioStrip extends EventRatio {
  readonly mark: VerdictLook;
}

/** Observed over expected events, on a log scale around 1. */
export function drawRatioStrip(
  document: PlotDocument,
  strip: RatioStrip,
  domain: readonly [number, number],
): Html {
  const { ratio, low, high, mark } = strip;
  const inside = (value: number) => Math.min(Math.max(value, domain[0]), domain[1]);
  return drawStrip(document, { domain: [...domain], type: "log" }, [
    low === null || high === null
      ? null
      : Plot.rect([0], { x1: inside(low), x2: inside(high), y1: 0.28, y2: 0.72, fill: "var(--chance)" }),
    Plot.ruleX([1], { y1: 0, y2: 1, stroke: MUTED, strokeWidth: 1.5 }),
    ratio === null || ratio <= 0 ? null : drawMark(inside(ratio), mark),
  ]);
}

/** Each verdict has its own shape, so that nothing depends on colour alone. */
const MARKS = {
  within: { symbol: "circle", r: 5, fill: "var(--agree-mark)" },
  open: { symbol: "square", r: 5, fill: "var(--ink)" },
  off: { symbol: "diamond", r: 6.5, fill: "var(--off-mark)" },
  few: { symbol: "circle", r: 4, fill: "var(--few)" },
} as const satisfies Record<VerdictLook, object>;

function drawMark(x: number, mark: VerdictLook) {
  return Plot.dot([x], {
    x: (value: number) => value,
    y: 0.5,
    ...MARKS[mark],
    stroke: "var(--surface)",
    strokeWidth: 1.5,
  });
}

function drawStrip(document: PlotDocument, x: Plot.ScaleOptions, marks: Plot.Markish[]): Html {
  return drawPlot(document, {
    width: STRIP.width,
    height: STRIP.height,
    margin: 0,
    marginLeft: STRIP.side,
    marginRight: STRIP.side,
    x: { ...x, axis: null },
    y: { domain: [0, 1], axis: null },
    marks,
  });
}

/** The axis of a column of strips. */
export function drawStripAxis(
  document: PlotDocument,
  x: Plot.ScaleOptions,
  ticks: readonly number[],
  format: (value: number) => string,
): Html {
  return drawPlot(document, {
    width: STRIP.width,
    height: 22,
    marginLeft: STRIP.side,
    marginRight: STRIP.side,
    marginTop: 0,
    marginBottom: 20,
    x: { ...x, axis: null },
    y: { domain: [0, 1], axis: null },
    marks: [
      Plot.ruleX([...ticks], { stroke: LINE }),
      Plot.text([...ticks], {
        x: (value: number) => value,
        frameAnchor: "bottom",
        dy: 14,
        text: format,
        fill: MUTED,
        fontSize: 11,
      }),
    ],
  });
}
