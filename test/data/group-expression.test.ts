import fc from "fast-check";
import { describe, expect, test } from "vitest";
import { InputError } from "../../src/core/errors.ts";
import {
  formatGroup,
  type GroupExpression,
  type GroupValue,
  MAX_NESTING,
} from "../../src/data/groups/group-expression.ts";
import { parseGroup } from "../../src/data/groups/parse-group.ts";

const compare = (column: string, comparison: "=" | "!=" | "<" | "<=" | ">" | ">=", value: GroupValue) =>
  ({ type: "compare", column, comparison, value }) as const;
const a = { type: "holds", column: "a" } as const;
const b = { type: "holds", column: "b" } as const;
const c = { type: "holds", column: "c" } as const;
const not = (term: GroupExpression) => ({ type: "not", term }) as const;
const and = (...terms: GroupExpression[]) => ({ type: "and", terms }) as const;
const or = (...terms: GroupExpression[]) => ({ type: "or", terms }) as const;

describe("parseGroup reads tests", () => {
  test.each<[string, GroupExpression]>([
    ["all", { type: "all" }],
    [" ALL ", { type: "all" }],
    ["age = 60", compare("age", "=", 60)],
    ["age==60", compare("age", "=", 60)],
    ["age != 60", compare("age", "!=", 60)],
    ["age<60", compare("age", "<", 60)],
    ["age <= -1.5e-3", compare("age", "<=", -1.5e-3)],
    ["age > .5", compare("age", ">", 0.5)],
    ["age >= +3.", compare("age", ">=", 3)],
    ["age > -0", compare("age", ">", 0)],
    ["flc.grp = 10", compare("flc.grp", "=", 10)],
    ["valueOf = toString", compare("valueOf", "=", "toString")],
    ["größe > 1", compare("größe", ">", 1)],
    ["sex = F", compare("sex", "=", "F")],
    ["sex = 'F'", compare("sex", "=", "F")],
    ['sex = "F"', compare("sex", "=", "F")],
    ["sex = 'it''s'", compare("sex", "=", "it's")],
    ['"blood pressure" > 140', compare("blood pressure", ">", 140)],
    ["`blood pressure` > 140", compare("blood pressure", ">", 140)],
    ['"say ""x""" = 1', compare('say "x"', "=", 1)],
    ['"and" = "or"', compare("and", "=", "or")],
    ["status = missing", compare("status", "=", "missing")],
    ["code = 007", compare("code", "=", "007")],
    ["dose = 2b", compare("dose", "=", "2b")],
    ["in.subcohort = TRUE", compare("in.subcohort", "=", true)],
    ["ok != false", compare("ok", "!=", false)],
    ['ok = "true"', compare("ok", "=", "true")],
    ["visit >= 2003-01-31", compare("visit", ">=", "2003-01-31")],
    ["visit < 2003-01-31T10:30", compare("visit", "<", "2003-01-31T10:30")],
    ["visit < 2003-01-31T10:30:15.5+02:00", compare("visit", "<", "2003-01-31T10:30:15.5+02:00")],
    ["in.subcohort", { type: "holds", column: "in.subcohort" }],
    ["x is missing", { type: "missing", column: "x" }],
    ["x IS Not MISSING", not({ type: "missing", column: "x" })],
    ["x in {1, a, 'b c', true}", { type: "in", column: "x", values: [1, "a", "b c", true] }],
    ["x not in {1}", not({ type: "in", column: "x", values: [1] })],
    ["60 <= age", compare("age", ">=", 60)],
    ["60 > age", compare("age", "<", 60)],
    ["2 = stage", compare("stage", "=", 2)],
    [
      "24 <= age < 48",
      { type: "range", column: "age", lower: 24, lowerIncluded: true, upper: 48, upperIncluded: false },
    ],
    [
      "48 > age >= 24",
      { type: "range", column: "age", lower: 24, lowerIncluded: true, upper: 48, upperIncluded: false },
    ],
    [
      '2003-01-01 < "first visit" <= 2004-01-01',
      {
        type: "range",
        column: "first visit",
        lower: "2003-01-01",
        lowerIncluded: false,
        upper: "2004-01-01",
        upperIncluded: true,
      },
    ],
  ])("%s", (text, expected) => {
    expect(parseGroup(text)).toStrictEqual(expected);
  });
});

describe("parseGroup joins tests: ! before & before |", () => {
  test.each<[string, GroupExpression]>([
    ["a | b & c", or(a, and(b, c))],
    ["a & b | c", or(and(a, b), c)],
    ["(a | b) & c", and(or(a, b), c)],
    ["!a & b", and(not(a), b)],
    ["!(a & b)", not(and(a, b))],
    ["!!a", not(not(a))],
    ["a && b || c", or(and(a, b), c)],
    ["a AND b Or nOt c", or(and(a, b), not(c))],
    ["a & b & c", and(a, b, c)],
    ["(a & b) & c", and(and(a, b), c)],
    ["((a))", a],
    ["!x = 2", not(compare("x", "=", 2))],
    ["not x in {2} and a", and(not({ type: "in", column: "x", values: [2] }), a)],
    ["not x not in {2}", not(not({ type: "in", column: "x", values: [2] }))],
  ])("%s", (text, expected) => {
    expect(parseGroup(text)).toStrictEqual(expected);
  });
});

function catchError(action: () => unknown): InputError {
  try {
    action();
  } catch (error) {
    if (error instanceof InputError) return error;
    throw error;
  }
  throw new Error("nothing was thrown");
}

describe("a syntax error shows the text, the place and what was expected", () => {
  test("the whole message", () => {
    const error = catchError(() => parseGroup("age >="));
    expect(error.code).toBe("group.syntax");
    expect(error.message).toBe('expected a value after ">=", found end\n  age >=\n        ^');
    expect(error.hint).toContain("age >= 60");
  });

  // The caret's column is the number of characters of the text before it.
  test.each([
    ["", "expected a column, found end", 0],
    ["age >= & sex = F", 'expected a value after ">=", found "&"', 7],
    ["age >= and sex = F", 'expected a value after ">=", found "and"', 7],
    ["age 60", 'expected a comparison after "age", found "60"', 4],
    ["age > 60 sex = F", 'expected "&", "|" or end, found "sex"', 9],
    ["(age > 60", 'expected "&", "|" or ")", found end', 9],
    ["age > 60)", 'expected "&", "|" or end, found ")"', 8],
    ["sex = 'F", "this ' is never closed", 6],
    ["x in 1", 'expected "{" after "in", found "1"', 5],
    ["x in {}", 'expected a value after "{", found "}"', 6],
    ["x in {1,}", 'expected a value after ",", found "}"', 8],
    ["x in {1 2}", 'expected "," or "}", found "2"', 8],
    ["x not 3", 'expected "in" after "not", found "3"', 6],
    ["x is 3", 'expected "missing" or "not missing", found "3"', 5],
    ["x is not 3", 'expected "missing", found "3"', 9],
    ["in = 3", 'expected a column (a column of that name needs quotes), found "in"', 0],
    ["age > 60 & or", 'expected a column (a column of that name needs quotes), found "or"', 11],
    ["= 3", 'expected a column, found "="', 0],
    ["60", "expected a comparison after the value, found end", 2],
    ["24 < age > 48", 'expected "<" or "<=" to go on from "<", found ">"', 9],
    ["24 < age < true", "true and false have no order", 11],
    ["24 = age = 24", 'expected "&", "|" or end, found "="', 9],
    ["age + 1 > 3", 'unexpected character "+"', 4],
    ["age # 3", 'unexpected character "#"', 4],
    ["age > 1e999", "number too large: 1e999", 6],
    ["band = 60-69", 'expected "&", "|" or end, found "-69"', 9],
    ["🙂", 'unexpected character "🙂"', 0],
  ])("%j", (text, problem, column) => {
    const [first, shown, caret] = catchError(() => parseGroup(text)).message.split("\n");
    expect(first).toBe(problem);
    expect(shown).toBe(`  ${text}`);
    expect(caret).toBe(`${" ".repeat(2 + column)}^`);
  });

  test("line breaks and characters of two code units do not shift the caret", () => {
    const [, shown, caret] = catchError(() => parseGroup("'🙂' <\n\tage >")).message.split("\n");
    expect(shown).toBe("  '🙂' <  age >");
    expect(caret.indexOf("^")).toBe(2 + 11);
  });

  test("of a long text only the neighbourhood is shown", () => {
    const text = `${"age > 1 & ".repeat(1000)}age >`;
    const [, shown, caret] = catchError(() => parseGroup(text)).message.split("\n");
    expect(shown).toBe(`  …${text.slice(-60)}`);
    expect(caret).toBe(`${" ".repeat(2 + 1 + 60)}^`);
  });

  test("where is passed on", () => {
    expect(catchError(() => parseGroup("(", "groups.json, groups[0].where")).where).toBe(
      "groups.json, groups[0].where",
    );
  });
});

describe("depth", () => {
  test.each([
    ["brackets", "(", ")"],
    ["negations", "!", ""],
  ])("%s are limited to MAX_NESTING", (_, open, close) => {
    const nest = (n: number) => `${open.repeat(n)}a${close.repeat(n)}`;
    expect(() => parseGroup(nest(MAX_NESTING))).not.toThrow();
    const error = catchError(() => parseGroup(nest(MAX_NESTING + 1)));
    expect(error.code).toBe("group.syntax");
    expect(error.message).toContain("nested too deeply: more than 100");
    expect(catchError(() => parseGroup(nest(100_000))).code).toBe("group.syntax");
  });

  test("a long chain is not deep", () => {
    const tree = parseGroup(Array.from({ length: 100_000 }, () => "a").join(" & "));
    expect(tree.type === "and" && tree.terms.length).toBe(100_000);
  });

  test("the deepest tree that parses can be written down", () => {
    const text = `a | b & ${"(a | b & ".repeat(MAX_NESTING)}c${")".repeat(MAX_NESTING)}`;
    const tree = parseGroup(text);
    expect(parseGroup(formatGroup(tree))).toStrictEqual(tree);
  });

  test("a deeper tree is refused, not overflowed", () => {
    let tree: GroupExpression = a;
    for (let i = 0; i < 100_000; i++) tree = not(tree);
    expect(catchError(() => formatGroup(tree)).message).toContain("nested too deeply");
  });
});

describe("formatGroup", () => {
  test.each([
    ["sex='F'&age>=60", "sex = F & age >= 60"],
    ["(a|b)&!(c&a)", "(a | b) & !(c & a)"],
    ["48>age>=24", "24 <= age < 48"],
    ["not x in {1,'2 b'}", 'x not in {1, "2 b"}'],
    ["!x is missing", "x is not missing"],
    ["`true` = 'true'", '"true" = "true"'],
    ["code = 007", 'code = "007"'],
    ["visit = '2003-01-31'", "visit = 2003-01-31"],
    ["'b c' < x < d", "'b c' < x < d"],
  ])("writes %s as %s", (text, expected) => {
    expect(formatGroup(parseGroup(text))).toBe(expected);
  });

  const anyText = fc.oneof(
    fc.string({ unit: "binary", maxLength: 8 }),
    fc.string({ unit: fc.constantFrom('"', "'", "`", " ", "a", "&", "\n", "\\"), maxLength: 6 }),
    fc.constantFrom(
      "age",
      "flc.grp",
      "and",
      "TRUE",
      "all",
      "missing",
      "007",
      "12",
      "-1",
      "2003-01-31",
      "1e5",
      ".5",
    ),
  );
  const anyNumber = fc
    .oneof(fc.integer(), fc.double({ noNaN: true, noDefaultInfinity: true }))
    .map((value) => (value === 0 ? 0 : value));
  const anyValue = fc.oneof(anyText, anyNumber, fc.boolean());
  const anyBound = fc.oneof(anyText, anyNumber);
  const anyExpression = fc.letrec<{ expression: GroupExpression }>((tie) => ({
    expression: fc.oneof(
      { depthSize: "small", withCrossShrink: true },
      fc.constant<GroupExpression>({ type: "all" }),
      fc.record({ type: fc.constant("holds" as const), column: anyText }),
      fc.record({ type: fc.constant("missing" as const), column: anyText }),
      fc.record({
        type: fc.constant("compare" as const),
        column: anyText,
        comparison: fc.constantFrom("=", "!=", "<", "<=", ">", ">="),
        value: anyValue,
      }),
      fc.record({
        type: fc.constant("range" as const),
        column: anyText,
        lower: anyBound,
        lowerIncluded: fc.boolean(),
        upper: anyBound,
        upperIncluded: fc.boolean(),
      }),
      fc.record({
        type: fc.constant("in" as const),
        column: anyText,
        values: fc.array(anyValue, { minLength: 1, maxLength: 4 }),
      }),
      fc.record({ type: fc.constant("not" as const), term: tie("expression") }),
      fc.record({
        type: fc.constantFrom("and" as const, "or" as const),
        terms: fc.array(tie("expression"), { minLength: 2, maxLength: 4 }),
      }),
    ),
  })).expression;

  test("round-trips: parse(format(tree)) equals tree, also through JSON", () => {
    const property = fc.property(anyExpression, (tree) => {
      expect(parseGroup(formatGroup(tree))).toEqual(tree);
      expect(JSON.parse(JSON.stringify(parseGroup(formatGroup(tree))))).toEqual(
        parseGroup(formatGroup(tree)),
      );
    });
    fc.assert(property, { seed: 20240517, numRuns: 3000 });
  });

  test("any text either parses or is a group.syntax error", () => {
    const pieces = fc.constantFrom(
      ..."() {} , = != < <= > >= & | ! age 60 'F' \"x y\" `z` in is not missing all true 2003-01-01 # - .".split(
        " ",
      ),
    );
    const text = fc.oneof(
      fc.string({ unit: "binary" }),
      fc.array(pieces).map((parts) => parts.join(" ")),
    );
    const property = fc.property(text, (input) => {
      let tree: GroupExpression;
      try {
        tree = parseGroup(input);
      } catch (error) {
        expect(error).toMatchObject({ name: "InputError", code: "group.syntax" });
        return;
      }
      expect(parseGroup(formatGroup(tree))).toStrictEqual(tree);
    });
    fc.assert(property, { seed: 7, numRuns: 5000 });
  });
});
