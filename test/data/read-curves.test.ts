import { readFileSync } from "node:fs";
import { describe, expect, test } from "vitest";
import { InputError } from "../../src/core/errors.ts";
import { type ReadCurvesOptions, RISE_TOLERANCE, readCurves } from "../../src/data/curves/read-curves.ts";
import { readTable, tableSourceFromBytes } from "../../src/data/reading/read-table.ts";

const readText = (text: string) =>
  readTable(tableSourceFromBytes("other.csv", new TextEncoder().encode(text)));
const read = async (lines: readonly string[], options?: ReadCurvesOptions) =>
  readCurves(await readText(`${lines.join("\n")}\n`), options);

async function refusal(lines: readonly string[], options?: ReadCurvesOptions): Promise<unknown> {
  try {
    await read(lines, options);
  } catch (error) {
    expect(error).toBeInstanceOf(InputError);
    return error;
  }
  throw new Error("was not refused");
}

describe("readCurves", () => {
  test("takes S columns in any order, bin, event, and keeps the rest", async () => {
    const lines = ["sex,S2,event,S10x,S1,bin,S3", "F,0.8,1,a,0.9,2,0.1", "M,0.5,0,b,1,3,0.5"];
    const { curves, outcomes, others } = await read(lines);
    expect(curves).toMatchObject({ N: 2, T: 3 });
    expect([...curves.survival]).toEqual([0.9, 0.8, 0.1, 1, 0.5, 0.5]);
    expect(outcomes.T).toBe(3);
    expect([...outcomes.bin]).toEqual([2, 3]);
    expect([...outcomes.event]).toEqual([1, 0]);
    expect(others).toMatchObject({ name: "other.csv", rows: 2 });
    expect(others.columns.map((column) => column.name)).toEqual(["sex", "S10x"]);
  });

  test("takes times with their horizon, and an event after it as censored", async () => {
    const lines = ["days,died,S1,S2", "0,true,1,0.5", "5,true,1,0.5", "5.5,false,1,0.5", "12,true,1,0.5"];
    const { outcomes, others } = await read(lines, { time: "days", event: "died", horizon: 10 });
    expect([...outcomes.bin]).toEqual([1, 1, 2, 2]);
    expect([...outcomes.event]).toEqual([1, 1, 0, 0]);
    expect(others.columns).toEqual([]);
  });

  test("reads other programs' files: 500 rows of nwtco on 102 bins", async () => {
    const path = new URL("../oracles/pred/nwtco_stride500_cox.csv.gz", import.meta.url);
    const table = await readTable(tableSourceFromBytes("cox.csv", readFileSync(path)));
    const { curves, outcomes, others } = readCurves(table, { bin: "bin", event: "event" });
    expect(curves).toMatchObject({ N: 500, T: 102 });
    expect([...curves.survival.subarray(0, 3)]).toEqual([0.9903479089, 0.964189473, 0.9289707228]);
    expect([outcomes.bin[0], outcomes.event[0], outcomes.bin[1]]).toEqual([100, 0, 86]);
    expect(others.columns.map((column) => column.name)).toEqual([
      "row",
      "histol",
      "stage",
      "study",
      "age_group",
    ]);
  });

  test("names the columns missing between S1 and ST", async () => {
    expect(await refusal(["bin,event,S1,S3,S6", "1,1,1,1,1"])).toMatchObject({
      message: "missing columns between S1 and S6: S2, S4, S5",
      code: "curves.hole",
      where: "other.csv",
    });
    expect(await refusal(["bin,event,S1,S1000000000", "1,1,1,1"])).toMatchObject({
      message: expect.stringMatching(
        /^missing columns between S1 and S1000000000: S2, .*, S21 \(and 999999978 more\)$/,
      ),
    });
    expect(await refusal(["bin,event,s1", "1,1,1"])).toMatchObject({
      message: "no survival columns: S1, S2, …",
      hint: expect.stringContaining("expected columns S1, S2, … ST"),
    });
  });

  test("says what it expects where bin or event is not there", async () => {
    expect(await refusal(["event,S1", "1,1"])).toMatchObject({
      message: 'missing column: "bin"',
      hint: expect.stringContaining('"bin" (1 to T), or a time column and the horizon'),
    });
    expect(await refusal(["bin,S1", "1,1"])).toMatchObject({ message: 'missing column: "event"' });
    expect(await refusal(["bin,event,S1", "1,1,1"], { event: "died" })).toMatchObject({
      message: 'missing column: "died" (have bin, event, S1)',
    });
  });

  test.each<ReadCurvesOptions>([{ time: "t" }, { horizon: 3 }, { bin: "bin", time: "t", horizon: 3 }])(
    "%o is no way to say the outcome",
    async (options) => {
      expect(await refusal(["bin,t,event,S1", "1,1,1,1"], options)).toMatchObject({
        code: "outcomes.options",
      });
    },
  );

  test("names rows of events that are not 0 or 1", async () => {
    const lines = ["bin,event,S1", "1,1,0.9", "1,2,0.9", "1,,0.9", "1,0,0.9"];
    expect(await refusal(lines)).toMatchObject({
      message: 'event is not 0 or 1: "2"',
      code: "event.invalid",
      where: 'other.csv, rows 2 and 3, column "event"',
    });
    const words = ["bin,event,S1", "1,true,0.9", "1,dead,0.9", "1,1,0.9"];
    expect(await refusal(words)).toMatchObject({
      message: 'event is not 0 or 1: "dead"',
      where: 'other.csv, row 2, column "event"',
    });
  });

  test("names rows of bins that are none, and of times", async () => {
    const lines = ["bin,event,S1,S2", "0,1,1,1", "1,1,1,1", "3,1,1,1", "1.5,1,1,1", ",1,1,1"];
    expect(await refusal(lines)).toMatchObject({
      message: 'bin is not a whole number from 1 to 2: "0"',
      where: 'other.csv, rows 1, 3, 4 and 5, column "bin"',
    });
    const times = ["t,event,S1", "-1,1,1", "1,1,1", ",0,1"];
    expect(await refusal(times, { time: "t", horizon: 2 })).toMatchObject({
      message: 'time is not a number from 0 up: "-1"',
      where: 'other.csv, rows 1 and 3, column "t"',
    });
  });

  test("names rows and columns of missing values and texts", async () => {
    const lines = ["bin,event,S1,S2", "1,1,0.9,0.8", "1,1,0.9,", "1,1,,0.8", "1,0,0.9,0.8"];
    expect(await refusal(lines)).toMatchObject({
      message: "survival is missing",
      code: "curves.missing",
      where: 'other.csv, rows 2 and 3, columns "S2", "S1"',
    });
    const texts = ["bin,event,S1", "1,1,0.9", "1,0,high", "1,0,0.5"];
    expect(await refusal(texts)).toMatchObject({
      message: 'survival is not a number: "high"',
      where: 'other.csv, row 2, column "S1"',
    });
    expect(await refusal(["bin,event,S1", "1,1,true", "1,0,false"])).toMatchObject({
      message: 'survival is not a number: "true"',
      where: 'other.csv, rows 1 and 2, column "S1"',
    });
  });

  test("names rows outside 0 to 1", async () => {
    const lines = ["bin,event,S1,S2", "1,1,0.9,-0.01", "1,1,90,80", "1,0,1,0"];
    expect(await refusal(lines)).toMatchObject({
      message: "survival outside 0 to 1: -0.01",
      code: "curves.range",
      where: 'other.csv, rows 1 and 2, columns "S2", "S1"',
    });
  });

  test("names rows whose curve rises, and forgives rounding but leaves it as it is", async () => {
    const lines = ["bin,event,S1,S2,S3", "1,1,0.9,0.8,0.7", "1,1,0.5,0.4,0.6", "1,0,0.5,0.6,0.7"];
    expect(await refusal(lines)).toMatchObject({
      message: "survival rises: from 0.4 to 0.6",
      code: "curves.rise",
      where: 'other.csv, rows 2 and 3, columns "S3", "S2"',
    });
    expect(RISE_TOLERANCE).toBe(1e-9);
    const rounded = await read(["bin,event,S1,S2", "1,1,0.5,0.5000000009"]);
    expect([...rounded.curves.survival]).toEqual([0.5, 0.5000000009]);
    expect(await refusal(["bin,event,S1,S2", "1,1,0.5,0.5000000011"])).toMatchObject({ code: "curves.rise" });
  });

  test("names twenty rows of many", async () => {
    const bad = Array.from({ length: 30 }, () => "1,1,2");
    expect(await refusal(["bin,event,S1", ...bad])).toMatchObject({
      where: expect.stringMatching(/^other\.csv, rows 1, .* 20 \(and 10 more\), column "S1"$/),
    });
  });
});

describe("columns named by their times", () => {
  const options = { time: "days", event: "died" };

  test("S(t), S_t and plain numbers, in any order; a row's time goes up to the next of them", async () => {
    for (const [ten, twenty, forty] of [
      ["S(10)", "S(20)", "S(40)"],
      ["S_10", "S_20.0", "S_4e1"],
      ["10", "20", "40.00"],
    ]) {
      const lines = [`days,died,${forty},sex,${ten},${twenty}`, "0,1,0.1,F,0.9,0.5", "10,1,0.1,F,0.9,0.5"];
      lines.push("10.5,0,0.1,M,0.9,0.5", "20,1,0.1,M,0.9,0.5", "40,1,0.1,M,0.9,0.5", "41,1,0.1,M,0.9,0.5");
      const { curves, outcomes, others, grid, ...rest } = await read(lines, options);
      expect([...curves.survival.subarray(0, 3)]).toEqual([0.9, 0.5, 0.1]);
      expect([...grid.edges]).toEqual([0, 10, 20, 40]);
      expect([...outcomes.bin]).toEqual([1, 1, 2, 2, 3, 3]);
      expect([...outcomes.event]).toEqual([1, 1, 0, 1, 1, 0]);
      expect(others.columns.map(({ name }) => name)).toEqual(["sex"]);
      expect(rest).toMatchObject({ timeColumn: "days", hasTimes: true });
    }
  });

  test("steps at a time are taken there: the observed curve is read as exactly right", async () => {
    const days = [3, 5, 5, 8, 9, 12, 15, 15, 15, 20];
    const times = [5, 9, 15, 20];
    const survival = times.map((t) => days.filter((day) => day > t).length / days.length);
    const { curves, outcomes } = await read([
      `time,event,${times.map((t) => `S(${t})`)}`,
      ...days.map((day) => `${day},1,${survival}`),
    ]);
    const after = times.map((_, k) => outcomes.bin.filter((bin) => bin > k + 1).length / days.length);
    expect(after).toEqual([0.7, 0.5, 0.1, 0]);
    expect([...curves.survival.subarray(0, 4)]).toEqual(after);
  });

  test("time 0 is left out when it is 1, and bins are as before where S1 … ST are there too", async () => {
    const { curves, grid } = await read(["time,event,S(0),S(5)", "3,1,1,0.5", "4,0,1.0,0.5"]);
    expect([curves.T, ...grid.edges]).toEqual([1, 0, 5]);
    const old = await read(["bin,event,S1,S(5)", "1,1,0.5,0.7"]);
    expect([old.curves.T, old.hasTimes, old.others.columns[0].name]).toEqual([1, false, "S(5)"]);
  });

  test("too few times are warned of", async () => {
    const rows = Array.from({ length: 200 }, (_, k) => `${k + 1},${k % 2},0.5,0.4`);
    const { notes } = await read(["time,event,S(190),S(200)", ...rows]);
    expect(notes).toEqual([
      expect.stringMatching(/^2 survival columns raise Kaplan-Meier at the end from 0\.0\d+ to 0\.\d+/),
    ]);
  });

  test("what cannot be read is said", async () => {
    const said = async (lines: readonly string[], given = {}) => refusal(lines, given);
    expect(await said(["time,event,S(5),S_5.0", "1,1,1,1"])).toMatchObject({
      message: 'two survival columns for one time: "S(5)" and "S_5.0"',
      code: "curves.time",
    });
    expect(await said(["time,event,S(0),S(5)", "1,1,1,1", "1,1,0.9,0.8"])).toMatchObject({
      message: "survival at time 0 is not 1",
      where: 'other.csv, row 2, column "S(0)"',
    });
    expect(await said(["time,event,S(0)", "1,1,1"])).toMatchObject({
      message: "cannot audit curves with 0 times after 0",
    });
    expect(await said(["event,S(5)", "1,1"])).toMatchObject({ message: 'missing column: "time"' });
    const bin = { bin: "time" };
    expect(await said(["time,event,S(5)", "1,1,1"], bin)).toMatchObject({ code: "outcomes.options" });
    expect(await said(["time,event,S(5)", "1,1,1"], { horizon: 9 })).toMatchObject({
      code: "outcomes.options",
    });
    expect(await said(["time,event,S(5),S(9)", "1,1,0.5,0.6"])).toMatchObject({
      message: "survival rises: from 0.5 to 0.6",
      where: 'other.csv, row 1, column "S(9)"',
    });
    expect(await said(["time,event,S(5)", "x,1,1"])).toMatchObject({ code: "time.invalid" });
  });
});
