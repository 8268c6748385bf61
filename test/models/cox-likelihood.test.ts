// The two-pass sums of the partial likelihood against a slow twin written from the definition, and its derivatives by
// differences.
import fc from "fast-check";
import { expect, test } from "vitest";
import { createRandom } from "../../src/core/random.ts";
import { createCoxWork, evaluateCox } from "../../src/models/cox/likelihood.ts";
import { type CoxTies, orderRows, prepareRows } from "../../src/models/cox/rows.ts";

interface Case {
  readonly seed: number;
  readonly N: number;
  readonly D: number;
  readonly ties: CoxTies;
  readonly distinct: number;
  readonly weighted: boolean;
}

const cases = fc.record<Case>({
  seed: fc.integer({ min: 1, max: 1e6 }),
  N: fc.integer({ min: 2, max: 25 }),
  D: fc.integer({ min: 1, max: 5 }),
  ties: fc.constantFrom("efron" as const, "breslow" as const),
  distinct: fc.constantFrom(1, 3, 1000),
  weighted: fc.boolean(),
});

function simulate({ seed, N, D, ties, distinct, weighted }: Case) {
  const random = createRandom(seed);
  const input = {
    time: Float64Array.from({ length: N }, () => random.integer(distinct)),
    event: Uint8Array.from({ length: N }, (_, i) => (i === 0 || random.uniform() < 0.6 ? 1 : 0)),
    x: Float64Array.from({ length: N * D }, () => random.normal()),
    D,
  };
  const weights = weighted ? Array.from({ length: N }, () => 0.5 + random.uniform()) : undefined;
  const beta = Float64Array.from({ length: D }, () => random.normal());
  return { rows: prepareRows(input, { ties, timefix: true, weights }).rows, beta };
}

/** Straight from the definition: every death time, every tied death, every row at risk. */
function slowLogLikelihood(rows: ReturnType<typeof simulate>["rows"], beta: Float64Array) {
  const { N, D, ties, x, event, weight, times, start } = rows;
  const predictor = Array.from({ length: N }, (_, i) =>
    beta.reduce((sum, b, j) => sum + b * x[i * D + j], 0),
  );
  let logLikelihood = 0;
  let H = 0;
  const hazard = Array.from(times, (_, k) => {
    const deaths = Array.from({ length: start[k + 1] - start[k] }, (_, m) => start[k] + m).filter(
      (i) => event[i] === 1,
    );
    const atRisk = Array.from({ length: N - start[k] }, (_, m) => start[k] + m);
    const sum = (set: readonly number[]) =>
      set.reduce((total, i) => total + weight[i] * Math.exp(predictor[i]), 0);
    const meanWeight = deaths.reduce((total, i) => total + weight[i], 0) / deaths.length;
    for (const i of deaths) logLikelihood += weight[i] * predictor[i];
    deaths.forEach((_, m) => {
      const denominator = sum(atRisk) - (ties === "efron" ? m / deaths.length : 0) * sum(deaths);
      logLikelihood -= meanWeight * Math.log(denominator);
      H += meanWeight / denominator;
    });
    return H;
  });
  return { logLikelihood, hazard };
}

test("value and hazard equal the slow twin's; score and information are its derivatives", () => {
  fc.assert(
    fc.property(cases, (options) => {
      const { rows, beta } = simulate(options);
      const { D } = rows;
      const work = createCoxWork(rows);
      const fast = evaluateCox(rows, beta, work);
      const slow = slowLogLikelihood(rows, beta);
      const scale = 1 + Math.abs(slow.logLikelihood);
      expect(Math.abs(fast.logLikelihood - slow.logLikelihood) / scale).toBeLessThan(1e-13);
      slow.hazard.forEach((expected, k) => {
        const H = work.exposure[k] * Math.exp(-work.shift[k]);
        expect(Math.abs(H - expected)).toBeLessThanOrEqual(1e-12 * expected);
      });
      const step = 1e-5;
      for (let j = 0; j < D; j++) {
        const at = (sign: number) => beta.map((b, k) => (k === j ? b + sign * step : b));
        const high = slowLogLikelihood(rows, at(1)).logLikelihood;
        const low = slowLogLikelihood(rows, at(-1)).logLikelihood;
        expect(fast.score[j]).toBeCloseTo((high - low) / (2 * step), 5);
        const scoreHigh = evaluateCox(rows, at(1), createCoxWork(rows)).score;
        const scoreLow = evaluateCox(rows, at(-1), createCoxWork(rows)).score;
        for (let k = 0; k < D; k++)
          expect(fast.information[k * D + j]).toBeCloseTo((scoreLow[k] - scoreHigh[k]) / (2 * step), 5);
      }
    }),
    { numRuns: 80, seed: 7 },
  );
});

test("no overflow where the linear predictor is in the thousands", () => {
  const input = {
    time: Float64Array.of(1, 2, 3, 4),
    event: Uint8Array.of(1, 1, 1, 1),
    x: Float64Array.of(0, 1, 2, 3),
    D: 1,
  };
  const { rows, scales } = prepareRows(input, { ties: "efron", timefix: true, weights: undefined });
  const { logLikelihood } = evaluateCox(rows, Float64Array.of(1000 * scales[0]), createCoxWork(rows));
  // x falls behind by 3000, 2000 and 1000 in the first three risk sets; exp(−1000) vanishes beside 1.
  expect(logLikelihood).toBeCloseTo(-6000, 9);
});

test("sorting by time keeps the order of ties and leaves unused rows out", () => {
  const options = { weights: [1, 1, 1, 1, 1, 0], timefix: true };
  const { order, times, start } = orderRows(Float64Array.of(3, 1, 2, 1, 3, 0), undefined, options);
  expect(Array.from(order)).toEqual([1, 3, 2, 0, 4]);
  expect(Array.from(times)).toEqual([1, 2, 3]);
  expect(Array.from(start)).toEqual([0, 2, 3, 5]);
});
