/**
 * The dual of a step: min ½ μᵀKμ − pᵀμ over 0 ≤ μ ≤ most, K positive semi-definite, a row for each constraint. Entry by
 * entry (each to its best value with the others fixed) until nothing moves, with an exact solution on the entries
 * between the bounds now and then, which is what makes it end. The upper bound is what an infeasible linearisation runs
 * into instead of infinity.
 */
import { factorCholesky, solveCholesky } from "../../../core/linear-algebra.ts";

const MOST_SWEEPS = 500;
/** Relative to the largest gradient at 0. */
const TOLERANCE = 1e-13;
/** An exact solution is tried every so many sweeps. */
const EXACT_EVERY = 5;

export function solveBoxQp(K: Float64Array, p: Float64Array, most: number): Float64Array {
  const G = p.length;
  const mu = new Float64Array(G);
  const scale = p.reduce((largest, one) => Math.max(largest, Math.abs(one)), 0);
  if (scale === 0) return mu;
  for (let sweep = 1; sweep <= MOST_SWEEPS; sweep++) {
    let worst = 0;
    for (let g = 0; g < G; g++) {
      const slope = slopeAt(K, p, mu, g);
      const diagonal = K[g * G + g];
      if (diagonal <= 0) continue;
      const next = Math.min(Math.max(mu[g] - slope / diagonal, 0), most);
      worst = Math.max(worst, Math.abs(next - mu[g]) * diagonal);
      mu[g] = next;
    }
    if (worst <= TOLERANCE * scale) break;
    if (sweep % EXACT_EVERY === 0) solveInside(K, p, mu, most);
  }
  return mu;
}

function slopeAt(K: Float64Array, p: Float64Array, mu: Float64Array, g: number): number {
  const G = p.length;
  let slope = -p[g];
  for (let k = 0; k < G; k++) slope += K[g * G + k] * mu[k];
  return slope;
}

/** Replaces the entries between the bounds by their exact solution if that stays between them. */
function solveInside(K: Float64Array, p: Float64Array, mu: Float64Array, most: number): void {
  const G = p.length;
  const inside = Array.from(mu.keys()).filter((g) => mu[g] > 0 && mu[g] < most);
  const n = inside.length;
  if (n === 0) return;
  const matrix = new Float64Array(n * n);
  const right = new Float64Array(n);
  inside.forEach((g, i) => {
    right[i] = p[g];
    for (let k = 0; k < G; k++) if (mu[k] === most) right[i] -= K[g * G + k] * most;
    inside.forEach((h, j) => {
      matrix[i * n + j] = K[g * G + h];
    });
  });
  const pivots = Float64Array.from({ length: n }, (_, i) => 1e-14 * matrix[i * n + i]);
  const factor = factorCholesky(matrix, n, pivots);
  if (factor.rank < n) return;
  const solved = solveCholesky(factor, right);
  if (solved.every((value) => value > 0 && value < most)) {
    inside.forEach((g, i) => {
      mu[g] = solved[i];
    });
  }
}
