/**
 * Scores of a sweep's run on the validation rows alone. Discrimination is the paper's C-index. Calibration is every
 * group's ECE over its support, divided by the error that a perfect model stays under in 95 of 100 samples of those
 * rows; the worst group counts. That unit is the same for every distance and slack, unlike a setting's own distance.
 * Under late entry the error of a group is that of its events, √((O − E)²/V), against the same of outcomes drawn given
 * each row's entry. Test rows are not used.
 */
import { type BinnedSingleCause, requireSingleCause } from "../../data/outcomes/outcomes.ts";
import type { Curves } from "../../data/curves/curves.ts";
import type { People } from "../../data/outcomes/people.ts";
import type { Backend } from "../../compute/backend.ts";
import { absent, isAbsent, type Measured } from "../../core/measured.ts";
import { present } from "../../core/present.ts";
import { expectedCalibrationError, meanCurve, totalScore } from "../../stats/calibration/calibration.ts";
import { eventNoise } from "../../stats/calibration/event-noise.ts";
import { type NoiseGroup, simultaneousNoiseFloor } from "../../stats/calibration/noise-floor.ts";
import { concordancePaper, timeDependentPairs } from "../../stats/concordance/time-dependent.ts";
import { groupSupport, hasEnoughData, kaplanMeierBinned } from "../../stats/kaplan-meier.ts";
import { ENTERED_LATE } from "../../stats/scores/history-scores.ts";
import { pickStudyGroups, type Study } from "../../study/study.ts";
import type { Model } from "../../training/model.ts";
import { predictRows } from "../audit-model.ts";

export interface WorstGroup {
  readonly group: string;
  /** Over the group's support; null under late entry, where the error is √((O − E)²/V) of its events. */
  readonly ece: number | null;
  /** The error of a perfect model stays below this in 95 of 100 samples of these rows. */
  readonly critical: number;
  readonly ratio: number;
}

/** One run on the validation rows. */
export interface RunScores {
  readonly concordance: number | null;
  /** Of everyone, over the support. */
  readonly ece: number | null;
  readonly total: number | null;
  /** Null where no group has enough events and follow-up on the validation rows. */
  readonly worst: WorstGroup | null;
  /** p-value of the largest error of all groups together, under a model that is right for all of them. */
  readonly p: number | null;
  /** Constrained groups whose constraint is met on the training rows. */
  readonly met: number;
  readonly constrained: number;
  readonly steps: number;
}

/** Draws of the noise; the same for every run, so that settings differ only by their curves. */
export const NOISE_DRAWS = 200;
export const NOISE_SEED = 1;
const numberOf = (value: Measured): number | null => (isAbsent(value) ? null : value);

/** The group furthest from the observed, in units of what chance explains, and p of the largest error of all. */
function measureWorst(
  curves: Curves,
  binned: BinnedSingleCause,
  groups: readonly NoiseGroup[],
  people: People | undefined,
): Pick<RunScores, "worst" | "p"> {
  const options = { draws: NOISE_DRAWS, seed: NOISE_SEED, ...present({ people }) };
  let worst: WorstGroup | null = null;
  const keep = (one: WorstGroup) => {
    if (one.critical > 0 && (worst === null || one.ratio > worst.ratio)) worst = one;
  };
  const { firstBin, ...counted } = binned;
  if (firstBin !== undefined) {
    let p: number | null = null;
    eventNoise(curves, binned, groups, options).forEach((noise, g) => {
      if (isAbsent(noise)) return;
      const critical = Math.sqrt(noise.critical);
      keep({ group: groups[g].name, ece: null, critical, ratio: Math.sqrt(noise.observed) / critical });
      if (!isAbsent(noise.adjustedP)) p = Math.min(p ?? 1, noise.adjustedP);
    });
    return { worst, p };
  }
  const noise = simultaneousNoiseFloor(curves, counted, groups, options);
  for (const { name, floor } of noise.groups) {
    const measured = isAbsent(floor) ? floor : floor.metrics.ece;
    if (isAbsent(measured)) continue;
    const { observed: ece, critical } = measured;
    keep({ group: name, ece, critical, ratio: ece / critical });
  }
  return { worst, p: numberOf(noise.p) };
}

/** Scores a trained model on the validation rows, with the noise that a perfect model would show there. */
export async function scoreRun(
  study: Study & { readonly model: Model },
  backend: Backend | null,
): Promise<RunScores> {
  const { validation: valid } = study.split;
  const { curves, people, ...predicted } = await predictRows(study, valid, backend);
  const binned = requireSingleCause(predicted.binned, "a sweep");
  const groups = pickStudyGroups(study, valid).filter(({ rows }) => {
    const events = rows.reduce((sum, k) => sum + binned.event[k], 0);
    return hasEnoughData(events, groupSupport(binned, { rows }), curves.T);
  });
  const { worst, p } = measureWorst(curves, binned, groups, people);
  const concordance = concordancePaper(timeDependentPairs(curves, binned));
  const mean = meanCurve(curves, binned.weight);
  const error = isAbsent(mean)
    ? mean
    : binned.firstBin !== undefined
      ? absent(ENTERED_LATE)
      : expectedCalibrationError(mean, kaplanMeierBinned(binned).survival, { bins: groupSupport(binned) });
  const ece = isAbsent(error) ? error : error.ece;
  return {
    concordance: numberOf(concordance),
    ece: numberOf(ece),
    total: numberOf(totalScore(concordance, ece)),
    worst,
    p,
    ...countConstraints(study.model),
  };
}

/** What the training rows say of the constraints, and how long it took. */
export function countConstraints({
  training: { verdict, steps },
}: Model): Pick<RunScores, "met" | "constrained" | "steps"> {
  return {
    met: verdict.filter(({ status }) => status === "met").length,
    constrained: verdict.filter(({ status }) => status !== "unsupported").length,
    steps,
  };
}
