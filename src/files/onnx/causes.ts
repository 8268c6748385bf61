/**
 * Competing causes as an ONNX graph. A network gives each cause logits z_k [N,T]; with a = log(1 + Σ_k e^{z_k}) and
 * A(t) = Σ_{s≤t} a(s),
 *   S(t) = e^{−A(t)},   F_k(t) = Σ_{s≤t} e^{z_k(s) − A(s)},
 * in double precision, since sums over a hundred bins would lose digits in single. What runs before the logits is
 * single precision, as it is trained; causes share it (models/networks/cause-view.ts).
 */
import { causeParameters, causeSpec } from "../../models/networks/cause-view.ts";
import { baseParameter, type HeldSpec } from "../../models/networks/held.ts";
import type { NetworkSpec, SingleNetworkSpec } from "../../models/networks/list.ts";
import { LARGEST_LOGIT, type MeanSpec, memberParameter } from "../../models/networks/mean.ts";
import { listParameters } from "../../models/networks/network-spec.ts";
import type { ParameterValues } from "../../models/networks/parameters.ts";
import type { OnnxGraph } from "./graph.ts";
import { hasStates, logitsOf, readerOf, statesToOnnx } from "./network-logits.ts";
import { TYPE_NUMBERS } from "./writer.ts";

/** Float, [N,T] and [N,K,T]; x is float [N,D]. */
export function causesToOnnx(
  graph: OnnxGraph,
  spec: NetworkSpec,
  parameters: ParameterValues,
  x: string,
): { readonly survival: string; readonly incidence: string } {
  if (spec.kind !== "mean")
    return finishCurves(graph, [curvesOf(graph, logitsOfAny(graph, spec, parameters, x))]);
  const members = memberLogits(graph, spec, parameters, x);
  return finishCurves(
    graph,
    members.map((logits) => curvesOf(graph, logits)),
  );
}

interface CauseCurves {
  readonly survival: string; // double [N,T]
  readonly incidences: readonly string[]; // K of double [N,T]
}

/** The mean over runs, in the types and shapes of the file's outputs. */
function finishCurves(graph: OnnxGraph, runs: readonly CauseCurves[]) {
  // Of double numbers, onnxruntime has Sum and no Mean.
  const mean = (names: readonly string[]) =>
    names.length === 1
      ? names[0]
      : graph.add("Mul", [
          graph.add("Sum", names),
          graph.constant("double", [1, 1], [1 / names.length], "share of a run"),
        ]);
  const toFloat = (name: string) => graph.add("Cast", [name], { to: TYPE_NUMBERS.float });
  const causeAxis = graph.constant("int64", [1], [1], "cause axis");
  const layers = runs[0].incidences.map((_, k) =>
    graph.add("Unsqueeze", [mean(runs.map(({ incidences }) => incidences[k])), causeAxis]),
  );
  return {
    survival: toFloat(mean(runs.map(({ survival }) => survival))),
    incidence: toFloat(graph.add("Concat", layers, { axis: 1 })),
  };
}

function curvesOf(graph: OnnxGraph, logits: readonly string[]): CauseCurves {
  const total = sumSteps(graph, logits);
  const bins = graph.constant("int64", [], [1], "bins");
  return {
    survival: graph.add("Exp", [graph.add("Neg", [total])]),
    incidences: logits.map((one) =>
      graph.add("CumSum", [graph.add("Exp", [graph.add("Sub", [one, total])]), bins]),
    ),
  };
}

/** A(t); with m the largest of 0 and the logits, a = m + log(e^{−m} + Σ e^{z − m}), which cannot overflow. */
function sumSteps(graph: OnnxGraph, logits: readonly string[]): string {
  const zero = graph.constant("double", [1, 1], [0], "no event");
  const most = graph.add("Max", [zero, ...logits]);
  const odds = [zero, ...logits].map((one) => graph.add("Exp", [graph.add("Sub", [one, most])]));
  const steps = graph.add("Add", [most, graph.add("Log", [graph.add("Sum", odds)])]);
  return graph.add("CumSum", [steps, graph.constant("int64", [], [1], "bins")]);
}

/** K logits, double [N,T], of a network that is no mean at the end. */
function logitsOfAny(
  graph: OnnxGraph,
  spec: SingleNetworkSpec | HeldSpec,
  parameters: ParameterValues,
  x: string,
): readonly string[] {
  return spec.kind === "held"
    ? heldLogits(graph, spec, parameters, x)
    : singleLogits(graph, spec, parameters, x, "");
}

/** The causes of one network: the LSTM runs once for all of them. */
function singleLogits(
  graph: OnnxGraph,
  spec: SingleNetworkSpec,
  parameters: ParameterValues,
  x: string,
  prefix: string,
): readonly string[] {
  const read = readerOf(spec, parameters, prefix);
  const own: ParameterValues = Object.fromEntries(
    listParameters(spec).map(({ name }) => [name, [...read(name).values]]),
  );
  const alone = causeSpec(spec);
  const readCause = (k: number) => readerOf(alone, causeParameters(spec, own, k));
  const states = hasStates(spec) ? statesToOnnx(graph, spec, readCause(0), x) : null;
  return Array.from({ length: spec.causes ?? 1 }, (_, k) =>
    graph.add("Cast", [logitsOf(graph, alone, readCause(k), x, states)], { to: TYPE_NUMBERS.double }),
  );
}

function memberLogits(
  graph: OnnxGraph,
  { members }: MeanSpec,
  parameters: ParameterValues,
  x: string,
  prefix = "",
): readonly (readonly string[])[] {
  return members.map((member, m) =>
    singleLogits(graph, member, parameters, x, prefix + memberParameter(m, "")),
  );
}

/** The smallest number of deaths whose logarithm is taken: below any that a limit of the logits lets through. */
const LEAST_DIED = 1e-300;

/**
 * log(d_k/S) with d_k and S summed over the members, as models/networks/mean.ts has it. All are taken relative to the
 * member with most people left, so that none vanish together.
 */
function meanLogits(graph: OnnxGraph, members: readonly (readonly string[])[]): readonly string[] {
  const totals = members.map((logits) => sumSteps(graph, logits));
  const least = totals.length === 1 ? totals[0] : graph.add("Min", totals);
  const lost = totals.map((total) => graph.add("Sub", [total, least]));
  const sumExp = (exponents: readonly string[]) => {
    const terms = exponents.map((one) => graph.add("Exp", [one]));
    return terms.length === 1 ? terms[0] : graph.add("Sum", terms);
  };
  const left = graph.add("Log", [sumExp(lost.map((one) => graph.add("Neg", [one])))]);
  const floor = graph.constant("double", [1, 1], [LEAST_DIED], "least died");
  const limit = (sign: number) => graph.constant("double", [1, 1], [sign * LARGEST_LOGIT], "largest logit");
  const died = members[0].map((_, k) => {
    const sum = sumExp(members.map((logits, m) => graph.add("Sub", [logits[k], lost[m]])));
    return graph.add("Log", [graph.add("Max", [sum, floor])]);
  });
  const most = graph.add("Max", died);
  const largest = graph.add("Min", [graph.add("Sub", [most, left]), limit(1)]);
  return died.map((one) =>
    graph.add("Max", [graph.add("Add", [largest, graph.add("Sub", [one, most])]), limit(-1)]),
  );
}

/** The logits of the network below, and what the solved layer of each cause adds. */
function heldLogits(
  graph: OnnxGraph,
  spec: HeldSpec,
  parameters: ParameterValues,
  x: string,
): readonly string[] {
  const { D, T, base, blocks, chances } = spec;
  const read = readerOf(spec, parameters);
  const prefix = baseParameter("");
  const below =
    base.kind === "mean"
      ? meanLogits(graph, memberLogits(graph, base, parameters, x, prefix))
      : singleLogits(graph, base, parameters, x, prefix);
  const rows = graph.add("Cast", [x], { to: TYPE_NUMBERS.double });
  const inputs = chances === 0 ? rows : addChances(graph, spec, read("held.membership").values, rows);
  const J = D + chances;
  const B = blocks.length;
  const coefficients = read("held.coefficients").values; // [K,J,B]
  const baselines = read("held.baseline").values; // [K,T]
  return below.map((logits, k) => {
    const byBin = new Float64Array(J * T);
    for (let j = 0; j < J; j++) {
      for (let t = 0, b = 0; t < T; t++) {
        if (t >= blocks[b]) b++;
        byBin[j * T + t] = coefficients[(k * J + j) * B + b];
      }
    }
    const added = graph.add("MatMul", [inputs, graph.constant("double", [J, T], byBin, "held.coefficients")]);
    const level = graph.constant("double", [1, T], baselines.slice(k * T, (k + 1) * T), "held.baseline");
    return graph.add("Add", [graph.add("Add", [logits, level]), added]);
  });
}

/** [x, σ(M [x, 1])] in double precision. */
function addChances(
  graph: OnnxGraph,
  { D, chances }: HeldSpec,
  membership: readonly number[], // [chances,D+1]
  rows: string,
): string {
  const slopes = Float64Array.from({ length: D * chances }, (_, k) => {
    const [d, c] = [Math.floor(k / chances), k % chances];
    return membership[c * (D + 1) + d];
  });
  const levels = Array.from({ length: chances }, (_, c) => membership[c * (D + 1) + D]);
  const sums = graph.add("Add", [
    graph.add("MatMul", [rows, graph.constant("double", [D, chances], slopes, "held.membership")]),
    graph.constant("double", [1, chances], levels, "held.membership level"),
  ]);
  return graph.add("Concat", [rows, graph.add("Sigmoid", [sums])], { axis: 1 });
}
