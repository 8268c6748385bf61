/**
 * data/encode/encode.ts as an ONNX graph: raw columns in, x [N,D] in double precision out, with the same imputation,
 * missing indicators, scaling and one-hot columns, and with the 0/1 columns of the input groups
 * (data/groups/groups.ts). A graph cannot complain: what `encode` refuses (a level training did not have, a
 * boolean that is neither 0 nor 1) becomes NaN in x here, and NaN in the whole curve later.
 */
import {
  type BooleanEncoding,
  type CategoryEncoding,
  type Encoder,
  encodedWidth,
  type NumberEncoding,
} from "../../data/encode/encoder.ts";
import type { NumberShape } from "../../data/encode/number-shape.ts";
import { BEND_WEIGHTS, columnsOf, KNOTS, type ScoreLine, SPLINE_COLUMNS } from "../../data/encode/spline.ts";
import { type Group, groupColumnName } from "../../data/groups/groups.ts";
import { parseGroup } from "../../data/groups/parse-group.ts";
import {
  findMissing,
  levelNumber,
  lookUp,
  missingTexts,
  openColumns,
  type RawTensor,
  rawColumnsOf,
} from "./columns.ts";
import type { OnnxGraph } from "./graph.ts";
import { groupToOnnx } from "./groups.ts";
import { TYPE_NUMBERS } from "./writer.ts";

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
  // All numbers side by side take the same few operators, so that a graph of a thousand columns is no longer than one
  // of ten.
  const blocks: string[] = [];
  /** Column encoding → the positions of its columns of x among the blocks. */
  const places = new Map<object, readonly number[]>();
  let width = 2 * numeric.length;
  if (numeric.length > 0) {
    const { value, scaled, missing } = scaleNumbers(
      graph,
      numeric,
      numeric.map(({ column }) => members.get(column) ?? (columns.get(column) as RawTensor).tensor),
    );
    blocks.push(scaled, missing);
    const bent = numeric.flatMap((one, k) =>
      one.type !== "boolean" && one.spline ? [{ k, line: one.spline }] : [],
    );
    if (bent.length > 0) blocks.push(splinesToOnnx(graph, value, bent));
    const coded = numeric.flatMap((one, k) => codesOf(one).map((code) => ({ k, code })));
    if (coded.length > 0) blocks.push(codesToOnnx(graph, value, coded));
    let nextCode = width + SPLINE_COLUMNS * bent.length;
    numeric.forEach((one, k) => {
      const own = one.missingIndicator ? [k, numeric.length + k] : [k];
      if (one.type !== "boolean" && one.spline) {
        for (let j = 0; j < SPLINE_COLUMNS; j++) own.push(width++);
      }
      for (const _ of codesOf(one)) own.push(nextCode++);
      places.set(one, own);
    });
    width = nextCode;
  }
  for (const one of categories) {
    const table = oneHotTable(one, encoder.unknownLevels);
    blocks.push(encodeLevels(graph, one, columns.get(one.column) as RawTensor, table));
    places.set(
      one,
      Array.from({ length: table.width }, (_, k) => width + k),
    );
    width += table.width;
  }
  // A category without a column of x can still refuse a row; what is added is 0, or NaN.
  const checked = categories.filter((one) => encodedWidth(one) === 0);
  const order = encoder.columns.flatMap((one) => {
    const own = places.get(one) ?? [];
    return one.type === "category" ? own.slice(0, encodedWidth(one)) : own;
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

function codesOf(one: Numeric): readonly number[] {
  return one.type === "boolean" ? [] : (one.codes ?? []);
}

/** [N, codes], double: 1 where column k of `value` [N,columns] is the code. */
function codesToOnnx(
  graph: OnnxGraph,
  value: string,
  coded: readonly { readonly k: number; readonly code: number }[],
): string {
  const picked = pickColumns(
    graph,
    value,
    coded.map(({ k }) => k),
  );
  const codes = graph.constant(
    "double",
    [1, coded.length],
    coded.map(({ code }) => code),
    "codes",
  );
  return graph.add("Cast", [graph.add("Equal", [picked, codes])], { to: TYPE_NUMBERS.double });
}

/** [N,columns]: the logarithms of the columns that enter by them, the others as they are. */
function takeLogs(graph: OnnxGraph, numeric: readonly Numeric[], value: string): string {
  const shapes = numeric.map((one): NumberShape => (one.type === "boolean" ? {} : one));
  if (shapes.every(({ logFloor }) => logFloor === undefined)) return value;
  const row = (type: "double" | "bool", of: (shape: NumberShape) => number, label: string) =>
    graph.constant(type, [1, numeric.length], shapes.map(of), label);
  const from = row("double", ({ logFrom }) => logFrom ?? 0, "log from");
  const sign = row("double", ({ logSign }) => logSign ?? 1, "log sign");
  const above = graph.add("Mul", [graph.add("Sub", [value, from]), sign]);
  const raised = graph.add("Max", [above, row("double", ({ logFloor }) => logFloor ?? 1, "log floor")]);
  const isLogged = row("bool", ({ logFloor }) => (logFloor === undefined ? 0 : 1), "by logarithm");
  return graph.add("Where", [isLogged, graph.add("Mul", [graph.add("Log", [raised]), sign]), value]);
}

/** All [N,columns], double; `value` has the missing ones filled. */
function scaleNumbers(
  graph: OnnxGraph,
  numeric: readonly Numeric[],
  tensors: readonly string[],
): { readonly value: string; readonly scaled: string; readonly missing: string } {
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
    value,
    scaled: graph.add("Div", [graph.add("Sub", [takeLogs(graph, numeric, value), mean]), sd]),
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

interface OneHotTable {
  readonly width: number;
  /** Levels, one row for the pooled ones where there are any, then missing, then a level not seen in training. */
  readonly values: Float64Array; // [rows, width]
  readonly rows: number;
}

function oneHotTable(encoding: CategoryEncoding, unknownLevels: Encoder["unknownLevels"]): OneHotTable {
  const { levels, dropFirst, otherLevel = false, missingLevel } = encoding;
  const width = Math.max(1, encodedWidth(encoding));
  const missing = firstMissingRow(encoding);
  const values = new Float64Array((missing + 2) * width);
  const mark = (row: number, column: number) => {
    if (column >= 0) values[row * width + column] = 1;
  };
  const refuse = (row: number) => {
    if (unknownLevels === "error") values.fill(Number.NaN, row * width, (row + 1) * width);
  };
  const first = dropFirst ? -1 : 0;
  for (let level = 0; level < levels.length; level++) mark(level, first + level);
  if (otherLevel) mark(levels.length, first + levels.length);
  if (missingLevel) mark(missing, first + levels.length + (otherLevel ? 1 : 0));
  else refuse(missing);
  refuse(missing + 1);
  return { width, values, rows: missing + 2 };
}

function firstMissingRow({ levels, pooled = [] }: CategoryEncoding): number {
  return levels.length + (pooled.length > 0 ? 1 : 0);
}

/** [N,width] */
function encodeLevels(
  graph: OnnxGraph,
  encoding: CategoryEncoding,
  raw: RawTensor,
  { width, values, rows }: OneHotTable,
): string {
  const table = graph.constant("double", [rows, width], values, `${encoding.column} one-hot`);
  const index = raw.holds === "string" ? findText(graph, encoding, raw) : findNumber(graph, encoding, raw);
  return graph.add("Gather", [table, index], { axis: 0 });
}

/** Int64 [N], a row of the one-hot table. */
function findText(graph: OnnxGraph, encoding: CategoryEncoding, { tensor }: RawTensor): string {
  const { levels, pooled = [] } = encoding;
  const missing = firstMissingRow(encoding);
  const rows = new Map<string, number>(levels.map((level, k) => [level, k]));
  for (const level of pooled) rows.set(level, levels.length);
  for (const text of missingTexts([...levels, ...pooled])) rows.set(text, missing);
  const found = lookUp(graph, tensor, rows, missing + 1);
  return graph.add("Squeeze", [found, graph.constant("int64", [1], [1])]);
}

/** The first test that is true: equal to each level, equal to any pooled one, missing, anything. */
function findNumber(graph: OnnxGraph, { levels, pooled = [] }: CategoryEncoding, raw: RawTensor): string {
  const isEqual = (some: readonly string[], label: string) => {
    const numbers = graph.constant("double", [1, some.length], some.map(levelNumber), `${raw.name} ${label}`);
    return () => graph.add("Equal", [raw.tensor, numbers]);
  };
  const isLevel = isEqual(levels, "levels");
  const isMissing = findMissing(graph, raw);
  const tests = graph.add(
    "Concat",
    [
      ...(levels.length === 0 ? [] : [isLevel()]),
      ...(pooled.length === 0 ? [] : [anyOf(graph, isEqual(pooled, "pooled")())]),
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

/** [N,1]: whether any test of a row is true. */
function anyOf(graph: OnnxGraph, tests: string): string {
  const most = graph.add("ReduceMax", [graph.add("Cast", [tests], { to: TYPE_NUMBERS.int32 })], {
    axes: [1],
  });
  return graph.add("Cast", [most], { to: TYPE_NUMBERS.bool });
}

/** A number with splines: its column among `value` [N,numbers], and its score line. */
interface BentNumber {
  readonly k: number;
  readonly line: ScoreLine;
}

/**
 * data/encode/spline.ts as operators, [N, numbers with splines × SPLINE_COLUMNS], double: all numbers are handled
 * side by side, so that many take no more operators than one.
 */
function splinesToOnnx(graph: OnnxGraph, value: string, bent: readonly BentNumber[]): string {
  const S = bent.length;
  const axis = graph.constant("int64", [1], [2]);
  const zero = graph.constant("double", [1, 1, 1], [0]);
  const places = bent.map(({ k }) => k);
  const picked = graph.add("Gather", [value, graph.constant("int64", [S], places)], { axis: 1 });
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
  const terms = graph.add("Unsqueeze", [graph.add("Concat", [z, bends], { axis: 2 }), axis]); // [N,S,1,terms]
  const kinds = bent.map(({ line }) => columnsOf(line));
  const mix = kinds.flatMap((columns) =>
    [0, ...BEND_WEIGHTS.keys()].flatMap((_, term) =>
      columns.map((column) => (term === 0 ? column.linear : column.mix[term - 1])),
    ),
  );
  const P = 1 + BEND_WEIGHTS.length;
  const mixed = graph.add("Squeeze", [
    graph.add("MatMul", [terms, graph.constant("double", [1, S, P, SPLINE_COLUMNS], mix, "spline columns")]),
    axis,
  ]);
  const row = (of: "mean" | "sd") => {
    const scales = kinds.flatMap((columns) => columns.map((column) => column[of]));
    return graph.constant("double", [1, S, SPLINE_COLUMNS], scales, `spline ${of}`);
  };
  const scaled = graph.add("Div", [graph.add("Sub", [mixed, row("mean")]), row("sd")]);
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
  const starts = bent.map(({ line }) => line.scores[0]);
  const first = graph.constant("double", [1, bent.length, 1], starts, "first score");
  return graph.add("Add", [first, climbed]);
}
