/** The LSTM of the DRSA network as benchmarks run it: its numbers by seed, one step, and the check against the reference. */
import type { Backend, DeviceArray, Floats, LstmTape } from "../src/compute/backend.ts";
import type { LstmShape, LstmWeights } from "../src/compute/shapes.ts";

export const SHAPE: LstmShape = { D: 10, H: 50, T: 102 };
const CHECKED_ROWS = 32;
const TOLERANCE = 2e-5;

interface Problem {
  readonly weights: LstmWeights;
  readonly gradient: LstmWeights;
  readonly x: DeviceArray;
  readonly logits: DeviceArray;
  readonly dLogits: DeviceArray;
  readonly tape: LstmTape;
}

export async function prepare(backend: Backend, rows: number): Promise<Problem> {
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

export async function step(
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

/** One step of a few rows must agree with the float64 reference; returns how far they are apart. */
export async function checkStep(name: string, backend: Backend): Promise<number> {
  const { createReferenceBackend } = await import("../dist/compute/reference.js");
  const results: Floats[][] = [];
  for (const one of [backend, createReferenceBackend()]) {
    const problem = await prepare(one, CHECKED_ROWS);
    await step(one, problem, CHECKED_ROWS);
    results.push(await readResults(one, problem));
  }
  const gap = worstGap(results[0], results[1]);
  if (!(gap < TOLERANCE)) throw new Error(`${name}: ${gap} from the reference`);
  return gap;
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
