/**
 * The logits of a single network as an ONNX graph: x [N,D] in, [N,T] out, in single precision as it is trained. The
 * LSTM is ONNX's own operator over [T,N,D+1]: its gates are in the order i, o, f, g, ours are i, f, g, o.
 */
import { FormatError } from "../../core/errors.ts";
import { hiddenOf } from "../../models/networks/anchored.ts";
import { GROUP_KNOTS, OFFSET_SCALE, placeKnots } from "../../models/networks/group-offsets.ts";
import type { NetworkSpec, SingleNetworkSpec } from "../../models/networks/list.ts";
import { listDenseLayers, type MlpSpec } from "../../models/networks/mlp.ts";
import { parameterShapes } from "../../models/networks/network-spec.ts";
import type { ParameterValues } from "../../models/networks/parameters.ts";
import type { OnnxGraph } from "./graph.ts";

/** Values with the shape that the network promises; `prefix` is that of a member of a mean. */
export type ReadParameter = (name: string) => {
  readonly shape: readonly number[];
  readonly values: readonly number[];
};

/** Reads a network's parameters from those of a file; refuses a length that the network does not promise. */
export function readerOf(spec: NetworkSpec, parameters: ParameterValues, prefix = ""): ReadParameter {
  const shapes = parameterShapes(spec);
  return (name) => {
    const shape = shapes.get(name) ?? [];
    const values = Object.hasOwn(parameters, prefix + name) ? parameters[prefix + name] : [];
    const expected = shape.reduce((product, size) => product * size, 1);
    if (values.length === expected) return { shape, values };
    throw new FormatError(
      `parameter ${prefix + name} has ${values.length} values, the network needs ${expected}`,
      { code: "parameter.shape", where: prefix + name },
    );
  };
}

/** One graph for each kind of network: a kind without one does not compile. `states` are those of a shared LSTM. */
export function logitsOf(
  graph: OnnxGraph,
  spec: SingleNetworkSpec,
  read: ReadParameter,
  x: string,
  states: string | null = null,
): string {
  const recur = () => outputToOnnx(graph, states ?? statesToOnnx(graph, spec, read, x), read);
  switch (spec.kind) {
    case "drsa":
      return recur();
    case "anchored": {
      const anchor = baselineAndSkipToOnnx(graph, spec, read, x);
      return hiddenOf(spec) === 0 ? anchor : graph.add("Add", [anchor, recur()]);
    }
    case "mlp":
      return mlpToOnnx(graph, spec, read, x);
    case "linear":
      return baselineAndSkipToOnnx(graph, spec, read, x);
  }
}

/** Slopes, and what each group adds over time: one matrix [D,T], because both are linear in x. */
function baselineAndSkipToOnnx(
  graph: OnnxGraph,
  { D, T, groups = 0, baselineHazard }: Extract<NetworkSpec, { readonly kind: "anchored" | "linear" }>,
  read: ReadParameter,
  x: string,
): string {
  const baseline = graph.constant("float", [1, T], read("baseline").values, "baseline");
  if (groups === 0) {
    const skip = graph.constant("float", [D, 1], read("skip").values, "skip");
    return graph.add("Add", [graph.add("MatMul", [x, skip]), baseline]);
  }
  const slopes = new Float64Array(D * T);
  read("skip").values.forEach((slope, d) => {
    slopes.fill(slope, d * T, (d + 1) * T);
  });
  const offsets = read("groupOffsets").values; // [G,knots]
  const { knot, share } = placeKnots(T, baselineHazard);
  for (let g = 0; g < groups; g++) {
    const at = (t: number, k: number) => offsets[g * GROUP_KNOTS + knot[t] + k];
    for (let t = 0; t < T; t++) {
      slopes[(D - groups + g) * T + t] += OFFSET_SCALE * ((1 - share[t]) * at(t, 0) + share[t] * at(t, 1));
    }
  }
  return graph.add("Add", [
    graph.add("MatMul", [x, graph.constant("float", [D, T], slopes, "skip and group offsets")]),
    baseline,
  ]);
}

function mlpToOnnx(graph: OnnxGraph, spec: MlpSpec, read: ReadParameter, x: string): string {
  return listDenseLayers(spec).reduce((input, { activation }, l) => {
    const constant = (name: string) => {
      const { shape, values } = read(name);
      return graph.constant("float", shape, values, name);
    };
    const sums = graph.add("Gemm", [input, constant(`dense${l}.weight`), constant(`dense${l}.bias`)], {
      transB: 1,
    });
    return activation === "tanh" ? graph.add("Tanh", [sums]) : sums;
  }, x);
}

/** The index in our gate order of each of ONNX's gates i, o, f, g. */
const GATES = [0, 3, 1, 2];

/** Whether a network has an LSTM. */
export function hasStates(spec: SingleNetworkSpec): boolean {
  return spec.kind === "drsa" || (spec.kind === "anchored" && hiddenOf(spec) > 0);
}

/** What the LSTM remembers after each bin, [T,1,N+1,H]: with a row below that `outputToOnnx` removes. */
export function statesToOnnx(
  graph: OnnxGraph,
  { D, T }: { readonly D: number; readonly T: number },
  read: ReadParameter,
  x: string,
): string {
  const [H] = read("lstm.output").shape.slice(-1);
  const gates = (name: string) => {
    const { values } = read(name);
    const size = values.length / GATES.length;
    return GATES.flatMap((gate) => values.slice(gate * size, (gate + 1) * size));
  };
  // [x, 0] [N,D+1] plus [0, t/T] [T,1,D+1] is [x, t/T] for every bin.
  const clock = new Float64Array(T * (D + 1));
  for (let t = 0; t < T; t++) clock[t * (D + 1) + D] = (t + 1) / T;
  // Adds a row of zeros below, removed again at the end: onnxruntime (1.15 to 1.31) ends the whole process on an LSTM
  // without a row.
  const widened = graph.add("Pad", [x, graph.constant("int64", [4], [0, 0, 1, 1], "room for time")]); // [N+1,D+1]
  const steps = graph.add("Add", [widened, graph.constant("float", [T, 1, D + 1], clock, "time")]); // [T,N+1,D+1]
  const biases = [...gates("lstm.inputBias"), ...gates("lstm.recurrentBias")];
  return graph.add(
    "LSTM",
    [
      steps,
      ...["lstm.input", "lstm.recurrent"].map((name) =>
        graph.constant("float", [1, ...read(name).shape], gates(name), name),
      ),
      graph.constant("float", [1, biases.length], biases, "lstm.bias"),
    ],
    { hidden_size: H },
  );
}

function outputToOnnx(graph: OnnxGraph, states: string, read: ReadParameter): string {
  const [H] = read("lstm.output").shape;
  const output = graph.constant("float", [H, 1], read("lstm.output").values, "lstm.output");
  const products = graph.add("MatMul", [states, output]); // [T,1,N+1,1]
  const flat = graph.add("Squeeze", [products, graph.constant("int64", [2], [1, 3], "single sizes")]); // [T,N+1]
  const all = graph.add("Transpose", [flat], { perm: [1, 0] }); // [N+1,T]
  const place = (label: string, value: number) => graph.constant("int64", [1], [value], label);
  const rows = graph.add("Slice", [all, place("first row", 0), place("last row", -1), place("rows", 0)]); // [N,T]
  return graph.add("Add", [
    rows,
    graph.constant("float", [1], read("lstm.outputBias").values, "lstm.outputBias"),
  ]);
}
