/**
 * Reads a Parquet file, column by column, into a typed table, or row group by row group into parts of one. The file's
 * own types are kept: integers, floats and decimals become numbers, dates and timestamps dates, strings categories
 * whatever they spell. Null is missing, and so are NaN and the texts that mean missing in CSV. Nested columns, binary
 * and times of day are refused by name. Decoding is hyparquet's work; what it says when a file is damaged never reaches
 * the user.
 */
import {
  type AsyncBuffer,
  type CompressionCodec,
  type Compressors,
  type DecodedArray,
  type FileMetaData,
  type ParquetScan,
  parquetMetadataAsync,
  parquetScan,
  parquetSchema,
  type SchemaElement,
  type SchemaTree,
} from "hyparquet";
import { compressors } from "hyparquet-compressors";
import { powerOfTen } from "../../core/elementary.ts";
import { GraduateError, InputError, MAX_ROWS_NAMED } from "../../core/errors.ts";
import { type Column, cellText, MISSING_BOOLEAN, MISSING_CODE, type Table } from "../table.ts";
import {
  type CellOptions,
  checkColumnNames,
  createNoRowsError,
  findForcedTypes,
  findPositions,
  inWholeTable,
  type TableChunk,
} from "./containers.ts";
import {
  type BadCell,
  columnFromLevels,
  createBadNumbersError,
  createNotUtf8Error,
  type ForcedType,
  type UntypedColumn,
} from "./infer-types.ts";
import { type DecimalWriting, isMissingText, MICROSECONDS_PER_DAY } from "./parse-cell.ts";
import type { TableSource } from "./read-table.ts";

export interface ReadParquetInput extends CellOptions {
  readonly source: TableSource;
  readonly onProgress: ((bytes: number, rows: number) => void) | undefined;
}

/** hyparquet hands every value over as one of these; dates and timestamps as days, by the parsers below. */
type ParquetValue = number | bigint | string | boolean | null | undefined;
type ValueKind = "number" | "date" | "boolean" | "text";

const MS_PER_DAY = 86_400_000;
const strictDecoder = new TextDecoder("utf-8", { fatal: true, ignoreBOM: true });

/** Dates straight to days since 1970-01-01; nanoseconds are cut to the microseconds a float64 can hold. */
function createParsers(table: string, column: string) {
  return {
    dateFromDays: (days: number) => days,
    timestampFromMilliseconds: (milliseconds: bigint) => Number(milliseconds) / MS_PER_DAY,
    timestampFromMicroseconds: (microseconds: bigint) => Number(microseconds) / MICROSECONDS_PER_DAY,
    timestampFromNanoseconds: (nanoseconds: bigint) => Number(nanoseconds / 1000n) / MICROSECONDS_PER_DAY,
    stringFromBytes(bytes: Uint8Array) {
      try {
        return strictDecoder.decode(bytes);
      } catch {
        throw createNotUtf8Error(table, `column "${column}"`);
      }
    },
  };
}

/**
 * hyparquet-compressors 1.1, with empty pages (all rows missing) handled here: its LZ4 finds no offset in one and
 * throws.
 */
const pageDecompressors: Compressors = {};
for (const [codec, decompress] of Object.entries(compressors)) {
  pageDecompressors[codec as CompressionCodec] = (input, length) =>
    length === 0 ? new Uint8Array(0) : decompress(input, length);
}

/** Statistics may cut a text in the middle of a character; they are not used, so they need not be decoded. */
const METADATA_OPTIONS = { parsers: { stringFromBytes: () => "" }, geoparquet: false };

/** A file whose footer was read. */
interface OpenedParquet {
  readonly name: string;
  readonly file: AsyncBuffer;
  readonly metadata: FileMetaData;
  readonly fields: readonly SchemaTree[];
  readonly rows: number;
  readonly forced: ReadonlyMap<string, ForcedType>;
  readonly decimal: DecimalWriting | undefined;
}

export async function readParquet(input: ReadParquetInput): Promise<Table> {
  const { onProgress } = input;
  const opened = await openParquet(input);
  const { name, file, fields, rows } = opened;
  const kinds = fields.map((field) => findKind(name, field));
  const columns: Column[] = [];
  for (let k = 0; k < fields.length; k++) {
    const column = fields[k].element.name;
    const parts = await orDamaged(name, column, () => readParts(opened, column));
    columns.push(toColumn(describeParts(opened, fields[k], kinds[k], parts, rows)));
    const share = (k + 1) / fields.length;
    onProgress?.(Math.round(share * file.byteLength), Math.floor(share * rows));
  }
  return { name, rows, columns };
}

export interface ReadParquetChunksInput extends ReadParquetInput {
  /** The columns to read; the others are not looked at. */
  readonly columns: readonly string[];
  /** Most rows of a part. */
  readonly rowsAtOnce: number;
}

/**
 * The file part by part, in memory bounded by its largest row group: hyparquet decodes a row group's column as a whole.
 */
export async function* readParquetChunks(input: ReadParquetChunksInput): AsyncGenerator<TableChunk> {
  const opened = await openParquet(input);
  const { name, file, rows } = opened;
  const header = opened.fields.map(({ element }) => element.name);
  const wanted = findPositions(name, header, input.columns).map((position) => opened.fields[position]);
  const kinds = wanted.map((field) => findKind(name, field));
  const scans = await Promise.all(
    input.columns.map((column) => orDamaged(name, column, () => scanColumn(opened, column))),
  );
  let count = 0;
  for (const { rowStart, rowEnd } of scans[0].ranges) {
    const decoded: DecodedArray[] = [];
    for (let k = 0; k < wanted.length; k++) {
      const column = input.columns[k];
      decoded.push(await orDamaged(name, column, () => readRange(scans[k], column, rowStart, rowEnd)));
    }
    for (let firstRow = rowStart; firstRow < rowEnd; firstRow += input.rowsAtOnce) {
      const end = Math.min(rowEnd, firstRow + input.rowsAtOnce);
      yield await inWholeTable({ table: { name }, firstRow }, () => {
        const columns = wanted.map((field, k) => {
          const part = decoded[k].slice(firstRow - rowStart, end - rowStart);
          return toColumn(describeParts(opened, field, kinds[k], [part], end - firstRow));
        });
        return { table: { name, rows: end - firstRow, columns }, firstRow };
      });
      input.onProgress?.(Math.round((end / rows) * file.byteLength), end);
    }
    count += rowEnd - rowStart;
  }
  if (count !== rows) throw createDamagedError(name, undefined);
}

async function openParquet(input: ReadParquetInput): Promise<OpenedParquet> {
  const { name } = input.source;
  const file = await openRandomAccess(input.source);
  const metadata = await orDamaged(name, undefined, () => parquetMetadataAsync(file, METADATA_OPTIONS));
  const fields = await orDamaged(name, undefined, async () => parquetSchema(metadata).children);
  const names = fields.map((field) => field.element.name);
  checkColumnNames(name, names);
  const forced = findForcedTypes(name, names, input);
  const rows = Number(metadata.num_rows);
  if (rows === 0) throw createNoRowsError(name);
  return { name, file, metadata, fields, rows, forced, decimal: input.decimal };
}

function describeParts(
  opened: OpenedParquet,
  { element }: SchemaTree,
  kind: ValueKind,
  parts: readonly DecodedArray[],
  rows: number,
): ColumnParts {
  const { name: table, decimal } = opened;
  const forced = opened.forced.get(element.name);
  return { table, name: element.name, kind, element, parts, rows, forced, decimal };
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
async function orDamaged<R>(table: string, column: string | undefined, step: () => Promise<R>): Promise<R> {
  try {
    return await step();
  } catch (error) {
    if (error instanceof GraduateError) throw error;
    throw createDamagedError(table, column);
  }
}

function createDamagedError(table: string, column: string | undefined): InputError {
  return new InputError("truncated or damaged Parquet file", {
    code: "file.damaged",
    where: column === undefined ? table : `${table}, column "${column}"`,
    hint: "write or copy the file again",
  });
}

/** The decoded values of one column, one part per row group. */
async function readParts(opened: OpenedParquet, column: string): Promise<DecodedArray[]> {
  const scan = await scanColumn(opened, column);
  const parts: DecodedArray[] = [];
  let count = 0;
  for (const { rowStart, rowEnd } of scan.ranges) {
    parts.push(await readRange(scan, column, rowStart, rowEnd));
    count += rowEnd - rowStart;
  }
  if (count !== opened.rows) throw new RangeError("row groups do not add up");
  return parts;
}

function scanColumn({ name, file, metadata }: OpenedParquet, column: string): Promise<ParquetScan> {
  return parquetScan({
    file,
    metadata,
    columns: [column],
    compressors: pageDecompressors,
    parsers: createParsers(name, column),
    geoparquet: false,
    useOffsetIndex: false,
  });
}

async function readRange(
  scan: ParquetScan,
  column: string,
  rowStart: number,
  rowEnd: number,
): Promise<DecodedArray> {
  const part = await scan.readColumn({ column, rowStart, rowEnd });
  // a row group cut short comes back short, without an error
  if (part.length !== rowEnd - rowStart) throw new RangeError("short row group");
  return part;
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

interface ColumnParts extends UntypedColumn {
  readonly kind: ValueKind;
  readonly element: SchemaElement;
  readonly parts: readonly DecodedArray[];
  readonly rows: number;
  readonly decimal: DecimalWriting | undefined;
}

function toColumn(column: ColumnParts): Column {
  const { table, name, kind, rows, forced } = column;
  if (kind === "text") return toTextColumn(column, (value) => String(value));
  if (forced === "category") {
    // whole numbers from their own digits: an int64 may have more than a float64 holds
    if (kind !== "date")
      return toTextColumn(column, (value) => String(kind === "number" ? toExact(column, value) : value));
    return toTextColumn(column, (value) =>
      cellText({ name, type: "date", values: Float64Array.of(Number(value)) }, 0),
    );
  }
  if (kind === "boolean" && forced === undefined) {
    const values = new Uint8Array(rows);
    forEachValue(column, (value, row) => {
      values[row] = value === null || value === undefined ? MISSING_BOOLEAN : value ? 1 : 0;
    });
    return { name, type: "boolean", values };
  }
  const values = new Float64Array(rows);
  const bad: BadCell[] = [];
  let badCount = 0;
  forEachValue(column, (value, row) => {
    const number = value === null || value === undefined ? Number.NaN : Number(toExact(column, value));
    values[row] = number;
    if (number !== Number.POSITIVE_INFINITY && number !== Number.NEGATIVE_INFINITY) return;
    badCount++;
    if (bad.length < MAX_ROWS_NAMED) bad.push({ row: row + 1, text: String(number) });
  });
  if (badCount > 0)
    throw createBadNumbersError({ table, name, cells: bad, count: badCount, texts: 0, forced });
  return { name, type: kind === "date" && forced === undefined ? "date" : "number", values };
}

/** hyparquet's value, except that a decimal is made of its integer by one division, as Number("12.34") rounds. */
function toExact({ element }: ColumnParts, value: ParquetValue): ParquetValue {
  if (element.converted_type !== "DECIMAL" || typeof value !== "number" || !element.scale) return value;
  const factor = powerOfTen(element.scale);
  const unscaled = Math.round(value * factor);
  return Number.isSafeInteger(unscaled) ? unscaled / factor : value;
}

function forEachValue({ parts }: ColumnParts, visit: (value: ParquetValue, row: number) => void): void {
  let row = 0;
  for (const part of parts) for (let k = 0; k < part.length; k++) visit(part[k] as ParquetValue, row++);
}

/** Text, or anything asked for as a category: its distinct texts and their codes. */
function toTextColumn(column: ColumnParts, toText: (value: ParquetValue) => string): Column {
  const { table, name, rows, forced, decimal } = column;
  const codes = new Int32Array(rows);
  const levels: string[] = [];
  const codeOf = new Map<ParquetValue, number>();
  forEachValue(column, (value, row) => {
    let code = codeOf.get(value);
    if (code === undefined) {
      const text = value === null || value === undefined ? "" : toText(value);
      code = isMissingText(text) ? MISSING_CODE : levels.push(text) - 1;
      codeOf.set(value, code);
    }
    codes[row] = code;
  });
  const mark = decimal === "comma" ? undefined : "."; // undefined: the first that a number shows
  return columnFromLevels({ table, name, levels, codes, forced: forced ?? "category", mark });
}
