import { describe, expect, test } from "vitest";
import { InputError } from "../../src/core/errors.ts";
import { inspectOutcomes, readOutcomes } from "../../src/data/read-outcomes.ts";
import type { Column } from "../../src/data/table.ts";
import { booleans, brief, categories, dates, numbers, readNamed, tableOf } from "./sanity-tables.ts";

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
    expect(findings).toEqual([]);
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
    expect(error.message).toBe("event must be 0/1, true/false or 1/2: event holds 0, 1, 2 (rows 1 and 4)");
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
    ["texts", categories("event", ["alive", "dead", "dead", "alive"]), "rows 1, 2, 3 and 4"],
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
