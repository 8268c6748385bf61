/**
 * Which kernels take the LSTM through the bins: the layout of lstm-plan.ts, which every device can have, or that of
 * lanes-plan.ts where neighbouring threads can pass values. Results agree but for rounding.
 */
import type { LstmShape, LstmWeights } from "../../shapes.ts";
import { bindingLimit } from "../device-memory.ts";
import type { Engine, KernelRun } from "../engine.ts";
import type { Bound, GpuLimits } from "../gpu.ts";
import { type Addition, addParts } from "../sums.ts";
import type { Stretch } from "../tapes.ts";
import type { KernelSource } from "../wgsl.ts";
import { countLanesSums, lanesBackwardKernel } from "./lanes-backward.ts";
import { lanesForwardKernel } from "./lanes-forward.ts";
import { binVectors, countOutputs, type LanesPlan, lanesNumbers, planLanes } from "./lanes-plan.ts";
import { lanesProductsKernel } from "./lanes-products.ts";
import { backwardKernel, countTileSums } from "./lstm-backward.ts";
import { type ForwardKind, forwardKernel } from "./lstm-forward.ts";
import { binBytes, type LstmEffort, type LstmPlan, pairNumbers, planLstm } from "./lstm-plan.ts";
import { type OutputPass, sumOutputs } from "./output-products.ts";

export type LstmBuffers = Readonly<Record<keyof LstmWeights, Bound>>;

/** What decides on a layout. */
export interface LstmDevice {
  /** Neighbouring threads that can pass values to each other. */
  readonly lanes: number;
  readonly effort: LstmEffort;
}

/** A stretch's backward pass. */
export interface BackwardPass {
  readonly shape: LstmShape;
  readonly stretch: Stretch;
  readonly weights: LstmBuffers;
  readonly tape: Bound;
  readonly dLogits: Bound;
  /** Is given the gradient of W_x·x + b. */
  readonly dFixed: Bound;
  readonly gradient: LstmBuffers;
}

export interface LstmLayout {
  readonly tileRows: number;
  /** Bytes of one tile's activations in one bin. */
  readonly binBytes: number;
  /** Whether the backward pass overwrites the tape. */
  readonly spendsTape: boolean;
  /** For so many outputs. */
  forward(kind: ForwardKind, K: number): KernelSource;
  backward(engine: Engine, pass: BackwardPass): KernelRun[];
}

/** For a table of N rows; the same for both passes. */
export function layOut(
  shape: LstmShape,
  N: number,
  limits: GpuLimits,
  { lanes, effort }: LstmDevice,
): LstmLayout {
  const wanted = effort.lanes.find(({ upTo }) => N <= upTo);
  const plan = wanted === undefined ? null : planLanes(shape, limits, lanes, wanted);
  return plan === null ? layOutPairs(planLstm(shape, limits, effort)) : layOutLanes(plan);
}

function layOutPairs(plan: LstmPlan): LstmLayout {
  return {
    tileRows: plan.tileRows,
    binBytes: binBytes(plan),
    spendsTape: false,
    forward: (kind, K) => forwardKernel(plan, kind, K > 1),
    backward(engine, pass) {
      const { shape, stretch, weights, tape, dLogits, dFixed, gradient } = pass;
      const { first, rows, tiles } = stretch;
      const { K = 1 } = shape;
      const columns = countTileSums(shape.H, K > 1);
      const sums = engine.scratch("tiles", tiles * columns * 4);
      return [
        ...(K > 1 ? sumOutputs(engine, pairNumbers(plan), outputPass(pass)) : []),
        {
          kernel: backwardKernel(plan, K > 1),
          sizes: [first, rows, shape.T, K],
          arrays: [weights.recurrent, weights.output, dLogits, tape, sums, dFixed],
          groups: tiles,
        },
        addParts(sums, tiles, columns, tileAddition(shape, gradient)),
      ];
    },
  };
}

function layOutLanes(plan: LanesPlan): LstmLayout {
  return {
    tileRows: plan.tileRows,
    binBytes: binVectors(plan) * plan.tapeWidth * 4,
    spendsTape: true,
    forward: (kind, K) => lanesForwardKernel(plan, kind, countOutputs(K)),
    backward(engine, pass) {
      const { shape, stretch, weights, tape, dLogits, dFixed, gradient } = pass;
      const { T, H, K = 1 } = shape;
      const { first, rows, tiles } = stretch;
      const outputs = countOutputs(K);
      const columns = countLanesSums(H, outputs);
      const sums = engine.scratch("tiles", tiles * columns * 4);
      const blocks = tiles * T;
      const most = Math.max(
        1,
        Math.min(plan.products.slices, Math.floor(bindingLimit(engine) / (16 * H * H))),
      );
      const sliceBlocks = Math.ceil(blocks / most);
      const slices = Math.ceil(blocks / sliceBlocks);
      const partials = engine.scratch("slices", slices * 16 * H * H);
      return [
        ...(outputs === "several" ? sumOutputs(engine, lanesNumbers(plan), outputPass(pass)) : []),
        {
          kernel: lanesBackwardKernel(plan, outputs),
          sizes: [first, rows, T, K],
          arrays: [weights.recurrent, weights.output, dLogits, tape, sums, dFixed],
          groups: tiles,
        },
        {
          kernel: lanesProductsKernel(plan),
          sizes: [blocks, sliceBlocks],
          arrays: [tape, partials],
          groups: slices,
        },
        addParts(sums, tiles, columns, lineAddition(shape, gradient)),
        addParts(partials, slices, 4 * H * H, recurrentAddition(gradient)),
      ];
    },
  };
}

function outputPass({ shape, stretch, tape, dLogits, gradient }: BackwardPass): OutputPass {
  return { shape, stretch, tape, dLogits, output: gradient.output, outputBias: gradient.outputBias };
}

/** The order of a tile's sums is that of lstm-backward.ts. */
function tileAddition({ D, H }: LstmShape, { recurrent, input, output, outputBias }: LstmBuffers): Addition {
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

/** The order of a line is that of lanes-backward.ts. */
function lineAddition({ D, H, K = 1 }: LstmShape, { input, output, outputBias }: LstmBuffers): Addition {
  const weights = K === 1 ? "size.H" : `${K}u * size.H`;
  return {
    name: `LSTM lines${K === 1 ? "" : ` of ${K} outputs`}`,
    sizes: ["D", "H"],
    given: [D, H],
    gradients: { input, output, outputBias },
    add: `
  let ofOutput = 4u * size.H;
  if (column < ofOutput) { input[column * (size.D + 1u) + size.D] += total; }
  else if (column < ofOutput + ${weights}) { output[column - ofOutput] += total; }
  else { outputBias[${K === 1 ? "0" : `column - ofOutput - ${weights}`}] += total; }`,
  };
}

function recurrentAddition({ recurrent }: LstmBuffers): Addition {
  return {
    name: "LSTM recurrent",
    sizes: [],
    given: [],
    gradients: { recurrent },
    add: "recurrent[column] += total;",
  };
}
