/** The figures for training: lines over steps, with the ones worth naming in colour and the others in grey. */
import * as Plot from "@observablehq/plot";
import { cleanText, type Html } from "../page/html.ts";
import { shorten } from "../words/text-table.ts";
import {
  axisTo,
  drawPlot,
  formatTick,
  GRID,
  labelAxis,
  labelEnd,
  MUTED,
  type PlotDocument,
  spreadLabels,
} from "./plot-canvas.ts";

export interface SeriesLine {
  readonly name: string;
  readonly points: readonly { readonly step: number; readonly value: number }[];
  /** Drawn in its own colour with its name at the end; the others are thin and grey. */
  readonly isNamed: boolean;
}

interface SeriesOptions {
  readonly scale: "linear" | "log";
  /** A horizontal line with a meaning. */
  readonly reference?: { readonly value: number; readonly label: string };
  /** A step to mark: the one whose weights were kept. */
  readonly keptStep?: number;
}

const SERIES_COLOURS = ["var(--series-1)", "var(--series-3)", "var(--series-2)", "var(--series-4)"];
const SERIES_DASHES = ["none", "7 3", "2 3", "8 3 2 3"];
const LABEL_LENGTH = 20;
/** A log axis that spans more than this ratio is labelled at powers of ten only. */
const FEW_DECADES = 300;

const HEIGHT = 250;
/** The distance between the names at the ends of lines, in pixels. */
const LABEL_DISTANCE = 16;

/** Lines over the steps of training. */
export function drawSeries(
  document: PlotDocument,
  lines: readonly SeriesLine[],
  options: SeriesOptions,
): Html {
  const { scale, reference, keptStep } = options;
  const axis = chooseAxis(lines, options);
  const { domain, ticks } = axis;
  const end = Math.max(...lines.flatMap(({ points }) => points.map(({ step }) => step)), 1);
  const hasLabels = lines.length > 1;
  return drawPlot(document, {
    width: 560,
    height: HEIGHT,
    marginLeft: 54,
    marginRight: hasLabels ? 160 : 20,
    marginTop: 16,
    marginBottom: 44,
    x: axisTo(end, 6),
    y: {
      type: scale,
      domain,
      label: null,
      ticks,
      tickSize: 0,
      ...(scale === "log" ? { tickFormat: formatTick } : {}),
    },
    marks: [
      Plot.gridY({ ticks, stroke: GRID, strokeOpacity: 1 }),
      ...(reference === undefined ? [] : markReference(reference, end)),
      keptStep === undefined ? null : Plot.ruleX([keptStep], { stroke: MUTED, strokeDasharray: "3 3" }),
      ...lines.filter(({ isNamed }) => !isNamed).map((line) => drawUnnamed(line, scale)),
      ...drawNamed(
        lines.filter(({ isNamed }) => isNamed),
        scale,
        hasLabels ? { end, axis } : null,
      ),
      labelAxis("step", 38),
    ],
  });
}

/** The vertical axis: its range and ticks, and where on it a value lies, from 0 at the bottom to 1 at the top. */
interface Axis {
  readonly domain: readonly [number, number];
  readonly ticks: number | number[];
  readonly placeOf: (value: number) => number;
  readonly valueAt: (place: number) => number;
}

function chooseAxis(lines: readonly SeriesLine[], { scale, reference }: SeriesOptions): Axis {
  const values = [
    ...lines.flatMap(({ points }) => points.map(({ value }) => value)),
    ...(reference ? [reference.value] : []),
  ];
  const high = Math.max(...values);
  if (scale === "log") {
    const low = Math.min(...values.filter((value) => value > 0));
    const [from, to] = [low / 1.25, high * 1.25];
    return {
      domain: [from, to],
      ticks: logTicks(from, to),
      placeOf: (value) => Math.log(Math.max(value, from) / from) / Math.log(to / from),
      valueAt: (place) => from * (to / from) ** place,
    };
  }
  const low = Math.min(...values);
  const pad = high > low ? 0.06 * (high - low) : Math.abs(high) * 0.05 || 1;
  const [from, to] = [low >= 0 && low < pad * 2 ? 0 : low - pad, high + pad];
  return {
    domain: [from, to],
    ticks: 5,
    placeOf: (value) => (value - from) / (to - from),
    valueAt: (place) => from + place * (to - from),
  };
}

function markReference({ value, label }: NonNullable<SeriesOptions["reference"]>, end: number) {
  return [
    Plot.ruleY([value], { stroke: MUTED, strokeWidth: 1.5 }),
    Plot.text([label], {
      x: end,
      y: value,
      dx: -4,
      dy: -8,
      textAnchor: "end",
      fill: MUTED,
      stroke: "var(--surface)",
      strokeWidth: 4,
    }),
  ];
}

function drawUnnamed({ points }: SeriesLine, scale: SeriesOptions["scale"]) {
  return Plot.lineY(drawable(points, scale), {
    x: "step",
    y: "value",
    stroke: MUTED,
    strokeOpacity: 0.45,
    strokeWidth: 1,
  });
}

/** Lines in their own colours, with their names at the end where there is more than one. */
function drawNamed(
  named: readonly SeriesLine[],
  scale: SeriesOptions["scale"],
  labels: { readonly end: number; readonly axis: Axis } | null,
) {
  const lastOf = ({ points }: SeriesLine) => points[points.length - 1].value;
  const places =
    labels &&
    spreadLabels(
      named.map((line) => labels.axis.placeOf(lastOf(line))),
      LABEL_DISTANCE / (HEIGHT - 60),
    );
  return named.flatMap((line, k) => {
    const colour = SERIES_COLOURS[k % SERIES_COLOURS.length];
    const curve = Plot.lineY(drawable(line.points, scale), {
      x: "step",
      y: "value",
      stroke: colour,
      strokeDasharray: SERIES_DASHES[k % SERIES_DASHES.length],
      strokeWidth: 2,
    });
    if (labels === null || places === null) return [curve];
    const name = shorten(cleanText(line.name), LABEL_LENGTH);
    const look = { fill: colour, fontWeight: 600 };
    return [curve, labelEnd(name, labels.end, labels.axis.valueAt(places[k]), look)];
  });
}

/** Powers of ten, and 2 and 5 times them if there are few. */
function logTicks(low: number, high: number): number[] {
  const factors = high / low > FEW_DECADES ? [1] : [1, 2, 5];
  const ticks: number[] = [];
  for (let power = Math.floor(Math.log10(low)); power <= Math.ceil(Math.log10(high)); power++) {
    for (const factor of factors) ticks.push(factor * 10 ** power);
  }
  return ticks.filter((tick) => tick >= low && tick <= high);
}

/** A log axis has no place for 0: such points are left out. */
function drawable(points: SeriesLine["points"], scale: "linear" | "log") {
  return scale === "log" ? points.filter(({ value }) => value > 0) : points;
}
