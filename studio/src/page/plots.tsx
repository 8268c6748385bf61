/**
 * Figures by Observable Plot, loaded when the first is drawn. They are in the colours of the page, which follow light
 * and dark; observed curves are steps, predicted ones dashed, so that colour is never all that tells them apart.
 */
import type * as Plot from "@observablehq/plot";
import { useEffect, useRef, useState } from "preact/hooks";
import type { Curve, Loss, MovingCurve, PersonView } from "../protocol.ts";

export type Parts = typeof import("./plot-parts.ts");
export type Drawing = (plot: Parts) => Plot.PlotOptions;

let loading: Promise<Parts> | undefined;

function loadPlot(): Promise<Parts> {
  loading ??= import("./plot-parts.ts");
  return loading;
}

/** Figures that wait to be drawn, by their places: the last drawing asked for is the one that counts. */
const waiting = new Map<HTMLElement, (plot: Parts) => void>();
let isDrawing = false;
/** Milliseconds of drawing after which the page gets a turn: a person who types should not notice. */
const BREATH = 20;

/** Draws when there is time: twenty figures at once would hold the page up. */
async function drawLater(place: HTMLElement, draw: (plot: Parts) => void): Promise<void> {
  waiting.set(place, draw);
  if (isDrawing) return;
  isDrawing = true;
  const plot = await loadPlot();
  let begun = performance.now();
  while (waiting.size > 0) {
    const [[next, drawing]] = waiting;
    waiting.delete(next);
    drawing(plot);
    if (performance.now() - begun < BREATH) continue;
    await new Promise((resolve) => setTimeout(resolve, 0));
    begun = performance.now();
  }
  isDrawing = false;
}

const STYLE = {
  background: "none",
  color: "inherit",
  fontFamily: "inherit",
  fontSize: "12px",
  overflow: "visible",
};

/** A figure, and in words what it shows. */
export function Figure(props: { readonly label: string; readonly draw: Drawing; readonly height: number }) {
  const { label, draw, height } = props;
  const place = useRef<HTMLDivElement>(null);
  const [width, setWidth] = useState(0);
  useEffect(() => {
    if (place.current === null) return;
    const observer = new ResizeObserver(([entry]) => setWidth(Math.round(entry.contentRect.width)));
    observer.observe(place.current);
    return () => observer.disconnect();
  }, []);
  useEffect(() => {
    if (width === 0) return;
    const own = place.current;
    if (own === null) return;
    void drawLater(own, (plot) => {
      const chart = plot.plot({ width, height, style: STYLE, ...draw(plot) });
      for (const part of chart.querySelectorAll("[aria-label]")) part.removeAttribute("aria-label");
      chart.setAttribute("aria-hidden", "true");
      own.replaceChildren(chart);
    });
    return () => {
      waiting.delete(own);
    };
  }, [width, height, draw]);
  return (
    <div class="figure" ref={place} role="img" aria-label={label} style={{ minHeight: `${height}px` }} />
  );
}

interface Point {
  readonly time: number;
  readonly survival: number;
}

export const pointsOf = ({ time, survival }: Curve): Point[] =>
  time.map((one, k) => ({ time: one, survival: survival[k] }));
export const PLACE = { x: "time", y: "survival" } as const;
export const SURVIVAL_AXIS = {
  domain: [0, 1],
  label: null,
  ticks: 5,
  tickFormat: (S: number) => `${Math.round(100 * S)} %`,
};

/** A Kaplan-Meier curve. */
export function drawObserved(curve: Curve, unit: string): Drawing {
  return (plot) => ({
    marginLeft: 44,
    marginBottom: 34,
    x: { label: unit === "" ? "time" : unit, ticks: 5, nice: false, labelArrow: "none" },
    y: { ...SURVIVAL_AXIS, grid: true },
    marks: [
      plot.areaY(pointsOf(curve), {
        ...PLACE,
        curve: "step-after",
        fill: "var(--observed)",
        fillOpacity: 0.09,
      }),
      plot.lineY(pointsOf(curve), {
        ...PLACE,
        curve: "step-after",
        stroke: "var(--observed)",
        strokeWidth: 1.8,
      }),
    ],
  });
}

/** Of plots that stand side by side. */
export const SMALL_FRAME = {
  marginLeft: 34,
  marginBottom: 20,
  marginTop: 8,
  marginRight: 6,
  x: { label: null, ticks: 3, tickSize: 3 },
  y: { ...SURVIVAL_AXIS, ticks: 3, tickSize: 0, grid: true },
} as const;

/** A small one without words, for a card. */
export function drawSmall(curve: Curve, everyone: Curve | null): Drawing {
  return (plot) => ({
    ...SMALL_FRAME,
    marks: [
      ...(everyone === null
        ? []
        : [
            plot.lineY(pointsOf(everyone), {
              ...PLACE,
              curve: "step-after",
              stroke: "var(--line)",
              strokeWidth: 1,
            }),
          ]),
      plot.lineY(pointsOf(curve), {
        ...PLACE,
        curve: "step-after",
        stroke: "var(--observed)",
        strokeWidth: 1.8,
      }),
    ],
  });
}

/** What was observed and what is predicted of one group. */
export function drawMoving({ time, observed, predicted }: MovingCurve): Drawing {
  return (plot) => ({
    ...SMALL_FRAME,
    marks: [
      plot.lineY(pointsOf({ time, survival: observed }), {
        ...PLACE,
        curve: "step-after",
        stroke: "var(--observed)",
        strokeWidth: 1.6,
      }),
      plot.lineY(pointsOf({ time, survival: predicted }), {
        ...PLACE,
        stroke: "var(--predicted)",
        strokeWidth: 2,
        strokeDasharray: "6 3",
      }),
    ],
  });
}

/** Weight of the last value in the running mean: a batch is a small sample, and its loss is mostly noise. */
const LAST_SHARE = 0.12;

/** Losses, and the running mean of their run. */
function smooth(losses: readonly Loss[]) {
  let mean = 0;
  return losses.map(({ run, step, loss }, k) => {
    mean = run === losses[k - 1]?.run ? mean + LAST_SHARE * (loss - mean) : loss;
    return { run, step, loss, mean };
  });
}

/** The loss of each step, and its running mean; no line goes from one run to the next. */
export function drawLoss(losses: readonly Loss[], steps: number): Drawing {
  const points = smooth(losses);
  const look = { x: "step", z: "run" };
  return (plot) => ({
    marginLeft: 50,
    marginBottom: 30,
    x: { label: "step", domain: [0, Math.max(steps, 1)], ticks: 4, labelArrow: "none" },
    y: { label: null, nice: true, ticks: 4, grid: true },
    marks: [
      plot.lineY(points, { ...look, y: "loss", stroke: "var(--line)", strokeWidth: 1 }),
      plot.lineY(points, { ...look, y: "mean", stroke: "var(--series-2)", strokeWidth: 2.4 }),
    ],
  });
}

type PersonCurves = Pick<PersonView, "curve" | "band" | "before" | "everyone">;

/** A person's curve within its band, as it was before a change, beside everyone's mean. */
export function drawPerson({ curve, band, before, everyone }: PersonCurves, unit: string): Drawing {
  const within = band && curve.time.map((time, k) => ({ time, low: band.lower[k], high: band.upper[k] }));
  return (plot) => ({
    marginLeft: 44,
    marginBottom: 34,
    x: { label: unit === "" ? "time" : unit, ticks: 6, labelArrow: "none" },
    y: { ...SURVIVAL_AXIS, grid: true },
    marks: [
      plot.lineY(pointsOf(everyone), { ...PLACE, stroke: "var(--line)", strokeWidth: 1.4 }),
      ...(before === null
        ? []
        : [
            plot.lineY(pointsOf(before), {
              ...PLACE,
              stroke: "var(--muted)",
              strokeWidth: 1.6,
              strokeDasharray: "2 3",
            }),
          ]),
      within === null
        ? plot.areaY(pointsOf(curve), { ...PLACE, fill: "var(--predicted)", fillOpacity: 0.08 })
        : plot.areaY(within, {
            x: "time",
            y1: "low",
            y2: "high",
            fill: "var(--predicted)",
            fillOpacity: 0.2,
          }),
      plot.lineY(pointsOf(curve), { ...PLACE, stroke: "var(--predicted)", strokeWidth: 2.4 }),
    ],
  });
}

/** A histogram as wide as a thumb. */
export function Bars({ bars }: { readonly bars: readonly number[] }) {
  const most = Math.max(1, ...bars);
  const width = 96 / Math.max(1, bars.length);
  return (
    <svg class="bars" viewBox="0 0 96 26" aria-hidden="true" focusable="false">
      {bars.map((bar, k) => {
        const height = Math.max(bar > 0 ? 1 : 0, (24 * bar) / most);
        return (
          <rect key={k} x={k * width} y={26 - height} width={Math.max(0.8, width - 1)} height={height} />
        );
      })}
    </svg>
  );
}
