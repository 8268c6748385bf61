// Which column is what in a Cox fit: causes that compete, entries and weights that are features too, and what is refused.
import { describe, expect, test } from "vitest";
import { readTable, tableSourceFromBytes } from "../../src/data/reading/read-table.ts";
import { type CoxRequest, coxDocument } from "../../src/verbs/statistics/cox.ts";

/** 60 people who enter at 0 to 4 and leave later, lost, relapsed or dead. */
const ROWS = Array.from({ length: 60 }, (_, k) => {
  const entry = k % 5;
  const status = ["lost", "relapse", "death"][(k * 7) % 3];
  return [k + 1, entry, entry + 1 + ((k * 11) % 17), status, 40 + ((k * 13) % 30), 0.5 + (k % 4)].join(",");
});
const table = await readTable(
  tableSourceFromBytes("t.csv", new TextEncoder().encode(`id,entry,time,status,age,w\n${ROWS.join("\n")}\n`)),
);
const asked = { time: "time", event: "status", cause: "relapse", features: ["age"] };
const fitRows = (more: Partial<CoxRequest>) => coxDocument(table, { ...asked, ...more });

describe("the subdistribution of a cause", () => {
  test("says which values compete with it", () => {
    const { cause, events, n } = fitRows({ fineGray: true });
    expect(cause).toEqual({ value: "relapse", model: "subdistribution", competing: ["death"] });
    expect([n, events]).toEqual([60, 20]);
    // Whoever says that the dead are the censored has the lost compete.
    expect(fitRows({ fineGray: true, censored: "death" }).cause?.competing).toEqual(["lost"]);
  });

  test("is not fitted with the censored among those who compete, where their value is misspelt", () => {
    expect(() => fitRows({ fineGray: true, censored: "lots" })).toThrow(
      'no row of status is "lots" (have death, lost, relapse)',
    );
  });
});

describe("columns of the outcome as features", () => {
  test("an entry or a weight that is named is used", () => {
    const names = (more: Partial<CoxRequest>) => fitRows(more).coefficients.map(({ name }) => name);
    expect(names({ entry: "entry", features: ["age", "entry"] })).toEqual(["age", "entry"]);
    expect(names({ weights: "w", features: ["w", "age"] })).toEqual(["w", "age"]);
    // Among all columns they are not.
    const { features: _, ...all } = {
      ...asked,
      entry: "entry",
      weights: "w",
      drop: ["id"],
      allowLeak: ["age"],
    };
    expect(coxDocument(table, all).coefficients.map(({ name }) => name)).toEqual(["age"]);
  });

  test("the start of a row, the time and the event are refused", () => {
    const rows = { start: "entry", id: "id" };
    for (const name of ["entry", "time", "status"])
      expect(() => fitRows({ ...rows, features: ["age", name] })).toThrow(
        `the outcome cannot be a feature: "${name}"`,
      );
  });
});
