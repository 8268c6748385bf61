/**
 * A positive definite matrix in the form of an arrow: one dense square for each time block, one for the border, and
 * what each block has in common with the border; blocks have nothing in common with one another. Solved by eliminating
 * the blocks (Schur complement): with 300 groups and 10 blocks that is a thirtieth of the work of the whole matrix.
 */
import {
  addOuter,
  type CholeskyFactor,
  createOuterSum,
  factorCholesky,
  flushOuter,
  invertLower,
  type OuterSum,
  solveCholesky,
  solveLower,
} from "../../../core/linear-algebra.ts";
import { countTheta, type Layout, type RowLists } from "../layout.ts";

export interface ArrowMatrix {
  /** Adds a row's weight in one free bin. */
  addBin(b: number, m: number, w: number, x: Float64Array, shaped: RowLists, n: number): void;
  /** Adds a row's weight in a block to the offsets of its shaped columns. */
  addOffsets(b: number, w: number, x: Float64Array, shaped: RowLists, n: number): void;
  /** After the last row: the products of the dense columns, and the levels, which are sums of what the offsets have. */
  completeBorder(outer: OuterSum): void;
  addDiagonal(values: ArrayLike<number>): void;
  /** Adds factor · v vᵀ, v over [border, the block's own]. */
  addBlockVector(b: number, factor: number, v: Float64Array): void;
  factor(): FactoredArrow;
}

export interface ArrowFactor {
  solve(right: Float64Array): Float64Array;
  /** The diagonal of the inverse. */
  inverseDiagonal(): Float64Array;
}

/** A factor whose entries can be kept. */
export interface FactoredArrow extends ArrowFactor {
  /** The whole factor: with the blocks before the border, L has these on and below its diagonal. */
  parts(): ArrowFactorParts;
}

/** Lower factors of the blocks and of the border, and for each block L⁻¹ of what it has in common with the border. */
export interface ArrowFactorParts {
  readonly border: CholeskyFactor;
  readonly blocks: readonly CholeskyFactor[]; // [B]
  readonly cross: readonly Float64Array[]; // [B] of [Q,C]
}

export function createArrow(layout: Layout): ArrowMatrix {
  const { dense: R, shaped: J, binsIn, at } = layout;
  const B = binsIn.length;
  const C = R + J;
  const border = new Float64Array(C * C); // lower triangle
  const size = Int32Array.from(binsIn, (bins) => bins + J);
  const own = Array.from(size, (Q) => new Float64Array(Q * Q)); // lower triangles
  const cross = Array.from(size, (Q) => new Float64Array(Q * C)); // [Q,C]

  return {
    addBin(b, m, w, x, shaped, n) {
      const Q = size[b];
      const mine = own[b];
      const with_ = cross[b];
      mine[m * Q + m] += w;
      for (let r = 0; r < R; r++) with_[m * C + r] += w * x[r];
      for (let k = shaped.first[n]; k < shaped.first[n + 1]; k++) {
        mine[(binsIn[b] + shaped.column[k]) * Q + m] += w * shaped.value[k];
      }
    },
    addOffsets(b, w, x, shaped, n) {
      const Q = size[b];
      const mine = own[b];
      const with_ = cross[b];
      const bins = binsIn[b];
      for (let k = shaped.first[n]; k < shaped.first[n + 1]; k++) {
        const ws = w * shaped.value[k];
        const row = bins + shaped.column[k];
        for (let r = 0; r < R; r++) with_[row * C + r] += ws * x[r];
        for (let l = shaped.first[n]; l <= k; l++) {
          mine[row * Q + bins + shaped.column[l]] += ws * shaped.value[l];
        }
      }
    },
    completeBorder({ width, matrix }) {
      for (let r = 0; r < R; r++) for (let q = 0; q <= r; q++) border[r * C + q] += matrix[r * width + q];
      for (let b = 0; b < B; b++) {
        const Q = size[b];
        const bins = binsIn[b];
        for (let j = 0; j < J; j++) {
          const row = bins + j;
          const level = (R + j) * C;
          for (let r = 0; r < R; r++) border[level + r] += cross[b][row * C + r];
          for (let m = 0; m < bins; m++) cross[b][m * C + R + j] += own[b][row * Q + m];
          for (let l = 0; l <= j; l++) {
            const both = own[b][row * Q + bins + l];
            border[level + R + l] += both;
            cross[b][row * C + R + l] += both;
            if (l < j) cross[b][(bins + l) * C + R + j] += both;
          }
        }
      }
    },
    addDiagonal(values) {
      for (let p = 0; p < C; p++) border[p * C + p] += values[p];
      for (let b = 0; b < B; b++) {
        for (let q = 0; q < size[b]; q++) own[b][q * size[b] + q] += values[at[b] + q];
      }
    },
    addBlockVector(b, factor, v) {
      const Q = size[b];
      for (let p = 0; p < C; p++) {
        const fv = factor * v[p];
        if (fv === 0) continue;
        for (let q = 0; q <= p; q++) border[p * C + q] += fv * v[q];
      }
      for (let p = 0; p < Q; p++) {
        const fv = factor * v[C + p];
        if (fv === 0) continue;
        for (let q = 0; q <= p; q++) own[b][p * Q + q] += fv * v[C + q];
        for (let q = 0; q < C; q++) cross[b][p * C + q] += fv * v[q];
      }
    },
    factor: () => factorArrow(layout, { border, own, cross, size }),
  };
}

interface ArrowParts {
  readonly border: Float64Array;
  readonly own: readonly Float64Array[];
  readonly cross: readonly Float64Array[];
  readonly size: Int32Array;
}

/** A pivot below this share of its diagonal is rounding. */
const SMALLEST_PIVOT = 1e-13;

function factorWhole(matrix: Float64Array, D: number): CholeskyFactor {
  return factorCholesky(
    matrix,
    D,
    Float64Array.from({ length: D }, (_, p) => SMALLEST_PIVOT * matrix[p * D + p]),
  );
}

function factorArrow(layout: Layout, { border, own, cross, size }: ArrowParts): FactoredArrow {
  const { dense, shaped, at } = layout;
  const C = dense + shaped;
  const eliminated = createOuterSum(C);
  const factors = own.map((matrix, b) => factorWhole(matrix, size[b]));
  const halves = factors.map((factor, b) => solveLower(factor, cross[b], C)); // L⁻¹ cross, [Q,C]
  halves.forEach((half, b) => {
    for (let q = 0; q < size[b]; q++) addOuter(eliminated, 1, half, q * C, C);
  });
  flushOuter(eliminated);
  const schur = border.slice();
  const { matrix, width } = eliminated;
  for (let p = 0; p < C; p++) for (let r = 0; r <= p; r++) schur[p * C + r] -= matrix[p * width + r];
  const atBorder = factorWhole(schur, C);
  return {
    parts: () => ({ border: atBorder, blocks: factors, cross: halves }),
    solve(right) {
      const out = new Float64Array(countTheta(layout));
      const rest = right.slice(0, C);
      const partial = factors.map((factor, b) => {
        const solved = solveCholesky(factor, right.subarray(at[b], at[b + 1]));
        subtractTransposed(cross[b], solved, rest);
        return solved;
      });
      const ofBorder = solveCholesky(atBorder, rest);
      out.set(ofBorder);
      partial.forEach((solved, b) => {
        const product = multiply(cross[b], ofBorder, size[b]);
        const back = solveCholesky(factors[b], product);
        for (let q = 0; q < size[b]; q++) out[at[b] + q] = solved[q] - back[q];
      });
      return out;
    },
    inverseDiagonal() {
      const out = new Float64Array(countTheta(layout));
      const inverse = invertLower(atBorder); // L⁻¹ of the Schur complement
      out.set(sumSquaresByColumn(inverse, C));
      factors.forEach((factor, b) => {
        const Q = size[b];
        out.set(sumSquaresByColumn(invertLower(factor), Q), at[b]);
        // What the border adds: diag(A⁻¹ C S⁻¹ Cᵀ A⁻¹), with A⁻¹C solved column by column of L⁻ᵀ.
        const solved = solveUpper(factor, halves[b], C); // A⁻¹ C, [Q,C]
        for (let q = 0; q < Q; q++) {
          let sum = 0;
          for (let p = 0; p < C; p++) {
            let dot = 0;
            for (let r = 0; r <= p; r++) dot += inverse[p * C + r] * solved[q * C + r];
            sum += dot * dot;
          }
          out[at[b] + q] += sum;
        }
      });
      return out;
    },
  };
}

/** L⁻ᵀ M for M [Q,C]. */
function solveUpper({ D, lower, kept }: CholeskyFactor, matrix: Float64Array, C: number): Float64Array {
  const out = matrix.slice();
  for (let j = D - 1; j >= 0; j--) {
    const row = j * C;
    if (kept[j] === 0) continue;
    const pivot = lower[j * D + j];
    for (let c = 0; c < C; c++) out[row + c] /= pivot;
    for (let k = 0; k < j; k++) {
      const l = lower[j * D + k];
      if (l === 0) continue;
      for (let c = 0; c < C; c++) out[k * C + c] -= l * out[row + c];
    }
  }
  return out;
}

function sumSquaresByColumn(matrix: Float64Array, D: number): Float64Array {
  const out = new Float64Array(D);
  for (let j = 0; j < D; j++) for (let k = 0; k < D; k++) out[k] += matrix[j * D + k] * matrix[j * D + k];
  return out;
}

/** out −= Mᵀ v. */
function subtractTransposed(matrix: Float64Array, v: Float64Array, out: Float64Array): void {
  const C = out.length;
  for (let q = 0; q < v.length; q++) {
    const vq = v[q];
    if (vq === 0) continue;
    for (let c = 0; c < C; c++) out[c] -= vq * matrix[q * C + c];
  }
}

function multiply(matrix: Float64Array, v: Float64Array, Q: number): Float64Array {
  const C = v.length;
  const out = new Float64Array(Q);
  for (let q = 0; q < Q; q++) for (let c = 0; c < C; c++) out[q] += matrix[q * C + c] * v[c];
  return out;
}
