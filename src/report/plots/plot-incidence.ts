/**
 * Cumulative incidences as SVG text, made with Observable Plot: for each group a panel in which the causes are stacked,
 * so that what is left above them is the probability of no event. Each cause has its colour, and a row under the axis
 * that names it with its incidence at the end of each group's follow-up. The document is passed in, as in plots.ts.
 */
import * as Plot from "@observablehq/plot";
import { safeLine } from "../../core/text.ts";
import { svgMarkup } from "../page/html.ts";
import { chooseTicks } from "../words/report-time.ts";
import { formatNumber, shorten } from "../words/text-table.ts";
import {
  createElement,
  formatTick,
  type PlotDocument,
  SVG,
  type SvgDocument,
  type SvgElement,
} from "./plot-canvas.ts";
import { COLOURS, type PlotOptions } from "./plots.ts";

export interface IncidencePlotGroup {
  readonly name: string;
  readonly causes: readonly {
    readonly name: string;
    readonly time: ArrayLike<number>;
    readonly incidence: ArrayLike<number>;
  }[];
}

const PANEL = 300;
/** As many stand side by side on a page; the numbers of all groups are in the table and the JSON. */
const MOST_PANELS = 4;
const HEIGHT = 320;
const ROW_HEIGHT = 17;
const MARGIN = { top: 34, left: 48, right: 20, axis: 44 } as const;
const LONGEST_NAME = 30;
const TICKS_WANTED = 4;

interface Layer {
  readonly group: string;
  readonly time: number;
  readonly low: number;
  readonly high: number;
}

/** The first groups' causes, stacked. */
export function plotIncidence(groups: readonly IncidencePlotGroup[], options: PlotOptions): string {
  const shown = groups.slice(0, MOST_PANELS);
  const causes = shown[0]?.causes.map(({ name }) => safeLine(name)) ?? [];
  const end = shown.reduce((last, { causes: [first] }) => Math.max(last, endOf(first?.time ?? [])), 0);
  const names = shown.map(({ name }) => shorten(safeLine(name), LONGEST_NAME));
  const bottom = MARGIN.axis + ROW_HEIGHT * (causes.length + 1);
  const chart = Plot.plot({
    document: options.document as PlotDocument,
    ariaLabel: "Cumulative incidence of each cause, stacked",
    width: MARGIN.left + MARGIN.right + PANEL * Math.max(1, shown.length),
    height: HEIGHT + bottom,
    marginTop: MARGIN.top,
    marginLeft: MARGIN.left,
    marginRight: MARGIN.right,
    marginBottom: bottom,
    style: { background: "white", font: "12px sans-serif" },
    fx: { domain: names, label: null },
    x: {
      label: safeLine(options.timeLabel),
      labelAnchor: "center",
      labelArrow: "none",
      labelOffset: 38,
      domain: [0, end > 0 ? end : 1],
      ticks: chooseTicks(end, TICKS_WANTED),
      tickFormat: formatTick,
    },
    y: { label: "Cumulative incidence", domain: [0, 1], grid: true },
    marks: causes.map((_, c) =>
      Plot.areaY(
        shown.flatMap((group, g) => layerOf(group, c, names[g])),
        {
          x: "time",
          y1: "low",
          y2: "high",
          fx: "group",
          curve: "step-after",
          fill: COLOURS[c % COLOURS.length],
          fillOpacity: 0.8,
        },
      ),
    ),
  });
  const canvas = { document: options.document as SvgDocument };
  const overlay = createElement(canvas, "g", { "text-anchor": "start" });
  causes.forEach((name, c) => {
    const y = HEIGHT + MARGIN.axis + ROW_HEIGHT * (c + 1) - 4;
    const ends = shown.map(({ causes: own }) => formatNumber(endOf(own[c].incidence)));
    const text = `${shorten(name, LONGEST_NAME)}: ${ends.join(", ")} at the end of follow-up`;
    overlay.append(
      createElement(canvas, "rect", {
        x: MARGIN.left,
        y: y - 9,
        width: 12,
        height: 10,
        fill: COLOURS[c % COLOURS.length],
      }),
      createElement(canvas, "text", { x: MARGIN.left + 18, y }, text),
    );
  });
  (chart as unknown as SvgElement).append(overlay);
  chart.setAttribute("xmlns", SVG);
  return svgMarkup(chart.outerHTML);
}

function endOf(values: ArrayLike<number>): number {
  return values.length === 0 ? 0 : values[values.length - 1];
}

/** One cause between the sum of those before it and its own. */
function layerOf({ causes }: IncidencePlotGroup, cause: number, group: string): Layer[] {
  const { time } = causes[cause];
  const below = (k: number) => causes.slice(0, cause).reduce((sum, { incidence }) => sum + incidence[k], 0);
  const layers: Layer[] = [{ group, time: 0, low: 0, high: 0 }];
  let before = 0;
  for (let k = 0; k < time.length; k++) {
    const low = below(k);
    const high = low + causes[cause].incidence[k];
    // Times at which nothing moves add nothing to the picture, except the end of follow-up.
    if (k + 1 < time.length && low + high === before) continue;
    before = low + high;
    layers.push({ group, time: time[k], low, high });
  }
  return layers;
}
