import { describe, expect, test } from "vitest";
import { InputError } from "../../src/core/errors.ts";
import {
  inspectOutcomes,
  outcomeNames,
  pickTold,
  readOutcomes,
} from "../../src/data/outcomes/read-outcomes.ts";
import type { Column } from "../../src/data/table.ts";
import { booleans, brief, categories, dates, numbers, readNamed, tableOf } from "./sanity-tables.ts";

const toldOf = (...of: Parameters<typeof inspectOutcomes>) =>
  pickTold(inspectOutcomes(...of).findings).map(({ message }) => message);

const MISSING = Number.NaN;
const COLUMNS = { time: "time", event: "event" };
const time = numbers("time", [5, 3, 8, 2]);
const withEvent = (event: Column) => tableOf(time, event);
const events = (event: Column, eventIs?: string) =>
  Array.from(readOutcomes(withEvent(event), { ...COLUMNS, ...(eventIs ? { eventIs } : {}) }).event);

function refusal(run: () => unknown): InputError {
  try {
    run();
  } catch (error) {
    if (error instanceof InputError) return error;
    throw error;
  }
  throw new Error("was not refused");
}

describe("event codings that are read", () => {
  test("0/1, true/false as booleans and as texts", () => {
    expect(events(numbers("event", [1, 0, 0, 1]))).toEqual([1, 0, 0, 1]);
    expect(events(booleans("event", [1, 0, 0, 1]))).toEqual([1, 0, 0, 1]);
    expect(events(categories("event", ["True", "FALSE", "false", "true"]))).toEqual([1, 0, 0, 1]);
    expect(events(categories("event", ["1", "0", "0", "1"]))).toEqual([1, 0, 0, 1]);
    expect(inspectOutcomes(withEvent(numbers("event", [1, 0, 0, 1])), COLUMNS)).toMatchObject({
      eventRule: "1 = event, 0 = censored",
      findings: [],
      usable: Uint8Array.of(1, 1, 1, 1),
    });
  });

  test("1/2 under the rule of R's Surv, said in a warning", () => {
    const table = withEvent(numbers("event", [2, 1, 1, 2]));
    expect(Array.from(readOutcomes(table, COLUMNS).event)).toEqual([1, 0, 0, 1]);
    const { findings, eventRule } = inspectOutcomes(table, COLUMNS);
    expect(brief(findings)).toEqual(["warning event.values event"]);
    expect(findings[0].message).toBe("event is coded 1/2: read as 1 = censored, 2 = event, as in R's Surv");
    expect(eventRule).toBe("1 = censored, 2 = event, as in R's Surv");
  });

  test("a value named by the caller, as number, text or boolean", () => {
    expect(events(numbers("event", [2, 0, 1, 2]), "2")).toEqual([1, 0, 0, 1]);
    expect(events(numbers("event", [2, 0, 1, 2]), "2.0")).toEqual([1, 0, 0, 1]);
    expect(events(categories("event", ["dead", "alive", "lost", "dead"]), "dead")).toEqual([1, 0, 0, 1]);
    expect(events(booleans("event", [1, 0, 0, 1]), "false")).toEqual([0, 1, 1, 0]);
    const { findings, eventRule } = inspectOutcomes(withEvent(numbers("event", [2, 0, 1, 2])), {
      ...COLUMNS,
      eventIs: "2",
    });
    expect(brief(findings)).toEqual(["warning event.causes event"]);
    expect(eventRule).toBe("event = 2 is the event, every other value censored, as asked");
  });

  test("all rows with the event is a note, none a warning", () => {
    expect(brief(inspectOutcomes(withEvent(numbers("event", [1, 1, 1, 1])), COLUMNS).findings)).toEqual([
      "note event.values event",
    ]);
    expect(brief(inspectOutcomes(withEvent(numbers("event", [0, 0, 0, 0])), COLUMNS).findings)).toEqual([
      "warning event.values event",
    ]);
    expect(events(numbers("event", [0, 0, 0, 0]))).toEqual([0, 0, 0, 0]);
  });
});

describe("event codings that are refused", () => {
  test("0/1/2 names the values, the rows and the way out, and is read for describing only", () => {
    const table = withEvent(numbers("event", [2, 0, 1, 2]));
    const error = refusal(() => readOutcomes(table, COLUMNS));
    expect(error.code).toBe("event.values");
    expect(error.message).toBe(
      "event must be 0/1, true/false, yes/no, dead/alive or 1/2: event holds 0, 1, 2 (rows 1 and 4)",
    );
    expect(error.where).toBe('patients.csv, rows 1 and 4, column "event"');
    expect(error.hint).toBe("say which value is the event with --event-is VALUE, e.g. --event-is 2");
    const inspected = inspectOutcomes(table, COLUMNS);
    expect(Array.from(inspected.outcomes?.event ?? [])).toEqual([1, 0, 0, 1]);
    expect(inspected.eventRule).toContain("for the description only, 2 (the largest code)");
  });

  test.each([
    ["a 3", numbers("event", [0, 1, 3, 1]), "row 3"],
    ["a fraction", numbers("event", [0, 1, 0.5, 1]), "row 3"],
    ["a negative code", numbers("event", [-1, 1, 0, 1]), "row 1"],
    ["only 2", numbers("event", [2, 2, 2, 2]), "rows 1, 2, 3 and 4"],
    ["texts", categories("event", ["ill", "dead", "dead", "ill"]), "rows 1, 2, 3 and 4"],
    ["true and 1 mixed", categories("event", ["true", "1", "0", "false"]), "rows 1 and 4"],
    ["dates", dates("event", [1, 2, 3, 4]), "rows 1, 2, 3 and 4"],
  ])("%s", (_, event, rows) => {
    const error = refusal(() => readOutcomes(withEvent(event), COLUMNS));
    expect(error.code).toBe("event.values");
    expect(error.where).toBe(`patients.csv, ${rows}, column "event"`);
  });

  test("missing values, and a value that does not occur", () => {
    const table = withEvent(numbers("event", [1, MISSING, 0, MISSING]));
    const error = refusal(() => readOutcomes(table, COLUMNS));
    expect(error).toMatchObject({ code: "event.missing", message: "event is missing in rows 2 and 4" });
    expect(inspectOutcomes(table, COLUMNS).usable).toEqual(Uint8Array.of(1, 0, 1, 0));
    const absent = refusal(() =>
      readOutcomes(withEvent(numbers("event", [1, 0, 0, 2])), { ...COLUMNS, eventIs: "3" }),
    );
    expect(absent.message).toBe('no row of event is "3" (have 0, 1, 2)');
  });

  test("twenty rows are named, the rest counted", () => {
    const values = Array.from({ length: 50 }, (_, row) => (row < 25 ? 7 : row % 2));
    const table = tableOf(numbers("time", new Array(50).fill(1)), numbers("event", values));
    const { where } = refusal(() => readOutcomes(table, COLUMNS));
    expect(where).toContain("rows 1, 2, 3");
    expect(where).toContain("20 (and 5 more)");
  });
});

describe("times", () => {
  const event = numbers("event", [1, 0, 1, 0]);
  const inspect = (column: Column) => inspectOutcomes(tableOf(column, event), COLUMNS);

  test("0 is legal and said", () => {
    const table = tableOf(numbers("time", [0, 3, 8, 0]), event);
    expect(Array.from(readOutcomes(table, COLUMNS).time)).toEqual([0, 3, 8, 0]);
    const { findings } = inspectOutcomes(table, COLUMNS);
    expect(brief(findings)).toEqual(["warning time.nonpositive time"]);
    expect(findings[0].message).toBe("time is 0 in rows 1 and 4: legal, counted in the first bin");
  });

  test.each([
    ["missing", numbers("time", [5, MISSING, 8, 2]), "time.missing", "time is missing in row 2"],
    ["negative", numbers("time", [5, -1, 8, 2]), "time.nonpositive", 'time is negative in row 2: "-1"'],
    ["infinite", numbers("time", [5, Infinity, 8, 2]), "time.values", "time is infinite in row 2"],
    [
      "a text among numbers",
      categories("time", ["5", "unknown", "8", "2"]),
      "time.values",
      'times must be numbers: 1 row of time is not (row 2: "unknown")',
    ],
    [
      "a date",
      dates("time", [10, 11, 12, 13]),
      "time.values",
      "times must be numbers: time holds dates in rows 1, 2, 3 and 4",
    ],
    [
      "a boolean",
      booleans("time", [1, 0, 1, 1]),
      "time.values",
      'times must be numbers: 4 rows of time are not (rows 1, 2, 3 and 4: "true")',
    ],
  ])("%s is refused and never thrown by inspecting", (_, column, code, message) => {
    const { findings, usable } = inspect(column);
    expect(findings.map((finding) => [finding.level, finding.code, finding.message])).toEqual([
      ["error", code, message],
    ]);
    expect(usable.reduce((sum, one) => sum + one, 0)).toBe(findings[0].evidence.rows === 4 ? 0 : 3);
    expect(refusal(() => readOutcomes(tableOf(column, event), COLUMNS))).toMatchObject({ code, message });
  });

  test("no usable row leaves no outcomes", () => {
    expect(inspect(dates("time", [10, 11, 12, 13])).outcomes).toBeNull();
  });

  test("a missing column is refused by name", () => {
    const error = refusal(() => inspectOutcomes(withEvent(event), { time: "Time", event: "event" }));
    expect(error.code).toBe("column.missing");
  });
});

test("flchain has three deaths at time 0; pbc needs a rule, lung does not", async () => {
  const flchain = inspectOutcomes(await readNamed("flchain"), { time: "futime", event: "death" });
  expect(flchain.findings.map((finding) => finding.message)).toEqual([
    "time is 0 in rows 31, 54 and 722: legal, counted in the first bin",
  ]);
  const pbc = await readNamed("pbc");
  const count = (event: Uint8Array) => event.reduce((sum, one) => sum + one, 0);
  expect(refusal(() => readOutcomes(pbc, { time: "time", event: "status" })).code).toBe("event.values");
  expect(count(readOutcomes(pbc, { time: "time", event: "status", eventIs: "2" }).event)).toBe(161);
  expect(count(readOutcomes(await readNamed("lung"), { time: "time", event: "status" }).event)).toBe(165);
});

describe("events in words", () => {
  test.each([
    [["yes", "no", "No", "YES"], "yes = event, no = censored"],
    [["Y", "n", "N", "y"], "y = event, n = censored"],
    [["dead", "alive", "Alive", "Dead"], "dead = event, alive = censored"],
    [["event", "censored", "censored", "Event"], "event = event, censored = censored"],
  ])("%s is read, and said in a note", (texts, rule) => {
    const table = withEvent(categories("event", texts));
    expect(Array.from(readOutcomes(table, COLUMNS).event)).toEqual([1, 0, 0, 1]);
    const { findings, eventRule } = inspectOutcomes(table, COLUMNS);
    expect(brief(findings)).toEqual(["note event.values event"]);
    expect(findings[0].message).toBe(`event is read as ${rule}`);
    expect(eventRule).toBe(rule);
    expect(toldOf(table, COLUMNS)).toEqual([`event is read as ${rule}`]);
  });

  test("two words for the event, or one that is no such word, are refused", () => {
    for (const texts of [
      ["dead", "died", "alive", "alive"],
      ["yes", "no", "maybe", "no"],
      ["relapse", "no", "no", "no"],
    ]) {
      expect(refusal(() => readOutcomes(withEvent(categories("event", texts)), COLUMNS)).code).toBe(
        "event.values",
      );
    }
  });
});

describe("other causes", () => {
  const status = categories("event", ["death", "ltx", "ltx", "censored"]);
  const asked = { ...COLUMNS, eventIs: "death" };

  test("are named with their counts, and what censoring them does is said", () => {
    const { findings } = inspectOutcomes(withEvent(status), asked);
    expect(brief(findings)).toEqual(["warning event.causes event"]);
    expect(findings[0].message).toBe(
      "besides death, event has ltx (2 rows), read as censored. Where this keeps " +
        "the event from happening, as another cause of death or a transplantation does, censoring it overstates the " +
        "risk: curves then say what would happen without it, not how many people will have the event",
    );
    expect(findings[0].evidence).toEqual({ values: "ltx", others: 1, otherRows: 2 });
    expect(toldOf(withEvent(status), asked)).toEqual([findings[0].message]);
  });

  test("one other value, or words for censoring alone, are not", () => {
    const plain = withEvent(categories("event", ["death", "ltx", "ltx", "ltx"]));
    expect(inspectOutcomes(plain, asked).findings).toEqual([]);
    const words = withEvent(categories("event", ["death", "alive", "censored", "alive"]));
    expect(inspectOutcomes(words, asked).findings).toEqual([]);
  });
});

describe("times from dates", () => {
  const columns = { time: "end", origin: "start", event: "event" };
  const event = numbers("event", [1, 0, 1, 0]);
  const start = dates("start", [100, 200, 300, 400]);

  test("are the days from one to the other", () => {
    const table = tableOf(start, dates("end", [110, 200.5, 665, 401]), event);
    expect(readOutcomes(table, columns)).toEqual({
      time: Float64Array.of(10, 0.5, 365, 1),
      event: Uint8Array.of(1, 0, 1, 0),
    });
    expect(inspectOutcomes(table, columns).timeRule).toBe("days from start to end");
    expect(outcomeNames(columns)).toEqual(["end", "event", "start"]);
  });

  test("an end before the start, and missing dates, are refused with their rows", () => {
    const early = refusal(() =>
      readOutcomes(tableOf(start, dates("end", [110, 199, 301, 399]), event), columns),
    );
    expect(early.message).toBe("end is before start in rows 2 and 4: 1970-07-19 is before 1970-07-20");
    expect(early.where).toBe('patients.csv, rows 2 and 4, column "end"');
    const open = refusal(() =>
      readOutcomes(tableOf(start, dates("end", [110, MISSING, 301, 401]), event), columns),
    );
    expect(open.message).toBe("end is missing in row 2");
    const unborn = tableOf(
      dates("start", [100, 200, MISSING, 400]),
      dates("end", [110, 201, 301, 401]),
      event,
    );
    expect(refusal(() => readOutcomes(unborn, columns)).message).toBe(
      "start is missing in row 3: no time can be counted from it",
    );
    expect(inspectOutcomes(unborn, columns).usable).toEqual(Uint8Array.of(1, 1, 0, 1));
  });

  test("what is no date is refused, and a date without an origin says what to do", () => {
    const mixed = tableOf(start, numbers("end", [1, 2, 3, 4]), event);
    const refused = refusal(() => readOutcomes(mixed, columns));
    expect(refused.message).toBe('time from start to end: end holds no dates: row 1 is "1"');
    const alone = refusal(() => readOutcomes(tableOf(start, event), { time: "start", event: "event" }));
    expect(alone.hint).toContain("--origin COLUMN");
  });
});
