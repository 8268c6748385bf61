/**
 * The records of several texts, one text after the other, as if they stood in one: the header of the first file comes
 * first and names the columns, those of the others are checked against it and left out, and a file that has its columns
 * in another order is brought into the first one's. So a reader of blocks need not know how many files there are. A
 * problem with a record is reported with its file; how many rows each file had is kept for messages about cells.
 */
import type { TablePart } from "../table.ts";
import { createEmptyFileError } from "./containers.ts";
import { matchColumns, type NamedColumns } from "./join-sources.ts";
import { readHeader, type ScannedBlock, scanBlocks } from "./read-csv.ts";
import { refuseRagged } from "./read-csv-chunks.ts";
import type { RecordScanner } from "./scan-records.ts";

/** A text as UTF-8 without a byte order mark. */
export interface TextPart {
  readonly name: string;
  open(): AsyncIterable<Uint8Array>;
}

/** Texts that are read as one. */
export interface JoinedTexts {
  /** The blocks from the beginning, the header's first; may be called more than once. */
  scan(delimiter: string | undefined): AsyncGenerator<ScannedBlock>;
  /** The files met since the last call of `scan`, with their rows so far; undefined where there is one file. */
  readonly parts: readonly TablePart[] | undefined;
}

export function joinTexts(texts: readonly TextPart[]): JoinedTexts {
  if (texts.length === 1) {
    const [{ name, open }] = texts;
    return { scan: (delimiter) => scanBlocks(name, open(), delimiter), parts: undefined };
  }
  const parts: { name: string; rows: number }[] = [];
  async function* scan(known: string | undefined): AsyncGenerator<ScannedBlock> {
    parts.length = 0;
    let delimiter = known;
    let first: NamedColumns | undefined;
    for (const { name, open } of texts) {
      const part = { name, rows: 0 };
      parts.push(part);
      let columns: readonly string[] | undefined;
      let order: Int32Array | null = null;
      for await (const block of scanBlocks(name, open(), delimiter)) {
        delimiter = block.delimiter;
        const isHeader = columns === undefined;
        columns ??= readHeader(name, block.bytes, block.scanner);
        if (isHeader && first !== undefined) order = matchColumns(first, { name, columns });
        const isFirst = first === undefined;
        first ??= { name, columns };
        const rows = { ...block, scanner: isHeader ? withoutHeader(block.scanner) : block.scanner };
        const to = part.rows + rows.scanner.records;
        refuseRagged(name, rows, columns.length, { from: part.rows, to, firstRecord: 0 });
        if (order !== null) reorder(rows.scanner, order);
        part.rows = to;
        if (isFirst) yield block;
        else if (rows.scanner.records > 0) yield rows;
      }
      if (columns === undefined) throw createEmptyFileError(name);
    }
  }
  return { scan, parts };
}

/** The records after the first. */
function withoutHeader(scanner: RecordScanner): RecordScanner {
  return { ...scanner, firstField: scanner.firstField.subarray(1), records: scanner.records - 1 };
}

/** Brings the fields of every record, all of the header's length, into the order of the first file's columns. */
function reorder({ starts, ends, firstField, records }: RecordScanner, order: Int32Array): void {
  const stride = order.length;
  const own = new Int32Array(stride);
  const end = firstField[records];
  for (const positions of [starts, ends]) {
    for (let field = firstField[0]; field < end; field += stride) {
      for (let k = 0; k < stride; k++) own[k] = positions[field + k];
      for (let k = 0; k < stride; k++) positions[field + k] = own[order[k]];
    }
  }
}
