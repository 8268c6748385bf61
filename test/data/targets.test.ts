// Targets files: what is read, what is refused and where, and whether they fit a study.
import { describe, expect, test } from "vitest";
import { InputError } from "../../src/core/errors.ts";
import { parseTargets } from "../../src/data/targets/parse-targets.ts";
import { checkTargets, SE_FLOOR } from "../../src/data/targets/targets.ts";

const parse = (text: string) => parseTargets(text, { name: "registry.csv" });

function refusal(act: () => unknown): InputError {
  try {
    act();
  } catch (error) {
    if (error instanceof InputError) return error;
    throw error;
  }
  throw new Error("nothing was refused");
}

const table = (...lines: readonly string[]) => ["group,time,survival,se", ...lines].join("\n");

describe("a targets file", () => {
  const text = `# event: death
# origin: diagnosis
# mortality: all-cause
# period: 2010-2014: first half
# overlap: 0.75

se,group,survival,time
0.02,all,0.7,5
0.01,all,0.9,1
0.03,"men, ""older""",0.5,2
`;

  test("says whose survival it is, and gives each group's curve in the order of time", () => {
    const { name, about, curves } = parse(text);
    expect(name).toBe("registry.csv");
    expect(about).toEqual({
      event: "death",
      origin: "diagnosis",
      mortality: "all-cause",
      period: "2010-2014: first half",
      overlap: 0.75,
    });
    expect(curves.map(({ group }) => group)).toEqual(["all", 'men, "older"']);
    expect(Array.from(curves[0].time)).toEqual([1, 5]);
    expect(Array.from(curves[0].survival)).toEqual([0.9, 0.7]);
    // A quarter of the people is new: se² is four times as large.
    expect(Array.from(curves[0].se)).toEqual([0.02, 0.04]);
  });

  test("may have no head, any line ends, a byte order mark, blank lines and blanks", () => {
    const plain = parse(table("all,1,0.9,0.01", "all,2,0.8,0.02"));
    expect(plain.about).toEqual({ overlap: 0 });
    for (const end of ["\r\n", "\r"]) {
      const lines = ["\ufeff# event: death", "", "group, time ,survival,se", "", "all , 1,0.9,0.01"];
      const odd = parse([...lines, "", "all,2,8e-1,.02", ""].join(end));
      expect(odd.curves).toEqual(plain.curves);
    }
  });

  test("has a floor for the standard error, after the overlap, and says how often it was needed", () => {
    const errors = (overlap: number) =>
      parse(
        `# overlap: ${overlap}\n${table("all,1,0.9,0", "all,2,0.8,0.0005", "all,3,0.7,0.001", "all,4,0.7,0.002")}`,
      ).curves[0];
    expect(Array.from(errors(0).se)).toEqual([SE_FLOOR, SE_FLOOR, 0.001, 0.002]);
    expect(errors(0).floored).toBe(2);
    expect(errors(0.75).se[1]).toBe(0.001);
    expect(errors(0.75).floored).toBe(1);
  });

  test("may hold survival of 1 and survival that stays", () => {
    expect(Array.from(parse(table("all,1,1,0", "all,2,1,0")).curves[0].survival)).toEqual([1, 1]);
  });
});

describe("a line that is wrong is named", () => {
  test.each([
    ["time at 0", "all,0,0.9,0.01", "targets.time", "time is not above 0: 0", "time"],
    ["no number", "all,five,0.9,0.01", "targets.time", 'time is not a number: "five"', "time"],
    ["beyond float64", "all,1e999,0.9,0.01", "targets.time", 'time is not a number: "1e999"', "time"],
    [
      "a percentage",
      "all,1,90,0.01",
      "targets.survival",
      "survival is not above 0 and at most 1: 90",
      "survival",
    ],
    [
      "nobody left",
      "all,1,0,0.01",
      "targets.survival",
      "survival is not above 0 and at most 1: 0",
      "survival",
    ],
    ["a missing error", "all,1,0.9,", "targets.se", "se is missing", "se"],
    ["a negative error", "all,1,0.9,-0.1", "targets.se", "se is not 0 or more: -0.1", "se"],
    ["no group", ",1,0.9,0.1", "targets.group", "group is missing", "group"],
  ])("%s", (_, line, code, message, column) => {
    const error = refusal(() => parse(`# event: death\n${table("all,9,0.1,0.01", line)}`));
    expect(error).toMatchObject({ code, message, where: `registry.csv, line 4, column "${column}"` });
    expect(error.hint).toBeTruthy();
  });

  test("survival that rises, between lines in any order", () => {
    const error = refusal(() => parse(table("all,2,0.8,0.01", "men,1,0.5,0.01", "all,1,0.7,0.01")));
    expect(error).toMatchObject({
      code: "targets.rise",
      message: 'survival rises: group "all" from 0.7 (line 4) to 0.8',
      where: 'registry.csv, line 2, column "survival"',
    });
  });

  test("a time twice", () => {
    const error = refusal(() => parse(table("all,1,0.8,0.01", "men,1,0.5,0.01", "all,1.0,0.7,0.01")));
    expect(error).toMatchObject({
      code: "targets.duplicate",
      message: 'group "all" at time 1 for the second time, after line 2',
      where: "registry.csv, line 4",
    });
  });

  test("too many fields, and a head line that comes too late", () => {
    const error = refusal(() => parse(table("all,1,0.8,0.01,7", "# event: death", "all,2,0.7,0.01")));
    expect(error.code).toBe("targets.fields");
    expect(error.message).toBe("2 problems: line 2: 5 fields instead of 4; line 3: 1 field instead of 4");
  });

  test("line numbers hold after names with line breaks and doubled quotes", () => {
    const error = refusal(() => parse(table('"a ""b""\n\nc",1,0.8,0.01', '"d\r\ne",1,2,0.01')));
    expect(error.where).toBe('registry.csv, line 5, column "survival"');
  });

  test("twenty problems are named, the rest counted, all kinds in the order of lines", () => {
    const lines = Array.from({ length: 30 }, (_, k) => `all,${k + 1},2,0.01`);
    const error = refusal(() => parse(`# overlap: 1\n# evnt: death\n${table(...lines)}`));
    expect(error.code).toBe("targets.head");
    expect(error.where).toBe("registry.csv");
    expect(error.message).toMatch(
      /^32 problems: line 1: overlap is not a share .*; line 2: unknown key .*; line 4:/,
    );
    expect(error.message).toMatch(/; line 21: survival is not above 0 and at most 1: 2; and 12 more$/);
  });
});

describe("a head that is wrong is named", () => {
  test.each([
    ["# downloaded in May", 'head line without a key: "downloaded in May"'],
    ["# : x", 'unknown key in the head: ""'],
    ["# Event: death", 'unknown key in the head: "Event"'],
    ["# event:", 'key without a value in the head: "event"'],
    ["# mortality: relative", 'unknown mortality: "relative"'],
    ["# overlap: 20 %", 'overlap is not a share from 0 to below 1: "20 %"'],
    ["# overlap: -0.1", 'overlap is not a share from 0 to below 1: "-0.1"'],
    ["# overlap: 1", 'overlap is not a share from 0 to below 1: "1"'],
  ])("%s", (head, message) => {
    const error = refusal(() => parse(`${head}\n${table("all,1,0.9,0.01")}`));
    expect(error).toMatchObject({ code: "targets.head", message, where: "registry.csv, line 1" });
  });

  test("a key twice", () => {
    const error = refusal(() => parse(`# event: a\n# event: b\n${table("all,1,0.9,0.01")}`));
    expect(error).toMatchObject({ message: 'key twice in the head: "event"', where: "registry.csv, line 2" });
  });
});

describe("net survival", () => {
  const text = `# event: death\n# mortality: net\n${table("all,1,0.9,0.01")}`;

  test("is refused, with what to do", () => {
    const error = refusal(() => parse(text));
    expect(error).toMatchObject({
      code: "targets.net",
      message: "net survival is no target for a model of death from any cause",
      where: "registry.csv, line 2",
    });
    expect(error.hint).toMatch(/all-cause.*allowNet: true/);
    expect(refusal(() => parseTargets(text, { name: "registry.csv", allowNet: false })).code).toBe(
      "targets.net",
    );
  });

  test("is read where it is allowed, and so is any other", () => {
    const allowed = (from: string) => parseTargets(from, { name: "registry.csv", allowNet: true }).about;
    expect(allowed(text)).toEqual({ event: "death", mortality: "net", overlap: 0 });
    expect(allowed(text.replace("net", "all-cause")).mortality).toBe("all-cause");
    expect(refusal(() => allowed(text.replace("net", "nett"))).code).toBe("targets.head");
  });
});

describe("columns and the file as a whole", () => {
  test.each([
    ["", "file.empty", "empty file"],
    ["# event: death\n", "file.empty", "empty file"],
    ["group,time,survival,se\n", "table.no-rows", /^no rows/],
    ["group,time,survival\nall,1,0.9", "column.missing", 'missing column: "se" (have group, time, survival)'],
    ["group;time;survival;se\nall;1;0,9;0", "column.missing", /^missing columns: the header is "group;time/],
    ["group,time,survival,se,n,site\nall,1,0.9,0,5,x", "targets.column", 'unknown columns: "n", "site"'],
    [
      "group,time,survival,SE\nall,1,0.9,0",
      "column.missing",
      'missing column: "se" (have group, time, survival, SE)',
    ],
    ["group,time,survival,se,se\nall,1,0.9,0,0", "header.duplicate", /^duplicate column name: "se"/],
    ['group,time,survival,se\n"all,1,0.9,0', "targets.file", "targets file is not CSV: unterminated quote"],
    ['"group', "targets.file", "targets file is not CSV: unterminated quote"],
  ])("%j", (text, code, message) => {
    const error = refusal(() => parse(text));
    expect(error.code).toBe(code);
    expect(error.message).toEqual(typeof message === "string" ? message : expect.stringMatching(message));
    expect(error.where).toMatch(/^registry\.csv/);
  });
});

describe("targets for a study", () => {
  const targets = parse(table("all,1,0.9,0.01", "all,12,0.8,0.01", "older,2,0.7,0.01", "older,11,0.6,0.01"));

  test("fit it where groups and times are known; everyone is always known", () => {
    expect(() => checkTargets(targets, { groups: ["older"], horizon: 12 })).not.toThrow();
  });

  test("of a group that nobody defined are refused with the known names", () => {
    const error = refusal(() => checkTargets(targets, { groups: ["men", "oldest"], horizon: 12 }));
    expect(error).toMatchObject({
      code: "targets.group",
      message: 'unknown group in the targets: "older" (have all, men, oldest)',
      where: 'registry.csv, column "group"',
      hint: 'did you mean "oldest"?',
    });
    expect(refusal(() => checkTargets(targets, { groups: [], horizon: 12 })).hint).toMatch(/--group/);
  });

  test("beyond the horizon are refused by name", () => {
    const error = refusal(() => checkTargets(targets, { groups: ["older"], horizon: 10 }));
    expect(error).toMatchObject({
      code: "targets.horizon",
      message: 'target times beyond the horizon 10: "all" at 12; "older" at 11',
    });
  });
});
