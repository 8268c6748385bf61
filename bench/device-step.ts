/**
 * Whole training steps on a graphics device, as benchmarks take them: 25 overlapping groups of three rows in ten, T 102,
 * H 50, events of one row in five; with causes, each of an event's is as likely as another. What is timed is wall time
 * of a real run with its numbers read back: a long run's less a short one's, since steps come back many at a time. Ten
 * steps of 40 rows must agree with the float64 reference first.
 */
import type { Backend } from "../src/compute/backend.ts";
import type { TrainingOptions } from "../src/training/options.ts";
import type { Checkpoint, TrainingInput } from "../src/training/trainer.ts";

export const LENGTHS: readonly (readonly [number, number])[] = [
  [2416, 10],
  [4724, 25],
  [16_384, 25],
  [50_000, 25],
  [200_000, 25],
  [1_000_000, 25],
];
export const GROUPS = 25;
export const [T, H] = [102, 50];
const TOLERANCE = 1e-4;

/** A run: how many causes its rows have, 1 for one kind of event, and what it is told. */
export interface Run {
  readonly causes: number;
  readonly options: Omit<TrainingOptions, "steps">;
}

export async function openDevice() {
  const { openWebGpuBackend } = await import("../dist/node/workers/webgpu-backend.js");
  return openWebGpuBackend({ tapeLimit: 2 ** 35 });
}

export async function hasDevice(): Promise<boolean> {
  const { findGraphics } = await import("../dist/node/workers/webgpu-backend.js");
  const backend = await findGraphics();
  await backend?.close();
  return backend !== null;
}

async function openInput(backend: Backend, N: number, D: number, causes: number): Promise<TrainingInput> {
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
  const network = createNetwork(backend, { kind: "drsa", D, H, T, ...(causes > 1 && { causes }) }, 1);
  const binned = { T, bin, event };
  if (causes === 1) return { backend, network, training: { x, binned, groups }, validation: null };
  const cause = event.map((one) => one * (1 + random.integer(causes)));
  const names = Array.from({ length: causes }, (_, k) => `cause ${k}`);
  const training = { x, binned: { ...binned, cause }, groups, causes: names };
  return { backend, network, training, validation: null };
}

async function train(input: TrainingInput, options: TrainingOptions): Promise<Checkpoint> {
  const { optimise } = await import("../dist/training/trainer.js");
  const run = optimise(input, options);
  for (;;) {
    const { done, value } = await run.next();
    if (done) return value;
  }
}

/**
 * The largest relative gap after ten steps: of the weights, or of the gradients' running means, since Adam moves a
 * weight whose gradient is next to nothing by the sign of a rounding.
 */
export async function checkSteps(
  backend: Backend,
  { causes, options }: Run,
  of: "weights" | "gradients" = "weights",
): Promise<number> {
  const { createReferenceBackend } = await import("../dist/compute/reference.js");
  const takeTen = async (one: Backend) => {
    const last = await train(await openInput(one, 40, 10, causes), { ...options, steps: 10 });
    return of === "weights" ? last.parameters : last.optimiser.first;
  };
  const [own, wanted] = [await takeTen(backend), await takeTen(createReferenceBackend())];
  const gaps = Object.keys(wanted).map((name) => {
    const largest = Math.max(...wanted[name].map(Math.abs));
    return Math.max(...wanted[name].map((value, k) => Math.abs(own[name][k] - value))) / largest;
  });
  const gap = Math.max(...gaps);
  if (!(gap < TOLERANCE)) throw new Error(`ten steps end ${gap} from the reference`);
  return gap;
}

/** Milliseconds a step. */
export async function timeStep(
  backend: Backend,
  [N, D]: readonly [number, number],
  { causes, options }: Run,
): Promise<number> {
  const time = async (steps: number) => {
    const input = await openInput(backend, N, D, causes);
    const started = performance.now();
    await train(input, { ...options, steps });
    return performance.now() - started;
  };
  // Kernels are compiled by the first.
  await time(8);
  const [few, many] =
    N <= 20_000 ? [256, 1024] : N <= 50_000 ? [80, 240] : N <= 200_000 ? [16, 144] : [8, 56];
  const short = await time(few);
  return ((await time(many)) - short) / (many - few);
}
