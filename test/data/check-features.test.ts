import { describe, expect, test } from "vitest";
import { checkCells } from "../../src/data/checks/check-cells.ts";
import { checkFeatures, concordanceAlone, findLeaders } from "../../src/data/checks/check-features.ts";
import { checkTable } from "../../src/data/checks/sanity.ts";
import { inspectOutcomes, readOutcomes } from "../../src/data/outcomes/read-outcomes.ts";
import { readTable, readTableChunks, tableSourceFromBytes } from "../../src/data/reading/read-table.ts";
import { concordanceHarrell } from "../../src/stats/concordance/concordance.ts";
import { booleans, brief, categories, numbers, readNamed, simulateCohort, tableOf } from "./sanity-tables.ts";

const MISSING = Number.NaN;
const read = (text: string, options = {}) =>
  readTable(tableSourceFromBytes("t.csv", new TextEncoder().encode(text)), options);

describe("the C-index of one feature", () => {
  test("is Harrell's, in its better direction, ties and censoring as in R", async () => {
    const pbc = await readNamed("pbc");
    const outcomes = readOutcomes(pbc, { time: "time", event: "event" });
    const usable = new Uint8Array(pbc.rows).fill(1);
    const columns = pbc.columns.filter(({ name }) => ["age", "bili", "albumin", "edema"].includes(name));
    const found = concordanceAlone(columns, outcomes, usable);
    for (const [k, column] of columns.entries()) {
      if (column.type !== "number") throw new Error(`${column.name} has to be a number`);
      const { c } = concordanceHarrell(outcomes, column.values);
      if (typeof c !== "number") throw new Error("no C-index");
      expect(found[k]).toEqual({ name: column.name, c: expect.closeTo(Math.max(c, 1 - c), 12) });
    }
  });

  test("a category stands for its rates, missing for the median or for a level", () => {
    const { outcomes } = simulateCohort(400, 0.5, 31);
    const usable = new Uint8Array(400).fill(1);
    const coded = outcomes.event.map((event, row) => (row % 5 === 0 ? 1 - event : event));
    const texts = Array.from(coded, (one) => (one ? "zebra" : "ant"));
    const holes = Array.from(coded, (one) => (one ? null : "ant"));
    const [a, b, c] = concordanceAlone(
      [booleans("a", coded), categories("b", texts), categories("c", holes)],
      outcomes,
      usable,
    );
    expect(b.c).toBe(a.c);
    expect(c.c).toBe(a.c);
    expect(a.c).toBeCloseTo(Number(concordanceHarrell(outcomes, coded).c), 12);
  });

  test("too few events, no answer", () => {
    const outcomes = { time: Float64Array.of(1, 2, 3), event: Uint8Array.of(1, 0, 1) };
    expect(concordanceAlone([numbers("x", [1, 2, 3])], outcomes, Uint8Array.of(1, 1, 1))).toEqual([]);
  });
});

describe("features far above the rest", () => {
  const leaders = (...cs: number[]) => brief(findLeaders(cs.map((c, k) => ({ name: `x${k}`, c }))));

  test("by .05, from .65 on, three at most; a warning from .95 on", () => {
    expect(leaders(0.6, 0.7, 0.64)).toEqual(["note feature.alone x1"]);
    expect(leaders(0.6, 0.649, 0.5)).toEqual([]);
    expect(leaders(0.7, 0.74, 0.66)).toEqual([]);
    expect(leaders(0.71, 0.67, 0.62, 0.6)).toEqual(["note feature.alone x0", "note feature.alone x1"]);
    expect(leaders(0.8, 0.79, 0.78, 0.77, 0.6)).toEqual([]);
    expect(leaders(0.96, 0.6)).toEqual(["warning feature.alone x0"]);
    expect(leaders(0.9)).toEqual([]);
  });

  test("flchain's age, in words", async () => {
    const flchain = await readNamed("flchain");
    const findings = checkFeatures(
      flchain,
      ["age", "kappa", "creatinine"],
      inspectOutcomes(flchain, { time: "futime", event: "death" }),
    );
    expect(findings.map(({ message }) => message)).toEqual([
      "missing cells: creatinine 17 % (1350 of 7874); the training median stands in for numbers (the majority for true/false)",
      "age alone gives a C-index of 0.777, the best of the rest (kappa) 0.669: make sure that it was known at the start",
    ]);
  });
});

test("missing cells: the columns with most of them, categories apart", () => {
  const table = tableOf(
    numbers("time", [1, 2, 3, 4]),
    numbers("event", [1, 0, 1, 0]),
    numbers("x", [1, MISSING, MISSING, 2]),
    categories("c", ["a", null, "b", "a"]),
    numbers("full", [1, 2, 3, 4]),
  );
  const inspected = inspectOutcomes(table, { time: "time", event: "event" });
  const [finding] = checkFeatures(table, ["x", "c", "full"], inspected);
  expect(finding.message).toBe(
    "missing cells: x 50 % (2 of 4), c 25 % (1 of 4); the training median stands in for numbers " +
      "(the majority for true/false), and missing is a level of its own in a category",
  );
  expect(finding.evidence).toEqual({ columns: 2, cells: 3, most: "x", mostCells: 2, rows: 4 });
  expect(checkFeatures(table, ["full"], inspected)).toEqual([]);
});

test("dates of two possible orders are said, where they are features", async () => {
  const table = await read("from,time,event\n1/2/2020,3,1\n2/3/2020,4,0\n");
  const { findings } = checkTable(table, { time: "time", event: "event" });
  expect(findings.map(({ code }) => code)).toEqual(["date.ambiguous"]);
  expect(findings[0].message).toBe(
    "the dates of from could be day/month or month/day: no date of the table tells. They are read as month/day. " +
      "Say --date-order month-first or --date-order day-first, or write dates as 2024-03-01",
  );
});

describe("a text among the numbers of a code", () => {
  const codes = (...texts: readonly string[]) =>
    `stage\n${[...Array.from({ length: 30 }, (_, k) => String((k % 4) + 1)), ...texts].join("\n")}\n`;

  test("makes it a category, and is said with its row", async () => {
    const { columns } = await read(codes("3a"));
    expect(columns[0]).toMatchObject({ type: "category", levels: ["1", "2", "3", "3a", "4"] });
    const [finding] = checkCells(columns[0]);
    expect(finding).toMatchObject({ code: "number.text", level: "warning", column: "stage" });
    expect(finding.message).toBe(
      'stage holds numbers but for 1 of 31 cells (row 31: "3a"), so that it is read as a category of 5 levels. ' +
        "Correct the text, or leave the cell empty; if the column is no number, nothing is wrong",
    );
    expect(finding.evidence).toEqual({ cells: 1, rows: 31, levels: 5, example: "3a" });
    const [placed] = checkCells(columns[0], {
      parts: [
        { name: "a.csv", rows: 20 },
        { name: "b.csv", rows: 11 },
      ],
    });
    expect(placed.message).toContain('(b.csv, row 11: "3a")');
  });

  test("nothing is said of a word, of many texts, and of numbers alone", async () => {
    for (const texts of [["unknown"], ["3a", "3b", "4a", "4b"], ["NA"]]) {
      const { columns } = await read(codes(...texts));
      expect(checkCells(columns[0])).toEqual([]);
    }
  });
});

describe("decimals written with a comma", () => {
  const TEXT = 'id,bmi,place\na,"21,5",x\nb,"30",y\nc,,x\nd,"19,25",y\n';

  test("are said with their counts, and read as numbers where asked for", async () => {
    const plain = await read(TEXT);
    expect(plain.columns[1].type).toBe("category");
    const [finding] = checkCells(plain.columns[1]);
    expect(finding).toMatchObject({ code: "number.comma", level: "warning", column: "bmi" });
    expect(finding.message).toBe(
      "bmi is written with decimal commas in 2 of 3 cells (19,25), and read as a category of 3 levels: " +
        "--number bmi --decimal comma reads it as numbers",
    );
    const asked = await read(TEXT, { decimal: "comma" });
    expect(asked.columns[1]).toMatchObject({
      type: "number",
      values: Float64Array.of(21.5, 30, MISSING, 19.25),
    });
    expect(checkCells(asked.columns[1])).toEqual([]);
  });

  test("the same part by part, and a point where ; separates", async () => {
    const source = tableSourceFromBytes("t.csv", new TextEncoder().encode(TEXT));
    for await (const { table } of readTableChunks(source, { columns: ["bmi"], decimal: "comma" })) {
      expect(table.columns[0]).toMatchObject({
        type: "number",
        values: Float64Array.of(21.5, 30, MISSING, 19.25),
      });
    }
    const german = await read("a;b\n1,5;x\n2,5;y\n");
    expect(german.columns[0]).toMatchObject({ values: Float64Array.of(1.5, 2.5) });
    const pointed = await read("a;b\n1,5;x\n2,5;y\n", { decimal: "point" });
    expect(pointed.columns[0].type).toBe("category");
  });

  test("thousands are not taken for decimals without a word, texts are left alone", () => {
    const [thousands] = checkCells(categories("pay", ["1,250", "12,000,000", "900"]));
    expect(thousands.message).toContain(
      "If they stand between thousands, --number pay --thousands comma reads them",
    );
    expect(checkCells(categories("city", ["Paris, Texas", "12,5", "Rome", "Oslo"]))).toEqual([]);
    expect(checkCells(categories("sex", ["m", "f"]))).toEqual([]);
  });
});

test("integers beyond 2^53 are said with their count", async () => {
  const { columns } = await read("id,x\n9007199254740993,1\n9007199254740992,2\n12,3\n");
  const [finding] = checkCells(columns[0]);
  expect(finding.message).toBe(
    "id has 2 numbers beyond 2^53, such as 9007199254740992: neighbours there are read as one. " +
      "If they are ids or codes, --category id keeps them apart",
  );
  expect(checkCells(columns[1])).toEqual([]);
  const apart = await read("id,x\n9007199254740993,1\n9007199254740992,2\n12,3\n", { category: ["id"] });
  expect(apart.columns[0]).toMatchObject({ levels: ["12", "9007199254740992", "9007199254740993"] });
  expect(checkCells(numbers("edge", [2 ** 53 - 1, -(2 ** 53 - 1)]))).toEqual([]);
});
