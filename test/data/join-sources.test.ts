// Several files as one table: any cut of a table into files, in any order of columns, is the table that the whole is;
// what does not fit together is refused by file and column, and bad cells by file and row.
import { gzipSync } from "node:zlib";
import fc from "fast-check";
import { parquetWriteBuffer } from "hyparquet-writer";
import { describe, expect, test } from "vitest";
import { InputError } from "../../src/core/errors.ts";
import { inWholeTable } from "../../src/data/reading/containers.ts";
import { joinSources } from "../../src/data/reading/join-sources.ts";
import {
  type ReadTableOptions,
  readTable,
  readTableChunks,
  type TableSource,
  tableSourceFromBytes,
} from "../../src/data/reading/read-table.ts";
import { cellText, findColumn, namePlaces, type Table } from "../../src/data/table.ts";

const bytesOf = (text: string) => new TextEncoder().encode(text);
const fromText = (name: string, text: string) => tableSourceFromBytes(name, bytesOf(text));
const join = (...texts: readonly string[]) =>
  joinSources(
    "people/",
    texts.map((text, k) => fromText(`people/${"abcdefg"[k]}.csv`, text)),
  );

async function failure(step: Promise<unknown>): Promise<InputError> {
  const error: unknown = await step.then(
    () => undefined,
    (reason) => reason,
  );
  expect(error).toBeInstanceOf(InputError);
  return error as InputError;
}

/** The table without its name and files, or what was said against it. */
async function contents(source: TableSource, options: ReadTableOptions = {}) {
  return readTable(source, options).then(
    ({ rows, columns }) => ({ rows, columns }),
    (error: unknown) => {
      expect(error).toBeInstanceOf(InputError);
      return { refused: (error as InputError).message };
    },
  );
}

/** Cells that make a column a number, a date, a category … depending on which of them it has. */
const CELLS = [
  ...["1", "2.5", "-3e4", "007", "12", "", "NA", "1,5", "Inf", "x", "a, b", 'say "x"', "two\nlines", " a "],
  ...["true", "FALSE", "3/4/2021", "13/4/2021", "4/25/2021", "2021-03-31", "Zürich", "9007199254740993"],
];
const quote = (text: string) => (/[",;\n]| $|^ /.test(text) ? `"${text.replaceAll('"', '""')}"` : text);

interface CutTable {
  readonly names: readonly string[];
  readonly rows: readonly (readonly string[])[];
  /** Where a file ends, and in which order it has its columns. */
  readonly files: readonly { readonly end: number; readonly order: readonly number[] }[];
}

const cutTable: fc.Arbitrary<CutTable> = fc
  .record({
    pools: fc.array(fc.array(fc.constantFrom(...CELLS), { minLength: 1, maxLength: 5 }), {
      minLength: 2,
      maxLength: 5,
    }),
    N: fc.integer({ min: 1, max: 40 }),
    cuts: fc.array(fc.integer({ min: 0, max: 40 }), { maxLength: 5 }),
    seed: fc.array(fc.nat(999), { minLength: 5, maxLength: 5 }),
  })
  .map(({ pools, N, cuts, seed }) => {
    const rows = Array.from({ length: N }, (_, i) =>
      pools.map((pool, k) => pool[(i * 7 + seed[k % 5]) % pool.length]),
    );
    const ends = [...cuts.map((cut) => Math.min(cut, N)).sort((a, b) => a - b), N];
    const files = ends.map((end, f) => {
      const order = pools.map((_, k) => k);
      if (f > 0) order.sort((a, b) => ((seed[f % 5] * (a + 3)) % 7) - ((seed[f % 5] * (b + 3)) % 7));
      return { end, order };
    });
    return { names: pools.map((_, k) => `c${k}`), rows, files };
  });

function toText(
  { names, rows }: CutTable,
  from: number,
  end: number,
  order: readonly number[],
  sign: string,
) {
  const lines = [names, ...rows.slice(from, end)].map((cells) =>
    order.map((k) => quote(cells[k])).join(sign),
  );
  return lines.join("\n");
}

describe("any cut into files is the table that the whole is", () => {
  test.each([",", ";"])("text separated by %s", async (sign) => {
    await fc.assert(
      fc.asyncProperty(cutTable, async (table) => {
        const order = table.names.map((_, k) => k);
        const whole = fromText("whole", toText(table, 0, table.rows.length, order, sign));
        let from = 0;
        const sources = table.files.map((file, f) => {
          const bytes = bytesOf(toText(table, from, file.end, file.order, sign) + (f % 2 ? "\n" : "\n\n"));
          from = file.end;
          return tableSourceFromBytes(`part ${f}`, f % 3 === 2 ? gzipSync(bytes) : bytes);
        });
        const joined = joinSources("parts", sources);
        expect(await contents(joined)).toEqual(await contents(whole));
        const typed = { category: ["c0"] };
        expect(await contents(joined, typed)).toEqual(await contents(whole, typed));
      }),
      { numRuns: 150, seed: 4 },
    );
  });

  test("Parquet, whatever the files' own widths of numbers and groups of rows", async () => {
    const N = 90;
    const sites = ["north", "Zürich", "7", "NA", "10"];
    const columns = (from: number, end: number, isWide: boolean) => {
      const at = Array.from({ length: end - from }, (_, i) => from + i);
      const dose = at.map((i) => (i % 7) - 3);
      return [
        isWide
          ? { name: "dose", data: dose.map(BigInt), type: "INT64" as const }
          : { name: "dose", data: dose, type: "DOUBLE" as const },
        {
          name: "site",
          data: at.map((i) => (i % 11 === 0 ? null : sites[(i * i) % 5])),
          type: "STRING" as const,
        },
        { name: "smoker", data: at.map((i) => (i % 5 === 0 ? null : i % 2 === 0)), type: "BOOLEAN" as const },
      ];
    };
    const write = (from: number, end: number, isWide: boolean, rowGroupSize = 20) =>
      new Uint8Array(parquetWriteBuffer({ columnData: columns(from, end, isWide), rowGroupSize }));
    const whole = tableSourceFromBytes("whole", write(0, N, false));
    for (const ends of [[N], [1, 2, N], [0, 33, 33, 34, N], [45, N]]) {
      let from = 0;
      const sources = ends.map((end, f) => {
        const bytes = write(from, end, f % 2 === 1, 1 + 7 * f);
        from = end;
        return tableSourceFromBytes(`part ${f}`, bytes);
      });
      const joined = joinSources("parts", sources);
      expect(await contents(joined)).toEqual(await contents(whole));
      const asTexts = { category: ["dose"] };
      expect(await contents(joined, asTexts)).toEqual(await contents(whole, asTexts));
      const cells: string[] = [];
      for await (const { table } of readTableChunks(joined, { columns: ["site", "dose"], rowsAtOnce: 13 }))
        cells.push(...cellsOf(table));
      const { columns: all } = await readTable(whole);
      expect(cells).toEqual(cellsOf({ name: "", rows: N, columns: [all[1], all[0]] }));
    }
  });

  test("a column that turns from numbers to text after thousands of rows", async () => {
    const rows = Array.from({ length: 3000 }, (_, i) => (i < 1200 ? `${i}.5,${i % 3}` : `code ${i % 40},x`));
    const header = "value,few\n";
    const whole = await contents(fromText("whole", header + rows.join("\n")));
    for (const cut of [1, 700, 1200, 2999]) {
      const [a, b] = [rows.slice(0, cut), rows.slice(cut)].map((part) => header + part.join("\n"));
      expect(await contents(join(a, b))).toEqual(whole);
    }
    expect(whole).toMatchObject({ columns: [{ type: "category" }, { type: "category" }] });
  });
});

const cellsOf = (table: Table) =>
  Array.from({ length: table.rows }, (_, i) => table.columns.map((column) => cellText(column, i)).join("|"));

test("part by part: the cells, firstRow and dates are those of the whole; files may be opened in between", async () => {
  const row = (i: number) => `${i % 13},${1 + (i % 12)}/${i === 900 ? 25 : 1 + (i % 12)}/2003,s${i % 3}`;
  const text = (from: number, end: number) =>
    ["age,born,site", ...Array.from({ length: end - from }, (_, i) => row(from + i))].join("\n");
  const options = { columns: ["born", "age", "site"], dates: ["born"], category: ["site"], rowsAtOnce: 300 };
  const whole = await readTable(fromText("whole", text(0, 1000)), { category: ["site"] });
  const opened: string[] = [];
  const parts = [text(0, 0), text(0, 1), text(1, 700), text(700, 1000)].map((one, k) => {
    const source = fromText(`part ${k}`, one);
    return Object.assign(source, {
      async *open() {
        opened.push(`${k}`);
        yield bytesOf(one);
      },
    });
  });
  const cells: string[] = [];
  let heard = 0;
  const read = { ...options, onProgress: (bytes: number) => (heard = bytes) };
  for await (const chunk of readTableChunks(joinSources("parts", parts), read)) {
    expect(chunk.firstRow).toBe(cells.length);
    cells.push(...cellsOf(chunk.table));
  }
  const [age, born, site] = ["age", "born", "site"].map((name) => findColumn(whole, name));
  expect(cells).toEqual(cellsOf({ ...whole, columns: [born, age, site] }));
  expect(opened.slice(-4)).toEqual(["0", "1", "2", "3"]); // one after the other
  expect(heard).toBe(parts.reduce((sum, { byteLength = 0 }) => sum + byteLength, 0));
});

describe("what does not fit together", () => {
  const a = "time,event,age\n1,0,50\n";
  const refusal = async (...texts: readonly string[]) => {
    const { code, message, where } = await failure(readTable(join(...texts)));
    return [code, message, where];
  };

  test("a missing and an extra column, by file and column", async () => {
    expect(await refusal(a, a, "time,event\n1,0\n")).toEqual([
      "files.columns",
      'not the columns of people/a.csv: missing "age"',
      "people/c.csv",
    ]);
    expect(await refusal(a, "time,event,age,bmi\n1,0,3,4\n")).toEqual([
      "files.columns",
      'not the columns of people/a.csv: extra "bmi"',
      "people/b.csv",
    ]);
    const [, message] = await refusal(a, "time,event,Age\n1,0,3\n");
    expect(message).toBe('not the columns of people/a.csv: missing "age"; extra "Age"');
    const { hint } = await failure(readTable(join(a, a.replaceAll(",", ";"))));
    expect(hint).toContain("by the same sign as people/a.csv");
  });

  test("a file of another kind, an empty one, one with an open quote, and no rows at all", async () => {
    const parquet = new Uint8Array(
      parquetWriteBuffer({ columnData: [{ name: "time", data: [1], type: "DOUBLE" }] }),
    );
    const mixed = joinSources("x/", [fromText("x/a", a), tableSourceFromBytes("x/b", parquet)]);
    expect(await failure(readTable(mixed))).toMatchObject({ code: "files.kinds", where: "x/b" });
    expect(await refusal(a, "")).toEqual(["file.empty", "empty file", "people/b.csv"]);
    expect((await refusal(a, 'time,event,age\n1,0,"5\n')).slice(2)).toEqual(["people/b.csv, row 1"]);
    expect((await refusal("time\n", "time\n"))[0]).toBe("table.no-rows");
    expect(() => joinSources("none/", [])).toThrow("no files");
  });

  test("a type that two Parquet files declare differently; nulls alone go with any", async () => {
    const file = (name: string, column: object) =>
      tableSourceFromBytes(
        name,
        new Uint8Array(
          parquetWriteBuffer({
            columnData: [{ name: "time", data: [1, 2], type: "DOUBLE" }, { name: "sex", ...column } as never],
          }),
        ),
      );
    const text = file("x/a", { data: ["F", "M"], type: "STRING" });
    const number = file("x/b", { data: [0, 1], type: "INT32" });
    const { code, message, where } = await failure(readTable(joinSources("x/", [text, number])));
    expect([code, where]).toEqual(["files.types", 'x/b, column "sex"']);
    expect(message).toBe('number column: "sex" is a text column in x/a');
    const nothing = tableSourceFromBytes(
      "x/c",
      new Uint8Array(
        parquetWriteBuffer({
          columnData: [
            { name: "sex", data: [null] },
            { name: "time", data: [3] },
          ],
          schema: [
            { name: "root", num_children: 2 },
            { name: "sex", type: "INT32", repetition_type: "OPTIONAL", logical_type: { type: "NULL" } },
            { name: "time", type: "DOUBLE", repetition_type: "OPTIONAL" },
          ],
        }),
      ),
    );
    for (const sources of [
      [text, nothing],
      [nothing, text],
    ]) {
      const sex = findColumn(await readTable(joinSources("x/", sources)), "sex");
      expect(sex).toMatchObject({ type: "category", levels: ["F", "M"] });
    }
  });
});

describe("bad cells are named by file and row", () => {
  const rows = Array.from({ length: 30 }, (_, i) => `${i}.25`);
  const texts = (bad: string) => [
    `x\n${rows.join("\n")}`,
    "x\n",
    `x\n1\n${bad}\n3\n${bad}`,
    `x\n${rows.join("\n")}\n${bad}`,
  ];

  test("text among numbers, and a row of another length", async () => {
    const { where } = await failure(readTable(join(...texts("oops"))));
    expect(where).toBe('people/c.csv, rows 2 and 4; people/d.csv, row 31, column "x"');
    const ragged = await failure(readTable(join("x,y\n1,2\n", "x,y\n1,2\n1,2,3\n")));
    expect([ragged.where, ragged.message]).toEqual([
      "people/b.csv, row 2",
      "wrong number of fields: the header has 2, row 2 has 3",
    ]);
  });

  test("read part by part, by the reader and by whoever looks at the rows", async () => {
    const read = async () => {
      const options = { columns: ["x"], number: ["x"], rowsAtOnce: 10 };
      for await (const chunk of readTableChunks(join(...texts("oops")), options)) void chunk;
    };
    expect((await failure(read())).where).toBe(
      'people/c.csv, rows 2 and 4; people/d.csv, row 31, column "x"',
    );
    for await (const chunk of readTableChunks(join("x\n1\n2\n", "x\n3\n"), { columns: ["x"] })) {
      const step = inWholeTable(chunk, () => {
        throw new InputError("odd", { code: "odd", where: 'people/, rows 2 and 3, column "x"' });
      });
      expect((await failure(step)).where).toBe('people/a.csv, row 2; people/b.csv, row 1, column "x"');
    }
  });

  test("more rows than a message names", () => {
    const parts = [
      { name: "a", rows: 21 },
      { name: "b", rows: 9 },
    ];
    const all = Array.from({ length: 30 }, (_, i) => i + 1);
    expect(namePlaces({ parts }, all)).toMatch(/^a, rows 1, 2, .* 19 and 20 \(and 10 more\)$/);
    expect(namePlaces({ parts }, [21, 22])).toBe("a, row 21; b, row 1");
  });
});
