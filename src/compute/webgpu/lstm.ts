/**
 * The LSTM's two operations: which kernels run, on what, stretch by stretch. Forward is two kernels: W_x·x + b for all
 * rows, then the bins. Backward is four: the bins, the sum of the tiles' sums, and the products of dFixed with x in
 * parts and their sum.
 */
import type { Backend, DeviceArray } from "../backend.ts";
import { type HandleTable, refuseEmptyTape } from "../host.ts";
import { checkSizes, type LstmShape, type LstmWeights, lstmWeightShapes } from "../shapes.ts";
import { bindingLimit, type Placed } from "./device-memory.ts";
import type { Engine, KernelRun } from "./engine.ts";
import type { Bound } from "./gpu.ts";
import { backwardKernel, countTileSums } from "./lstm-backward.ts";
import { type ForwardKind, forwardKernel } from "./lstm-forward.ts";
import { type LstmEffort, type LstmPlan, planLstm } from "./lstm-plan.ts";
import { addParts, multiplyRows, sumProducts } from "./sums.ts";
import { cutRows, type Stretch, type TapeTable } from "./tapes.ts";

type LstmBuffers = Readonly<Record<keyof LstmWeights, Bound>>;

/** What both passes are given. */
interface Given {
  readonly shape: LstmShape;
  readonly plan: LstmPlan;
  readonly weights: LstmBuffers;
  readonly x: Bound;
  readonly fixed: Bound;
}

export function lstmOnDevice(
  engine: Engine,
  handles: HandleTable<Placed>,
  tapes: TapeTable,
  effort: LstmEffort,
): Pick<Backend, "lstmForward" | "lstmBackward"> {
  const limit = bindingLimit(engine);

  function findWeights(name: string, shape: LstmShape, weights: LstmWeights): LstmBuffers {
    const found = handles.findWeights(name, weights, lstmWeightShapes(shape));
    return Object.fromEntries(
      Object.entries<Placed>(found).map(([key, { buffer }]) => [key, buffer]),
    ) as unknown as LstmBuffers;
  }

  /** Checks everything before any work area is made. */
  function prepare(shape: LstmShape, weights: LstmWeights, x: DeviceArray, N: number) {
    const { D, H, T } = shape;
    checkSizes({ D, H, T, N });
    const plan = planLstm(shape, engine.device.limits, effort);
    return {
      shape,
      plan,
      weights: findWeights("weights", shape, weights),
      x: handles.find("x", x, N * D).buffer,
      stretches: cutRows(engine, plan, T, N),
    };
  }

  function placeFixed({ H }: LstmShape, stretches: readonly Stretch[]): Bound {
    return engine.scratch("fixed", (stretches[0]?.rows ?? 0) * 4 * H * 4);
  }

  return {
    async lstmForward(shape, weights, x, N, logits, tape) {
      engine.check();
      const { stretches, ...given } = prepare(shape, weights, x, N);
      const out = handles.find("logits", logits, N * shape.T).buffer;
      const pages = tape === null ? [] : tapes.prepare(tape, stretches);
      const fixed = placeFixed(shape, stretches);
      stretches.forEach((stretch, k) => {
        engine.submit(runForward({ ...given, fixed }, stretch, out, pages[k] ?? null));
      });
      if (tape !== null) tapes.seal(tape, { shape, weights, x, N });
    },

    async lstmBackward(tape, dLogits, gradient) {
      engine.check();
      const { pass, pages } = tapes.read(tape);
      if (pass === null) throw refuseEmptyTape();
      const { shape, N } = pass;
      const { D, H, T } = shape;
      const { stretches, ...given } = prepare(shape, pass.weights, pass.x, N);
      const slopes = handles.find("dLogits", dLogits, N * T).buffer;
      const toGradient = findWeights("gradient", shape, gradient);
      const fixed = placeFixed(shape, stretches);
      stretches.forEach((stretch, k) => {
        const { first, rows, tiles, bytes } = stretch;
        const kept = pages[k] ?? engine.scratch("tape", bytes);
        const again = pages[k] === undefined ? runForward({ ...given, fixed }, stretch, null, kept) : [];
        const { recurrent, output } = given.weights;
        const sums = engine.scratch("tiles", tiles * countTileSums(H) * 4);
        const bins: KernelRun = {
          kernel: backwardKernel(given.plan),
          sizes: [first, rows, T],
          arrays: [recurrent, output, slopes, kept, sums, fixed],
          groups: tiles,
        };
        const products = { left: fixed, right: given.x, first, N: rows, outputs: 4 * H, inputs: D };
        engine.submit([
          ...again,
          bins,
          addParts(sums, tiles, countTileSums(H), tileAddition(shape, toGradient)),
          ...sumProducts(engine, "parts", products, limit, inputAddition(shape, toGradient)),
        ]);
      });
    },
  };
}

/** Adds to logits where they are given, keeps activations where there is room for them. */
function runForward(
  { shape, plan, weights, x, fixed }: Given,
  { first, rows, tiles }: Stretch,
  logits: Bound | null,
  page: Bound | null,
): KernelRun[] {
  const { D, H, T } = shape;
  const { input, recurrent, inputBias, recurrentBias, output, outputBias } = weights;
  const kind: ForwardKind = logits === null ? "tape" : page === null ? "logits" : "logits and tape";
  return [
    multiplyRows({
      rows: x,
      first,
      N: rows,
      inputs: D,
      outputs: 4 * H,
      matrix: input,
      strides: [D + 1, 1],
      biases: [inputBias, recurrentBias],
      activation: "none",
      out: fixed,
    }),
    {
      kernel: forwardKernel(plan, kind),
      sizes: [first, rows, T, D],
      arrays: [
        ...[fixed, input, recurrent],
        ...(logits === null ? [] : [output, outputBias, logits]),
        ...(page === null ? [] : [page]),
      ],
      groups: tiles,
    },
  ];
}

/** The order of a tile's sums is that of lstm-backward.ts. */
function tileAddition({ D, H }: LstmShape, { recurrent, input, output, outputBias }: LstmBuffers) {
  return {
    name: "LSTM",
    sizes: ["D", "H"],
    given: [D, H],
    gradients: { recurrent, input, output, outputBias },
    add: `
  let ofTime = 4u * size.H * size.H;
  let ofOutput = ofTime + 4u * size.H;
  if (column < ofTime) { recurrent[column] += total; }
  else if (column < ofOutput) { input[(column - ofTime) * (size.D + 1u) + size.D] += total; }
  else if (column < ofOutput + size.H) { output[column - ofOutput] += total; }
  else { outputBias[0] += total; }`,
  };
}

function inputAddition({ D }: LstmShape, { input, inputBias, recurrentBias }: LstmBuffers) {
  return {
    name: "LSTM input",
    sizes: ["D"],
    given: [D],
    gradients: { input, inputBias, recurrentBias },
    add: `
  let row = column / (size.D + 1u);
  let d = column % (size.D + 1u);
  if (d < size.D) { input[row * (size.D + 1u) + d] += total; }
  else { inputBias[row] += total; recurrentBias[row] += total; }`,
  };
}
