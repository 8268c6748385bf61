// Files of incidences, one a cause: which columns are read, which file is of which cause, and what is refused by name.
import { describe, expect, test } from "vitest";
import { parseCauseFiles, readCauseCurves } from "../../src/data/curves/read-cause-curves.ts";
import { readTable, tableSourceFromBytes } from "../../src/data/reading/read-table.ts";

const fileOf = async (cause: string, ...lines: readonly string[]) => ({
  cause,
  table: await readTable(
    tableSourceFromBytes(`${cause}.csv`, new TextEncoder().encode(`${lines.join("\n")}\n`)),
  ),
});
const refused = (message: string, where: string) => expect.objectContaining({ message, where });

describe("readCauseCurves", () => {
  test("joins files by times, in the order of the causes; columns may stand in any order, others are left", async () => {
    const files = [
      await fileOf("relapse", "F(180),who,F(90)", "0.2,a,0.1", "0.4,b,0.3"),
      await fileOf("death", "90,180,0", "0.05,0.1,0", "0,0.6,0"),
    ];
    const { curves, grid } = readCauseCurves(files, 2);
    expect(curves).toMatchObject({ N: 2, K: 2, T: 2, causes: ["relapse", "death"] });
    expect([...curves.incidence]).toEqual([0.1, 0.2, 0.05, 0.1, 0.3, 0.4, 0, 0.6]);
    expect([...grid.edges]).toEqual([0, 90, 180]);
  });

  test("bins F1…FT need a horizon, times have their own", async () => {
    const bins = [await fileOf("death", "F2,F1", "0.2,0.1")];
    expect([...readCauseCurves(bins, 1, { horizon: 10 }).grid.edges]).toEqual([0, 5, 10]);
    expect(() => readCauseCurves(bins, 1)).toThrow("the bins F1, F2, … have no times");
    const times = [await fileOf("death", "F_5", "0.2")];
    expect(() => readCauseCurves(times, 1, { horizon: 10 })).toThrow("they need no horizon");
  });

  test.each([
    [
      "falls",
      ["F1,F2", "0.3,0.2"],
      "cumulative incidence falls: from 0.3 to 0.2",
      'death.csv, row 1, column "F2"',
    ],
    [
      "range",
      ["F1,F2", "0.3,1.2"],
      "cumulative incidence outside 0 to 1: 1.2",
      'death.csv, row 1, column "F2"',
    ],
    ["missing", ["F1,F2", ",0.3"], "incidence is missing", 'death.csv, row 1, column "F1"'],
    [
      "text",
      ["F1,F2", "low,0.3"],
      'cumulative incidence is not a number: "low"',
      'death.csv, row 1, column "F1"',
    ],
    [
      "a sum",
      ["F1,F2", "0.3,0.8"],
      "the causes make more than 1 together: 1.3",
      'death.csv, row 1, column "F2"',
    ],
    ["survival", ["S1,S2", "0.9,0.8"], "the curves of a cause are named as survival, with an S", "death.csv"],
    ["no curves", ["a,b", "0.9,0.8"], "no incidence columns: F1, F2, …", "death.csv"],
    ["a hole", ["F1,F3", "0.1,0.2"], "missing columns between F1 and F3: F2", "death.csv"],
    ["rows", ["F1,F2", "0,0", "0,0"], "the curves have 2 rows and the table has 1", "death.csv"],
    ["other bins", ["F1", "0"], "the causes are predicted at different times", "relapse.csv, death.csv"],
    ["times", ["F(1),F(2)", "0,0"], "the causes are predicted at different times", "relapse.csv, death.csv"],
    ["a start", ["F(0),F(2)", "0.1,0.2"], "incidence at time 0 is not 0", 'death.csv, row 1, column "F(0)"'],
  ])("refuses by name: %s", async (_, lines, message, where) => {
    const files = [await fileOf("relapse", "F1,F2", "0.1,0.5"), await fileOf("death", ...lines)];
    expect(() => readCauseCurves(files, 1, { horizon: 2 })).toThrow(refused(message, where));
  });
});

describe("parseCauseFiles", () => {
  const causes = ["relapse", "death", "death=late"];

  test("knows the cause by its name, whatever the order and however often the option is given", () => {
    expect(parseCauseFiles(["death=late=l.csv,relapse=r=1.csv", "death=d.csv"], causes)).toEqual([
      { cause: "relapse", path: "r=1.csv" },
      { cause: "death", path: "d.csv" },
      { cause: "death=late", path: "l.csv" },
    ]);
  });

  test("a cause may hold a comma, alone or beside others", () => {
    const named = ["died, of it", "lost", "died"];
    const files = [
      { cause: "died, of it", path: "a.csv" },
      { cause: "lost", path: "b.csv" },
      { cause: "died", path: "c.csv" },
    ];
    expect(parseCauseFiles(["died=c.csv, died, of it=a.csv,lost=b.csv"], named)).toEqual(files);
    expect(parseCauseFiles(["died, of it=a.csv", "lost=b.csv,died=c.csv"], named)).toEqual(files);
  });

  test.each([
    [["relapse=r.csv"], 'no curves of some causes: "death", "death=late"'],
    [["relapse=r.csv,death=d.csv"], 'no curves of a cause: "death=late"'],
    [["relapse=r.csv,relapse=s.csv"], 'two files of curves for one cause: "relapse"'],
    [["stroke=r.csv"], 'curves of an unknown cause: "stroke"'],
    [["r.csv"], 'the file does not say of which cause its curves are: "r.csv"'],
    [["relapse="], 'no file is named for a cause: "relapse"'],
  ])("refuses %s", (given, message) => {
    expect(() => parseCauseFiles(given, causes)).toThrow(refused(message, "--curves"));
  });
});
