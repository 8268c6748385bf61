// Containers: gzip, encodings, files that are no tables, and the same table in every container.
import { readFileSync } from "node:fs";
import { gzipSync } from "node:zlib";
import { type ColumnSource, parquetWriteBuffer } from "hyparquet-writer";
import { describe, expect, test } from "vitest";
import { InputError } from "../../src/core/errors.ts";
import { readTable, type TableSource, tableSourceFromBytes } from "../../src/data/reading/read-table.ts";

const encoder = new TextEncoder();
const csv = encoder.encode('time,sex,note\n1.5,F,"a, b"\n2,M,"zwölf 東京"\n,F,NA\n');

const columns = [
  { name: "time", type: "number", values: Float64Array.of(1.5, 2, Number.NaN) },
  { name: "sex", type: "category", codes: Int32Array.of(0, 1, 0), levels: ["F", "M"] },
  { name: "note", type: "category", codes: Int32Array.of(0, 1, -1), levels: ["a, b", "zwölf 東京"] },
];

async function failure(name: string, bytes: Uint8Array): Promise<InputError> {
  const error: unknown = await readTable(tableSourceFromBytes(name, bytes)).then(
    () => undefined,
    (reason) => reason,
  );
  expect(error).toBeInstanceOf(InputError);
  return error as InputError;
}

/** One byte a chunk. */
function dripping(bytes: Uint8Array): TableSource {
  return {
    name: "drip",
    async *open() {
      for (const byte of bytes) yield Uint8Array.of(byte);
    },
  };
}

describe("gzip", () => {
  test("holds a CSV, whatever the name and however it comes", async () => {
    const packed = gzipSync(csv);
    expect((await readTable(tableSourceFromBytes("t.csv", packed))).columns).toEqual(columns);
    expect((await readTable(dripping(packed))).columns).toEqual(columns);
  });

  test("may have several members, as cat and bgzip make them", async () => {
    const packed = Buffer.concat([gzipSync(csv.subarray(0, 20)), gzipSync(csv.subarray(20))]);
    expect((await readTable(tableSourceFromBytes("t.csv.gz", packed))).columns).toEqual(columns);
  });

  test("cut anywhere is refused", async () => {
    const packed = gzipSync(csv);
    for (let length = 2; length < packed.length; length++) {
      const error = await failure("t.csv.gz", packed.subarray(0, length));
      expect(error.message, `${length} bytes`).toBe("truncated or damaged gzip file");
      expect(error.where).toBe("t.csv.gz");
    }
  });

  test("damaged in its text or checksum is refused", async () => {
    const packed = gzipSync(csv);
    packed[packed.length - 6] ^= 1; // CRC-32
    expect((await failure("t.csv.gz", packed)).code).toBe("file.truncated");
  });

  test("of nothing, of Parquet, of gzip, of a picture is refused", async () => {
    expect((await failure("t.gz", gzipSync(""))).message).toBe("empty file");
    expect((await failure("t.gz", gzipSync("PAR1…"))).message).toBe(
      "not a table: it looks like a Parquet file inside gzip",
    );
    expect((await failure("t.gz", gzipSync(gzipSync(csv)))).message).toBe(
      "not a table: it looks like a gzip archive inside gzip",
    );
    expect((await failure("t.gz", gzipSync("%PDF-1.7"))).message).toBe(
      "not a table: it looks like a PDF document inside gzip",
    );
  });

  test("passes an error of the source on as it is", async () => {
    const source: TableSource = {
      name: "t.csv.gz",
      async *open() {
        yield gzipSync(csv).subarray(0, 30);
        throw new InputError("the disk went away", { code: "file.unreadable" });
      },
    };
    await expect(readTable(source)).rejects.toThrow("the disk went away");
  });

  test("counts the bytes of the source, not of the text", async () => {
    const packed = gzipSync(`x\n${"1\n".repeat(100_000)}`);
    let last = 0;
    await readTable(tableSourceFromBytes("t.gz", packed), { onProgress: (bytes) => (last = bytes) });
    expect(last).toBe(packed.length);
  });
});

describe("encodings", () => {
  const text = new TextDecoder().decode(csv);

  test("UTF-16 with a byte order mark, either way round, cut anywhere", async () => {
    const little = Buffer.from(`\ufeff${text}`, "utf16le");
    const big = Buffer.from(little).swap16();
    for (const bytes of [little, big]) {
      expect((await readTable(tableSourceFromBytes("t.csv", bytes))).columns).toEqual(columns);
      expect((await readTable(dripping(bytes))).columns).toEqual(columns);
    }
  });

  test("UTF-16 that is cut in a character, or has no mark, is refused", async () => {
    const little = Buffer.from(`\ufeff${text}`, "utf16le");
    expect((await failure("t.csv", little.subarray(0, little.length - 1))).code).toBe("file.encoding");
    expect((await failure("t.csv", little.subarray(2))).code).toBe("file.binary");
  });
});

describe("files that are no tables", () => {
  test.each([
    ["a zip archive or an Excel workbook (.xlsx)", "PK\x03\x04"],
    ["an old Excel workbook (.xls)", "\xd0\xcf\x11\xe0\xa1\xb1\x1a\xe1"],
    ["a PNG image", "\x89PNG\r\n\x1a\n"],
    ["a PDF document", "%PDF-1.4\n"],
    ["an Arrow or Feather file", "ARROW1\0\0"],
    ["an SQLite database", "SQLite format 3\0"],
    ["a JSON document", '{"time": [1, 2]}'],
    ["a JSON document", '[{"time": 1}]'],
    ["a web page, perhaps one that asks to log in", "<!DOCTYPE html>\n<title>Sign in</title>"],
    ["an XML document", '<?xml version="1.0"?>'],
    ["a binary file: it has zero bytes", "a,b\n1,\0\n"],
  ])("are refused as %s", async (what, head) => {
    const error = await failure("t.csv", Buffer.from(head, "latin1"));
    expect(error.message).toBe(`not a table: it looks like ${what}`);
    expect(error.code).toBe("file.binary");
    expect(error.where).toBe("t.csv");
    expect(error.hint).toContain("CSV");
  });
});

test("the same table as CSV, gzip and Parquet", async () => {
  const rows = 2500; // more than one row group, more distinct numbers than a dictionary keeps
  const at = Array.from({ length: rows }, (_, row) => row);
  const day = (row: number) => new Date(Date.UTC(2000, 0, 1 + (row % 400)));
  const source: ColumnSource[] = [
    { name: "id", data: at.map((row) => BigInt(row)), type: "INT64" },
    { name: "dose", data: at.map((row) => (row % 7 === 0 ? null : row / 8)), type: "DOUBLE" },
    { name: "stage", data: at.map((row) => (row % 11 === 0 ? null : (row % 4) + 1)), type: "INT32" },
    {
      name: "site",
      data: at.map((row) => (row % 5 === 0 ? null : ["Zürich", "a, b", 'q"'][row % 3])),
      type: "STRING",
    },
    { name: "smoker", data: at.map((row) => (row % 13 === 0 ? null : row % 2 === 0)), type: "BOOLEAN" },
    { name: "seen", data: at.map((row) => (row % 17 === 0 ? null : day(row))), type: "TIMESTAMP" },
  ];
  const toText = (value: unknown) => {
    if (value === null || value === undefined) return "";
    const text = value instanceof Date ? value.toISOString() : String(value);
    return /[",]/.test(text) ? `"${text.replaceAll('"', '""')}"` : text;
  };
  const lines = at.map((row) => source.map(({ data }) => toText(data[row])).join(","));
  const bytes = encoder.encode(`${source.map(({ name }) => name).join(",")}\n${lines.join("\n")}\n`);
  const fromCsv = await readTable(tableSourceFromBytes("t", bytes));
  expect(fromCsv.rows).toBe(rows);
  expect(fromCsv.columns.map(({ type }) => type)).toEqual([
    "number",
    "number",
    "number",
    "category",
    "boolean",
    "date",
  ]);
  const parquet = new Uint8Array(parquetWriteBuffer({ columnData: source }));
  expect(await readTable(tableSourceFromBytes("t", gzipSync(bytes)))).toEqual(fromCsv);
  expect(await readTable(tableSourceFromBytes("t", parquet))).toEqual(fromCsv);
  const forced = { category: ["stage", "id"] };
  expect(await readTable(tableSourceFromBytes("t", parquet), forced)).toEqual(
    await readTable(tableSourceFromBytes("t", bytes), forced),
  );
});

test("a source may be a view into a larger buffer", async () => {
  const file = readFileSync(new URL("fixtures/patients-snappy.parquet", import.meta.url));
  const larger = new Uint8Array(file.length + 20).fill(7);
  larger.set(file, 10);
  const view = larger.subarray(10, 10 + file.length);
  expect(await readTable(tableSourceFromBytes("t", view))).toEqual(
    await readTable(tableSourceFromBytes("t", file)),
  );
});
