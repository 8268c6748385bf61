// What the studio guesses of a table and asks before anything is fitted, without a browser: rows one after the other,
// dates, several causes, events that all happened, and sentences that name no option of the command line.
import { describe, expect, test } from "vitest";
import { createRandom } from "../src/core/random.ts";
import { NOTHING_WORDS as WORDS_OF_LIBRARY } from "../src/data/outcomes/read-event.ts";
import { readTable, tableSourceFromBytes } from "../src/data/reading/read-table.ts";
import type { Table } from "../src/data/table.ts";
import { valuesOption } from "../src/node/options/table-options.ts";
import { type Choices, NO_CHOICES } from "../studio/src/choices.ts";
import {
  chooseTime,
  countFrom,
  listNothing,
  mean,
  NOTHING_WORDS,
  readWithCommas,
} from "../studio/src/page/choosing.ts";
import { viewColumns } from "../studio/src/work/columns.ts";
import { createGate } from "../studio/src/work/gate.ts";
import { guessOutcome } from "../studio/src/work/guess.ts";
import { describeRun, toRequest } from "../studio/src/work/request.ts";
import { createShow } from "../studio/src/work/show.ts";
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

test("a start that is turned off is a column again, of which is said what it gives away", async () => {
  const random = createRandom(7);
  const lines = Array.from({ length: 200 }, () => {
    const start = random.integer(60);
    return `${start},${start + 1},${random.integer(2)},${random.uniform()}`;
  });
  const table = await read(["start,stop,event,x", ...lines]);
  const gate = createGate(table);
  const chosen = choose(table, { time: "stop", start: "start", rowsAreIndependent: true });
  const ofStart = (choices: Choices) => gate(choices).findings.filter(({ column }) => column === "start");
  expect(ofStart(chosen)).toEqual([]);
  expect(ofStart({ ...chosen, start: "" })).toMatchObject([{ code: "leak.time", level: "error" }]);
  expect(ofStart(chosen)).toEqual([]);
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

test("causes with commas and quotation marks in their names are read from the command as they are", async () => {
  const table = await read(["time,status,x", ...Array.from({ length: 30 }, (_, k) => `${k},${k % 3},1`)]);
  const causes = { 0: "censored", 1: "cause", 2: "cause" } as const;
  const chosen = choose(table, { causes, causeNames: { 1: 'death, of "it"', 2: "relapse" } });
  const asked = toRequest(table, chosen).causes;
  expect(asked).toEqual(["1=death, of it", "2=relapse"]);
  const written = /--causes\s+'([^']*)'/.exec(describeRun(table, chosen))?.[1] ?? "";
  expect(valuesOption(written)).toEqual(asked);
});

describe("values that mean censored", () => {
  test("are the library's words; a denial is one where it is the only one", () => {
    expect([...NOTHING_WORDS].sort()).toEqual([...WORDS_OF_LIBRARY].sort());
    expect(listNothing(["relapse", "Alive", "lost "])).toEqual(["Alive", "lost "]);
    expect(listNothing(["relapse", "no relapse", "death"])).toEqual(["no relapse"]);
    expect(listNothing(["alive", "no relapse", "death"])).toEqual(["alive"]);
    expect(listNothing(["not seen", "no relapse", "death"])).toEqual([]);
    const { causes } = mean(NO_CHOICES, ["alive", "withdrawn", "death"], "death", "cause");
    expect(causes).toEqual({ alive: "censored", withdrawn: "cause", death: "cause" });
  });

  test("several of them are no dead end", async () => {
    const words = ["alive", "lost", "death", "relapse"];
    const lines = Array.from({ length: 200 }, (_, k) => `${1 + (k % 50)},${words[k % 4]},${(k * 37) % 90}`);
    const table = await read(["time,status,age", ...lines]);
    const chosen = choose(table, { event: "status", ...mean(NO_CHOICES, words, "death", "cause") });
    const request = toRequest(table, chosen);
    expect(request.causes).toEqual(["death", "relapse"]);
    expect(request).not.toHaveProperty("censored");
    const { blockers, censored, causes } = createGate(table)(chosen);
    expect(blockers).toEqual([]);
    expect(censored).toBe(100);
    expect(causes.map(({ name }) => name)).toEqual(["death", "relapse"]);
  });
});

test("one column is read with decimal commas: other columns with commas stay as they are", async () => {
  const lines = Array.from(
    { length: 60 },
    (_, row) => `${row + 1},${row % 2},"${row},5","1,${String(100 + row)}"`,
  );
  const table = await read(["time,event,dose,price", ...lines]);
  const chosen = choose(table, { roles: { dose: "leave", price: "leave" } });
  const { findings } = createGate(table)(chosen);
  const first = readWithCommas(chosen, findings, "dose");
  expect(first).toEqual({ number: ["dose"], category: ["price"], roles: { price: "leave" } });
  const second = readWithCommas({ ...chosen, ...first }, findings, "price");
  expect(second).toEqual({ number: ["dose", "price"], category: [], roles: {} });
});

test("runs that are told in a moment: the losses of each, under its number", () => {
  const told: { readonly run: number; readonly step: number }[] = [];
  const show = createShow({ tell: ({ losses }) => told.push(...losses), backendWords: "" });
  const tell = (event: object) => show.event(event as Parameters<typeof show.event>[0], [], 3);
  const nobody = { groups: [], distances: [], slack: [], constrained: [] };
  for (const run of [0, 1, 2]) {
    tell({ type: "candidate", what: `run ${run + 1} of 3` });
    if (run === 0) tell({ type: "start", steps: 4, warnings: [] });
    for (const step of [1, 2, 3, 4]) tell({ type: "step", step, loss: 1 / step, ...nobody });
  }
  tell({ type: "done" });
  expect(told.map(({ run }) => run)).toEqual([0, 0, 0, 0, 1, 1, 1, 1, 2, 2, 2, 2]);
  expect(told.map(({ step }) => step)).toEqual([1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12]);
});

test.each([
  ["Was this known at the start? If not, --drop place", "Was this known at the start?"],
  ["write it without commas; if they are decimal marks, --number x reads them", "write it without commas"],
  ["--id pid keeps the rows together; --rows-are-independent takes each by itself", ""],
  ["age -- the first -- is 3. Correct it", "age -- the first -- is 3. Correct it"],
])("%s names no option on the page", (text, said) => {
  expect(withoutOptions(text)).toBe(said);
});

describe("cells with two meanings", () => {
  const lines = Array.from(
    { length: 60 },
    (_, k) => `${20 + 9 * k},${k % 2},${k % 3 === 0 ? `1.${100 + k}` : 200 + k},${k % 7}`,
  );

  test("as a feature they block only while it is learnt from; the command says what was chosen", async () => {
    const table = await read(["time,event,dose,x", ...lines]);
    const gate = createGate(table);
    const { blockers, findings } = gate(choose(table, {}));
    expect(blockers).toMatchObject([{ code: "number.marks", column: "dose", overrule: null }]);
    expect(findings.find(({ code }) => code === "number.marks")).toMatchObject({
      mark: "point",
      level: "error",
    });
    expect(gate(choose(table, { roles: { dose: "leave" } })).blockers).toEqual([]);
    const command = describeRun(
      table,
      choose(table, { decimal: "comma", thousands: "point", asWritten: ["x"] }),
    );
    expect(command).toContain("--decimal comma --thousands point --as-written x");
    expect(describeRun(table, choose(table, { dateOrder: "day-first" }))).toContain("--date-order day-first");
  });

  test("of the outcome they block, and so does an event column named for the others", async () => {
    const alive = await read(["time,alive,x", ...lines.map((line) => line.split(",").slice(0, 3).join(","))]);
    const chosen = choose(alive, { event: "alive", roles: { x: "leave" } });
    expect(createGate(alive)(chosen).blockers[0]).toMatchObject({ code: "event.name", column: "alive" });
    const told = { ...chosen, ...mean(chosen, ["0", "1"], "0", "event") };
    expect(createGate(alive)(told).blockers.map(({ code }) => code)).toEqual(["features.none"]);
  });
});
