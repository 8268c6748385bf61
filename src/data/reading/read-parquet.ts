/**
 * Reads Parquet files, column by column, into a typed table, or row group by row group into parts of one. The file's
 * own types are kept: integers, floats and decimals become numbers, dates and timestamps dates, strings categories
 * whatever they spell. Null is missing, and so are NaN and the texts that mean missing in CSV. open-parquet.ts opens
 * the files, one or several; decoding is hyparquet's work.
 */
import {
  type CompressionCodec,
  type Compressors,
  type DecodedArray,
  type ParquetScan,
  parquetScan,
  type SchemaElement,
} from "hyparquet";
import { compressors } from "hyparquet-compressors";
import { powerOfTen } from "../../core/elementary.ts";
import { MAX_ROWS_NAMED } from "../../core/errors.ts";
import { present } from "../../core/present.ts";
import { type Column, cellText, MISSING_BOOLEAN, MISSING_CODE, type Table } from "../table.ts";
import {
  type CellWriting,
  findForcedTypes,
  inWholeTable,
  markAsWritten,
  pickWriting,
  type TableChunk,
} from "./containers.ts";
import {
  type BadCell,
  columnFromLevels,
  createBadNumbersError,
  createNotUtf8Error,
  type UntypedColumn,
} from "./infer-types.ts";
import {
  type AskedMarks,
  canHaveDecimalComma,
  countMarks,
  createMarkCensus,
  decideMarks,
} from "./number-marks.ts";
import {
  createDamagedError,
  elementOf,
  type OpenedFiles,
  type OpenedParquet,
  openFiles,
  orDamaged,
  type ValueKind,
} from "./open-parquet.ts";
import { isMissingText, MICROSECONDS_PER_DAY } from "./parse-cell.ts";
import type { TableSource } from "./read-table.ts";

export interface ReadParquetInput extends CellWriting {
  readonly source: TableSource;
  readonly onProgress: ((bytes: number, rows: number) => void) | undefined;
}

/** hyparquet hands every value over as one of these; dates and timestamps as days, by the parsers below. */
type ParquetValue = number | bigint | string | boolean | null | undefined;

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

export async function readParquet(input: ReadParquetInput): Promise<Table> {
  const { onProgress } = input;
  const { name } = input.source;
  const { files, header: names, kinds, rows, bytes, parts } = await openFiles(input.source);
  findForcedTypes(name, names, input);
  const place = { table: { name }, firstRow: 0, ...present({ parts }) };
  const columns: Column[] = [];
  for (const [k, column] of names.entries()) {
    const read: ColumnPart[] = [];
    for (const file of files) {
      const element = elementOf(file, column);
      for (const values of await orDamaged(file.name, column, () => readParts(file, column)))
        read.push({ values, element });
    }
    columns.push(await inWholeTable(place, () => toColumn(describeParts(input, column, kinds, read, rows))));
    const share = (k + 1) / names.length;
    onProgress?.(Math.round(share * bytes), Math.floor(share * rows));
  }
  return { name, rows, columns: markAsWritten(columns, input), ...present({ parts }) };
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
  const { name } = input.source;
  const { files, header, kinds, rows, bytes, parts } = await openFiles(input.source, input.columns);
  findForcedTypes(name, header, input);
  let before = 0;
  for (const file of files) {
    for await (const { decoded, firstRow, end } of readRowGroups(file, input)) {
      yield await inWholeTable({ table: { name: file.name }, firstRow }, () => {
        const columns = input.columns.map((column, k) => {
          const part = { values: decoded[k], element: elementOf(file, column) };
          const described = describeParts(input, column, kinds, [part], end - firstRow);
          return toColumn({ ...described, table: file.name });
        });
        const table = { name, rows: end - firstRow, columns: markAsWritten(columns, input) };
        return { table, firstRow: before + firstRow, ...present({ parts }) };
      });
      input.onProgress?.(Math.round(((before + end) / rows) * bytes), before + end);
    }
    before += file.rows;
  }
}

interface RowGroupPart {
  readonly decoded: readonly DecodedArray[];
  /** Rows [firstRow, end) of the file. */
  readonly firstRow: number;
  readonly end: number;
}

async function* readRowGroups(
  opened: OpenedParquet,
  { columns, rowsAtOnce }: ReadParquetChunksInput,
): AsyncGenerator<RowGroupPart> {
  const { name } = opened;
  const scans = await Promise.all(
    columns.map((column) => orDamaged(name, column, () => scanColumn(opened, column))),
  );
  let count = 0;
  for (const { rowStart, rowEnd } of scans[0].ranges) {
    const whole: DecodedArray[] = [];
    for (const [k, column] of columns.entries())
      whole.push(await orDamaged(name, column, () => readRange(scans[k], column, rowStart, rowEnd)));
    for (let firstRow = rowStart; firstRow < rowEnd; firstRow += rowsAtOnce) {
      const end = Math.min(rowEnd, firstRow + rowsAtOnce);
      yield { decoded: whole.map((one) => one.slice(firstRow - rowStart, end - rowStart)), firstRow, end };
    }
    count += rowEnd - rowStart;
  }
  if (count !== opened.rows) throw createDamagedError(name, undefined);
}

function describeParts(
  { source, category = [], number = [], ...writing }: ReadParquetInput,
  name: string,
  kinds: OpenedFiles["kinds"],
  parts: readonly ColumnPart[],
  rows: number,
): ColumnParts {
  const type = category.includes(name) ? "category" : number.includes(name) ? "number" : undefined;
  const kind = kinds.get(name) ?? "text";
  return { table: source.name, name, kind, parts, rows, forced: type, writing: pickWriting(writing) };
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

/** Decoded values, and how their file declares the column. */
interface ColumnPart {
  readonly values: DecodedArray;
  readonly element: SchemaElement;
}

interface ColumnParts extends UntypedColumn {
  readonly kind: ValueKind;
  readonly parts: readonly ColumnPart[];
  readonly rows: number;
  readonly writing: AskedMarks;
}

function toColumn(column: ColumnParts): Column {
  const { table, name, kind, rows, forced } = column;
  if (kind === "text") return toTextColumn(column, (value) => String(value));
  if (forced === "category") {
    // whole numbers from their own digits: an int64 may have more than a float64 holds
    if (kind !== "date")
      return toTextColumn(column, (value, element) =>
        String(kind === "number" ? toExact(element, value) : value),
      );
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
  forEachValue(column, (value, row, element) => {
    const number = value === null || value === undefined ? Number.NaN : Number(toExact(element, value));
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
function toExact(element: SchemaElement, value: ParquetValue): ParquetValue {
  if (element.converted_type !== "DECIMAL" || typeof value !== "number" || !element.scale) return value;
  const factor = powerOfTen(element.scale);
  const unscaled = Math.round(value * factor);
  return Number.isSafeInteger(unscaled) ? unscaled / factor : value;
}

function forEachValue(
  { parts }: ColumnParts,
  visit: (value: ParquetValue, row: number, element: SchemaElement) => void,
): void {
  let row = 0;
  for (const { values, element } of parts)
    for (let k = 0; k < values.length; k++) visit(values[k] as ParquetValue, row++, element);
}

/** Text, or anything asked for as a category: its distinct texts and their codes. */
function toTextColumn(
  column: ColumnParts,
  toText: (value: ParquetValue, element: SchemaElement) => string,
): Column {
  const { table, name, rows, forced, writing } = column;
  const codes = new Int32Array(rows);
  const levels: string[] = [];
  const codeOf = new Map<ParquetValue, number>();
  const codeOfText = new Map<string, number>(); // an int64 in one file is a float in another: 1n and 1 are "1"
  forEachValue(column, (value, row, element) => {
    let code = codeOf.get(value);
    if (code === undefined) {
      const text = value === null || value === undefined ? "" : toText(value, element);
      code = codeOfText.get(text) ?? (isMissingText(text) ? MISSING_CODE : levels.push(text) - 1);
      codeOf.set(value, code);
      codeOfText.set(text, code);
    }
    codes[row] = code;
  });
  const canHaveComma = canHaveDecimalComma(",", writing);
  const mark = canHaveComma ? undefined : "."; // undefined: the first that a number shows
  const census = createMarkCensus();
  for (const text of forced === "number" ? levels : []) countMarks(census, text);
  const [marks] = decideMarks(table, [census], writing, canHaveComma);
  return columnFromLevels({ table, name, levels, codes, forced: forced ?? "category", mark, marks });
}
