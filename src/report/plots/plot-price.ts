/**
 * The figures for what a model was held to: what holding a group costs along its frontier, and a curve from outside
 * beside the local and the model's one.
 */
import * as Plot from "@observablehq/plot";
import type { Html } from "../page/html.ts";
import {
  axisTo,
  drawPlot,
  floorBelow,
  GRID,
  labelAxis,
  MUTED,
  OBSERVED,
  type PlotDocument,
  PREDICTED,
  survivalAxis,
  survivalTicks,
} from "./plot-canvas.ts";

/** One point of a frontier: the group's distance, and one thing that it costs. */
export interface PricePoint {
  readonly distance: number;
  readonly cost: number;
}

interface PriceAxis {
  /** The least range of the cost: a change in the fourth decimal is not to look like a cliff. */
  readonly leastSpan: number;
  readonly tickFormat: string;
}

const WIDTH = 340;
const HEIGHT = 230;
/** Share of the range left free around the dots. */
const PADDING = 0.12;

/** The cost against the group's distance, in the order of the frontier; the last point is the one kept. */
export function drawPrice(
  document: PlotDocument,
  points: readonly PricePoint[],
  { leastSpan, tickFormat }: PriceAxis,
): Html {
  const costs = points.map(({ cost }) => cost);
  const [low, high] = [Math.min(...costs), Math.max(...costs)];
  const middle = (low + high) / 2;
  const half = Math.max(high - low, leastSpan) * (0.5 + PADDING);
  const end = Math.max(...points.map(({ distance }) => distance)) * (1 + PADDING) || 1;
  const place = { x: "distance", y: "cost" } as const;
  return drawPlot(document, {
    width: WIDTH,
    height: HEIGHT,
    marginLeft: 54,
    marginRight: 16,
    marginTop: 16,
    marginBottom: 44,
    x: axisTo(end, 5),
    y: { domain: [middle - half, middle + half], label: null, ticks: 4, tickFormat, tickSize: 0 },
    marks: [
      Plot.gridY({ ticks: 4, stroke: GRID, strokeOpacity: 1 }),
      Plot.line(points, { ...place, stroke: MUTED, strokeWidth: 1.5 }),
      Plot.dot(points, { ...place, r: 3, stroke: MUTED, fill: MUTED }),
      Plot.dot(points.slice(0, 1), {
        ...place,
        r: 5,
        stroke: OBSERVED,
        strokeWidth: 2,
        fill: "var(--surface)",
      }),
      Plot.dot(points.slice(-1), { ...place, r: 6, stroke: PREDICTED, strokeWidth: 2, fill: PREDICTED }),
      labelAxis("the group’s distance", 38),
    ],
    color: { type: "identity" },
  });
}

/** Survival at one time of a target. */
export interface TargetMoment {
  readonly time: number;
  readonly target: number;
  readonly lower: number;
  readonly upper: number;
  readonly local: number | null;
  readonly model: number;
}

/** Marks of one time stand beside each other by this many pixels. */
const ASIDE = 7;

/** The target with its limits, the local Kaplan-Meier curve left of it and the model right of it. */
export function drawTarget(
  document: PlotDocument,
  moments: readonly TargetMoment[],
  timeLabel: string,
): Html {
  const floor = floorBelow(
    Math.min(...moments.flatMap(({ lower, local, model }) => [lower, local ?? 1, model])),
  );
  const end = Math.max(...moments.map(({ time }) => time)) * 1.08;
  const local = moments.filter((one) => one.local !== null);
  return drawPlot(document, {
    width: 420,
    height: 240,
    marginLeft: 40,
    marginRight: 20,
    marginTop: 16,
    marginBottom: 44,
    x: axisTo(end, 6),
    y: survivalAxis(floor),
    marks: [
      Plot.gridY({ ticks: survivalTicks(floor), stroke: GRID, strokeOpacity: 1 }),
      Plot.ruleX(moments, { x: "time", y1: "lower", y2: "upper", stroke: MUTED, strokeWidth: 2.5 }),
      Plot.dot(moments, { x: "time", y: "target", r: 4, symbol: "square", fill: MUTED }),
      Plot.dot(local, { x: "time", y: "local", dx: -ASIDE, r: 4.5, stroke: OBSERVED, strokeWidth: 2 }),
      Plot.dot(moments, { x: "time", y: "model", dx: ASIDE, r: 4.5, symbol: "diamond", fill: PREDICTED }),
      labelAxis(timeLabel, 38),
    ],
    color: { type: "identity" },
  });
}
