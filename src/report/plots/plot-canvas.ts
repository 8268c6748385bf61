/**
 * What the figures share. They are SVG made with Observable Plot; those of the report are in the page's own colour
 * variables (report-style.ts), so a figure follows light, dark and print; every difference of colour is also one of
 * shape or dash. The document that creates the elements is passed in. A figure of the report has no text for screen
 * readers: the page puts a sentence and the numbers beside it.
 */

import * as Plot from "@observablehq/plot";
import { cleanText, type Html, svgMarkup, trustMarkup } from "../page/html.ts";
import { chooseTicks } from "../words/report-time.ts";

/** What creates the SVG elements: `document` in a page, linkedom's in Node. */
export type PlotDocument = NonNullable<Plot.PlotOptions["document"]>;

export const OBSERVED = "var(--observed)";
export const PREDICTED = "var(--predicted)";
export const MUTED = "var(--muted)";
export const LINE = "var(--line)";
export const GRID = "var(--grid)";

export function drawPlot(document: PlotDocument, options: Plot.PlotOptions): Html {
  const chart = Plot.plot({
    document,
    ...options,
    style: {
      background: "none",
      color: "inherit",
      fontFamily: "inherit",
      fontSize: "12px",
      overflow: "visible",
    },
  });
  chart.setAttribute("aria-hidden", "true");
  chart.setAttribute("focusable", "false");
  // Plot repeats one style sheet in every figure; the page has it once. Labels inside a figure are not read out.
  const markup = svgMarkup(chart.outerHTML)
    .replace(/<style>[\s\S]*?<\/style>/g, "")
    .replace(/ aria-label="[^"]*"/g, "");
  return trustMarkup(markup);
}

/** Kaplan-Meier curves are steps, mean predicted curves dashed. */
export const OBSERVED_LINE = { stroke: OBSERVED, strokeWidth: 1.8, curve: "step-after" } as const;
export const PREDICTED_LINE = { stroke: PREDICTED, strokeWidth: 2.2, strokeDasharray: "7 3" } as const;

/** The label of the horizontal axis, this many pixels below it. */
export function labelAxis(label: string, below: number) {
  return Plot.text([cleanText(label)], { frameAnchor: "bottom", dy: below });
}

/** The name of a curve, beside its end. */
export function labelEnd(name: string, x: number, y: number, look: Plot.TextOptions = {}) {
  return Plot.text([name], { x, y, textAnchor: "start", dx: 8, ...look });
}

/** The horizontal axis of a figure over time or steps. */
export function axisTo(end: number, ticksWanted: number) {
  const ticks = [...chooseTicks(end, ticksWanted)];
  return { domain: [0, end], label: null, ticks, tickFormat: formatTick, tickSize: 4 };
}

/** The vertical axis of a figure of survival. */
export function survivalAxis(floor: number) {
  return { domain: [floor, 1], label: null, ticks: survivalTicks(floor), tickFormat: ".1f", tickSize: 0 };
}

/** The start of a vertical axis of survival, in tenths. */
export function floorBelow(lowest: number): number {
  return Math.max(0, Math.min(0.9, Math.floor(lowest * 10 - 1e-9) / 10));
}

/** As in the text: no commas, which half of the world reads as decimal points. */
export function formatTick(value: number): string {
  return String(Number(value.toPrecision(6)));
}

/** Tenths, or fifths where tenths would be crowded. */
export function survivalTicks(floor: number): number[] {
  const step = floor < 0.5 ? 0.2 : 0.1;
  return Array.from({ length: 11 }, (_, k) => Math.round((1 - k * step) * 10) / 10).filter(
    (S) => S >= floor - 1e-9,
  );
}

/**
 * Moves labels apart to at least `gap`, keeping their order and moving each as little as needed from the top, and none
 * below 0 if there is room.
 */
export function spreadLabels(places: readonly number[], gap: number): readonly number[] {
  const order = places.map((_, k) => k).sort((a, b) => places[b] - places[a]);
  const placed = [...places];
  for (let i = 1; i < order.length; i++) {
    placed[order[i]] = Math.min(placed[order[i]], placed[order[i - 1]] - gap);
  }
  for (let i = order.length - 1; i >= 0; i--) {
    const below = i === order.length - 1 ? 0 : placed[order[i + 1]] + gap;
    placed[order[i]] = Math.max(placed[order[i]], below);
  }
  return placed;
}

export const SVG = "http://www.w3.org/2000/svg";

/** The parts of a document and its elements that are used here. */
export interface SvgElement {
  textContent: string | null;
  setAttribute(name: string, value: string): void;
  append(...children: unknown[]): void;
}
export interface SvgDocument {
  createElementNS(namespace: string, name: string): SvgElement;
}

export function createElement(
  { document }: { readonly document: SvgDocument },
  name: string,
  attributes: Readonly<Record<string, string | number>>,
  text?: string,
): SvgElement {
  const element = document.createElementNS(SVG, name);
  for (const [key, value] of Object.entries(attributes)) element.setAttribute(key, String(value));
  if (text !== undefined) element.textContent = text;
  return element;
}
