/**
 * Discrimination against calibration (paper, §Practical implications): three people whose true curves are known. A
 * model that ranks them correctly and gives everyone a hazard four times too small has a perfect C-index; one that
 * gives everyone the mean curve, or exchanges the first and the last, has the right mean and no order or the wrong one.
 * The paper's figure has no numbers: these hazards are ours.
 */
import type { BinnedRightCensored, Curves } from "graduate-survival/data";
import {
  concordanceHalfTies,
  concordancePaper,
  expectedCalibrationError,
  kaplanMeierBinned,
  meanCurve,
  timeDependentPairs,
  totalScore,
} from "graduate-survival/stats";
import { requireMeasured } from "./people.ts";

export interface LevelLine {
  readonly curves: string;
  readonly concordance: number;
  readonly concordanceHalfTies: number;
  /** Against the mean of the true curves. */
  readonly eceOfTruth: number;
  /** Against Kaplan-Meier of the three deaths. */
  readonly eceOfDeaths: number;
  readonly totalScore: number;
  /** S(t), t = 0…T, person by person. */
  readonly survival: readonly Float64Array[];
}

export interface LevelExample {
  readonly T: number;
  /** S(t), t = 0…T, person by person. */
  readonly truth: readonly Float64Array[];
  /** When each of them dies: the first bin with a true survival of at most one half. */
  readonly deaths: readonly number[];
  readonly lines: readonly LevelLine[];
}

const T = 10;
/** True hazards per bin. */
const HAZARDS = [0.35, 0.15, 0.08];
/** How many times too small the overconfident model's hazards are. */
const TOO_SMALL = 4;

function constantHazard(hazard: number): Float64Array {
  return Float64Array.from({ length: T + 1 }, (_, t) => (1 - hazard) ** t);
}

function meanOf(people: readonly Float64Array[]): Float64Array {
  return Float64Array.from({ length: T + 1 }, (_, t) => {
    return people.reduce((sum, survival) => sum + survival[t], 0) / people.length;
  });
}

export function computeLevel(): LevelExample {
  const truth = HAZARDS.map(constantHazard);
  const deaths = truth.map((survival) => survival.findIndex((S) => S <= 0.5));
  const binned: BinnedRightCensored = {
    T,
    bin: Int32Array.from(deaths),
    event: Uint8Array.from(deaths, () => 1),
  };
  const km = kaplanMeierBinned(binned).survival;
  const average = meanOf(truth);
  const describe = (curves: string, survival: readonly Float64Array[]): LevelLine => {
    const rows = survival.flatMap((one) => [...one.subarray(1)]);
    const predicted: Curves = { N: survival.length, T, survival: Float64Array.from(rows) };
    const pairs = timeDependentPairs(predicted, binned);
    const mean = requireMeasured(meanCurve(predicted));
    const concordance = requireMeasured(concordancePaper(pairs));
    const eceOfTruth = requireMeasured(expectedCalibrationError(mean, average)).ece;
    return {
      curves,
      concordance,
      concordanceHalfTies: requireMeasured(concordanceHalfTies(pairs)),
      eceOfTruth,
      eceOfDeaths: requireMeasured(expectedCalibrationError(mean, km)).ece,
      totalScore: requireMeasured(totalScore(concordance, eceOfTruth)),
      survival,
    };
  };
  return {
    T,
    truth,
    deaths,
    lines: [
      describe("the true curves", truth),
      describe(
        "right order, wrong level",
        HAZARDS.map((hazard) => constantHazard(hazard / TOO_SMALL)),
      ),
      describe("right level, wrong order", [...truth].reverse()),
      describe("right level, no order", [average, average, average]),
    ],
  };
}
