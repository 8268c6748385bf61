/**
 * The figures of the worked examples as SVG text, made with Observable Plot: panels of survival curves side by side.
 * True or observed curves are pale and wide, predicted ones thin, so that both are visible where they agree. Colours
 * are Okabe and Ito's and follow the reader's light or dark theme; no distinction is by colour alone. The document is
 * passed in, as for the other plots.
 */

import * as Plot from "@observablehq/plot";
import { roundValue, writeSvg } from "../pages/svg.ts";

export interface ExampleLine {
  /** Observed is wide and pale, predicted thin, a person thin and grey. */
  readonly role: "observed" | "predicted" | "person";
  /** Which colour, 1…3. */
  readonly series: 1 | 2 | 3;
  /** S(t), t = 0…T. */
  readonly survival: ArrayLike<number>;
}

/** Text at a position of its own, in the colour of what it names. */
export interface ExampleWord {
  readonly text: string;
  readonly t: number;
  readonly S: number;
  readonly series: 1 | 2 | 3;
}

export interface ExamplePanel {
  readonly title: string;
  readonly lines: readonly ExampleLine[];
  /** Differences to draw, with their sizes written beside them. */
  readonly gaps?: readonly { readonly t: number; readonly from: number; readonly to: number }[];
  /** Crosses on the time axis. */
  readonly deaths?: readonly { readonly t: number; readonly series: 1 | 2 | 3 }[];
  readonly words?: readonly ExampleWord[];
}

export interface ExamplePlotOptions {
  /** What makes the SVG elements: `document` in a page, linkedom's in Node. */
  readonly document: unknown;
  /** What the figure shows, for readers who cannot see it. */
  readonly description: string;
  readonly timeLabel: string;
  /** What the wide and thin lines are. */
  readonly legend: string;
  /** A step holds S(t) from t to t + 1; a line joins the values. */
  readonly shape: "step" | "line";
}

const PANEL_WIDTH = 290;
const MARGIN_LEFT = 44;
const HEIGHT = 320;

interface Point {
  readonly panel: string;
  readonly line: number;
  readonly t: number;
  readonly S: number;
}

const colourOf = (series: 1 | 2 | 3) => `var(--series-${series})`;

function drawLine(panel: string, line: ExampleLine, k: number, shape: "step" | "line"): Plot.Markish {
  const values = Array.from(line.survival, roundValue);
  const points = values.map((S, t): Point => ({ panel, line: k, t, S }));
  if (shape === "step") points.push({ panel, line: k, t: values.length, S: values[values.length - 1] });
  const style = {
    observed: { stroke: colourOf(line.series), strokeWidth: 6, strokeOpacity: 0.35 },
    predicted: { stroke: colourOf(line.series), strokeWidth: 2, strokeOpacity: 1 },
    person: { stroke: "var(--muted)", strokeWidth: 1.2, strokeOpacity: 0.9 },
  }[line.role];
  return Plot.line(points, {
    fx: "panel",
    x: "t",
    y: "S",
    curve: shape === "step" ? "step-after" : "linear",
    strokeLinejoin: "miter",
    ...style,
  });
}

function drawWords({ title, words = [] }: ExamplePanel): Plot.Markish {
  return Plot.text(
    words.map((word) => ({ ...word, panel: title, S: roundValue(word.S) })),
    {
      fx: "panel",
      x: "t",
      y: "S",
      text: "text",
      textAnchor: "start",
      fill: ({ series }: ExampleWord) => colourOf(series),
      stroke: "var(--paper)",
      strokeWidth: 3,
      fontWeight: 600,
    },
  );
}

/** In the middle of the step that has the difference. */
function drawGaps({ title, gaps = [] }: ExamplePanel, shift: number): Plot.Markish[] {
  const rules = gaps
    .filter(({ from, to }) => roundValue(from) !== roundValue(to))
    .map(({ t, from, to }) => ({
      panel: title,
      t: t + shift,
      low: roundValue(Math.min(from, to)),
      high: roundValue(Math.max(from, to)),
      text: Math.abs(to - from).toFixed(2),
    }));
  return [
    Plot.ruleX(rules, {
      fx: "panel",
      x: "t",
      y1: "low",
      y2: "high",
      stroke: "var(--ink)",
      strokeWidth: 1.2,
      strokeDasharray: "3 2",
    }),
    Plot.text(rules, {
      fx: "panel",
      x: "t",
      y: "high",
      text: "text",
      dy: -8,
      fill: "var(--ink)",
      stroke: "var(--paper)",
      strokeWidth: 3,
    }),
  ];
}

function drawDeaths({ title, deaths = [] }: ExamplePanel): Plot.Markish {
  return Plot.dot(
    deaths.map((death) => ({ ...death, panel: title, S: 0 })),
    {
      fx: "panel",
      x: "t",
      y: "S",
      symbol: "times",
      r: 5,
      strokeWidth: 2.5,
      stroke: ({ series }: { series: 1 | 2 | 3 }) => colourOf(series),
      clip: false,
    },
  );
}

export function plotExample(panels: readonly ExamplePanel[], options: ExamplePlotOptions): string {
  const { shape } = options;
  const T = Math.max(...panels.flatMap(({ lines }) => lines.map(({ survival }) => survival.length - 1)));
  const end = shape === "step" ? T + 1 : T;
  const chart = Plot.plot({
    document: options.document as NonNullable<Plot.PlotOptions["document"]>,
    ariaLabel: options.description,
    className: "example",
    width: MARGIN_LEFT + PANEL_WIDTH * panels.length,
    height: HEIGHT,
    marginLeft: MARGIN_LEFT,
    marginRight: 14,
    marginTop: 54,
    marginBottom: 42,
    style: { fontFamily: "sans-serif", fontSize: "12px" },
    fx: { domain: panels.map(({ title }) => title), label: null, padding: 0.1 },
    x: {
      domain: [0, end],
      ticks: Array.from({ length: T + 1 }, (_, t) => t),
      tickFormat: String,
      label: options.timeLabel,
      labelAnchor: "center",
      labelArrow: "none",
    },
    y: { domain: [0, 1], label: "survival", labelArrow: "none", ticks: 5 },
    marks: [
      Plot.gridY({ stroke: "var(--grid)", strokeOpacity: 1, ticks: 5 }),
      ...panels.flatMap((panel) => [
        ...panel.lines.map((line, k) => drawLine(panel.title, line, k, shape)),
        ...drawGaps(panel, shape === "step" ? 0.5 : 0),
        drawDeaths(panel),
        drawWords(panel),
      ]),
      Plot.text([options.legend], {
        fx: () => panels[panels.length - 1].title,
        text: (text: string) => text,
        frameAnchor: "top-right",
        dy: -46,
        fill: "var(--muted)",
      }),
    ],
  });
  return writeSvg(chart, "example");
}
