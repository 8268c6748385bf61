/**
 * The curves of rows under an output layer, and the way back from slopes of their means to slopes of θ. Of one kind of
 * event a curve is S(t) = Π (1 − h), ∂S(t)/∂z_s = −S(t) h_s for s ≤ t. Of one of several causes it is 1 − F(t),
 *   F(t) = Σ_{s≤t} f_s,  f_s = S(s−1) h_s,  S(s) = S(s−1) (1 − h_s) q_s,
 * with q the chance of no event of the other causes given none of this one. They stay as they are, so q does not depend
 * on θ, and ∂F(t)/∂z_s = f_s − h_s (F(t) − F(s−1)).
 */
import { exp } from "../../../core/elementary.ts";
import { groupMeans, sigmoid, sumWeights, survivalCurves } from "../../../objectives/curves.ts";
import { countTheta, type Layout, type SolveRows } from "../layout.ts";
import type { CurveTerm } from "./curve-terms.ts";

/** How hazards make curves. */
interface RowCurves {
  readonly curve: Float64Array; // [N,T]
  /** From the hazards of a row. */
  fill(n: number): void;
  /** Σ_t c_t ∂curve(t)/∂z_s of a row, of every bin s. */
  slopes(n: number, c: Float64Array, out: Float64Array): void;
}

function survivalOf(hazard: Float64Array, N: number, T: number): RowCurves {
  const curve = new Float64Array(N * T);
  return {
    curve,
    fill(n) {
      let alive = 1;
      for (let k = n * T; k < (n + 1) * T; k++) {
        alive *= 1 - hazard[k];
        curve[k] = alive;
      }
    },
    slopes(n, c, out) {
      let later = 0;
      for (let t = T - 1; t >= 0; t--) {
        later += c[t] * curve[n * T + t];
        out[t] = -later * hazard[n * T + t];
      }
    },
  };
}

/** `beside` is q of every row and bin, row n from first[n]. */
function freeOfCause(
  hazard: Float64Array,
  { beside, first }: { readonly beside: Float64Array; readonly first: ArrayLike<number> },
  N: number,
  T: number,
): RowCurves {
  const curve = new Float64Array(N * T);
  const happening = new Float64Array(N * T); // f
  return {
    curve,
    fill(n) {
      let alive = 1;
      let free = 1;
      for (let t = 0; t < T; t++) {
        const h = hazard[n * T + t];
        happening[n * T + t] = alive * h;
        free -= alive * h;
        curve[n * T + t] = free;
        alive *= (1 - h) * beside[first[n] + t];
      }
    },
    slopes(n, c, out) {
      let slope = 0;
      let later = 0;
      for (let t = T - 1; t >= 0; t--) {
        slope += c[t];
        const own = happening[n * T + t] * slope;
        later += own;
        out[t] = hazard[n * T + t] * later - own;
      }
    },
  };
}

/** The curves of every row under the network below; the rows have logits in every bin. */
export function curvesBelow(
  { logits, beside }: Pick<SolveRows, "logits" | "beside">,
  T: number,
): Float64Array {
  const N = logits.length / T;
  if (beside === undefined) {
    const survival = new Float64Array(logits.length);
    survivalCurves(logits, N, T, survival);
    return survival;
  }
  const first = Float64Array.from({ length: N }, (_, n) => n * T);
  const { curve, fill } = freeOfCause(Float64Array.from(logits, sigmoid), { beside, first }, N, T);
  for (let n = 0; n < N; n++) fill(n);
  return curve;
}

/** Π (1 − h) of every row at θ, whatever other causes there are; `rows` has logits in every bin. */
export function curvesAt(
  layout: Layout,
  { beside: _, ...rows }: SolveRows,
  theta: Float64Array,
): Float64Array {
  const all = Int32Array.from({ length: rows.N }, (_, n) => n);
  const { open, curve } = createCurvePass(layout, rows, all);
  open(theta);
  return curve; // [N,T]
}

/** Whose mean is read. */
type Members = Pick<CurveTerm, "rows" | "weight">;

/** Hazards and curves of the rows in `used` at one θ, kept until the next. */
export function createCurvePass(layout: Layout, rows: SolveRows, used: Int32Array) {
  const { N, logits, first, x, stride, shaped, beside } = rows;
  const { T, blocks, blockOf, binOf, binsIn, dense: R, at } = layout;
  const B = blocks.length;
  const hazard = new Float64Array(N * T);
  const curves =
    beside === undefined ? survivalOf(hazard, N, T) : freeOfCause(hazard, { beside, first }, N, T);
  const { curve } = curves;
  const inBlock = new Float64Array(B);
  const slopes = new Float64Array(T);
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
      for (let t = 0; t < T; t++) {
        const b = blockOf[t];
        const z = logits[first[n] + t] + level + inBlock[b] + theta[at[b] + binOf[t]];
        hazard[n * T + t] = 1 / (1 + exp(-z));
      }
      curves.fill(n);
    }
  }

  const meanOf = ({ rows: members, weight }: Members) => groupMeans(curve, T, [members], weight);

  /** Σ_t c_t ∂m(t)/∂θ. */
  function pullBack({ rows: members, weight }: Members, c: Float64Array): Float64Array {
    const out = new Float64Array(countTheta(layout));
    const total = sumWeights(weight, members);
    for (const n of members) {
      const own = weight === undefined ? 1 : weight[n];
      inBlock.fill(0);
      let all = 0;
      curves.slopes(n, c, slopes);
      for (let t = T - 1; t >= 0; t--) {
        const slope = (own * slopes[t]) / total;
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

  return { open, curve, meanOf, pullBack };
}
