/**
 * The Lagrangian of the solve at one θ: value and constraints (`takeMeasure`), and their derivatives in the form that a
 * step needs (`assemble`): ∇F, the normals ∇r_g of the constraints that are met or nearly met, and on demand the factor
 * of the Hessian at given multipliers. With λ_g = μ_g/(2√(dist_g c_g)) the Lagrangian holds λ_g·dist_g, whose second
 * derivative over a block is (2λ/nV)(D′ − D V′/V)(D′ − D V′/V)ᵀ, added as it is, and terms of D″ = −w(1−2h) and
 * V″ = w(1−6w), added to the weights of the rows. What the square root of r adds along ∇r is left out: the linearised
 * constraint fixes that direction.
 */
import { square } from "../../core/elementary.ts";
import { MINIMUM_BLOCK_VARIANCE } from "../../objectives/distances/at-risk.ts";
import type { ArrowFactor } from "./algebra/arrow.ts";
import { withLowRank } from "./algebra/low-rank.ts";
import { distancesOf, type HeldProblem } from "./sqp.ts";
import type { BlockSlopes, Differentiated } from "./sums.ts";

/** Values at one θ. */
export interface Point {
  /** F. */
  readonly value: number;
  readonly distance: Float64Array; // [constraints]
  readonly r: Float64Array; // [constraints], −1 where not held
  readonly V: Float64Array; // [G,B]
}

export interface Assembled {
  readonly point: Point;
  readonly gradient: Float64Array; // [P], of F
  /** Constraints that are met or nearly so, whose normals are known. */
  readonly near: readonly number[];
  readonly normals: readonly Float64Array[]; // [near][P]
  factor(mu: Float64Array, stride: number): ArrowFactor;
}

/** A constraint below this is not looked at in a step. */
const FAR_BELOW = -0.25;

export function takeMeasure(problem: HeldProblem, theta: Float64Array, slack: Float64Array): Point {
  const { sums, followed, layout, prior, curves } = problem;
  const { value: loss, D, V } = sums.measure(theta);
  const groups = distancesOf(D, V, followed, layout.blocks.length);
  const ofCurves = curves?.measure(theta);
  const distance = ofCurves ? Float64Array.from([...groups, ...ofCurves.distance]) : groups;
  let value = loss + (ofCurves?.penalty ?? 0);
  for (let k = 0; k < theta.length; k++)
    value += (prior.precision[k] * square(theta[k] - prior.centre[k])) / 2;
  const r = distance.map((one, g) =>
    slack[g] < Number.POSITIVE_INFINITY ? Math.sqrt(one / slack[g]) - 1 : -1,
  );
  return { value, distance, r, V };
}

/** `point` is what takeMeasure found at θ. */
export function assemble(
  problem: HeldProblem,
  theta: Float64Array,
  slack: Float64Array,
  point: Point,
): Assembled {
  const { sums, prior, followed, curves, layout } = problem;
  const { length: G } = followed;
  const B = layout.blocks.length;
  const near = Array.from(slack.keys()).filter((g) => point.r[g] > FAR_BELOW);
  const inGroups = near.filter((g) => g < G);
  const known = sums.differentiate(theta, inGroups);
  const ofCurves = curves?.differentiate(
    theta,
    near.filter((g) => g >= G).map((g) => g - G),
  );
  const gradient = known.gradient.slice();
  for (let k = 0; k < theta.length; k++) gradient[k] += prior.precision[k] * (theta[k] - prior.centre[k]);
  if (ofCurves) for (let k = 0; k < theta.length; k++) gradient[k] += ofCurves.penaltyGradient[k];
  const scaleOf = (g: number) => 1 / (2 * Math.sqrt(Math.max(point.distance[g], 1e-300) * slack[g]));
  const normals = near.map((g) => {
    const normal =
      g < G
        ? spread(problem, known, g)
        : (ofCurves?.gradients[g - G] ?? new Float64Array(theta.length)).slice();
    const scale = scaleOf(g);
    for (let k = 0; k < normal.length; k++) normal[k] *= scale;
    return normal;
  });
  return {
    point,
    gradient,
    near,
    normals,
    factor(mu, stride) {
      const lambda = mu.map((one, g) => (one > 0 ? one * scaleOf(g) : 0));
      const arrow = sums.inform(theta, stride, bendsOf(problem, known, lambda));
      arrow.addDiagonal(prior.precision);
      for (const g of inGroups) {
        if (lambda[g] === 0) continue;
        (known.slopes[g] as readonly BlockSlopes[]).forEach((slopes, b) => {
          const { V, ratio } = blockOf(known, g * B + b);
          const vector = slopes.ofD.map((one, k) => one + ratio * slopes.ofV[k]);
          arrow.addBlockVector(b, (2 * lambda[g]) / (followed[g] * V), vector);
        });
      }
      const plain = arrow.factor();
      const extra = ofCurves?.lowRank(lambda.subarray(G)) ?? [];
      return extra.length === 0 ? plain : withLowRank(plain, extra);
    },
  };
}

/** V with its floor, and D/V, 0 where the floor holds and V has no derivative. */
function blockOf({ D, V }: Pick<Differentiated, "D" | "V">, place: number) {
  const isFloored = V[place] < MINIMUM_BLOCK_VARIANCE;
  return {
    V: isFloored ? MINIMUM_BLOCK_VARIANCE : V[place],
    D: D[place],
    ratio: isFloored ? 0 : D[place] / V[place],
  };
}

/** ∇dist_g = (1/n) Σ_b (2D/V) D′ − (D/V)² V′, with D′ = −Σ w φ and V′ = Σ w(1−2h) φ. */
function spread({ layout, followed }: HeldProblem, known: Differentiated, g: number): Float64Array {
  const { at, blocks, dense, shaped } = layout;
  const B = blocks.length;
  const border = dense + shaped;
  const normal = new Float64Array(at[B]);
  (known.slopes[g] as readonly BlockSlopes[]).forEach(({ ofD, ofV }, b) => {
    const { V, D, ratio } = blockOf(known, g * B + b);
    const first = (-2 * D) / (V * followed[g]);
    const second = -square(ratio) / followed[g];
    for (let k = 0; k < border; k++) normal[k] += first * ofD[k] + second * ofV[k];
    for (let k = border; k < ofD.length; k++) normal[at[b] + k - border] += first * ofD[k] + second * ofV[k];
  });
  return normal;
}

function bendsOf({ followed, layout }: HeldProblem, known: Differentiated, lambda: Float64Array) {
  if (!lambda.some((one) => one > 0)) return null;
  const B = layout.blocks.length;
  const first = new Float64Array(known.D.length);
  const second = new Float64Array(known.D.length);
  for (let g = 0; g < followed.length; g++) {
    if (lambda[g] === 0) continue;
    for (let b = 0; b < B; b++) {
      const { V, D, ratio } = blockOf(known, g * B + b);
      first[g * B + b] = (-2 * lambda[g] * D) / (followed[g] * V);
      second[g * B + b] = (-lambda[g] * square(ratio)) / followed[g];
    }
  }
  return { first, second };
}
