/**
 * 1000 bootstrap replicates of all scores on 5,000 rows × 102 bins, on two threads, start of the workers and their
 * reading of the code included. Before timing, one replicate is compared with the plain form on physically repeated
 * rows. The baseline is the plain form on one thread, timed on a few replicates and multiplied: 1000 of them would
 * only make the wait longer.
 */
import type { Curves } from "../src/data/curves/curves.ts";
import type { BinnedRightCensored } from "../src/data/outcomes/outcomes.ts";

interface BenchResult {
  readonly name: string;
  readonly seconds: number;
  readonly baseline?: { readonly name: string; readonly seconds: number };
  readonly extra?: Record<string, number | string>;
}

const N = 5000;
const T = 102;
const REPLICATES = 1000;
const PLAIN_REPLICATES = 10;
const SEED = 20240501;
const AGREEMENT = 1e-10;

async function load<Module>(path: string): Promise<Module> {
  return (await import(new URL(`../dist/${path}`, import.meta.url).href)) as Module;
}
const loadRandom = () => load<typeof import("../src/core/random.ts")>("core/random.js");
const loadBootstrap = () => load<typeof import("../src/stats/scores/bootstrap.ts")>("stats/bootstrap.js");
const loadPrepared = () =>
  load<typeof import("../src/stats/scores/prepared-scores.ts")>("stats/prepared-scores.js");
const loadEvaluate = () =>
  load<typeof import("../src/stats/scores/evaluate-scores.ts")>("stats/evaluate-scores.js");
const loadScores = () => load<typeof import("../src/stats/scores/scores.ts")>("stats/scores.js");
const loadPool = () => load<typeof import("../src/node/workers/replicate-pool.ts")>("node/replicate-pool.js");

/**
 * Weibull curves of differing scale and shape (so that they cross), outcomes drawn from them, about four in five
 * censored.
 */
async function simulate(): Promise<{ curves: Curves; binned: BinnedRightCensored }> {
  const { createRandom } = await loadRandom();
  const random = createRandom(SEED);
  const survival = new Float64Array(N * T);
  const bin = new Int32Array(N);
  const event = new Uint8Array(N);
  for (let row = 0; row < N; row++) {
    const rate = 0.35 * Math.exp(0.7 * random.normal());
    const shape = 0.6 + random.uniform();
    for (let t = 1; t <= T; t++) survival[row * T + t - 1] = Math.exp(-rate * (t / T) ** shape);
    const dies = Math.ceil(T * (-Math.log(1 - random.uniform()) / rate) ** (1 / shape));
    const leaves = 1 + random.integer(T);
    event[row] = dies <= leaves ? 1 : 0;
    bin[row] = Math.max(1, Math.min(dies, leaves));
  }
  return { curves: { N, T, survival }, binned: { T, bin, event } };
}

const secondsSince = (started: number) => (performance.now() - started) / 1000;

async function run(name: string): Promise<BenchResult> {
  const { curves, binned } = await simulate();
  const { bootstrapWeights } = await loadBootstrap();
  const { prepareScores } = await loadPrepared();
  const { evaluate, readScoreValues } = await loadEvaluate();
  const { scoreCurves } = await loadScores();
  const { bootstrapInParallel } = await loadPool();

  const scorePlainly = (replicate: number) => {
    const weights = bootstrapWeights(N, SEED, replicate);
    const rows = new Int32Array(N);
    let filled = 0;
    weights.forEach((count, row) => {
      rows.fill(row, filled, filled + count);
      filled += count;
    });
    return scoreCurves("all", curves, binned, rows);
  };

  let started = performance.now();
  const prepared = prepareScores("all", curves, binned);
  const prepareSeconds = secondsSince(started);

  const plain = scorePlainly(0);
  const fast = readScoreValues(evaluate(prepared, bootstrapWeights(N, SEED, 0)));
  const pairs: readonly (readonly [string, number | null, number])[] = [
    ["concordance", plain.concordance, fast.concordance],
    ["concordanceHalfTies", plain.concordanceHalfTies, fast.concordanceHalfTies],
    ["ece", plain.ece, fast.ece],
    ["distanceL2", plain.distanceL2, fast.distanceL2],
    ["distanceVariance", plain.distanceVariance, fast.distanceVariance],
    ["ibs", plain.ibs, fast.ibs],
    ["dCalibration", plain.dCalibration.chi2, fast.dCalibrationChi2],
    ["rps", plain.rps, fast.rps],
    ["logrank", plain.logrank.chi2, fast.logrankChi2],
    ["logrankIndividual", plain.logrankIndividual.chi2, fast.logrankIndividualChi2],
    ["paper.ece", plain.paper.ece, fast.paperEce],
  ];
  for (const [field, expected, actual] of pairs) {
    if (expected !== null && Math.abs(actual - expected) <= AGREEMENT * Math.max(1, Math.abs(expected)))
      continue;
    throw new Error(`${field}: ${actual} is not ${expected}`);
  }

  started = performance.now();
  for (let replicate = 1; replicate <= PLAIN_REPLICATES; replicate++) scorePlainly(replicate);
  const plainSeconds = (secondsSince(started) / PLAIN_REPLICATES) * REPLICATES;

  started = performance.now();
  await bootstrapInParallel([prepared], { replicates: REPLICATES, seed: SEED, threads: 2 });
  const seconds = secondsSince(started);
  return {
    name,
    seconds,
    baseline: {
      name: `the plain form on one thread, extrapolated from ${PLAIN_REPLICATES} replicates`,
      seconds: plainSeconds,
    },
    extra: {
      msPerReplicate: Number(((1000 * seconds) / REPLICATES).toFixed(2)),
      plainMsPerReplicate: Number(((1000 * plainSeconds) / REPLICATES).toFixed(2)),
      prepareMs: Math.round(1000 * prepareSeconds),
      peakRssMiB: Math.round(process.resourceUsage().maxRSS / 1024),
    },
  };
}

const NAME = "bootstrap of all scores, 1000 replicates, 5,000 × 102, two threads";

export const benches: readonly { readonly name: string; run(): Promise<BenchResult> }[] = [
  { name: NAME, run: () => run(NAME) },
];
