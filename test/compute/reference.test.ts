// The float64 operations against formulas worked by hand and against central differences at odd sizes.
import { describe, expect, test } from "vitest";
import type { Backend, DenseWeights, Floats, LstmShape, LstmWeights } from "../../src/compute/backend.ts";
import { createReferenceBackend } from "../../src/compute/reference.ts";
import { BackendError } from "../../src/core/errors.ts";
import { createRandom } from "../../src/core/random.ts";
import { differentiate, GRADIENT } from "./differences.ts";

const backend = createReferenceBackend();

function draw(length: number, seed: number, scale = 1): Floats {
  const random = createRandom(seed, length);
  const values = backend.allocate(length);
  for (let i = 0; i < length; i++) values[i] = random.normal() * scale;
  return values;
}

function drawLstm({ D, H }: LstmShape, seed: number): LstmWeights {
  return {
    input: draw(4 * H * (D + 1), seed),
    recurrent: draw(4 * H * H, seed + 1, 0.7),
    inputBias: draw(4 * H, seed + 2, 0.5),
    recurrentBias: draw(4 * H, seed + 3, 0.5),
    output: draw(H, seed + 4),
    outputBias: draw(1, seed + 5),
  };
}

function zeroLike<W extends Readonly<Record<keyof W, Floats>>>(weights: W): W {
  return Object.fromEntries(
    Object.entries<Floats>(weights).map(([name, values]) => [name, backend.allocate(values.length)]),
  ) as W;
}

function dot(a: Floats, b: Floats): number {
  let sum = 0;
  for (let i = 0; i < a.length; i++) sum += a[i] * b[i];
  return sum;
}

describe("LSTM", () => {
  // One unit, one feature: every step of the cell written with its own weights.
  test("two bins of one unit by hand", async () => {
    const weights: LstmWeights = {
      input: Float64Array.of(0.5, 0.1, -0.3, 0.2, 0.8, -0.4, 0.6, 0.3), // i f g o × [x, t/T]
      recurrent: Float64Array.of(0.25, -0.5, 0.75, 1),
      inputBias: Float64Array.of(0.1, 0.2, 0.3, 0.4),
      recurrentBias: Float64Array.of(-0.05, 0.05, 0.15, -0.2),
      output: Float64Array.of(2),
      outputBias: Float64Array.of(-1),
    };
    const s = (a: number) => 1 / (1 + Math.exp(-a));
    const x = 1.5;
    // t/T = 1/2: i .75+.05+.05, f −.45+.1+.25, g 1.2−.2+.45, o .9+.15+.2
    const c1 = s(0.85) * Math.tanh(1.45);
    const h1 = s(1.25) * Math.tanh(c1);
    // t/T = 1: i .75+.1+.05, f −.45+.2+.25, g 1.2−.4+.45, o .9+.3+.2, each + R·h1
    const c2 = s(0 - 0.5 * h1) * c1 + s(0.9 + 0.25 * h1) * Math.tanh(1.25 + 0.75 * h1);
    const h2 = s(1.4 + h1) * Math.tanh(c2);
    const logits = new Float64Array(2);
    await backend.lstmForward({ D: 1, H: 1, T: 2 }, weights, Float64Array.of(x), 1, logits);
    expect(logits[0]).toBeCloseTo(2 * h1 - 1, 14);
    expect(logits[1]).toBeCloseTo(2 * h2 - 1, 14);
  });

  test("weights of 0 give the output bias in every bin", async () => {
    const shape = { D: 2, H: 3, T: 4 };
    const weights = {
      ...zeroLike(drawLstm(shape, 1)),
      output: draw(3, 2),
      outputBias: Float64Array.of(-2.5),
    };
    const logits = new Float64Array(8);
    await backend.lstmForward(shape, weights, draw(4, 3), 2, logits);
    expect(Array.from(logits)).toEqual(new Array(8).fill(-2.5));
  });

  test("forward adds to the logits, backward to the gradient", async () => {
    const shape = { D: 2, H: 5, T: 7 };
    const weights = drawLstm(shape, 11);
    const x = draw(6, 12);
    const once = new Float64Array(21);
    const added = new Float64Array(21).fill(10);
    await backend.lstmForward(shape, weights, x, 3, once);
    await backend.lstmForward(shape, weights, x, 3, added);
    for (let i = 0; i < 21; i++) expect(added[i]).toBeCloseTo(once[i] + 10, 13);
    const dLogits = draw(21, 13);
    const gradient = zeroLike(weights);
    await backend.lstmBackward(shape, weights, x, 3, dLogits, gradient);
    const first = Array.from(gradient.recurrent);
    await backend.lstmBackward(shape, weights, x, 3, dLogits, gradient);
    first.forEach((value, i) => {
      expect(gradient.recurrent[i]).toBeCloseTo(2 * value, 12);
    });
  });

  test("rows do not touch each other", async () => {
    const shape = { D: 3, H: 5, T: 7 };
    const weights = drawLstm(shape, 21);
    const x = draw(9, 22);
    const together = new Float64Array(21);
    await backend.lstmForward(shape, weights, x, 3, together);
    for (let n = 0; n < 3; n++) {
      const alone = new Float64Array(7);
      await backend.lstmForward(shape, weights, x.subarray(n * 3, n * 3 + 3), 1, alone);
      expect(Array.from(alone)).toEqual(Array.from(together.subarray(n * 7, n * 7 + 7)));
    }
  });

  test("gates far in their tails stay finite and hold 0 gradient", async () => {
    const shape = { D: 1, H: 1, T: 2 };
    const weights = { ...drawLstm(shape, 31), inputBias: Float64Array.of(-800, 800, 800, -800) };
    const logits = new Float64Array(2);
    await backend.lstmForward(shape, weights, Float64Array.of(1), 1, logits);
    expect(Array.from(logits)).toEqual([weights.outputBias[0], weights.outputBias[0]]);
    const gradient = zeroLike(weights);
    await backend.lstmBackward(shape, weights, Float64Array.of(1), 1, Float64Array.of(1, 1), gradient);
    expect(Array.from(gradient.inputBias)).toEqual([0, 0, 0, 0]);
  });

  const sizes = [1, 3, 17].flatMap((N) =>
    [1, 2, 7].flatMap((T) => [1, 5].flatMap((H) => [1, 3].map((D) => ({ N, T, H, D })))),
  );
  test.each(sizes)("gradients are central differences at N $N, T $T, H $H, D $D", async ({ N, T, H, D }) => {
    const shape = { D, H, T };
    const weights = drawLstm(shape, 100 * N + 10 * T + H);
    const x = draw(N * D, 5);
    const dLogits = draw(N * T, 6);
    const gradient = zeroLike(weights);
    await backend.lstmBackward(shape, weights, x, N, dLogits, gradient);
    const logits = new Float64Array(N * T);
    const weighted = async () => {
      logits.fill(0);
      await backend.lstmForward(shape, weights, x, N, logits);
      return dot(logits, dLogits);
    };
    for (const name of Object.keys(weights) as (keyof LstmWeights)[]) {
      await differentiate(weights[name], weighted, (i, slope) => {
        expect(Math.abs(gradient[name][i] - slope), `${name}[${i}]`).toBeLessThan(GRADIENT * N * T);
      });
    }
  });
});

describe("dense layer", () => {
  test("2 × 3 by hand", async () => {
    const weights: DenseWeights = {
      weight: Float64Array.of(1, 2, 3, -1, 0, 4),
      bias: Float64Array.of(10, 20),
    };
    const x = Float64Array.of(1, 1, 1, 2, 0, -1);
    const out = new Float64Array(4).fill(99);
    await backend.denseForward(weights, 3, 2, x, 2, out);
    expect(Array.from(out)).toEqual([16, 23, 9, 14]);
    const gradient = zeroLike(weights);
    gradient.bias[0] = 100;
    const dX = new Float64Array(6).fill(99);
    await backend.denseBackward(weights, 3, 2, x, 2, Float64Array.of(1, 2, 3, 4), gradient, dX);
    expect(Array.from(gradient.weight)).toEqual([7, 1, -2, 10, 2, -2]);
    expect(Array.from(gradient.bias)).toEqual([104, 6]);
    expect(Array.from(dX)).toEqual([-1, 2, 11, -1, 6, 25]);
  });

  const sizes = [1, 3, 17].flatMap((N) =>
    [1, 2, 7].flatMap((outputs) => [1, 5].map((inputs) => ({ N, outputs, inputs }))),
  );
  test.each(sizes)(
    "gradients are central differences at N $N, $inputs → $outputs",
    async ({ N, outputs, inputs }) => {
      const weights = { weight: draw(outputs * inputs, 1), bias: draw(outputs, 2) };
      const x = draw(N * inputs, 3);
      const dOut = draw(N * outputs, 4);
      const gradient = zeroLike(weights);
      const dX = new Float64Array(N * inputs);
      await backend.denseBackward(weights, inputs, outputs, x, N, dOut, gradient, dX);
      const out = new Float64Array(N * outputs);
      const weighted = async () => {
        await backend.denseForward(weights, inputs, outputs, x, N, out);
        return dot(out, dOut);
      };
      for (const [values, expected] of [
        [weights.weight, gradient.weight],
        [weights.bias, gradient.bias],
        [x, dX],
      ]) {
        await differentiate(values, weighted, (i, slope) => {
          expect(Math.abs(expected[i] - slope)).toBeLessThan(GRADIENT * N * outputs);
        });
      }
      // Without dX the same weights' gradient.
      const again = zeroLike(weights);
      await backend.denseBackward(weights, inputs, outputs, x, N, dOut, again, null);
      expect(Array.from(again.weight)).toEqual(Array.from(gradient.weight));
    },
  );
});

describe("the contract", () => {
  test("memory is zeroed float64", () => {
    const memory = backend.allocate(5);
    expect(memory).toBeInstanceOf(Float64Array);
    expect(Array.from(memory)).toEqual([0, 0, 0, 0, 0]);
    expect(backend).toMatchObject({
      name: "reference",
      precision: "f64",
      threads: 1,
    } satisfies Partial<Backend>);
  });

  test("arrays that are too short are refused by name", async () => {
    const shape = { D: 2, H: 3, T: 4 };
    const weights = drawLstm(shape, 1);
    const refused = backend.lstmForward(shape, weights, draw(2, 1), 1, backend.allocate(3));
    await expect(refused).rejects.toThrow(BackendError);
    await expect(refused).rejects.toThrow("too short: logits has 3 numbers of the 4 it needs");
    await expect(
      backend.lstmBackward(shape, weights, draw(2, 1), 1, draw(4, 1), { ...weights, output: draw(2, 1) }),
    ).rejects.toThrow("too short: gradient.output has 2 numbers of the 3 it needs");
    const dense = { weight: draw(6, 1), bias: draw(2, 1) };
    await expect(backend.denseForward(dense, 3, 3, draw(3, 1), 1, draw(3, 2))).rejects.toThrow(
      "weights.weight has 6",
    );
    await expect(
      backend.denseBackward(dense, 3, 2, draw(3, 1), 1, draw(2, 2), zeroLike(dense), draw(2, 1)),
    ).rejects.toThrow("dX has 2 numbers of the 3");
  });

  test("closing is harmless", async () => {
    await expect(createReferenceBackend().close()).resolves.toBeUndefined();
  });
});
