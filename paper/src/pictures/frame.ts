/**
 * What the pictures of the front page share: a narrow sheet with large letters, so that they can be read at the width of
 * a phone, a title, a line below it, captions at the bottom, and charts placed between them. A chart of Observable Plot
 * has one scale a direction; where a picture needs two, each is a chart of its own.
 */

import * as Plot from "@observablehq/plot";
import { writeSvg } from "../pages/svg.ts";

/** What makes the SVG elements: `document` in a page, linkedom's in Node. */
export interface PictureOptions {
  readonly document: unknown;
}

/** On a phone 400 pixels wide, letters of 16 are shown as 11. */
export const WIDTH = 600;
export const LETTERS = { fontFamily: "sans-serif", fontSize: "16px" } as const;
const CAPTION_SIZE = 15;
const LINE = 21;
const EDGE = 8;
/** Where the charts begin. */
const HEAD = 62;
/** Between charts and captions. */
const GAP = 10;

export const CLASS = "picture";
export const OWN = "var(--series-2)";
export const OTHER = "var(--series-1)";

export type DrawnChart = ReturnType<typeof Plot.plot>;

export interface PlacedChart {
  readonly chart: DrawnChart;
  readonly x: number;
}

/** An entry of the legend: a symbol and its meaning, in its colour. */
export interface LegendEntry {
  readonly text: string;
  readonly x: number;
  readonly colour: string;
}

export interface Picture {
  readonly title: string;
  readonly below: string;
  readonly legend?: readonly LegendEntry[];
  readonly charts: readonly PlacedChart[];
  /** Of the charts. */
  readonly height: number;
  readonly captions: readonly string[];
  /** What the picture shows, for readers who cannot see it. */
  readonly description: string;
}

interface Line {
  readonly text: string;
  readonly x?: number;
  readonly y: number;
}

function write(lines: readonly Line[], style: Plot.TextOptions): Plot.Markish {
  return lines.map(({ text, x = EDGE, y }) =>
    Plot.text([text], { frameAnchor: "top-left", textAnchor: "start", dx: x, dy: y, ...style }),
  );
}

export function drawPicture(picture: Picture, { document }: PictureOptions): string {
  const { title, below, legend = [], charts, height, captions, description } = picture;
  const top = HEAD + (legend.length === 0 ? 0 : LINE);
  for (const { chart, x } of charts) {
    chart.setAttribute("x", String(x));
    chart.setAttribute("y", String(top));
  }
  const chart = Plot.plot({
    document: document as NonNullable<Plot.PlotOptions["document"]>,
    ariaLabel: description,
    className: CLASS,
    width: WIDTH,
    height: top + height + GAP + captions.length * LINE + EDGE,
    margin: 0,
    style: LETTERS,
    marks: [
      write([{ text: title, y: 10 }], { fill: "var(--ink)", fontWeight: 600, fontSize: 19 }),
      write([{ text: below, y: 36 }], { fill: "var(--muted)", fontSize: CAPTION_SIZE }),
      ...legend.map(({ text, x, colour }) =>
        write([{ text, x, y: HEAD }], { fill: colour, fontWeight: 600, fontSize: CAPTION_SIZE }),
      ),
      ...charts.map((placed) => () => placed.chart),
      write(
        captions.map((text, k) => ({ text, y: top + height + GAP + k * LINE })),
        { fill: "var(--muted)", fontSize: CAPTION_SIZE },
      ),
    ],
  });
  return writeSvg(chart, CLASS);
}

/** "15", or "2 to 3" where they differ. */
export function countSeeds(seeds: readonly number[]): string {
  const [least, most] = [Math.min(...seeds), Math.max(...seeds)];
  return least === most ? String(least) : `${least} to ${most}`;
}

/** "4374" and "20,000". */
export function countPeople(count: number): string {
  return count < 10_000 ? String(count) : count.toLocaleString("en");
}
