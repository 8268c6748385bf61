/**
 * The Kaplan-Meier figure as SVG text, made with Observable Plot: curves with bands, ticks where people were censored,
 * the logrank p, and the numbers at risk under the axis. Each row of numbers has its curve's colour and dash, so the
 * table is also the legend. The document is passed in: the page's own in a browser, a small one in Node. Colours are
 * Okabe and Ito's, which colour-blind readers can tell apart; curves end where their follow-up ends.
 */
import * as Plot from "@observablehq/plot";
import { countBelow } from "../../core/ascending.ts";
import { safeLine } from "../../core/text.ts";
import { svgMarkup } from "../page/html.ts";
import { chooseTicks } from "../words/report-time.ts";
import { formatP, formatWeighted, shorten } from "../words/text-table.ts";
import {
  createElement,
  formatTick,
  type PlotDocument,
  SVG,
  type SvgDocument,
  type SvgElement,
  spreadLabels,
} from "./plot-canvas.ts";

type Drawn = "time" | "survival" | "lower" | "upper" | "atRisk" | "censored";

export interface KaplanMeierPlotGroup extends Readonly<Record<Drawn, ArrayLike<number>>> {
  readonly name: string;
}

export interface PlotOptions {
  /** What creates the SVG elements: `document` in a page, linkedom's in Node. */
  readonly document: unknown;
  readonly timeLabel: string;
  /** The p-value of the logrank test, if there is one. */
  readonly logrankP?: number;
}

export const COLOURS = [
  "#0072B2",
  "#D55E00",
  "#009E73",
  "#CC79A7",
  "#E69F00",
  "#56B4E9",
  "#000000",
  "#999933",
];
/** Curves beyond the number of colours are dashed. */
const DASHES = ["", "6 3", "2 2", "8 3 2 3"];
const FONT = "12px sans-serif";
const WIDTH = 720;
/** The height of the picture above the table. */
const HEIGHT = 400;
/** The mean width of a character of that font. It decides where names are cut; the full name shows on hover. */
const CHARACTER = 7.2;
const LONGEST_NAME = 26;
const SWATCH = 22;
const ROW_HEIGHT = 17;
const MARGIN_TOP = 20;
const AXIS_HEIGHT = 44;
const TICKS_WANTED = 6;
/** Curves are labelled at their ends if there are few of them and the names are short. */
const MOST_END_LABELS = 6;
const LONGEST_END_LABEL = 16;
/** If there are more bands than this, they are drawn fainter. */
const FEW_BANDS = 4;
/** If some curve ends above this, the p-value goes in the free corner below, otherwise in the corner above. */
const ENDS_HIGH = 0.6;
/** Half the height of a censoring tick; ticks closer than TICK_GAP pixels are merged. */
const TICK_SIZE = 4;
const TICK_GAP = 4;

type PlotPoint = Readonly<Record<"time" | "survival" | "lower" | "upper", number>>;

export function plotKaplanMeier(groups: readonly KaplanMeierPlotGroup[], options: PlotOptions): string {
  const names = groups.map(({ name }) => safeLine(name));
  const end = groups.reduce((last, { time }) => Math.max(last, time[time.length - 1] ?? 0), 0);
  const frame = layOut(names);
  const { margin, labelEnds } = frame;
  const ticks = chooseTicks(end, TICKS_WANTED);
  const chart = drawCurves(groups, { ...frame, end, ticks }, options);
  const scaleOf = (name: "x" | "y") => {
    const scale = chart.scale(name);
    return (value: number) => round(Number(scale?.apply(value)));
  };
  const canvas: Canvas = {
    document: options.document as SvgDocument,
    x: scaleOf("x"),
    y: scaleOf("y"),
    left: margin.left,
    right: WIDTH - margin.right,
    bottom: HEIGHT - AXIS_HEIGHT,
  };
  const overlay = createElement(canvas, "g", { "text-anchor": "start" });
  const middle = (MARGIN_TOP + canvas.bottom) / 2;
  const upright = `rotate(-90) translate(${-middle},${canvas.left - 36})`;
  overlay.append(createElement(canvas, "text", { transform: upright, "text-anchor": "middle" }, "Survival"));
  groups.forEach((group, g) => {
    overlay.append(drawCensoring(canvas, group, styleOf(g).colour));
  });
  if (options.logrankP !== undefined) overlay.append(writeP(canvas, groups, options.logrankP));
  if (labelEnds) overlay.append(...labelCurveEnds(canvas, groups, names));
  overlay.append(...drawAtRisk(canvas, groups, names, ticks));
  (chart as unknown as SvgElement).append(overlay);
  chart.setAttribute("xmlns", SVG);
  return svgMarkup(chart.outerHTML);
}

function styleOf(g: number) {
  return {
    colour: COLOURS[g % COLOURS.length],
    dash: DASHES[Math.floor(g / COLOURS.length) % DASHES.length],
  };
}

/** The margins of the figure, which hold the names. */
interface Frame {
  readonly margin: { readonly left: number; readonly right: number; readonly bottom: number };
  readonly labelEnds: boolean;
}

function layOut(names: readonly string[]): Frame {
  const lengths = names.map((name) => [...name].length);
  const longest = Math.min(LONGEST_NAME, Math.max(7, ...lengths));
  const labelEnds =
    names.length > 1 &&
    names.length <= MOST_END_LABELS &&
    lengths.every((length) => length <= LONGEST_END_LABEL);
  return {
    margin: {
      left: Math.round(longest * CHARACTER) + SWATCH + 34,
      right: labelEnds ? Math.round(longest * CHARACTER) + 12 : 24,
      bottom: AXIS_HEIGHT + ROW_HEIGHT * (names.length + 1) + 8,
    },
    labelEnds,
  };
}

/** The curves with their bands, on axes; everything around them is drawn on top. */
function drawCurves(
  groups: readonly KaplanMeierPlotGroup[],
  { margin, end, ticks }: Frame & { readonly end: number; readonly ticks: readonly number[] },
  options: PlotOptions,
) {
  return Plot.plot({
    document: options.document as PlotDocument,
    ariaLabel: "Kaplan-Meier curves and numbers at risk",
    width: WIDTH,
    height: HEIGHT - AXIS_HEIGHT + margin.bottom,
    marginTop: MARGIN_TOP,
    marginLeft: margin.left,
    marginRight: margin.right,
    marginBottom: margin.bottom,
    style: { background: "white", font: FONT },
    x: {
      label: safeLine(options.timeLabel),
      labelAnchor: "center",
      labelArrow: "none",
      labelOffset: 38,
      domain: [0, end > 0 ? end : 1],
      ticks,
      tickFormat: formatTick,
    },
    y: { label: null, domain: [0, 1], grid: true },
    marks: groups.flatMap((group, g) => {
      const points = collectPoints(group);
      const { colour, dash } = styleOf(g);
      const path = { x: "time", curve: "step-after" } as const;
      return [
        Plot.areaY(points, {
          ...path,
          y1: "lower",
          y2: "upper",
          fill: colour,
          fillOpacity: groups.length > FEW_BANDS ? 0.06 : 0.13,
        }),
        Plot.lineY(points, { ...path, y: "survival", stroke: colour, strokeDasharray: dash }),
      ];
    }),
  });
}

interface Canvas {
  readonly document: SvgDocument;
  readonly x: (time: number) => number;
  readonly y: (survival: number) => number;
  readonly left: number;
  readonly right: number;
  /** The position of the axis. */
  readonly bottom: number;
}

function round(pixels: number): number {
  return Math.round(pixels * 10) / 10;
}

function collectPoints({ time, survival, lower, upper }: KaplanMeierPlotGroup): PlotPoint[] {
  const points: PlotPoint[] = [{ time: 0, survival: 1, lower: 1, upper: 1 }];
  for (let i = 0; i < time.length; i++) {
    // Times without a step add nothing to the picture, except the end of follow-up.
    if (i + 1 < time.length && survival[i] === (i === 0 ? 1 : survival[i - 1])) continue;
    // An undefined limit (the curve has reached 0) is drawn as the curve itself.
    const low = Number.isNaN(lower[i]) ? survival[i] : lower[i];
    const high = Number.isNaN(upper[i]) ? survival[i] : upper[i];
    points.push({ time: time[i], survival: survival[i], lower: low, upper: high });
  }
  return points;
}

/** A text cut to a number of characters; the full text shows on hover. */
function writeName(
  canvas: Canvas,
  name: string,
  most: number,
  attributes: Readonly<Record<string, string | number>>,
): SvgElement {
  const element = createElement(canvas, "text", attributes, shorten(name, most));
  if ([...name].length > most) element.append(createElement(canvas, "title", {}, name));
  return element;
}

/** One path of short strokes across the curve. */
function drawCensoring(canvas: Canvas, group: KaplanMeierPlotGroup, colour: string): SvgElement {
  const { time, survival, censored } = group;
  const strokes: string[] = [];
  let before = Number.NEGATIVE_INFINITY;
  for (let i = 0; i < time.length; i++) {
    const x = canvas.x(time[i]);
    if (censored[i] === 0 || x - before < TICK_GAP) continue;
    before = x;
    strokes.push(`M${x},${round(canvas.y(survival[i]) - TICK_SIZE)}v${2 * TICK_SIZE}`);
  }
  return createElement(canvas, "path", {
    "aria-label": "censored",
    d: strokes.join(""),
    stroke: colour,
    "stroke-width": 1,
    fill: "none",
  });
}

function writeP(canvas: Canvas, groups: readonly KaplanMeierPlotGroup[], p: number): SvgElement {
  const text = formatP(p);
  const words = `logrank p ${text.startsWith("<") ? "" : "= "}${text}`;
  const endsHigh = groups.some(({ survival }) => survival[survival.length - 1] > ENDS_HIGH);
  const place = endsHigh
    ? { x: canvas.left + 10, y: canvas.bottom - 10 }
    : { x: canvas.right - 6, y: MARGIN_TOP + 18, "text-anchor": "end" };
  return createElement(canvas, "text", { ...place, fill: "black" }, words);
}

/** The names at the ends of their curves, moved apart where they would overlap. */
function labelCurveEnds(
  canvas: Canvas,
  groups: readonly KaplanMeierPlotGroup[],
  names: readonly string[],
): SvgElement[] {
  const ends = groups.map(({ survival }) => canvas.bottom - canvas.y(survival[survival.length - 1] ?? 1));
  const places = spreadLabels(ends, ROW_HEIGHT - 3);
  return groups.map(({ time }, g) =>
    createElement(
      canvas,
      "text",
      {
        x: Math.max(canvas.x(time[time.length - 1] ?? 0), 0) + 6,
        y: round(canvas.bottom - places[g]),
        dy: "0.32em",
        fill: COLOURS[g % COLOURS.length],
      },
      names[g],
    ),
  );
}

/** The number of each group under observation just before each tick of the axis. */
function drawAtRisk(
  canvas: Canvas,
  groups: readonly KaplanMeierPlotGroup[],
  names: readonly string[],
  ticks: readonly number[],
): SvgElement[] {
  const top = canvas.bottom + AXIS_HEIGHT + 6;
  const elements = [createElement(canvas, "text", { x: 10, y: top + 6, "font-weight": "bold" }, "At risk")];
  groups.forEach(({ time, atRisk }, g) => {
    const y = top + ROW_HEIGHT * (g + 1);
    const { colour, dash } = styleOf(g);
    const line = { x1: 10, x2: 10 + SWATCH - 6, y1: y, y2: y, stroke: colour, "stroke-width": 2 };
    elements.push(createElement(canvas, "line", dash === "" ? line : { ...line, "stroke-dasharray": dash }));
    const label = { x: 10 + SWATCH, y, dy: "0.32em", fill: colour };
    elements.push(writeName(canvas, names[g], LONGEST_NAME, label));
    for (const tick of ticks) {
      const place = { x: canvas.x(tick), y, dy: "0.32em", "text-anchor": "middle" };
      elements.push(
        createElement(canvas, "text", place, formatWeighted(atRisk[countBelow(time, tick)] ?? 0)),
      );
    }
  });
  return elements;
}
