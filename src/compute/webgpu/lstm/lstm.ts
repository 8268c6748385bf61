/**
 * The LSTM's two operations: which kernels run, on what, stretch by stretch. Forward is two kernels: W_x·x + b for all
 * rows, then the bins. Backward is those of the layout, and the products of dFixed with x in parts and their sum.
 */
import type { Backend, DeviceArray } from "../../backend.ts";
import { type HandleTable, refuseEmptyTape } from "../../host.ts";
import { checkSizes, type LstmShape, type LstmWeights, lstmWeightShapes } from "../../shapes.ts";
import { bindingLimit, type Placed } from "../device-memory.ts";
import type { Engine, KernelRun } from "../engine.ts";
import type { Bound } from "../gpu.ts";
import type { ForwardKind } from "./lstm-forward.ts";
import { type LstmBuffers, type LstmDevice, type LstmLayout, layOut } from "./lstm-layout.ts";
import { multiplyRows, sumProducts } from "../sums.ts";
import { cutRows, type Stretch, type TapeTable } from "../tapes.ts";

/** What both passes are given. */
interface Given {
  readonly shape: LstmShape;
  readonly layout: LstmLayout;
  readonly weights: LstmBuffers;
  readonly x: Bound;
  readonly fixed: Bound;
}

export function lstmOnDevice(
  engine: Engine,
  handles: HandleTable<Placed>,
  tapes: TapeTable,
  { lanes, effort }: LstmDevice,
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
    const { D, H, T, K = 1 } = shape;
    checkSizes({ D, H, T, K, N });
    const layout = layOut(shape, N, engine.device.limits, { lanes, effort });
    return {
      shape,
      layout,
      weights: findWeights("weights", shape, weights),
      x: handles.find("x", x, N * D).buffer,
      stretches: cutRows(engine, { ...layout, bytes: T * layout.binBytes }, effort.stretchBytes, N),
    };
  }

  function placeFixed({ H }: LstmShape, stretches: readonly Stretch[]): Bound {
    return engine.scratch("fixed", (stretches[0]?.rows ?? 0) * 4 * H * 4);
  }

  return {
    async lstmForward(shape, weights, x, N, logits, tape) {
      engine.check();
      const { stretches, ...given } = prepare(shape, weights, x, N);
      const out = handles.find("logits", logits, N * (shape.K ?? 1) * shape.T).buffer;
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
      const { D, H, T, K = 1 } = shape;
      const { stretches, ...given } = prepare(shape, pass.weights, pass.x, N);
      const slopes = handles.find("dLogits", dLogits, N * K * T).buffer;
      const toGradient = findWeights("gradient", shape, gradient);
      const fixed = placeFixed(shape, stretches);
      stretches.forEach((stretch, k) => {
        const { first, rows, bytes } = stretch;
        const kept = pages[k] ?? engine.scratch("tape", bytes);
        const again = pages[k] === undefined ? runForward({ ...given, fixed }, stretch, null, kept) : [];
        const products = { left: fixed, right: given.x, first, N: rows, outputs: 4 * H, inputs: D };
        engine.submit([
          ...again,
          ...given.layout.backward(engine, {
            ...{ shape, stretch, weights: given.weights, tape: kept, dLogits: slopes, dFixed: fixed },
            gradient: toGradient,
          }),
          ...sumProducts(engine, "parts", products, limit, inputAddition(shape, toGradient)),
        ]);
      });
      if (given.layout.spendsTape) tapes.spend(tape);
    },
  };
}

/** Adds to logits where they are given, keeps activations where there is room for them. */
function runForward(
  { shape, layout, weights, x, fixed }: Given,
  { first, rows, tiles }: Stretch,
  logits: Bound | null,
  page: Bound | null,
): KernelRun[] {
  const { D, H, T, K = 1 } = shape;
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
      kernel: layout.forward(kind, K),
      sizes: [first, rows, T, D, K],
      arrays: [
        ...[fixed, input, recurrent],
        ...(logits === null ? [] : [output, outputBias, logits]),
        ...(page === null ? [] : [page]),
      ],
      groups: tiles,
    },
  ];
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
