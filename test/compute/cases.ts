// What every backend must do, as one list of cases: the contract of memory and tapes, operations worked by hand, and
// operations against the float64 reference at odd sizes. backends.test.ts runs all of them on all backends.
import { expect } from "vitest";
import type { Backend, Floats } from "../../src/compute/backend.ts";
import { mirrorArray } from "../../src/compute/memory.ts";
import { createReferenceBackend } from "../../src/compute/reference.ts";
import type { AdditiveShape, DenseShape, LstmShape } from "../../src/compute/shapes.ts";
import {
  bytesOf,
  codeOf,
  draw,
  drawLstm,
  drawLstmProblem,
  expectClose,
  type LstmProblem,
  type Numbers,
  place,
  placeAll,
  placeLike,
  placeLstm,
  readAll,
  runAdditive,
  runDense,
  runLstm,
  spreadKnots,
} from "./problems.ts";
import { runStepOfCauses } from "./step-of-causes.ts";

export interface ComputeCase {
  readonly name: string;
  /** Takes seconds where a program plays the device: SwiftShader compiles long kernels slowly, and runs them so. */
  readonly heavy?: boolean;
  run(backend: Backend): Promise<void>;
}

const reference = createReferenceBackend();

const memory: ComputeCase[] = [
  {
    name: "memory is zeroed, written, read in parts and cleared",
    async run(backend) {
      const array = backend.allocate(6);
      expect(array).toMatchObject({ kind: "array", length: 6 });
      expect(Array.from(await backend.read(array))).toEqual([0, 0, 0, 0, 0, 0]);
      backend.write(array, [1, 2, 3], 2);
      expect(Array.from(await backend.read(array))).toEqual([0, 0, 1, 2, 3, 0]);
      expect(Array.from(await backend.read(array, 3))).toEqual([2, 3, 0]);
      const part = await backend.read(array, 2, 2);
      expect(Array.from(part)).toEqual([1, 2]);
      part[0] = 9; // a copy
      backend.clear(array, 3);
      expect(Array.from(await backend.read(array))).toEqual([0, 0, 0, 2, 3, 0]);
      backend.clear(array);
      expect(Array.from(await backend.read(array))).toEqual([0, 0, 0, 0, 0, 0]);
    },
  },
  {
    name: "a mirror shows what is on the device and brings back what the host wrote",
    async run(backend) {
      const array = place(backend, [1, 2, 3]);
      const mirror = mirrorArray(backend, array);
      await mirror.pull();
      expect(Array.from(mirror.values)).toEqual([1, 2, 3]);
      expect(mirror.values).toBeInstanceOf(backend.precision === "f32" ? Float32Array : Float64Array);
      mirror.values[1] = 7;
      mirror.push();
      expect(Array.from(await backend.read(array))).toEqual([1, 7, 3]);
    },
  },
  {
    name: "rows are gathered in any order",
    async run(backend) {
      const from = place(backend, [1, 2, 3, 4, 5, 6]);
      const to = place(backend, [9, 9, 9, 9, 9, 9, 9]);
      backend.gatherRows(from, 2, Int32Array.of(2, 0, 2), to);
      expect(Array.from(await backend.read(to))).toEqual([5, 6, 1, 2, 5, 6, 9]);
    },
  },
  {
    name: "what is released is refused afterwards, and so is another backend's",
    async run(backend) {
      const array = backend.allocate(3);
      const tape = backend.createTape();
      backend.release(array);
      backend.release(tape);
      expect(await codeOf(() => backend.release(array))).toBe("array.foreign");
      expect(await codeOf(() => backend.release(tape))).toBe("tape.foreign");
      expect(await codeOf(() => backend.read(array))).toBe("array.foreign");
      expect(await codeOf(() => backend.write(array, [1]))).toBe("array.foreign");
      const { weights, x, logits, gradient } = placeLstm(backend, drawLstmProblem({ D: 2, H: 3, T: 4 }, 5));
      const shape = { D: 2, H: 3, T: 4 };
      const foreign = createReferenceBackend();
      const forward = (rows: typeof x, kept = backend.createTape()) =>
        backend.lstmForward(shape, weights, rows, 5, logits, kept);
      expect(await codeOf(() => forward(x))).toBe("none");
      expect(await codeOf(() => forward(foreign.allocate(10)))).toBe("array.foreign");
      expect(await codeOf(() => forward(x, foreign.createTape()))).toBe("tape.foreign");
      expect(await codeOf(() => backend.lstmBackward(foreign.createTape(), logits, gradient))).toBe(
        "tape.foreign",
      );
    },
  },
  {
    name: "arrays that are too short are refused by name",
    async run(backend) {
      const shape = { D: 2, H: 3, T: 4 };
      const weights = placeAll(backend, drawLstm(shape, 1));
      const x = backend.allocate(2);
      const logits = backend.allocate(4);
      const tape = backend.createTape();
      await expect(backend.lstmForward(shape, weights, x, 1, backend.allocate(3), null)).rejects.toThrow(
        "array too short: logits has 3 values, needs 4",
      );
      await expect(backend.lstmForward(shape, { ...weights, output: x }, x, 1, logits, null)).rejects.toThrow(
        "weights.output has 2 values, needs 3",
      );
      await expect(backend.lstmForward({ ...shape, K: 2 }, weights, x, 1, logits, null)).rejects.toThrow(
        /(logits has 4 values, needs 8|weights.output has 3 values, needs 6)/,
      );
      await backend.lstmForward(shape, weights, x, 1, logits, tape);
      await expect(backend.lstmBackward(tape, logits, { ...weights, output: x })).rejects.toThrow(
        "gradient.output has 2 values, needs 3",
      );
      const layer: DenseShape = { inputs: 3, outputs: 2, activation: "none" };
      const dense = { weight: backend.allocate(6), bias: backend.allocate(2) };
      await expect(backend.denseForward({ ...layer, outputs: 3 }, dense, logits, 1, logits)).rejects.toThrow(
        "weights.weight has 6 values, needs 9",
      );
      await expect(backend.denseBackward(layer, dense, logits, 1, logits, logits, dense, x)).rejects.toThrow(
        "dX has 2 values, needs 3",
      );
      expect(await codeOf(() => backend.write(x, [1, 2], 1))).toBe("array.length");
      expect(await codeOf(() => backend.read(x, 1, 2))).toBe("array.length");
    },
  },
  {
    name: "a pass takes a whole number of rows, fewer the more bins there are",
    async run(backend) {
      for (const keep of [true, false]) {
        const rows = [1, 102, 10_000, 1e9].map((T) => backend.rowsAtOnce({ T, keep }));
        for (const count of rows) expect(Number.isInteger(count) && count >= 1).toBe(true);
        expect([...rows].sort((a, b) => b - a)).toEqual(rows);
        expect(backend.rowsAtOnce({ T: 50_000, K: 3, keep })).toBe(backend.rowsAtOnce({ T: 150_000, keep }));
      }
    },
  },
];

const tapes: ComputeCase[] = [
  {
    name: "a backward pass needs a forward pass that filled its tape",
    async run(backend) {
      const lstm = placeLstm(backend, drawLstmProblem({ D: 1, H: 2, T: 3 }, 4));
      expect(lstm.tape.rows).toBe(0);
      expect(await codeOf(() => lstm.backward())).toBe("tape.empty");
      await lstm.forward(false);
      expect(await codeOf(() => lstm.backward())).toBe("tape.empty");
      await lstm.forward();
      expect(lstm.tape.rows).toBe(4);
      expect(await codeOf(() => lstm.backward())).toBe("none");
    },
  },
  {
    name: "a tape is used again for other rows, and passes without one leave it alone",
    async run(backend) {
      const shape = { D: 3, H: 5, T: 7 };
      const problem = drawLstmProblem(shape, 37);
      const expected = bytesOf(await runLstm(backend, problem));
      const lstm = placeLstm(backend, problem);
      const { weights, gradient, tape, x, logits } = lstm;
      const more = place(backend, draw(90 * 3, 99));
      const moreLogits = backend.allocate(90 * 7);
      await backend.lstmForward(shape, weights, more, 90, moreLogits, tape);
      expect(tape.rows).toBe(90);
      await backend.lstmForward(shape, weights, x, 37, logits, tape);
      await lstm.forward();
      const before = await backend.read(logits);
      await backend.lstmForward(shape, weights, more, 90, moreLogits, null);
      const other = backend.createTape();
      await backend.lstmForward(shape, weights, more, 90, moreLogits, other);
      await lstm.backward();
      expect(bytesOf({ logits: before, ...(await readAll(backend, gradient)) })).toEqual(expected);
    },
  },
  {
    name: "forward adds to the logits, backward to the gradient",
    async run(backend) {
      const shape = { D: 2, H: 5, T: 7 };
      const { weights, x, tape, dLogits } = placeLstm(backend, drawLstmProblem(shape, 3));
      const once = backend.allocate(21);
      const added = place(backend, new Float64Array(21).fill(8));
      await backend.lstmForward(shape, weights, x, 3, once, tape);
      await backend.lstmForward(shape, weights, x, 3, added, tape);
      const logits = (await backend.read(once)).map((value) => value + 8);
      expectClose(backend, { logits: await backend.read(added) }, { logits });
      const gradient = placeLike(backend, weights);
      await backend.lstmBackward(tape, dLogits, gradient);
      const first = await readAll(backend, gradient);
      await backend.lstmBackward(tape, dLogits, gradient);
      const twice = Object.fromEntries(Object.entries(first).map(([k, v]) => [k, v.map((d) => 2 * d)]));
      expectClose(backend, await readAll(backend, gradient), twice);
    },
  },
  {
    name: "no rows are no work",
    async run(backend) {
      const lstm = placeLstm(backend, drawLstmProblem({ D: 2, H: 3, T: 4 }, 0));
      await lstm.forward();
      await lstm.backward();
      const { logits, ...gradient } = await lstm.results();
      expect(logits).toHaveLength(0);
      for (const values of Object.values<Floats>(gradient)) {
        expect(values.every((value) => value === 0.5)).toBe(true);
      }
      const shape: DenseShape = { inputs: 2, outputs: 3, activation: "tanh" };
      const { weight, bias } = await runDense(backend, shape, 0);
      expect([...weight, ...bias].every((v) => v === 0.5)).toBe(true);
    },
  },
];

const byHand: ComputeCase[] = [
  {
    // One unit, one feature: every step of the cell written with its own weights.
    name: "LSTM: two bins of one unit by hand",
    async run(backend) {
      const weights = placeAll(backend, {
        input: [0.5, 0.1, -0.3, 0.2, 0.8, -0.4, 0.6, 0.3], // i f g o × [x, t/T]
        recurrent: [0.25, -0.5, 0.75, 1],
        inputBias: [0.1, 0.2, 0.3, 0.4],
        recurrentBias: [-0.05, 0.05, 0.15, -0.2],
        output: [2],
        outputBias: [-1],
      });
      const s = (a: number) => 1 / (1 + Math.exp(-a));
      // x = 1.5, t/T = 1/2: i .75+.05+.05, f −.45+.1+.25, g 1.2−.2+.45, o .9+.15+.2
      const c1 = s(0.85) * Math.tanh(1.45);
      const h1 = s(1.25) * Math.tanh(c1);
      // t/T = 1: i .75+.1+.05, f −.45+.2+.25, g 1.2−.4+.45, o .9+.3+.2, each + R·h1
      const c2 = s(0 - 0.5 * h1) * c1 + s(0.9 + 0.25 * h1) * Math.tanh(1.25 + 0.75 * h1);
      const h2 = s(1.4 + h1) * Math.tanh(c2);
      const logits = backend.allocate(2);
      await backend.lstmForward({ D: 1, H: 1, T: 2 }, weights, place(backend, [1.5]), 1, logits, null);
      const digits = backend.precision === "f64" ? 14 : 6;
      const [first, second] = await backend.read(logits);
      expect(first).toBeCloseTo(2 * h1 - 1, digits);
      expect(second).toBeCloseTo(2 * h2 - 1, digits);
    },
  },
  {
    name: "LSTM: weights of 0 give the output bias in every bin",
    async run(backend) {
      const shape = { D: 2, H: 3, T: 4 };
      const weights = {
        ...placeLike(backend, placeAll(backend, drawLstm(shape, 1))),
        output: place(backend, draw(3, 2)),
        outputBias: place(backend, [-2.5]),
      };
      const logits = backend.allocate(8);
      await backend.lstmForward(shape, weights, place(backend, draw(4, 3)), 2, logits, null);
      expect(Array.from(await backend.read(logits))).toEqual(new Array(8).fill(-2.5));
    },
  },
  {
    name: "LSTM: gates far in their tails stay finite and hold 0 gradient",
    async run(backend) {
      const shape = { D: 1, H: 1, T: 2 };
      const weights = {
        ...placeAll(backend, drawLstm(shape, 31)),
        inputBias: place(backend, [-800, 800, 800, -800]),
      };
      const bias = (await backend.read(weights.outputBias))[0];
      const logits = backend.allocate(2);
      const tape = backend.createTape();
      await backend.lstmForward(shape, weights, place(backend, [1]), 1, logits, tape);
      expect(Array.from(await backend.read(logits))).toEqual([bias, bias]);
      const gradient = placeLike(backend, weights);
      await backend.lstmBackward(tape, place(backend, [1, 1]), gradient);
      for (const value of await backend.read(gradient.inputBias)) expect(Math.abs(value)).toBeLessThan(1e-15);
    },
  },
  {
    name: "LSTM: rows do not touch each other",
    async run(backend) {
      const shape = { D: 3, H: 5, T: 7 };
      const { weights, x } = placeLstm(backend, drawLstmProblem(shape, 3));
      const together = backend.allocate(21);
      await backend.lstmForward(shape, weights, x, 3, together, null);
      for (let n = 0; n < 3; n++) {
        const alone = backend.allocate(7);
        const row = place(backend, await backend.read(x, n * 3, 3));
        await backend.lstmForward(shape, weights, row, 1, alone, null);
        expect(Array.from(await backend.read(alone))).toEqual(
          Array.from(await backend.read(together, n * 7, 7)),
        );
      }
    },
  },
  {
    name: "LSTM: a row that is not a number spoils only itself",
    async run(backend) {
      const problem = drawLstmProblem({ D: 2, H: 3, T: 4 }, 20);
      const x = Float32Array.from(problem.x);
      x[2 * 5] = Number.NaN;
      const { logits: clean } = await runLstm(backend, problem);
      const { logits: spoiled } = await runLstm(backend, { ...problem, x });
      for (let i = 0; i < clean.length; i++) {
        expect(spoiled[i]).toBe(Math.floor(i / 4) === 5 ? Number.NaN : clean[i]);
      }
    },
  },
  {
    name: "dense: 2 × 3 by hand",
    async run(backend) {
      const shape: DenseShape = { inputs: 3, outputs: 2, activation: "none" };
      const weights = placeAll(backend, { weight: [1, 2, 3, -1, 0, 4], bias: [10, 20] });
      const x = place(backend, [1, 1, 1, 2, 0, -1]);
      const out = place(backend, [99, 99, 99, 99]);
      await backend.denseForward(shape, weights, x, 2, out);
      expect(Array.from(await backend.read(out))).toEqual([16, 23, 9, 14]);
      const gradient = placeAll(backend, { weight: [0, 0, 0, 0, 0, 0], bias: [100, 0] });
      const dX = place(backend, new Array(6).fill(99));
      const dOut = place(backend, [1, 2, 3, 4]);
      await backend.denseBackward(shape, weights, x, 2, out, dOut, gradient, dX);
      expect(Array.from(await backend.read(gradient.weight))).toEqual([7, 1, -2, 10, 2, -2]);
      expect(Array.from(await backend.read(gradient.bias))).toEqual([104, 6]);
      expect(Array.from(await backend.read(dX))).toEqual([-1, 2, 11, -1, 6, 25]);
      expect(Array.from(await backend.read(dOut))).toEqual([1, 2, 3, 4]);
    },
  },
  {
    name: "dense with tanh: what comes before the activation takes the place of dOut",
    async run(backend) {
      const shape: DenseShape = { inputs: 1, outputs: 2, activation: "tanh" };
      const weights = placeAll(backend, { weight: [0.5, -2], bias: [0.25, 0] });
      const x = place(backend, [0.5]);
      const out = backend.allocate(2);
      await backend.denseForward(shape, weights, x, 1, out);
      const [a, b] = [Math.tanh(0.5), Math.tanh(-1)];
      expectClose(backend, { out: await backend.read(out) }, { out: Float64Array.of(a, b) });
      const dOut = place(backend, [3, 5]);
      const gradient = placeLike(backend, weights);
      const dX = backend.allocate(1);
      await backend.denseBackward(shape, weights, x, 1, out, dOut, gradient, dX);
      const before = [3 * (1 - a * a), 5 * (1 - b * b)];
      expectClose(backend, await readAll(backend, { dOut, dX, ...gradient }), {
        dOut: Float64Array.from(before),
        dX: Float64Array.of(0.5 * before[0] - 2 * before[1]),
        weight: Float64Array.from(before, (d) => d / 2),
        bias: Float64Array.from(before),
      });
    },
  },
  {
    // One unit, weights such that h is c₁ = σ(0)·tanh(1) times σ(0) in the only bin.
    name: "LSTM: three outputs of one unit by hand",
    async run(backend) {
      const shape: LstmShape = { D: 0, H: 1, T: 1, K: 3 };
      const weights = placeAll(backend, {
        input: [0, 0, 1, 0],
        recurrent: [0, 0, 0, 0],
        inputBias: [0, 0, 0, 0],
        recurrentBias: [0, 0, 0, 0],
        output: [2, 0, -4],
        outputBias: [0.25, 8, 1],
      });
      const h = Math.tanh(Math.tanh(1) / 2) / 2;
      const logits = place(backend, [100, 200, 300, 0, 0, 0]);
      const tape = backend.createTape();
      await backend.lstmForward(shape, weights, backend.allocate(0), 2, logits, tape);
      const expected = [2 * h + 0.25, 8, 1 - 4 * h];
      const all = Float64Array.from([100, 200, 300, 0, 0, 0], (from, k) => from + expected[k % 3]);
      expectClose(backend, { logits: await backend.read(logits) }, { logits: all });
      const gradient = placeLike(backend, weights);
      await backend.lstmBackward(tape, place(backend, [1, 2, 3, 4, 5, 6]), gradient);
      expect(Array.from(await backend.read(gradient.outputBias))).toEqual([5, 7, 9]);
      const found = await readAll(backend, { output: gradient.output, inputBias: gradient.inputBias });
      // dh = 2·5 − 4·9; dc = dh·o·(1 − tanh² c); o: dh·tanh(c)/4, i: dc·g/4, g: dc·(1 − g²)/2, f: 0.
      const [g, tanhC] = [Math.tanh(1), Math.tanh(Math.tanh(1) / 2)];
      const dc = (-26 / 2) * (1 - tanhC * tanhC);
      expectClose(backend, found, {
        output: Float64Array.of(5 * h, 7 * h, 9 * h),
        inputBias: Float64Array.of((dc * g) / 4, 0, (dc * (1 - g * g)) / 2, (-26 * tanhC) / 4),
      });
    },
  },
  {
    // x = [2, −1, 1]: the last column says that the row is in the one group, whose offsets 1, 3, 2 lie at bins 1, 2½
    // and 4.
    name: "additive: baseline, slopes and one group's offset by hand",
    async run(backend) {
      const shape: AdditiveShape = {
        D: 3,
        T: 3,
        groups: { G: 1, K: 3, knot: Int32Array.of(0, 0, 1), share: Float64Array.of(0, 0.5, 1), scale: 4 },
      };
      const weights = placeAll(backend, {
        baseline: [10, 20, 30],
        skip: [1, 3, 0.5],
        groupOffsets: [1, 3, 2],
      });
      const x = place(backend, [2, -1, 1, 2, -1, 0]);
      const logits = place(backend, new Array(6).fill(99));
      await backend.additiveForward(shape, weights, x, 2, logits);
      // wᵀx = 2 − 3 + .5 and 2 − 3; offsets 4·1, 4·2, 4·2
      expect(Array.from(await backend.read(logits))).toEqual([13.5, 27.5, 37.5, 9, 19, 29]);
      const gradient = placeLike(backend, weights, 1);
      await backend.additiveBackward(shape, x, 2, place(backend, [1, 2, 3, 4, 5, 6]), gradient);
      expect(Array.from(await backend.read(gradient.baseline))).toEqual([6, 8, 10]);
      expect(Array.from(await backend.read(gradient.skip))).toEqual([43, -20, 7]);
      // Group row: 1 at knot 0, 2 halfway, 3 at knot 2, times 4.
      expect(Array.from(await backend.read(gradient.groupOffsets))).toEqual([9, 5, 13]);
    },
  },
  {
    // The first cause as above; the second has other levels, slopes and offsets.
    name: "additive: two causes by hand",
    async run(backend) {
      const knots = { knot: Int32Array.of(0, 0, 1), share: Float64Array.of(0, 0.5, 1), scale: 4 };
      const shape: AdditiveShape = { D: 3, T: 3, K: 2, groups: { G: 1, K: 3, ...knots } };
      const weights = placeAll(backend, {
        baseline: [10, 20, 30, 1, 2, 3],
        skip: [1, 3, 0.5, 3, 1, 1.5],
        groupOffsets: [1, 3, 2, 0, 2, 4],
      });
      const x = place(backend, [2, -1, 1, 2, -1, 0]);
      const logits = place(backend, new Array(12).fill(99));
      await backend.additiveForward(shape, weights, x, 2, logits);
      // The second cause: wᵀx = 6 − 1 + 1.5 and 6 − 1; offsets 4·0, 4·1, 4·4.
      const first = [13.5, 27.5, 37.5, 7.5, 12.5, 25.5];
      expect(Array.from(await backend.read(logits))).toEqual([...first, 9, 19, 29, 6, 7, 8]);
      const gradient = placeLike(backend, weights, 1);
      const dLogits = place(backend, [1, 2, 3, 10, 20, 30, 4, 5, 6, 40, 50, 60]);
      await backend.additiveBackward(shape, x, 2, dLogits, gradient);
      expect(Array.from(await backend.read(gradient.baseline))).toEqual([6, 8, 10, 51, 71, 91]);
      expect(Array.from(await backend.read(gradient.skip))).toEqual([43, -20, 7, 421, -209, 61]);
      expect(Array.from(await backend.read(gradient.groupOffsets))).toEqual([9, 5, 13, 81, 41, 121]);
    },
  },
];

/**
 * The reference's answer to a problem whose rows repeat: a row's logits are its own, and the gradient is a sum over
 * rows, so it takes one pass over the distinct rows and one over those of the last, incomplete round.
 */
async function answer(shape: LstmShape, N: number, distinct: number): Promise<Numbers> {
  const pass = (rows: number) => runLstm(reference, drawLstmProblem(shape, rows, distinct));
  const { logits, ...sums } = await pass(distinct);
  if (distinct === N) return { logits, ...sums };
  const last = await pass(N % distinct);
  const rounds = Math.floor(N / distinct);
  const gradient = Object.entries(sums).map(([name, sum]) => [
    name,
    Float64Array.from(sum, (value, i) => 0.5 + rounds * (value - 0.5) + (last[name][i] - 0.5)),
  ]);
  const all = Float64Array.from({ length: N * shape.T }, (_, i) => logits[i % logits.length]);
  return { logits: all, ...Object.fromEntries(gradient) };
}

/** The reference is worked out once for all backends. */
function againstReference(
  name: string,
  truth: () => Promise<Numbers>,
  run: (backend: Backend) => Promise<Numbers>,
): ComputeCase {
  let known: Promise<Numbers> | null = null;
  return {
    name,
    async run(backend) {
      known ??= truth();
      expectClose(backend, await run(backend), await known, name);
    },
  };
}

function additiveAgainstReference(shape: AdditiveShape, N: number): ComputeCase {
  const { D, T, K = 1, groups } = shape;
  return againstReference(
    `additive against the reference: N ${N}, K ${K}, T ${T}, D ${D}, ${groups?.G ?? 0} groups`,
    () => runAdditive(reference, shape, N),
    (backend) => runAdditive(backend, shape, N),
  );
}

/** Multiplications of a light case, about. */
const LIGHT = 300_000;

function lstmAgainstReference(shape: LstmShape, N: number, distinct = N): ComputeCase {
  const { D, H, T, K = 1 } = shape;
  const compared = againstReference(
    `LSTM against the reference: N ${N},${K === 1 ? "" : ` K ${K},`} T ${T}, H ${H}, D ${D}`,
    () => answer(shape, N, distinct),
    (backend) => runLstm(backend, drawLstmProblem(shape, N, distinct)),
  );
  return { ...compared, heavy: H > 50 || N * T * H * H > LIGHT };
}

const large = (): LstmProblem => ({
  ...drawLstmProblem({ D: 3, H: 4, T: 5 }, 19),
  x: draw(19 * 3, 5, 200),
});

function tiny(): LstmProblem {
  const problem = drawLstmProblem({ D: 3, H: 6, T: 9 }, 33);
  const weights = Object.fromEntries(
    Object.entries(problem.weights).map(([name, values]) => [name, values.map((value) => value * 1e-3)]),
  ) as typeof problem.weights;
  return { ...problem, weights: { ...weights, outputBias: new Float32Array(1) } };
}

const shapes = [1, 2, 102].flatMap((T) => [1, 5, 50, 64].map((H) => ({ T, H, D: 10 })));
const layers = [
  { N: 1, inputs: 1, outputs: 1 },
  { N: 3, inputs: 5, outputs: 2 },
  { N: 17, inputs: 16, outputs: 33 },
  { N: 257, inputs: 38, outputs: 64 },
  { N: 2001, inputs: 10, outputs: 102 },
];

/** Odd sizes; the last goes to the threads. */
const steps = [
  { N: 63, K: 2, T: 7, distance: "atRisk" },
  { N: 63, K: 2, T: 7, distance: "l2" },
  { N: 95, K: 3, T: 6, distance: "variance" },
  { N: 120, K: 2, T: 9, distance: "l2", strata: 2 },
  { N: 401, K: 2, T: 102, distance: "l2" },
] as const;

const differential: ComputeCase[] = [
  ...shapes.flatMap((shape) => [1, 3, 17].map((N) => lstmAgainstReference(shape, N))),
  // A tile of the wasm backend has 16 rows, and here one row is left over. With many bins, where the reference is slow,
  // there are fewer tiles; their rows repeat in rounds of 17, so that no two tiles are alike.
  ...shapes.map((shape) =>
    shape.T === 102 ? lstmAgainstReference(shape, 49, 17) : lstmAgainstReference(shape, 257),
  ),
  lstmAgainstReference({ T: 2, H: 5, D: 0 }, 3),
  lstmAgainstReference({ T: 102, H: 64, D: 38 }, 3),
  lstmAgainstReference({ T: 7, H: 3, D: 1 }, 257),
  lstmAgainstReference({ T: 9, H: 24, D: 3 }, 33),
  // Several outputs, and more of them than units.
  lstmAgainstReference({ T: 1, H: 1, D: 1, K: 3 }, 1),
  lstmAgainstReference({ T: 7, H: 5, D: 3, K: 2 }, 17),
  lstmAgainstReference({ T: 11, H: 6, D: 2, K: 3 }, 35),
  lstmAgainstReference({ T: 3, H: 2, D: 0, K: 9 }, 19),
  lstmAgainstReference({ T: 21, H: 50, D: 10, K: 2 }, 33),
  additiveAgainstReference({ T: 7, D: 4, groups: spreadKnots(7, 2) }, 19),
  additiveAgainstReference({ T: 7, D: 4, K: 2, groups: spreadKnots(7, 2) }, 19),
  additiveAgainstReference({ T: 1, D: 1, K: 3, groups: spreadKnots(1, 1) }, 3),
  additiveAgainstReference({ T: 5, D: 3, K: 3, groups: null }, 70),
  againstReference(
    "LSTM against the reference: saturated gates",
    () => runLstm(reference, large()),
    (backend) => runLstm(backend, large()),
  ),
  againstReference(
    "LSTM against the reference: tiny weights keep their digits",
    async () => gradientOf(await runLstm(reference, tiny())),
    async (backend) => gradientOf(await runLstm(backend, tiny())),
  ),
  ...steps.map((step) =>
    againstReference(
      `a step of causes against the reference: ${Object.entries(step).flat().join(" ")}`,
      () => runStepOfCauses(reference, step),
      (backend) => runStepOfCauses(backend, step),
    ),
  ),
  ...(["none", "tanh"] as const).flatMap((activation) =>
    layers.map(({ N, inputs, outputs }) =>
      againstReference(
        `dense against the reference: N ${N}, ${inputs} inputs, ${outputs} outputs, activation ${activation}`,
        () => runDense(reference, { inputs, outputs, activation }, N),
        (backend) => runDense(backend, { inputs, outputs, activation }, N),
      ),
    ),
  ),
];

function gradientOf({ logits: _, ...gradient }: Numbers): Numbers {
  return gradient;
}

export const CASES: readonly ComputeCase[] = [...memory, ...tapes, ...byHand, ...differential];
