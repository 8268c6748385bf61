/**
 * Cumulative incidences from cause-specific Cox models, one for each cause, each fitted with the events of the others
 * censored: F_k(t|x) = Σ_{s≤t} S(s−|x) dH_k(s|x) over the event times of all causes, S(s|x) = Π (1 − Σ_k dH_k(s|x)),
 * the product limit that R's riskRegression::CSC predicts by. Where somebody's hazards at one time sum to more than 1,
 * all that is left of S is shared among the causes in their proportion.
 */
import { countAtMost, keepDistinct } from "../../core/ascending.ts";
import { exp } from "../../core/elementary.ts";
import { InputError } from "../../core/errors.ts";
import { type CoxPredictor, linearPredictor } from "./baseline.ts";

/** F_k(t|x) of every cause: an array [N, times.length] row-major for each model. */
export function causeSpecificIncidence(
  models: readonly CoxPredictor[],
  x: ArrayLike<number>,
  times: ArrayLike<number>,
): readonly Float64Array[] {
  if (models.length === 0) throw new InputError("no model of a cause", { code: "cox.input" });
  const union = keepDistinct(
    Float64Array.from(models.flatMap(({ baseline }) => Array.from(baseline.time))).sort(),
  );
  const steps = models.map((model) => stepsAt(model, union));
  const ratios = models.map((model) => {
    const atMeans = linearPredictor(model, model.means)[0] ?? 0;
    return linearPredictor(model, x).map((one) => exp(one - atMeans));
  });
  const [{ length: N }] = ratios;
  const T = times.length;
  const incidence = models.map(() => new Float64Array(N * T));
  const passed = Array.from(times, (time) => countAtMost(union, time));
  const along = models.map(() => new Float64Array(union.length + 1));
  for (let i = 0; i < N; i++) {
    let S = 1;
    for (let k = 0; k < union.length; k++) {
      let all = 0;
      for (let c = 0; c < models.length; c++) all += steps[c][k] * ratios[c][i];
      const left = S / Math.max(1, all);
      for (let c = 0; c < models.length; c++)
        along[c][k + 1] = along[c][k] + left * steps[c][k] * ratios[c][i];
      S *= Math.max(0, 1 - all);
    }
    for (let c = 0; c < models.length; c++)
      for (let t = 0; t < T; t++) incidence[c][i * T + t] = along[c][passed[t]];
  }
  return incidence;
}

/** dH at every time of the union, for a person at the model's column means. */
function stepsAt({ baseline }: CoxPredictor, union: Float64Array): Float64Array {
  const { time, cumulativeHazardAtMeans: H } = baseline;
  const steps = new Float64Array(union.length);
  for (let k = 0; k < time.length; k++)
    steps[countAtMost(union, time[k]) - 1] += H[k] - (k === 0 ? 0 : H[k - 1]);
  return steps;
}
