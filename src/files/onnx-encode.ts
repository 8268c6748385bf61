/**
 * data/encode.ts as an ONNX graph: raw columns in, x [N,D] in double precision out, with the same imputation, missing indicators,
 * scaling and one-hot columns, and with the 0/1 columns of the input groups (data/group-columns.ts). A graph cannot complain: what `encode`
 * refuses (a level training did not have, a boolean that is neither 0 nor 1) becomes NaN in x here, and NaN in the whole curve later.
 */
import type { BooleanEncoding, CategoryEncoding, Encoder, NumberEncoding } from "../data/encode.ts";
import { groupColumnName } from "../data/group-columns.ts";
import { parseGroup } from "../data/group-expression.ts";
import type { Group } from "../data/groups.ts";
import {
  findMissing,
  levelNumber,
  lookUp,
  missingTexts,
  openColumns,
  type RawTensor,
  rawColumnsOf,
} from "./onnx-columns.ts";
import type { OnnxGraph } from "./onnx-graph.ts";
import { groupToOnnx } from "./onnx-groups.ts";
import { TYPE_NUMBERS } from "./onnx-writer.ts";

/** The name of x, double [N,D]. */
export function encodeToOnnx(graph: OnnxGraph, encoder: Encoder, inputGroups: readonly Group[]): string {
  const columns = openColumns(graph, rawColumnsOf(encoder, inputGroups));
  const members = new Map(
    inputGroups.map((group) => [
      groupColumnName(group),
      graph.add("Cast", [groupToOnnx(graph, parseGroup(group.expression), columns)], {
        to: TYPE_NUMBERS.double,
      }),
    ]),
  );
  const numeric = encoder.columns.filter((one) => one.type !== "category");
  const categories = encoder.columns.filter((one) => one.type === "category");
  // All numbers side by side take the same few operators, so that a thousand columns make no longer a graph than ten.
  const blocks: string[] = [];
  /** Column encoding → where its columns of x stand among the blocks. */
  const places = new Map<object, readonly number[]>();
  if (numeric.length > 0) {
    const { scaled, missing } = scaleNumbers(
      graph,
      numeric,
      numeric.map(({ column }) => members.get(column) ?? (columns.get(column) as RawTensor).tensor),
    );
    blocks.push(scaled, missing);
    numeric.forEach((one, k) => {
      places.set(one, one.missingIndicator ? [k, numeric.length + k] : [k]);
    });
  }
  let width = 2 * numeric.length;
  for (const one of categories) {
    const table = oneHotTable(one, encoder.unknownLevels);
    blocks.push(encodeLevels(graph, one, columns.get(one.column) as RawTensor, table));
    places.set(
      one,
      Array.from({ length: table.width }, (_, k) => width + k),
    );
    width += table.width;
  }
  // A category without a column of x still refuses; what is added is 0, or NaN.
  const checked = categories.filter((one) => countColumns(one) === 0);
  const order = encoder.columns.flatMap((one) => {
    const own = places.get(one) ?? [];
    return one.type === "category" ? own.slice(0, countColumns(one)) : own;
  });
  const all = graph.add("Concat", blocks, { axis: 1 });
  let x = pickColumns(graph, all, order);
  for (const one of checked) x = graph.add("Add", [x, pickColumns(graph, all, places.get(one) ?? [])]);
  return x;
}

function pickColumns(graph: OnnxGraph, from: string, order: readonly number[]): string {
  return graph.add("Gather", [from, graph.constant("int64", [order.length], order, "order")], { axis: 1 });
}

type Numeric = NumberEncoding | BooleanEncoding;

/** Both [N,columns], double. */
function scaleNumbers(
  graph: OnnxGraph,
  numeric: readonly Numeric[],
  tensors: readonly string[],
): { readonly scaled: string; readonly missing: string } {
  const row = (label: string, value: (one: Numeric) => number) =>
    graph.constant("double", [1, numeric.length], numeric.map(value), label);
  const raw = graph.add("Concat", tensors, { axis: 1 });
  const isMissing = graph.add("IsNaN", [raw]);
  const fill = row("fill", (one) => (one.type === "boolean" ? one.majority : one.median));
  let value = graph.add("Where", [isMissing, fill, raw]);
  if (numeric.some(({ type }) => type === "boolean")) value = refuseOtherThanBoolean(graph, numeric, value);
  const mean = row("mean", (one) => (one.type === "boolean" ? 0 : one.mean));
  const sd = row("sd", (one) => (one.type === "boolean" ? 1 : one.sd));
  return {
    scaled: graph.add("Div", [graph.add("Sub", [value, mean]), sd]),
    missing: graph.add("Cast", [isMissing], { to: TYPE_NUMBERS.double }),
  };
}

function refuseOtherThanBoolean(graph: OnnxGraph, numeric: readonly Numeric[], value: string): string {
  const scalar = (number: number) => graph.constant("double", [1, 1], [number]);
  const isAny = graph.constant(
    "bool",
    [1, numeric.length],
    numeric.map(({ type }) => (type === "boolean" ? 0 : 1)),
    "not boolean",
  );
  const isBit = graph.add("Or", [
    graph.add("Equal", [value, scalar(0)]),
    graph.add("Equal", [value, scalar(1)]),
  ]);
  return graph.add("Where", [graph.add("Or", [isAny, isBit]), value, scalar(Number.NaN)]);
}

/** How many columns of x a category has. */
function countColumns({ levels, dropFirst, missingLevel }: CategoryEncoding): number {
  return levels.length - (dropFirst ? 1 : 0) + (missingLevel ? 1 : 0);
}

interface OneHotTable {
  readonly width: number;
  /** Levels, then missing, then a level not seen in training. */
  readonly values: Float64Array; // [levels + 2, width]
}

function oneHotTable(encoding: CategoryEncoding, unknownLevels: Encoder["unknownLevels"]): OneHotTable {
  const { levels, dropFirst, missingLevel } = encoding;
  const dropped = dropFirst ? 1 : 0;
  const width = Math.max(1, countColumns(encoding));
  const values = new Float64Array((levels.length + 2) * width);
  for (let level = dropped; level < levels.length; level++) values[level * width + level - dropped] = 1;
  const refuse = (row: number) => {
    if (unknownLevels === "error") values.fill(Number.NaN, row * width, (row + 1) * width);
  };
  if (missingLevel) values[levels.length * width + levels.length - dropped] = 1;
  else refuse(levels.length);
  refuse(levels.length + 1);
  return { width, values };
}

/** [N,width] */
function encodeLevels(
  graph: OnnxGraph,
  { column, levels }: CategoryEncoding,
  raw: RawTensor,
  { width, values }: OneHotTable,
): string {
  const table = graph.constant("double", [levels.length + 2, width], values, `${column} one-hot`);
  const index = raw.holds === "string" ? findText(graph, levels, raw) : findNumber(graph, levels, raw);
  return graph.add("Gather", [table, index], { axis: 0 });
}

/** Int64 [N], a row of the one-hot table. */
function findText(graph: OnnxGraph, levels: readonly string[], { tensor }: RawTensor): string {
  const rows = new Map<string, number>(levels.map((level, k) => [level, k]));
  for (const text of missingTexts(levels)) rows.set(text, levels.length);
  const found = lookUp(graph, tensor, rows, levels.length + 1);
  return graph.add("Squeeze", [found, graph.constant("int64", [1], [1])]);
}

/** The first that is true of: equal to each level, missing, anything. */
function findNumber(graph: OnnxGraph, levels: readonly string[], raw: RawTensor): string {
  const numbers = graph.constant("double", [1, levels.length], levels.map(levelNumber), `${raw.name} levels`);
  const isMissing = findMissing(graph, raw);
  const tests = graph.add(
    "Concat",
    [
      graph.add("Equal", [raw.tensor, numbers]),
      isMissing,
      graph.add("Or", [isMissing, graph.constant("bool", [1, 1], [1])]),
    ],
    { axis: 1 },
  );
  return graph.add("ArgMax", [graph.add("Cast", [tests], { to: TYPE_NUMBERS.int32 })], {
    axis: 1,
    keepdims: 0,
  });
}
