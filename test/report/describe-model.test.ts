// What a report is told of a model: findings of columns it uses, does not use, or tells people apart by.
import { describe, expect, test } from "vitest";
import { plainText } from "../../src/core/sentence.ts";
import { createFinding, type FindingParts } from "../../src/data/checks/findings.ts";
import { describeOutcome, findingsFor, timeLabelOf } from "../../src/report/data/describe-model.ts";
import type { Model } from "../../src/training/model.ts";

const model = {
  columns: { time: "days", event: "dead", origin: "entry" },
  encoder: { columns: [{ column: "age" }] },
} as unknown as Pick<Model, "columns" | "encoder">;

function saidOf(parts: Partial<FindingParts>, id: string | null = null, of = model): string {
  const finding = createFinding({
    code: "leak.later",
    level: "warning",
    column: "other",
    said: "a finding",
    evidence: {},
    ...parts,
  });
  const [{ level, sentence }] = findingsFor([finding], of, id);
  return `${level}: ${plainText(sentence)}`;
}

describe("findingsFor", () => {
  const hint = "Was this known at the start? If not, --drop other";

  test("of a column that is used, or of none, everything is said", () => {
    expect(saidOf({ column: "age", hint })).toBe(`warning: a finding. ${hint}`);
    expect(saidOf({ column: "entry", hint })).toBe(`warning: a finding. ${hint}`);
    expect(saidOf({ column: null, level: "error" })).toBe("error: a finding");
  });

  test("of another column it is a note without a hint", () => {
    expect(saidOf({ hint })).toBe("note: a finding (the model does not use it)");
    expect(saidOf({ hint: "--number other reads it" })).toBe("note: a finding (the model does not use it)");
    expect(saidOf({ consequence: "rows are not independent" })).toBe(
      "note: a finding: rows are not independent (the model does not use it)",
    );
  });

  test("of the id it is said what was done", () => {
    const pid = {
      code: "id",
      column: "pid",
      said: "pid identifies 40 patients",
      consequence: "these rows are not independent",
      evidence: { fixedColumns: 2 },
    } as const;
    const trained = { ...model, columns: { ...model.columns, id: "pid" } };
    expect(saidOf(pid, "pid", trained)).toBe(
      "note: pid identifies 40 patients: rows of one person were kept together (--id pid)",
    );
    expect(saidOf(pid, "pid")).toBe(
      "note: pid identifies 40 patients: the audit takes rows of one person together, training did not (--id pid)",
    );
    expect(saidOf(pid)).toContain("these rows are not independent (the model does not use it)");
  });
});

test("the outcome's columns, and days where times come from dates", () => {
  expect(describeOutcome(model.columns, "1 = event")).toEqual({
    time: "days",
    event: "dead",
    origin: "entry",
    rule: "1 = event",
  });
  expect(describeOutcome({ time: "t", event: "e" }, "1 = event")).not.toHaveProperty("origin");
  expect([
    timeLabelOf("weeks", "entry"),
    timeLabelOf(undefined, "entry"),
    timeLabelOf(undefined, undefined),
  ]).toEqual(["weeks", "days", undefined]);
});
