/**
 * The price of holding a group that the model may not see: for each strength with which the other columns tell who is in
 * it, the group's error under Cox, not held and held, and below what everyone pays for the difference. A line joins
 * "not held" to "held": the steeper, the more holding helps. "held, strict" is drawn where it has the same seeds.
 */

import * as Plot from "@observablehq/plot";
import { formatSigned } from "../pages/markdown.ts";
import { roundValue } from "../pages/svg.ts";
import type { HeldSystem } from "../studies/held-systems.ts";
import type { HeldPrice } from "../summaries/held-not-told.ts";
import {
  CLASS,
  drawPicture,
  LETTERS,
  OTHER,
  OWN,
  type Picture,
  type PictureOptions,
  WIDTH,
} from "./frame.ts";

/** A system's place in a panel, its mark, and both in the legend. */
interface Drawn {
  readonly system: HeldSystem;
  readonly place: (typeof PLACES)[number];
  readonly symbol: "square" | "circle" | "diamond";
  readonly r: number;
  readonly colour: string;
  readonly fill: string;
  readonly legend: string;
}

/** The last is room for a number. */
const PLACES = ["cox", "free", "held", "number"] as const;
const PAPER = "var(--paper)";
const COX = { place: "cox", symbol: "square", r: 5, colour: "var(--muted)", fill: PAPER } as const;
const FREE = { place: "free", symbol: "circle", r: 6, colour: OTHER, fill: PAPER } as const;
const HELD = { place: "held", symbol: "circle", r: 6, colour: OWN, fill: OWN } as const;
/** Around the dot of "held" where both are the same. */
const STRICT = { place: "held", symbol: "diamond", r: 9, colour: OWN, fill: "none" } as const;
const SYSTEMS: readonly Drawn[] = [
  { system: "cox", legend: "□ Cox", ...COX },
  { system: "free", legend: "○ not held", ...FREE },
  { system: "held", legend: "● held", ...HELD },
  { system: "held, strict", legend: "◇ held, strict", ...STRICT },
];

const POINTS = 100;
const NAMES = 154;
const TOP = 30;
const PANEL = 180;
const COST = { from: 24, line: 26 };
const LEGEND = { from: 8, letter: 9, between: 24 };
/** The axis begins at zero and ends so far above the largest error that its number has room. */
const HEADROOM = 1.2;

interface Point {
  readonly strength: number;
  readonly place: string;
  readonly error: number;
  readonly low: number;
  readonly high: number;
  readonly text: string;
}

function pointsOf(prices: readonly HeldPrice[], system: HeldSystem): Point[] {
  const place = SYSTEMS.find((one) => one.system === system)?.place ?? system;
  return prices.flatMap(({ strength, errors }) => {
    const own = errors.find((one) => one.system === system)?.error;
    if (own === undefined) return [];
    const [mean, spread] = [POINTS * own.mean, POINTS * (own.error ?? 0)];
    const [error, low, high] = [mean, mean - spread, mean + spread].map(roundValue);
    return [{ strength, place, error, low, high, text: mean.toFixed(1) }];
  });
}

function drawSystem(prices: readonly HeldPrice[], { system, symbol, r, colour, fill }: Drawn): Plot.Markish {
  const points = pointsOf(prices, system);
  const at = { fx: "strength", x: "place", stroke: colour, strokeWidth: 2.5 } as const;
  return [
    Plot.ruleX(points, { ...at, y1: "low", y2: "high" }),
    Plot.dot(points, { ...at, y: "error", symbol, r, fill }),
  ];
}

/** Of "not held" above its dot and of "held" beside it, unless both are one. */
function drawNumbers(prices: readonly HeldPrice[]): Plot.Markish {
  const isAlone = ({ leftAlone, seeds }: HeldPrice) => leftAlone === seeds;
  const ink = { fx: "strength", fill: "var(--ink)", stroke: PAPER, strokeWidth: 4 } as const;
  const held = pointsOf(
    prices.filter((price) => !isAlone(price)),
    "held",
  );
  return [
    Plot.text(pointsOf(prices, "free"), { ...ink, x: "place", y: "high", text: "text", dy: -18 }),
    Plot.text(held, {
      ...ink,
      x: "place",
      y: "error",
      text: "text",
      dx: 15,
      textAnchor: "start",
      fontWeight: 700,
    }),
    Plot.text(pointsOf(prices.filter(isAlone), "held"), {
      ...ink,
      frameAnchor: "middle",
      y: "low",
      text: () => "left alone",
      dy: 26,
    }),
  ];
}

/** Of everyone's ISE, for each point of the group's error that is gone. */
function priceOfPoint({ errors, iseRatio }: HeldPrice): string {
  const find = (system: HeldSystem) => errors.find((one) => one.system === system)?.error.mean ?? 0;
  const gained = POINTS * (find("free") - find("held"));
  if (gained <= 0) return "–";
  return iseRatio <= 1 ? "nothing" : `${((POINTS * (iseRatio - 1)) / gained).toFixed(0)} %`;
}

const COSTS: readonly {
  readonly name: string;
  readonly read: (price: HeldPrice) => string;
  readonly isMain: boolean;
}[] = [
  {
    name: "price in ISE",
    read: ({ iseRatio }) => `${formatSigned(POINTS * (iseRatio - 1), 0)} %`,
    isMain: false,
  },
  { name: "price of a point", read: priceOfPoint, isMain: true },
  {
    name: "change of C",
    read: ({ concordance }) => formatSigned(concordance, 3).replace("0.", "."),
    isMain: false,
  },
];

function drawCosts(prices: readonly HeldPrice[]): Plot.Markish {
  return COSTS.map(({ name, read, isMain }, k) => {
    const fontWeight = isMain ? 700 : 400;
    const style = { fx: "strength", fill: "var(--ink)", lineAnchor: "middle", fontWeight } as const;
    const dy = COST.from + k * COST.line;
    return [
      Plot.text(prices, { ...style, frameAnchor: "bottom", text: read, dy }),
      Plot.text(prices.slice(0, 1), {
        ...style,
        frameAnchor: "bottom-left",
        text: () => name,
        dy,
        dx: -12,
        textAnchor: "end",
      }),
    ];
  });
}

function legendOf(systems: readonly Drawn[]): NonNullable<Picture["legend"]> {
  let x = LEGEND.from;
  return systems.map(({ legend: text, colour }) => {
    const entry = { text, x, colour };
    x += text.length * LEGEND.letter + LEGEND.between;
    return entry;
  });
}

export function plotPrice(
  prices: readonly HeldPrice[],
  picture: Omit<Picture, "charts" | "height" | "legend">,
  options: PictureOptions,
): string {
  const systems = SYSTEMS.filter(({ system }) => pointsOf(prices, system).length > 0);
  const points = systems.flatMap(({ system }) => pointsOf(prices, system));
  const bottom = COST.from + COSTS.length * COST.line - 8;
  const height = TOP + PANEL + bottom;
  const chart = Plot.plot({
    document: options.document as NonNullable<Plot.PlotOptions["document"]>,
    className: CLASS,
    width: WIDTH,
    height,
    marginLeft: NAMES,
    marginRight: 4,
    marginTop: TOP,
    marginBottom: bottom,
    style: LETTERS,
    fx: { domain: prices.map(({ strength }) => strength), axis: null, padding: 0.08 },
    x: { type: "point", domain: PLACES, padding: 0.7, align: 0.3, axis: null },
    y: {
      domain: [0, roundValue(HEADROOM * Math.max(...points.map(({ high }) => high)))],
      ticks: 5,
      tickSize: 0,
      label: null,
    },
    marks: [
      Plot.gridY({ stroke: "var(--grid)", strokeOpacity: 1, ticks: 5 }),
      Plot.line(
        (["free", "held"] as const).flatMap((system) => pointsOf(prices, system)),
        { fx: "strength", x: "place", y: "error", z: "strength", stroke: OWN, strokeWidth: 2.5 },
      ),
      systems.map((one) => drawSystem(prices, one)),
      drawNumbers(prices),
      Plot.text(prices, {
        fx: "strength",
        frameAnchor: "top",
        text: ({ strength }: HeldPrice) => `AUC ${strength.toFixed(2).replace("0.", ".")}`,
        dy: -24,
        fill: "var(--ink)",
        fontWeight: 600,
      }),
      drawCosts(prices),
    ],
  });
  return drawPicture({ ...picture, legend: legendOf(systems), charts: [{ chart, x: 0 }], height }, options);
}
