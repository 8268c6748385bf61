/**
 * Discrimination against worst-group calibration as SVG text, made with Observable Plot: one dot per setting, filled
 * where every group is within noise, a line along the frontier, a ring around the choice. Good is above and to the
 * left. The document is passed in, as for the other plots; colours are Okabe and Ito's, and no difference is shown by
 * colour alone.
 */
import * as Plot from "@observablehq/plot";
import { svgMarkup } from "../page/html.ts";
import { type PlotDocument, SVG } from "./plot-canvas.ts";

export interface FrontierSetting {
  readonly label: string;
  readonly concordance: number | null;
  /** The worst group's error, divided by what a perfect model stays under in 95 of 100 samples. */
  readonly worst: number | null;
  readonly withinNoise: boolean | null;
  readonly onFrontier: boolean;
  readonly isChosen: boolean;
}

export interface FrontierPlotOptions {
  /** What creates the SVG elements: `document` in a page, linkedom's in Node. */
  readonly document: unknown;
}

const DOT = "#0072B2";
const CHOICE = "#D55E00";
const INK = "#222222";
const QUIET = "#666666";
const DOT_RADIUS = 5;
const RING_RADIUS = 10;
/** Share of the range left free around the dots. */
const PADDING = 0.08;
/** The smallest range of an axis, so that equal values still give a picture with height and width. */
const LEAST_SPAN = 0.002;
/** The width of a 12-pixel character, on the generous side. */
const CHARACTER_WIDTH = 7;
const LINE_HALF = 8;
const WIDTH = 720;
const HEIGHT = 440;
const MARGIN_LEFT = 56;
const MARGIN_RIGHT = 24;
const MARGIN_TOP = 34;
const MARGIN_BOTTOM = 48;

function fitDomain(values: readonly number[]): [number, number] {
  const [low, high] = [Math.min(...values), Math.max(...values)];
  const pad = Math.max(high - low, LEAST_SPAN) * PADDING;
  return [low - pad, high + pad];
}

interface PlacedSetting extends FrontierSetting {
  readonly concordance: number;
  readonly worst: number;
}

interface Label {
  readonly setting: PlacedSetting;
  readonly anchor: "start" | "middle" | "end";
  readonly dx: number;
  readonly dy: number;
}

type Box = Readonly<Record<"left" | "right" | "top" | "bottom", number>>;

/** Places a label beside, above or below its dot, wherever there is room; a label without room is left out. */
function placeLabels(
  settings: readonly PlacedSetting[],
  xOf: (value: number) => number,
  yOf: (value: number) => number,
): readonly Label[] {
  const around = (x: number, y: number, half: number, high: number): Box => ({
    left: x - half,
    right: x + half,
    top: y - high,
    bottom: y + high,
  });
  const taken: Box[] = settings.map(({ worst, concordance }) =>
    around(xOf(worst), yOf(concordance), DOT_RADIUS + 1, DOT_RADIUS + 1),
  );
  // The choice is labelled first, then the frontier.
  const rank = (one: PlacedSetting) => (one.isChosen ? 0 : one.onFrontier ? 1 : 2);
  return [...settings]
    .sort((a, b) => rank(a) - rank(b))
    .flatMap((setting): Label[] => {
      const [x, y] = [xOf(setting.worst), yOf(setting.concordance)];
      const half = (setting.label.length * CHARACTER_WIDTH) / 2;
      const aside = RING_RADIUS + 4;
      const tries = [
        { anchor: "start" as const, dx: aside, dy: 0, box: around(x + aside + half, y, half, LINE_HALF) },
        { anchor: "end" as const, dx: -aside, dy: 0, box: around(x - aside - half, y, half, LINE_HALF) },
        ...[-1, 1].map((side) => ({
          anchor: "middle" as const,
          dx: 0,
          dy: side * (aside + 4),
          box: around(x, y + side * (aside + 4), half, LINE_HALF),
        })),
      ];
      const free = tries.find(
        ({ box }) =>
          box.left >= MARGIN_LEFT &&
          box.right <= WIDTH &&
          !taken.some(
            (other) =>
              box.left < other.right &&
              box.right > other.left &&
              box.top < other.bottom &&
              box.bottom > other.top,
          ),
      );
      if (free === undefined) return [];
      taken.push(free.box);
      const { anchor, dx, dy } = free;
      return [{ setting, anchor, dx, dy }];
    });
}

export function plotFrontier(settings: readonly FrontierSetting[], options: FrontierPlotOptions): string {
  const placed = settings.filter(
    (one): one is PlacedSetting => one.concordance !== null && one.worst !== null,
  );
  const frontier = placed.filter(({ onFrontier }) => onFrontier).sort((a, b) => a.worst - b.worst);
  const chosen = placed.filter(({ isChosen }) => isChosen);
  const x = fitDomain([1, ...placed.map(({ worst }) => worst)]);
  const y = placed.length === 0 ? [0, 1] : fitDomain(placed.map(({ concordance }) => concordance));
  const labels = placeLabels(
    placed,
    (value) => MARGIN_LEFT + ((value - x[0]) / (x[1] - x[0])) * (WIDTH - MARGIN_LEFT - MARGIN_RIGHT),
    (value) => MARGIN_TOP + ((y[1] - value) / (y[1] - y[0])) * (HEIGHT - MARGIN_TOP - MARGIN_BOTTOM),
  );
  const chart = Plot.plot({
    document: options.document as PlotDocument,
    ariaLabel: `Validation C-index against the worst group's calibration error of ${placed.length} settings`,
    width: WIDTH,
    height: HEIGHT,
    marginLeft: MARGIN_LEFT,
    marginTop: MARGIN_TOP,
    marginBottom: MARGIN_BOTTOM,
    marginRight: MARGIN_RIGHT,
    style: { background: "white", color: INK, fontFamily: "sans-serif", fontSize: "12px" },
    x: {
      domain: x,
      label: "calibration error of the worst group, 1 = the 95 % point of a perfect model",
      labelAnchor: "center",
      labelArrow: "none",
      ticks: 6,
    },
    y: { domain: y, label: "validation C-index", labelArrow: "none", grid: true, ticks: 6 },
    marks: [
      Plot.ruleX([1], { stroke: QUIET, strokeDasharray: "4 3" }),
      Plot.line(frontier, {
        x: "worst",
        y: "concordance",
        curve: "step-after",
        stroke: DOT,
        strokeOpacity: 0.5,
      }),
      Plot.dot(placed, {
        x: "worst",
        y: "concordance",
        r: DOT_RADIUS,
        stroke: DOT,
        strokeWidth: 1.5,
        fill: (one: FrontierSetting) => (one.withinNoise ? DOT : "white"),
      }),
      Plot.dot(chosen, { x: "worst", y: "concordance", r: RING_RADIUS, stroke: CHOICE, strokeWidth: 2.5 }),
      ...labels.map(({ setting, anchor, dx, dy }) =>
        Plot.text([setting], {
          x: "worst",
          y: "concordance",
          text: "label",
          textAnchor: anchor,
          dx,
          dy,
          fontWeight: setting.isChosen ? 700 : 400,
          fill: INK,
          stroke: "white",
          strokeWidth: 3,
        }),
      ),
      Plot.text(["filled: every group within noise    ring: chosen    line: frontier"], {
        frameAnchor: "top-right",
        dy: -26,
        dx: 14,
        fill: QUIET,
      }),
    ],
  });
  chart.setAttribute("xmlns", SVG);
  return svgMarkup(chart.outerHTML);
}
