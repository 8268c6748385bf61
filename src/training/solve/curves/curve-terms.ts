/**
 * Terms of the solve that read a group's mean curve m(t), the mean of S(t|x) over its rows: with residuals
 * a_k = Σ_t W_kt m(t) − target_k, a term is Σ_k a_k². A constraint keeps its term within a slack (targets from outside,
 * the paper's distances); a penalty adds half of it to the objective. Derivatives go back through the curves:
 * ∂S(t)/∂z_s = −S(t) h_s for s ≤ t. A mean curve meets every block at once, so its Gauss-Newton part is kept as a few
 * vectors beside the arrow (low-rank.ts).
 */
import { exp } from "../../../core/elementary.ts";
import { countTheta, type Layout, type SolveRows } from "../layout.ts";

/** One residual: a combination of the mean curve's values against a target, in units of its own standard deviation. */
export interface CurveResidual {
  /** Weights of m(1) … m(T), as pairs of bin (0-based) and weight. */
  readonly weights: readonly { readonly bin: number; readonly weight: number }[];
  readonly target: number;
}

export interface CurveTerm {
  readonly rows: Int32Array;
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
      vectors.push(pass.pullBack(term.rows, cotangent(term, unit)));
    }
    return vectors;
  };
  return {
    count: constraints.length,
    measure(theta) {
      pass.open(theta);
      const value = (term: CurveTerm) => squareOf(residualsOf(term, pass.meanOf(term.rows)));
      return {
        penalty: penalties.reduce((sum, term) => sum + value(term) / 2, 0),
        distance: Float64Array.from(constraints, value),
      };
    },
    differentiate(theta, which) {
      pass.open(theta);
      const slopeOf = (term: CurveTerm, factor: number) => {
        const a = residualsOf(term, pass.meanOf(term.rows)).map((one) => factor * one);
        return pass.pullBack(term.rows, cotangent(term, a));
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

/** S(t|x) of every row at θ; `rows` has logits in every bin. */
export function curvesAt(layout: Layout, rows: SolveRows, theta: Float64Array): Float64Array {
  const all = Int32Array.from({ length: rows.N }, (_, n) => n);
  const { open, survival } = createCurvePass(layout, rows, all);
  open(theta);
  return survival; // [N,T]
}

/** Hazards and curves of the rows in `used` at one θ, kept until the next. */
function createCurvePass(
  layout: Layout,
  { N, logits, first, x, stride, shaped }: SolveRows,
  used: Int32Array,
) {
  const { T, blocks, blockOf, binOf, binsIn, dense: R, at } = layout;
  const B = blocks.length;
  const hazard = new Float64Array(N * T);
  const survival = new Float64Array(N * T);
  const inBlock = new Float64Array(B);
  let opened: Float64Array | null = null;

  function open(theta: Float64Array): void {
    if (opened === theta) return;
    opened = theta;
    for (const n of used) {
      let level = 0;
      for (let r = 0; r < R; r++) level += theta[r] * x[n * stride + r];
      inBlock.fill(0);
      for (let k = shaped.first[n]; k < shaped.first[n + 1]; k++) {
        const j = shaped.column[k];
        const s = shaped.value[k];
        level += s * theta[R + j];
        for (let b = 0; b < B; b++) inBlock[b] += s * theta[at[b] + binsIn[b] + j];
      }
      let alive = 1;
      for (let t = 0; t < T; t++) {
        const b = blockOf[t];
        const z = logits[first[n] + t] + level + inBlock[b] + theta[at[b] + binOf[t]];
        const h = 1 / (1 + exp(-z));
        alive *= 1 - h;
        hazard[n * T + t] = h;
        survival[n * T + t] = alive;
      }
    }
  }

  function meanOf(rows: Int32Array): Float64Array {
    const mean = new Float64Array(T);
    for (const n of rows) for (let t = 0; t < T; t++) mean[t] += survival[n * T + t];
    return mean.map((sum) => sum / rows.length);
  }

  /** Σ_t c_t ∂m(t)/∂θ. */
  function pullBack(rows: Int32Array, c: Float64Array): Float64Array {
    const out = new Float64Array(countTheta(layout));
    for (const n of rows) {
      inBlock.fill(0);
      let later = 0;
      let all = 0;
      for (let t = T - 1; t >= 0; t--) {
        later += c[t] * survival[n * T + t];
        const slope = (-later * hazard[n * T + t]) / rows.length;
        const b = blockOf[t];
        out[at[b] + binOf[t]] += slope;
        inBlock[b] += slope;
        all += slope;
      }
      for (let r = 0; r < R; r++) out[r] += all * x[n * stride + r];
      for (let k = shaped.first[n]; k < shaped.first[n + 1]; k++) {
        const j = shaped.column[k];
        const s = shaped.value[k];
        out[R + j] += s * all;
        for (let b = 0; b < B; b++) out[at[b] + binsIn[b] + j] += s * inBlock[b];
      }
    }
    return out;
  }

  return { open, survival, meanOf, pullBack };
}
