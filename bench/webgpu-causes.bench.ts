/**
 * A whole training step with two causes on a graphics device against one with one kind of event on the same rows, in
 * turns in one process: forward, likelihood, events expected of each group and cause in ten blocks of time, multipliers,
 * backward, Adam, over all rows (device-step.ts says what is timed). Beside it the step with two causes in PyTorch,
 * where that has a CUDA device. No device, no benchmark.
 */
import { checkSteps, hasDevice, LENGTHS, openDevice, timeStep } from "./device-step.ts";
import { describeTorch, type TorchTimes, timeTorch } from "./torch-step.ts";

const LONGEST = 50_000;
const CAUSES = 2;
const TURNS = 2;

const lengths = LENGTHS.filter(([N]) => N <= LONGEST);
let torchTimes: ReadonlyMap<number, TorchTimes> | null = null;

async function runOf(causes: number) {
  const { PRESETS } = await import("../dist/training/options.js");
  return {
    causes,
    options: {
      ...PRESETS.paper,
      objective: { kind: "likelihood", tail: false },
      constraint: { distance: "atRisk", variant: "paper", slack: 0.5, strata: 1 },
      patience: null,
    },
  } as const;
}

const round = (one: number) => Math.round(1000 * one) / 1000;

async function benchCauses(name: string, length: readonly [number, number]) {
  torchTimes ??= timeTorch(lengths, CAUSES);
  const { torch, baseline } = describeTorch(torchTimes.get(length[0]));
  const [single, several] = [await runOf(1), await runOf(CAUSES)];
  const backend = await openDevice();
  const gap = await checkSteps(backend, several, "gradients");
  const [singleMs, severalMs]: [number[], number[]] = [[], []];
  for (let turn = 0; turn < TURNS; turn++) {
    singleMs.push(await timeStep(backend, length, single));
    severalMs.push(await timeStep(backend, length, several));
  }
  await backend.close();
  const [one, two] = [Math.min(...singleMs), Math.min(...severalMs)];
  return {
    name,
    seconds: two / 1000,
    ...(baseline !== undefined && { baseline }),
    extra: {
      adapter: backend.adapter,
      stepMs: severalMs.map(round),
      oneKindMs: singleMs.map(round),
      againstOneKind: round(two / one),
      causes: CAUSES,
      gap,
      ...torch,
    },
  };
}

export const benches = (await hasDevice())
  ? lengths.map((length) => {
      const name = `training step with two causes on a graphics device, N ${length[0]}`;
      return { name, run: () => benchCauses(name, length) };
    })
  : [];
