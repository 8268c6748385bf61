// Marks before decimals and between thousands: what a table's own evidence decides, what stays in doubt, what is said.
import { describe, expect, test } from "vitest";
import { joinSources } from "../../src/data/reading/join-sources.ts";
import {
  type ReadTableOptions,
  readTable,
  readTableChunks,
  tableSourceFromBytes,
} from "../../src/data/reading/read-table.ts";
import { findColumn, type NumberColumn, type Table } from "../../src/data/table.ts";

const source = (text: string, name = "t.csv") => tableSourceFromBytes(name, new TextEncoder().encode(text));

/** A table of these columns, whose fields are separated so. */
function write(columns: Readonly<Record<string, readonly string[]>>, separator = ","): string {
  const names = Object.keys(columns);
  const [first] = Object.values(columns);
  const quote = (cell: string) => (cell.includes(separator) ? `"${cell}"` : cell);
  const lines = first.map((_, row) => names.map((name) => quote(columns[name][row])).join(separator));
  return `${[names.join(separator), ...lines].join("\n")}\n`;
}

const read = (
  columns: Readonly<Record<string, readonly string[]>>,
  separator = ",",
  options: ReadTableOptions = {},
) => readTable(source(write(columns, separator)), options);

/** Of a column: its values, and whether they are thousands ("!" where that is said), decimals, or in doubt. */
function judge(table: Table, name: string): readonly [readonly (number | string)[], string] {
  const column = findColumn(table, name);
  if (column.type === "category") return [column.levels, "text"];
  const { values, marks } = column as NumberColumn;
  const said = marks === undefined ? "" : marks.isDoubtful ? "doubt" : "thousands";
  return [[...values], said];
}

describe("a point before three digits", () => {
  const DAYS = ["917", "1.029", "30"];

  test("is a thousands mark where the table writes decimals with a comma", async () => {
    const table = await read({ time: DAYS, age: ["61,5", "70,1", "44"] }, ";");
    expect(judge(table, "time")).toEqual([[917, 1029, 30], "thousands"]);
    expect(judge(table, "age")).toEqual([[61.5, 70.1, 44], ""]);
    expect((findColumn(table, "time") as NumberColumn).marks).toEqual({
      mark: "point",
      isDoubtful: false,
      text: "1.029",
      row: 2,
      reason: "the table writes decimals with a comma, as in 61,5",
    });
  });

  test.each([
    [";", "a semicolon allows both"],
    [",", "a whole number of three digits beside it would be a decimal without decimals"],
    ["\t", "the same with tabs"],
  ])("is in doubt beside 917, separator %j: %s", async (separator) => {
    const table = await read({ time: DAYS, sex: ["f", "m", "f"] }, separator);
    expect(judge(table, "time")).toEqual([[917, 1.029, 30], "doubt"]);
    expect((findColumn(table, "time") as NumberColumn).marks?.reason).toBe(
      "the column also has 917, and no other number tells",
    );
  });

  test.each([
    ["measured to three decimals", ["1.029", "3.917", "12.500"]],
    ["a value below 1", ["1.029", "0.917", "2.500"]],
    ["another number of decimals", ["1.029", "917", "2.5"]],
    ["a whole number that would have had a mark", ["1.029", "917", "2917"]],
    ["whole numbers below 100", ["1.029", "12", "7"]],
    ["four digits before the mark", ["1.029", "917", "2917.125"]],
    ["an exponent", ["1.029", "917", "1.5e3"]],
  ])("stands before decimals in a table of commas: %s", async (_, x) => {
    const table = await read({ x, sex: ["f", "m", "f"] });
    expect(judge(table, "x")).toEqual([x.map(Number), ""]);
  });

  test("alone in a table of semicolons is in doubt; another point that tells settles it", async () => {
    const x = ["1.029", "3.917", "12.500"];
    expect(judge(await read({ x, n: ["1", "2", "3"] }, ";"), "x")[1]).toBe("doubt");
    expect(judge(await read({ x, n: ["1.5", "2", "3"] }, ";"), "x")).toEqual([[1.029, 3.917, 12.5], ""]);
    // Both marks before decimals somewhere: the table is of two hands.
    const both = await read({ x, n: ["1.5", "2", "3"], m: ["1,5", "2", "3"] }, ";");
    expect(judge(both, "x")[1]).toBe("doubt");
    expect(judge(both, "m")).toEqual([[1.5, 2, 3], ""]);
  });

  test("beside decimal commas in quotation marks, in a table of commas, is in doubt", async () => {
    const table = await read({ time: ["1.029", "2.917", "3.004"], age: ["61,5", "70,1", "44,2"] });
    expect(judge(table, "time")[1]).toBe("doubt");
    expect(judge(table, "age")[1]).toBe("text");
  });

  test("and plain thousands in one column are in doubt", async () => {
    const table = await read({ time: ["917", "1.029", "2917"], age: ["61,5", "70,1", "44"] }, ";");
    expect(judge(table, "time")[1]).toBe("doubt");
  });
});

describe("a comma before three digits", () => {
  test("in a table of semicolons", async () => {
    const time = ["917", "1,029", "30"];
    expect(judge(await read({ time, n: ["1", "2", "3"] }, ";"), "time")).toEqual([[917, 1.029, 30], "doubt"]);
    const measured = await read({ time: ["1,029", "3,917", "2,001"], n: ["1,5", "2", "3"] }, ";");
    expect(judge(measured, "time")).toEqual([[1.029, 3.917, 2.001], ""]);
    const points = await read({ time, n: ["1.5", "2", "3"] }, ";");
    expect(judge(points, "time")).toEqual([[917, 1029, 30], "thousands"]);
  });

  test("in quotation marks in a table of commas stays text until somebody says what it is", async () => {
    const columns = { time: ["917", "1,029", "30"], n: ["1", "2", "3"] };
    expect(judge(await read(columns), "time")[1]).toBe("text");
    expect(judge(await read(columns, ",", { thousands: "comma" }), "time")).toEqual([[917, 1029, 30], ""]);
    expect(judge(await read(columns, ",", { decimal: "comma" }), "time")).toEqual([[917, 1.029, 30], ""]);
    expect(judge(await read(columns, ",", { decimal: "point" }), "time")).toEqual([
      [917, 1029, 30],
      "thousands",
    ]);
  });
});

describe("two marks, or two groups", () => {
  test.each([
    ["1.234,5", 1234.5, ";"],
    ["1,234.5", 1234.5, ";"],
    ["1.234.567", 1234567, ";"],
    ["1,234,567", 1234567, ","],
    ["-12.345,25", -12345.25, "\t"],
  ])("%s has one meaning, and decides its column", async (text, value, separator) => {
    const mark = text.replace("-", "").match(/[.,]/)?.[0] ?? "";
    const table = await read({ x: [text, `2${mark}001`, "917"], n: ["1", "2", "3"] }, separator);
    expect(judge(table, "x")).toEqual([[value, 2001, 917], "thousands"]);
  });

  test("groups of other lengths are no numbers", async () => {
    for (const text of ["1.23.456", "1,2345,6", "01.234.567", "1.234,567,8"])
      expect(judge(await read({ x: [text, "5", "6"], n: ["a", "b", "c"] }, ";"), "x")[1]).toBe("text");
  });
});

describe("what the caller says", () => {
  const columns = { time: ["917", "1.029", "30"], n: ["1", "2", "3"] };

  test.each([
    [{ decimal: "point" }, 1.029, ""],
    [{ thousands: "none" }, 1.029, ""],
    [{ thousands: "comma" }, 1.029, ""],
    [{ thousands: "space" }, 1.029, ""],
    [{ thousands: "point" }, 1029, ""],
    [{ thousands: "point", decimal: "comma" }, 1029, ""],
    [{ decimal: "comma" }, 1029, "thousands"],
  ] as const)("%j", async (options, value, said) => {
    for (const separator of [",", ";", "\t"])
      expect(judge(await read(columns, separator, options), "time")).toEqual([[917, value, 30], said]);
  });

  test("a column whose points have one meaning only keeps it", async () => {
    const lab = { ...columns, lab: ["3.14", "0.917", "2"] };
    const table = await read(lab, ";", { thousands: "point" });
    expect(judge(table, "time")[0]).toEqual([917, 1029, 30]);
    expect(judge(table, "lab")).toEqual([[3.14, 0.917, 2], ""]);
  });

  test("blanks and apostrophes between thousands", async () => {
    for (const between of [" ", "\u00a0", "\u202f", "'", "\u2019"]) {
      const x = ["917", `1${between}029`, `12${between}345${between}678,5`];
      const table = await read({ x, n: ["1,5", "2", "3"] }, ";", { thousands: "space" });
      expect(judge(table, "x")).toEqual([[917, 1029, 12345678.5], ""]);
      expect(judge(await read({ x, n: ["1", "2", "3"] }, ";"), "x")[1]).toBe("text");
    }
    const many = Array.from({ length: 60 }, (_, k) => (k < 57 ? String(k) : `1 0${k}`));
    await expect(read({ x: many })).rejects.toMatchObject({
      code: "number.text",
      hint: "--thousands space reads it as a number; if the column is no number, pass --category x",
    });
  });

  test("one mark cannot be both", async () => {
    await expect(read(columns, ";", { decimal: "point", thousands: "point" })).rejects.toMatchObject({
      code: "option.conflict",
      message: "a point cannot stand both before decimals and between thousands",
    });
  });
});

describe("long columns, parts and several files", () => {
  const N = 3000;
  const days = Array.from({ length: N }, (_, k) => 100 + 7 * k);
  const grouped = days.map((day) => (day < 1000 ? String(day) : String(day).replace(/(\d{3})$/, ".$1")));
  const ages = days.map((_, k) => `${40 + (k % 30)},${k % 10}`);

  test("are read anew with their marks; values and their row are the same", async () => {
    const table = await read({ time: grouped, age: ages }, ";");
    expect(judge(table, "time")).toEqual([days, "thousands"]);
    expect((findColumn(table, "time") as NumberColumn).marks).toMatchObject({ text: "1.003", row: 130 });
    const doubtful = await read({ time: grouped, n: days.map(() => "1") }, ";");
    expect(judge(doubtful, "time")[1]).toBe("doubt");
    expect((findColumn(doubtful, "time") as NumberColumn).marks).toMatchObject({ text: "1.003", row: 130 });
    const forced = await read({ time: grouped, age: ages }, ";", { number: ["time"] });
    expect(judge(forced, "time")).toEqual([days, "thousands"]);
  });

  test("what tells may come last, in another column or in this one", async () => {
    const late = { time: grouped, age: ages.map((age, k) => (k === N - 1 ? age : "50")) };
    expect(judge(await read(late, ";"), "time")).toEqual([days, "thousands"]);
    const own = grouped.map((text, k) => (k === N - 1 ? "2.5" : text));
    const table = await read({ time: own, n: days.map(() => "1") }, ";");
    expect(judge(table, "time")).toEqual([own.map(Number), ""]);
    // A single group among numbers that were already read without texts kept.
    const whole = days.map((_, k) => String(100 + (k % 700)));
    const one = await read({ x: whole.map((text, k) => (k === N - 2 ? "1.234" : text)) });
    expect(judge(one, "x")[1]).toBe("doubt");
    expect((findColumn(one, "x") as NumberColumn).marks).toMatchObject({ text: "1.234", row: N - 1 });
  });

  const parts = async (text: string, options: ReadTableOptions = {}, rowsAtOnce = 500) => {
    const chunks: Table[] = [];
    const columns = ["time", "age"];
    // Each part as one block: blocks are a quarter of a million bytes.
    const padded = text.replaceAll("\n", `;${"x".repeat(200)}\n`);
    for await (const { table } of readTableChunks(source(padded), { columns, rowsAtOnce, ...options }))
      chunks.push(table);
    return chunks;
  };

  test("parts agree with the whole where the first of them can tell, and refuse where it cannot", async () => {
    const text = write({ time: grouped, age: ages }, ";");
    await expect(parts(text)).rejects.toMatchObject({ code: "number.marks" });
    for (const options of [{ thousands: "point" }, { decimal: "comma" }] as const) {
      const found = await parts(text, options);
      expect(found.length).toBeGreaterThan(1);
      expect(found.flatMap((table) => [...(findColumn(table, "time") as NumberColumn).values])).toEqual(days);
    }
    const short = write({ time: grouped.slice(0, 200), age: ages.slice(0, 200) }, ";");
    const [table] = await parts(short);
    expect(judge(table, "time")).toEqual([days.slice(0, 200), "thousands"]);
    const [doubtful] = await parts(write({ time: grouped.slice(0, 200), age: days.map(String) }, ";"));
    expect(judge(doubtful, "time")[1]).toBe("doubt");
    const pointed = await parts(text, { decimal: "point", category: ["age"] });
    expect(pointed.flatMap((one) => [...(findColumn(one, "time") as NumberColumn).values])).toEqual(
      grouped.map(Number),
    );
  });

  test("a part that contradicts an earlier one is refused", async () => {
    const time = days.map((_, k) => (k === 5 ? "1.029" : k < N - 5 ? "2917" : "1,5"));
    await expect(parts(write({ time, age: days.map(String) }, ";"))).rejects.toMatchObject({
      code: "number.marks",
      message: '"time" has a point that may stand before decimals or between thousands',
    });
  });

  test("several files are one table", async () => {
    const half = (from: number, to: number) =>
      source(
        write(
          { time: grouped.slice(from, to), age: from === 0 ? days.slice(0, to).map(() => "50") : ages },
          ";",
        ),
      );
    const joined = joinSources("both", [half(0, 1000), half(1000, N)]);
    expect(judge(await readTable(joined), "time")).toEqual([days, "thousands"]);
  });
});
