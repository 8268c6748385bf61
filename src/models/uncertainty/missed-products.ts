/**
 * What an additive model misses because it has no products of columns, by what the rows say of them. Each product stands
 * for what columns and groups leave of it, ψ_k = a_k (x_i − μ_i)(x_j − μ_j) − c_kᵀ[1, x − μ], with a standard deviation
 * of 1 over the rows. Its slope would be m with covariance Σ = A⁻¹ (training/solve/missed-products.ts finds them), so
 * that the model's log hazard is off by ψᵀm, and uncertain by ψᵀΣψ: the mean square of what it misses of a person is
 * ψᵀ(Σ + m mᵀ)ψ, the same at all times.
 */
import { square } from "../../core/elementary.ts";

export interface MissedProducts {
  /** Places of the first and of the second column of each product. */
  readonly first: readonly number[]; // [K]
  readonly second: readonly number[]; // [K]
  readonly means: readonly number[]; // [D], of the columns
  readonly scales: readonly number[]; // [K], a
  /** c: of the intercept and each column, already scaled. */
  readonly explained: readonly number[]; // [K,1+D]
  readonly slopes: readonly number[]; // [K], m
  /** The Cholesky factor of A, row by row. */
  readonly factor: readonly number[]; // [K(K+1)/2]
}

/** How many numbers each part has. */
export function productSizes(products: number, D: number) {
  return {
    means: D,
    scales: products,
    explained: products * (1 + D),
    slopes: products,
    factor: (products * (products + 1)) / 2,
  } as const;
}

/** Standard deviations of log Λ that the products' absence makes: one for each row of `x` [N,D]. */
export function missedByProducts(missed: MissedProducts, x: ArrayLike<number>): Float64Array {
  const { first, second, means, scales, explained, slopes, factor } = missed;
  const D = means.length;
  const K = scales.length;
  const centred = new Float64Array(1 + D).fill(1);
  const solved = new Float64Array(K); // L⁻¹ψ
  return Float64Array.from({ length: x.length / D }, (_, n) => {
    for (let j = 0; j < D; j++) centred[1 + j] = x[n * D + j] - means[j];
    let [shift, squares] = [0, 0];
    for (let k = 0, at = 0; k < K; k++) {
      let own = scales[k] * centred[1 + first[k]] * centred[1 + second[k]];
      for (let c = 0; c <= D; c++) own -= explained[k * (1 + D) + c] * centred[c];
      shift += slopes[k] * own;
      for (let m = 0; m < k; m++) own -= factor[at++] * solved[m];
      solved[k] = own / factor[at++];
      squares += square(solved[k]);
    }
    return Math.sqrt(squares + square(shift));
  });
}
