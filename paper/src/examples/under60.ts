/**
 * The paper's illustration of multicalibration (§Practical implications) as a simulation: 99 % of people are under 60
 * and survive the month, 1 % are older and survive it with probability .01; the model predicts the survival of the
 * whole population, .9901 at the end of the month, for everybody. Deaths of the older are spread over the month by a
 * constant hazard (the paper speaks only of its end). One sample is for the constraints, another for the audits; both
 * are drawn by seed.
 */

import type { AuditTable } from "graduate-survival";
import { createRandom } from "graduate-survival/core";
import type { BinnedRightCensored, Curves } from "graduate-survival/data";
import { type NamedRows, prepareConstraints } from "graduate-survival/objectives";
import { kaplanMeierBinned } from "graduate-survival/stats";
import { auditCurves } from "../runs/fit.ts";
import { type CellDistance, descendFreely, type FreeLoss, measureConstraint } from "./descent.ts";
import { everyone } from "./people.ts";

export interface Under60Options {
  readonly seed?: number;
  readonly people?: number;
}

export interface Under60Step {
  readonly curves: string;
  /** Predicted survival at the end of the month, under 60 and older. */
  readonly predicted: readonly number[];
  /** l2 of everyone and of each age group, on the sample that the constraints see. */
  readonly distances: readonly CellDistance[];
  /** On the other sample. */
  readonly audit: AuditTable;
  /** S(t), t = 0…T, of each age group. */
  readonly survival: readonly Float64Array[];
}

export interface Under60Example {
  readonly seed: number;
  readonly T: number;
  readonly groups: readonly { readonly name: string; readonly n: number; readonly km: Float64Array }[];
  /** True survival at the end of the month: under 60, older, and of everyone. */
  readonly truth: readonly number[];
  readonly steps: readonly Under60Step[];
  /** What the default preset says of each age group: held, or only reported and why. */
  readonly reasons: readonly (string | null)[];
  /**
   * Half of the largest difference between the two Kaplan-Meier curves: the least error of any single curve in one of
   * them.
   */
  readonly leastMiss: number;
}

/** Bins of three days each. */
const T = 10;
const OLDER_SHARE = 0.01;
const OLDER_SURVIVAL = 0.01;
const PEOPLE = 5000;
/** Sizes and steps were settled on seeds 1 and 2; the page uses other seeds. */
const SEED = 11;
/** The hazard of the old has to rise from a thousandth and settle; that of the young may fall without limit. */
const STEPS = 300;
/** Below the smallest predicted hazard. */
const MARGIN = 1e-6;

/** Nobody under 60 dies; the older die at a constant hazard; whoever is left is censored when the month ends. */
function drawPeople(N: number, older: number, seed: number): BinnedRightCensored {
  const random = createRandom(seed);
  const bin = new Int32Array(N).fill(T);
  const event = new Uint8Array(N);
  const hazard = 1 - OLDER_SURVIVAL ** (1 / T);
  for (let i = N - older; i < N; i++) {
    for (let t = 1; t <= T && event[i] === 0; t++) {
      if (random.uniform() >= hazard) continue;
      bin[i] = t;
      event[i] = 1;
    }
  }
  return { T, bin, event };
}

export async function computeUnder60(options: Under60Options = {}): Promise<Under60Example> {
  const { seed = SEED, people: N = PEOPLE } = options;
  const older = Math.round(N * OLDER_SHARE);
  const rows = (from: number, to: number) => Int32Array.from({ length: to - from }, (_, k) => from + k);
  const ages: readonly NamedRows[] = [
    { name: "under 60", rows: rows(0, N - older) },
    { name: "60 and older", rows: rows(N - older, N) },
  ];
  const [seen, fresh] = [drawPeople(N, older, seed), drawPeople(N, older, seed + 1)];
  const curveOf = Int32Array.from({ length: N }, (_, i) => (i < N - older ? 0 : 1));
  const population = Float64Array.from({ length: T }, (_, t) => {
    return 1 - OLDER_SHARE + OLDER_SHARE * OLDER_SURVIVAL ** ((t + 1) / T);
  });
  const survival = new Float64Array(N * T);
  for (let i = 0; i < N; i++) survival.set(population, i * T);
  const start: Curves = { N, T, survival };
  const descend = (loss: FreeLoss, groups: readonly NamedRows[]) =>
    descendFreely({
      start,
      binned: seen,
      loss,
      constraint: { groups },
      curveOf,
      steps: STEPS,
      margin: MARGIN,
    });
  const describe = async (curves: string, predicted: Curves): Promise<Under60Step> => ({
    curves,
    predicted: [0, N - 1].map((row) => predicted.survival[row * T + T - 1]),
    distances: measureConstraint(predicted, seen, { groups: [everyone(N), ...ages] }),
    audit: await auditCurves(predicted, fresh, ages, { seed }),
    survival: [0, N - 1].map((row) =>
      Float64Array.of(1, ...predicted.survival.subarray(row * T, (row + 1) * T)),
    ),
  });
  const kms = ages.map((group) => kaplanMeierBinned(seen, undefined, group.rows).survival);
  const held = prepareConstraints({ binned: seen, groups: ages, distance: "l2", variant: "default" });
  return {
    seed,
    T,
    groups: ages.map((group, g) => ({ name: group.name, n: group.rows.length, km: kms[g] })),
    truth: [1, OLDER_SURVIVAL, population[T - 1]],
    steps: [
      await describe("one curve for everybody", start),
      await describe("held to everybody's Kaplan-Meier", descend("none", [everyone(N)])),
      await describe("likelihood, held to both age groups' Kaplan-Meier", descend("likelihood", ages)),
    ],
    reasons: held.groups.map(({ reason }) => reason),
    leastMiss: Math.max(...Array.from(kms[0], (S, t) => Math.abs(S - kms[1][t]))) / 2,
  };
}
