// The float64 operations against central differences at odd sizes: the truth that the other backends are held against.
import { describe, expect, test } from "vitest";
import type { Backend, DeviceArray, Floats } from "../../src/compute/backend.ts";
import { createReferenceBackend } from "../../src/compute/reference.ts";
import type { AdditiveShape, DenseShape } from "../../src/compute/shapes.ts";
import {
  additiveWeightShapes,
  countNumbers,
  denseWeightShapes,
  lstmWeightShapes,
} from "../../src/compute/shapes.ts";
import { createRandom } from "../../src/core/random.ts";
import { differentiate, GRADIENT } from "./differences.ts";
import { placeLike } from "./problems.ts";

const backend = createReferenceBackend();

/** Numbers in the backend's memory. */
function draw(length: number, seed: number, scale = 1): DeviceArray {
  const random = createRandom(seed, length);
  const array = backend.allocate(length);
  backend.write(
    array,
    Float64Array.from({ length }, () => random.normal() * scale),
  );
  return array;
}

/** The reference shares its memory: views can be moved entry by entry. */
function viewOf(array: DeviceArray): Floats {
  return backend.view(array) as Floats;
}

function dot(a: DeviceArray, b: DeviceArray): number {
  const [one, other] = [viewOf(a), viewOf(b)];
  let sum = 0;
  for (let i = 0; i < one.length; i++) sum += one[i] * other[i];
  return sum;
}

function drawWeights<Name extends string>(
  shapes: Readonly<Record<Name, readonly number[]>>,
  seed: number,
  scales: Partial<Record<Name, number>> = {},
): Record<Name, DeviceArray> {
  const entries = Object.entries<readonly number[]>(shapes);
  return Object.fromEntries(
    entries.map(([name, shape], k) => [name, draw(countNumbers(shape), seed + k, scales[name as Name] ?? 1)]),
  ) as Record<Name, DeviceArray>;
}

/** Every entry of every array against the slope of the scalar along it. */
async function expectSlopes(
  weights: Readonly<Record<string, DeviceArray>>,
  gradient: Readonly<Record<string, DeviceArray>>,
  scalar: () => Promise<number>,
  summands: number,
): Promise<void> {
  for (const [name, values] of Object.entries(weights)) {
    const expected = viewOf(gradient[name]);
    await differentiate(viewOf(values), scalar, (i, slope) => {
      expect(Math.abs(expected[i] - slope), `${name}[${i}]`).toBeLessThan(GRADIENT * summands);
    });
  }
}

describe("gradients are central differences", () => {
  const sizes = [1, 3, 17].flatMap((N) =>
    [1, 2, 7].flatMap((T) => [1, 5].flatMap((H) => [1, 3].map((D) => ({ N, T, H, D })))),
  );
  test.each(sizes)("LSTM at N $N, T $T, H $H, D $D", async ({ N, T, H, D }) => {
    const shape = { D, H, T };
    // Larger ones bend the sum more than the differences follow.
    const scales = { recurrent: 0.7, inputBias: 0.5, recurrentBias: 0.5 };
    const weights = drawWeights(lstmWeightShapes(shape), 100 * N + 10 * T + H, scales);
    const x = draw(N * D, 5);
    const dLogits = draw(N * T, 6);
    const gradient = placeLike(backend, weights);
    const logits = backend.allocate(N * T);
    const tape = backend.createTape();
    const weighted = async () => {
      backend.clear(logits);
      await backend.lstmForward(shape, weights, x, N, logits, tape);
      return dot(logits, dLogits);
    };
    await weighted();
    await backend.lstmBackward(tape, dLogits, gradient);
    await expectSlopes(weights, gradient, weighted, N * T);
  });

  test.each([
    { N: 1, T: 2, H: 1, D: 1, K: 2 },
    { N: 3, T: 7, H: 5, D: 3, K: 2 },
    { N: 3, T: 2, H: 2, D: 0, K: 3 },
  ])("LSTM of $K outputs at N $N, T $T, H $H, D $D", async ({ N, ...shape }) => {
    const scales = { recurrent: 0.7, inputBias: 0.5, recurrentBias: 0.5 };
    const weights = drawWeights(lstmWeightShapes(shape), 300, scales);
    const x = draw(N * shape.D, 5);
    const length = N * shape.K * shape.T;
    const dLogits = draw(length, 6);
    const gradient = placeLike(backend, weights);
    const logits = backend.allocate(length);
    const tape = backend.createTape();
    const weighted = async () => {
      backend.clear(logits);
      await backend.lstmForward(shape, weights, x, N, logits, tape);
      return dot(logits, dLogits);
    };
    await weighted();
    await backend.lstmBackward(tape, dLogits, gradient);
    await expectSlopes(weights, gradient, weighted, length);
  });

  const layers = [1, 3, 17].flatMap((N) =>
    [1, 2, 7].flatMap((outputs) =>
      [1, 5].flatMap((inputs) =>
        (["none", "tanh"] as const).map((activation) => ({ N, outputs, inputs, activation })),
      ),
    ),
  );
  test.each(layers)("dense at N $N, $inputs → $outputs, $activation", async ({ N, ...shape }) => {
    const { inputs, outputs } = shape satisfies DenseShape;
    const weights = drawWeights(denseWeightShapes(shape), 1);
    const x = draw(N * inputs, 3);
    const dOut = draw(N * outputs, 4);
    const out = backend.allocate(N * outputs);
    const weighted = async () => {
      await backend.denseForward(shape, weights, x, N, out);
      return dot(out, dOut);
    };
    await weighted();
    const gradient = placeLike(backend, weights);
    const dX = backend.allocate(N * inputs);
    const dA = draw(N * outputs, 4); // overwritten
    await backend.denseBackward(shape, weights, x, N, out, dA, gradient, dX);
    await expectSlopes({ ...weights, x }, { ...gradient, x: dX }, weighted, N * outputs);
  });

  test.each([
    [1, 1],
    [3, 1],
    [17, 1],
    [3, 2],
  ])("additive with two groups at N %i, K %i", async (N, K) => {
    const [D, T] = [4, 7];
    const groups = {
      G: 2,
      K: 3,
      knot: Int32Array.of(0, 0, 0, 1, 1, 1, 1),
      share: Float64Array.of(0, 0.3, 0.9, 0.1, 0.5, 0.7, 1),
      scale: 5,
    };
    const shape: AdditiveShape = { D, T, groups, ...(K > 1 && { K }) };
    const shapes = additiveWeightShapes(shape, groups) as Record<"baseline" | "skip", readonly number[]>;
    const weights = drawWeights(shapes, 7);
    const x = draw(N * D, 1);
    const dLogits = draw(N * K * T, 2);
    const logits = backend.allocate(N * K * T);
    const gradient = placeLike(backend, weights);
    await backend.additiveBackward(shape, x, N, dLogits, gradient);
    const weighted = async () => {
      await backend.additiveForward(shape, weights, x, N, logits);
      return dot(logits, dLogits);
    };
    await expectSlopes(weights, gradient, weighted, N * K * T);
  });
});

test("memory is float64, and the host shares it", () => {
  const array = backend.allocate(5);
  const view = viewOf(array);
  expect(view).toBeInstanceOf(Float64Array);
  view[2] = 3;
  expect(backend.view(array)?.[2]).toBe(3);
  expect(backend).toMatchObject({
    name: "reference",
    precision: "f64",
    threads: 1,
  } satisfies Partial<Backend>);
});
