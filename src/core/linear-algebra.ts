/**
 * Small dense symmetric systems: the Cholesky factor A = L Lᵀ of a positive semi-definite matrix [D,D], and solving and
 * inverting with it. A column that the earlier ones already determine is dropped, not divided by: it takes no part in
 * the factor, its solution entries are 0, its inverse rows and columns are 0. D is the number of covariates, tens to
 * hundreds; nothing here is meant for more. Only lower triangles are read. Also the sum Σ c·v vᵀ over many vectors,
 * blocked because it is where fitting a Cox model spends its time.
 */

export interface CholeskyFactor {
  readonly D: number;
  /** Row-major lower triangle; rows and columns of dropped columns are 0. */
  readonly lower: Float64Array; // [D,D]
  /** 1 = used, 0 = dropped. */
  readonly kept: Uint8Array; // [D]
  readonly rank: number;
}

/**
 * Factors A, dropping column j where the pivot (what is left of A[j,j] after the columns before it) is not above
 * smallestPivot[j]. A NaN pivot is dropped too.
 */
export function factorCholesky(
  matrix: Float64Array, // [D,D]
  D: number,
  smallestPivot: ArrayLike<number>, // [D]
): CholeskyFactor {
  const lower = new Float64Array(D * D);
  const kept = new Uint8Array(D);
  let rank = 0;
  for (let j = 0; j < D; j++) {
    for (let k = 0; k <= j; k++) {
      if (k < j && kept[k] === 0) continue;
      let sum = matrix[j * D + k];
      for (let m = 0; m < k; m++) sum -= lower[j * D + m] * lower[k * D + m];
      if (k < j) lower[j * D + k] = sum / lower[k * D + k];
      else if (sum > smallestPivot[j]) {
        lower[j * D + j] = Math.sqrt(sum);
        kept[j] = 1;
        rank++;
      }
    }
    if (kept[j] === 0) lower.fill(0, j * D, j * D + D);
  }
  return { D, lower, kept, rank };
}

/** x with A x = b on the kept columns, 0 on the dropped ones. */
export function solveCholesky(factor: CholeskyFactor, b: ArrayLike<number>): Float64Array {
  const { D, lower, kept } = factor;
  const x = new Float64Array(D);
  for (let j = 0; j < D; j++) {
    if (kept[j] === 0) continue;
    let sum = b[j];
    for (let k = 0; k < j; k++) sum -= lower[j * D + k] * x[k];
    x[j] = sum / lower[j * D + j];
  }
  for (let j = D - 1; j >= 0; j--) {
    if (kept[j] === 0) continue;
    let sum = x[j];
    for (let k = j + 1; k < D; k++) sum -= lower[k * D + j] * x[k];
    x[j] = sum / lower[j * D + j];
  }
  return x;
}

/** A⁻¹ on the kept columns, 0 on the dropped ones; exactly symmetric. */
export function invertCholesky(factor: CholeskyFactor): Float64Array {
  const { D, kept } = factor;
  const inverse = new Float64Array(D * D);
  const unit = new Float64Array(D);
  for (let j = 0; j < D; j++) {
    if (kept[j] === 0) continue;
    unit[j] = 1;
    const column = solveCholesky(factor, unit);
    unit[j] = 0;
    for (let k = 0; k <= j; k++) inverse[j * D + k] = inverse[k * D + j] = column[k];
  }
  return inverse;
}

/** L⁻¹ M for M [Q,C]; rows of dropped columns are 0. */
export function solveLower(
  { D, lower, kept }: CholeskyFactor,
  matrix: Float64Array,
  C: number,
): Float64Array {
  const out = matrix.slice();
  for (let j = 0; j < D; j++) {
    const row = j * C;
    if (kept[j] === 0) {
      out.fill(0, row, row + C);
      continue;
    }
    for (let k = 0; k < j; k++) {
      const l = lower[j * D + k];
      if (l === 0) continue;
      for (let c = 0; c < C; c++) out[row + c] -= l * out[k * C + c];
    }
    const pivot = lower[j * D + j];
    for (let c = 0; c < C; c++) out[row + c] /= pivot;
  }
  return out;
}

/** L⁻¹, row-major; rows of dropped columns are 0. */
export function invertLower(factor: CholeskyFactor): Float64Array {
  const { D } = factor;
  const unit = new Float64Array(D * D);
  for (let j = 0; j < D; j++) unit[j * D + j] = 1;
  return solveLower(factor, unit, D);
}

/**
 * How many outer products are gathered before they are added to the matrix, whose entries are then touched once per 4.
 */
const BLOCK = 4;

/** A sum of c·v vᵀ: the lower triangle of `matrix`, and the vectors still waiting to be added to it. */
export interface OuterSum {
  /** D rounded up to even, so that the matrix can be updated two rows at a time. */
  readonly width: number;
  readonly matrix: Float64Array; // [width,width]
  readonly vectors: Float64Array; // [BLOCK,width]
  readonly factors: Float64Array; // [BLOCK]
  filled: number;
}

export function createOuterSum(D: number): OuterSum {
  const width = D + (D % 2);
  return {
    width,
    matrix: new Float64Array(width * width),
    vectors: new Float64Array(BLOCK * width),
    factors: new Float64Array(BLOCK),
    filled: 0,
  };
}

/** Adds factor · v vᵀ, v = the D entries of `from` from `offset` on; call flushOuter before reading the matrix. */
export function addOuter(sum: OuterSum, factor: number, from: Float64Array, offset: number, D: number): void {
  const { vectors } = sum;
  const to = sum.filled * sum.width;
  for (let j = 0; j < D; j++) vectors[to + j] = from[offset + j];
  sum.factors[sum.filled] = factor;
  if (++sum.filled === BLOCK) flushOuter(sum);
}

/** The hot loop: two rows of the matrix by four vectors, so that eight products share six loads. */
export function flushOuter(sum: OuterSum): void {
  const { width, matrix: m, vectors: v, factors } = sum;
  factors.fill(0, sum.filled); // in a partial block, what is left of the previous block must not count
  sum.filled = 0;
  const f0 = factors[0];
  const f1 = factors[1];
  const f2 = factors[2];
  const f3 = factors[3];
  const w2 = 2 * width;
  const w3 = 3 * width;
  for (let j = 0; j < width; j += 2) {
    const a0 = f0 * v[j];
    const a1 = f1 * v[width + j];
    const a2 = f2 * v[w2 + j];
    const a3 = f3 * v[w3 + j];
    const b0 = f0 * v[j + 1];
    const b1 = f1 * v[width + j + 1];
    const b2 = f2 * v[w2 + j + 1];
    const b3 = f3 * v[w3 + j + 1];
    const upper = j * width;
    const lower = upper + width;
    for (let k = 0; k <= j + 1; k++) {
      const v0 = v[k];
      const v1 = v[width + k];
      const v2 = v[w2 + k];
      const v3 = v[w3 + k];
      m[upper + k] += a0 * v0 + a1 * v1 + a2 * v2 + a3 * v3;
      m[lower + k] += b0 * v0 + b1 * v1 + b2 * v2 + b3 * v3;
    }
  }
}

/** A pivot this much smaller than its diagonal is rounding error: the matrix is singular there. */
const SINGULAR_PIVOT = 1e-12;

/** vᵀ M⁻¹ v over the rows and columns `used`; undefined where M is singular there. */
export function solveQuadratic(
  matrix: Float64Array, // [D,D]
  v: Float64Array, // [D]
  used: readonly number[],
): number | undefined {
  const D = v.length;
  const size = used.length;
  const part = Float64Array.from(
    { length: size * size },
    (_, at) => matrix[used[Math.floor(at / size)] * D + used[at % size]],
  );
  const bounds = used.map((j) => SINGULAR_PIVOT * matrix[j * D + j]);
  const factor = factorCholesky(part, size, bounds);
  if (factor.rank < size) return undefined;
  const own = used.map((j) => v[j]);
  return solveCholesky(factor, own).reduce((sum, x, k) => sum + x * own[k], 0);
}
