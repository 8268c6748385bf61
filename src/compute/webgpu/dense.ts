/** Dense layers: rows times the weights, and back. */
import type { Backend } from "../backend.ts";
import type { HandleTable } from "../host.ts";
import { checkSizes, denseWeightShapes } from "../shapes.ts";
import { bindingLimit, type Placed } from "./device-memory.ts";
import type { Engine, KernelRun } from "./engine.ts";
import { multiplyRows, sumProducts } from "./sums.ts";
import type { KernelSource } from "./wgsl.ts";

const THREADS = 256;

/** tanh' = 1 − tanh² */
const BEFORE_TANH: KernelSource = {
  name: "before tanh",
  sizes: ["count"],
  reads: { out: "f32" },
  writes: { dOut: "f32" },
  threads: THREADS,
  body: () => `
  let i = group * ${THREADS}u + thread;
  if (i < size.count) { dOut[i] *= 1.0 - out[i] * out[i]; }`,
};

export function denseOnDevice(
  engine: Engine,
  handles: HandleTable<Placed>,
): Pick<Backend, "denseForward" | "denseBackward"> {
  const limit = bindingLimit(engine);
  return {
    async denseForward(shape, weights, x, N, out) {
      engine.check();
      const { inputs, outputs, activation } = shape;
      checkSizes({ inputs, outputs, N });
      const { weight, bias } = handles.findWeights("weights", weights, denseWeightShapes(shape));
      const product = {
        rows: handles.find("x", x, N * inputs).buffer,
        out: handles.find("out", out, N * outputs).buffer,
        matrix: weight.buffer,
        biases: [bias.buffer],
        strides: [inputs, 1] as const,
      };
      engine.submit([multiplyRows({ ...product, first: 0, N, inputs, outputs, activation })]);
    },

    async denseBackward(shape, weights, x, N, out, dOut, gradient, dX) {
      engine.check();
      const { inputs, outputs, activation } = shape;
      checkSizes({ inputs, outputs, N });
      const shapes = denseWeightShapes(shape);
      const { weight } = handles.findWeights("weights", weights, shapes);
      const rows = handles.find("x", x, N * inputs).buffer;
      const activated = handles.find("out", out, N * outputs).buffer;
      const left = handles.find("dOut", dOut, N * outputs).buffer;
      const sums = handles.findWeights("gradient", gradient, shapes);
      const toX = dX && handles.find("dX", dX, N * inputs).buffer;
      if (N === 0) return;

      const runs: KernelRun[] = [];
      if (activation === "tanh") {
        const groups = Math.ceil((N * outputs) / THREADS);
        runs.push({ kernel: BEFORE_TANH, sizes: [N * outputs], arrays: [activated, left], groups });
      }
      if (toX !== null) {
        // The transposed weights: its inputs are the layer's outputs.
        const product = { rows: left, out: toX, matrix: weight.buffer, biases: [], first: 0, N };
        const turned = { inputs: outputs, outputs: inputs, strides: [1, inputs] as const };
        runs.push(multiplyRows({ ...product, ...turned, activation: "none" }));
      }
      runs.push(
        ...sumProducts(engine, "parts", { left, right: rows, first: 0, N, outputs, inputs }, limit, {
          name: "dense",
          sizes: ["inputs"],
          given: [inputs],
          gradients: { weight: sums.weight.buffer, bias: sums.bias.buffer },
          add: `
  let o = column / (size.inputs + 1u);
  let i = column % (size.inputs + 1u);
  if (i < size.inputs) { weight[o * size.inputs + i] += total; } else { bias[o] += total; }`,
        }),
      );
      engine.submit(runs);
    },
  };
}
