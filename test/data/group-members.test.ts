import fc from "fast-check";
import { describe, expect, test } from "vitest";
import { InputError } from "../../src/core/errors.ts";
import type { GroupExpression } from "../../src/data/groups/group-expression.ts";
import { type EvaluateOptions, evaluateGroup } from "../../src/data/groups/group-members.ts";
import { parseGroup } from "../../src/data/groups/parse-group.ts";
import type { Column, Table } from "../../src/data/table.ts";

const NA = Number.NaN;
const DAY_2003 = Date.UTC(2003, 0, 1) / 86_400_000;

const people: Table = {
  name: "people.csv",
  rows: 6,
  columns: [
    { name: "age", type: "number", values: Float64Array.of(23, 24, 47, 48, NA, 60) },
    { name: "sex", type: "category", codes: Int32Array.of(0, 1, 0, 1, 0, -1), levels: ["F", "M"] },
    { name: "stage", type: "category", codes: Int32Array.of(0, 1, 2, 2, 1, 0), levels: ["1", "2", "10"] },
    { name: "treated", type: "boolean", values: Uint8Array.of(0, 1, 255, 1, 0, 1) },
    {
      name: "first visit",
      type: "date",
      values: Float64Array.of(DAY_2003 - 1, DAY_2003, DAY_2003 + 0.5, DAY_2003 + 1, NA, DAY_2003 + 364),
    },
    { name: "code", type: "category", codes: Int32Array.of(0, 1, 2, 0, 1, 2), levels: ["007", "7.0", "x"] },
    { name: "empty", type: "number", values: new Float64Array(6).fill(NA) },
  ],
};

/** Members as 1-based row numbers. */
function members(expression: string, table = people, options: EvaluateOptions = {}): number[] {
  return [...evaluateGroup(expression, table, options)].flatMap((member, row) =>
    member === 1 ? [row + 1] : [],
  );
}

describe("evaluateGroup", () => {
  test.each([
    ["all", [1, 2, 3, 4, 5, 6]],
    ["!all", []],
    ["age < 24", [1]],
    ["age <= 24", [1, 2]],
    ["age > 47", [4, 6]],
    ["age >= 47", [3, 4, 6]],
    ["age = 24", [2]],
    ["age != 24", [1, 3, 4, 6]],
    ["age in {23, 60, 99}", [1, 6]],
    ["age not in {23, 60}", [2, 3, 4]],
    ["age = '24'", [2]],
    ["24 <= age < 48", [2, 3]],
    ["24 < age <= 48", [3, 4]],
    ["48 >= age > 24", [3, 4]],
    ["sex = F", [1, 3, 5]],
    ["sex != F", [2, 4]],
    ["sex in {F, M}", [1, 2, 3, 4, 5]],
    ["stage = 2", [2, 5]],
    ["stage = 2.0", [2, 5]],
    ["stage in {1, '10'}", [1, 3, 4, 6]],
    ["code = 007", [1, 4]], // a word: exactly that level
    ["code = 7", [2, 5]], // a number: no level is spelled "7"; "7.0" has its value, "007" is no number
    ["treated", [2, 4, 6]],
    ["!treated", [1, 5]],
    ["treated = false", [1, 5]],
    ["treated != false", [2, 4, 6]],
    ["treated = 1", [2, 4, 6]],
    ["treated in {'TRUE', 0}", [1, 2, 4, 5, 6]],
    ["age is missing", [5]],
    ["age is not missing", [1, 2, 3, 4, 6]],
    ["treated is missing | sex is missing", [3, 6]],
    ['"first visit" < 2003-01-01', [1]],
    ['"first visit" = 2003-01-01', [2]],
    ['"first visit" = "2003-01-01T12:00"', [3]],
    ['2003-01-01 <= "first visit" < 2003-01-02', [2, 3]],
    ['"first visit" in {2003-01-02, 2003-12-31}', [4, 6]],
    ["age >= 24 & sex = M | treated & stage = 1", [2, 4, 6]],
    ["empty > 3", []],
    ["!(empty = F)", []], // nothing is known of its type
    ["empty is missing", [1, 2, 3, 4, 5, 6]],
  ])("%s", (expression, expected) => {
    expect(members(expression)).toEqual(expected);
  });

  test("takes a tree as well as a text", () => {
    expect([...evaluateGroup(parseGroup("24 <= age < 48"), people)]).toEqual([0, 1, 1, 0, 0, 0]);
  });

  test("works on a table without rows", () => {
    const none: Table = {
      name: "none",
      rows: 0,
      columns: [{ name: "age", type: "number", values: new Float64Array(0) }],
    };
    expect(evaluateGroup("age > 3", none)).toEqual(new Uint8Array(0));
  });
});

describe("Kleene logic", () => {
  const T = 1;
  const F = 0;
  const U = 255;
  const pairs: Table = {
    name: "pairs",
    rows: 9,
    columns: [
      { name: "x", type: "boolean", values: Uint8Array.of(T, T, T, F, F, F, U, U, U) },
      { name: "y", type: "boolean", values: Uint8Array.of(T, F, U, T, F, U, T, F, U) },
    ],
  };
  // rows: 1 TT, 2 TF, 3 TU, 4 FT, 5 FF, 6 FU, 7 UT, 8 UF, 9 UU
  test.each([
    ["x & y", [1]],
    ["!(x & y)", [2, 4, 5, 6, 8]], // false wins over unknown: TF, FT, FF, FU, UF
    ["x | y", [1, 2, 3, 4, 7]], // true wins over unknown: TU, UT
    ["!(x | y)", [5]],
    ["!x", [4, 5, 6]],
    ["x | !x", [1, 2, 3, 4, 5, 6]], // unknown stays out of both
    ["x != true", [4, 5, 6]],
    ["!(x = true)", [4, 5, 6]],
    ["!(x != true)", [1, 2, 3]],
    ["x not in {true}", [4, 5, 6]],
    ["!(x is missing)", [1, 2, 3, 4, 5, 6]],
    ["x | x is missing", [1, 2, 3, 7, 8, 9]],
  ])("%s", (expression, expected) => {
    expect(members(expression, pairs)).toEqual(expected);
  });

  // The slow twin: row by row on the numbers 0, ½, 1, where not is 1 − a, and the minimum, or the maximum.
  function truthOfRow(expression: GroupExpression, row: number): number {
    const cell = (name: string) => {
      const column = people.columns.find((other) => other.name === name);
      return column?.type === "number" ? column.values[row] : NA;
    };
    switch (expression.type) {
      case "not":
        return 1 - truthOfRow(expression.term, row);
      case "and":
        return Math.min(...expression.terms.map((term) => truthOfRow(term, row)));
      case "or":
        return Math.max(...expression.terms.map((term) => truthOfRow(term, row)));
      case "missing":
        return Number.isNaN(cell(expression.column)) ? 1 : 0;
      case "compare": {
        const value = cell(expression.column);
        if (Number.isNaN(value)) return 0.5;
        return (expression.comparison === ">" ? value > Number(expression.value) : value === expression.value)
          ? 1
          : 0;
      }
      default:
        return 1;
    }
  }

  test("agrees with the slow twin on any tree", () => {
    const column = fc.constantFrom("age", "empty");
    const comparison = fc.constantFrom(">" as const, "=" as const);
    const trees = fc.letrec<{ tree: GroupExpression }>((tie) => ({
      tree: fc.oneof(
        { depthSize: "small" },
        fc.constant<GroupExpression>({ type: "all" }),
        fc.record({ type: fc.constant("missing" as const), column }),
        fc.record({
          type: fc.constant("compare" as const),
          column,
          comparison,
          value: fc.constantFrom(23, 24, 47, 48, 60),
        }),
        fc.record({ type: fc.constant("not" as const), term: tie("tree") }),
        fc.record({
          type: fc.constantFrom("and" as const, "or" as const),
          terms: fc.array(tie("tree"), { minLength: 2, maxLength: 3 }),
        }),
      ),
    })).tree;
    const property = fc.property(trees, (tree) => {
      const expected = Array.from({ length: people.rows }, (_, row) => (truthOfRow(tree, row) === 1 ? 1 : 0));
      expect([...evaluateGroup(tree, people)]).toEqual(expected);
    });
    fc.assert(property, { seed: 11, numRuns: 1000 });
  });
});

describe("evaluateGroup refuses", () => {
  function refusal(expression: string, table = people): InputError {
    try {
      evaluateGroup(expression, table);
    } catch (error) {
      if (error instanceof InputError) return error;
    }
    throw new Error("no InputError");
  }

  test.each([
    [
      "an unknown column",
      "sex = F & agee > 3",
      "group.column",
      'unknown column: "agee" (have age, sex, stage, treated, first visit, code, empty)',
      10,
      'did you mean "age"?',
    ],
    [
      "a column in the wrong case",
      "AGE > 3",
      "group.column",
      'unknown column: "AGE" (have',
      0,
      'did you mean "age"?',
    ],
    ["a column like no other", "weight > 3", "group.column", 'unknown column: "weight"', 0, undefined],
    ["an unknown level", "sex = Q", "group.level", 'column "sex" has no value "Q" (have F, M)', 6, undefined],
    [
      "an unknown level in a set",
      "code in {007, 08}",
      "group.level",
      'column "code" has no value "08" (have 007, 7.0, x)',
      14,
      undefined,
    ],
    [
      "an unknown level after !=",
      "stage != 3",
      "group.level",
      'column "stage" has no value 3 (have 1, 2, 10)',
      9,
      undefined,
    ],
    [
      "the order of a category",
      "sex < M",
      "group.type",
      '"sex" is a category column: "<" needs numbers or dates',
      0,
      "use =, != or in {…} instead",
    ],
    [
      "a range of a category",
      "1 <= stage < 3",
      "group.type",
      '"stage" is a category column: ">=" needs numbers or dates',
      5,
      "use =, != or in {…} instead",
    ],
    [
      "the order of a boolean",
      "treated > false",
      "group.type",
      '"treated" is a boolean column: ">"',
      0,
      "use =, != or in {…} instead",
    ],
    [
      "a text for a number",
      "age > old",
      "group.type",
      '"age" is a number column: it cannot be compared with "old"',
      6,
      "compare it with a number",
    ],
    [
      "a boolean for a number",
      "age = true",
      "group.type",
      '"age" is a number column: it cannot be compared with true',
      6,
      "compare it with a number",
    ],
    [
      "a text in a range",
      "20 < age < old",
      "group.type",
      'cannot be compared with "old"',
      11,
      "compare it with a number",
    ],
    [
      "a number for a date",
      '"first visit" > 2003',
      "group.type",
      '"first visit" is a date column: it cannot be compared with 2003',
      16,
      "compare it with a date such as 2003-01-31",
    ],
    [
      "a day that is none",
      '"first visit" > 2003-02-30',
      "group.type",
      'cannot be compared with "2003-02-30"',
      16,
      "compare it with a date such as 2003-01-31",
    ],
    [
      "a text for a boolean",
      "treated = yes",
      "group.type",
      '"treated" is a boolean column: it cannot be compared with "yes"',
      10,
      "compare it with true or false",
    ],
    [
      "a bare column that is not boolean",
      "treated & age",
      "group.type",
      '"age" is a number column: it needs a comparison',
      10,
      undefined,
    ],
  ])("%s", (_, expression, code, problem, column, hint) => {
    const error = refusal(expression);
    const [first, shown, caret] = error.message.split("\n");
    expect(first).toContain(problem);
    expect(shown).toBe(`  ${expression}`);
    expect(caret).toBe(`${" ".repeat(2 + column)}^`);
    expect(error.code).toBe(code);
    expect(error.hint).toBe(hint);
    expect(error.where).toBe("people.csv");
  });

  test("lists 20 levels at most", () => {
    const levels = Array.from({ length: 25 }, (_, k) => `level${k}`);
    const column: Column = { name: "site", type: "category", codes: Int32Array.of(0), levels };
    const { message } = refusal("site = nowhere", { name: "sites", rows: 1, columns: [column] });
    expect(message.split("\n")[0]).toBe(
      `column "site" has no value "nowhere" (have ${levels.slice(0, 20).join(", ")}, … 25 in all)`,
    );
  });

  test("an unknown level is allowed on request, and then no row has it", () => {
    expect(members("sex = Q", people, { unknownLevels: "allow" })).toEqual([]);
    expect(members("sex != Q", people, { unknownLevels: "allow" })).toEqual([1, 2, 3, 4, 5]);
    expect(members("sex in {Q, M}", people, { unknownLevels: "allow" })).toEqual([2, 4]);
  });
});
