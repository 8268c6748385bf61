/**
 * The columns of a table as inputs of an ONNX graph, one input [N] per column, under the column's own name. Numbers,
 * dates (days since 1970-01-01) and booleans (0, 1) come as doubles with NaN for a missing value; so does a category
 * whose levels are all numbers, because R and pandas read such a column as numbers. Other categories come as texts, and
 * a text that means a missing value in a CSV file means one here too. Doubles are used so that a cell is compared and
 * scaled with the same digits as in `predict`.
 */
import { InputError } from "../../core/errors.ts";
import type { ColumnEncoding, Encoder } from "../../data/encode/encoder.ts";
import { type Group, groupColumnName } from "../../data/groups/groups.ts";
import { parseNumberText } from "../../data/reading/parse-cell.ts";
import { type OnnxGraph, TEXT_DOMAIN } from "./graph.ts";
import { type OnnxValue, TYPE_NUMBERS } from "./writer.ts";

export interface RawColumn {
  readonly name: string;
  readonly type: ColumnEncoding["type"];
  /** The levels of a category, ascending; otherwise empty. */
  readonly levels: readonly string[];
  /** The type of its input. */
  readonly holds: "double" | "string";
}

/** A column inside the graph. */
export interface RawTensor extends RawColumn {
  readonly tensor: string; // [N,1]
}

/** The table columns that a model reads: those it encodes, except the ones that give group membership. */
export function rawColumnsOf({ columns }: Encoder, inputGroups: readonly Group[]): RawColumn[] {
  const made = new Set(inputGroups.map(groupColumnName));
  return columns.filter(({ column }) => !made.has(column)).map(rawColumnOf);
}

function rawColumnOf(encoding: ColumnEncoding): RawColumn {
  const { column: name, type } = encoding;
  const levels = type === "category" ? [...encoding.levels, ...(encoding.pooled ?? [])] : [];
  return { name, type, levels, holds: type === "category" && !areNumbers(levels) ? "string" : "double" };
}

/** Whether every level is a number, and all of them differ. */
function areNumbers(levels: readonly string[]): boolean {
  const values = levels.map(levelNumber);
  return values.every(Number.isFinite) && new Set(values).size === levels.length;
}

export function levelNumber(level: string): number {
  return parseNumberText(level, ".");
}

const ABOUT = {
  number: "number; NaN where it is missing",
  date: "date as days since 1970-01-01; NaN where it is missing",
  boolean: "0 or 1; NaN where it is missing",
  category: "category",
} as const;

export function describeInput({ name, type, levels, holds }: RawColumn): OnnxValue {
  if (name === "") {
    throw new InputError("a column without a name cannot be an input of an ONNX file", {
      code: "onnx.column",
      hint: "give it a name and train anew, or export without --raw",
    });
  }
  if (holds === "string" && levels.includes("")) {
    throw new InputError(`the empty text is a level of "${name}", and would mean missing in an ONNX file`, {
      code: "onnx.column",
      hint: "give that level a name and train anew, or export without --raw",
    });
  }
  const missing = holds === "string" ? "the empty text where it is missing" : "NaN where it is missing";
  const about = type === "category" ? `${ABOUT.category}: ${listLevels(levels)}; ${missing}` : ABOUT[type];
  return { name, type: holds, shape: ["N"], about };
}

/** How many levels a description lists before it only counts them; all of them are in the metadata. */
const LEVELS_SHOWN = 20;

function listLevels(levels: readonly string[]): string {
  const shown = levels.slice(0, LEVELS_SHOWN).join(", ");
  return levels.length > LEVELS_SHOWN ? `${shown}, … ${levels.length} in all` : shown;
}

/** The inputs as columns [N,1]. */
export function openColumns(graph: OnnxGraph, columns: readonly RawColumn[]): Map<string, RawTensor> {
  const axis = graph.constant("int64", [1], [1], "columns");
  return new Map(
    columns.map((column) => [
      column.name,
      { ...column, tensor: graph.add("Unsqueeze", [column.name, axis]) },
    ]),
  );
}

/** Bool [N,1]. */
export function findMissing(graph: OnnxGraph, { tensor, holds, levels }: RawTensor): string {
  if (holds === "double") return graph.add("IsNaN", [tensor]);
  return findTexts(graph, tensor, missingTexts(levels));
}

/** Bool [N,1]: whether the text is one of these; [1,1] where there are none. */
export function findTexts(graph: OnnxGraph, tensor: string, texts: readonly string[]): string {
  if (texts.length === 0) return graph.constant("bool", [1, 1], [0]);
  const found = lookUp(graph, tensor, new Map(texts.map((text) => [text, 1])), 0);
  return graph.add("Cast", [found], { to: TYPE_NUMBERS.bool });
}

/** Int64 in the tensor's shape: what each text stands for. */
export function lookUp(
  graph: OnnxGraph,
  tensor: string,
  numbers: ReadonlyMap<string, number>,
  otherwise: number,
): string {
  const attributes = {
    keys_strings: [...numbers.keys()],
    values_int64s: [...numbers.values()],
    default_int64: otherwise,
  };
  return graph.add("LabelEncoder", [tensor], attributes, TEXT_DOMAIN);
}

/** What a CSV file may hold for a missing value (see parse-cell.ts), except levels seen in training. */
export function missingTexts(levels: readonly string[]): string[] {
  return ["", ...["na", "nan", "null"].flatMap(spellings)].filter((text) => !levels.includes(text));
}

/** All combinations of upper and lower case, letter by letter. */
function spellings(word: string): string[] {
  return Array.from(word).reduce<string[]>(
    (starts, letter) => starts.flatMap((start) => [start + letter, start + letter.toUpperCase()]),
    [""],
  );
}
