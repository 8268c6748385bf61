/**
 * The scores of predicted incidences on resampled rows, cause by cause, for a comparison of methods: everyone's
 * concordance, calibration error, integrated Brier score and error of the expected events, |E/O − 1|, and the
 * calibration error of every group. A resample is the rows as often as they were drawn, so its scores are those of
 * score-cause.ts on rows that are repeated. Undefined is NaN here; it stays inside a comparison, which counts it.
 */
import { isAbsent, type Measured } from "../../core/measured.ts";
import { type CauseCurves, hazardsByCause } from "../../data/curves/cause-curves.ts";
import { pickBinned } from "../../data/outcomes/outcomes.ts";
import type { People } from "../../data/outcomes/people.ts";
import { expectedCalibrationError } from "../calibration/calibration.ts";
import { bootstrapWeights } from "../scores/bootstrap.ts";
import type { CausesInput } from "./aalen-johansen.ts";
import {
  type BinnedCauses,
  incidenceOf,
  meanIncidence,
  supportOfCauses,
  tallyCauses,
} from "./binned-causes.ts";
import { scoreIncidence } from "./cause-scores.ts";
import { brierOfCause, lastUncensored } from "./score-cause.ts";

/** Everyone's scores of one cause in every resample, and the calibration errors of groups. */
export interface CauseResamples {
  readonly concordance: Float64Array; // [R]
  readonly ece: Float64Array; // [R]
  readonly ibs: Float64Array; // [R]
  /** |E/O − 1|, expected events while at risk over those observed. */
  readonly eventError: Float64Array; // [R]
  /** In the order in which the groups were given. */
  readonly groupEce: readonly Float64Array[]; // [G][R]
}

/** What is resampled, how often, and by whom. */
export interface CauseResampling {
  readonly replicates: number;
  readonly seed: number;
  /** Without it every row is a person of its own. */
  readonly people?: People;
  /** The groups whose calibration errors are drawn, by their rows. */
  readonly groups: readonly ArrayLike<number>[]; // [G]
}

/** Draw by draw: yields after each of them, so that a caller can show progress or stop. */
export function* resampleCauses(
  curves: CauseCurves,
  outcomes: BinnedCauses,
  { replicates, seed, people, groups }: CauseResampling,
): Generator<number, readonly CauseResamples[]> {
  const { N } = curves;
  const events = eventsByRow(curves, outcomes);
  const empty = () => new Float64Array(replicates).fill(Number.NaN);
  const drawn = events.map(() => ({
    concordance: empty(),
    ece: empty(),
    ibs: empty(),
    eventError: empty(),
    groupEce: groups.map(empty),
  }));
  const everyone = Int32Array.from({ length: N }, (_, row) => row);
  for (let r = 0; r < replicates; r++) {
    const counts = bootstrapWeights(N, seed, r, people);
    const rows = repeatRows(everyone, counts);
    const errors = calibrationErrors(curves, outcomes, rows);
    const ofGroups = groups.map((members) =>
      calibrationErrors(curves, outcomes, repeatRows(members, counts)),
    );
    drawn.forEach((own, k) => {
      own.ece[r] = errors[k];
      own.concordance[r] = concordanceOf(curves, outcomes, k + 1, rows);
      own.ibs[r] = ibsOf(curves, outcomes, k + 1, rows);
      own.eventError[r] = eventError(events[k], rows);
      own.groupEce.forEach((values, g) => {
        values[r] = ofGroups[g][k];
      });
    });
    yield r + 1;
  }
  return drawn;
}

/** The rows, each as often as it was drawn. */
function repeatRows(rows: ArrayLike<number>, counts: ArrayLike<number>): Int32Array {
  let total = 0;
  for (let i = 0; i < rows.length; i++) total += counts[rows[i]];
  const repeated = new Int32Array(total);
  let at = 0;
  for (let i = 0; i < rows.length; i++) for (let c = counts[rows[i]]; c > 0; c--) repeated[at++] = rows[i];
  return repeated;
}

/** Of every cause; the gap to Aalen-Johansen needs everyone from the start. */
function calibrationErrors(curves: CauseCurves, outcomes: BinnedCauses, rows: Int32Array): number[] {
  const { K } = curves;
  if (outcomes.firstBin !== undefined || rows.length === 0) return Array<number>(K).fill(Number.NaN);
  const { incidence } = incidenceOf(tallyCauses(outcomes, K, rows));
  const bins = supportOfCauses(outcomes, rows);
  return incidence.map((observed, k) => {
    const mean = meanIncidence(curves, k + 1, rows, outcomes.weight);
    if (isAbsent(mean)) return Number.NaN;
    const error = expectedCalibrationError(mean, observed, { bins });
    return isAbsent(error) ? Number.NaN : error.ece;
  });
}

function ibsOf(curves: CauseCurves, outcomes: BinnedCauses, cause: number, rows: Int32Array): number {
  if (outcomes.firstBin !== undefined) return Number.NaN;
  const brier = brierOfCause(curves, outcomes, cause, rows);
  return isAbsent(brier) ? Number.NaN : brier.ibs;
}

/** Wolbers', at the last supported bin before all are censored, both of these rows. */
function concordanceOf(curves: CauseCurves, outcomes: BinnedCauses, cause: number, rows: Int32Array): number {
  if (outcomes.firstBin !== undefined) return Number.NaN;
  const { K, T, incidence } = curves;
  const picked = pickBinned(outcomes, rows);
  const last = lastUncensored(picked, supportOfCauses(outcomes, rows));
  if (last === 0) return Number.NaN;
  const values = Float64Array.from(rows, (row) => incidence[(row * K + cause - 1) * T + last - 1]);
  const { bin: time, event, cause: own, weight } = picked;
  const input = { time, event, cause: own, ...(weight && { weight }) } as CausesInput;
  const scores = scoreIncidence({ outcomes: input, cause, times: [last], incidence: values });
  return isAbsent(scores) ? Number.NaN : numberOf(scores.concordance[0]);
}

/** Events of one cause by row, observed and expected, times what the row weighs. */
interface EventsByRow {
  readonly observed: Float64Array; // [N]
  readonly expected: Float64Array; // [N]
}

/** As logrankOfCause sums them up: over the bins in which each row is at risk. */
function eventsByRow(curves: CauseCurves, outcomes: BinnedCauses): readonly EventsByRow[] {
  const { N, T } = curves;
  const { bin, firstBin, cause, weight } = outcomes;
  return hazardsByCause(curves).map((hazard, k) => {
    const observed = new Float64Array(N);
    const expected = new Float64Array(N);
    for (let i = 0; i < N; i++) {
      const first = firstBin?.[i] ?? 1;
      if (first > bin[i]) continue;
      const w = weight?.[i] ?? 1;
      let sum = 0;
      for (let t = first; t <= bin[i]; t++) sum += hazard[i * T + t - 1];
      expected[i] = w * sum;
      observed[i] = cause[i] === k + 1 ? w : 0;
    }
    return { observed, expected };
  });
}

function eventError({ observed, expected }: EventsByRow, rows: Int32Array): number {
  let [O, E] = [0, 0];
  for (const row of rows) {
    O += observed[row];
    E += expected[row];
  }
  return O > 0 ? Math.abs(E / O - 1) : Number.NaN;
}

const numberOf = (value: Measured): number => (isAbsent(value) ? Number.NaN : value);
