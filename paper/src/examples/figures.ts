/**
 * What the figures of the examples show, as plain panels of curves: for each score's counterexample, its people, the
 * discrepancies between mean and Kaplan-Meier, and the end under the constraint; the swapped halves; three people; two
 * age groups. The report draws them (report/example-plots.ts) from these shapes.
 */

import type { Counterexample } from "./counter.ts";
import type { Examples } from "./examples.ts";
import type { LevelExample } from "./level.ts";
import type { SwapExample } from "./swap.ts";
import type { Under60Example } from "./under60.ts";

type Series = 1 | 2 | 3;

export interface FigureLine {
  readonly role: "observed" | "predicted" | "person";
  readonly series: Series;
  readonly survival: ArrayLike<number>; // t = 0…T
}

export interface FigurePanel {
  readonly title: string;
  readonly lines: readonly FigureLine[];
  readonly gaps?: readonly { readonly t: number; readonly from: number; readonly to: number }[];
  readonly deaths?: readonly { readonly t: number; readonly series: Series }[];
  readonly words?: readonly {
    readonly text: string;
    readonly t: number;
    readonly S: number;
    readonly series: Series;
  }[];
}

export interface ExampleFigure {
  /** File name without extension; the section's name. */
  readonly name: string;
  readonly description: string;
  readonly timeLabel: string;
  readonly legend: string;
  readonly shape: "step" | "line";
  readonly panels: readonly FigurePanel[];
}

function drawCounterexample({ name, curves, mean, km, constrained }: Counterexample): ExampleFigure {
  const { N, T, survival } = curves;
  const people = Array.from({ length: N }, (_, i): FigureLine => {
    return { role: "person", series: 1, survival: [1, ...survival.subarray(i * T, (i + 1) * T)] };
  });
  const observed: FigureLine = { role: "observed", series: 1, survival: km.survival };
  return {
    name,
    description: `Predicted curves of ${N} people, their mean against Kaplan-Meier, and the mean under the constraint`,
    timeLabel: "time",
    legend: "wide: Kaplan-Meier    thin: mean predicted",
    shape: "step",
    panels: [
      { title: `${N} predicted curves`, lines: people },
      {
        title: "their mean, and what it misses",
        lines: [observed, { role: "predicted", series: 2, survival: mean }],
        gaps: Array.from(mean, (S, t) => ({ t, from: km.survival[t], to: S })),
      },
      {
        title: "under GRADUATE's constraint",
        lines: [observed, { role: "predicted", series: 2, survival: constrained.mean }],
      },
    ],
  };
}

/** Beside the upper and the lower curve, clear of both: two lines of text each. */
const UPPER = { t: 2.5, S: [0.97, 0.9] };
const LOWER = { t: 0.2, S: [0.42, 0.35] };

function drawSwap({ panels }: SwapExample): ExampleFigure {
  const series: readonly Series[] = [2, 1];
  return {
    name: "swap",
    description: "Predicted and observed survival of a high-risk and a low-risk half, swapped and mended",
    timeLabel: "year",
    legend: "wide: observed    thin: predicted",
    shape: "line",
    panels: panels.map(({ curves, halves }) => {
      const last = (values: Float64Array) => values[values.length - 1];
      const words = halves.flatMap(({ name, predicted, km }, half) => {
        const isUpper = (values: Float64Array) =>
          halves.every((other) => last(values) >= last(other.km) - HALFWAY);
        const place = (values: Float64Array) => (isUpper(values) ? UPPER : LOWER);
        return [
          { text: `observed: ${name}`, t: place(km).t, S: place(km).S[0], series: series[half] },
          {
            text: `predicted: ${name}`,
            t: place(predicted).t,
            S: place(predicted).S[1],
            series: series[half],
          },
        ];
      });
      return {
        title: curves,
        words,
        lines: halves.flatMap(({ predicted, km }, half): FigureLine[] => [
          { role: "observed", series: series[half], survival: km },
          { role: "predicted", series: series[half], survival: predicted },
        ]),
      };
    }),
  };
}

/** Less than the difference between the two halves' curves at the end, more than rounding. */
const HALFWAY = 0.1;

const PEOPLE_SERIES: readonly Series[] = [1, 2, 3];
const PEOPLE_NAMES = ["A", "B", "C"];
/** Where a person's letter stands over the true curve and over the predicted one. */
const TRUE_LETTER = 2;
const PREDICTED_LETTER = 7;
const ABOVE = 0.045;
/** The panels of the four sets of curves that are drawn. */
const DRAWN_LEVELS = [1, 2];

function drawLevel({ truth, deaths, lines }: LevelExample): ExampleFigure {
  return {
    name: "level",
    description: "Three people: true curves, deaths, and predictions with the right order or the right level",
    timeLabel: "time",
    legend: "wide: true    thin: predicted    ×: death",
    shape: "line",
    panels: DRAWN_LEVELS.map((k) => ({
      title: lines[k].curves,
      lines: [
        ...truth.map((survival, i): FigureLine => ({ role: "observed", series: PEOPLE_SERIES[i], survival })),
        ...lines[k].survival.map(
          (survival, i): FigureLine => ({ role: "predicted", series: PEOPLE_SERIES[i], survival }),
        ),
      ],
      deaths: deaths.map((t, i) => ({ t, series: PEOPLE_SERIES[i] })),
      words: PEOPLE_SERIES.flatMap((series, i) => {
        const word = (text: string, t: number, S: number) => ({ text, t, S: S + ABOVE, series });
        const [text, predicted] = [PEOPLE_NAMES[i], lines[k].survival[i]];
        return [
          word(text, TRUE_LETTER, truth[i][TRUE_LETTER]),
          word(text, PREDICTED_LETTER, predicted[PREDICTED_LETTER]),
          word(text, deaths[i], 0),
        ];
      }),
    })),
  };
}

function drawUnder60({ groups, steps }: Under60Example): ExampleFigure {
  const drawn = [steps[0], steps[steps.length - 1]];
  const titles = ["one curve for everybody", "held to both age groups"];
  return {
    name: "under60",
    description: "Survival over a month, predicted and observed, under 60 and older",
    timeLabel: "tenths of the month",
    legend: "wide: observed    thin: predicted",
    shape: "line",
    panels: drawn.map(({ survival }, k) => ({
      title: titles[k],
      lines: groups.flatMap(({ km }, g): FigureLine[] => [
        { role: "observed", series: g === 0 ? 1 : 2, survival: km },
        { role: "predicted", series: g === 0 ? 1 : 2, survival: survival[g] },
      ]),
      words: groups.map(({ name }, g) => ({ text: name, series: g === 0 ? 1 : 2, ...AGE_WORDS[g] })),
    })),
  };
}

/** Below the curve of the young, and beside that of the old. */
const AGE_WORDS = [
  { t: 4, S: 0.92 },
  { t: 2.6, S: 0.38 },
];

export function listFigures({ counterexamples, swap, level, under60 }: Examples): readonly ExampleFigure[] {
  const { xcal, brier, rps } = counterexamples;
  return [
    ...[xcal, brier, rps].map(drawCounterexample),
    drawSwap(swap),
    drawLevel(level),
    drawUnder60(under60),
  ];
}
