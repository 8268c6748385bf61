/**
 * Time-dependent concordance at three sizes, T = 102: against the all-pairs loop at 10,000 rows (equal counts are
 * checked before anything is timed), alone at 100,000 and, with float32 curves, at 1,000,000. `peakRssMiB` is the
 * highest resident memory of the whole process so far, so it bounds the case's own from above.
 */
import type { Curves } from "../src/data/curves/curves.ts";
import type { BinnedRightCensored } from "../src/data/outcomes/outcomes.ts";
import type { TimeDependentPairs } from "../src/stats/concordance/time-dependent.ts";

export interface BenchResult {
  readonly name: string;
  readonly seconds: number;
  readonly baseline?: { readonly name: string; readonly seconds: number };
  readonly extra?: Record<string, number | string>;
}

export interface Bench {
  readonly name: string;
  run(): Promise<BenchResult>;
}

const T = 102;
const SEED = 20240501;

type Random = typeof import("../src/core/random.ts");
type TimeDependent = typeof import("../src/stats/concordance/time-dependent.ts");

const loadRandom = () => import(new URL("../dist/core/random.js", import.meta.url).href) as Promise<Random>;
const loadConcordance = () =>
  import(
    new URL("../dist/stats/concordance/time-dependent.js", import.meta.url).href
  ) as Promise<TimeDependent>;

interface Cohort {
  readonly curves: Curves;
  readonly outcomes: BinnedRightCensored;
}

/**
 * Weibull curves of differing scale and shape (so that they cross), outcomes drawn from them, about four in five
 * censored.
 */
async function simulate(N: number, survival: Float64Array | Float32Array): Promise<Cohort> {
  const { createRandom } = await loadRandom();
  const random = createRandom(SEED);
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
  return { curves: { N, T, survival }, outcomes: { T, bin, event } };
}

/** The definition: every event with every row of a later bin, and with those of its own. */
function countAllPairs({ curves, outcomes }: Cohort): TimeDependentPairs {
  const { N, survival } = curves;
  const { bin, event } = outcomes;
  let pairs = 0;
  let concordant = 0;
  let tied = 0;
  let censoredPairs = 0;
  let censoredConcordant = 0;
  let censoredTied = 0;
  let eventPairs = 0;
  let eventTied = 0;
  for (let i = 0; i < N; i++) {
    if (event[i] !== 1) continue;
    const t = bin[i];
    const own = survival[i * T + t - 1];
    for (let j = 0; j < N; j++) {
      if (bin[j] < t) continue;
      const other = survival[j * T + t - 1];
      if (bin[j] > t) {
        pairs++;
        if (own < other) concordant++;
        else if (own === other) tied++;
      } else if (event[j] === 0) {
        censoredPairs++;
        if (own < other) censoredConcordant++;
        else if (own === other) censoredTied++;
      } else if (j < i) {
        eventPairs++;
        if (own === other) eventTied++;
      }
    }
  }
  return { pairs, concordant, tied, censoredPairs, censoredConcordant, censoredTied, eventPairs, eventTied };
}

function timed<R>(run: () => R): { value: R; seconds: number } {
  const started = performance.now();
  const value = run();
  return { value, seconds: (performance.now() - started) / 1000 };
}

const peakRssMiB = () => Math.round(process.resourceUsage().maxRSS / 1024);

async function againstAllPairs(name: string): Promise<BenchResult> {
  const N = 10_000;
  const cohort = await simulate(N, new Float64Array(N * T));
  const { timeDependentPairs } = await loadConcordance();
  const run = () => timeDependentPairs(cohort.curves, cohort.outcomes);
  const expected = countAllPairs(cohort);
  const counted = run();
  for (const key of Object.keys(expected) as (keyof TimeDependentPairs)[]) {
    if (counted[key] !== expected[key]) throw new Error(`${key}: ${counted[key]} is not ${expected[key]}`);
  }
  const slow = timed(() => countAllPairs(cohort));
  const fast = timed(run);
  return {
    name,
    seconds: fast.seconds,
    baseline: { name: "all pairs", seconds: slow.seconds },
    extra: { pairs: expected.pairs, peakRssMiB: peakRssMiB() },
  };
}

async function alone(name: string, N: number, survival: Float64Array | Float32Array): Promise<BenchResult> {
  const cohort = await simulate(N, survival);
  const { timeDependentPairs } = await loadConcordance();
  const { value, seconds } = timed(() => timeDependentPairs(cohort.curves, cohort.outcomes));
  return { name, seconds, extra: { pairs: value.pairs, peakRssMiB: peakRssMiB() } };
}

const SMALL = "time-dependent concordance, 10,000 × 102";
const MIDDLE = "time-dependent concordance, 100,000 × 102";
const LARGE = "time-dependent concordance, 1,000,000 × 102, float32";

export const benches: readonly Bench[] = [
  { name: SMALL, run: () => againstAllPairs(SMALL) },
  { name: MIDDLE, run: () => alone(MIDDLE, 100_000, new Float64Array(100_000 * T)) },
  { name: LARGE, run: () => alone(LARGE, 1_000_000, new Float32Array(1_000_000 * T)) },
];
