/**
 * The step of lstm-step.bench.ts on a graphics device, for tables of several lengths. Operations return when they are
 * submitted, so what is timed is a run of steps that ends with reading one number; logits and gradients of 32 rows must
 * agree with the float64 reference first. TFLOP/s count the three recurrent products only. No device, no benchmark.
 */
import { checkStep, prepare, SHAPE, step } from "./lstm-problem.ts";

const LENGTHS = [2416, 4724, 16_384];
const STEPS = 20;
const REPEATS = 5;

async function openDevice() {
  const { openWebGpuBackend } = await import("../dist/node/workers/webgpu-backend.js");
  return openWebGpuBackend({ tapeLimit: 2 ** 33 });
}

async function hasDevice(): Promise<boolean> {
  const { findGraphics } = await import("../dist/node/workers/webgpu-backend.js");
  const backend = await findGraphics();
  await backend?.close();
  return backend !== null;
}

async function benchStep(name: string, N: number) {
  const backend = await openDevice();
  const gap = await checkStep(name, backend);

  const problem = await prepare(backend, N);
  const { weights, x, logits, tape, gradient } = problem;
  const time = async (work: () => Promise<unknown>): Promise<number> => {
    const times: number[] = [];
    // The first one warms up.
    for (let k = 0; k <= REPEATS; k++) {
      const start = performance.now();
      for (let j = 0; j < STEPS; j++) await work();
      await backend.read(gradient.outputBias);
      times.push((performance.now() - start) / 1000 / STEPS);
    }
    return times.slice(1).sort((a, b) => a - b)[REPEATS >> 1];
  };
  const forward = await time(() => backend.lstmForward(SHAPE, weights, x, N, logits, tape));
  const seconds = await time(() => step(backend, problem, N));
  await backend.close();
  const flops = 6 * N * SHAPE.T * 4 * SHAPE.H * SHAPE.H;
  return {
    name,
    seconds,
    extra: {
      adapter: backend.adapter,
      stepMs: Math.round(1e6 * seconds) / 1000,
      forwardMs: Math.round(1e6 * forward) / 1000,
      teraflops: Math.round(flops / seconds / 1e10) / 100,
      gap,
    },
  };
}

export const benches = (await hasDevice())
  ? LENGTHS.map((N) => {
      const name = `lstm-step on a graphics device, N ${N}`;
      return { name, run: () => benchStep(name, N) };
    })
  : [];
