// Every table that must be refused, and what its owner is told. The files are made by make_tables.py.
import { readdirSync } from "node:fs";
import { fileURLToPath } from "node:url";
import { expect, test } from "vitest";
import { InputError } from "../../src/core/errors.ts";
import { readTable } from "../../src/data/reading/read-table.ts";
import { tableSourceFromPath } from "../../src/node/io/input-file.ts";

interface Refusal {
  readonly code: string;
  readonly message: string;
  readonly where: string;
}

const REFUSALS: Record<string, Refusal> = {
  "blank-line-inside.csv": {
    code: "row.ragged",
    message: "wrong number of fields: the header has 2, row 2 has 1",
    where: "blank-line-inside.csv, row 2",
  },
  "blank.csv": { code: "file.empty", message: "empty file", where: "blank.csv" },
  "damaged.csv.gz": {
    code: "file.truncated",
    message: "truncated or damaged gzip file",
    where: "damaged.csv.gz",
  },
  "document.csv": {
    code: "file.binary",
    message: "not a table: it looks like a PDF document",
    where: "document.csv",
  },
  "duplicate-header.csv": {
    code: "header.duplicate",
    message: 'duplicate column name: "time" names columns 1, 3',
    where: "duplicate-header.csv, header",
  },
  "duplicate-header.parquet": {
    code: "header.duplicate",
    message: 'duplicate column name: "time" names columns 1, 2',
    where: "duplicate-header.parquet, header",
  },
  "empty-header.csv": {
    code: "header.empty",
    message: "empty column name: column 1 of 3",
    where: "empty-header.csv, header",
  },
  "empty.csv": { code: "file.empty", message: "empty file", where: "empty.csv" },
  "header-only.csv": {
    code: "table.no-rows",
    message: "no rows: the table has column names and nothing below them",
    where: "header-only.csv",
  },
  "hollow.parquet": {
    code: "file.damaged",
    message: "truncated or damaged Parquet file",
    where: 'hollow.parquet, column "time"',
  },
  "infinity.csv": {
    code: "number.infinite",
    message: 'infinity in a number column: "time" has "Inf"',
    where: 'infinity.csv, row 8, column "time"',
  },
  "latin1-cell.csv": {
    code: "file.encoding",
    message: "not UTF-8 text",
    where: 'latin1-cell.csv, row 2, column "city"',
  },
  "latin1.csv": { code: "file.encoding", message: "not UTF-8 text", where: "latin1.csv, header, column 2" },
  "nested.parquet": {
    code: "column.unsupported",
    message: 'nested column: "visits"',
    where: 'nested.parquet, column "visits"',
  },
  "no-rows.parquet": {
    code: "table.no-rows",
    message: "no rows: the table has column names and nothing below them",
    where: "no-rows.parquet",
  },
  "packed.parquet.gz": {
    code: "file.binary",
    message: "not a table: it looks like a Parquet file inside gzip",
    where: "packed.parquet.gz",
  },
  "picture.csv": {
    code: "file.binary",
    message: "not a table: it looks like a PNG image",
    where: "picture.csv",
  },
  "ragged.csv": {
    code: "row.ragged",
    message: "wrong number of fields: the header has 3, row 2 has 2, row 3 has 4",
    where: "ragged.csv, rows 2 and 3",
  },
  "text-after-quote.csv": {
    code: "quote.text-after",
    message: "text after a closing quote",
    where: "text-after-quote.csv, row 1",
  },
  "text-in-number.csv": {
    code: "number.text",
    message: 'text in a number column: "time" has "unknown", "9.5 days"',
    where: 'text-in-number.csv, rows 8 and 10, column "time"',
  },
  "truncated.csv.gz": {
    code: "file.truncated",
    message: "truncated or damaged gzip file",
    where: "truncated.csv.gz",
  },
  "truncated.parquet": {
    code: "file.damaged",
    message: "truncated or damaged Parquet file",
    where: "truncated.parquet",
  },
  "twice.csv.gz": {
    code: "file.binary",
    message: "not a table: it looks like a gzip archive inside gzip",
    where: "twice.csv.gz",
  },
  "unquoted-comma.csv": {
    code: "row.ragged",
    message: "wrong number of fields: the header has 3, row 1 has 4",
    where: "unquoted-comma.csv, row 1",
  },
  "unterminated-quote.csv": {
    code: "quote.unterminated",
    message: "unterminated quote: it is still open at the end of the file",
    where: "unterminated-quote.csv, row 2",
  },
  "utf16-cut.csv": {
    code: "file.encoding",
    message: "not UTF-16 text, though it begins with its byte order mark",
    where: "utf16-cut.csv",
  },
  "utf16-without-mark.csv": {
    code: "file.binary",
    message: "not a table: it looks like a binary file: it has zero bytes",
    where: "utf16-without-mark.csv",
  },
  "workbook.csv": {
    code: "file.binary",
    message: "not a table: it looks like a zip archive or an Excel workbook (.xlsx)",
    where: "workbook.csv",
  },
  "zero-byte.csv": {
    code: "file.binary",
    message: "not a text file: it has zero bytes",
    where: "zero-byte.csv, row 31",
  },
};

const folder = fileURLToPath(new URL(".", import.meta.url));

test("every table in this folder is listed", () => {
  const tables = readdirSync(folder).filter((file) => !/\.(ts|py)$/.test(file));
  expect(tables.sort()).toEqual(Object.keys(REFUSALS).sort());
});

test.each(Object.entries(REFUSALS))("%s", async (file, refusal) => {
  const source = await tableSourceFromPath(`${folder}${file}`);
  const error: unknown = await readTable(source).then(
    () => undefined,
    (reason) => reason,
  );
  expect(error).toBeInstanceOf(InputError);
  const { code, message, where } = error as InputError;
  expect({ code, message, where }).toEqual(refusal);
});
