/**
 * Plots as SVG text, made with Observable Plot. The document is handed in: the page's own in a browser, a small one in
 * Node. Colours are Okabe and Ito's, told apart by colour-blind readers; curves end where their follow-up ends.
 */
import * as Plot from "@observablehq/plot";
import { svgMarkup } from "./html.ts";

export interface KaplanMeierPlotGroup {
  readonly name: string;
  readonly time: ArrayLike<number>;
  readonly survival: ArrayLike<number>;
  readonly lower: ArrayLike<number>;
  readonly upper: ArrayLike<number>;
}

export interface PlotOptions {
  /** What makes the SVG elements: `document` in a page, linkedom's in Node. */
  readonly document: unknown;
  readonly timeLabel: string;
  readonly width?: number;
  readonly height?: number;
}

const COLOURS = ["#0072B2", "#D55E00", "#009E73", "#CC79A7", "#E69F00", "#56B4E9", "#000000", "#999933"];

interface PlotPoint {
  readonly name: string;
  readonly time: number;
  readonly survival: number;
  readonly lower: number;
  readonly upper: number;
}

export function plotKaplanMeier(groups: readonly KaplanMeierPlotGroup[], options: PlotOptions): string {
  const points: PlotPoint[] = [];
  for (const { name, time, survival, lower, upper } of groups) {
    points.push({ name, time: 0, survival: 1, lower: 1, upper: 1 });
    for (let i = 0; i < time.length; i++) {
      // Times without a step add nothing to the picture, except the end of follow-up.
      if (i + 1 < time.length && survival[i] === (i === 0 ? 1 : survival[i - 1])) continue;
      // An undefined limit (the curve has reached 0) is drawn as the curve itself.
      const low = Number.isNaN(lower[i]) ? survival[i] : lower[i];
      const high = Number.isNaN(upper[i]) ? survival[i] : upper[i];
      points.push({ name, time: time[i], survival: survival[i], lower: low, upper: high });
    }
  }
  const chart = Plot.plot({
    document: options.document as NonNullable<Plot.PlotOptions["document"]>,
    ariaLabel: `Kaplan-Meier curves of ${groups.map((group) => group.name).join(", ")}`,
    width: options.width ?? 640,
    height: options.height ?? 400,
    marginLeft: 50,
    marginBottom: 40,
    marginRight: 120,
    style: { background: "white", fontFamily: "sans-serif" },
    x: { label: options.timeLabel, labelAnchor: "center" },
    y: { label: "survival", domain: [0, 1], grid: true },
    color: { domain: groups.map((group) => group.name), range: COLOURS },
    marks: [
      Plot.areaY(points, {
        x: "time",
        y1: "lower",
        y2: "upper",
        z: "name",
        fill: "name",
        fillOpacity: 0.15,
        curve: "step-after",
      }),
      Plot.lineY(points, { x: "time", y: "survival", z: "name", stroke: "name", curve: "step-after" }),
      Plot.text(
        points,
        Plot.selectLast({
          x: "time",
          y: "survival",
          z: "name",
          text: "name",
          textAnchor: "start",
          dx: 4,
          fill: "name",
        }),
      ),
    ],
  });
  chart.setAttribute("xmlns", "http://www.w3.org/2000/svg");
  return svgMarkup(chart.outerHTML);
}
