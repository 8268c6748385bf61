/**
 * A whole training step on a graphics device, as the paper's run takes it: forward, likelihood with the tail term,
 * group means and their squared gaps, multipliers, backward, Adam, over all rows (device-step.ts says what is timed).
 * TFLOP/s count the three recurrent products only. Beside it the same step in PyTorch, where that has a CUDA device. No
 * device, no benchmark.
 */
import { checkSteps, H, hasDevice, LENGTHS, openDevice, T, timeStep } from "./device-step.ts";
import { describeTorch, type TorchTimes, timeTorch } from "./torch-step.ts";

let torchTimes: ReadonlyMap<number, TorchTimes> | null = null;

async function benchRun(name: string, N: number, D: number) {
  const { PRESETS } = await import("../dist/training/options.js");
  torchTimes ??= timeTorch(LENGTHS);
  const { torch, baseline } = describeTorch(torchTimes.get(N));
  const run = { causes: 1, options: { ...PRESETS.paper, patience: null } };
  const backend = await openDevice();
  const gap = await checkSteps(backend, run);
  const milliseconds = await timeStep(backend, [N, D], run);
  await backend.close();
  const flops = 6 * N * T * 4 * H * H;
  return {
    name,
    seconds: milliseconds / 1000,
    ...(baseline !== undefined && { baseline }),
    extra: {
      adapter: backend.adapter,
      stepMs: Math.round(1000 * milliseconds) / 1000,
      teraflops: Math.round(flops / milliseconds / 1e7) / 100,
      gap,
      ...torch,
    },
  };
}

export const benches = (await hasDevice())
  ? LENGTHS.map(([N, D]) => {
      const name = `training step on a graphics device, N ${N}`;
      return { name, run: () => benchRun(name, N, D) };
    })
  : [];
