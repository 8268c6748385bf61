/**
 * data/encode/spline.ts as operators of an ONNX graph: all numbers with splines are handled side by side, so that many
 * take no more operators than one.
 */
import { BEND_WEIGHTS, KNOTS, SCALES, type ScoreLine, SPLINE_COLUMNS } from "../../data/encode/spline.ts";
import type { OnnxGraph } from "./graph.ts";

/** A number with splines: its column among `value` [N,numbers], and its score line. */
export interface BentNumber {
  readonly k: number;
  readonly line: ScoreLine;
}

/** [N, numbers with splines × SPLINE_COLUMNS], double. */
export function splinesToOnnx(graph: OnnxGraph, value: string, bent: readonly BentNumber[]): string {
  const S = bent.length;
  const axis = graph.constant("int64", [1], [2]);
  const zero = graph.constant("double", [1, 1, 1], [0]);
  const picked = graph.add(
    "Gather",
    [
      value,
      graph.constant(
        "int64",
        [S],
        bent.map(({ k }) => k),
      ),
    ],
    { axis: 1 },
  );
  const z = readScores(graph, graph.add("Unsqueeze", [picked, axis]), bent, { axis, zero });
  const above = graph.add("Max", [
    graph.add("Sub", [z, graph.constant("double", [1, 1, KNOTS.length], KNOTS, "knots")]),
    zero,
  ]);
  const cubes = graph.add("Mul", [graph.add("Mul", [above, above]), above]); // [N,S,knots]
  const weights = KNOTS.flatMap((_, k) => BEND_WEIGHTS.map((bend) => bend[k]));
  const bends = graph.add("MatMul", [
    cubes,
    graph.constant("double", [KNOTS.length, BEND_WEIGHTS.length], weights, "bends"),
  ]);
  const columns = graph.add("Concat", [z, bends], { axis: 2 });
  const row = (of: "mean" | "sd") =>
    graph.constant(
      "double",
      [1, 1, SPLINE_COLUMNS],
      SCALES.map((scale) => scale[of]),
      `spline ${of}`,
    );
  const scaled = graph.add("Div", [graph.add("Sub", [columns, row("mean")]), row("sd")]);
  return graph.add("Reshape", [scaled, graph.constant("int64", [2], [-1, S * SPLINE_COLUMNS])]);
}

/** Normal scores [N,S,1] of `value` [N,S,1]: the first score plus the rise over each piece of the line. */
function readScores(
  graph: OnnxGraph,
  value: string,
  bent: readonly BentNumber[],
  { axis, zero }: { readonly axis: string; readonly zero: string },
): string {
  const pieces = Math.max(...bent.map(({ line }) => line.at.length)) - 1;
  /** Lines with fewer pieces are padded with pieces of no length. */
  const table = (label: string, of: (line: ScoreLine, piece: number) => number) =>
    graph.constant(
      "double",
      [1, bent.length, pieces],
      bent.flatMap(({ line }) =>
        Array.from({ length: pieces }, (_, p) => (p + 1 < line.at.length ? of(line, p) : 0)),
      ),
      label,
    );
  const from = table("from", ({ at }, p) => at[p]);
  const length = table("length", ({ at }, p) => at[p + 1] - at[p]);
  const slope = table("slope", ({ at, scores }, p) => (scores[p + 1] - scores[p]) / (at[p + 1] - at[p]));
  const along = graph.add("Min", [graph.add("Max", [graph.add("Sub", [value, from]), zero]), length]);
  const climbed = graph.add("ReduceSum", [graph.add("Mul", [along, slope]), axis], { keepdims: 1 });
  const first = graph.constant(
    "double",
    [1, bent.length, 1],
    bent.map(({ line }) => line.scores[0]),
    "first score",
  );
  return graph.add("Add", [first, climbed]);
}
