/** The figures of training: lines over steps, the ones worth naming in colour and the others grey. */
import * as Plot from "@observablehq/plot";
import { cleanText, type Html } from "../page/html.ts";
import { drawPlot, formatTick, GRID, MUTED, type PlotDocument, spreadLabels } from "./plot-canvas.ts";
import { chooseTicks } from "./ticks.ts";

export interface SeriesLine {
  readonly name: string;
  readonly points: readonly { readonly step: number; readonly value: number }[];
  /** Drawn in a colour of its own with its name at the end; the others are thin and grey. */
  readonly isNamed: boolean;
}

export interface SeriesOptions {
  readonly label: string;
  readonly scale: "linear" | "log";
  /** A horizontal line with a meaning. */
  readonly reference?: { readonly value: number; readonly label: string };
  /** A step worth a mark: whose weights were kept. */
  readonly keptStep?: number;
}

const SERIES_COLOURS = ["var(--series-1)", "var(--series-3)", "var(--series-2)", "var(--series-4)"];
const SERIES_DASHES = ["none", "7 3", "2 3", "8 3 2 3"];
const LABEL_LENGTH = 20;
/** A log axis longer than this has its powers of ten alone. */
const FEW_DECADES = 300;

/** Lines over the steps of training. */
export function drawSeries(
  document: PlotDocument,
  lines: readonly SeriesLine[],
  options: SeriesOptions,
): Html {
  const { scale, reference, keptStep } = options;
  const values = [
    ...lines.flatMap(({ points }) => points.map(({ value }) => value)),
    ...(reference ? [reference.value] : []),
  ];
  const positive = values.filter((value) => value > 0);
  const low = scale === "log" ? Math.min(...positive) : Math.min(...values);
  const high = Math.max(...values);
  const pad = high > low ? 0.06 * (high - low) : Math.abs(high) * 0.05 || 1;
  const domain =
    scale === "log" ? [low / 1.25, high * 1.25] : [low >= 0 && low < pad * 2 ? 0 : low - pad, high + pad];
  const end = Math.max(...lines.flatMap(({ points }) => points.map(({ step }) => step)), 1);
  const named = lines.filter(({ isNamed }) => isNamed);
  const multiple = lines.length > 1;
  const height = 250;
  const share = (value: number) =>
    scale === "log"
      ? Math.log(value / domain[0]) / Math.log(domain[1] / domain[0])
      : (value - domain[0]) / (domain[1] - domain[0]);
  const lastOf = ({ points }: SeriesLine) =>
    Math.max(points[points.length - 1].value, scale === "log" ? domain[0] : -Infinity);
  const places = spreadLabels(
    named.map((line) => share(lastOf(line))),
    16 / (height - 60),
  );
  const back = (at: number) =>
    scale === "log" ? domain[0] * (domain[1] / domain[0]) ** at : domain[0] + at * (domain[1] - domain[0]);
  return drawPlot(document, {
    width: 560,
    height,
    marginLeft: 54,
    marginRight: multiple ? 160 : 20,
    marginTop: 16,
    marginBottom: 44,
    x: {
      domain: [0, end],
      label: null,
      ticks: [...chooseTicks(end, 6)],
      tickFormat: formatTick,
      tickSize: 4,
    },
    y: {
      type: scale,
      domain,
      label: null,
      ticks: 5,
      tickSize: 0,
      ...(scale === "log" ? { ticks: logTicks(domain[0], domain[1]), tickFormat: formatTick } : {}),
    },
    marks: [
      Plot.gridY({
        ...(scale === "log" ? { ticks: logTicks(domain[0], domain[1]) } : { ticks: 5 }),
        stroke: GRID,
        strokeOpacity: 1,
      }),
      reference === undefined ? null : Plot.ruleY([reference.value], { stroke: MUTED, strokeWidth: 1.5 }),
      reference === undefined
        ? null
        : Plot.text([reference.label], {
            x: end,
            y: reference.value,
            dx: -4,
            dy: -8,
            textAnchor: "end",
            fill: MUTED,
            stroke: "var(--surface)",
            strokeWidth: 4,
            text: (text: string) => text,
          }),
      keptStep === undefined ? null : Plot.ruleX([keptStep], { stroke: MUTED, strokeDasharray: "3 3" }),
      ...lines
        .filter(({ isNamed }) => !isNamed)
        .map(({ points }) =>
          Plot.lineY(drawable(points, scale), {
            x: "step",
            y: "value",
            stroke: MUTED,
            strokeOpacity: 0.45,
            strokeWidth: 1,
          }),
        ),
      ...named.flatMap((line, k) => [
        Plot.lineY(drawable(line.points, scale), {
          x: "step",
          y: "value",
          stroke: SERIES_COLOURS[k % SERIES_COLOURS.length],
          strokeDasharray: SERIES_DASHES[k % SERIES_DASHES.length],
          strokeWidth: 2,
        }),
        multiple
          ? Plot.text([0], {
              x: end,
              y: back(places[k]),
              dx: 8,
              textAnchor: "start",
              fill: SERIES_COLOURS[k % SERIES_COLOURS.length],
              fontWeight: 600,
              text: () => shortenLabel(line.name),
            })
          : null,
      ]),
      Plot.text(["step"], { frameAnchor: "bottom", dy: 38, text: (text: string) => text }),
    ],
  });
}

/** Powers of ten, with 2 and 5 times them where few fit. */
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

function shortenLabel(name: string): string {
  const characters = [...cleanText(name)];
  return characters.length <= LABEL_LENGTH
    ? characters.join("")
    : `${characters.slice(0, LABEL_LENGTH - 1).join("")}…`;
}
