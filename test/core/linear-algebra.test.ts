// Cholesky on matrices worked by hand, on random ones, and where columns are determined by others; the blocked outer
// sum.
import fc from "fast-check";
import { expect, test } from "vitest";
import {
  addOuter,
  createOuterSum,
  factorCholesky,
  flushOuter,
  invertCholesky,
  solveCholesky,
} from "../../src/core/linear-algebra.ts";
import { createRandom } from "../../src/core/random.ts";

test("a matrix worked by hand", () => {
  // [[4,2],[2,5]] = L Lᵀ with L = [[2,0],[1,2]]
  const factor = factorCholesky(Float64Array.of(4, 2, 2, 5), 2, [0, 0]);
  expect(Array.from(factor.lower)).toEqual([2, 0, 1, 2]);
  expect(factor.rank).toBe(2);
  expect(Array.from(solveCholesky(factor, [8, 12]))).toEqual([1, 2]);
  expect(Array.from(invertCholesky(factor))).toEqual([5 / 16, -2 / 16, -2 / 16, 4 / 16]);
});

test("a determined column is dropped and the others solved without it", () => {
  // column 1 = 2 × column 0; columns 0 and 2 are the matrix above
  const matrix = Float64Array.of(4, 8, 2, 8, 16, 4, 2, 4, 5);
  const factor = factorCholesky(matrix, 3, [1e-12, 1e-12, 1e-12]);
  expect(Array.from(factor.kept)).toEqual([1, 0, 1]);
  expect(factor.rank).toBe(2);
  expect(Array.from(solveCholesky(factor, [8, 99, 12]))).toEqual([1, 0, 2]);
  expect(Array.from(invertCholesky(factor))).toEqual([5 / 16, 0, -2 / 16, 0, 0, 0, -2 / 16, 0, 4 / 16]);
});

test("NaN and negative pivots are dropped, an empty matrix is fine", () => {
  expect(factorCholesky(Float64Array.of(Number.NaN), 1, [0]).rank).toBe(0);
  expect(factorCholesky(Float64Array.of(-1), 1, [0]).rank).toBe(0);
  expect(invertCholesky(factorCholesky(new Float64Array(0), 0, [])).length).toBe(0);
});

test("the blocked sum of outer products equals the plain one; inverting it gives the identity", () => {
  fc.assert(
    fc.property(
      fc.integer({ min: 1, max: 9 }),
      fc.integer({ min: 0, max: 23 }),
      fc.integer({ min: 1, max: 1e6 }),
      (D, extra, seed) => {
        const random = createRandom(seed);
        const N = D + extra;
        const vectors = Float64Array.from({ length: N * D }, () => random.normal());
        const factors = Float64Array.from({ length: N }, () => 0.5 + random.uniform());
        const sum = createOuterSum(D);
        for (let i = 0; i < N; i++) addOuter(sum, factors[i], vectors, i * D, D);
        flushOuter(sum);
        const plain = new Float64Array(D * D);
        for (let i = 0; i < N; i++)
          for (let j = 0; j < D; j++)
            for (let k = 0; k < D; k++)
              plain[j * D + k] += factors[i] * vectors[i * D + j] * vectors[i * D + k];
        for (let j = 0; j < D; j++)
          for (let k = 0; k <= j; k++)
            expect(Math.abs(sum.matrix[j * sum.width + k] - plain[j * D + k])).toBeLessThan(1e-12);

        const ridge = plain.map((entry, at) => (at % (D + 1) === 0 ? entry + 1 : entry));
        const factor = factorCholesky(ridge, D, new Float64Array(D));
        expect(factor.rank).toBe(D);
        const inverse = invertCholesky(factor);
        for (let j = 0; j < D; j++)
          for (let k = 0; k < D; k++) {
            let product = 0;
            for (let m = 0; m < D; m++) product += ridge[j * D + m] * inverse[m * D + k];
            expect(Math.abs(product - (j === k ? 1 : 0))).toBeLessThan(1e-10);
          }
      },
    ),
    { numRuns: 60, seed: 3 },
  );
});
