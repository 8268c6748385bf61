/**
 * Opens the Parquet files of one table: their footers are read, and what they declare is compared. All files must have
 * the same columns, and a column the same type in each: number, text, true/false or date. Nested columns, binary and
 * times of day are refused by name. What the decoder says when a file is damaged never reaches the user.
 */
import {
  type AsyncBuffer,
  type FileMetaData,
  parquetMetadataAsync,
  parquetSchema,
  type SchemaElement,
  type SchemaTree,
} from "hyparquet";
import { GraduateError, InputError } from "../../core/errors.ts";
import type { TablePart } from "../table.ts";
import { checkColumnNames, createNoRowsError, findPositions } from "./containers.ts";
import { matchColumns, partsOf } from "./join-sources.ts";
import type { TableSource } from "./read-table.ts";

export type ValueKind = "number" | "date" | "boolean" | "text";

/** Statistics may cut a text in the middle of a character; they are not used, so they need not be decoded. */
const METADATA_OPTIONS = { parsers: { stringFromBytes: () => "" }, geoparquet: false };

/** A file whose footer was read. */
export interface OpenedParquet {
  readonly name: string;
  readonly file: AsyncBuffer;
  readonly metadata: FileMetaData;
  readonly fields: readonly SchemaTree[];
  readonly rows: number;
}

/** Files whose footers were read and that have the same columns. */
export interface OpenedFiles {
  readonly files: readonly OpenedParquet[];
  /** The names of all columns, in the order of the first file. */
  readonly header: readonly string[];
  /** The type of every column that will be read. */
  readonly kinds: ReadonlyMap<string, ValueKind>;
  readonly rows: number;
  readonly bytes: number;
  readonly parts: readonly TablePart[] | undefined;
}

/** Opens the files of a source; `columns` are those that will be read, all by default. */
export async function openFiles(source: TableSource, columns?: readonly string[]): Promise<OpenedFiles> {
  const files: OpenedParquet[] = [];
  for (const part of partsOf(source)) files.push(await openParquet(part));
  const [first] = files;
  for (const file of files.slice(1)) matchColumns(namesOf(first), namesOf(file));
  const header = namesOf(first).columns;
  if (columns !== undefined) findPositions(source.name, header, columns);
  const kinds = new Map<string, ValueKind>();
  for (const column of columns ?? header) kinds.set(column, agreeOnKind(files, column));
  const rows = files.reduce((sum, file) => sum + file.rows, 0);
  if (rows === 0) throw createNoRowsError(source.name);
  const bytes = files.reduce((sum, { file }) => sum + file.byteLength, 0);
  const parts = files.length === 1 ? undefined : files.map((file) => ({ name: file.name, rows: file.rows }));
  return { files, header, kinds, rows, bytes, parts };
}

function namesOf({ name, fields }: OpenedParquet) {
  return { name, columns: fields.map(({ element }) => element.name) };
}

function fieldOf({ fields }: OpenedParquet, column: string): SchemaTree {
  const found = fields.find(({ element }) => element.name === column);
  if (found === undefined) throw new RangeError(`no column ${column}`);
  return found;
}

export function elementOf(file: OpenedParquet, column: string): SchemaElement {
  return fieldOf(file, column).element;
}

/**
 * The kind that all files declare. Whole numbers in one and decimals in another are both numbers; a column declared to
 * hold nothing but nulls, as writers do that saw no value, goes with any kind.
 */
function agreeOnKind(files: readonly OpenedParquet[], column: string): ValueKind {
  const declared = files.map((file) => {
    const field = fieldOf(file, column);
    return { name: file.name, kind: findKind(file.name, field), isNull: isNullType(field.element) };
  });
  const first = declared.find(({ isNull }) => !isNull) ?? declared[0];
  const other = declared.find(({ kind, isNull }) => !isNull && kind !== first.kind);
  if (other === undefined) return first.kind;
  throw new InputError(`${other.kind} column: "${column}" is a ${first.kind} column in ${first.name}`, {
    code: "files.types",
    where: `${other.name}, column "${column}"`,
    hint: "the files of one table must give a column the same type: number, text, true/false or date",
  });
}

function isNullType({ logical_type: logical }: SchemaElement): boolean {
  return logical?.type === "NULL";
}

async function openParquet(source: TableSource): Promise<OpenedParquet> {
  const { name } = source;
  const file = await openRandomAccess(source);
  const metadata = await orDamaged(name, undefined, () => parquetMetadataAsync(file, METADATA_OPTIONS));
  const fields = await orDamaged(name, undefined, async () => parquetSchema(metadata).children);
  checkColumnNames(
    name,
    fields.map(({ element }) => element.name),
  );
  return { name, file, metadata, fields, rows: Number(metadata.num_rows) };
}

/** The source as hyparquet wants it; one without random access is held in memory whole. */
async function openRandomAccess(source: TableSource): Promise<AsyncBuffer> {
  const { byteLength } = source;
  if (source.slice && byteLength !== undefined) {
    const slice = source.slice.bind(source);
    return { byteLength, slice: (start, end = byteLength) => slice(start, end) };
  }
  const chunks: Uint8Array[] = [];
  let length = 0;
  for await (const chunk of source.open()) {
    chunks.push(chunk);
    length += chunk.length;
  }
  const bytes = new Uint8Array(length);
  let at = 0;
  for (const chunk of chunks) {
    bytes.set(chunk, at);
    at += chunk.length;
  }
  return { byteLength: length, slice: (start, end) => bytes.buffer.slice(start, end) };
}

/** Runs a step of the decoder; whatever it throws means that the file is damaged. */
export async function orDamaged<R>(
  table: string,
  column: string | undefined,
  step: () => Promise<R>,
): Promise<R> {
  try {
    return await step();
  } catch (error) {
    if (error instanceof GraduateError) throw error;
    throw createDamagedError(table, column);
  }
}

export function createDamagedError(table: string, column: string | undefined): InputError {
  return new InputError("truncated or damaged Parquet file", {
    code: "file.damaged",
    where: column === undefined ? table : `${table}, column "${column}"`,
    hint: "write or copy the file again",
  });
}

function findKind(table: string, field: SchemaTree): ValueKind {
  const { element, children } = field;
  const refuse = (what: string) =>
    new InputError(`${what} column: "${element.name}"`, {
      code: "column.unsupported",
      where: `${table}, column "${element.name}"`,
      hint: "leave the column out, or write it as numbers, text, true/false or dates",
    });
  if (children.length > 0 || element.repetition_type === "REPEATED") throw refuse("nested");
  const logical = element.logical_type?.type;
  const converted = element.converted_type;
  if (logical === "TIME" || converted === "TIME_MILLIS" || converted === "TIME_MICROS")
    throw refuse("time-of-day");
  if (["JSON", "BSON", "INTERVAL", "VARIANT", "GEOMETRY", "GEOGRAPHY"].includes(logical ?? converted ?? "")) {
    throw refuse((logical ?? converted ?? "").toLowerCase());
  }
  if (logical === "DECIMAL" || converted === "DECIMAL" || logical === "FLOAT16") return "number";
  if (logical === "DATE" || converted === "DATE" || logical === "TIMESTAMP" || element.type === "INT96")
    return "date";
  if (converted === "TIMESTAMP_MILLIS" || converted === "TIMESTAMP_MICROS") return "date";
  switch (element.type) {
    case "BOOLEAN":
      return "boolean";
    case "BYTE_ARRAY": // strings, also from writers that do not declare them
      return "text";
    case "FIXED_LEN_BYTE_ARRAY":
      if (logical === "UUID") return "text";
      throw refuse("binary");
    default:
      return "number";
  }
}
