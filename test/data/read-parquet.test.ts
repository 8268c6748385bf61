// Parquet as pyarrow writes it (fixtures/make_parquet.py), against the same table as text; types, overrides, damage.
import { readFileSync } from "node:fs";
import { parquetWriteBuffer } from "hyparquet-writer";
import { describe, expect, test } from "vitest";
import { GraduateError, InputError } from "../../src/core/errors.ts";
import { type ReadTableOptions, readTable, tableSourceFromBytes } from "../../src/data/reading/read-table.ts";
import { findColumn, type Table } from "../../src/data/table.ts";

function readBytes(file: string): Uint8Array {
  return readFileSync(new URL(`fixtures/${file}`, import.meta.url));
}

function readFixture(file: string, options: ReadTableOptions = {}): Promise<Table> {
  return readTable(tableSourceFromBytes("patients", readBytes(file)), options);
}

async function failure(bytes: Uint8Array, options: ReadTableOptions = {}): Promise<InputError> {
  const error: unknown = await readTable(tableSourceFromBytes("t.parquet", bytes), options).then(
    () => undefined,
    (reason) => reason,
  );
  expect(error).toBeInstanceOf(InputError);
  return error as InputError;
}

const codecs = ["snappy", "zstd", "gzip", "brotli", "lz4", "none"];

test.each(codecs)("pyarrow's file (%s) is the table its CSV is", async (codec) => {
  expect(await readFixture(`patients-${codec}.parquet`)).toEqual(await readFixture("patients.csv"));
});

test("every type, by value", async () => {
  const table = await readFixture("patients-zstd.parquet");
  const missing = Number.NaN;
  const noon = 18262.5; // 2020-01-01 12:00
  const morning = Date.UTC(2021, 4, 6, 7, 8, 9);
  const milliseconds = (morning + 123) / 86_400_000;
  const microseconds = (morning * 1000 + 123_456) / 86_400_000_000;
  const later = (value: number) => Float64Array.of(noon, missing, value, value, value, value, value);
  expect(table.rows).toBe(7);
  expect(table.columns).toEqual([
    { name: "id", type: "number", values: Float64Array.of(1, 2, 3, 4, 5, 6, 2 ** 40) },
    { name: "small", type: "number", values: Float64Array.of(0, 255, missing, 7, 8, 9, 10) },
    { name: "count", type: "number", values: Float64Array.of(-1, 2, 3, missing, 5, 6, 4e9) },
    {
      name: "age",
      type: "number",
      values: Float64Array.of(61.5, missing, 0.1, 1e-7, 12345.678, missing, -3.25),
    },
    { name: "half", type: "number", values: Float64Array.of(0.5, 0.25, missing, 1.5, 2.5, 3.5, -0.5) },
    { name: "dose", type: "number", values: Float64Array.of(12.3, 0.07, missing, 0.29, -1.1, 99.99, 0) },
    { name: "sex", type: "category", codes: Int32Array.of(0, 1, -1, 0, 1, 0, 0), levels: ["F", "M"] },
    {
      name: "site",
      type: "category",
      codes: Int32Array.of(0, 1, 2, -1, 0, 3, -1),
      levels: ["Zürich", "a, b", 'say "x"', "東京"],
    },
    { name: "smoker", type: "boolean", values: Uint8Array.of(1, 0, 255, 1, 1, 0, 0) },
    { name: "born", type: "date", values: Float64Array.of(-7275, -1, missing, 11016, 0, -25508, 20088) },
    { name: "seen_ms", type: "date", values: later(milliseconds) },
    { name: "seen_us", type: "date", values: later(microseconds) },
    { name: "seen_ns", type: "date", values: later(microseconds) },
    { name: "nothing", type: "number", values: new Float64Array(7).fill(missing) },
  ]);
});

describe("overrides", () => {
  test("category keeps the text of the value", async () => {
    const table = await readFixture("patients-snappy.parquet", {
      category: ["small", "dose", "smoker", "born", "seen_ms"],
    });
    const levels = (name: string) => {
      const column = findColumn(table, name);
      return column.type === "category" ? column.levels : column.type;
    };
    expect(levels("small")).toEqual(["0", "7", "8", "9", "10", "255"]);
    expect(levels("dose")).toEqual(["-1.1", "0", "0.07", "0.29", "12.3", "99.99"]);
    expect(levels("smoker")).toEqual(["false", "true"]);
    expect(levels("born")).toEqual([
      "1900-03-01",
      "1950-01-31",
      "1969-12-31",
      "1970-01-01",
      "2000-02-29",
      "2024-12-31",
    ]);
    expect(levels("seen_ms")).toEqual(["2020-01-01T12:00:00.000Z", "2021-05-06T07:08:09.123Z"]);
  });

  test("an int64 beyond float64 keeps its digits as a category", async () => {
    const data = [9007199254740993n, 9007199254740992n];
    const bytes = new Uint8Array(parquetWriteBuffer({ columnData: [{ name: "id", data, type: "INT64" }] }));
    const table = await readTable(tableSourceFromBytes("t", bytes), { category: ["id"] });
    const [column] = table.columns;
    if (column.type !== "category") throw new Error(column.type);
    expect(Array.from(column.codes, (code) => column.levels[code])).toEqual([
      "9007199254740993",
      "9007199254740992",
    ]);
  });

  test("strings stay categories whatever they spell, unless asked for as numbers", async () => {
    const columnData = [{ name: "x", data: ["1", "2.5", "NA", null], type: "STRING" as const }];
    const bytes = new Uint8Array(parquetWriteBuffer({ columnData }));
    expect((await readTable(tableSourceFromBytes("t", bytes))).columns[0].type).toBe("category");
    expect((await readTable(tableSourceFromBytes("t", bytes), { number: ["x"] })).columns).toEqual([
      { name: "x", type: "number", values: Float64Array.of(1, 2.5, Number.NaN, Number.NaN) },
    ]);
    const error = await failure(readBytes("patients-snappy.parquet"), { number: ["sex"] });
    expect(error.message).toBe('text in a number column: "sex" has "F", "M"');
    expect(error.where).toBe('t.parquet, rows 1, 2, 4, 5, 6 and 7, column "sex"');
  });

  test("a column that is not there is named", async () => {
    const error = await failure(readBytes("infinite.parquet"), { category: ["Time"] });
    expect(error.message).toBe('missing column: "Time" (have time)');
  });
});

describe("what is refused", () => {
  test.each([
    ["nested-list.parquet", 'nested column: "visits"', 'column "visits"'],
    ["nested-struct.parquet", 'nested column: "person"', 'column "person"'],
    ["time-of-day.parquet", 'time-of-day column: "clock"', 'column "clock"'],
    ["binary.parquet", "not UTF-8 text", 'column "blob"'],
    ["infinite.parquet", 'infinity in a number column: "time" has "Infinity"', 'row 2, column "time"'],
  ])("%s", async (file, message, where) => {
    const error = await failure(readBytes(file));
    expect(error.message).toBe(message);
    expect(error.where).toBe(`t.parquet, ${where}`);
  });

  test("a file without rows", async () => {
    expect((await failure(readBytes("no-rows.parquet"))).code).toBe("table.no-rows");
  });

  test("a file cut anywhere, in the library's words never", async () => {
    const whole = readBytes("patients-snappy.parquet");
    for (let length = 4; length < whole.length; length += 13) {
      const error = await failure(whole.subarray(0, length));
      expect(error.message).toBe("truncated or damaged Parquet file");
      expect(error.where).toBe("t.parquet");
    }
  });

  test("a file with its row groups missing", async () => {
    // the footer of a good file alone, moved to the front: every page is gone
    const whole = readBytes("patients-none.parquet");
    const footer = new DataView(whole.buffer, whole.byteOffset).getUint32(whole.length - 8, true) + 8;
    const hollow = new Uint8Array(4 + footer);
    hollow.set(whole.subarray(0, 4));
    hollow.set(whole.subarray(whole.length - footer), 4);
    const error = await failure(hollow);
    expect(error.message).toBe("truncated or damaged Parquet file");
    expect(error.where).toMatch(/^t\.parquet, column "/);
  });

  test("any byte changed gives a table or one of our errors, never another", async () => {
    const whole = readBytes("infinite.parquet");
    for (let at = 4; at < whole.length; at++) {
      const bytes = new Uint8Array(whole);
      bytes[at] ^= 0xff;
      const outcome: unknown = await readTable(tableSourceFromBytes("t.parquet", bytes)).catch(
        (reason) => reason,
      );
      if (outcome instanceof Error) {
        expect(outcome, `byte ${at}`).toBeInstanceOf(GraduateError);
        expect((outcome as GraduateError).where).toMatch(/^t\.parquet/);
      }
    }
  });
});

test("a source without random access is read whole", async () => {
  const bytes = readBytes("patients-gzip.parquet");
  const source = {
    name: "patients",
    async *open() {
      for (let at = 0; at < bytes.length; at += 1000) yield bytes.subarray(at, at + 1000);
    },
  };
  expect(await readTable(source)).toEqual(await readFixture("patients.csv"));
});

test("progress ends at the whole file and table", async () => {
  let last = { bytes: 0, rows: 0 };
  await readFixture("patients-gzip.parquet", { onProgress: (bytes, rows) => (last = { bytes, rows }) });
  expect(last).toEqual({ bytes: readBytes("patients-gzip.parquet").length, rows: 7 });
});
