/**
 * One full-batch training step of the DRSA network without its objective: LSTM forward and backward over N 2416, D 10,
 * T 102, H 50 (nwtco's training rows), on one and on two threads, with relaxed and with plain SIMD. Logits and
 * gradients of 32 rows must agree with the float64 reference first. GFLOP/s count the three recurrent products only,
 * 6·N·T·4H·H; the peak is that of multiply-adds in registers on one thread, times the threads. The first step, which
 * warms up, is not timed.
 */
import type { Backend, DeviceArray, Floats, LstmTape } from "../src/compute/backend.ts";
import type { LstmShape, LstmWeights } from "../src/compute/shapes.ts";
import { measurePeak } from "./peak.ts";

interface BenchResult {
  readonly name: string;
  readonly seconds: number;
  readonly extra?: Record<string, number | string>;
}

const N = 2416;
const SHAPE: LstmShape = { D: 10, H: 50, T: 102 };
const CHECKED_ROWS = 32;
const TOLERANCE = 2e-5;
const REPEATS = 9;
const FLOPS = 6 * N * SHAPE.T * 4 * SHAPE.H * SHAPE.H;

interface Problem {
  readonly weights: LstmWeights;
  readonly gradient: LstmWeights;
  readonly x: DeviceArray;
  readonly logits: DeviceArray;
  readonly dLogits: DeviceArray;
  readonly tape: LstmTape;
}

async function prepare(backend: Backend, rows: number): Promise<Problem> {
  const { createRandom } = await import("../dist/core/random.js");
  const { countNumbers, lstmWeightShapes } = await import("../dist/compute/shapes.js");
  const { D, H, T } = SHAPE;
  const draw = (length: number, stream: number, scale: number) => {
    const random = createRandom(1, stream);
    const array = backend.allocate(length);
    backend.write(
      array,
      Float32Array.from({ length }, () => random.normal() * scale),
    );
    return array;
  };
  const weights: Record<string, DeviceArray> = {};
  const gradient: Record<string, DeviceArray> = {};
  Object.entries(lstmWeightShapes(SHAPE)).forEach(([name, shape], k) => {
    const length = countNumbers(shape);
    weights[name] = draw(length, k, 1 / Math.sqrt(H));
    gradient[name] = backend.allocate(length);
  });
  return {
    weights: weights as unknown as LstmWeights,
    gradient: gradient as unknown as LstmWeights,
    x: draw(rows * D, 10, 1),
    logits: backend.allocate(rows * T),
    dLogits: draw(rows * T, 11, 1 / rows),
    tape: backend.createTape(),
  };
}

async function step(
  backend: Backend,
  problem: Problem,
  rows: number,
): Promise<{ forward: number; backward: number }> {
  const { weights, gradient, x, logits, dLogits, tape } = problem;
  const start = performance.now();
  await backend.lstmForward(SHAPE, weights, x, rows, logits, tape);
  const middle = performance.now();
  await backend.lstmBackward(tape, dLogits, gradient);
  return { forward: (middle - start) / 1000, backward: (performance.now() - middle) / 1000 };
}

async function readResults(backend: Backend, { logits, gradient }: Problem): Promise<Floats[]> {
  const arrays = [logits, ...Object.values<DeviceArray>(gradient)];
  return Promise.all(arrays.map((array) => backend.read(array)));
}

/** Largest difference relative to the largest entry, over logits and gradients. */
function worstGap(results: readonly Floats[], truths: readonly Floats[]): number {
  let worst = 0;
  results.forEach((values, k) => {
    const truth = truths[k];
    let gap = 0;
    let largest = 0;
    for (let i = 0; i < truth.length; i++) {
      gap = Math.max(gap, Math.abs(values[i] - truth[i]));
      largest = Math.max(largest, Math.abs(truth[i]));
    }
    worst = Math.max(worst, gap / largest);
  });
  return worst;
}

const median = (values: readonly number[]) => [...values].sort((a, b) => a - b)[values.length >> 1];

async function benchStep(name: string, threads: number, deterministic: boolean): Promise<BenchResult> {
  const { openWasmBackend } = await import("../dist/node/workers/wasm-backend.js");
  const { createReferenceBackend } = await import("../dist/compute/reference.js");
  const backend = await openWasmBackend({ threads, deterministic });
  const reference = createReferenceBackend();
  const truth = await prepare(reference, CHECKED_ROWS);
  await step(reference, truth, CHECKED_ROWS);
  const checked = await prepare(backend, CHECKED_ROWS);
  await step(backend, checked, CHECKED_ROWS);
  const gap = worstGap(await readResults(backend, checked), await readResults(reference, truth));
  if (!(gap < TOLERANCE)) throw new Error(`${name}: ${gap} from the reference`);

  const problem = await prepare(backend, N);
  await step(backend, problem, N);
  const times: { forward: number; backward: number }[] = [];
  for (let k = 0; k < REPEATS; k++) times.push(await step(backend, problem, N));
  const { simd } = backend;
  await backend.close();
  const peak = (await measurePeak(simd)) * threads;
  const seconds = median(times.map((t) => t.forward + t.backward));
  return {
    name,
    seconds,
    extra: {
      simd,
      forwardMs: Math.round(1000 * median(times.map((t) => t.forward))),
      backwardMs: Math.round(1000 * median(times.map((t) => t.backward))),
      fastestMs: Math.round(1000 * Math.min(...times.map((t) => t.forward + t.backward))),
      gigaflops: Math.round(FLOPS / seconds / 1e8) / 10,
      shareOfPeak: Math.round((100 * FLOPS) / seconds / peak) / 100,
      peakGigaflops: Math.round(peak / 1e8) / 10,
    },
  };
}

export const benches = [
  { name: "lstm-step on one thread", threads: 1, deterministic: false },
  { name: "lstm-step on two threads", threads: 2, deterministic: false },
  { name: "lstm-step on one thread, deterministic", threads: 1, deterministic: true },
  { name: "lstm-step on two threads, deterministic", threads: 2, deterministic: true },
].map(({ name, threads, deterministic }) => ({ name, run: () => benchStep(name, threads, deterministic) }));
