/**
 * Scores of a sweep's run on the validation rows where causes compete. Discrimination is the mean over causes of
 * Wolbers' concordance, the error of everyone the mean of their gaps to Aalen-Johansen. The worst group is sought among
 * groups and causes together, in units of what a perfect model stays under in 95 of 100 samples, as for one kind of
 * event; groups with too few events of a cause are left out for that cause. Under late entry only √((O − E)²/V) of a
 * cause's events is defined: causes are then judged one by one, and p is Bonferroni's over them.
 */
import type { Backend } from "../../compute/backend.ts";
import { isAbsent } from "../../core/measured.ts";
import { present } from "../../core/present.ts";
import { hazardsByCause } from "../../data/curves/cause-curves.ts";
import { nameCell } from "../../objectives/causes/cause-rows.ts";
import { eventNoise } from "../../stats/calibration/event-noise.ts";
import type { NoiseGroup } from "../../stats/calibration/noise-floor.ts";
import { totalScore } from "../../stats/calibration/calibration.ts";
import { matchCauses, supportOfCauses } from "../../stats/causes/binned-causes.ts";
import { causeNoiseFloor } from "../../stats/causes/cause-noise-floor.ts";
import { scoreCauses } from "../../stats/causes/score-cause.ts";
import { hasEnoughData } from "../../stats/kaplan-meier.ts";
import { pickStudyGroups, type Study } from "../../study/study.ts";
import type { Model } from "../../training/model.ts";
import { predictCauseRows, type PredictedCauseRows } from "../causes/audit-cause-model.ts";
import { isolateCause } from "../causes/cause-alone.ts";
import { countConstraints, NOISE_DRAWS, NOISE_SEED, type RunScores, type WorstGroup } from "./scores.ts";

/** Groups with their members, and which causes each is judged for. */
interface JudgedGroup extends NoiseGroup {
  readonly rows: Int32Array;
  readonly judged: readonly boolean[]; // [K]
}

/** Scores a model of several causes on the validation rows. */
export async function scoreCauseRun(
  study: Study & { readonly model: Model },
  backend: Backend | null,
): Promise<RunScores> {
  const { validation: valid } = study.split;
  const predicted = await predictCauseRows(study, valid, backend);
  const { curves, binned } = predicted;
  const outcomes = matchCauses(curves, binned);
  const scoring = { curves, outcomes, hazards: hazardsByCause(curves), bins: [] };
  const everyone = scoreCauses("all", scoring, Int32Array.from(valid.keys()));
  const groups = pickStudyGroups(study, valid).map(({ name, rows }): JudgedGroup => {
    const bins = supportOfCauses(outcomes, rows);
    const judged = curves.causes.map((_, k) => {
      const events = rows.reduce((sum, row) => sum + (outcomes.cause[row] === k + 1 ? 1 : 0), 0);
      return hasEnoughData(events, bins, curves.T);
    });
    return { name, rows, judged };
  });
  const some = groups.filter(({ judged }) => judged.includes(true));
  const concordance = meanOf(everyone.map((one) => one.concordance));
  const ece = meanOf(everyone.map((one) => one.ece));
  const total = concordance === null || ece === null ? null : totalScore(concordance, ece);
  return {
    concordance,
    ece,
    total: total === null || isAbsent(total) ? null : total,
    ...(outcomes.firstBin === undefined ? measureCells(predicted, some) : measureEvents(predicted, some)),
    ...countConstraints(study.model),
  };
}

/** The group and cause furthest from Aalen-Johansen in units of chance, and p of the largest error of all. */
function measureCells(
  { curves, binned, people }: PredictedCauseRows,
  groups: readonly JudgedGroup[],
): Pick<RunScores, "worst" | "p"> {
  const options = { draws: NOISE_DRAWS, seed: NOISE_SEED, ...present({ people }) };
  const { causes } = causeNoiseFloor(curves, binned, groups, options);
  let worst: WorstGroup | null = null;
  let p: number | null = null;
  causes.forEach((own, k) => {
    own.forEach(({ noise, adjustedP }, g) => {
      if (!groups[g].judged[k] || isAbsent(noise)) return;
      const { observed: ece, critical } = noise;
      const group = nameCell(groups[g].name, curves.causes[k]);
      worst = worseOf(worst, { group, ece, critical, ratio: ece / critical });
      if (!isAbsent(adjustedP)) p = Math.min(p ?? 1, adjustedP);
    });
  });
  return { worst, p };
}

/** The same of events, observed and expected while at risk. */
function measureEvents(
  { curves, binned, people }: PredictedCauseRows,
  groups: readonly JudgedGroup[],
): Pick<RunScores, "worst" | "p"> {
  const options = { draws: NOISE_DRAWS, seed: NOISE_SEED, ...present({ people }) };
  let worst: WorstGroup | null = null;
  const smallest: number[] = [];
  curves.causes.forEach((cause, k) => {
    const own = groups.filter(({ judged }) => judged[k]);
    const alone = isolateCause(curves, binned, k);
    let p: number | null = null;
    eventNoise(alone.curves, alone.binned, own, options).forEach((noise, g) => {
      if (isAbsent(noise)) return;
      const critical = Math.sqrt(noise.critical);
      const ratio = Math.sqrt(noise.observed) / critical;
      worst = worseOf(worst, { group: nameCell(own[g].name, cause), ece: null, critical, ratio });
      if (!isAbsent(noise.adjustedP)) p = Math.min(p ?? 1, noise.adjustedP);
    });
    if (p !== null) smallest.push(p);
  });
  return { worst, p: smallest.length === 0 ? null : Math.min(1, smallest.length * Math.min(...smallest)) };
}

/** A critical value of 0 measures nothing. */
function worseOf(worst: WorstGroup | null, one: WorstGroup): WorstGroup | null {
  return one.critical > 0 && (worst === null || one.ratio > worst.ratio) ? one : worst;
}

/** Null where any cause has none. */
function meanOf(values: readonly (number | null)[]): number | null {
  const found = values.filter((value) => value !== null);
  if (found.length < values.length || found.length === 0) return null;
  return found.reduce((sum, value) => sum + value, 0) / found.length;
}
