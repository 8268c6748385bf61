// Which type a column gets, over all rows: the rules at their edges, overrides, and the second reading.
import { describe, expect, test } from "vitest";
import { InputError } from "../../src/core/errors.ts";
import { TRIAL_LEVELS } from "../../src/data/reading/column-builder.ts";
import { columnFromLevels } from "../../src/data/reading/infer-types.ts";
import { type ReadTableOptions, readTable, tableSourceFromBytes } from "../../src/data/reading/read-table.ts";
import type { Column } from "../../src/data/table.ts";

const encoder = new TextEncoder();

/** The column of a table of one column named x; cells with a delimiter in them must come quoted. */
async function readColumn(cells: readonly string[], options: ReadTableOptions = {}): Promise<Column> {
  const source = tableSourceFromBytes(
    "t.csv",
    encoder.encode(`x,y\n${cells.map((cell) => `${cell},1\n`).join("")}`),
  );
  return (await readTable(source, options)).columns[0];
}

async function failure(cells: readonly string[], options: ReadTableOptions = {}): Promise<InputError> {
  const error: unknown = await readColumn(cells, options).then(
    () => undefined,
    (reason) => reason,
  );
  expect(error).toBeInstanceOf(InputError);
  return error as InputError;
}

function numbers(...values: readonly number[]): Column {
  return { name: "x", type: "number", values: Float64Array.from(values) };
}

function category(levels: readonly string[], ...codes: readonly number[]): Column {
  return { name: "x", type: "category", codes: Int32Array.from(codes), levels };
}

/** 0, 1, 2, … as texts. */
const count = (n: number) => Array.from({ length: n }, (_, k) => String(k));

describe("numbers", () => {
  test("integers with few values stay numbers", async () => {
    expect(await readColumn(["0", "1", "1", "0"])).toEqual(numbers(0, 1, 1, 0));
  });

  test("every way of writing one", async () => {
    expect(
      await readColumn(["1", "-2.5", "+3", ".5", "5.", "1e3", "2E-3", "1.5e+2", " 7 ", '"8"', "-0"]),
    ).toEqual(numbers(1, -2.5, 3, 0.5, 5, 1000, 0.002, 150, 7, 8, -0));
  });

  test.each(["0x10", "0b1", "0o7", "1_000", "1e", ".", "+", "1 000", "1,5", "١", "12px"])(
    "%s is none",
    async (text) => {
      expect((await readColumn([`"${text}"`, "1", "2"])).type).toBe("category");
    },
  );

  test("missing: nothing, NA, NaN, null in any case; N/A is text", async () => {
    const missing = ["", '""', "NA", "na", "NaN", "nan", "NULL", "null", '" na "'];
    expect(await readColumn(["1", ...missing])).toEqual(numbers(1, ...missing.map(() => Number.NaN)));
    expect((await readColumn(["1", "N/A"])).type).toBe("category");
  });

  test("a column with nothing in it is a number column", async () => {
    expect(await readColumn(["", "NA", "null"])).toEqual(numbers(Number.NaN, Number.NaN, Number.NaN));
  });

  test("infinity is refused where the rest is numbers, by any spelling and by overflow", async () => {
    for (const text of ["Inf", "-inf", "Infinity", "1e999", "-1e400"]) {
      const error = await failure(["1", "2", text]);
      expect(error.message).toBe(`infinity in a number column: "x" has "${text}"`);
      expect(error.where).toBe('t.csv, row 3, column "x"');
    }
    const many = [...count(1000), "Inf"]; // the same after the column went on as plain numbers
    expect((await failure(many)).where).toBe('t.csv, row 1001, column "x"');
    expect(await readColumn(["Inf", "low"])).toEqual(category(["Inf", "low"], 0, 1));
    expect(await readColumn(["Inf", "Inf"])).toEqual(category(["Inf"], 0, 0));
  });
});

describe("text among numbers", () => {
  test("at least 90 % numbers, more than 20 of them distinct: refused, by row and value", async () => {
    // 21 distinct numbers of 21, two texts: 21/23 = 91 %
    const error = await failure([...count(21), "abc", "12 mg"]);
    expect(error.message).toBe('text in a number column: "x" has "abc", "12 mg"');
    expect(error.code).toBe("number.text");
    expect(error.where).toBe('t.csv, rows 22 and 23, column "x"');
    expect(error.hint).toContain("--category x");
  });

  test("20 distinct numbers, or fewer than 90 %: a category", async () => {
    expect((await readColumn([...count(20), "abc"])).type).toBe("category");
    // 27 numbers of 30 are 90 %, of 31 they are not
    expect((await failure([...count(27), "a", "b", "c"])).code).toBe("number.text");
    expect((await readColumn([...count(27), "a", "b", "c", "d"])).type).toBe("category");
  });

  test("names at most 20 rows and says how many there are", async () => {
    const cells = [...count(1000), ...Array.from({ length: 50 }, () => "bad")];
    const error = await failure(cells);
    expect(error.message).toBe('text in a number column: "x" has "bad", … 50 cells in all');
    expect(error.where).toContain("rows 1001, 1002,");
    expect(error.where).toContain("1020");
    expect(error.where).not.toContain("1021");
  });

  test("is the same where the texts come first, in between or last, and in few or many rows", async () => {
    for (const rows of [100, TRIAL_LEVELS, 2 * TRIAL_LEVELS, 10_000]) {
      for (const at of [0, rows >> 1, rows - 1]) {
        const cells = count(rows);
        cells[at] = "oops";
        const error = await failure(cells);
        expect(error.message).toBe('text in a number column: "x" has "oops"');
        expect(error.where).toBe(`t.csv, row ${at + 1}, column "x"`);
      }
    }
  });

  test("long texts are shown cut", async () => {
    expect((await failure([...count(30), "z".repeat(100)])).message).toBe(
      `text in a number column: "x" has "${"z".repeat(40)}…"`,
    );
  });
});

describe("the second reading", () => {
  test("a column of numbers that turns out to be a category gets all its texts back", async () => {
    // 40,000 distinct numbers over several blocks, written with leading zeros, then as many texts
    const half = 40_000;
    const cells = [
      ...Array.from({ length: half }, (_, k) => `0${k}`),
      ...Array.from({ length: half }, (_, k) => `t${k % 10}`),
      "NA",
    ];
    let opened = 0;
    const bytes = encoder.encode(`x,y\n${cells.map((cell) => `${cell},1\n`).join("")}`);
    const source = {
      name: "t.csv",
      async *open() {
        opened++;
        yield bytes;
      },
    };
    const table = await readTable(source);
    expect(opened).toBe(3); // the first bytes, then twice
    const [x, y] = table.columns;
    if (x.type !== "category" || y.type !== "number") throw new Error("wrong types");
    expect(x.levels).toHaveLength(half + 10);
    for (let row = 0; row < 2 * half; row++)
      if (x.levels[x.codes[row]] !== cells[row]) throw new Error(`row ${row}`);
    expect(x.codes[2 * half]).toBe(-1);
    expect(y.values).toHaveLength(2 * half + 1);
  });

  test("a source that is not the same the second time is refused", async () => {
    const first = [...count(1000), ...Array.from({ length: 1000 }, () => "t")];
    let opened = 0;
    const source = {
      name: "t.csv",
      async *open() {
        yield encoder.encode(
          `x,y\n${(opened++ < 2 ? first : first.slice(1)).map((cell) => `${cell},1\n`).join("")}`,
        );
      },
    };
    await expect(readTable(source)).rejects.toMatchObject({ code: "file.changed" });
    let reopened = 0;
    const ragged = {
      name: "t.csv",
      async *open() {
        const extra = reopened++ < 2 ? "" : ",2";
        yield encoder.encode(`x,y\n${first.map((cell) => `${cell},1${extra}\n`).join("")}`);
      },
    };
    await expect(readTable(ragged)).rejects.toMatchObject({ code: "file.changed" });
  });
});

describe("booleans and dates", () => {
  test("true and false in any case, and only these", async () => {
    expect(await readColumn(["TRUE", "false", "", "True", "NA"])).toEqual({
      name: "x",
      type: "boolean",
      values: Uint8Array.of(1, 0, 255, 1, 255),
    });
    expect((await readColumn(["T", "F"])).type).toBe("category");
    expect((await readColumn(["true", "0"])).type).toBe("category");
  });

  const days = (...values: readonly number[]) => ({
    name: "x",
    type: "date",
    values: Float64Array.from(values),
  });

  test("dates of every format, missing ones among them", async () => {
    expect(await readColumn(["1970-01-01", "", "2000-02-29", "1969-12-31"])).toEqual(
      days(0, Number.NaN, 11016, -1),
    );
    expect(await readColumn(["1970/01/02", "1970/1/3"])).toEqual(days(1, 2));
    expect(await readColumn(["02.01.1970", "3.1.1970"])).toEqual(days(1, 2));
    expect(
      await readColumn(["1970-01-01T06:00:00Z", "1970-01-02 12:00", "1970-01-01T00:00:00.5+01:00"]),
    ).toEqual(days(0.25, 1.5, -3599.5 / 86400));
  });

  test("dashes around day and month are read as slashes are", async () => {
    expect(await readColumn(["01-02-1970", "13-01-1970"])).toEqual(days(31, 12)); // 1 February, 13 January
    expect(await readColumn(["01-02-1970", "01-13-1970"])).toEqual(days(1, 12)); // 2 January, 13 January
  });

  test("slashes are month first unless a row shows otherwise", async () => {
    expect(await readColumn(["1/2/1970", "3/4/1970"])).toEqual({
      ...days(1, 62), // 2 January, 4 March
      guessedOrder: "month-first",
    });
    expect(await readColumn(["1/1/1970", "2/2/1970"])).toEqual(days(0, 32)); // the same in either order
    expect(await readColumn(["1/2/1970", "1/13/1970"])).toEqual(days(1, 12)); // 13 January
    expect(await readColumn(["1/2/1970", "13/2/1970"])).toEqual(days(31, 43)); // 1 and 13 February
    expect((await readColumn(["1/13/1970", "13/1/1970"])).type).toBe("category");
  });

  test("a column that cannot tell follows those of its table that do", async () => {
    const read = async (...lines: string[]) => {
      const bytes = new TextEncoder().encode(["from,to", ...lines].join("\n"));
      return (await readTable(tableSourceFromBytes("t", bytes))).columns;
    };
    // 1 February to 13 February, 3 April to 4 April
    expect(await read("1/2/1970,13/2/1970", "3/4/1970,4/4/1970")).toEqual([
      { ...days(31, 92), name: "from" },
      { ...days(43, 93), name: "to" },
    ]);
    const [from, to] = await read("1/2/1970,1/3/1970", "3/4/1970,4/4/1970");
    expect([from, to]).toMatchObject([{ guessedOrder: "month-first" }, { guessedOrder: "month-first" }]);
  });

  test("what the calendar does not have is text", async () => {
    for (const text of [
      "2023-02-29",
      "2023-13-01",
      "31.04.2023",
      "2023-1-1",
      "2023-01-01T25:00",
      "13/13/2023",
    ]) {
      expect((await readColumn(["2023-01-01", text])).type, text).toBe("category");
    }
  });
});

describe("categories", () => {
  test("levels ascend by code unit, or as numbers where all are numbers", async () => {
    expect(await readColumn(["b", "a", "B", "10", "b"])).toEqual(
      category(["10", "B", "a", "b"], 3, 2, 1, 0, 3),
    );
    const options = { category: ["x"] };
    expect(await readColumn(["10", "9", "-1", "10"], options)).toEqual(
      category(["-1", "9", "10"], 2, 1, 0, 2),
    );
  });

  test("asked for, they keep the text as it is written", async () => {
    expect(await readColumn(["007", "7", "07", "NA"], { category: ["x"] })).toEqual(
      category(["007", "07", "7"], 0, 2, 1, -1),
    );
    expect(await readColumn(["TRUE", "true"], { category: ["x"] })).toEqual(category(["TRUE", "true"], 0, 1));
    expect(await readColumn(["1e999", "Inf"], { category: ["x"] })).toEqual(category(["1e999", "Inf"], 0, 1));
    expect((await readColumn(["2020-01-01"], { category: ["x"] })).type).toBe("category");
    const many = await readColumn(count(5000), { category: ["x"] });
    if (many.type !== "category") throw new Error(many.type);
    expect(many.levels).toEqual(count(5000));
  });

  test("a number asked for is a number, or an error that names the rows", async () => {
    expect(await readColumn(["1", "", "3"], { number: ["x"] })).toEqual(numbers(1, Number.NaN, 3));
    const error = await failure(["1", "two", "3", "4 "], { number: ["x"] });
    expect(error.message).toBe('text in a number column: "x" has "two"');
    expect(error.where).toBe('t.csv, row 2, column "x"');
    expect(error.hint).not.toContain("--category");
    expect((await failure(["true", "false"], { number: ["x"] })).code).toBe("number.text");
  });
});

describe("decimal commas", () => {
  async function read(cells: readonly string[]): Promise<Column> {
    const source = tableSourceFromBytes(
      "t.csv",
      encoder.encode(`x;y\n${cells.map((cell) => `${cell};1\n`).join("")}`),
    );
    return (await readTable(source)).columns[0];
  }

  test("are read where the delimiter is a semicolon", async () => {
    expect(await read(["1,5", "2", "-0,25", "1,5e2"])).toEqual(numbers(1.5, 2, -0.25, 150));
    expect(await read(["1.5", "2"])).toEqual(numbers(1.5, 2));
  });

  test("and in long columns, whenever the first one comes", async () => {
    const values = Array.from({ length: 5000 }, (_, k) => (k < 1000 ? k : k + 0.5));
    expect(await read(values.map((value) => String(value).replace(".", ",")))).toEqual(numbers(...values));
    expect(await read(values.map(String))).toEqual(numbers(...values));
  });

  test("but not both marks in one column", async () => {
    expect((await read(["1,5", "2.5"])).type).toBe("category");
    const mixed = Array.from({ length: 5000 }, (_, k) => (k === 4321 ? "7.5" : `${k},5`));
    await expect(read(mixed)).rejects.toMatchObject({ where: 't.csv, row 4322, column "x"' });
    expect((await readColumn(['"1,5"', '"2,5"'])).type).toBe("category");
  });
});

test("a column can also be decided from its levels alone", () => {
  const cells = { table: "t", name: "x", forced: undefined, mark: "." } as const;
  expect(columnFromLevels({ ...cells, levels: ["2", "1"], codes: Int32Array.of(0, 1, -1, 0) })).toEqual(
    numbers(2, 1, Number.NaN, 2),
  );
});
