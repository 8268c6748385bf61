/**
 * A counterexample to the paper's own constraint: exchanging two people's curves inside a group leaves the group's mean
 * unchanged, so a model that ranks everyone backwards meets every constraint on group means. Cells of group × predicted
 * risk (objectives/strata.ts) detect it. There are three cases: four people, where it is exact; two hundred, where the
 * cells are large enough to be formed as in training; and two who both die before the horizon, which the cells do not
 * detect either, because they are cut by the risk at the horizon.
 */
import type { BinnedRightCensored, Curves } from "graduate-survival/data";
import {
  concordanceHalfTies,
  concordancePaper,
  distanceL2,
  kaplanMeierBinned,
  meanCurve,
  timeDependentPairs,
} from "graduate-survival/stats";
import { descendFreely, type FreeConstraint, measureConstraint } from "./descent.ts";
import { binPeople, type ExamplePerson, everyone, requireMeasured, stepCurves } from "./people.ts";

/** Curves and how they fit the outcomes. */
export interface SwapLine {
  readonly curves: string;
  readonly concordance: number;
  readonly concordanceHalfTies: number;
  /** Of everyone's mean curve. */
  readonly distance: number;
  /** The largest of the cells of predicted risk. */
  readonly strata: number;
  /** How many of the cells are not empty. */
  readonly cells: number;
}

export interface SwapExample {
  readonly four: readonly SwapLine[];
  readonly many: readonly SwapLine[];
  readonly horizon: readonly SwapLine[];
  /** What the figure of the two hundred people shows: mean curves of the two halves, t = 0…T. */
  readonly panels: readonly SwapPanel[];
}

export interface SwapPanel {
  readonly curves: string;
  readonly halves: readonly {
    readonly name: string;
    readonly predicted: Float64Array;
    readonly km: Float64Array;
  }[];
}

const T = 5;
const HALF = 100;
/** Deaths in each of the five years, per hundred people. */
const DEATHS = { high: 16, low: 6 };
const STRATA = 2;
/** The cells are rebuilt at every step. */
const STEPS = 1000;

function describeLine(
  curves: string,
  predicted: Curves,
  binned: BinnedRightCensored,
  constraint: FreeConstraint,
): SwapLine {
  const pairs = timeDependentPairs(predicted, binned);
  const km = kaplanMeierBinned(binned).survival;
  const cells = measureConstraint(predicted, binned, constraint).filter(({ n }) => n > 0);
  return {
    curves,
    concordance: requireMeasured(concordancePaper(pairs)),
    concordanceHalfTies: requireMeasured(concordanceHalfTies(pairs)),
    distance: requireMeasured(distanceL2(requireMeasured(meanCurve(predicted)), km)),
    strata: Math.max(...cells.map(({ distance }) => distance)),
    cells: cells.length,
  };
}

/** Row i gets the curve of row order[i]. */
function reorderCurves({ N, T, survival }: Curves, order: readonly number[]): Curves {
  const moved = new Float64Array(N * T);
  order.forEach((from, i) => {
    moved.set(survival.subarray(from * T, (from + 1) * T), i * T);
  });
  return { N, T, survival: moved };
}

/**
 * Right curves, swapped curves, and where the constraint on cells alone, without a loss, leads from the swapped ones.
 */
function compareSwap(
  right: Curves,
  order: readonly number[],
  binned: BinnedRightCensored,
  strata: Pick<FreeConstraint, "minimumExpectedEvents">,
  curveOf?: Int32Array,
): { readonly lines: readonly SwapLine[]; readonly swapped: Curves; readonly freed: Curves } {
  const groups = [everyone(right.N)];
  const cells: FreeConstraint = { groups, strata: STRATA, ...strata };
  const swapped = reorderCurves(right, order);
  const freed = descendFreely({
    start: swapped,
    binned,
    loss: "none",
    constraint: cells,
    steps: STEPS,
    ...(curveOf === undefined ? {} : { curveOf }),
  });
  return {
    lines: [
      describeLine("right", right, binned, cells),
      describeLine("swapped", swapped, binned, cells),
      describeLine("from the swapped ones, held in cells of risk", freed, binned, cells),
    ],
    swapped,
    freed,
  };
}

function swapFour(): readonly SwapLine[] {
  const people: readonly ExamplePerson[] = [
    { time: 1, event: 1, after: 0 },
    { time: 2, event: 1, after: 0 },
    { time: 5, event: 0, after: 1 },
    { time: 5, event: 0, after: 1 },
  ];
  const binned = binPeople(people, T);
  // Four people can never expect the ten events that a cell needs in training.
  return compareSwap(stepCurves(people, T), [2, 3, 0, 1], binned, { minimumExpectedEvents: 0 }).lines;
}

/** Two people who die at times 1 and 5: their risks at the horizon are the same. */
function swapBeforeHorizon(): readonly SwapLine[] {
  const people: readonly ExamplePerson[] = [
    { time: 1, event: 1, after: 0 },
    { time: 5, event: 1, after: 0 },
  ];
  const binned = binPeople(people, T);
  const right = stepCurves(people, T);
  const cells = { groups: [everyone(2)], strata: STRATA, minimumExpectedEvents: 0 };
  return [
    describeLine("right", right, binned, cells),
    describeLine("swapped", reorderCurves(right, [1, 0]), binned, cells),
  ];
}

export function computeSwap(): SwapExample {
  const halves = [DEATHS.high, DEATHS.low];
  const people = halves.flatMap((deaths): ExamplePerson[] =>
    Array.from({ length: HALF }, (_, k) =>
      k < deaths * T
        ? { time: Math.floor(k / deaths) + 1, event: 1, after: 0 }
        : { time: T, event: 0, after: 1 },
    ),
  );
  const binned = binPeople(people, T);
  const N = people.length;
  const curveOf = Int32Array.from({ length: N }, (_, i) => (i < HALF ? 0 : 1));
  const rowsOf = [0, 1].map((half) => Int32Array.from({ length: HALF }, (_, k) => half * HALF + k));
  const kms = rowsOf.map((rows) => kaplanMeierBinned(binned, undefined, rows).survival);
  const survival = new Float64Array(N * T);
  for (let i = 0; i < N; i++) survival.set(kms[curveOf[i]].subarray(1), i * T);
  const right = { N, T, survival };
  const order = Array.from({ length: N }, (_, i) => (i + HALF) % N);
  const { lines, swapped, freed } = compareSwap(right, order, binned, {}, curveOf);
  const panel = (curves: string, predicted: Curves): SwapPanel => ({
    curves,
    halves: ["high risk", "low risk"].map((name, half) => ({
      name,
      predicted: requireMeasured(meanCurve(predicted, undefined, rowsOf[half])),
      km: kms[half],
    })),
  });
  return {
    four: swapFour(),
    many: lines,
    horizon: swapBeforeHorizon(),
    panels: [panel("swapped", swapped), panel("held in cells of risk", freed)],
  };
}
