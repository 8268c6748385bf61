/**
 * What audits share, whatever the outcomes: the defaults, and how noise floor, intervals, agreement and bound are
 * added to the scores of a group. A value that cannot be given is null, with its reason in `absent`.
 */
import { isAbsent, type Measured } from "../core/measured.ts";
import type { Curves } from "../data/curves/curves.ts";
import type { BinnedSingleCause } from "../data/outcomes/outcomes.ts";
import { canBeJudged, type GroupAgreement, type Judged } from "../stats/calibration/agreement.ts";
import { type CellNoise, drawNoise } from "../stats/calibration/draw-noise.ts";
import { drawnTable } from "../stats/calibration/drawn-outcomes.ts";
import type { MetricNoise, NoiseFloorOptions } from "../stats/calibration/noise-floor.ts";
import { type BootstrapOptions, bootstrapScores, type GroupBootstrap } from "../stats/scores/bootstrap.ts";
import type { PreparedScores } from "../stats/scores/prepared-scores.ts";
import type { EceNoise, Scores } from "../stats/scores/scores.ts";

/** The name of everyone together. */
export const EVERYONE = "all";
/** The probability that any of the bounds fails. */
export const BOUND_ALPHA = 0.05;
/** Seed of draws and replicates unless another is given. */
export const DEFAULT_SEED = 1;
export { DEFAULT_DRAWS } from "../stats/calibration/noise-floor.ts";

/** What may be said of a group (or of one cause in it), and how far off it could be. */
export function addAgreement<One extends Judged & Pick<Scores, "absent">>(
  scores: One,
  { agreement, logrankAdjustedP, reason }: GroupAgreement,
  unbounded: string | undefined,
  bound: Measured,
) {
  const why = unbounded ?? (isAbsent(bound) ? bound.absent : null);
  const isUnadjusted = logrankAdjustedP === null && scores.logrankIndividual.p !== null;
  const isNotCounted = scores.departure !== null && scores.departure.adjustedP === null;
  return {
    ...scores,
    logrankIndividual: { ...scores.logrankIndividual, adjustedP: logrankAdjustedP },
    agreement,
    bound: why !== null || isAbsent(bound) ? null : bound,
    absent: {
      ...scores.absent,
      ...(isUnadjusted ? { "logrankIndividual.adjustedP": reason } : {}),
      ...(isNotCounted ? { "departure.adjustedP": reason } : {}),
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

/** Draws outcomes of a perfect model for all groups together, and adds what the observed is among them. */
export function drawForScores(
  curves: Curves,
  outcomes: BinnedSingleCause,
  audited: readonly { readonly rows: Int32Array }[],
  scores: readonly Scores[],
  options: NoiseFloorOptions,
): readonly Scores[] {
  const judged = scores.map((one) => [canBeJudged(one, curves.T)]);
  const rows = audited.map((one) => one.rows);
  const noise = drawNoise(drawnTable(curves, outcomes), rows, { ...options, judged });
  return scores.map((one, g) => addNoise(one, noise[g][0]));
}

const among = (adjusted: Measured) => (isAbsent(adjusted) ? null : adjusted);

/** A calibration error beside what a perfect model shows. */
function eceNoise(noise: Measured<MetricNoise>, adjustedP: Measured): EceNoise | null {
  if (isAbsent(noise)) return null;
  const { floor: ece, critical: eceCritical, p } = noise;
  return { ece, eceCritical, p, adjustedP: among(adjustedP) };
}

/** What of a group, or of a cause in a group, is known from its draws alone. */
export function noiseOf({ ece, eceAdjustedP, departure }: CellNoise) {
  const absentReasons = {
    ...(isAbsent(ece) ? { noiseFloor: ece.absent } : {}),
    ...(isAbsent(departure) ? { departure: departure.absent } : {}),
  };
  return {
    noiseFloor: eceNoise(ece, eceAdjustedP),
    departure: isAbsent(departure) ? null : departure,
    absentReasons,
  };
}

/** A group's scores with what a perfect model would show. */
function addNoise(scores: Scores, cell: CellNoise): Scores {
  const { absentReasons, ...drawn } = noiseOf(cell);
  const paper = eceNoise(cell.paperEce, cell.paperEceAdjustedP);
  const { atRisk } = scores;
  const { events, eventsAdjustedP } = cell;
  return {
    ...scores,
    ...drawn,
    ...(paper === null ? {} : { paper: { ...scores.paper, noiseFloor: paper } }),
    ...(atRisk === undefined || isAbsent(events)
      ? {}
      : {
          atRisk: {
            ...atRisk,
            noiseFloor: {
              chi2: events.floor,
              critical: events.critical,
              p: events.p,
              adjustedP: among(eventsAdjustedP),
            },
          },
        }),
    absent: { ...absentReasons, ...scores.absent },
  };
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
