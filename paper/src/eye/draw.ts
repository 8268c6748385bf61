/**
 * Draws from named distributions, each by a method that is exact up to rounding: exponential by inversion; gamma by
 * Marsaglia and Tsang's squeeze-free rejection (ACM TOMS 26, 2000), with a power of a uniform for shapes below 1;
 * Poisson by searching its distribution function from 0 up with one uniform, with large means as a sum of smaller ones.
 * Uniform and normal draws are those of random.ts.
 */
import { exp, log, log1p, power, type Random } from "graduate-survival/core";

/** Below this mean, e^−mean stays far from underflow and the running sums keep 53 bits of the uniform. */
const LARGEST_POISSON_PIECE = 30;

/** Exponential with mean 1. */
export function drawExponential(random: Random): number {
  return -log1p(-random.uniform());
}

/** Gamma with the given shape > 0 and scale 1. */
export function drawGamma(random: Random, shape: number): number {
  if (shape < 1) return drawGamma(random, shape + 1) * power(1 - random.uniform(), 1 / shape);
  const d = shape - 1 / 3;
  const c = 1 / Math.sqrt(9 * d);
  while (true) {
    const z = random.normal();
    const root = 1 + c * z;
    if (root <= 0) continue;
    const v = root * root * root;
    if (log(1 - random.uniform()) < 0.5 * z * z + d - d * v + d * log(v)) return d * v;
  }
}

/** Poisson with the given mean ≥ 0. */
export function drawPoisson(random: Random, mean: number): number {
  let count = 0;
  let left = mean;
  while (left > LARGEST_POISSON_PIECE) {
    count += searchPoisson(random.uniform(), LARGEST_POISSON_PIECE);
    left -= LARGEST_POISSON_PIECE;
  }
  return count + searchPoisson(random.uniform(), left);
}

/** The smallest k with P(X ≤ k) > u. */
function searchPoisson(u: number, mean: number): number {
  let probability = exp(-mean);
  let below = probability;
  let k = 0;
  // Where rounding keeps the sum below a u within 1e-16 of 1, the probabilities vanish and the search ends.
  while (below <= u && probability > 0) {
    k++;
    probability *= mean / k;
    below += probability;
  }
  return k;
}
