// What the studio guesses of a table and asks before anything is fitted, without a browser: rows one after the other,
// dates, several causes, events that all happened, and sentences that name no option of the command line.
import { describe, expect, test } from "vitest";
import { createRandom } from "../src/core/random.ts";
import { readTable, tableSourceFromBytes } from "../src/data/reading/read-table.ts";
import type { Table } from "../src/data/table.ts";
import { type Choices, NO_CHOICES } from "../studio/src/choices.ts";
import { chooseTime, countFrom } from "../studio/src/page/choosing.ts";
import { viewColumns } from "../studio/src/work/columns.ts";
import { createGate } from "../studio/src/work/gate.ts";
import { guessOutcome } from "../studio/src/work/guess.ts";
import { describeRun, toRequest } from "../studio/src/work/request.ts";
import { withoutOptions } from "../studio/src/work/trouble.ts";

function read(lines: readonly string[]): Promise<Table> {
  return readTable(tableSourceFromBytes("a.csv", new TextEncoder().encode(`${lines.join("\n")}\n`)));
}

const guess = (table: Table) => guessOutcome(viewColumns(table), table).guess;
const choose = (table: Table, change: Partial<Choices>): Choices => ({
  ...NO_CHOICES,
  ...guess(table),
  ...change,
});

/** Sixty people of two rows each. */
function drawIntervals(): Promise<Table> {
  const random = createRandom(2);
  const lines = Array.from({ length: 60 }, (_, person) => {
    const age = 30 + random.integer(40);
    const sex = "FM"[random.integer(2)];
    const first = 1 + random.integer(200);
    const last = first + 1 + random.integer(300);
    return [
      `${person + 1},0,${first},0,${age},${sex},${random.uniform().toFixed(2)}`,
      `${person + 1},${first},${last},${random.integer(2)},${age},${sex},${random.uniform().toFixed(2)}`,
    ];
  });
  return read(["id,tstart,tstop,event,age,sex,dose", ...lines.flat()]);
}

/** Two hundred people with dates; the last day is that of the event or of the last visit. */
function drawDates(): Promise<Table> {
  const random = createRandom(3);
  const day = (number: number) => new Date(number * 86_400_000).toISOString().slice(0, 10);
  const lines = Array.from({ length: 200 }, () => {
    const diagnosis = 12_000 + random.integer(900);
    const born = diagnosis - 9000 - random.integer(9000);
    return `${day(born)},${day(diagnosis)},${day(diagnosis + 1 + random.integer(999))},${random.integer(2)},${random.integer(90)}`;
  });
  return read(["birth_date,diagnosis,last_seen,died,age", ...lines]);
}

describe("rows one after the other", () => {
  test("tstart and tstop are guessed; whose they are is asked, and its answer lets a run start", async () => {
    const table = await drawIntervals();
    expect(guess(table)).toMatchObject({ time: "tstop", event: "event", start: "tstart", origin: "" });
    const gate = createGate(table);
    const asked = gate(choose(table, {}));
    expect(asked.blockers).toMatchObject([{ code: "rows.repeated", column: "id", overrule: "person" }]);
    // A start is no leak of the time, and no column without a part.
    expect(asked.findings.filter(({ column }) => column === "tstart")).toEqual([]);
    expect(asked.leftOut.map(({ name }) => name)).not.toContain("tstart");
    const answered = choose(table, { roles: { id: "person" } });
    const { blockers, findings, events } = gate(answered);
    expect(blockers).toEqual([]);
    expect(findings.filter(({ level }) => level === "error")).toEqual([]);
    expect(events).toBe(asked.events);
    expect(toRequest(table, answered)).toMatchObject({ start: "tstart", id: "id" });
  });

  test("a start of rows that nothing tells apart: the column has to be chosen", async () => {
    const random = createRandom(5);
    const line = () => {
      const start = random.integer(50);
      return `${start},${start + 1 + random.integer(50)},${random.integer(2)},${random.uniform()}`;
    };
    const table = await read(["entered,time,event,x", ...Array.from({ length: 100 }, line)]);
    const { blockers } = createGate(table)(choose(table, { start: "entered" }));
    expect(blockers).toMatchObject([{ code: "person.none", overrule: null }]);
  });
});

describe("dates", () => {
  test("the last is the time and the first that is no birth its origin; the unit is days", async () => {
    const table = await drawDates();
    expect(guess(table)).toMatchObject({ time: "last_seen", origin: "diagnosis", unit: "days" });
    expect(guessOutcome(viewColumns(table), table).why.time).toContain("never before “diagnosis”");
    const { blockers, events } = createGate(table)(choose(table, {}));
    expect(blockers).toEqual([]);
    expect(events).toBeGreaterThan(50);
  });

  test("chosen by hand: days from the date on, unless a unit was typed", () => {
    const typed = { ...NO_CHOICES, time: "seen", unit: "months" };
    expect(countFrom(typed, "diagnosis").unit).toBe("months");
    expect(countFrom(NO_CHOICES, "diagnosis").unit).toBe("days");
    const dated = { ...NO_CHOICES, time: "seen", origin: "diagnosis", unit: "days", entry: "years" };
    expect(chooseTime(dated, "years")).toEqual({ time: "years", origin: "", unit: "years", entry: "" });
    expect(chooseTime(typed, "years").unit).toBe("months");
  });
});

test("events that happened to everyone are guessed, and a unit beside them", async () => {
  const lines = Array.from({ length: 40 }, (_, row) => `${row + 1},1,${row % 7}`);
  const table = await read(["days,died,x", ...lines]);
  expect(guess(table)).toMatchObject({ time: "days", event: "died", unit: "days" });
});

test("few events are told of everyone; decimal commas are told without an option, and read by one", async () => {
  const lines = Array.from(
    { length: 60 },
    (_, row) => `${row + 1},${row < 5 ? 1 : 0},"${row % 50},${row % 7}"`,
  );
  const table = await read(["time,event,dose", ...lines]);
  const { findings, blockers } = createGate(table)(choose(table, {}));
  expect(blockers).toEqual([]);
  const said = (code: string) => findings.find((one) => one.code === code)?.message ?? "";
  expect(said("group.events")).toMatch(/^group "everyone" has 5 events in 60 rows: fewer than 10/);
  expect(said("number.comma")).toMatch(
    /^dose is written with decimal commas in 60 of 60 cells \(0,0\), and read as a category of \d+ levels$/,
  );
  expect(describeRun(table, choose(table, { number: ["dose"] }))).toContain("--number dose --decimal comma");
});

test("causes have names in the request: what is typed, and no bare number", async () => {
  const table = await read([
    "time,status,x",
    ...Array.from({ length: 30 }, (_, row) => `${row},${row % 3},1`),
  ]);
  const causes = { 0: "censored", 1: "cause", 2: "cause" } as const;
  expect(toRequest(table, choose(table, { causes })).causes).toEqual(["1=cause 1", "2=cause 2"]);
  const named = choose(table, { causes, causeNames: { 1: " relapse " } });
  expect(toRequest(table, named).causes).toEqual(["1=relapse", "2=cause 2"]);
});

test.each([
  ["Was this known at the start? If not, --drop place", "Was this known at the start?"],
  ["write it without commas; if they are decimal marks, --number x reads them", "write it without commas"],
  ["--id pid keeps the rows together; --rows-are-independent takes each by itself", ""],
  ["age -- the first -- is 3. Correct it", "age -- the first -- is 3. Correct it"],
])("%s names no option on the page", (text, said) => {
  expect(withoutOptions(text)).toBe(said);
});
