/**
 * Fitting a Cox model to 100,000 rows of 20 covariates, with continuous times (every death alone) and with times
 * rounded to fiftieths (deaths tied by the hundred). The fit must lie within 4.5 standard errors of the simulated
 * coefficients first.
 */

interface BenchResult {
  readonly name: string;
  readonly seconds: number;
  readonly extra?: Record<string, number | string>;
}

const N = 100_000;
const D = 20;
const REPEATS = 5;
/** Twenty coefficients are checked: chance alone exceeds this once in 7,000 runs. */
const LARGEST_Z = 4.5;

async function benchFit(name: string, stepsPerUnit: number): Promise<BenchResult> {
  const { createRandom } = await import("../dist/core/random.js");
  const { fitCox } = await import("../dist/models/cox/cox.js");
  const random = createRandom(1);
  const beta = Float64Array.from({ length: D }, (_, j) => ((j % 5) - 2) / 5);
  const x = Float64Array.from({ length: N * D }, () => random.normal());
  const time = new Float64Array(N);
  const event = new Uint8Array(N);
  for (let i = 0; i < N; i++) {
    let predictor = 0;
    for (let j = 0; j < D; j++) predictor += x[i * D + j] * beta[j];
    const death = -Math.log(1 - random.uniform()) * Math.exp(-predictor);
    const censoring = -2 * Math.log(1 - random.uniform());
    const observed = Math.min(death, censoring);
    event[i] = death <= censoring ? 1 : 0;
    time[i] = stepsPerUnit === 0 ? observed : Math.ceil(observed * stepsPerUnit) / stepsPerUnit;
  }
  const seconds: number[] = [];
  let iterations = 0;
  for (let repeat = 0; repeat < REPEATS; repeat++) {
    const start = performance.now();
    const model = fitCox({ time, event, x, D });
    seconds.push((performance.now() - start) / 1000);
    iterations = model.iterations;
    const largest = beta.reduce(
      (z, b, j) => Math.max(z, Math.abs(model.coefficients[j] - b) / model.standardErrors[j]),
      0,
    );
    if (!(model.converged && largest < LARGEST_Z))
      throw new Error(`${name}: fit is off by ${largest} standard errors`);
  }
  seconds.sort((a, b) => a - b);
  return {
    name,
    seconds: seconds[REPEATS >> 1],
    extra: { rows: N, columns: D, iterations, spread: (seconds[REPEATS - 1] - seconds[0]).toFixed(3) },
  };
}

const CASES = [
  { name: "cox fit 100000 × 20, Efron, continuous times", stepsPerUnit: 0 },
  { name: "cox fit 100000 × 20, Efron, tied times", stepsPerUnit: 50 },
];

export const benches = CASES.map(({ name, stepsPerUnit }) => ({
  name,
  run: () => benchFit(name, stepsPerUnit),
}));
