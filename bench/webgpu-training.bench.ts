/**
 * A whole training step on a graphics device, as the paper's run takes it: forward, likelihood with the tail term,
 * group means and their squared gaps, multipliers, backward, Adam, over all rows; wall time of a real run, with its
 * numbers read back: a long run's less a short one's, since steps come back many at a time. 25 overlapping groups of
 * three rows in ten, T 102, H 50. Ten steps of 40 rows must agree with the float64 reference first. TFLOP/s count the
 * three recurrent products only. Beside it the same step in PyTorch, where that has a CUDA device. No device, no
 * benchmark.
 */
import type { Backend } from "../src/compute/backend.ts";
import type { Checkpoint, TrainingInput } from "../src/training/trainer.ts";
import { type TorchTimes, timeTorch } from "./torch-step.ts";

const LENGTHS: readonly (readonly [number, number])[] = [
  [2416, 10],
  [4724, 25],
  [16_384, 25],
  [50_000, 25],
  [200_000, 25],
  [1_000_000, 25],
];
const GROUPS = 25;
const [T, H] = [102, 50];
const TOLERANCE = 1e-4;

async function openDevice() {
  const { openWebGpuBackend } = await import("../dist/node/workers/webgpu-backend.js");
  return openWebGpuBackend({ tapeLimit: 2 ** 35 });
}

async function hasDevice(): Promise<boolean> {
  const { findGraphics } = await import("../dist/node/workers/webgpu-backend.js");
  const backend = await findGraphics();
  await backend?.close();
  return backend !== null;
}

async function openInput(backend: Backend, N: number, D: number): Promise<TrainingInput> {
  const { createRandom } = await import("../dist/core/random.js");
  const { createNetwork } = await import("../dist/models/networks/create-network.js");
  const random = createRandom(1, 1);
  const x = backend.allocate(N * D);
  backend.write(
    x,
    Float32Array.from({ length: N * D }, () => random.normal()),
  );
  const bin = Int32Array.from({ length: N }, () => 1 + random.integer(T));
  const event = Uint8Array.from({ length: N }, () => Number(random.uniform() < 0.2));
  const groups = Array.from({ length: GROUPS }, (_, g) => ({
    name: `group ${g}`,
    rows: Int32Array.from({ length: N }, (_, row) => row).filter(() => random.uniform() < 0.3),
  }));
  const network = createNetwork(backend, { kind: "drsa", D, H, T }, 1);
  return { backend, network, training: { x, binned: { T, bin, event }, groups }, validation: null };
}

async function train(input: TrainingInput, steps: number): Promise<Checkpoint> {
  const { optimise } = await import("../dist/training/trainer.js");
  const { PRESETS } = await import("../dist/training/options.js");
  const run = optimise(input, { ...PRESETS.paper, steps, patience: null });
  for (;;) {
    const { done, value } = await run.next();
    if (done) return value;
  }
}

async function checkSteps(backend: Backend): Promise<number> {
  const { createReferenceBackend } = await import("../dist/compute/reference.js");
  const [own, wanted] = [
    (await train(await openInput(backend, 40, 10), 10)).parameters,
    (await train(await openInput(createReferenceBackend(), 40, 10), 10)).parameters,
  ];
  const gaps = Object.keys(wanted).map((name) => {
    const largest = Math.max(...wanted[name].map(Math.abs));
    return Math.max(...wanted[name].map((value, k) => Math.abs(own[name][k] - value))) / largest;
  });
  const gap = Math.max(...gaps);
  if (!(gap < TOLERANCE)) throw new Error(`ten steps end ${gap} from the reference`);
  return gap;
}

let torchTimes: ReadonlyMap<number, TorchTimes> | null = null;

interface Peer {
  readonly baseline?: { readonly name: string; readonly seconds: number };
  readonly torch?: Readonly<Record<"eagerMs" | "graphMs", number | string>>;
}

/** PyTorch's better time as a baseline, and both. */
function findPeer(N: number): Peer {
  torchTimes ??= timeTorch(LENGTHS);
  const times = torchTimes.get(N);
  if (times === undefined) return {};
  const { version, eager, graph } = times;
  const measured = [eager, graph].filter((one) => typeof one === "number");
  const show = (one: number | string) => (typeof one === "number" ? Math.round(1000 * one) / 1000 : one);
  return {
    ...(measured.length > 0 && {
      baseline: {
        name: `PyTorch ${version}, cuDNN, the better of eager and CUDA graph`,
        seconds: Math.min(...measured) / 1000,
      },
    }),
    torch: { eagerMs: show(eager), graphMs: show(graph) },
  };
}

async function benchRun(name: string, N: number, D: number) {
  const { torch, baseline } = findPeer(N);
  const backend = await openDevice();
  const gap = await checkSteps(backend);
  const time = async (steps: number) => {
    const input = await openInput(backend, N, D);
    const started = performance.now();
    await train(input, steps);
    return performance.now() - started;
  };
  // Kernels are compiled by the first.
  await time(8);
  const [few, many] =
    N <= 20_000 ? [256, 1024] : N <= 50_000 ? [80, 240] : N <= 200_000 ? [16, 144] : [8, 56];
  const short = await time(few);
  const milliseconds = ((await time(many)) - short) / (many - few);
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
