/** A panel of a group: mean predicted curve against what was observed with its band, and the numbers at risk below. */
import * as Plot from "@observablehq/plot";
import type { Cells } from "../data/small-cells.ts";
import type { Html } from "../page/html.ts";
import { binOfTime, chooseTicks } from "../words/report-time.ts";
import {
  axisTo,
  drawPlot,
  GRID,
  LINE,
  labelAxis,
  MUTED,
  OBSERVED,
  OBSERVED_LINE,
  type PlotDocument,
  PREDICTED_LINE,
} from "./plot-canvas.ts";

const PANEL = { width: 380, height: 262, left: 54, right: 14, top: 12, bottom: 62 };
/** Distances below the axis, in pixels, of the numbers at risk and of the axis label. */
const AT_RISK_BELOW = 30;
const LABEL_BELOW = 56;
const PANEL_TICKS = 5;

/** What panels beside each other share. */
export interface PanelAxis {
  /** The edges of the bins that are shown. */
  readonly edges: readonly number[];
  readonly timeLabel: string;
  /** How numbers at risk are printed. */
  readonly cells: Cells;
}

/** One panel's own. */
export interface PanelCurves {
  /** As far as the group is followed. */
  readonly points: readonly {
    readonly time: number;
    readonly observed: number;
    readonly lower: number;
    readonly upper: number;
    readonly predicted: number | undefined;
  }[];
  /** The number at risk in each bin. */
  readonly atRisk: ArrayLike<number>;
  readonly y: { readonly domain: number[]; readonly ticks: number[] } & Plot.ScaleOptions;
}

/** Where the group is not followed the panel is shaded. */
export function drawPanel(
  document: PlotDocument,
  { points, atRisk, y }: PanelCurves,
  { edges, timeLabel, cells }: PanelAxis,
): Html {
  const last = points.length - 1;
  const end = edges[edges.length - 1];
  const [bottom, top] = y.domain;
  const ticks = chooseTicks(end, PANEL_TICKS);
  const said = cells.falling(ticks.map((time) => atRisk[binOfTime(edges, time)]));
  const counts = ticks.map((time, k) => ({ time, count: said[k] }));
  return drawPlot(document, {
    width: PANEL.width,
    height: PANEL.height,
    marginLeft: PANEL.left,
    marginRight: PANEL.right,
    marginTop: PANEL.top,
    marginBottom: PANEL.bottom,
    x: axisTo(end, PANEL_TICKS),
    y,
    marks: [
      Plot.gridY({ ticks: y.ticks, stroke: GRID, strokeOpacity: 1 }),
      last < edges.length - 1
        ? Plot.rect([0], { x1: edges[last], x2: end, y1: bottom, y2: top, fill: "var(--unfollowed)" })
        : null,
      Plot.ruleY([bottom], { stroke: LINE }),
      Plot.areaY(points, {
        x: "time",
        y1: "lower",
        y2: "upper",
        fill: OBSERVED,
        fillOpacity: 0.2,
        curve: "step-after",
      }),
      Plot.lineY(points, { x: "time", y: "observed", ...OBSERVED_LINE }),
      points[0]?.predicted === undefined
        ? null
        : Plot.lineY(points, { x: "time", y: "predicted", ...PREDICTED_LINE }),
      Plot.text(counts, { x: "time", y: bottom, text: "count", dy: AT_RISK_BELOW, fill: MUTED }),
      Plot.text(["at risk"], {
        frameAnchor: "bottom-left",
        textAnchor: "start",
        lineAnchor: "middle",
        dx: -PANEL.left,
        dy: AT_RISK_BELOW,
        fill: MUTED,
        fontSize: 11,
      }),
      labelAxis(timeLabel, LABEL_BELOW),
    ],
  });
}
