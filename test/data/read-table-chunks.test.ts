// Tables read part by part, against the same tables read whole; what only the whole can tell; rows named in the whole.
import { gzipSync } from "node:zlib";
import { parquetWriteBuffer } from "hyparquet-writer";
import { describe, expect, test } from "vitest";
import { InputError } from "../../src/core/errors.ts";
import { inWholeTable, type TableChunk } from "../../src/data/reading/containers.ts";
import {
  type ReadChunksOptions,
  readTable,
  readTableChunks,
  type TableSource,
  tableSourceFromBytes,
} from "../../src/data/reading/read-table.ts";
import { cellText, findColumn, isMissing, type Table } from "../../src/data/table.ts";

const N = 9000; // some blocks of 2^18 bytes
const header = ["age", "site", "note", "smoker", "born", "dose"];
const sites = ["north", "Zürich", "a, b", 'say "x"', "", "NA"];
const notes = ["nothing", "two\nlines", "a much longer note on this person than there is on any other"];

function row(i: number, born: (day: number, month: number) => string): string[] {
  const day = 1 + (i % 12);
  const age = i % 97 === 0 ? "" : String(20 + ((i * 37) % 700) / 10);
  return [age, sites[i % 6], notes[i % 3], i % 2 ? "true" : "FALSE", born(day, 1 + (i % 12)), String(i % 4)];
}

const quote = (text: string) => (/[",;\n]/.test(text) ? `"${text.replaceAll('"', '""')}"` : text);
const slashes = (day: number, month: number) => `${day}/${month}/2003`;
const iso = (day: number, month: number) =>
  `2003-${String(month).padStart(2, "0")}-${String(day).padStart(2, "0")}`;

function toText(rows: readonly (readonly string[])[], delimiter = ","): string {
  return [header, ...rows].map((cells) => `${cells.map(quote).join(delimiter)}\n`).join("");
}

const rows = Array.from({ length: N }, (_, i) => row(i, iso));
const bytesOf = (text: string) => new TextEncoder().encode(text);

async function collect(
  bytes: Uint8Array | TableSource,
  options: Partial<ReadChunksOptions> = {},
): Promise<TableChunk[]> {
  const source = bytes instanceof Uint8Array ? tableSourceFromBytes("t", bytes) : bytes;
  const chunks: TableChunk[] = [];
  const wanted = { columns: header, category: ["site"], rowsAtOnce: 3000, ...options };
  for await (const chunk of readTableChunks(source, wanted)) chunks.push(chunk);
  return chunks;
}

async function failure(bytes: Uint8Array, options: Partial<ReadChunksOptions> = {}): Promise<InputError> {
  const error: unknown = await collect(bytes, options).then(
    () => undefined,
    (reason) => reason,
  );
  expect(error).toBeInstanceOf(InputError);
  return error as InputError;
}

/** Type and text of every cell of a column, part after part. */
function cellsOf(tables: readonly Table[], name: string): string[] {
  return tables.flatMap((table) => {
    const column = findColumn(table, name);
    return Array.from({ length: table.rows }, (_, i) =>
      isMissing(column, i) ? "" : column.type + cellText(column, i),
    );
  });
}

function expectSame(chunks: readonly TableChunk[], whole: Table, columns: readonly string[] = header): void {
  expect(chunks.length).toBeGreaterThan(1);
  let firstRow = 0;
  for (const chunk of chunks) {
    expect(chunk.firstRow).toBe(firstRow);
    expect(chunk.table.columns.map(({ name }) => name)).toEqual(columns);
    firstRow += chunk.table.rows;
  }
  expect(firstRow).toBe(whole.rows);
  for (const name of columns)
    expect(
      cellsOf(
        chunks.map(({ table }) => table),
        name,
      ).join("|") === cellsOf([whole], name).join("|"),
      name,
    ).toBe(true);
}

describe("parts together are the table", () => {
  const text = toText(rows);
  const utf16 = Buffer.from(`\ufeff${text}`, "utf16le");
  test.each([
    ["CSV", bytesOf(text)],
    ["CSV with a byte order mark", bytesOf(`\ufeff${text}`)],
    ["semicolons", bytesOf(toText(rows, ";"))],
    ["gzip", new Uint8Array(gzipSync(text))],
    ["UTF-16", new Uint8Array(utf16)],
  ])("%s", async (_, bytes) => {
    const whole = await readTable(tableSourceFromBytes("t", bytes), { category: ["site"] });
    const seen: number[] = [];
    const chunks = await collect(bytes, { dates: ["born"], onProgress: (_bytes, count) => seen.push(count) });
    expectSame(chunks, whole);
    expect(seen.at(-1)).toBe(N);
  });

  test("Parquet, within and over row groups", async () => {
    const ages = rows.map(([age]) => (age === "" ? null : Number(age)));
    const buffer = parquetWriteBuffer({
      columnData: [
        { name: "age", data: ages, type: "DOUBLE" },
        { name: "site", data: rows.map((cells) => cells[1]), type: "STRING" },
        { name: "smoker", data: rows.map((cells) => cells[3] === "true"), type: "BOOLEAN" },
      ],
      rowGroupSize: 4500,
    });
    const whole = await readTable(tableSourceFromBytes("t", new Uint8Array(buffer)));
    const columns = ["smoker", "age", "site"];
    const chunks = await collect(new Uint8Array(buffer), { columns, category: [], rowsAtOnce: 2000 });
    expectSame(chunks, whole, columns);
    expect(chunks.slice(0, 4).map(({ table }) => table.rows)).toEqual([2000, 2000, 500, 2000]);
  });

  test("only the columns that are asked for are looked at", async () => {
    const broken = rows.map((cells, i) =>
      i === 7000 ? [...cells.slice(0, 2), "\u0001", ...cells.slice(3)] : cells,
    );
    const bytes = bytesOf(toText(broken));
    bytes[bytes.indexOf(1)] = 0xff; // not UTF-8
    const chunks = await collect(bytes, { columns: ["dose", "age"] });
    expectSame(chunks, await readTable(tableSourceFromBytes("t", bytesOf(text))), ["dose", "age"]);
    expect((await failure(bytes, { columns: ["note"] })).where).toBe('t, row 7001, column "note"');
  });

  test("a source that can be opened once only is enough for text without dates", async () => {
    let opened = 0;
    const source: TableSource = {
      name: "pipe",
      async *open() {
        if (opened++ > 0) throw new Error("opened again");
        for (let at = 0; at < text.length; at += 5000) yield bytesOf(text.slice(at, at + 5000));
      },
    };
    const chunks = await collect(source, { columns: ["age"], category: [] });
    expectSame(chunks, await readTable(tableSourceFromBytes("t", bytesOf(text))), ["age"]);
  });
});

describe("what only the whole can tell", () => {
  test("day first, though a later part alone says so; month first, where none does", async () => {
    const ambiguous = Array.from({ length: N }, (_, i) => row(i, slashes));
    const last = [...ambiguous.slice(0, -1), ["30", "north", "x", "true", "25/12/2003", "1"]];
    // The order is the table's: a column that is not read tells it too.
    const beside = ambiguous.map((cells, i) => [
      ...cells.slice(0, -2),
      slashes(1 + (i % 12), 1 + (i % 7)),
      i === N - 1 ? "13/12/2003" : "1/2/2003",
    ]);
    for (const table of [ambiguous, last, beside]) {
      const bytes = bytesOf(toText(table));
      const whole = await readTable(tableSourceFromBytes("t", bytes), { category: ["site"] });
      expectSame(await collect(bytes, { columns: ["born"], dates: ["born"], category: [] }), whole, ["born"]);
    }
  });

  test("a column that is not all dates stays text, part by part", async () => {
    const bad = rows.map((cells, i) => (i === N - 1 ? ["1", "x", "x", "true", "soon", "1"] : cells));
    const types = (await collect(bytesOf(toText(bad)), { dates: ["born"] })).map(
      ({ table }) => findColumn(table, "born").type,
    );
    expect(types.at(-1)).toBe("category");
  });

  test("the decimal mark of an earlier part", async () => {
    const comma = rows.map((cells, i) => [...cells.slice(0, 5), i === 5 ? "1,5" : "2"]);
    const late = comma.map((cells, i) => (i === N - 3 ? [...cells.slice(0, 5), "2.34"] : cells));
    const chunks = await collect(bytesOf(toText(comma, ";")), { columns: ["dose"], category: [] });
    expect(cellsOf([chunks[0].table], "dose").slice(4, 7)).toEqual(["number2", "number1.5", "number2"]);
    // Read by itself the last part would take 2.34 as a number; here it is text, and so a category for the encoder to
    // refuse.
    const mixed = await collect(bytesOf(toText(late, ";")), { columns: ["dose"], category: [] });
    expect(mixed.map(({ table }) => findColumn(table, "dose").type)).toEqual([
      ...Array(mixed.length - 1).fill("number"),
      "category",
    ]);
    await expect(
      failure(bytesOf(toText(late, ";")), { columns: ["dose"], category: [], number: ["dose"] }),
    ).resolves.toMatchObject({
      code: "number.text",
      where: `t, row ${N - 2}, column "dose"`,
    });
  });
});

describe("refusals name the rows of the whole", () => {
  const withLast = (cells: readonly string[]) => bytesOf(toText([...rows, cells]));
  test.each([
    ["a ragged row", withLast(["1", "2"]), "row.ragged", `t, row ${N + 1}`],
    [
      "text among numbers",
      withLast(["old", "x", "x", "true", "2003-01-01", "1"]),
      "number.text",
      `t, row ${N + 1}, column "age"`,
    ],
    [
      "infinity",
      withLast(["Inf", "x", "x", "true", "2003-01-01", "1"]),
      "number.infinite",
      `t, row ${N + 1}, column "age"`,
    ],
    ["an open quote", bytesOf(`${toText(rows)}1,"x`), "quote.unterminated", `t, row ${N + 1}`],
    ["no rows", bytesOf(toText([])), "table.no-rows", "t"],
    ["nothing", new Uint8Array(0), "file.empty", "t"],
    ["another kind of file", bytesOf("%PDF-1.4 this is no table"), "file.binary", "t"],
    ["gzip cut short", new Uint8Array(gzipSync(toText(rows))).subarray(0, 5000), "file.truncated", "t"],
  ])("%s", async (_, bytes, code, where) => {
    expect(await failure(bytes)).toMatchObject({ code, where });
  });

  test("a missing column is asked for among all there are", async () => {
    const error = await failure(bytesOf(toText(rows)), { columns: ["age", "Dose"] });
    expect(error.message).toBe('missing column: "Dose" (have age, site, note, smoker, born, dose)');
    expect(error.hint).toContain('did you mean "dose"?');
  });

  test("Parquet, in a later row group", async () => {
    const data = Array.from({ length: 300 }, (_, i) => (i === 250 ? Number.POSITIVE_INFINITY : i));
    const buffer = parquetWriteBuffer({
      columnData: [{ name: "age", data, type: "DOUBLE" }],
      rowGroupSize: 100,
    });
    const error = await failure(new Uint8Array(buffer), { columns: ["age"], category: [], rowsAtOnce: 30 });
    expect(error).toMatchObject({ code: "number.infinite", where: 't, row 251, column "age"' });
  });

  test("rows in the middle of a sentence are moved, nothing else is", async () => {
    const place = { table: { name: "row 1, rows 2.csv" }, firstRow: 1000 };
    const fail = (where: string) =>
      inWholeTable(place, () => {
        throw new InputError("level 7", { code: "level.unknown", where, hint: "row 3" });
      }).catch((error: InputError) => [error.message, error.where, error.hint, error.code]);
    const name = "row 1, rows 2.csv";
    const moved = (where: string) => ["level 7", where, "row 3", "level.unknown"];
    expect(await fail(`${name}, row 4, column "row 9"`)).toEqual(moved(`${name}, row 1004, column "row 9"`));
    expect(await fail(`${name}, rows 4, 5 and 6`)).toEqual(moved(`${name}, rows 1004, 1005 and 1006`));
    expect(await fail(`${name}, rows 4, 5 (and 71 more), column "x"`)).toEqual(
      moved(`${name}, rows 1004, 1005 (and 71 more), column "x"`),
    );
    expect(await fail(`${name}, group "row 4"`)).toEqual(moved(`${name}, group "row 4"`));
  });
});
