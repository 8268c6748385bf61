/**
 * How right a model of several causes is for the groups that a person may belong to: for each cause the mean predicted
 * incidence beside the Aalen-Johansen curve of rows that the model has not seen, at the last time by which ten of the
 * group are still at risk, with the standard error of the observed. A certificate bounds one kind of event, so there is
 * none here.
 */
import type { Backend } from "../../compute/backend.ts";
import { InputError } from "../../core/errors.ts";
import { absent, isAbsent, type Measured } from "../../core/measured.ts";
import { ALL_GROUP } from "../../data/groups/groups.ts";
import { calibrateIncidence } from "../../stats/causes/cause-calibration.ts";
import { placesAmong } from "../../study/members.ts";
import { pickStudyRows } from "../../study/study.ts";
import type { ModelStudy } from "../model-study.ts";
import { predictStudyCauses } from "../predict.ts";

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
  }[];
}

/** Everyone and the study's groups on some of its rows, everyone first. */
export async function judgeCauseGroups(
  study: ModelStudy,
  rows: Int32Array,
  backend: Backend | null,
): Promise<readonly JudgedCauses[]> {
  const { model, grid } = study;
  const names = model.causes ?? [];
  const { outcomes } = pickStudyRows(study, rows);
  const { cause } = outcomes;
  if (cause === undefined) {
    throw new InputError("the table does not say of which cause an event is", { code: "cause.value" });
  }
  const all = await predictStudyCauses(study, rows, backend);
  const incidences = names.map((_, k) => takeCause(all, k, names.length, grid.T));
  const named = placesAmong(study.groups, rows).flatMap(({ name, expression, rows: own }) =>
    expression === undefined || expression === ALL_GROUP.expression ? [] : [{ name, expression, own }],
  );
  const everyone = { ...ALL_GROUP, own: Int32Array.from(rows.keys()) };
  const times = grid.edges.subarray(1);
  return [everyone, ...named].map(({ name, expression, own }) => ({
    name,
    expression,
    n: own.length,
    causes: names.map((ofCause, k) => {
      const input = { outcomes: { ...outcomes, cause }, cause: k + 1, times, incidence: incidences[k] };
      return {
        name: ofCause,
        events: own.reduce((sum, row) => sum + (cause[row] === k + 1 ? 1 : 0), 0),
        gap: readGap(calibrateIncidence(input, own), times),
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
