/**
 * Reads delimited text (UTF-8 bytes, RFC 4180) into a typed table in one streaming pass, in memory bounded by the table
 * itself; a second pass is made only over columns that looked like numbers and turned out to be categories. The first
 * record names the columns. The delimiter is detected among , ; tab | ; with ; a decimal comma is understood.
 * Records are found by scan-records.ts, typed by column-builder.ts and infer-types.ts.
 */
import { InputError, MAX_ROWS_NAMED, nameRows } from "../../core/errors.ts";
import type { Column, Table } from "../table.ts";
import {
  appendFields,
  type ColumnBuilder,
  type ColumnDecisions,
  censusOf,
  createColumnBuilder,
  finishColumn,
  listTexts,
} from "./column-builder.ts";
import {
  type CellWriting,
  checkColumnNames,
  createEmptyFileError,
  createNoRowsError,
  findForcedTypes,
} from "./containers.ts";
import { agreeOnSlashDates, createNotUtf8Error, judgeSlashDates } from "./infer-types.ts";
import { canHaveDecimalComma, decideMarks } from "./number-marks.ts";
import { createRecordScanner, type RecordScanner, SENTINEL_BYTES, scanRecords } from "./scan-records.ts";

/** In order of preference when tied. */
const DELIMITERS = [",", ";", "\t", "|"] as const;
/** Records looked at to detect the delimiter. */
const SAMPLE_RECORDS = 50;
/** Bytes scanned at a time: small enough for the processor's cache, large enough to make calls rare. */
const BLOCK_BYTES = 1 << 18;
/** The buffer at first: most tables are small. */
const FIRST_BUFFER_BYTES = 1 << 13;
/**
 * A record longer than this is a quote that was never closed, not a row; reading on would hold the whole file in
 * memory.
 */
const MAX_RECORD_BYTES = 1 << 24;
/** Room for rows that are shorter than those of the first block. */
const EXPECTED_ROWS_MARGIN = 1.05;
/** Most cells allocated ahead, 1 GiB as numbers: the first block may not be representative of the rest. */
const MAX_EXPECTED_CELLS = 2 ** 27;

export interface ReadCsvInput extends CellWriting {
  readonly name: string;
  /** The blocks of the text, of UTF-8 without a byte order mark; called again for a second pass. */
  scan(delimiter: string | undefined): AsyncIterable<ScannedBlock>;
  /** Of the whole text, where known. */
  readonly byteLength: number | undefined;
  onBlock(rows: number): void;
}

export interface RaggedRow {
  readonly row: number; // 1-based
  readonly fields: number;
}

/** One block's records: the fields are in the scanner, their bytes here until the next block is asked for. */
export interface ScannedBlock {
  readonly scanner: RecordScanner;
  readonly delimiter: string;
  readonly bytes: Uint8Array;
}

const strictDecoder = new TextDecoder("utf-8", { fatal: true, ignoreBOM: true });

export async function readCsv(input: ReadCsvInput): Promise<Table> {
  const { name } = input;
  let builders: ColumnBuilder[] | undefined;
  const ragged: RaggedRow[] = [];
  let raggedCount = 0;
  let rows = 0;
  let detected: string | undefined;
  for await (const { scanner, delimiter, bytes } of input.scan(undefined)) {
    detected = delimiter;
    let firstRecord = 0;
    if (!builders) {
      const header = readHeader(name, bytes, scanner);
      const share = input.byteLength === undefined ? 0 : input.byteLength / bytes.length;
      const expected = share * scanner.records * EXPECTED_ROWS_MARGIN;
      const expectedRows = Math.ceil(Math.min(expected, MAX_EXPECTED_CELLS / header.length));
      builders = createBuilders(input, header, delimiter, expectedRows);
      firstRecord = 1;
    }
    const { starts, ends, firstField, records } = scanner;
    const stride = builders.length;
    for (let record = firstRecord; record < records; record++) {
      const fields = firstField[record + 1] - firstField[record];
      if (fields === stride) continue;
      raggedCount++;
      if (ragged.length < MAX_ROWS_NAMED) ragged.push({ row: rows + record - firstRecord + 1, fields });
    }
    const count = records - firstRecord;
    if (raggedCount === 0) {
      for (let k = 0; k < stride; k++) {
        const first = firstField[firstRecord] + k;
        appendFields(builders[k], { bytes, starts, ends, first, stride, rows: count });
      }
    }
    rows += count;
    input.onBlock(rows);
  }
  if (!builders || detected === undefined) throw createEmptyFileError(name);
  if (raggedCount > 0) throw createRaggedError(name, builders.length, ragged, raggedCount);
  if (rows === 0) throw createNoRowsError(name);

  const dates = agreeOnSlashDates(
    builders.map((builder) => (builder.forced === undefined ? judgeSlashDates(listTexts(builder)) : null)),
    input.dateOrder,
  );
  const marks = decideMarks(name, builders.map(censusOf), input, canHaveDecimalComma(detected, input));
  const decided = marks.map((one): ColumnDecisions => ({ slashDates: dates, marks: one }));
  const finished = builders.map((builder, k) => finishColumn(builder, decided[k]));
  if (!finished.includes("reread")) return { name, rows, columns: finished as Column[] };
  return {
    name,
    rows,
    columns: await rereadTexts(input, detected, { finished, previous: builders, decided }),
  };
}

/** What the first reading found. */
interface FirstReading {
  readonly finished: readonly (Column | "reread")[];
  readonly previous: readonly ColumnBuilder[];
  readonly decided: readonly ColumnDecisions[];
}

/** Reads the columns marked "reread" again with their texts: categories, ids, numbers with marks between thousands. */
async function rereadTexts(
  input: ReadCsvInput,
  delimiter: string,
  { finished, previous, decided }: FirstReading,
): Promise<Column[]> {
  const stride = finished.length;
  const builders = previous.map(({ name, rows, forced, isRespelled }, k) =>
    createColumnBuilder({
      table: input.name,
      name,
      forced: isRespelled || (decided[k].marks?.thousands ?? null) === null ? (forced ?? "category") : forced,
      canHaveDecimalComma: false,
      keepsTexts: true,
      expectedRows: finished[k] === "reread" ? rows : 0,
    }),
  );
  let isFirst = true;
  for await (const { scanner, bytes } of input.scan(delimiter)) {
    const { starts, ends, firstField, records } = scanner;
    const firstRecord = isFirst ? 1 : 0;
    isFirst = false;
    if (firstField[records] - firstField[firstRecord] !== (records - firstRecord) * stride) {
      throw createChangedError(input.name);
    }
    for (let k = 0; k < stride; k++) {
      if (finished[k] !== "reread") continue;
      const first = firstField[firstRecord] + k;
      appendFields(builders[k], { bytes, starts, ends, first, stride, rows: records - firstRecord });
    }
  }
  return finished.map((column, k) => {
    if (column !== "reread") return column;
    const again = finishColumn(builders[k], decided[k]);
    if (again === "reread" || builders[k].rows !== previous[k].rows) throw createChangedError(input.name);
    return again;
  });
}

function createChangedError(table: string): InputError {
  return new InputError("the file changed while it was read", { code: "file.changed", where: table });
}

/** Gathers chunks into blocks of complete records. A block's bytes are overwritten when the next is asked for. */
export async function* scanBlocks(
  name: string,
  chunks: AsyncIterable<Uint8Array>,
  knownDelimiter: string | undefined,
): AsyncGenerator<ScannedBlock> {
  let buffer = new Uint8Array(FIRST_BUFFER_BYTES);
  let length = 0;
  let wanted = BLOCK_BYTES;
  let rows = -1; // the header is no row
  let delimiter = knownDelimiter;
  let scanner: RecordScanner | undefined;

  function scan(isLast: boolean): ScannedBlock | undefined {
    delimiter ??= detectDelimiter(buffer.subarray(0, length), isLast);
    scanner ??= delimiter === undefined ? undefined : createRecordScanner(delimiter);
    if (scanner === undefined || delimiter === undefined) return undefined;
    const consumed = scanRecords(scanner, buffer, length, isLast);
    if (scanner.problem) throw createScanError(name, scanner, rows + scanner.records + 1);
    rows += scanner.records;
    return { scanner, delimiter, bytes: buffer.subarray(0, consumed) };
  }

  for await (const chunk of chunks) {
    for (let taken = 0; taken < chunk.length; ) {
      const part = chunk.subarray(taken, taken + wanted - length);
      if (length + part.length + SENTINEL_BYTES > buffer.length) {
        const grown = new Uint8Array(2 * (length + part.length) + SENTINEL_BYTES);
        grown.set(buffer.subarray(0, length));
        buffer = grown;
      }
      buffer.set(part, length);
      length += part.length;
      taken += part.length;
      if (length < wanted) break;
      const block = scan(false);
      if (block !== undefined && block.scanner.records > 0) yield block;
      else if (length > MAX_RECORD_BYTES) throw createLongRecordError(name, rows + 1);
      const consumed = block?.bytes.length ?? 0;
      buffer.copyWithin(0, consumed, length);
      length -= consumed;
      // twice what is left: a long record must not be scanned again for every chunk
      wanted = Math.max(BLOCK_BYTES, 2 * length);
    }
  }
  if (length === 0) return;
  const block = scan(true);
  if (block !== undefined && block.scanner.records > 0) yield block;
}

/**
 * The delimiter that cuts most sampled records into as many fields as the header; undefined when the header needs more
 * bytes.
 */
function detectDelimiter(bytes: Uint8Array, isLast: boolean): string | undefined {
  const sample = new Uint8Array(bytes.length + SENTINEL_BYTES);
  let best: { readonly delimiter: string; readonly share: number; readonly fields: number } | undefined;
  let hasHeader = false;
  for (const delimiter of DELIMITERS) {
    sample.set(bytes);
    const scanner = createRecordScanner(delimiter);
    scanRecords(scanner, sample, bytes.length, isLast);
    const { firstField } = scanner;
    const records = Math.min(scanner.records, SAMPLE_RECORDS);
    hasHeader ||= records > 0 || scanner.problem !== undefined;
    const fields = records === 0 ? 0 : firstField[1];
    if (fields < 2) continue;
    let agreeing = 0;
    for (let record = 0; record < records; record++) {
      if (firstField[record + 1] - firstField[record] === fields) agreeing++;
    }
    const share = agreeing / records;
    if (!best || share > best.share || (share === best.share && fields > best.fields)) {
      best = { delimiter, share, fields };
    }
  }
  if (best) return best.delimiter;
  return hasHeader || isLast ? DELIMITERS[0] : undefined; // one column
}

export function readHeader(name: string, bytes: Uint8Array, scanner: RecordScanner): string[] {
  const names: string[] = [];
  for (let field = 0; field < scanner.firstField[1]; field++) {
    try {
      const written = strictDecoder.decode(bytes.subarray(scanner.starts[field], scanner.ends[field]));
      // One name has one form, whether its letters were composed of base and accent or not.
      names.push(written.trim().normalize("NFC"));
    } catch {
      throw createNotUtf8Error(name, `header, column ${field + 1}`);
    }
  }
  checkColumnNames(name, names);
  return names;
}

function createBuilders(
  input: ReadCsvInput,
  header: readonly string[],
  delimiter: string,
  expectedRows: number,
): ColumnBuilder[] {
  const types = findForcedTypes(input.name, header, input);
  return header.map((name) =>
    createColumnBuilder({
      table: input.name,
      name,
      forced: types.get(name),
      canHaveDecimalComma: canHaveDecimalComma(delimiter, input),
      isId: input.ids?.includes(name) === true,
      expectedRows,
    }),
  );
}

export function createRaggedError(
  table: string,
  columns: number,
  ragged: readonly RaggedRow[],
  count: number,
): InputError {
  const shown = ragged.map(({ row, fields }) => `row ${row} has ${fields}`).join(", ");
  const more = count > ragged.length ? `, … ${count} rows in all` : "";
  return new InputError(`wrong number of fields: the header has ${columns}, ${shown}${more}`, {
    code: "row.ragged",
    where: `${table}, ${nameRows(ragged.map(({ row }) => row))}`,
    hint: "a value that contains the delimiter or a line break must be in double quotes, and a blank line is no row",
  });
}

function createScanError(table: string, scanner: RecordScanner, row: number): InputError {
  const where = `${table}, ${row === 0 ? "header" : `row ${row}`}`;
  switch (scanner.problem) {
    case "unterminated quote":
      return new InputError("unterminated quote: it is still open at the end of the file", {
        code: "quote.unterminated",
        where,
        hint: 'close the quote in the row where it begins; a quote inside a quoted value is written twice: ""',
      });
    case "text after a closing quote":
      return new InputError("text after a closing quote", {
        code: "quote.text-after",
        where,
        hint: 'a quote inside a quoted value is written twice: ""',
      });
    default:
      return new InputError("not a text file: it has zero bytes", {
        code: "file.binary",
        where,
        hint: "give a CSV, TSV or Parquet file (text in UTF-16 needs its byte order mark)",
      });
  }
}

function createLongRecordError(table: string, row: number): InputError {
  const message = `unterminated quote or no line ends: one row is longer than ${MAX_RECORD_BYTES} bytes`;
  return new InputError(message, {
    code: "row.too-long",
    where: `${table}, ${row === 0 ? "header" : `row ${row}`}`,
    hint: "close the quote in the row where it begins",
  });
}
