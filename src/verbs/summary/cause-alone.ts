/**
 * The curve of one cause alone: Π_{s≤t} (1 − h_k(s)), whose −log is the cumulative cause-specific hazard. h_k is the
 * chance that the cause strikes in a bin somebody who is free of any event when it begins, so the other causes are not
 * in it: a ratio of two such hazards says what a column does to this cause, not to its incidence. With one kind of
 * event it is S(t). Computed from logits, since quotients of incidences lose their digits where hardly anyone is left.
 */
import type { Backend, Floats } from "../../compute/backend.ts";
import type { TimeGrid } from "../../data/outcomes/time-grid.ts";
import { type CauseShape, fillHazards } from "../../objectives/causes/cause-curves.ts";
import type { Model } from "../../training/model.ts";
import { type ComputeCurves, prepareByCause } from "../predict.ts";

/** Π (1 − h_k) of every person and cause. */
function causeAloneCurves(logits: Floats, { N, K, T }: CauseShape, out: Float64Array): void {
  const hazard = new Float64Array(K);
  for (let n = 0; n < N; n++) {
    for (let t = 0; t < T; t++) {
      const at = n * K * T + t;
      const none = fillHazards(logits, at, T, hazard);
      for (let k = 0; k < K; k++) {
        const free = none + hazard.reduce((sum, h, j) => (j === k ? sum : sum + h), 0);
        out[at + k * T] = (t === 0 ? 1 : out[at + k * T - 1]) * free;
      }
    }
  }
}

/** For each cause, by its number from 0, what computes its curves [N,T]. */
export function prepareCauseAlone(
  model: Model,
  backend: Backend | null,
  grid: TimeGrid,
): (cause: number) => ComputeCurves {
  const compute = prepareByCause(model, backend, grid, causeAloneCurves);
  const { T } = grid;
  const K = model.causes?.length ?? 1;
  return (cause) => async (features) => {
    const all = await compute(features);
    const own = new Float64Array(features.N * T);
    for (let i = 0; i < features.N; i++) {
      own.set(all.subarray((i * K + cause) * T, (i * K + cause + 1) * T), i * T);
    }
    return own;
  };
}
