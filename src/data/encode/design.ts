/**
 * The columns of a regression, as R's model.matrix makes them with treatment contrasts: numbers as they are, a category
 * as 0/1 columns of its levels except the reference (the first in natural order unless another is named), and products
 * of two columns beside the columns themselves (R's a*b). Columns that belong together, such as the levels of a
 * category, form one term. Rows with missing values are not handled here.
 */
import { InputError } from "../../core/errors.ts";
import { compareLevels } from "../natural-order.ts";
import { type CategoryColumn, type Column, findColumn, MISSING_CODE, type Table } from "../table.ts";
import { encode } from "./encode.ts";
import { placeColumns } from "./encoder.ts";
import { fitEncoder } from "./fit-encoder.ts";

export interface DesignRequest {
  readonly features: readonly string[];
  /** 0-based; none of the features is missing in them. */
  readonly rows: Int32Array;
  /** Pairs of columns whose products are columns too. */
  readonly interactions?: readonly Interaction[];
  /** The level each category is compared with; the first where none is named. */
  readonly references?: readonly Reference[];
}

export interface Interaction {
  readonly first: string;
  readonly second: string;
}

export interface Reference {
  readonly column: string;
  readonly level: string;
}

export interface DesignTerm {
  /** The column, or "a:b". */
  readonly name: string;
  /** Places among the design's columns. */
  readonly columns: readonly number[];
}

export interface Design {
  readonly D: number;
  readonly names: readonly string[]; // [D]
  readonly values: Float64Array; // [N,D] row-major
  readonly terms: readonly DesignTerm[];
  /** One for every category among the features. */
  readonly references: readonly Reference[];
}

/** "rx=Obs"; the column is the longest name that fits. */
export function parseReference(text: string, table: Table): Reference {
  const column = table.columns
    .map(({ name }) => name)
    .filter((name) => text.startsWith(`${name}=`))
    .sort((a, b) => b.length - a.length)[0];
  if (column !== undefined) return { column, level: text.slice(column.length + 1) };
  const cut = text.indexOf("=");
  if (cut > 0) findColumn(table, text.slice(0, cut));
  throw new InputError(`not a reference level: "${text}"`, {
    code: "reference.invalid",
    hint: "write COLUMN=LEVEL, e.g. rx=Obs",
  });
}

/** "a:b", two different columns. */
export function parseInteraction(text: string, table: Table): Interaction {
  const names = new Set(table.columns.map(({ name }) => name));
  for (let cut = text.indexOf(":"); cut >= 0; cut = text.indexOf(":", cut + 1)) {
    const [first, second] = [text.slice(0, cut), text.slice(cut + 1)];
    if (names.has(first) && names.has(second) && first !== second) return { first, second };
  }
  const parts = text.split(":");
  if (parts.length === 2 && parts[0] !== parts[1]) for (const name of parts) findColumn(table, name);
  throw new InputError(`not an interaction: "${text}"`, {
    code: "interaction.invalid",
    hint: "write two different columns with a colon between them, e.g. age:sex",
  });
}

/** Numbers for a regression on the given rows. */
export function buildDesign(table: Table, request: DesignRequest): Design {
  const { features, rows, interactions = [] } = request;
  const relevelled = applyReferences(table, request);
  const encoder = fitEncoder(relevelled, { features, rows, reference: "drop", standardise: false });
  const x = encode(encoder, relevelled, rows);
  const terms: DesignTerm[] = [];
  for (const { encoding, first, width } of placeColumns(encoder.columns)) {
    terms.push({ name: encoding.column, columns: Array.from({ length: width }, (_, d) => first + d) });
  }
  const termOf = (name: string) => terms.find((term) => term.name === name)?.columns ?? [];
  const names = [...x.names];
  const products: (readonly [number, number])[] = [];
  for (const { first, second } of interactions) {
    const columns: number[] = [];
    for (const b of termOf(second))
      for (const a of termOf(first)) {
        columns.push(names.length);
        names.push(`${x.names[a]}:${x.names[b]}`);
        products.push([a, b]);
      }
    terms.push({ name: `${first}:${second}`, columns });
  }
  return {
    D: names.length,
    names,
    values: products.length === 0 ? x.values : addProducts(x.values, x.D, products),
    terms: terms.filter(({ columns }) => columns.length > 0),
    references: encoder.columns.flatMap((encoding) =>
      encoding.type === "category" ? [{ column: encoding.column, level: encoding.levels[0] }] : [],
    ),
  };
}

function addProducts(values: Float64Array, D: number, products: readonly (readonly [number, number])[]) {
  const N = values.length / D;
  const wide = D + products.length;
  const widened = new Float64Array(N * wide);
  for (let i = 0; i < N; i++) {
    widened.set(values.subarray(i * D, i * D + D), i * wide);
    products.forEach(([a, b], p) => {
      widened[i * wide + D + p] = values[i * D + a] * values[i * D + b];
    });
  }
  return widened;
}

/**
 * The table with levels in natural order, and each named reference first in its column, so that it is the one left out.
 */
function applyReferences(table: Table, { features, rows, references = [] }: DesignRequest): Table {
  const levelOf = new Map<string, string>();
  for (const { column: name, level } of references) {
    if (!features.includes(name))
      throw new InputError(`--reference names a column that is not a feature: "${name}"`, {
        code: "reference.invalid",
        hint: "name the column in --features, or leave the reference out",
      });
    const column = findColumn(table, name);
    if (column.type !== "category")
      throw new InputError(`--reference names a column that is not a category: "${name}"`, {
        code: "reference.invalid",
        where: table.name,
        hint: `read it as a category: --category ${name}`,
      });
    const present = new Set(Array.from(rows, (row) => column.levels[column.codes[row]]));
    if (!present.has(level))
      throw new InputError(
        `no row of "${name}" is "${level}" (have ${column.levels.filter((one) => present.has(one)).join(", ")})`,
        { code: "reference.invalid", where: table.name },
      );
    levelOf.set(name, level);
  }
  const used = new Set(features);
  const relevel = (column: Column): Column =>
    column.type === "category" && used.has(column.name) ? reorder(column, levelOf.get(column.name)) : column;
  return { ...table, columns: table.columns.map(relevel) };
}

function reorder(column: CategoryColumn, first: string | undefined): CategoryColumn {
  const others = column.levels.filter((level) => level !== first).sort(compareLevels);
  const levels = first === undefined ? others : [first, ...others];
  const place = new Map(levels.map((level, k) => [level, k]));
  const codeOf = column.levels.map((level) => place.get(level) ?? MISSING_CODE);
  return { ...column, levels, codes: column.codes.map((code) => (code < 0 ? code : codeOf[code])) };
}
