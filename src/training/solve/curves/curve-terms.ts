/**
 * Terms of the solve that read a group's mean curve m(t), the mean of S(t|x) over its rows: with residuals
 * a_k = Σ_t W_kt m(t) − target_k, a term is Σ_k a_k². A constraint keeps its term within a slack (targets from outside,
 * the paper's distances); a penalty adds half of it to the objective. Derivatives go back through the curves
 * (curve-pass.ts), which of one of several causes are 1 − F. A mean curve meets every block at once, so its
 * Gauss-Newton part is kept as a few vectors beside the arrow (low-rank.ts).
 */
import { countTheta, type Layout, type SolveRows } from "../layout.ts";
import { createCurvePass } from "./curve-pass.ts";

/** One residual: a combination of the mean curve's values against a target, in units of its own standard deviation. */
export interface CurveResidual {
  /** Weights of m(1) … m(T), as pairs of bin (0-based) and weight. */
  readonly weights: readonly { readonly bin: number; readonly weight: number }[];
  readonly target: number;
}

export interface CurveTerm {
  readonly rows: Int32Array;
  /** Of all rows, by which the mean is weighted. */
  readonly weight?: Float64Array; // [N]
  readonly residuals: readonly CurveResidual[];
  /** Whether it is a constraint or a penalty. */
  readonly isConstraint: boolean;
}

export interface CurveTerms {
  readonly count: number;
  /** Constraints' values, in their order, and half the sum of the penalties. */
  measure(theta: Float64Array): { readonly penalty: number; readonly distance: Float64Array };
  differentiate(
    theta: Float64Array,
    which: readonly number[],
  ): {
    readonly penaltyGradient: Float64Array; // [P]
    /** ∇ of the constraints asked for; null for the others. */
    readonly gradients: readonly (Float64Array | null)[];
    /** Vectors v of Σ v vᵀ, the second derivatives at λ for each constraint. */
    lowRank(lambda: ArrayLike<number>): Float64Array[];
  };
}

/** The curvature of a term with more residuals than this is taken from as many of them, evenly spaced. */
const MOST_VECTORS = 12;

/** `rows` has logits in every bin. */
export function createCurveTerms(layout: Layout, rows: SolveRows, terms: readonly CurveTerm[]): CurveTerms {
  const { T } = layout;
  const constraints = terms.filter(({ isConstraint }) => isConstraint);
  const penalties = terms.filter(({ isConstraint }) => !isConstraint);
  const used = new Set(terms.flatMap(({ rows: own }) => Array.from(own)));
  const pass = createCurvePass(layout, rows, Int32Array.from(used));
  const residualsOf = ({ residuals }: CurveTerm, mean: Float64Array) =>
    Float64Array.from(residuals, ({ weights, target }) =>
      weights.reduce((sum, { bin, weight }) => sum + weight * mean[bin], -target),
    );
  const squareOf = (a: Float64Array) => a.reduce((sum, one) => sum + one * one, 0);
  /** Σ_k 2 f_k W_k, what m(t) is multiplied with in the gradient. */
  const cotangent = ({ residuals }: CurveTerm, factor: ArrayLike<number>) => {
    const out = new Float64Array(T);
    residuals.forEach(({ weights }, k) => {
      for (const { bin, weight } of weights) out[bin] += factor[k] * weight;
    });
    return out;
  };
  /** One vector for each residual, or for some of them with the weight of all. */
  const vectorsOf = (term: CurveTerm, factor: number): Float64Array[] => {
    const { length } = term.residuals;
    const step = Math.max(1, Math.ceil(length / MOST_VECTORS));
    const vectors: Float64Array[] = [];
    for (let k = Math.floor(step / 2); k < length; k += step) {
      const unit = new Float64Array(length);
      unit[k] = Math.sqrt(factor * step);
      vectors.push(pass.pullBack(term, cotangent(term, unit)));
    }
    return vectors;
  };
  return {
    count: constraints.length,
    measure(theta) {
      pass.open(theta);
      const value = (term: CurveTerm) => squareOf(residualsOf(term, pass.meanOf(term)));
      return {
        penalty: penalties.reduce((sum, term) => sum + value(term) / 2, 0),
        distance: Float64Array.from(constraints, value),
      };
    },
    differentiate(theta, which) {
      pass.open(theta);
      const slopeOf = (term: CurveTerm, factor: number) => {
        const a = residualsOf(term, pass.meanOf(term)).map((one) => factor * one);
        return pass.pullBack(term, cotangent(term, a));
      };
      const penaltyGradient = new Float64Array(countTheta(layout));
      for (const term of penalties) {
        slopeOf(term, 1).forEach((one, k) => {
          penaltyGradient[k] += one;
        });
      }
      const gradients = constraints.map((term, i) => (which.includes(i) ? slopeOf(term, 2) : null));
      const ofPenalties = penalties.flatMap((term) => vectorsOf(term, 1));
      return {
        penaltyGradient,
        gradients,
        lowRank: (lambda) => [
          ...ofPenalties,
          ...constraints.flatMap((term, i) => (lambda[i] > 0 ? vectorsOf(term, 2 * lambda[i]) : [])),
        ],
      };
    },
  };
}
