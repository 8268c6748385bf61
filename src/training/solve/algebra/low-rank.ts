/**
 * Solving with A + Σ_k v_k v_kᵀ where A is factored: Woodbury's identity. For the few vectors that meet every block at
 * once, such as the slope of a group's mean curve at one time, which would fill the arrow.
 */
import { factorCholesky, solveCholesky } from "../../../core/linear-algebra.ts";
import type { ArrowFactor } from "./arrow.ts";

export function withLowRank(plain: ArrowFactor, vectors: readonly Float64Array[]): ArrowFactor {
  const K = vectors.length;
  const solved = vectors.map((vector) => plain.solve(vector));
  const inner = new Float64Array(K * K);
  for (let i = 0; i < K; i++) {
    for (let j = 0; j <= i; j++) {
      let sum = i === j ? 1 : 0;
      for (let k = 0; k < vectors[i].length; k++) sum += vectors[i][k] * solved[j][k];
      inner[i * K + j] = sum;
    }
  }
  const factor = factorCholesky(inner, K, new Float64Array(K));
  return {
    solve(right) {
      const out = plain.solve(right);
      const inside = vectors.map((vector) => vector.reduce((sum, one, k) => sum + one * out[k], 0));
      const back = solveCholesky(factor, inside);
      solved.forEach((one, j) => {
        for (let k = 0; k < out.length; k++) out[k] -= back[j] * one[k];
      });
      return out;
    },
    inverseDiagonal: plain.inverseDiagonal,
  };
}
