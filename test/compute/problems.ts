// Problems for the backends' operations, drawn by seed on the host and placed on any backend; and how results are
// compared.
import { expect } from "vitest";
import type { Backend, DeviceArray, Floats } from "../../src/compute/backend.ts";
import {
  type AdditiveShape,
  additiveWeightShapes,
  countNumbers,
  type DenseShape,
  denseWeightShapes,
  type GroupOffsetsShape,
  type LstmShape,
  lstmWeightShapes,
  type WeightShapes,
  type Weights,
} from "../../src/compute/shapes.ts";
import { createRandom } from "../../src/core/random.ts";

/** Of float32 operations, relative to the largest entry. */
const SINGLE = 2e-5;
/** Of float64 operations, which may sum in another order. */
const DOUBLE = 1e-12;

/** Name → numbers on the host. */
export type Numbers = Readonly<Record<string, Floats>>;

/** Float32 numbers, so that every backend starts from the same. */
export function draw(length: number, seed: number, scale = 1): Float32Array {
  const random = createRandom(seed, length);
  return Float32Array.from({ length }, () => random.normal() * scale);
}

export function place(backend: Backend, values: ArrayLike<number>): DeviceArray {
  const array = backend.allocate(values.length);
  backend.write(array, values);
  return array;
}

export function placeAll<Name extends string>(
  backend: Backend,
  numbers: Readonly<Record<Name, ArrayLike<number>>>,
): Weights<Name> {
  const placed = Object.entries<ArrayLike<number>>(numbers).map(([name, values]) => [
    name,
    place(backend, values),
  ]);
  return Object.fromEntries(placed);
}

/** As long as these, every number `value`. */
export function placeLike<Name extends string>(
  backend: Backend,
  weights: Weights<Name>,
  value = 0,
): Weights<Name> {
  const filled = Object.entries<DeviceArray>(weights).map(([name, { length }]) => [
    name,
    new Float64Array(length).fill(value),
  ]);
  return placeAll(backend, Object.fromEntries(filled));
}

export async function readAll(backend: Backend, weights: Weights<string>): Promise<Numbers> {
  const numbers: Record<string, Floats> = {};
  for (const [name, array] of Object.entries(weights)) numbers[name] = await backend.read(array);
  return numbers;
}

function drawWeights<Name extends string>(
  shapes: WeightShapes<Name>,
  seed: number,
  scale: number,
): Record<Name, Float32Array> {
  const drawn = Object.entries<readonly number[]>(shapes).map(([name, shape], k) => [
    name,
    draw(countNumbers(shape), seed + k, scale),
  ]);
  return Object.fromEntries(drawn);
}

export interface LstmProblem {
  readonly shape: LstmShape;
  readonly N: number;
  readonly weights: ReturnType<typeof drawLstm>;
  readonly x: ArrayLike<number>;
  readonly dLogits: ArrayLike<number>;
}

/** Of the size that a network starts with: 1/√H. */
export function drawLstm(shape: LstmShape, seed: number) {
  return drawWeights(lstmWeightShapes(shape), seed, 1 / Math.sqrt(shape.H));
}

/** Logits of a row: K curves of T. */
export function widthOf({ K = 1, T }: Pick<LstmShape, "K" | "T">): number {
  return K * T;
}

/** Rows from `distinct` on are the first ones over again. */
export function drawLstmProblem(shape: LstmShape, N: number, distinct = N): LstmProblem {
  const repeat = (length: number, values: Float32Array) =>
    Float32Array.from({ length }, (_, i) => values[i % values.length]);
  return {
    shape,
    N,
    weights: drawLstm(shape, 11),
    x: repeat(N * shape.D, draw(distinct * shape.D, 7)),
    dLogits: repeat(N * widthOf(shape), draw(distinct * widthOf(shape), 8)),
  };
}

/** An LSTM on a backend: passes over it, its numbers read back. */
export function placeLstm(backend: Backend, problem: LstmProblem) {
  const { shape, N } = problem;
  const weights = placeAll(backend, problem.weights);
  const gradient = placeLike(backend, weights);
  const x = place(backend, problem.x);
  const logits = backend.allocate(N * widthOf(shape));
  const dLogits = place(backend, problem.dLogits);
  const tape = backend.createTape();
  const start = (array: DeviceArray) => backend.write(array, new Float64Array(array.length).fill(0.5));
  return {
    weights,
    gradient,
    x,
    logits,
    dLogits,
    tape,
    /** Results start from 0.5, because operations add. */
    async forward(keep = true) {
      start(logits);
      await backend.lstmForward(shape, weights, x, N, logits, keep ? tape : null);
    },
    async backward() {
      for (const array of Object.values(gradient)) start(array);
      await backend.lstmBackward(tape, dLogits, gradient);
    },
    results: async () => ({ logits: await backend.read(logits), ...(await readAll(backend, gradient)) }),
  };
}

/** Logits and gradient of one pass forward and one back. */
export async function runLstm(backend: Backend, problem: LstmProblem): Promise<Numbers> {
  const lstm = placeLstm(backend, problem);
  await lstm.forward();
  await lstm.backward();
  return lstm.results();
}

/** Knots and shares of T bins, with a share of 0, one of 1, and a knot that no bin lies after. */
export function spreadKnots(T: number, G: number): GroupOffsetsShape {
  const place = Float64Array.from({ length: T }, (_, t) => (T === 1 ? 0.3 : (2 * t) / (T - 1)));
  const knot = Int32Array.from(place, (at) => Math.min(Math.floor(at), 1));
  return { G, K: 3, knot, share: place.map((at, t) => at - knot[t]), scale: 5 };
}

/** Logits and gradient of an additive part; the last columns of x are 0 or 1. */
export async function runAdditive(backend: Backend, shape: AdditiveShape, N: number): Promise<Numbers> {
  const { D, groups } = shape;
  const shapes = additiveWeightShapes(shape, groups);
  const weights = placeAll(backend, drawWeights(shapes as WeightShapes<"baseline" | "skip">, 21, 1));
  const gradient = placeLike(backend, weights, 0.5);
  const values = draw(N * D, 3).map((value, i) => (i % D < D - (groups?.G ?? 0) ? value : Number(value > 0)));
  const x = place(backend, values);
  const logits = place(backend, new Float64Array(N * widthOf(shape)).fill(9));
  await backend.additiveForward(shape, weights, x, N, logits);
  await backend.additiveBackward(shape, x, N, place(backend, draw(N * widthOf(shape), 4)), gradient);
  return readAll(backend, { logits, ...gradient });
}

export async function runDense(backend: Backend, shape: DenseShape, N: number): Promise<Numbers> {
  const { inputs, outputs } = shape;
  const weights = placeAll(backend, drawWeights(denseWeightShapes(shape), 1, 1 / Math.sqrt(inputs)));
  const gradient = placeLike(backend, weights, 0.5);
  const x = place(backend, draw(N * inputs, 3));
  const out = backend.allocate(N * outputs);
  const dX = place(backend, new Float64Array(N * inputs).fill(9));
  await backend.denseForward(shape, weights, x, N, out);
  const dOut = place(backend, draw(N * outputs, 4));
  await backend.denseBackward(shape, weights, x, N, out, dOut, gradient, dX);
  // Without dX the same weights' gradient.
  const again = placeLike(backend, weights, 0.5);
  await backend.denseBackward(shape, weights, x, N, out, place(backend, draw(N * outputs, 4)), again, null);
  expect(bytesOf(await readAll(backend, again))).toEqual(bytesOf(await readAll(backend, gradient)));
  return readAll(backend, { out, dX, dOut, ...gradient });
}

export function expectClose(backend: Backend, actual: Numbers, expected: Numbers, label = ""): void {
  expect(Object.keys(actual).sort()).toEqual(Object.keys(expected).sort());
  for (const [name, values] of Object.entries(actual)) {
    const wanted = expected[name];
    expect(values.length).toBe(wanted.length);
    let largest = 0;
    let worst = 0;
    for (let i = 0; i < wanted.length; i++) {
      largest = Math.max(largest, Math.abs(wanted[i]));
      const gap = Math.abs(values[i] - wanted[i]);
      if (!(gap <= worst)) worst = gap;
    }
    const tolerance = backend.precision === "f64" ? DOUBLE : SINGLE;
    expect(largest === 0 ? worst : worst / largest, `${label} ${name}`).toBeLessThan(tolerance);
  }
}

export function bytesOf(numbers: Numbers): Record<string, string> {
  return Object.fromEntries(
    Object.entries(numbers).map(([name, a]) => [
      name,
      Buffer.from(a.buffer, a.byteOffset, a.byteLength).toString("base64"),
    ]),
  );
}

/** The code of the error that an action ends with, or "none". */
export function codeOf(action: () => unknown): Promise<string> {
  return Promise.resolve()
    .then(action)
    .then(
      () => "none",
      (error) => error.code ?? String(error),
    );
}
