import { describe, expect, test } from "vitest";
import { createRandom } from "../../src/core/random.ts";
import { findDuplicateRows } from "../../src/data/checks/check-cells.ts";
import { checkFollowup, checkGroups, checkTable } from "../../src/data/checks/sanity.ts";
import { cellText } from "../../src/data/table.ts";
import * as tables from "./sanity-tables.ts";

const { booleans, brief, categories, dates, numbers, readNamed, tableOf } = tables;
const MISSING = Number.NaN;
const OUTCOME = { time: "time", event: "event" };

/** 100 rows of outcomes, one event in three, that no column here has to do with. */
const random = createRandom(1);
const each = <T>(value: (row: number) => T, N = 100) => Array.from({ length: N }, (_, row) => value(row));
const time = numbers(
  "time",
  each(() => 1 + random.integer(1000)),
);
const event = numbers(
  "event",
  each(() => (random.uniform() < 1 / 3 ? 1 : 0)),
);
const check = (...columns: Parameters<typeof tableOf>) =>
  checkTable(tableOf(time, event, ...columns), OUTCOME);

describe("the bundled tables", () => {
  test.each([
    ["nwtco", "edrel", "rel", ["warning id seqno"]],
    ["flchain", "futime", "death", ["error leak.event chapter"]],
    ["gbsg", "rfstime", "status", ["warning id pid"]],
    ["veteran", "time", "status", []],
    ["retinopathy", "futime", "status", ["warning id id"]],
    ["pbc", "time", "event", ["error leak.event status", "warning id id"]],
    ["pbc", "time", "status", ["error leak.event event", "warning id id"]],
    ["lung", "time", "event", ["error leak.event status"]],
    ["lung", "time", "status", ["error leak.event event"]],
  ])("%s with %s and %s", async (name, time, event, expected) => {
    const { findings, features } = checkTable(await readNamed(name), { time, event });
    expect(brief(findings)).toEqual(expected);
    const accused = findings.map((finding) => finding.column);
    for (const feature of features) expect(feature.usable).toBe(!accused.includes(feature.name));
  });

  test("pbc with status = 2 as the event; only named features are checked", async () => {
    const pbc = await readNamed("pbc");
    const columns = { time: "time", event: "status", eventIs: "2" };
    expect(brief(checkTable(pbc, columns).findings)).toEqual(["error leak.event event", "warning id id"]);
    const { findings, features } = checkTable(pbc, { ...columns, features: ["age", "bili"] });
    expect(findings).toEqual([]);
    expect(features).toEqual([
      { name: "age", usable: true, reason: null },
      { name: "bili", usable: true, reason: null },
    ]);
    expect(() => checkTable(pbc, { ...columns, features: ["bilirubin"] })).toThrow(
      /missing column: "bilirubin"/,
    );
  });

  test("the reasons in words", async () => {
    const flchain = checkTable(await readNamed("flchain"), { time: "futime", event: "death" });
    expect(flchain.features.find(({ name }) => name === "chapter")?.reason).toBe("gives the outcome away");
    const retinopathy = checkTable(await readNamed("retinopathy"), { time: "futime", event: "status" });
    expect(retinopathy.findings[0].message).toBe(
      "id identifies 197 patients or groups with several rows each (394 rows; every value occurs 2 times): these rows are not independent",
    );
  });
});

describe("constant columns", () => {
  test("the time too, though it is no feature", () => {
    const table = tableOf(
      numbers(
        "time",
        each(() => 5),
      ),
      numbers(
        "event",
        each((row) => row % 2),
      ),
    );
    const { findings, features } = checkTable(table, { time: "time", event: "event" });
    expect(findings.map((finding) => finding.message)).toContain(
      "time is constant: the value 5 in all 100 rows",
    );
    expect(features).toEqual([]);
  });

  test("one value, or none; but not a value against missing", () => {
    const { findings, features } = check(
      numbers(
        "study",
        each(() => 1),
      ),
      categories(
        "empty",
        each(() => null),
      ),
      booleans(
        "ticked",
        each((row) => (row % 3 === 0 ? 1 : 255)),
      ),
      dates(
        "day",
        each(() => 0),
      ),
    );
    expect(findings.map((finding) => finding.message)).toEqual([
      "study is constant: the value 1 in all 100 rows",
      "empty is constant: no value in all 100 rows",
      "day is constant: the value 1970-01-01 in all 100 rows",
    ]);
    expect(features.map((feature) => feature.reason)).toEqual([
      "has a single value",
      "has no value",
      null,
      "has a single value",
    ]);
  });
});

describe("identifiers", () => {
  const shuffled = each((row) => (row * 37) % 100);
  test.each([
    [
      "consecutive numbers",
      numbers(
        "c",
        each((row) => row + 1),
      ),
    ],
    [
      "numbers going down",
      numbers(
        "c",
        each((row) => 5000 - 3 * row),
      ),
    ],
    [
      "dense numbers in any order",
      numbers(
        "c",
        shuffled.map((rank) => 1 + 2 * rank),
      ),
    ],
    [
      "texts",
      categories(
        "c",
        each((row) => `patient ${row}`),
      ),
    ],
    [
      "pairs of rows",
      numbers(
        "c",
        each((row) => 1000 - 7 * (row >> 1)),
      ),
    ],
  ])("%s", (_, column) => {
    expect(brief(check(column).findings)).toEqual(["warning id c"]);
  });

  test.each([
    [
      "decimals",
      numbers(
        "c",
        each((row) => row + 0.5),
      ),
    ],
    [
      "scattered integers",
      numbers(
        "c",
        shuffled.map((rank) => rank * rank + 50 * rank),
      ),
    ],
    [
      "ages",
      numbers(
        "c",
        each(() => 50 + random.integer(60)),
      ),
    ],
    [
      "dates",
      dates(
        "c",
        each((row) => row),
      ),
    ],
    [
      "few texts",
      categories(
        "c",
        each((row) => `hospital ${row % 30}`),
      ),
    ],
    [
      "integers half missing",
      numbers(
        "c",
        each((row) => (row % 2 ? row : MISSING)),
      ),
    ],
  ])("not %s", (_, column) => {
    expect(check(column).findings).toEqual([]);
  });

  test("an unsorted patient number shows in what never differs within a patient", () => {
    const patient = each(() => 10 + random.integer(30) ** 2);
    const columns = [
      numbers("patient", patient),
      numbers(
        "height",
        patient.map((value) => 150 + ((value * 37) % 41)),
      ),
      categories(
        "sex",
        patient.map((value) => ((value * 13) % 7 > 3 ? "f" : "m")),
      ),
      numbers(
        "weight",
        each(() => 60 + random.integer(40)),
      ),
    ];
    const { findings } = check(...columns);
    expect(brief(findings)).toEqual(["warning id patient"]);
    expect(findings[0].message).toContain("height, sex never differ within one value");
  });

  test("age is no patient because its groups and powers never differ within it", () => {
    const age = each(() => 40 + random.integer(40));
    const { findings } = check(
      numbers("age", age),
      numbers(
        "squared",
        age.map((years) => years * years),
      ),
      categories(
        "decade",
        age.map((years) => `${Math.floor(years / 10)}0s`),
      ),
      booleans(
        "old",
        age.map((years) => (years >= 65 ? 1 : 0)),
      ),
    );
    expect(findings).toEqual([]);
  });
});

describe("duplicate rows", () => {
  test("are named, and a warning from one in a hundred on", () => {
    const table = tableOf(
      numbers("a", [1, 2, 1, MISSING, MISSING, 0, -0]),
      categories("b", ["x", "x", "x", null, null, "y", "y"]),
      booleans("c", [1, 1, 1, 255, 255, 0, 0]),
    );
    expect(findDuplicateRows(table)).toMatchObject({
      code: "duplicate.rows",
      level: "warning",
      column: null,
      message: "3 rows (43 %) repeat an earlier row in every column: rows 3, 5 and 7",
      evidence: { rows: 3 },
    });
    const rare = findDuplicateRows(
      tableOf(
        numbers(
          "a",
          each((row) => Math.max(row, 1), 1000),
        ),
      ),
    );
    expect(rare).toMatchObject({
      level: "note",
      message: "1 row (0.1 %) repeats an earlier row in every column: row 2",
    });
    expect(findDuplicateRows(tableOf(numbers("a", [1, 2]), numbers("b", [1, 1])))).toBeNull();
  });

  test("a slow twin agrees on 200 random tables", () => {
    for (let seed = 0; seed < 200; seed++) {
      const draw = createRandom(7, seed);
      const N = 2 + draw.integer(60);
      const pick = () => each(() => draw.integer(4), N);
      const table = tableOf(
        numbers(
          "a",
          pick().map((value) => (value === 3 ? MISSING : value / 3)),
        ),
        categories(
          "b",
          pick().map((value) => (value === 3 ? null : `level ${value}`)),
        ),
        dates("c", pick()),
        booleans(
          "d",
          pick().map((value) => (value > 1 ? 255 : value)),
        ),
      );
      const seen = new Set<string>();
      const rows: number[] = [];
      for (let row = 0; row < N; row++) {
        const key = table.columns.map((column) => cellText(column, row)).join("|");
        if (seen.has(key)) rows.push(row + 1);
        seen.add(key);
      }
      expect(findDuplicateRows(table)?.evidence.rows ?? 0).toBe(rows.length);
    }
  });
});

test("groups with fewer than 10 events", () => {
  const outcomes = {
    time: new Float64Array(40).fill(1),
    event: Uint8Array.from(each((row) => (row < 15 ? 1 : 0), 40)),
  };
  const groups = [
    { name: "ten", rows: each((row) => row + 5, 20) },
    { name: "nine", rows: Int32Array.from(each((row) => row + 6, 20)) },
    { name: "empty", rows: [] },
  ];
  expect(checkGroups(groups, outcomes).map((finding) => finding.message)).toEqual([
    'group "nine" has 9 events in 20 rows: fewer than 10, too few to constrain or audit',
    'group "empty" has 0 events in 0 rows: fewer than 10, too few to constrain or audit',
  ]);
  expect(checkGroups(groups, outcomes, { minEvents: 9 })).toHaveLength(1);
});

describe("follow-up of training and test rows", () => {
  const times = (from: number, to: number, N = 200) => ({
    time: Float64Array.from(each((i) => from + ((to - from) * i) / (N - 1), N)),
    event: new Uint8Array(N),
  });
  const said = (train: [number, number], test: [number, number]) =>
    checkFollowup(times(...train), times(...test)).map((finding) => `${finding.level}: ${finding.message}`);

  test("covered, a little beyond, much beyond, hardly, not at all", () => {
    expect(said([0, 100], [0, 100])).toEqual([]);
    expect(said([0, 100], [10, 90])).toEqual([]);
    expect(said([0, 100], [0, 100.6])).toEqual([
      "note: 2 test rows (1 %) beyond the training follow-up: training times span 0 to 100, test times 0 to 100.6",
    ]);
    expect(said([0, 100], [0, 120])).toEqual([
      "warning: 34 test rows (17 %) beyond the training follow-up: training times span 0 to 100, test times 0 to 120",
    ]);
    expect(said([0, 100], [80, 180])).toEqual([
      "warning: follow-up hardly overlaps: training times span 0 to 100, test times 80 to 180; " +
        "20 % of the test rows and 20 % of the training rows lie in both",
    ]);
    expect(said([0, 100], [101, 180])).toEqual([
      "error: follow-up does not overlap: training times span 0 to 100, test times 101 to 180",
    ]);
  });

  test("an empty set has nothing to compare", () => {
    expect(checkFollowup(times(0, 1), { time: new Float64Array() })).toEqual([]);
  });
});
