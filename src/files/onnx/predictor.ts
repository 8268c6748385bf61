/**
 * What a model does with x, as an ONNX graph: x [N,D] in, survival [N,T] out. Networks end in logits z and S(t) =
 * exp(Σ_{l≤t} −softplus(z_l)), in single precision as they are trained; Cox is S(t) = exp(−H(t) exp((x − means)β)) at
 * the upper edge of each bin, in double precision. Competing causes have incidences [N,K,T] beside it (causes.ts).
 */
import { countAtMost } from "../../core/ascending.ts";
import { LARGEST_ENCODED } from "../../data/reading/conform-column.ts";
import { EDGE_SLACK } from "../../models/cox/baseline.ts";
import { baseParameter, type HeldSpec } from "../../models/networks/held.ts";
import type { NetworkSpec } from "../../models/networks/list.ts";
import { LARGEST_LOGIT, type MeanSpec, memberParameter } from "../../models/networks/mean.ts";
import type { ParameterValues } from "../../models/networks/parameters.ts";
import type { Predictor } from "../../training/model.ts";
import { causesToOnnx } from "./causes.ts";
import type { OnnxGraph } from "./graph.ts";
import { logitsOf, readerOf } from "./network-logits.ts";
import { TYPE_NUMBERS } from "./writer.ts";

/** What a graph ends in. */
export interface OnnxCurves {
  /** Float [N,T]. */
  readonly survival: string;
  /** Float [N,K,T]; null of one kind of event. */
  readonly incidence: string | null;
}

/** x is float or double [N,D], `edges` the grid's T+1. */
export function predictorToOnnx(
  graph: OnnxGraph,
  predictor: Predictor,
  x: string,
  edges: readonly number[],
): OnnxCurves {
  const cast = (type: "float" | "double") => graph.add("Cast", [x], { to: TYPE_NUMBERS[type] });
  if (predictor.kind !== "cox" && predictor.network.causes !== undefined) {
    const floats = cast("float");
    const curves = causesToOnnx(graph, predictor.network, predictor.parameters, floats);
    const isUsable = findUsable(graph, floats);
    const ofCauses = graph.add("Unsqueeze", [isUsable, graph.constant("int64", [1], [2], "cause axis")]);
    return {
      survival: refuseRows(graph, isUsable, curves.survival, [1, 1]),
      incidence: refuseRows(graph, ofCauses, curves.incidence, [1, 1, 1]),
    };
  }
  const survival =
    predictor.kind === "cox"
      ? coxToOnnx(graph, predictor, cast("double"), edges)
      : networkToOnnx(graph, predictor.network, predictor.parameters, cast("float"));
  return {
    survival: refuseRows(graph, findUsable(graph, cast("float")), survival, [1, 1]),
    incidence: null,
  };
}

/**
 * [N,1]: whether every number of a row of x is one that a prediction may rest on, not NaN, infinite or absurd. This is
 * checked on x, because onnxruntime's LSTM turns a NaN into numbers.
 */
function findUsable(graph: OnnxGraph, x: string): string {
  const limit = graph.constant("float", [1, 1], [LARGEST_ENCODED]);
  const isUsable = graph.add("LessOrEqual", [graph.add("Abs", [x]), limit]);
  const asNumbers = graph.add("Cast", [isUsable], { to: TYPE_NUMBERS.float });
  return graph.add("ReduceMin", [asNumbers], { axes: [1], keepdims: 1 });
}

/** A row that cannot be used becomes NaN as a whole. */
function refuseRows(graph: OnnxGraph, isUsable: string, curves: string, shape: readonly number[]): string {
  const nothing = graph.constant("float", shape, [Number.NaN]);
  return graph.add("Where", [graph.add("Cast", [isUsable], { to: TYPE_NUMBERS.bool }), curves, nothing]);
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
