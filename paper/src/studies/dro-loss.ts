/**
 * The worst case over subpopulations of people with given losses, as DRO-Cox minimises it (dro-cox.ts): over every
 * distribution within a χ² ball that holds all subpopulations of a share of at least α, the largest mean loss is
 *   min over η of C·√(mean [ℓ_i − η]₊²) + η,   C = √(2(1/α − 1)² + 1)
 * (Duchi and Namkoong 2021). The distribution that attains it weighs each person by [ℓ_i − η]₊; these weights are the
 * derivative of the worst case by the losses. With α = 1 it is the plain mean, which η reaches only at −∞.
 */
import { InputError } from "graduate-survival/core";

export interface WorstCase {
  readonly value: number;
  /** −∞ for α = 1. */
  readonly eta: number;
  /** Sum 1: the derivative of the value by each loss. */
  readonly weights: Float64Array; // [n]
}

/** Bisections of the interval that holds η: the people above η are then certain, and a formula gives η itself. */
const BISECTIONS = 60;
/** Losses within this share of the largest (or of 1) count as equal to it. */
const SAME_LOSS = 1e-12;

/** C of the objective. */
export function robustFactor(alpha: number): number {
  if (!(alpha > 0 && alpha <= 1))
    throw new InputError(`alpha is not a share above 0 and up to 1: ${alpha}`, { code: "dro.alpha" });
  return Math.sqrt(2 * (1 / alpha - 1) ** 2 + 1);
}

/** The worst case of the losses for a factor C ≥ 1. */
export function worstCase(losses: Float64Array, C: number): WorstCase {
  const n = losses.length;
  let smallest = Number.POSITIVE_INFINITY;
  let largest = Number.NEGATIVE_INFINITY;
  let sum = 0;
  for (const loss of losses) {
    smallest = Math.min(smallest, loss);
    largest = Math.max(largest, loss);
    sum += loss;
  }
  if (C === 1)
    return { value: sum / n, eta: Number.NEGATIVE_INFINITY, weights: new Float64Array(n).fill(1 / n) };
  const sameAs = largest - SAME_LOSS * Math.max(1, Math.abs(largest));
  const attaining = losses.reduce((count, loss) => count + (loss >= sameAs ? 1 : 0), 0);
  // The ball is so wide that it holds the people of the largest loss alone.
  if (C * C * attaining >= n) {
    const weights = losses.map((loss) => (loss >= sameAs ? 1 / attaining : 0));
    return { value: largest, eta: largest, weights };
  }
  const eta = findEta(losses, C, smallest, largest);
  const weights = losses.map((loss) => Math.max(0, loss - eta));
  let total = 0;
  let squares = 0;
  for (const weight of weights) {
    total += weight;
    squares += weight * weight;
  }
  return { value: C * Math.sqrt(squares / n) + eta, eta, weights: weights.map((weight) => weight / total) };
}

/**
 * The derivative by η, 1 − C·mean [ℓ − η]₊ ÷ √(mean [ℓ − η]₊²), rises with η. Once it is known which k people are
 * above η, with mean m and variance v, it is 0 where (m − η)²·(C²k/n − 1) = v.
 */
function findEta(losses: Float64Array, C: number, smallest: number, largest: number): number {
  const ofEveryone = etaAmong(losses, C, Number.NEGATIVE_INFINITY);
  if (ofEveryone <= smallest) return ofEveryone;
  let low = smallest;
  let high = largest;
  for (let k = 0; k < BISECTIONS; k++) {
    const middle = (low + high) / 2;
    let total = 0;
    let squares = 0;
    for (const loss of losses) {
      const above = loss - middle;
      if (above <= 0) continue;
      total += above;
      squares += above * above;
    }
    if (C * total * Math.sqrt(1 / losses.length) > Math.sqrt(squares)) low = middle;
    else high = middle;
  }
  const polished = etaAmong(losses, C, low);
  // A loss that equals η may be counted on either side; the bisection's own answer stands then.
  return Math.abs(polished - low) <= SAME_LOSS * Math.max(1, Math.abs(low)) ? polished : low;
}

/** The root of the derivative if exactly the losses above `bound` were above η. */
function etaAmong(losses: Float64Array, C: number, bound: number): number {
  let k = 0;
  let sum = 0;
  for (const loss of losses) {
    if (loss <= bound) continue;
    k++;
    sum += loss;
  }
  const mean = sum / k;
  let squares = 0;
  for (const loss of losses) if (loss > bound) squares += (loss - mean) * (loss - mean);
  return mean - Math.sqrt(squares / k / ((C * C * k) / losses.length - 1));
}
