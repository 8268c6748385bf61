/**
 * The figures of a cohort's predicted curves as SVG text, made with Observable Plot: the mean curve of every system
 * against Kaplan-Meier, one panel each, and the curves of a few people under a few systems, with the times of their
 * events or censorings. Observed curves are pale, wide and banded, predicted ones thin, true ones dotted. Colours are
 * Okabe and Ito's and follow the reader's light or dark theme; no distinction is by colour alone. Kaplan-Meier ends
 * where its support ends. The document is passed in, as for the other plots.
 */

import * as Plot from "@observablehq/plot";
import { roundValue, writeSvg } from "./svg.ts";

/** The data drawn for a cohort; curves are at `edges`, t = 0…T. */
export interface DrawnCohort {
  readonly cohort: string;
  readonly rows: number;
  readonly events: number;
  readonly edges: readonly number[];
  readonly kaplanMeier: {
    readonly survival: readonly number[];
    readonly lower: readonly (number | null)[];
    readonly upper: readonly (number | null)[];
    readonly support: number;
  };
  readonly people: readonly { readonly time: number; readonly event: number }[];
  readonly truth: {
    readonly mean: readonly number[];
    readonly people: readonly (readonly number[])[];
  } | null;
  readonly systems: readonly {
    readonly system: string;
    readonly mean: readonly number[];
    readonly people?: readonly (readonly number[])[];
  }[];
}

export interface CohortPlotOptions {
  /** What makes the SVG elements: `document` in a page, linkedom's in Node. */
  readonly document: unknown;
}

const DAYS_PER_YEAR = 365.25;
const COLUMNS = 5;
const MARGIN_LEFT = 44;
const MARGIN_RIGHT = 14;
const MARGIN_BOTTOM = 42;
const MARGINAL = { width: 170, height: 170, top: 76, titleAbove: 18 };
const PEOPLE = { width: 290, height: 300, top: 92, titleAbove: 34 };
/** Room for the captions, which span this many panels. */
const LEAST_COLUMNS = 3;
/** Ticks of the axis that shows early years wider. */
const ROOT_TICKS = [0, 1, 2, 5, 10, 15, 20];
/** The axis of survival begins at a multiple of this. */
const AXIS_STEP = 0.1;

/** Early, middle and late. */
const SERIES = ["var(--series-1)", "var(--series-2)", "var(--series-3)"];
const LETTERS = "ABCDEFGHIJ";

function toYears(days: number): number {
  return roundValue(days / DAYS_PER_YEAR);
}

/** Nobody should take simulated people for real ones. */
function titleOf({ cohort, truth }: DrawnCohort): string {
  return truth === null ? cohort : `${cohort}, simulated`;
}

/** Where the axis of survival begins, the same for all panels. */
function axisBottom(curves: readonly (readonly (number | null)[])[]): number {
  const smallest = Math.min(...curves.flat().filter((value) => value !== null));
  // 0.7 / 0.1 is 6.999…: a value on a step should begin there.
  return roundValue(Math.max(0, Math.floor(roundValue(smallest / AXIS_STEP)) * AXIS_STEP));
}

/** The position of a panel among the others. */
interface Place {
  readonly column: number;
  readonly row: number;
}

function drawCurve(
  { edges }: DrawnCohort,
  survival: readonly number[],
  place: Place,
  style: Plot.LineOptions,
  /** Between edges: where time is not drawn to scale, a straight line would miss it. */
  through?: { readonly t: number; readonly S: number },
): Plot.Markish {
  const points = survival.map((S, t) => ({ ...place, t: toYears(edges[t]), S: roundValue(S) }));
  if (through !== undefined) points.push({ ...place, ...through });
  points.sort((a, b) => a.t - b.t);
  return Plot.line(points, { fx: "column", fy: "row", x: "t", y: "S", strokeLinejoin: "round", ...style });
}

const TRUE_STYLE = { stroke: "var(--ink)", strokeWidth: 2, strokeDasharray: "1.5 3" } as const;

/** The largest difference between a mean curve and Kaplan-Meier within its support. */
function largestGap({ kaplanMeier: { survival, support } }: DrawnCohort, mean: readonly number[]): number {
  return Math.max(...survival.slice(0, support + 1).map((S, t) => Math.abs(S - mean[t])));
}

function drawObserved(cohort: DrawnCohort, place: Place): Plot.Markish[] {
  const { edges, kaplanMeier } = cohort;
  const { survival, lower, upper, support } = kaplanMeier;
  const band = edges.slice(0, support + 1).flatMap((edge, t) => {
    const [low, high] = [lower[t], upper[t]];
    return low === null || high === null ? [] : [{ ...place, t: toYears(edge), low, high }];
  });
  return [
    Plot.areaY(band, {
      fx: "column",
      fy: "row",
      x: "t",
      y1: "low",
      y2: "high",
      fill: SERIES[0],
      fillOpacity: 0.16,
    }),
    drawCurve(cohort, survival.slice(0, support + 1), place, {
      stroke: SERIES[0],
      strokeWidth: 5,
      strokeOpacity: 0.4,
    }),
  ];
}

/** A line of text above everything, from the left. */
function drawCaption(text: string, line: number, top: number, muted: boolean): Plot.Markish {
  return Plot.text([{ column: 0, row: 0, text }], {
    fx: "column",
    fy: "row",
    text: "text",
    frameAnchor: "top-left",
    textAnchor: "start",
    dy: 8 - top + line * 18,
    dx: -20,
    fill: muted ? "var(--muted)" : "var(--ink)",
    fontWeight: muted ? 400 : 600,
  });
}

interface Frame {
  readonly cohort: DrawnCohort;
  readonly titles: readonly string[];
  readonly columns: number;
  readonly panel: typeof PEOPLE;
  readonly bottom: number;
  /** A square root shows the early years, where most events are, wider than the late ones. */
  readonly time: "linear" | "sqrt";
  readonly description: string;
  readonly captions: readonly string[];
  readonly marks: readonly Plot.Markish[];
}

function placeOf(k: number, columns: number): Place {
  return { column: k % columns, row: Math.floor(k / columns) };
}

function drawFrame(frame: Frame, { document }: CohortPlotOptions): string {
  const { cohort, titles, columns, panel, bottom, marks } = frame;
  const rows = Math.ceil(titles.length / columns);
  const places = titles.map((title, k) => ({ ...placeOf(k, columns), title }));
  const ticks = Array.from({ length: Math.round((1 - bottom) / AXIS_STEP) + 1 }, (_, k) =>
    roundValue(bottom + k * AXIS_STEP),
  );
  const shown = ticks.length > 6 ? ticks.filter((S) => roundValue(S * 5) % 1 === 0) : ticks;
  const lines = places.flatMap(({ title: _, ...place }) => shown.map((S) => ({ ...place, S })));
  const horizon = toYears(cohort.edges[cohort.edges.length - 1]);
  const chart = Plot.plot({
    document: document as NonNullable<Plot.PlotOptions["document"]>,
    ariaLabel: frame.description,
    className: "cohort",
    width: MARGIN_LEFT + MARGIN_RIGHT + panel.width * columns,
    height: panel.top + MARGIN_BOTTOM + panel.height * rows,
    marginLeft: MARGIN_LEFT,
    marginRight: MARGIN_RIGHT,
    marginTop: panel.top,
    marginBottom: MARGIN_BOTTOM,
    style: { fontFamily: "sans-serif", fontSize: "12px" },
    fx: { domain: Array.from({ length: columns }, (_, k) => k), axis: null, padding: 0.1 },
    fy: { domain: Array.from({ length: rows }, (_, k) => k), axis: null, padding: 0.24 },
    x: {
      type: frame.time,
      domain: [0, horizon],
      ticks: frame.time === "linear" ? 5 : ROOT_TICKS.filter((year) => year <= horizon),
      tickFormat: String,
      label: frame.time === "linear" ? "years" : "years, on the scale of their square root",
      labelAnchor: "center",
      labelArrow: "none",
    },
    y: { domain: [bottom, 1], ticks: shown, tickFormat: ".1f", label: null },
    marks: [
      Plot.ruleY(lines, { fx: "column", fy: "row", y: "S", stroke: "var(--grid)" }),
      ...marks,
      Plot.text(places, {
        fx: "column",
        fy: "row",
        text: "title",
        frameAnchor: "top-left",
        textAnchor: "start",
        dy: -panel.titleAbove,
        fill: "var(--ink)",
        fontWeight: 600,
      }),
      ...frame.captions.map((text, line) => drawCaption(text, line, panel.top, line > 0)),
    ],
  });
  return writeSvg(chart, "cohort");
}

/** Every system's mean curve against Kaplan-Meier of the same rows. */
export function plotMarginal(cohort: DrawnCohort, options: CohortPlotOptions): string {
  const { systems, kaplanMeier: km, truth, rows, events } = cohort;
  const lowest = km.lower.slice(0, km.support + 1);
  const marks = systems.flatMap(({ mean }, k) => {
    const place = placeOf(k, COLUMNS);
    return [
      ...drawObserved(cohort, place),
      ...(truth === null ? [] : [drawCurve(cohort, truth.mean, place, TRUE_STYLE)]),
      drawCurve(cohort, mean, place, { stroke: SERIES[1], strokeWidth: 2 }),
      Plot.text([{ ...place, text: `largest gap ${largestGap(cohort, mean).toFixed(3)}` }], {
        fx: "column",
        fy: "row",
        text: "text",
        frameAnchor: "top-right",
        textAnchor: "end",
        dx: -2,
        dy: 8,
        fill: "var(--ink)",
        stroke: "var(--paper)",
        strokeWidth: 3,
      }),
    ];
  });
  return drawFrame(
    {
      cohort,
      titles: systems.map(({ system }) => system),
      columns: COLUMNS,
      panel: MARGINAL,
      time: "linear",
      bottom: axisBottom([
        lowest,
        ...(truth === null ? [] : [truth.mean]),
        ...systems.map(({ mean }) => mean),
      ]),
      description:
        `${titleOf(cohort)}: mean predicted survival of ${rows} test rows under ` +
        `${systems.length} systems, each against Kaplan-Meier with its 95 % band`,
      captions: [
        `${titleOf(cohort)}: mean predicted survival of the ${rows} test rows (${events} events)`,
        "wide, with its 95 % band: Kaplan-Meier, while ten are at risk    thin: mean " +
          `predicted${truth === null ? "" : "    dotted: true mean"}`,
      ],
      marks,
    },
    options,
  );
}

/** S at a time, interpolated between edges as everywhere else: piecewise linear. */
function survivalAt(edges: readonly number[], survival: readonly number[], time: number): number {
  const t = edges.findIndex((edge) => edge >= time);
  if (t === -1) return survival[survival.length - 1];
  if (t === 0) return survival[0];
  const share = (time - edges[t - 1]) / (edges[t] - edges[t - 1]);
  return survival[t - 1] + share * (survival[t] - survival[t - 1]);
}

function drawPeople(
  cohort: DrawnCohort,
  curves: readonly (readonly number[])[],
  place: Place,
): Plot.Markish[] {
  const { edges, people } = cohort;
  const events = people.filter(({ event }) => event === 1).length;
  const marked = people.map(({ time, event }, i) => ({
    ...place,
    t: toYears(time),
    S: roundValue(survivalAt(edges, curves[i], time)),
    isEvent: event === 1,
    letter: LETTERS[i],
    // Those with the event come first, then the others; early to late in both.
    colour: SERIES[(event === 1 ? i : i - events) % SERIES.length],
  }));
  const at = { fx: "column", fy: "row", x: "t", y: "S" } as const;
  const symbols = (isEvent: boolean) => marked.filter((one) => one.isEvent === isEvent);
  return [
    ...curves.map((survival, i) =>
      drawCurve(
        cohort,
        survival,
        place,
        {
          stroke: marked[i].colour,
          strokeWidth: 2,
          ...(marked[i].isEvent ? {} : { strokeDasharray: "6 4" }),
        },
        { t: marked[i].t, S: marked[i].S },
      ),
    ),
    Plot.dot(symbols(true), {
      ...at,
      symbol: "times",
      r: 5.5,
      strokeWidth: 3,
      stroke: "colour",
      clip: false,
    }),
    Plot.dot(symbols(false), {
      ...at,
      symbol: "circle",
      r: 4.5,
      strokeWidth: 2,
      stroke: "colour",
      fill: "var(--paper)",
      clip: false,
    }),
    Plot.text(marked, {
      ...at,
      text: "letter",
      dy: -13,
      fill: "colour",
      stroke: "var(--paper)",
      strokeWidth: 3,
      fontWeight: 700,
    }),
  ];
}

/** The curves of the same people under each system that has them, and the true ones where known. */
export function plotPeople(cohort: DrawnCohort, options: CohortPlotOptions): string {
  const { people, truth } = cohort;
  const panels = [
    ...cohort.systems.flatMap(({ system, people: curves }) =>
      curves === undefined ? [] : [{ title: system, curves }],
    ),
    ...(truth === null ? [] : [{ title: "true curves", curves: truth.people }]),
  ];
  const said = people.map(({ time }, i) => `${LETTERS[i]} ${toYears(time).toFixed(1)}`);
  const events = people.filter(({ event }) => event === 1).length;
  return drawFrame(
    {
      cohort,
      titles: panels.map(({ title }) => title),
      columns: Math.max(LEAST_COLUMNS, panels.length),
      panel: PEOPLE,
      time: "sqrt",
      bottom: axisBottom(panels.flatMap(({ curves }) => curves)),
      description:
        `${titleOf(cohort)}: predicted survival curves of ${people.length} people of the test rows ` +
        `under ${panels.map(({ title }) => title).join(", ")}, marked where they had the event or were censored`,
      captions: [
        `${titleOf(cohort)}: predicted survival of ${people.length} people of the test rows, chosen by their ` +
          "times alone",
        `solid, × event, years: ${said.slice(0, events).join(", ")}    dashed, ○ censored: ` +
          `${said.slice(events).join(", ")}`,
      ],
      marks: panels.flatMap(({ curves }, k) => drawPeople(cohort, curves, { column: k, row: 0 })),
    },
    options,
  );
}
