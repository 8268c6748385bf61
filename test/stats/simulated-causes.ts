// People of a law that is known, with two causes: their true incidences on the bins, and outcomes drawn from it.
import { createRandom } from "../../src/core/random.ts";
import { type CauseCurves, causeCurves } from "../../src/data/curves/cause-curves.ts";
import type { BinnedCauses } from "../../src/stats/causes/binned-causes.ts";

export interface SimulatedCauses {
  /** What is true of everyone. */
  readonly curves: CauseCurves;
  readonly outcomes: BinnedCauses;
  /** Everyone, then the halves by a column, then a small part. */
  readonly groups: readonly { readonly name: string; readonly rows: Int32Array }[];
}

/** Hazards of cause 1 rise with time and in half of the people; censoring comes at a rate, and to all at the end. */
export function simulateCauses(
  N: number,
  T: number,
  seed: number,
  options: { readonly causes?: 1 | 2; readonly perPerson?: number } = {},
): SimulatedCauses {
  const { causes: K = 2, perPerson = 1 } = options;
  const random = createRandom(seed);
  const incidence = new Float64Array(N * K * T);
  const bin = new Int32Array(N);
  const cause = new Uint8Array(N);
  const groupOf = new Uint8Array(N);
  let [x, z] = [0, 0];
  for (let row = 0; row < N; row++) {
    if (row % perPerson === 0) [x, z] = [random.uniform() < 0.5 ? 1 : 0, random.uniform()];
    const hazard = (k: number, t: number) =>
      k === 0 ? (0.5 / T) * (0.5 + t / T) * (1 + x) : (0.7 / T) * (0.5 + z);
    let S = 1;
    for (let t = 1; t <= T; t++) {
      let any = 0;
      for (let k = 0; k < K; k++) {
        const at = (row * K + k) * T + t - 1;
        incidence[at] = (t === 1 ? 0 : incidence[at - 1]) + S * hazard(k, t);
        any += hazard(k, t);
      }
      S *= 1 - any;
    }
    bin[row] = T;
    const rate = 0.6 / T;
    for (let t = 1; t <= T && cause[row] === 0; t++) {
      let level = random.uniform();
      for (let k = 0; k < K && cause[row] === 0; k++) {
        if (level < hazard(k, t)) cause[row] = k + 1;
        level -= hazard(k, t);
      }
      bin[row] = t;
      if (cause[row] === 0 && random.uniform() < rate) break;
    }
    groupOf[row] = x;
  }
  const names = ["disease", "other"].slice(0, K);
  const rowsWhere = (holds: (row: number) => boolean) =>
    Int32Array.from({ length: N }, (_, row) => row).filter(holds);
  return {
    curves: causeCurves({ N, T, causes: names, incidence }),
    outcomes: { T, bin, event: cause.map((one) => Math.min(one, 1)), cause },
    groups: [
      { name: "all", rows: rowsWhere(() => true) },
      { name: "x = 0", rows: rowsWhere((row) => groupOf[row] === 0) },
      { name: "x = 1", rows: rowsWhere((row) => groupOf[row] === 1) },
      { name: "a part", rows: rowsWhere((row) => row % 5 === 0) },
    ],
  };
}
