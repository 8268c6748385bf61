// What was read without a word and not as it was meant: times, names of events, ids, codes, dates, spellings.
import { describe, expect, test } from "vitest";
import { checkCells } from "../../src/data/checks/check-cells.ts";
import { checkTable } from "../../src/data/checks/sanity.ts";
import { chooseFeatures } from "../../src/data/encode/features.ts";
import { evaluateGroup } from "../../src/data/groups/group-members.ts";
import { parseGroup } from "../../src/data/groups/parse-group.ts";
import { readPeople } from "../../src/data/outcomes/people.ts";
import { type HistoryColumns, inspectHistory, readHistory } from "../../src/data/outcomes/read-history.ts";
import { inspectOutcomes, type OutcomeColumns, readOutcomes } from "../../src/data/outcomes/read-outcomes.ts";
import {
  type ReadTableOptions,
  readTable,
  readTableChunks,
  tableSourceFromBytes,
} from "../../src/data/reading/read-table.ts";
import { findColumn, type Table } from "../../src/data/table.ts";
import { categories, numbers } from "./sanity-tables.ts";

const COLUMNS = { time: "time", event: "event" };
const source = (text: string) => tableSourceFromBytes("t.csv", new TextEncoder().encode(text));
const read = (text: string, options: ReadTableOptions = {}) => readTable(source(text), options);
const codes = (table: Table, columns: OutcomeColumns) =>
  inspectOutcomes(table, columns).findings.map(({ code, level }) => `${level} ${code}`);

/** A table of these times, every other one an event. */
const timed = (times: readonly (number | string)[], options: ReadTableOptions = {}) =>
  read(`time,event\n${times.map((time, k) => `${time},${k % 2}`).join("\n")}\n`, options);
const ORDINARY = Array.from({ length: 40 }, (_, k) => 30 + 25 * k);

describe("times", () => {
  test.each(["0x10", "0b11", "0o17"])("%s is no number", async (text) => {
    const table = await timed(["10", text, "12"]);
    expect(inspectOutcomes(table, COLUMNS).refused?.finding.message).toBe(
      `times must be numbers: 1 row of time is not (row 2: "${text}")`,
    );
    expect(() => readOutcomes(table, COLUMNS)).toThrow("times must be numbers");
  });

  test("numbers among texts are still numbers, and infinity is said", async () => {
    const table = await timed(["10", "1e2", "x", "Inf"]);
    const { usable, outcomes, findings } = inspectOutcomes(table, COLUMNS);
    expect([...usable]).toEqual([1, 1, 0, 0]);
    expect([...(outcomes?.time ?? [])].slice(0, 2)).toEqual([10, 100]);
    expect(findings.map(({ message }) => message)).toContain("time is infinite in row 4");
  });

  test.each([
    ["9999 where the others end at 1005", [...ORDINARY, 9999], "a code"],
    ["999 in many rows, a little above", [...ORDINARY.slice(0, 34), 999, 999, 999], "a code"],
    ["one in a billion", [...ORDINARY, 1e9], "far"],
    ["a slip of the unit", [...ORDINARY, 365_000], "far"],
    ["among few", [3, 4, 5, 6, 100_000], "far"],
  ])("%s", async (_, times, kind) => {
    const table = await timed(times);
    expect(codes(table, COLUMNS)).toEqual(["error time.doubtful"]);
    const { message } = inspectOutcomes(table, COLUMNS).findings[0];
    expect(message).toContain(
      kind === "far" ? "has a time far beyond all others" : 'has a time that looks like a code for "missing"',
    );
    expect(() => readOutcomes(table, COLUMNS)).toThrow(
      expect.objectContaining({ code: "time.doubtful", hint: expect.stringContaining("--as-written time") }),
    );
    const meant = await timed(times, { asWritten: ["time"] });
    expect(codes(meant, COLUMNS)).toEqual([]);
    expect(readOutcomes(meant, COLUMNS).time.at(-1)).toBe(times.at(-1));
  });

  test.each([
    ["censored at one late time", [...ORDINARY, ...Array.from({ length: 20 }, () => 20_000)]],
    ["999 among times up to it", [...ORDINARY, 998, 999, 999, 999]],
    ["a wide law", Array.from({ length: 40 }, (_, k) => Math.ceil(Math.exp(k / 4)))],
    ["few and wide", [1, 10, 100, 5000]],
    ["all the same", [7, 7, 7]],
    ["one", [9999]],
  ])("are believed: %s", async (_, times) => {
    expect(codes(await timed(times), COLUMNS)).not.toContain("error time.doubtful");
  });

  test("dates written as numbers", async () => {
    const table = await timed([20010118, 20010201, 20021231, 20030101]);
    expect(inspectOutcomes(table, COLUMNS).refused).toMatchObject({
      finding: {
        code: "time.doubtful",
        message: "times of time are dates written as numbers in 4 rows (20010118)",
      },
      hint: expect.stringContaining("--origin"),
    });
    // Seconds of the same size are dates now and then.
    const seconds = Array.from({ length: 60 }, (_, k) => 18_500_123 + 51_377 * k);
    expect(codes(await timed(seconds), COLUMNS)).toEqual([]);
  });

  test("an end of 9999 counted from a date", async () => {
    const ends = Array.from({ length: 20 }, (_, k) => (k === 3 ? "9999-12-31" : `2010-03-${10 + k}`));
    const table = await read(
      `from,time,event\n${ends.map((end, k) => `2010-01-0${1 + (k % 9)},${end},1`).join("\n")}\n`,
    );
    expect(codes(table, { ...COLUMNS, origin: "from" })[0]).toBe("error time.doubtful");
  });
});

describe("dates of an outcome", () => {
  const TEXT = "from,time,event\n1/2/2020,3/4/2021,1\n2/3/2020,4/5/2021,0\n";
  const columns = { ...COLUMNS, origin: "from" };

  test("in two possible orders are refused until one is named", async () => {
    const table = await read(TEXT);
    expect(codes(table, columns)).toEqual(["error date.ambiguous", "error date.ambiguous"]);
    expect(() => readOutcomes(table, columns)).toThrow(
      expect.objectContaining({
        code: "date.ambiguous",
        message: "the dates of time could be day/month or month/day: no date of the table tells",
        hint: "say --date-order month-first or --date-order day-first, or write dates as 2024-03-01",
      }),
    );
    const first = await read(TEXT, { dateOrder: "month-first" });
    expect([codes(first, columns), [...readOutcomes(first, columns).time]]).toEqual([[], [427, 427]]);
    const day = await read(TEXT, { dateOrder: "day-first" });
    expect([codes(day, columns), [...readOutcomes(day, columns).time]]).toEqual([[], [427, 428]]);
  });

  test("of both orders in one column are said to be so", async () => {
    const table = await read("from,time,event\n2020-01-01,13/4/2021,1\n2020-01-01,4/13/2021,0\n");
    expect(inspectOutcomes(table, columns).refused?.finding).toMatchObject({
      code: "date.mixed",
      message:
        'time writes dates in two orders, with the day first and with the month first: "13/4/2021" and "4/13/2021"',
    });
    const feature = checkCells(findColumn(table, "time"));
    expect(feature.map(({ level, code }) => `${level} ${code}`)).toContain("warning date.mixed");
  });

  test("parts of a long table are read in the order that is named", async () => {
    const days: number[][] = [];
    for (const dateOrder of ["month-first", "day-first"] as const)
      for await (const { table } of readTableChunks(source(TEXT), {
        columns: ["time"],
        dates: ["time"],
        dateOrder,
      }))
        days.push([...(findColumn(table, "time") as { readonly values: Float64Array }).values]);
    expect(days).toEqual([
      [18690, 18722],
      [18720, 18751],
    ]);
  });
});

describe("an event column named for people without the event", () => {
  const named = (name: string, cells: readonly string[]) =>
    read(`time,${name}\n${cells.map((cell, k) => `${k + 1},${cell}`).join("\n")}\n`);

  test.each([
    "alive",
    "Alive",
    "is_alive",
    "censored",
    "censor",
    "cens",
    "survived",
    "dropout",
    "drop_out",
    "droppedOut",
    "lost",
    "lostToFollowUp",
    "withdrawn",
    "event_free",
    "lebt",
    "überlebt",
    "zensiert",
    "survécu",
    "censuré",
    "vivo",
    "sobrevivió",
    "censurado",
  ])("%s", async (name) => {
    for (const cells of [
      ["0", "1", "1"],
      ["true", "false", "true"],
      ["yes", "no", "no"],
      ["1", "2", "2"],
    ]) {
      const table = await named(name, cells);
      const columns = { time: "time", event: name };
      expect(codes(table, columns)[0]).toBe("error event.name");
      expect(() => readOutcomes(table, columns)).toThrow(expect.objectContaining({ code: "event.name" }));
      const [value] = cells;
      expect([...readOutcomes(table, { ...columns, eventIs: value }).event]).toEqual(
        cells.map((cell) => (cell === value ? 1 : 0)),
      );
    }
  });

  test("says both values", async () => {
    expect(
      inspectOutcomes(await named("alive", ["0", "1"]), { time: "time", event: "alive" }).refused,
    ).toMatchObject({
      finding: { message: "alive sounds like people without the event, and 1 would be read as the event" },
      hint: "say which value means that the event happened: --event-is 0 or --event-is 1",
    });
  });

  test.each([
    "event",
    "status",
    "death",
    "dead",
    "dead_or_alive",
    "not_censored",
    "uncensored",
    "relapse",
    "survival_status",
    "vital",
    "life",
    "failure_censored",
    "recensored",
    "nonsurvivor",
    "cause",
  ])("not %s", async (name) => {
    expect(codes(await named(name, ["0", "1"]), { time: "time", event: name })).toEqual([]);
  });

  test("words that say it are believed, and so are causes", async () => {
    const table = await named("alive", ["dead", "alive", "alive"]);
    expect([...readOutcomes(table, { time: "time", event: "alive" }).event]).toEqual([1, 0, 0]);
    const causes = await named("censored", ["0", "1", "2"]);
    const columns = { time: "time", event: "censored", causes: ["1", "2"] };
    expect(inspectHistory(causes, columns).refused).toBeNull();
  });

  test("hexadecimal texts are no event either", async () => {
    const table = await named("event", ["0x1", "0", "2"]);
    expect(codes(table, COLUMNS)[0]).toBe("error event.values");
    const asked = inspectOutcomes(table, { ...COLUMNS, eventIs: "1" }).outcomes;
    expect([...(asked?.event ?? [])]).toEqual([0, 0, 0]);
  });
});

describe("ids", () => {
  const write = (ids: readonly string[]) =>
    `pid,time,event\n${ids.map((id, k) => `${id},${k + 1},1`).join("\n")}\n`;
  const columns: HistoryColumns = { ...COLUMNS, id: "pid" };

  test.each([
    ["007", "7"],
    ["1E2", "10E1"],
    ["1e2", "100"],
    ["+5", "5"],
    ["5.0", "5"],
  ])("%s and %s are two people, and said", async (one, other) => {
    for (const extra of [0, 700]) {
      const ids = [one, other, ...Array.from({ length: extra }, (_, k) => String(1000 + k))];
      const table = await read(write(ids), { ids: ["pid"] });
      expect(readPeople(table, "pid").count).toBe(ids.length);
      const { told } = readHistory(table, columns);
      expect(told.map(({ code }) => code)).toContain("id.spelling");
    }
  });

  test("read as numbers they are refused where two became one", async () => {
    const table = await read(write(["007", "7", "8"]));
    expect(() => readPeople(table, "pid")).toThrow(
      expect.objectContaining({
        code: "id.spelling",
        message: 'ids were read as numbers, and "007" and "7" are one number',
      }),
    );
  });

  test("plain whole numbers stay numbers; leading zeros and large ones become texts", async () => {
    const type = async (ids: readonly string[]) =>
      findColumn(await read(write(ids), { ids: ["pid"] }), "pid").type;
    const many = (of: (k: number) => string) => Array.from({ length: 600 }, (_, k) => of(k));
    for (const plain of [["1", "2", "10"], many((k) => String(k))]) expect(await type(plain)).toBe("number");
    for (const other of [["01", "02"], many((k) => String(k).padStart(4, "0")), ["90071992547409931", "1"]])
      expect(await type(other)).toBe("category");
    const large = await read(write(["90071992547409931", "90071992547409932"]), { ids: ["pid"] });
    expect(readPeople(large, "pid").count).toBe(2);
    const padded = await read(write(many((k) => String(k).padStart(4, "0"))), { ids: ["pid"] });
    expect(readHistory(padded, columns).told).toEqual([]);
  });
});

describe("codes for missing among numbers", () => {
  const found = (values: readonly number[]) =>
    checkCells(numbers("lab", values)).map(({ code, message }) => [code, message]);
  const rest = Array.from({ length: 50 }, (_, k) => 10 + (k % 37));

  test.each([
    ["−999", [...rest, -999], "lab is -999 in 1 row, while all others are from 10 to 46"],
    ["−99 twice", [...rest, -99, -99], "lab is -99 in 2 rows, while all others are from 10 to 46"],
    ["9999", [...rest, 9999], "lab is 9999 in 1 row, while all others are from 10 to 46"],
    [
      "88 and 99 of a score",
      [...rest.map((one) => one % 5), 88, 99, 99, 88],
      "lab is 88 or 99 in 4 rows, while all others are from 0 to 4",
    ],
    [
      "−9 of a code",
      [...rest.map((one) => one % 4), -9, -9],
      "lab is -9 in 2 rows, while all others are from 0 to 3",
    ],
  ])("%s", (_, values, said) => {
    const [[code, message]] = found(values);
    expect([code, message]).toEqual([
      "number.sentinel",
      `${said}. If that means missing, leave these cells empty; if the values are meant, say --as-written lab`,
    ]);
  });

  test.each([
    ["an age of 99", [...rest.map((one) => one + 45), 99, 99]],
    ["one 99", [...rest, 99]],
    ["ranks up to 999", Array.from({ length: 999 }, (_, k) => k + 1)],
    ["a wide law", [...rest.map((one) => one ** 3), 99999]],
    ["two codes that are all", [0, 99, 0, 99]],
    ["99 among ordinary values beyond the rest", [...rest, 99, 99, 150, 151]],
  ])("not %s", (_, values) => {
    expect(found(values)).toEqual([]);
  });

  test("values that are meant are not asked about", () => {
    expect(checkCells({ ...numbers("lab", [...rest, -999]), asWritten: true })).toEqual([]);
  });
});

describe("levels and names that are one text", () => {
  const found = (levels: readonly string[]) =>
    checkCells(categories("site", levels)).filter(({ code }) => code === "levels.alike");

  test.each([
    ["caf\u00e9", "cafe\u0301", "in how an accented letter is composed"],
    ["Berlin", "Berlin ", "in blanks"],
    ["St  Mary", "St Mary", "in blanks"],
    ["north", "North", "in capitals, blanks or accents"],
  ])("%s and %s", (one, other, how) => {
    const [finding] = found([one, other, "x", one]);
    expect(finding.message).toContain(`two levels of site differ only ${how}: `);
    expect(finding.level).toBe("warning");
  });

  test("genotypes and different words are left alone", () => {
    expect(found(["AA", "Aa", "aa", "A", "a"])).toEqual([]);
    expect(found(["St Mary", "St Mark", "cafe", "caf\u00e9"])).toEqual([]);
  });

  test("names of columns have one form, and two of one form are refused", async () => {
    const table = await read("dure\u0301e,event\n1,1\n2,0\n");
    expect(readOutcomes(table, { time: "dur\u00e9e", event: "event" }).time.length).toBe(2);
    expect(() => readOutcomes(table, { time: "dure\u0301e", event: "event" })).toThrow(
      expect.objectContaining({
        hint: 'the accents are composed in another way: did you mean "dur\u00e9e"?',
      }),
    );
    await expect(read("caf\u00e9,cafe\u0301\n1,2\n")).rejects.toMatchObject({ code: "header.duplicate" });
  });
});

describe("a column of doubtful marks", () => {
  const TEXT = `time,event,dose\n${ORDINARY.map((time, k) => `${time},${k % 2},${k % 3 === 0 ? `1.${100 + k}` : 200 + 7 * k}`).join("\n")}\n`;

  test("is an error as a feature, a group or an outcome, and nothing where it is not used", async () => {
    const table = await read(TEXT);
    const checked = checkTable(table, COLUMNS);
    expect(checked.findings.map(({ code, level }) => `${level} ${code}`)).toEqual(["error number.marks"]);
    expect(() => chooseFeatures(table, checked, COLUMNS)).toThrow(
      expect.objectContaining({
        code: "number.marks",
        hint: "say --decimal point or --thousands point, or leave the column out with --drop dose",
      }),
    );
    expect(() => chooseFeatures(table, checked, { ...COLUMNS, drop: ["dose"] })).toThrow("no column is left");
    expect(() => evaluateGroup(parseGroup("dose > 3"), table)).toThrow(
      expect.objectContaining({ code: "number.marks" }),
    );
    expect(codes(table, COLUMNS)).toEqual([]);
    expect(codes(table, { ...COLUMNS, weights: "dose" })).toEqual(["error number.marks"]);
    expect(codes(table, { time: "dose", event: "event" })).toContain("error number.marks");
    for (const options of [{ decimal: "point" }, { thousands: "point" }] as const) {
      const said = await read(TEXT, options);
      expect(checkTable(said, COLUMNS).findings).toEqual([]);
    }
  });
});
