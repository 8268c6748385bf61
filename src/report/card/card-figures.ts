/**
 * The figures of a card: the person's curve with its limits beside everyone's mean, a hundred people of whom some have
 * had the event, and a bar for each column. Colours are the page's own; every difference of colour is one of shape or
 * dash as well, and a sentence beside each figure says the same.
 */
import * as Plot from "@observablehq/plot";
import type { CardData } from "../../verbs/people/card.ts";
import { type Html, html, trustMarkup } from "../page/html.ts";
import {
  axisTo,
  drawPlot,
  floorBelow,
  GRID,
  LINE,
  labelAxis,
  MUTED,
  type PlotDocument,
  PREDICTED,
  survivalAxis,
  survivalTicks,
} from "../plots/plot-canvas.ts";
import type { CardTime } from "./card-data.ts";

/** Small enough that its letters stay readable on a narrow screen. */
export const FRAME = {
  width: 460,
  height: 300,
  marginLeft: 40,
  marginRight: 14,
  marginTop: 12,
  marginBottom: 46,
};
/** Wanted on the axis of time. */
export const TICKS = 5;

/** Survival over time: the person's curve, its limits, and everyone's mean. */
export function drawPersonCurve(document: PlotDocument, card: CardData, { edges, label }: CardTime): Html {
  const { survival, everyone, bands } = card;
  const points = edges.map((time, t) => ({
    time,
    person: t === 0 ? 1 : survival[t - 1],
    everyone: t === 0 ? 1 : everyone[t - 1],
    lower: t === 0 ? 1 : (bands?.lower[t - 1] ?? 1),
    upper: t === 0 ? 1 : (bands?.upper[t - 1] ?? 1),
  }));
  const lowest = Math.min(...points.flatMap(({ person, everyone: mean, lower }) => [person, mean, lower]));
  const floor = floorBelow(lowest);
  return drawPlot(document, {
    ...FRAME,
    x: axisTo(edges[edges.length - 1], TICKS),
    y: survivalAxis(floor),
    marks: [
      Plot.gridY({ ticks: survivalTicks(floor), stroke: GRID, strokeOpacity: 1 }),
      Plot.ruleY([floor], { stroke: LINE }),
      bands === null
        ? null
        : Plot.areaY(points, { x: "time", y1: "lower", y2: "upper", fill: PREDICTED, fillOpacity: 0.18 }),
      Plot.lineY(points, { x: "time", y: "everyone", stroke: MUTED, strokeWidth: 2, strokeDasharray: "2 4" }),
      Plot.lineY(points, { x: "time", y: "person", stroke: PREDICTED, strokeWidth: 2.6 }),
      labelAxis(label, 40),
    ],
  });
}

/** The marks of the curve's legend, as the figure draws them. */
export function curveKey(kind: "person" | "everyone" | "band"): Html {
  const marks = {
    person: `<line x1="0" y1="6" x2="30" y2="6" stroke="${PREDICTED}" stroke-width="2.6"/>`,
    everyone: `<line x1="0" y1="6" x2="30" y2="6" stroke="${MUTED}" stroke-width="2" stroke-dasharray="2 4"/>`,
    band: `<rect x="0" y="1" width="30" height="10" fill="${PREDICTED}" fill-opacity=".18"/>`,
  };
  return trustMarkup(
    `<svg width="30" height="12" viewBox="0 0 30 12" aria-hidden="true">${marks[kind]}</svg>`,
  );
}

/** Icons in a row, and rows. */
const SIDE = 10;
const STEP = { across: 11, down: 15 };

/** A hundred people, the first `count` of whom have had the event: filled, the others in outline. */
export function drawHundred(count: number, sentence: string): Html {
  const picture = placePeople((place) => `class="${place < count ? "had" : "free"}"`);
  return html`<div class="hundred" role="img" aria-label="${sentence}">${picture}</div>`;
}

/** A hundred figures in rows; `look` gives the attributes of each by its place. */
export function placePeople(look: (place: number) => string): Html {
  const figures = Array.from({ length: SIDE * SIDE }, (_, k) => {
    const x = (k % SIDE) * STEP.across + 1;
    const y = Math.floor(k / SIDE) * STEP.down + 1;
    const body = `M${x + 1} ${y + 12.5}v-3.6a3.4 3.4 0 0 1 6.8 0v3.6z`;
    return `<g ${look(k)}><circle cx="${x + 4.4}" cy="${y + 2.4}" r="2.1"/><path d="${body}"/></g>`;
  });
  const [width, height] = [SIDE * STEP.across, SIDE * STEP.down];
  return trustMarkup(`<svg viewBox="0 0 ${width} ${height}" aria-hidden="true">${figures.join("")}</svg>`);
}

/** A bar from the middle: to the right where the risk rises. `share` is of the longest bar, from −1 to 1. */
export function drawBar(share: number): Html {
  const reach = Math.min(1, Math.abs(share)) * 50;
  const from = share < 0 ? 50 - reach : 50;
  const where = `x="${from.toFixed(2)}" y="2" width="${reach.toFixed(2)}" height="8"`;
  const bar = `<rect class="${share < 0 ? "falls" : "rises"}" ${where}/>`;
  return trustMarkup(
    `<svg class="bar" viewBox="0 0 100 12" preserveAspectRatio="none" aria-hidden="true">${bar}` +
      '<line x1="50" y1="0" x2="50" y2="12" class="middle"/></svg>',
  );
}
