// CSV text → table: records and fields, delimiters, header, chunk boundaries, and the round trip of random cells.
import fc from "fast-check";
import { describe, expect, test } from "vitest";
import { InputError } from "../../src/core/errors.ts";
import {
  type ReadTableOptions,
  readTable,
  type TableSource,
  tableSourceFromBytes,
} from "../../src/data/reading/read-table.ts";
import { cellText, findColumn, isMissing, type Table } from "../../src/data/table.ts";

const encoder = new TextEncoder();

function readText(text: string, options: ReadTableOptions = {}): Promise<Table> {
  return readTable(tableSourceFromBytes("t.csv", encoder.encode(text)), options);
}

/** Each column as its name and its cells' texts, null where missing. */
function cellsOf(table: Table): Record<string, (string | null)[]> {
  return Object.fromEntries(
    table.columns.map((column) => [
      column.name,
      Array.from({ length: table.rows }, (_, row) => (isMissing(column, row) ? null : cellText(column, row))),
    ]),
  );
}

async function failure(text: string, options: ReadTableOptions = {}): Promise<InputError> {
  const error: unknown = await readText(text, options).then(
    () => undefined,
    (reason) => reason,
  );
  expect(error).toBeInstanceOf(InputError);
  return error as InputError;
}

/** The same bytes, cut at the given places. */
function chunked(bytes: Uint8Array, cuts: readonly number[]): TableSource {
  const edges = [0, ...cuts, bytes.length];
  return {
    name: "t.csv",
    async *open() {
      for (let k = 0; k + 1 < edges.length; k++) yield bytes.slice(edges[k], edges[k + 1]);
    },
  };
}

describe("records and fields", () => {
  test("reads a plain table", async () => {
    const table = await readText("time,sex\n1.5,F\n2,M\n");
    expect(table.name).toBe("t.csv");
    expect(table.rows).toBe(2);
    expect(table.columns).toEqual([
      { name: "time", type: "number", values: Float64Array.of(1.5, 2) },
      { name: "sex", type: "category", codes: Int32Array.of(0, 1), levels: ["F", "M"] },
    ]);
  });

  test.each([
    ["LF", "\n"],
    ["CRLF", "\r\n"],
    ["CR", "\r"],
  ])("ends records with %s, the last one with or without", async (_, end) => {
    const expected = { a: ["1", "3"], b: ["x", "y"] };
    expect(cellsOf(await readText(["a,b", "1,x", "3,y"].join(end)))).toEqual(expected);
    expect(cellsOf(await readText(["a,b", "1,x", "3,y", ""].join(end)))).toEqual(expected);
  });

  test("understands quotes: delimiters, line ends and doubled quotes inside", async () => {
    const table = await readText('a,b\n"x, y","he said ""no"""\n"two\r\nlines",""""\n"plain",5" nail\n');
    expect(cellsOf(table)).toEqual({
      a: ["x, y", "two\r\nlines", "plain"],
      b: ['he said "no"', '"', '5" nail'],
    });
  });

  test("quotes do not make a number a text, and a quoted nothing is missing", async () => {
    const table = await readText('"a","b"\n"1","x"\n"","y"\n" ","z"\n"2.5",""\n');
    expect(table.columns[0]).toEqual({
      name: "a",
      type: "number",
      values: Float64Array.of(1, Number.NaN, Number.NaN, 2.5),
    });
    expect(cellsOf(table).b).toEqual(["x", "y", "z", null]);
  });

  test("blanks around an unquoted field are dropped, inside quotes kept, after a closing quote ignored", async () => {
    const table = await readText('a , b\n x ,1\n" x " , 2\n\tx,3\n');
    expect(cellsOf(table)).toEqual({ a: ["x", " x ", "x"], b: ["1", "2", "3"] });
  });

  test("a last empty field without a line end is a missing cell", async () => {
    expect(cellsOf(await readText("a,b\n1,x\n2,"))).toEqual({ a: ["1", "2"], b: ["x", null] });
  });

  test("ignores blank lines at the end, also with blanks in them", async () => {
    for (const tail of ["\n", "\n\n\n", "\r\n\r\n", "\n  \n\t\n", "\n   "]) {
      expect(cellsOf(await readText(`a,b\n1,x${tail}`))).toEqual({ a: ["1"], b: ["x"] });
    }
  });

  test("in a table of one column a blank line between rows is a missing value", async () => {
    expect(cellsOf(await readText("a\n1\n\n\n4\n\n"))).toEqual({ a: ["1", null, null, "4"] });
    expect(cellsOf(await readText('a\n1\n""\n'))).toEqual({ a: ["1", null] });
  });

  test("drops a UTF-8 byte order mark", async () => {
    expect(cellsOf(await readText('\ufeff"time",b\n1,x\n'))).toEqual({ time: ["1"], b: ["x"] });
  });

  test("names may be anything that is not empty or repeated, even numbers", async () => {
    expect(Object.keys(cellsOf(await readText("1,2.5,NA\n1,2,3\n")))).toEqual(["1", "2.5", "NA"]);
  });
});

describe("delimiters", () => {
  test.each([
    [",", "a,b,c\n1,x,2\n"],
    [";", "a;b;c\n1;x;2\n"],
    ["tab", "a\tb\tc\n1\tx\t2\n"],
    ["|", "a|b|c\n1|x|2\n"],
  ])("finds %s", async (_, text) => {
    expect(cellsOf(await readText(text))).toEqual({ a: ["1"], b: ["x"], c: ["2"] });
  });

  test("respects quotes and looks beyond the header", async () => {
    // commas in every quoted name and a semicolon between fields
    expect(cellsOf(await readText('"a, first";"b, second, or third"\n1;2\n3;4\n'))).toEqual({
      "a, first": ["1", "3"],
      "b, second, or third": ["2", "4"],
    });
    // the header alone would allow both; the rows agree with the semicolon only
    expect(cellsOf(await readText("a,x;b\nu;v\nw;z\n"))).toEqual({ "a,x": ["u", "w"], b: ["v", "z"] });
  });

  test("a decimal comma is not mistaken for the delimiter", async () => {
    const table = await readText("time;dose\n1,5;2\n2,25;3\n");
    expect(table.columns[0]).toEqual({ name: "time", type: "number", values: Float64Array.of(1.5, 2.25) });
  });

  test("one column needs no delimiter", async () => {
    expect(cellsOf(await readText("time\n1\n2\n"))).toEqual({ time: ["1", "2"] });
  });
});

describe("chunk boundaries", () => {
  const nasty = encoder.encode(
    '\ufeffnäme,"quo""ted",n,when,🙂\r\n' +
      '"a\r\nb","x ""y"" z",1.25,2020-02-29,true\r\n' +
      '東京,",",-3e-5,NA,FALSE\r\n' +
      "\r\n".repeat(0) +
      'é🙂,"",007,1999-12-31T23:59:59Z,NaN\r\n' +
      '" ""","""",12345678901234567000,2000-01-01,TRUE\r\n\r\n',
  );
  const expected = [
    {
      name: "näme",
      type: "category",
      codes: Int32Array.of(1, 3, 2, 0),
      levels: [' "', "a\r\nb", "é🙂", "東京"],
    },
    { name: 'quo"ted', type: "category", codes: Int32Array.of(2, 1, -1, 0), levels: ['"', ",", 'x "y" z'] },
    { name: "n", type: "number", values: Float64Array.of(1.25, -3e-5, 7, 12345678901234567e3) },
    { name: "when", type: "date", values: Float64Array.of(18321, Number.NaN, 10956 + 86399 / 86400, 10957) },
    { name: "🙂", type: "boolean", values: Uint8Array.of(1, 0, 255, 1) },
  ];

  test("a cut at any byte gives the identical table", async () => {
    expect((await readTable(chunked(nasty, []))).columns).toEqual(expected);
    for (let cut = 1; cut < nasty.length; cut++) {
      expect((await readTable(chunked(nasty, [cut]))).columns, `cut at ${cut}`).toEqual(expected);
    }
  });

  test("so do single bytes, and empty chunks", async () => {
    const everywhere = Array.from({ length: nasty.length - 1 }, (_, k) => k + 1);
    expect((await readTable(chunked(nasty, everywhere))).columns).toEqual(expected);
    expect((await readTable(chunked(nasty, [0, 0, 5, 5, 5, 60]))).columns).toEqual(expected);
  });

  test("blocks end in the middle of quotes, line ends and characters without a trace", async () => {
    // rows of 7 to 19 bytes over several blocks of 2^18 bytes, so that block edges fall everywhere
    const rows = 100_000;
    const words = ["ä", "x,y", 'q"', "l\r\nm", "plain"];
    const quoted = words.map((word) => (/[",\r\n]/.test(word) ? `"${word.replaceAll('"', '""')}"` : word));
    const lines = Array.from({ length: rows }, (_, row) => `${row},${quoted[row % 5]}`);
    const table = await readText(`id,word\r\n${lines.join("\r\n")}\r\n`);
    expect(table.rows).toBe(rows);
    const [id, word] = table.columns;
    if (id.type !== "number" || word.type !== "category") throw new Error("wrong types");
    expect(word.levels).toEqual([...words].sort());
    for (let row = 0; row < rows; row++) {
      if (id.values[row] !== row || word.levels[word.codes[row]] !== words[row % 5])
        throw new Error(`row ${row}`);
    }
  });

  test("a record may be longer than a block", async () => {
    const long = "x".repeat(1_000_000);
    const table = await readText(`a,b\n1,"${long}"\n2,y\n`);
    expect(cellsOf(table)).toEqual({ a: ["1", "2"], b: [long, "y"] });
    const wide = Array.from({ length: 3000 }, (_, k) => `column ${"w".repeat(100)} ${k}`);
    const wideTable = await readText(`${wide.join(",")}\n${wide.map((_, k) => k).join(",")}\n`);
    expect(wideTable.columns.map((column) => column.name)).toEqual(wide);
  });
});

describe("round trip", () => {
  const cell = fc.oneof(
    fc.constant(""),
    fc.double({ noDefaultInfinity: true, noNaN: true }).map(String),
    fc.integer().map(String),
    fc.string({ unit: "grapheme", maxLength: 8 }),
    fc.constantFrom(
      '"',
      '""',
      ",",
      ";",
      "\t",
      "\n",
      "\r\n",
      " x ",
      "x\ny",
      "true",
      "2020-01-31",
      "1/2/2020",
      "-",
      "007",
    ),
  );
  const isMissingCell = (text: string) => /^\s*(na|nan|null)?\s*$/i.test(text);
  const quote = (text: string, always: boolean) =>
    always || /["\n\r,;\t| ]|^$/.test(text) || text.trim() !== text
      ? `"${text.replaceAll('"', '""')}"`
      : text;

  test("random cells read as categories come back as they were written", async () => {
    await fc.assert(
      fc.asyncProperty(
        fc.integer({ min: 1, max: 4 }).chain((width) =>
          fc.record({
            rows: fc.array(fc.array(cell, { minLength: width, maxLength: width }), {
              minLength: 1,
              maxLength: 12,
            }),
            delimiter: fc.constantFrom(",", ";", "\t", "|"),
            end: fc.constantFrom("\n", "\r\n", "\r"),
            always: fc.boolean(),
            cut: fc.nat(),
          }),
        ),
        async ({ rows, delimiter, end, always, cut }) => {
          const names = rows[0].map((_, k) => `c${k}`);
          const lines = [names, ...rows].map((row) => row.map((text) => quote(text, always)).join(delimiter));
          const bytes = encoder.encode(lines.join(end) + end);
          const table = await readTable(chunked(bytes, [cut % bytes.length]), { category: names });
          expect(table.rows).toBe(rows.length);
          for (let k = 0; k < names.length; k++) {
            const column = findColumn(table, names[k]);
            for (let row = 0; row < rows.length; row++) {
              const written = rows[row][k];
              expect(isMissing(column, row)).toBe(isMissingCell(written));
              if (!isMissingCell(written)) expect(cellText(column, row)).toBe(written);
            }
          }
        },
      ),
      { seed: 20240521, numRuns: 200 },
    );
  });

  test("random numbers come back bit by bit", async () => {
    await fc.assert(
      fc.asyncProperty(
        fc.array(fc.double({ noDefaultInfinity: true, noNaN: true }), { minLength: 1, maxLength: 400 }),
        async (values) => {
          const [column] = (
            await readText(`x\n${values.map((v) => (Object.is(v, -0) ? "-0" : String(v))).join("\n")}\n`)
          ).columns;
          if (column.type !== "number") throw new Error(column.type);
          for (let row = 0; row < values.length; row++) expect(column.values[row]).toBe(values[row]); // Object.is
        },
      ),
      { seed: 7, numRuns: 100 },
    );
  });
});

describe("what is refused", () => {
  test("a header without rows, nothing at all, blank names, repeated names", async () => {
    expect((await failure("a,b\n")).code).toBe("table.no-rows");
    expect((await failure("")).message).toBe("empty file");
    expect((await failure("\ufeff")).message).toBe("empty file");
    expect((await failure("\n\n \n")).message).toBe("empty file");
    const unnamed = await failure("a,,b,\n1,2,3,4\n");
    expect(unnamed.message).toBe("empty column name: column 2, 4 of 4");
    expect(unnamed.where).toBe("t.csv, header");
    expect((await failure("a,b,a,b\n1,2,3,4\n")).message).toBe(
      'duplicate column name: "a" names columns 1, 3',
    );
    expect((await failure("\na,b\n1,2\n")).code).toBe("header.empty");
  });

  test("rows of the wrong length, up to 20 by number", async () => {
    const error = await failure("a,b,c\n1,2,3\n1,2\n1,2,3\n1,2,3,4\n\n1,2,3\n");
    expect(error.message).toBe(
      "wrong number of fields: the header has 3, row 2 has 2, row 4 has 4, row 5 has 1",
    );
    expect(error.where).toBe("t.csv, rows 2, 4 and 5");
    const many = await failure(`a,b\n${"1\n".repeat(50)}`);
    expect(many.message).toContain("row 20 has 1, … 50 rows in all");
    expect(many.message).not.toContain("row 21");
  });

  test("quotes that do not close, or are followed by text", async () => {
    const open = await failure('a,b\n1,x\n2,"y\n3,z\n');
    expect(open.code).toBe("quote.unterminated");
    expect(open.where).toBe("t.csv, row 2");
    expect((await failure('a,"b\n1,x\n')).where).toBe("t.csv, header");
    const after = await failure('a,b\n1,"x"y\n2,z\n');
    expect(after.code).toBe("quote.text-after");
    expect(after.where).toBe("t.csv, row 1");
  });

  test("a quote left open in a large file is found without holding the file", async () => {
    const line = encoder.encode(`1,${"x".repeat(98)}\n`);
    const part = new Uint8Array(101_000);
    for (let k = 0; k < part.length; k += line.length) part.set(line, k);
    let given = 0;
    const source: TableSource = {
      name: "t.csv",
      async *open() {
        given = 0;
        yield encoder.encode('a,b\n1,"x\n');
        for (; given < 4000; given++) yield part;
      },
    };
    await expect(readTable(source)).rejects.toMatchObject({ code: "row.too-long", where: "t.csv, row 1" });
    expect(given * part.length).toBeLessThan(40e6); // of 404e6
  });

  test("zero bytes and bytes that are not UTF-8, by row", async () => {
    const bytes = encoder.encode(`a,b\n${"1,x\n".repeat(9)}`);
    const zero = bytes.slice();
    zero[22] = 0;
    await expect(readTable(tableSourceFromBytes("t.csv", zero))).rejects.toMatchObject({
      code: "file.binary",
      where: "t.csv, row 5",
    });
    const latin = bytes.slice();
    latin[22] = 0xe9; // é in Latin-1
    await expect(readTable(tableSourceFromBytes("t.csv", latin))).rejects.toMatchObject({
      code: "file.encoding",
      where: 't.csv, row 5, column "b"',
    });
    const header = bytes.slice();
    header[2] = 0xe9;
    await expect(readTable(tableSourceFromBytes("t.csv", header))).rejects.toMatchObject({
      code: "file.encoding",
      where: "t.csv, header, column 2",
    });
  });

  test("columns that do not exist, or are asked for as two things", async () => {
    const unknown = await failure("time,Age\n1,2\n", { number: ["age"] });
    expect(unknown.message).toBe('missing column: "age" (have time, Age)');
    expect(unknown.hint).toBe('column names are case-sensitive: did you mean "Age"?');
    expect((await failure("a,b\n1,2\n", { number: ["a"], category: ["a"] })).code).toBe("option.conflict");
  });
});

test("progress counts bytes up to the whole file and rows up to the whole table", async () => {
  const seen: { bytes: number; rows: number }[] = [];
  const text = `a,b\n${"1,x\n".repeat(300_000)}`;
  await readText(text, { onProgress: (bytes, rows) => seen.push({ bytes, rows }) });
  expect(seen.length).toBeGreaterThan(2);
  expect(seen.at(-1)).toEqual({ bytes: text.length, rows: 300_000 });
});

test("a line without an end is refused before it fills the memory", async () => {
  // A line of 200 MB, of which little more than the 16 MiB that a row may have is asked for.
  let taken = 0;
  const source: TableSource = {
    ...chunked(encoder.encode("time,event,note\n"), []),
    async *open() {
      yield encoder.encode('time,event,note\n5,1,"');
      for (; taken < 200; taken++) yield new Uint8Array(1_000_000).fill(120);
    },
  };
  const error: unknown = await readTable(source).then(
    () => undefined,
    (reason) => reason,
  );
  expect(error).toBeInstanceOf(InputError);
  expect((error as InputError).message).toContain("one row is longer than 16777216 bytes");
  expect(taken).toBeLessThan(40);
});
