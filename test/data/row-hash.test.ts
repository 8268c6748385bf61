// A row's hash is that of its cells: whatever the order of rows and columns, and the types they were read as.
import { expect, test } from "vitest";
import { readTable, tableSourceFromBytes } from "../../src/data/reading/read-table.ts";
import { hashRows, orderByHash } from "../../src/data/row-hash.ts";
import { selectRows, type Table } from "../../src/data/table.ts";

const read = (text: string, options: Parameters<typeof readTable>[1] = {}): Promise<Table> =>
  readTable(tableSourceFromBytes("rows.csv", new TextEncoder().encode(text)), options);

const TEXT =
  "age,stage,smokes,seen,town\n61,1,true,2020-03-31,Ulm\n-0,02,false,,NA\n61.5,3,true,2021-01-01,Bonn\n";

const listed = ({ high, low }: ReturnType<typeof hashRows>) =>
  Array.from(high, (word, row) => `${word.toString(16)} ${low[row].toString(16)}`);

test("model files hold these numbers: another hash is another format", async () => {
  expect(listed(hashRows(await read(TEXT)))).toMatchInlineSnapshot(`
    [
      "7c388174 feb3bb94",
      "9dd98f7d c4ad6fd",
      "52d7a71d 777f8b87",
    ]
  `);
});

test("columns in another order, or read as other types, are the same rows", async () => {
  const table = await read(TEXT);
  const hashes = listed(hashRows(table));
  expect(new Set(hashes).size).toBe(3);
  expect(listed(hashRows({ ...table, columns: table.columns.toReversed() }))).toEqual(hashes);
  const retyped = await read(TEXT, { category: ["age", "stage", "smokes"] });
  expect(retyped.columns.map(({ type }) => type)).not.toEqual(table.columns.map(({ type }) => type));
  expect(listed(hashRows(retyped))).toEqual(hashes);
  const written = TEXT.replace("61,1,true", "6.1e1,1.0,TRUE").replace("-0,02", "0,2");
  expect(listed(hashRows(await read(written)))).toEqual(hashes);
  const quoted = TEXT.replace("Ulm", '"Ulm"').replace("NA", "");
  expect(listed(hashRows(await read(quoted)))).toEqual(hashes);
});

test("every cell counts, and its column", async () => {
  const hashes = listed(hashRows(await read(TEXT)));
  for (const [from, to] of [
    ["61,1", "62,1"],
    ["true,2020", "false,2020"],
    ["2020-03-31", "2020-03-30"],
    ["Ulm", "ulm"],
    ["-0,02", ",02"],
  ]) {
    const changed = listed(hashRows(await read(TEXT.replace(from, to))));
    expect(changed.filter((hash, row) => hash !== hashes[row])).toHaveLength(1);
  }
  const renamed = await read(TEXT.replace("town", "city"));
  expect(listed(hashRows(renamed)).filter((hash, row) => hash === hashes[row])).toEqual([]);
  const [one, two] = [await read("a,b\n1,2\n"), await read("a,b\n2,1\n")];
  expect(listed(hashRows(one))).not.toEqual(listed(hashRows(two)));
});

test("only the named columns count, and rows keep their hashes wherever they stand", async () => {
  const table = await read(TEXT);
  const some = listed(hashRows(table, ["town", "age", "age"]));
  const without = { ...table, columns: table.columns.filter(({ name }) => ["age", "town"].includes(name)) };
  expect(listed(hashRows(without))).toEqual(some);
  const turned = listed(hashRows(selectRows(table, [2, 0, 1]), ["age", "town"]));
  expect(turned).toEqual([some[2], some[0], some[1]]);
  expect(() => hashRows(table, ["none"])).toThrow('missing column: "none"');
});

test("the order is ascending in 64 bits, and equal rows keep theirs", () => {
  const high = Uint32Array.of(5, 0xffffffff, 5, 0, 5, 0x10000);
  const low = Uint32Array.of(7, 0, 0xffff0000, 9, 7, 1);
  expect(Array.from(orderByHash({ high, low }))).toEqual([3, 0, 4, 2, 5, 1]);
});

test("bits of random rows are even, and no two of 100,000 rows meet", () => {
  const values = Float64Array.from({ length: 100_000 }, (_, row) => row);
  const { high, low } = hashRows({
    name: "t",
    rows: 100_000,
    columns: [{ name: "x", type: "number", values }],
  });
  for (const words of [high, low]) {
    for (let bit = 0; bit < 32; bit++) {
      const ones = words.reduce((sum, word) => sum + ((word >>> bit) & 1), 0);
      expect(Math.abs(ones - 50_000)).toBeLessThan(4.5 * Math.sqrt(25_000));
    }
  }
  expect(new Set(Array.from(high, (word, row) => word * 2 ** 21 + (low[row] >>> 11))).size).toBe(100_000);
});
