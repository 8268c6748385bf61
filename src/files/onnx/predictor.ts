/**
 * What a model does with x, as an ONNX graph: x [N,D] in, survival [N,T] out. Networks end in logits z and S(t) =
 * exp(Σ_{l≤t} −softplus(z_l)), in single precision as they are trained; Cox is S(t) = exp(−H(t) exp((x − means)β)) at
 * the upper edge of each bin, in double precision. The LSTM is ONNX's own operator over [T,N,D+1]: its gates are in the
 * order i, o, f, g, ours are i, f, g, o.
 */
import { countAtMost } from "../../core/ascending.ts";
import { FormatError } from "../../core/errors.ts";
import { LARGEST_ENCODED } from "../../data/reading/conform-column.ts";
import { EDGE_SLACK } from "../../models/cox/baseline.ts";
import { hiddenOf } from "../../models/networks/anchored.ts";
import { GROUP_KNOTS, OFFSET_SCALE, placeKnots } from "../../models/networks/group-offsets.ts";
import { baseParameter, type HeldSpec } from "../../models/networks/held.ts";
import type { NetworkSpec, SingleNetworkSpec } from "../../models/networks/list.ts";
import { LARGEST_LOGIT, type MeanSpec, memberParameter } from "../../models/networks/mean.ts";
import { listDenseLayers, type MlpSpec } from "../../models/networks/mlp.ts";
import { parameterShapes } from "../../models/networks/network-spec.ts";
import type { ParameterValues } from "../../models/networks/parameters.ts";
import type { Predictor } from "../../training/model.ts";
import type { OnnxGraph } from "./graph.ts";
import { TYPE_NUMBERS } from "./writer.ts";

/** Float [N,T]. x is float or double [N,D], `edges` the grid's T+1. */
export function predictorToOnnx(
  graph: OnnxGraph,
  predictor: Predictor,
  x: string,
  edges: readonly number[],
): string {
  const cast = (type: "float" | "double") => graph.add("Cast", [x], { to: TYPE_NUMBERS[type] });
  const survival =
    predictor.kind === "cox"
      ? coxToOnnx(graph, predictor, cast("double"), edges)
      : networkToOnnx(graph, predictor.network, predictor.parameters, cast("float"));
  return refuseRows(graph, cast("float"), survival);
}

/**
 * A row of x with a number that no prediction may rest on (NaN, infinite, absurd) becomes NaN as a whole. This is
 * checked on x, because onnxruntime's LSTM turns a NaN into numbers.
 */
function refuseRows(graph: OnnxGraph, x: string, survival: string): string {
  const limit = graph.constant("float", [1, 1], [LARGEST_ENCODED]);
  const isUsable = graph.add("LessOrEqual", [graph.add("Abs", [x]), limit]);
  const asNumbers = graph.add("Cast", [isUsable], { to: TYPE_NUMBERS.float });
  const all = graph.add("ReduceMin", [asNumbers], { axes: [1], keepdims: 1 });
  const nothing = graph.constant("float", [1, 1], [Number.NaN]);
  return graph.add("Where", [graph.add("Cast", [all], { to: TYPE_NUMBERS.bool }), survival, nothing]);
}

type Cox = Extract<Predictor, { readonly kind: "cox" }>;

function coxToOnnx(graph: OnnxGraph, cox: Cox, x: string, edges: readonly number[]): string {
  const { D, coefficients, means, cumulativeHazardAtMeans } = cox;
  const T = edges.length - 1;
  const times = Float64Array.from(cox.time);
  const hazards = edges.slice(1).map((edge) => {
    const passed = countAtMost(times, edge + Math.abs(edge) * EDGE_SLACK);
    return passed === 0 ? 0 : cumulativeHazardAtMeans[passed - 1];
  });
  const centred = graph.add("Sub", [x, graph.constant("double", [1, D], means, "means")]);
  // NaN stands for a column that was left out of the fit.
  const slopes = coefficients.map((slope) => (Number.isNaN(slope) ? 0 : slope));
  const risk = graph.add("MatMul", [centred, graph.constant("double", [D, 1], slopes, "coefficients")]); // [N,1]
  const hazard = graph.constant("double", [1, T], hazards, "cumulative hazard at means");
  const grown = graph.add("Mul", [hazard, graph.add("Exp", [risk])]);
  const survival = graph.add("Exp", [graph.add("Neg", [grown])]);
  // Where nobody has died, S is 1 whatever the risk: 0 times an infinite risk would be NaN.
  const isBefore = graph.constant(
    "bool",
    [1, T],
    hazards.map((h) => (h === 0 ? 1 : 0)),
    "before the first event",
  );
  const one = graph.constant("double", [1, 1], [1]);
  return graph.add("Cast", [graph.add("Where", [isBefore, one, survival])], { to: TYPE_NUMBERS.float });
}

function networkToOnnx(graph: OnnxGraph, spec: NetworkSpec, parameters: ParameterValues, x: string): string {
  switch (spec.kind) {
    case "mean": {
      const logits = memberLogits(graph, spec, parameters, x);
      return graph.add(
        "Mean",
        logits.map((one) => curvesOf(graph, one).survival),
      );
    }
    case "held":
      return curvesOf(graph, heldToOnnx(graph, spec, parameters, x)).survival;
    default:
      return curvesOf(graph, logitsOf(graph, spec, readerOf(spec, parameters), x)).survival;
  }
}

function memberLogits(
  graph: OnnxGraph,
  { members }: MeanSpec,
  parameters: ParameterValues,
  x: string,
  prefix = "",
): string[] {
  return members.map((member, m) =>
    logitsOf(graph, member, readerOf(member, parameters, prefix + memberParameter(m, "")), x),
  );
}

/** The logits of the network below, and what the solved layer adds: one matrix [D + chances, T]. */
function heldToOnnx(graph: OnnxGraph, spec: HeldSpec, parameters: ParameterValues, x: string): string {
  const { D, T, base, blocks, chances } = spec;
  const read = readerOf(spec, parameters);
  const prefix = baseParameter("");
  const below =
    base.kind === "mean"
      ? meanLogits(graph, memberLogits(graph, base, parameters, x, prefix), T)
      : logitsOf(graph, base, readerOf(base, parameters, prefix), x);
  const B = blocks.length;
  const byBlock = read("held.coefficients").values;
  const byBin = new Float64Array((D + chances) * T);
  for (let j = 0; j < D + chances; j++) {
    for (let t = 0, b = 0; t < T; t++) {
      if (t >= blocks[b]) b++;
      byBin[j * T + t] = byBlock[j * B + b];
    }
  }
  let inputs = x;
  if (chances > 0) {
    const rows = read("held.membership").values; // [chances,D+1]
    const slopes = Float64Array.from({ length: D * chances }, (_, k) => {
      const [d, c] = [Math.floor(k / chances), k % chances];
      return rows[c * (D + 1) + d];
    });
    const levels = Array.from({ length: chances }, (_, c) => rows[c * (D + 1) + D]);
    const sums = graph.add("Add", [
      graph.add("MatMul", [x, graph.constant("float", [D, chances], slopes, "held.membership")]),
      graph.constant("float", [1, chances], levels, "held.membership level"),
    ]);
    inputs = graph.add("Concat", [x, graph.add("Sigmoid", [sums])], { axis: 1 });
  }
  const added = graph.add("MatMul", [
    inputs,
    graph.constant("float", [D + chances, T], byBin, "held.coefficients"),
  ]);
  const baseline = graph.constant("float", [1, T], read("held.baseline").values, "held.baseline");
  return graph.add("Add", [graph.add("Add", [below, baseline]), added]);
}

/** log(d/S) with d and S summed over the members, as models/networks/mean.ts has it: no differences of curves. */
function meanLogits(graph: OnnxGraph, members: readonly string[], T: number): string {
  const parts = members.map((logits) => {
    const { survival, before } = curvesOf(graph, logits);
    return { survival, died: graph.add("Mul", [before, graph.add("Sigmoid", [logits])]) };
  });
  const sum = (names: readonly string[]) => (names.length === 1 ? names[0] : graph.add("Sum", names));
  const ratio = graph.add("Sub", [
    graph.add("Log", [sum(parts.map(({ died }) => died))]),
    graph.add("Log", [sum(parts.map(({ survival }) => survival))]),
  ]);
  const limit = (sign: number) =>
    graph.constant("float", [1, T], new Float64Array(T).fill(sign * LARGEST_LOGIT));
  return graph.add("Max", [graph.add("Min", [ratio, limit(1)]), limit(-1)]);
}

/** Values with the shape that the network promises; `prefix` is that of a member of a mean. */
type ReadParameter = (name: string) => {
  readonly shape: readonly number[];
  readonly values: readonly number[];
};

function readerOf(spec: NetworkSpec, parameters: ParameterValues, prefix = ""): ReadParameter {
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

/** S(t), and S before bin t. */
function curvesOf(graph: OnnxGraph, logits: string): { readonly survival: string; readonly before: string } {
  const axis = graph.constant("int64", [], [1], "bins");
  const steps = graph.add("Softplus", [logits]);
  const total = graph.add("CumSum", [steps, axis]);
  return {
    survival: graph.add("Exp", [graph.add("Neg", [total])]),
    get before() {
      return graph.add("Exp", [graph.add("Sub", [steps, total])]);
    },
  };
}

/** One graph for each kind of network: a kind without one does not compile. */
function logitsOf(graph: OnnxGraph, spec: SingleNetworkSpec, read: ReadParameter, x: string): string {
  switch (spec.kind) {
    case "drsa":
      return lstmToOnnx(graph, spec, read, x);
    case "anchored": {
      const anchor = baselineAndSkipToOnnx(graph, spec, read, x);
      return hiddenOf(spec) === 0 ? anchor : graph.add("Add", [anchor, lstmToOnnx(graph, spec, read, x)]);
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

function lstmToOnnx(
  graph: OnnxGraph,
  { D, T }: { readonly D: number; readonly T: number },
  read: ReadParameter,
  x: string,
): string {
  const [H] = read("lstm.output").shape;
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
  const states = graph.add(
    "LSTM",
    [
      steps,
      ...["lstm.input", "lstm.recurrent"].map((name) =>
        graph.constant("float", [1, ...read(name).shape], gates(name), name),
      ),
      graph.constant("float", [1, biases.length], biases, "lstm.bias"),
    ],
    { hidden_size: H },
  ); // [T,1,N+1,H]
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
