// Entries, causes, weights and people, as they are read from a table; and every fault of theirs, by name.
import { describe, expect, test } from "vitest";
import { describeTable } from "../../src/data/checks/describe.ts";
import { type HistoryColumns, inspectHistory, readHistory } from "../../src/data/outcomes/read-history.ts";
import { readOutcomes } from "../../src/data/outcomes/read-outcomes.ts";
import { readTable, tableSourceFromBytes } from "../../src/data/reading/read-table.ts";

const toldOf = ({ told }: Pick<ReturnType<typeof readHistory>, "told">) => told.map(({ message }) => message);

const columns = { time: "time", event: "event" } as const;

const tableOf = (text: string) => readTable(tableSourceFromBytes("t.csv", new TextEncoder().encode(text)));
const read = async (text: string, more: Partial<HistoryColumns>) =>
  readHistory(await tableOf(text), { ...columns, ...more });

const STAYS = "id,start,time,event\na,0,3,0\na,3,7,1\nb,1,5,0\nb,6,9,0\n";

describe("readHistory", () => {
  test("adds nothing to a plain outcome", async () => {
    const table = await tableOf("time,event\n1,0\n2,1\n");
    const { outcomes, causes, people } = readHistory(table, columns);
    expect(outcomes).toEqual(readOutcomes(table, columns));
    expect([causes, people]).toEqual([null, null]);
  });

  test("reads entry, cause, weight and person", async () => {
    const text = "who,in,time,event,w\nx,0,4,0,1\ny,2,5,2,0.5\nx,4,6,1,2\n";
    const more = { entry: "in", causes: ["1=relapse", "2=death"], weights: "w", id: "who" };
    const { outcomes, causes, people } = await read(text, more);
    expect(causes).toEqual(["relapse", "death"]);
    expect([...outcomes.event]).toEqual([0, 1, 1]);
    expect([...(outcomes.cause ?? [])]).toEqual([0, 2, 1]);
    expect([...(outcomes.entry ?? [])]).toEqual([0, 2, 4]);
    expect([...(outcomes.weight ?? [])]).toEqual([1, 0.5, 2]);
    expect(people?.count).toBe(2);
    expect([...(outcomes.id ?? [])]).toEqual([0, 1, 0]);
  });

  test("counts entries from the same date as times", async () => {
    const text =
      "born,seen,time,event\n2000-01-01,2000-01-11,2000-02-01,1\n2000-01-01,2000-01-01,2000-01-05,0\n";
    const { outcomes } = await read(text, { origin: "born", entry: "seen" });
    expect([...(outcomes.entry ?? [])]).toEqual([10, 0]);
    expect([...outcomes.time]).toEqual([31, 4]);
  });

  test("time and entry at 0 are no entry", async () => {
    const { outcomes } = await read("in,time,event\n0,0,1\n0,3,0\n", { entry: "in" });
    expect([...(outcomes.entry ?? [])]).toEqual([0, 0]);
  });
});

test("a description says that rows are of people, unless a column was named for them", async () => {
  const lines = Array.from({ length: 80 }, (_, row) => {
    const [person, second] = [Math.floor(row / 2), row % 2];
    return `${person},${4 * second},${4 * second + 4},${second},${40 + (person % 9)},${person % 3}`;
  });
  const table = await tableOf(["id,start,time,event,age,stage", ...lines].join("\n"));
  const codesOf = (more: Partial<HistoryColumns>) =>
    describeTable(table, { ...columns, ...more }).findings.map(({ code }) => code);
  expect(codesOf({})).toContain("id");
  expect(codesOf({ start: "start", id: "id" })).not.toContain("id");
});

describe("what is refused", () => {
  const faults: [string, string, Partial<HistoryColumns>, string, string][] = [
    [
      "entry after exit",
      "in,time,event\n1,2,1\n5,3,0\n",
      { entry: "in" },
      "entry.order",
      "in is not before the time in row 2",
    ],
    [
      "no entry",
      "in,time,event\n1,2,1\n,3,0\n",
      { entry: "in" },
      "time.missing",
      "entry is missing in row 2",
    ],
    [
      "overlap",
      "id,start,time,event\na,0,3,0\na,2,7,1\n",
      { start: "start", id: "id" },
      "interval.overlap",
      "row 2 begins before",
    ],
    ["start without id", STAYS, { start: "start" }, "outcomes.options", "not whose rows they are"],
    [
      "start and entry",
      STAYS,
      { start: "start", entry: "start", id: "id" },
      "outcomes.options",
      "both --start and --entry",
    ],
    [
      "a column twice",
      STAYS,
      { start: "start", id: "start" },
      "outcomes.options",
      'named twice in the outcome: "start"',
    ],
    ["negative weights", "time,event,w\n1,1,2\n2,0,-1\n", { weights: "w" }, "weights.values", "in row 2"],
    ["missing weights", "time,event,w\n1,1,2\n2,0,\n", { weights: "w" }, "weights.values", "in row 2"],
    [
      "weights of 0 only",
      "time,event,w\n1,1,0\n2,0,0\n",
      { weights: "w" },
      "weights.values",
      "every weight of w is 0",
    ],
    [
      "weights of no scale",
      "time,event,w\n1,1,1e-12\n2,0,3e-12\n",
      { weights: "w" },
      "weights.values",
      "3e-12",
    ],
    ["weights of any size", "time,event,w\n1,1,1\n2,0,1e300\n", { weights: "w" }, "weights.values", "1e+300"],
    [
      "weights in words",
      "time,event,w\n1,1,a\n2,0,b\n",
      { weights: "w" },
      "weights.values",
      "weights must be numbers",
    ],
    [
      "a cause twice",
      "time,event\n1,1\n2,0\n",
      { causes: ["1", "1.0"] },
      "cause.values",
      "a cause is named twice",
    ],
    [
      "one name for two",
      "time,event\n1,1\n2,2\n",
      { causes: ["1=a", "2=a"] },
      "cause.values",
      'one name: "a"',
    ],
    [
      "a cause that is not there",
      "time,event\n1,1\n2,0\n",
      { causes: ["1", "7"] },
      "cause.values",
      'no row of event is "7"',
    ],
    [
      "a value that is neither",
      "time,event\n1,1\n2,0\n3,5\n",
      { causes: ["1"] },
      "cause.values",
      "neither a cause nor censored: 5",
    ],
    [
      "cause and censored",
      "time,event\n1,1\n2,0\n",
      { causes: ["1"], censored: "1" },
      "cause.values",
      "both a cause and censored",
    ],
  ];
  test.each(faults)("%s", async (_, text, more, code, message) => {
    const failure = await read(text, more).then(
      () => null,
      (error: unknown) => error as { code: string; message: string; hint?: string },
    );
    expect(failure).toMatchObject({ code, message: expect.stringContaining(message) });
    expect(failure?.hint ?? "").not.toBe("");
  });
});

describe("what is told", () => {
  test("gaps, and rows after an event", async () => {
    const told = toldOf(await read(`${STAYS}b,9,12,1\nb,12,13,1\n`, { start: "start", id: "id" }));
    expect(told.join("\n")).toContain("1 row begins later than the person's row before ends");
    expect(told.join("\n")).toContain("1 row follows an event of the same person");
  });

  test("late entries that are rows of one path", async () => {
    const told = async (more: Partial<HistoryColumns>) => toldOf(await read(STAYS, more)).join("\n");
    expect(await told({ entry: "start", id: "id" })).toContain(
      "1 row begins as another row of the same person ends",
    );
    expect(await told({ start: "start", id: "id" })).not.toContain("as another row");
    // Two eyes of a person, seen over the same time, are none.
    const eyes = toldOf(await read("id,in,time,event\na,0,3,0\na,0,5,1\n", { entry: "in", id: "id" }));
    expect(eyes.join("\n")).not.toContain("as another row");
  });

  test("a description names the errors of every column, where events cannot be read either", async () => {
    const table = await tableOf(
      "id,start,time,event,w\n1,0,5,none,1\n1,4,9,rel,1\n2,0,3,huh,2\n2,3,3,rel,2\n3,0,4,rel,-1\n3,6,8,none,1\n",
    );
    const asked = { time: "time", event: "event", causes: ["rel"], censored: "none", id: "id", weights: "w" };
    const errors = (more: Partial<HistoryColumns>) =>
      describeTable(table, { ...asked, ...more }).findings.flatMap(({ code, level, message }) =>
        level === "error" ? [`${code}: ${message}`] : [],
      );
    expect(errors({ start: "start" })).toEqual([
      expect.stringContaining("cause.values: event holds values that are neither a cause nor censored: huh"),
      expect.stringContaining("weights.values: a weight is missing or not a number from 0 up in row 5"),
      expect.stringContaining("entry.order: start is not before the time in row 4"),
    ]);
    const mended = await tableOf(
      "id,start,time,event,w\n1,0,5,none,1\n1,4,9,rel,1\n2,0,3,huh,2\n2,2,4,rel,1\n",
    );
    const found = describeTable(mended, { ...asked, start: "start" }).findings.map(({ message }) => message);
    // Of a row that cannot be read nobody says that it overlaps another.
    expect(found.join("\n")).toContain("rows of one person overlap: row 2 begins");
  });

  test("weights that make a handful of people of many rows", async () => {
    const rows = (first: number) =>
      Array.from({ length: 30 }, (_, k) => `${k + 1},${k % 2},${k < 2 ? first : 1}`);
    const told = async (first: number) =>
      toldOf(await read(`time,event,w\n${rows(first).join("\n")}\n`, { weights: "w" })).join("\n");
    // (2 · 1000 + 28)² / (2 · 1000² + 28) = 2.1.
    expect(await told(1000)).toContain("weights of w are so uneven that 30 rows say as much as 2.1 rows");
    expect(await told(2)).toBe("");
  });

  test("of a model's table: a cause without events, and values that the model does not know", async () => {
    const columns = { time: "time", event: "event", causes: ["1=relapse", "2=death"], censored: "9" };
    const inspect = async (text: string) => {
      const table = await tableOf(text);
      return { table, inspected: inspectHistory(table, columns, "model") };
    };
    const none = await inspect("time,event\n3,1\n4,9\n5,1\n");
    const history = readHistory(none.table, columns, none.inspected);
    expect([...(history.outcomes.cause ?? [])]).toEqual([1, 0, 1]);
    expect(toldOf(history).join("\n")).toContain('no row of event is "2"');
    // Curves of causes that were named with them are judged in the same way.
    expect(
      readHistory(none.table, columns, inspectHistory(none.table, columns, "curves")).causes,
    ).toHaveLength(2);
    expect(() => readHistory(none.table, columns)).toThrow('no row of event is "2"');
    const unknown = await inspect("time,event\n3,1\n4,9\n5,3\n");
    expect(() => readHistory(unknown.table, columns, unknown.inspected)).toThrow(
      expect.objectContaining({
        message: expect.stringContaining("neither a cause of the model nor censored: 3"),
        hint: expect.stringContaining("write 9 for censored and one of 1, 2 for events"),
      }),
    );
  });

  test("a cause with few events, and the time of a tiny risk set", async () => {
    const people = Array.from(
      { length: 40 },
      (_, k) => `${k < 2 ? k : 20 + k},${50 + k},${k === 0 ? 2 : k % 2}`,
    );
    const text = `in,time,event\n2,4,1\n${people.join("\n")}\n`;
    const told = toldOf(await read(text, { entry: "in", causes: ["1", "2"] }));
    expect(told.join("\n")).toContain("2 has 1 event: fewer than 10");
    expect(told.join("\n")).toContain("late entry leaves fewer than 10 rows at risk at the first 1 event");
  });
});
