/**
 * What audits share, whatever the outcomes: the defaults, and how noise floor, intervals, agreement and bound are added
 * to the scores of a group. A value that cannot be given is null, with its reason in `absent`.
 */
import { isAbsent, type Measured } from "../core/measured.ts";
import type { GroupAgreement } from "../stats/calibration/agreement.ts";
import type { GroupNoiseFloor } from "../stats/calibration/noise-floor.ts";
import { type BootstrapOptions, bootstrapScores, type GroupBootstrap } from "../stats/scores/bootstrap.ts";
import type { PreparedScores } from "../stats/scores/prepared-scores.ts";
import type { Scores } from "../stats/scores/scores.ts";
import type { AuditedScores } from "./audit.ts";

/** The name of everyone together. */
export const EVERYONE = "all";
/** The probability that any of the bounds fails. */
export const BOUND_ALPHA = 0.05;
/** Seed of draws and replicates unless another is given. */
export const DEFAULT_SEED = 1;
/** Draws of the noise floor unless others are asked for. */
export const DEFAULT_DRAWS = 200;

/** What may be said of a group, and how far off it could be. */
export function addAgreement(
  scores: Scores,
  { agreement, logrankAdjustedP, reason }: GroupAgreement,
  unbounded: string | undefined,
  bound: Measured,
): AuditedScores {
  const why = unbounded ?? (isAbsent(bound) ? bound.absent : null);
  const isUnadjusted = logrankAdjustedP === null && scores.logrankIndividual.p !== null;
  const { absent, ...plain } = scores;
  return {
    ...plain,
    logrankIndividual: { ...scores.logrankIndividual, adjustedP: logrankAdjustedP },
    agreement,
    bound: why !== null || isAbsent(bound) ? null : bound,
    absent: {
      ...absent,
      ...(isUnadjusted ? { "logrankIndividual.adjustedP": reason } : {}),
      ...(why === null ? {} : { bound: why }),
    },
  };
}

/** One replicate after the other in this thread. */
export async function bootstrapHere(groups: readonly PreparedScores[], options: BootstrapOptions) {
  const steps = bootstrapScores(groups, options);
  let step = steps.next();
  while (!step.done) step = steps.next();
  return step.value;
}

/** A group's scores with the error of a perfect model. */
export function addNoiseFloor(scores: Scores, { floor, adjustedP, paper }: GroupNoiseFloor): Scores {
  const among = (adjusted: Measured) => (isAbsent(adjusted) ? null : adjusted);
  const { noise } = paper;
  const carried = isAbsent(noise)
    ? {}
    : {
        noiseFloor: {
          ece: noise.floor,
          eceCritical: noise.critical,
          p: noise.p,
          adjustedP: among(paper.adjustedP),
        },
      };
  const scored = { ...scores, paper: { ...scores.paper, ...carried } };
  if (isAbsent(floor)) return { ...scored, absent: { ...scores.absent, noiseFloor: floor.absent } };
  const { ece, eceCritical, p } = floor;
  return { ...scored, noiseFloor: { ece, eceCritical, p, adjustedP: among(adjustedP) } };
}

/** A group's scores with bootstrap intervals. */
export function addIntervals(scores: Scores, result: GroupBootstrap): Scores {
  const reasons = Object.entries(result.absent).map(([path, reason]) => [`intervals.${path}`, reason]);
  return {
    ...scores,
    intervals: result.intervals,
    absent: { ...scores.absent, ...Object.fromEntries(reasons) },
  };
}
