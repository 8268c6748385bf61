/**
 * Systems one below the other, panels side by side: a dot at each mean with its standard error as a line and its number
 * beside it. Systems of our own are filled dots with bold names. Every axis begins at zero.
 */

import * as Plot from "@observablehq/plot";
import { roundValue } from "../pages/svg.ts";
import type { Estimate } from "../summaries/summary.ts";
import {
  CLASS,
  type DrawnChart,
  drawPicture,
  LETTERS,
  OTHER,
  OWN,
  type Picture,
  type PictureOptions,
  WIDTH,
} from "./frame.ts";

export interface DotRow {
  readonly name: string;
  readonly isOwn: boolean;
  /** In the unit of the panel. */
  readonly value: Estimate;
}

export interface RowsPanel {
  readonly title: string;
  readonly rows: readonly DotRow[];
  readonly digits: number;
  /** Where the axis would end without room for numbers; the largest value of the panel by default. */
  readonly largest?: number;
  /** Drawn as a dashed line. */
  readonly wanted?: number;
}

const NAMES = 158;
const GAP = 26;
const RIGHT = 8;
const TOP = 30;
const BOTTOM = 26;
const ROW = 31;
/** The rest of a panel is room for the number beside the last dot. */
const DRAWN_SHARE = 0.79;
/** A tick further right would be cut off. */
const TICKS_SHARE = 0.94;
/** With at most as many ticks as there is room for. */
const STEPS = [1, 2, 5, 10];
const TICK_ROOM = 27;
const MOST_TICKS = 6;

export function largestOf(rows: readonly DotRow[]): number {
  return Math.max(...rows.map(({ value: { mean, error } }) => mean + (error ?? 0)));
}

function ticksTo(end: number, width: number): number[] {
  const last = TICKS_SHARE * end;
  const most = Math.min(MOST_TICKS, Math.floor(width / TICK_ROOM));
  const step = STEPS.find((one) => last / one < most) ?? end;
  return Array.from({ length: Math.floor(last / step) + 1 }, (_, k) => k * step);
}

function drawDots(rows: readonly DotRow[], digits: number, isOwn: boolean, hasNames: boolean): Plot.Markish {
  const points = rows
    .filter((row) => row.isOwn === isOwn)
    .map(({ name, value: { mean, error } }) => ({
      name,
      mean: roundValue(mean),
      low: roundValue(mean - (error ?? 0)),
      high: roundValue(mean + (error ?? 0)),
      text: mean.toFixed(digits),
    }));
  const colour = isOwn ? OWN : OTHER;
  const fontWeight = isOwn ? 700 : 400;
  return [
    Plot.ruleY(points, { y: "name", x1: "low", x2: "high", stroke: colour, strokeWidth: 2.5 }),
    Plot.dot(points, {
      y: "name",
      x: "mean",
      r: 6,
      stroke: colour,
      strokeWidth: 2.5,
      fill: isOwn ? colour : "var(--paper)",
    }),
    Plot.text(points, {
      y: "name",
      x: (point: (typeof points)[number]) => Math.max(point.high, point.mean),
      text: "text",
      dx: 12,
      textAnchor: "start",
      fill: "var(--ink)",
      stroke: "var(--paper)",
      strokeWidth: 4,
      fontWeight,
    }),
    hasNames
      ? Plot.text(points, {
          y: "name",
          frameAnchor: "left",
          text: "name",
          dx: -10,
          textAnchor: "end",
          fill: "var(--ink)",
          fontWeight,
        })
      : null,
  ];
}

interface PanelSize {
  readonly width: number;
  readonly height: number;
  readonly hasNames: boolean;
}

function drawPanel(panel: RowsPanel, size: PanelSize, { document }: PictureOptions): DrawnChart {
  const { title, rows, digits, largest = largestOf(rows), wanted } = panel;
  const { width, height, hasNames } = size;
  const end = roundValue(largest / DRAWN_SHARE);
  const left = hasNames ? NAMES : GAP;
  const ticks = ticksTo(end, width - left - RIGHT);
  return Plot.plot({
    document: document as NonNullable<Plot.PlotOptions["document"]>,
    className: CLASS,
    width,
    height,
    marginLeft: left,
    marginRight: RIGHT,
    marginTop: TOP,
    marginBottom: BOTTOM,
    style: LETTERS,
    x: { domain: [0, end], ticks, tickFormat: String, tickSize: 0, label: null },
    y: { type: "band", domain: rows.map(({ name }) => name), axis: null },
    marks: [
      Plot.gridX(ticks, { stroke: "var(--grid)", strokeOpacity: 1 }),
      wanted === undefined
        ? null
        : Plot.ruleX([roundValue(wanted)], {
            stroke: "var(--ink)",
            strokeWidth: 1.5,
            strokeDasharray: "5 4",
          }),
      ...[false, true].map((isOwn) => drawDots(rows, digits, isOwn, hasNames)),
      Plot.text([title], {
        frameAnchor: "top-left",
        textAnchor: "start",
        dy: -24,
        fill: "var(--ink)",
        fontWeight: 600,
      }),
    ],
  });
}

/** All panels have the same systems in the same order; the first has their names. */
export function plotRows(
  panels: readonly RowsPanel[],
  picture: Omit<Picture, "charts" | "height">,
  options: PictureOptions,
): string {
  // Panels are equally wide, so that equal scales look equal.
  const inner = (WIDTH - NAMES - GAP * (panels.length - 1)) / panels.length;
  const height = TOP + BOTTOM + ROW * Math.max(...panels.map(({ rows }) => rows.length));
  const charts = panels.map((panel, k) => ({
    chart: drawPanel(panel, { width: (k === 0 ? NAMES : GAP) + inner, height, hasNames: k === 0 }, options),
    x: k === 0 ? 0 : NAMES - GAP + k * (inner + GAP),
  }));
  return drawPicture({ ...picture, charts, height }, options);
}
