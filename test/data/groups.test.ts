import { describe, expect, test } from "vitest";
import { InputError } from "../../src/core/errors.ts";
import {
  groupsFromFile,
  parseGroupsFile,
  parseNamedGroup,
  resolveGroups,
} from "../../src/data/groups/groups.ts";
import type { Table } from "../../src/data/table.ts";

const people: Table = {
  name: "people.csv",
  rows: 6,
  columns: [
    { name: "age", type: "number", values: Float64Array.of(20, 70, 30, 80, Number.NaN, 61) },
    { name: "sex", type: "category", codes: Int32Array.of(0, 1, 0, 1, 0, 0), levels: ["F", "M"] },
    { name: "death", type: "number", values: Float64Array.of(0, 1, 0, 1, 0, 1) },
  ],
};
const everyone = [0, 1, 2, 3, 4, 5];

function refusal(action: () => unknown): InputError {
  try {
    action();
  } catch (error) {
    if (error instanceof InputError) return error;
    throw error;
  }
  throw new Error("nothing was thrown");
}

describe("parseNamedGroup", () => {
  test.each([
    ["older: age >= 60", "older", "age >= 60"],
    ["  older men :  age >= 60 & sex = M ", "older men", "age >= 60 & sex = M"],
    ['"60+": age >= 60', "60+", "age >= 60"],
    ['"say ""x""": age >= 60', 'say "x"', "age >= 60"],
    ["'it''s': age >= 60", "it's", "age >= 60"],
    ["`a: b`: age >= 60", "a: b", "age >= 60"],
    ["age >= 60", "age >= 60", "age >= 60"],
    ['"blood pressure" > 140', '"blood pressure" > 140', '"blood pressure" > 140'],
    ["2003-01-01T10:00 <= visit", "2003-01-01T10:00 <= visit", "2003-01-01T10:00 <= visit"],
    ["site = 'a: b'", "site = 'a: b'", "site = 'a: b'"],
  ])("%s", (text, name, expression) => {
    expect(parseNamedGroup(text)).toStrictEqual({ name, expression });
  });

  test("refuses what is no expression, and no name", () => {
    expect(refusal(() => parseNamedGroup("older: age >=")).message).toBe(
      'expected a value after ">=", found end\n  age >=\n        ^',
    );
    expect(refusal(() => parseNamedGroup("older:")).code).toBe("group.syntax");
    expect(refusal(() => parseNamedGroup('"": age > 3')).code).toBe("group.name");
  });
});

describe("resolveGroups", () => {
  test("gives rows in order, 0-based", () => {
    const [older, nobody] = resolveGroups(["older: age >= 60", "age > 200"].map(parseNamedGroup), people);
    expect(older).toStrictEqual({ name: "older", expression: "age >= 60", rows: Int32Array.of(1, 3, 5) });
    expect(nobody.rows).toStrictEqual(new Int32Array(0));
  });

  test("an error names the table and the group", () => {
    const error = refusal(() => resolveGroups([{ name: "older", expression: "agee > 3" }], people));
    expect(error.where).toBe('people.csv, group "older"');
    expect(error.message).toContain('unknown column: "agee"');
  });

  test("unknown levels on request", () => {
    const group = [{ name: "g", expression: "sex = X" }];
    expect(refusal(() => resolveGroups(group, people)).code).toBe("group.level");
    expect(resolveGroups(group, people, { unknownLevels: "allow" })[0].rows.length).toBe(0);
  });

  test("two groups cannot share a name", () => {
    const twice = ["old: age > 60", "old: age > 70"].map(parseNamedGroup);
    expect(refusal(() => resolveGroups(twice, people)).message).toBe('two groups have the same name: "old"');
  });
});

describe("groups file", () => {
  test("all, then the named, then the automatic groups", () => {
    const text = `{
      "groups": [{ "name": "older", "where": "age >= 60" }, { "where": " age < 60 " }],
      "automatic": { "minRows": 2 }
    }`;
    const file = parseGroupsFile(text, "g.json");
    // older {2,4,6}, age < 60 {1,3}. sex = F {1,3,5,6}: 2/2 of age < 60, rejected; death = 0 {1,3,5}: the same;
    // death = 1 {2,4,6}: 3/3 of older, rejected; sex = M {2,4}: 2/3 of older, 2/6 of all, chosen
    expect(groupsFromFile(file, people, everyone)).toEqual([
      { name: "all", expression: "all" },
      { name: "older", expression: "age >= 60" },
      { name: "age < 60", expression: "age < 60" },
      { name: "sex = M", expression: "sex = M" },
    ]);
  });

  test("the caller's exclude adds to the file's; a column the file names is used", () => {
    const groups = (automatic: object) =>
      groupsFromFile(parseGroupsFile(JSON.stringify({ automatic }), "g.json"), people, everyone, {
        exclude: ["death"],
      }).map((group) => group.name);
    expect(groups({ minRows: 2, maxOverlap: 1 })).toEqual(["all", "sex = F", "sex = M"]);
    expect(groups({ minRows: 2, maxOverlap: 1, exclude: ["sex"] })).toEqual(["all"]);
    expect(groups({ minRows: 2, maxOverlap: 1, columns: ["death"] })).toEqual([
      "all",
      "death = 0",
      "death = 1",
    ]);
  });

  test("without automatic nothing is chosen by rule, without all not everyone", () => {
    expect(groupsFromFile(parseGroupsFile("{}", "g.json"), people, everyone)).toEqual([
      { name: "all", expression: "all" },
    ]);
    const file = parseGroupsFile(
      '{ "all": false, "groups": [{ "name": "men", "where": "sex = M" }] }',
      "g.json",
    );
    expect(groupsFromFile(file, people, everyone)).toEqual([{ name: "men", expression: "sex = M" }]);
  });

  test.each([
    ["not JSON", "{", "groups.file", "g.json", "groups file is not JSON"],
    ["a list", "[]", "groups.file", "g.json", "expected object"],
    [
      "a text for the expression",
      '{ "groups": [{ "name": "a", "where": 3 }] }',
      "groups.file",
      "g.json, groups[0].where",
      "groups[0].where: Invalid input: expected string, received number",
    ],
    [
      "no expression",
      '{ "groups": [{ "name": "a" }] }',
      "groups.file",
      "g.json, groups[0].where",
      "groups[0].where",
    ],
    [
      "an empty name",
      '{ "groups": [{ "name": "", "where": "all" }] }',
      "groups.file",
      "g.json, groups[0].name",
      "groups[0].name",
    ],
    ["a misspelt key", '{ "group": [] }', "groups.file", "g.json", '"group"'],
    ["a misspelt option", '{ "automatic": { "minRow": 3 } }', "groups.file", "g.json, automatic", '"minRow"'],
    [
      "an unknown overlap",
      '{ "automatic": { "overlap": "old" } }',
      "groups.file",
      "g.json, automatic.overlap",
      "automatic.overlap",
    ],
    [
      "a share in per cent",
      '{ "automatic": { "maxOverlap": 80 } }',
      "groups.file",
      "g.json, automatic.maxOverlap",
      "automatic.maxOverlap",
    ],
    [
      "half a row",
      '{ "automatic": { "minRows": 0.5 } }',
      "groups.file",
      "g.json, automatic.minRows",
      "automatic.minRows",
    ],
    [
      "a broken expression",
      '{ "groups": [{ "where": "age > 1" }, { "name": "a", "where": "age >" }] }',
      "group.syntax",
      "g.json, groups[1].where",
      'expected a value after ">", found end',
    ],
    [
      "a name twice",
      '{ "groups": [{ "name": "a", "where": "age > 1" }, { "name": "a", "where": "age > 2" }] }',
      "group.name",
      "g.json",
      'two groups have the same name: "a"',
    ],
    [
      "a second all",
      '{ "groups": [{ "name": "all", "where": "age > 1" }] }',
      "group.name",
      "g.json",
      'two groups have the same name: "all"',
    ],
  ])("refuses %s", (_, text, code, where, problem) => {
    const error = refusal(() => parseGroupsFile(text, "g.json"));
    expect(error.code).toBe(code);
    expect(error.where).toBe(where);
    expect(error.message).toContain(problem);
  });
});
