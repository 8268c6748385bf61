/**
 * How right a model of several causes is for the groups that a person may belong to: for each cause the mean predicted
 * incidence beside the Aalen-Johansen curve of rows that the model has not seen, at the last time by which ten of the
 * group are still at risk, with the standard error of the observed; and a bound on how far the mean curve can be from
 * the truth, that of an audit of the same rows.
 */
import type { Backend } from "../../compute/backend.ts";
import { InputError } from "../../core/errors.ts";
import { absent, isAbsent, type Measured } from "../../core/measured.ts";
import { present } from "../../core/present.ts";
import { ALL_GROUP } from "../../data/groups/groups.ts";
import { boundCauses } from "../../stats/causes/cause-bounds.ts";
import { calibrateIncidence } from "../../stats/causes/cause-calibration.ts";
import { BOUND_ALPHA, DEFAULT_SEED } from "../audit-parts.ts";
import { predictCauseRows } from "../causes/audit-cause-model.ts";
import type { ModelStudy } from "../model-study.ts";

/** Mean prediction and observation of one cause by one time. */
export interface CauseGap {
  readonly time: number;
  readonly predicted: number;
  readonly observed: number;
  /** The standard error of the observed. */
  readonly error: number;
}

/** One group, cause by cause. */
export interface JudgedCauses {
  readonly name: string;
  readonly expression: string;
  readonly n: number;
  /** In the model's order. */
  readonly causes: readonly {
    readonly name: string;
    readonly events: number;
    readonly gap: Measured<CauseGap>;
    /** The r.m.s. distance over time stays below, for all groups and causes together. */
    readonly bound: Measured;
  }[];
}

/** Everyone and the study's groups on some of its rows, everyone first. */
export async function judgeCauseGroups(
  study: ModelStudy,
  rows: Int32Array,
  backend: Backend | null,
): Promise<readonly JudgedCauses[]> {
  const { grid } = study;
  const { outcomes, binned, curves, groups, people } = await predictCauseRows(study, rows, backend);
  const { cause } = outcomes;
  if (cause === undefined) {
    throw new InputError("the table does not say of which cause an event is", { code: "cause.value" });
  }
  const incidences = curves.causes.map((_, k) => takeCause(curves.incidence, k, curves.K, grid.T));
  const named = groups.flatMap(({ name, expression, rows: own }) =>
    expression === undefined ? [] : [{ name, expression, rows: own }],
  );
  const judged = [{ ...ALL_GROUP, rows: Int32Array.from(rows.keys()) }, ...named];
  const bounds = boundCauses(curves, binned, judged, {
    alpha: BOUND_ALPHA,
    seed: DEFAULT_SEED,
    ...present({ people }),
  });
  const times = grid.edges.subarray(1);
  return judged.map(({ name, expression, rows: own }, g) => ({
    name,
    expression,
    n: own.length,
    causes: curves.causes.map((ofCause, k) => {
      const input = { outcomes: { ...outcomes, cause }, cause: k + 1, times, incidence: incidences[k] };
      return {
        name: ofCause,
        events: own.reduce((sum, row) => sum + (cause[row] === k + 1 ? 1 : 0), 0),
        gap: readGap(calibrateIncidence(input, own), times),
        bound: bounds.causes[k][g],
      };
    }),
  }));
}

function readGap(
  calibration: ReturnType<typeof calibrateIncidence>,
  times: Float64Array,
): Measured<CauseGap> {
  if (isAbsent(calibration)) return calibration;
  const { supportedBins: t, predicted, observed, variance } = calibration;
  if (t === 0) return absent("fewer than ten of them are followed to the end of a time bin");
  return {
    time: times[t - 1],
    predicted: predicted[t],
    observed: observed[t],
    error: Math.sqrt(variance[t]),
  };
}

/** The curves [N,T] of cause k. */
function takeCause(all: Float64Array, k: number, K: number, T: number): Float64Array {
  const own = new Float64Array(all.length / K);
  for (let i = 0; i < own.length / T; i++) own.set(all.subarray((i * K + k) * T, (i * K + k + 1) * T), i * T);
  return own;
}
