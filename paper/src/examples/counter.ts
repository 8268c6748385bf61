/**
 * The paper's three counterexamples (§Discussion, Examples 1–3): curves that a score calls perfect and whose mean is
 * far from Kaplan-Meier. The people and their times are from the paper's tables. Its figures give the shapes: 1 before
 * the person's own time, and from then on .15 to .95 (example 1), 0 (example 2), or 0 after an event and 1 after a
 * censoring (example 3). This file computes the scores with the library's own functions, and what the objectives do
 * from there with and without the constraint (descent.ts).
 */
import type { BinnedRightCensored, Curves } from "graduate-survival/data";
import {
  type DistanceName,
  measureDistances,
  measureStatistics,
  prepareConstraints,
  rankedProbability,
  xcalPenalty,
} from "graduate-survival/objectives";
import {
  type BinnedKaplanMeier,
  type BrierConvention,
  brierBinned,
  dCalScore,
  distanceL2,
  distanceVariance,
  integratedBrier,
  kaplanMeierBinned,
  meanCurve,
  rankedProbabilityScore,
} from "graduate-survival/stats";
import { descendFreely, EXAMPLE_BINS, type FreeLoss, hazardsOf, logitsOf } from "./descent.ts";
import { binPeople, type ExamplePerson, everyone, requireMeasured, stepCurves } from "./people.ts";

export const COUNTEREXAMPLES = ["xcal", "brier", "rps"] as const;
export type CounterexampleName = (typeof COUNTEREXAMPLES)[number];

export const EXAMPLE_TIMES = 5;

/** One line of a table of numbers; `printed` is null where the paper prints none. */
export interface ExampleNumber {
  readonly what: string;
  readonly printed: number | null;
  readonly here: number;
  /** Decimals to show. */
  readonly digits: number;
}

/** Where an objective ends when started from the example's curves. */
export interface ExampleRun {
  readonly objective: string;
  /** Mean predicted survival, t = 0…T. */
  readonly mean: Float64Array;
  readonly distance: number;
  readonly largestGap: number;
  /** The example's own score. */
  readonly score: number;
}

export interface Counterexample {
  readonly name: CounterexampleName;
  readonly people: readonly ExamplePerson[];
  readonly curves: Curves;
  readonly binned: BinnedRightCensored;
  readonly mean: Float64Array; // [T+1]
  readonly km: BinnedKaplanMeier;
  readonly numbers: readonly ExampleNumber[];
  readonly runs: readonly ExampleRun[];
  /** The last of `runs`: the likelihood under the constraint. */
  readonly constrained: ExampleRun;
}

const TIMES = [1, 2, 3, 4, 5];

const PEOPLE: Readonly<Record<CounterexampleName, readonly ExamplePerson[]>> = {
  xcal: [0.15, 0.35, 0.55, 0.75, 0.95].map((after, k) => ({ time: k + 1, event: 1, after })),
  brier: ([1, 0, 0] as const).flatMap((event) => TIMES.map((time) => ({ time, event, after: 0 }))),
  rps: [
    ...TIMES.map((time) => ({ time, event: 1 as const, after: 0 })),
    ...[1, 1, 1, 1, 2, 2, 2, 3, 3, 3].map((time) => ({ time, event: 0 as const, after: 1 })),
  ],
};

/** As printed: shares of the population alive after time 5, and scores of 0. */
const PRINTED: Readonly<Record<CounterexampleName, { readonly predicted: number; readonly km: number }>> = {
  xcal: { predicted: 0.55, km: 0 },
  brier: { predicted: 0, km: 0.42 },
  rps: { predicted: 0.67, km: 0 },
};

/** The score's name, and the loss that trains on it where there is one. */
const SCORES: Readonly<
  Record<CounterexampleName, { readonly name: string; readonly loss: FreeLoss | null }>
> = {
  xcal: { name: "D-Cal", loss: "xcal" },
  // MCBoostSurv corrects curves by this score afterwards; nothing is trained on it.
  brier: { name: "integrated Brier score", loss: null },
  rps: { name: "RPS", loss: "rps" },
};

/** So close to hazards of 0 and 1 that survival differs only by rounding. */
const EXACT_MARGIN = 1e-15;

function scoreOf(name: CounterexampleName, curves: Curves, binned: BinnedRightCensored): number {
  if (name === "xcal") return requireMeasured(dCalScore(curves, binned, { bins: EXAMPLE_BINS })).score;
  if (name === "brier") return requireMeasured(brierBinned(curves, binned)).ibs;
  return requireMeasured(rankedProbabilityScore(curves, binned)).sum;
}

const CONVENTIONS: readonly BrierConvention[] = ["r", "scikit-survival", "pycox", "mlr3proba"];

/** Integrated over times 1…4: at 5 nobody is left, and some conventions define no score there. */
function largestBrier(curves: Curves, binned: BinnedRightCensored): number {
  const { N, T, survival } = curves;
  const times = TIMES.slice(0, -1);
  const scored = Float64Array.from({ length: N * times.length }, (_, k) => {
    return survival[Math.floor(k / times.length) * T + (k % times.length)];
  });
  const outcomes = { time: Float64Array.from(binned.bin), event: binned.event };
  return Math.max(
    ...CONVENTIONS.map((convention) =>
      requireMeasured(integratedBrier({ outcomes, times, survival: scored, convention })),
    ),
  );
}

/** The lines about the score itself. */
function scoreNumbers(
  name: CounterexampleName,
  people: readonly ExamplePerson[],
  curves: Curves,
  binned: BinnedRightCensored,
): ExampleNumber[] {
  const T = EXAMPLE_TIMES;
  const score = scoreOf(name, curves, binned);
  // The same up to each censoring and the opposite after it, where the score does not look.
  const flipped = people.map((one) => {
    if (one.event === 1) return one;
    return name === "rps" ? { ...one, time: one.time + 1, after: 0 } : { ...one, after: 1 };
  });
  const other = stepCurves(flipped, T);
  const otherMean = requireMeasured(meanCurve(other))[T];
  const otherScore = scoreOf(name, other, binned);
  switch (name) {
    case "xcal":
      return [
        {
          what: "D-Cal, five bins (`stats/calibration/d-calibration.ts`)",
          printed: 0,
          here: score,
          digits: 4,
        },
        {
          what: "X-Cal's trainable form of it, five bins (`objectives/xcal.ts`)",
          printed: null,
          here: xcalPenalty(logitsOf(curves, EXACT_MARGIN), binned, { bins: EXAMPLE_BINS }, null, 1),
          digits: 4,
        },
        {
          what: "D-Cal, X-Cal's own twenty bins",
          printed: null,
          here: requireMeasured(dCalScore(curves, binned)).score,
          digits: 4,
        },
      ];
    case "brier":
      return [
        {
          what: "Brier score, mean over times (`stats/scores/brier.ts`)",
          printed: 0,
          here: score,
          digits: 4,
        },
        {
          what: "the same, largest of four programs' conventions",
          printed: null,
          here: largestBrier(curves, binned),
          digits: 4,
        },
        {
          what: "Brier score, if the censored are predicted to live for ever",
          printed: null,
          here: otherScore,
          digits: 4,
        },
        {
          what: "whose mean predicted survival after time 5 is",
          printed: null,
          here: otherMean,
          digits: 4,
        },
      ];
    case "rps":
      return [
        { what: "RPS (`stats/scores/rps.ts`)", printed: 0, here: score, digits: 4 },
        {
          what: "its trainable form (`objectives/rps.ts`)",
          printed: null,
          here: rankedProbability(logitsOf(curves, EXACT_MARGIN), binned, null, 1),
          digits: 4,
        },
        {
          what: "RPS, if the censored are predicted to die at the next time",
          printed: null,
          here: otherScore,
          digits: 4,
        },
        {
          what: "whose mean predicted survival after time 5 is",
          printed: null,
          here: otherMean,
          digits: 4,
        },
      ];
  }
}

/** A mean equal to Kaplan-Meier except at the last time, where Kaplan-Meier is 0 and has no variance. */
function unseenGap(km: BinnedKaplanMeier): ExampleNumber {
  const mean = Float64Array.from(km.survival);
  mean[EXAMPLE_TIMES] = mean[EXAMPLE_TIMES - 1];
  const { value } = requireMeasured(distanceVariance(mean, km.survival, km.variance));
  return {
    what: `the same of a mean that is right up to t = 4 and stays at ${mean[EXAMPLE_TIMES].toFixed(1)}`,
    printed: null,
    here: value,
    digits: 2,
  };
}

/** What each form of the constraint measures at exactly these curves. */
function distanceNumbers(
  name: CounterexampleName,
  curves: Curves,
  binned: BinnedRightCensored,
  km: BinnedKaplanMeier,
): ExampleNumber[] {
  const mean = requireMeasured(meanCurve(curves));
  const l2 = requireMeasured(distanceL2(mean, km.survival));
  const workspace = { hazard: hazardsOf(curves), survival: Float64Array.from(curves.survival) };
  const ofDistance = (distance: DistanceName, variant: "paper" | "default") => {
    const constraints = prepareConstraints({
      binned,
      groups: [everyone(curves.N)],
      distance,
      variant,
      support: "all",
      blocks: Array.from({ length: EXAMPLE_TIMES }, (_, t) => ({ first: t + 1, last: t + 1 })),
    });
    return measureDistances(constraints, measureStatistics(constraints, workspace))[0];
  };
  const largest = requireMeasured(distanceVariance(mean, km.survival, km.variance));
  return [
    { what: "l2 constraint: (D₁² + … + D₅²)/5", printed: null, here: ofDistance("l2", "paper"), digits: 4 },
    {
      what: "the same as the example divides it: (D₀² + … + D₅²)/6",
      printed: null,
      here: (l2 * EXAMPLE_TIMES) / (EXAMPLE_TIMES + 1),
      digits: 4,
    },
    {
      what: `variance constraint, Greenwood's variance: max D/√Var, at t = ${largest.t}`,
      printed: null,
      here: ofDistance("variance", "paper"),
      digits: 2,
    },
    ...(name === "xcal" ? [unseenGap(km)] : []),
    {
      what: "variance constraint, the mean curve's own variance (ours)",
      printed: null,
      here: ofDistance("variance", "default"),
      digits: 2,
    },
  ];
}

function summariseRun(
  name: CounterexampleName,
  objective: string,
  curves: Curves,
  binned: BinnedRightCensored,
  km: BinnedKaplanMeier,
): ExampleRun {
  const mean = requireMeasured(meanCurve(curves));
  return {
    objective,
    mean,
    distance: requireMeasured(distanceL2(mean, km.survival)),
    largestGap: Math.max(...Array.from(mean, (S, t) => Math.abs(S - km.survival[t]))),
    score: scoreOf(name, curves, binned),
  };
}

export function scoreName(name: CounterexampleName): string {
  return SCORES[name].name;
}

export function computeCounterexample(name: CounterexampleName): Counterexample {
  const T = EXAMPLE_TIMES;
  const people = PEOPLE[name];
  const binned = binPeople(people, T);
  const curves = stepCurves(people, T);
  const km = kaplanMeierBinned(binned);
  const mean = requireMeasured(meanCurve(curves));
  const { loss } = SCORES[name];
  const all = { groups: [everyone(people.length)] };
  const run = (objective: string, kind: FreeLoss, held: boolean) =>
    summariseRun(
      name,
      objective,
      descendFreely({ start: curves, binned, loss: kind, constraint: held ? all : null }),
      binned,
      km,
    );
  const constrained = run("likelihood under the l2 constraint, c = 0", "likelihood", true);
  return {
    name,
    people,
    curves,
    binned,
    mean,
    km,
    numbers: [
      ...scoreNumbers(name, people, curves, binned),
      {
        what: "mean predicted survival after time 5",
        printed: PRINTED[name].predicted,
        here: mean[T],
        digits: 4,
      },
      {
        what: "Kaplan-Meier after time 5",
        printed: PRINTED[name].km,
        here: km.survival[T],
        digits: 4,
      },
      ...distanceNumbers(name, curves, binned, km),
    ],
    runs: [
      summariseRun(name, "these curves", curves, binned, km),
      ...(loss === null ? [] : [run(`${SCORES[name].name} alone`, loss, false)]),
      run("likelihood alone", "likelihood", false),
      ...(loss === null ? [] : [run(`${SCORES[name].name} under the l2 constraint, c = 0`, loss, true)]),
      constrained,
    ],
    constrained,
  };
}
