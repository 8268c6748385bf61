/**
 * One full-batch training step of the DRSA network without its objective: LSTM forward and backward over N 2416, D 10,
 * T 102, H 50 (nwtco's training rows), on one and on two threads, with relaxed and with plain SIMD. Logits and
 * gradients of 32 rows must agree with the float64 reference first. GFLOP/s count the three recurrent products only,
 * 6·N·T·4H·H; the peak is that of multiply-adds in registers on one thread, times the threads. The first step, which
 * warms up, is not timed.
 */
import { checkStep, prepare, SHAPE, step } from "./lstm-problem.ts";
import { measurePeak } from "./peak.ts";

interface BenchResult {
  readonly name: string;
  readonly seconds: number;
  readonly extra?: Record<string, number | string>;
}

const N = 2416;
const REPEATS = 9;
const FLOPS = 6 * N * SHAPE.T * 4 * SHAPE.H * SHAPE.H;

const median = (values: readonly number[]) => [...values].sort((a, b) => a - b)[values.length >> 1];

async function benchStep(name: string, threads: number, deterministic: boolean): Promise<BenchResult> {
  const { openWasmBackend } = await import("../dist/node/workers/wasm-backend.js");
  const backend = await openWasmBackend({ threads, deterministic });
  await checkStep(name, backend);

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
