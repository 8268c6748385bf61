// Requirements: what can be written, where an error points, and how each is judged against an audit's numbers.
import { describe, expect, test } from "vitest";
import { InputError } from "../../src/core/errors.ts";
import { audit } from "../../src/verbs/audit.ts";
import {
  checkRequiredGroups,
  judgeRequirements,
  parseRequirement,
  REQUIRABLE,
  type Requirement,
} from "../../src/verbs/requirements.ts";
import { readExampleCurves } from "../report/report-input.ts";

const plain = (text: string) => {
  const { scope, metric, operator, limit } = parseRequirement(text);
  return [scope, metric, operator, limit];
};

describe("what can be written", () => {
  test.each<[string, unknown[]]>([
    ["ece<0.05", ["everyone", "ece", "<", 0.05]],
    ["  ECE  <=  5e-2  ", ["everyone", "ece", "<=", 0.05]],
    ["all groups: logrank p>0.01", ["all groups", "logrank.p", ">", 0.01]],
    ["Each Group : logrankIndividual.p >= .01", ["all groups", "logrankIndividual.p", ">=", 0.01]],
    ['group "stage = 4": supported ece ≤ 0.1', [{ group: "stage = 4" }, "supported.ece", "<=", 0.1]],
    [`group 'it''s: "x"': n > 10`, [{ group: `it's: "x"` }, "n", ">", 10]],
    ["noiseFloor adjusted p ≥ 0.05", ["everyone", "noiseFloor.adjustedP", ">=", 0.05]],
    ["adjusted p > 0.05", ["everyone", "noiseFloor.adjustedP", ">", 0.05]],
    ["C > 0.7", ["everyone", "concordance", ">", 0.7]],
    ["max z < 4", ["everyone", "distanceVariance", "<", 4]],
    ["totalScore > -1", ["everyone", "totalScore", ">", -1]],
    ["intervals ece upper < 0.1", ["everyone", "intervals.ece.upper", "<", 0.1]],
  ])("%s", (text, expected) => {
    expect(plain(text)).toEqual(expected);
  });

  test.each(REQUIRABLE)("%s by its name, with dots and with blanks", (path) => {
    expect(parseRequirement(`${path} > 1`).metric).toBe(path);
    expect(parseRequirement(`all groups: ${path.replaceAll(".", " ")}<1`).metric).toBe(path);
  });
});

describe("what cannot", () => {
  test.each([
    ["", 0, "empty"],
    ["   ", 3, "empty"],
    ["eec<0.05", 0, 'unknown score: "eec"'],
    ["all groups: name < 1", 12, 'unknown score: "name"'],
    ["ece=0.05", 3, "expected <, <=, > or >="],
    ["ece", 3, "expected <, <=, > or >="],
    ["ece < five", 6, "expected a number"],
    ["ece < 5%", 7, "expected the end"],
    ["ece < 0.05 and ibs < 1", 11, "expected the end"],
    ["<0.05", 0, "expected a score"],
    ["group stage: ece<1", 6, "name in quotes"],
    ['group "stage: ece<1', 6, 'this " is never closed'],
    ['group "stage" ece<1', 14, "expected :"],
    ["every group: ece<1", 0, 'before : stands all groups, each group or group "NAME"'],
  ])("%s", (text, offset, says) => {
    let thrown: unknown;
    try {
      parseRequirement(text);
    } catch (error) {
      thrown = error;
    }
    expect(thrown).toBeInstanceOf(InputError);
    const { message, code } = thrown as InputError;
    expect(code).toBe("requirement.syntax");
    const [problem, , caret] = message.split("\n");
    expect(problem).toContain(says);
    expect(caret.indexOf("^") - 2).toBe(offset);
  });

  test("groups that are not there, and all groups where there are none", () => {
    const check = (text: string, names: string[]) => () =>
      checkRequiredGroups([parseRequirement(text)], names);
    expect(check('group "b": ece<1', ["a"])).toThrow('no such group: "b"');
    expect(check("all groups: ece<1", [])).toThrow("the requirement is about groups");
    for (const fine of ['group "a": ece<1', 'group "all": ece<1', "each group: ece<1", "ece<1"])
      expect(check(fine, ["a"])).not.toThrow();
  });
});

describe("judged", () => {
  const judge = async (texts: readonly string[], allowUnknown = false, replicates = 0) => {
    const { curves, outcomes } = await readExampleCurves();
    const rows = Array.from({ length: curves.N }, (_, row) => row);
    const groups = [
      { name: "even", rows: Int32Array.from(rows.filter((row) => row % 2 === 0)) },
      { name: "few", rows: Int32Array.from(rows.slice(0, 30)) },
      { name: "empty", rows: Int32Array.of() },
    ];
    const audited = await audit(
      { curves, outcomes, groups },
      replicates === 0 ? { draws: 0 } : { draws: 20, replicates, certify: { alpha: 0.05 } },
    );
    const requirements: Requirement[] = texts.map(parseRequirement);
    return { audited, results: judgeRequirements(requirements, audited, { allowUnknown }) };
  };

  test("every score that can be named is a number of a whole audit", async () => {
    const { audited, results } = await judge(
      REQUIRABLE.map((path) => `${path} > -1`),
      true,
      10,
    );
    expect(audited.overall.intervals).toBeDefined();
    expect(results.map(({ met, undecided }) => [met, undecided])).toEqual(REQUIRABLE.map(() => [true, []]));
  });

  test("against the audit's own numbers, at the edge as well", async () => {
    const { audited } = await judge([]);
    const ece = audited.overall.ece ?? Number.NaN;
    expect(ece).toBeGreaterThan(0);
    const texts = ["<", "<=", ">", ">="].map((operator) => `ece ${operator} ${ece}`);
    const { results } = await judge(texts);
    expect(results.map(({ met }) => met)).toEqual([false, true, false, true]);
    expect(results[0]).toEqual({
      text: `ece < ${ece}`,
      scope: "everyone",
      metric: "ece",
      met: false,
      failed: [{ group: "all", value: ece }],
      undecided: [],
    });
  });

  test("all groups are everyone and each group; what cannot be said is not met unless that is allowed", async () => {
    const texts = ["each group: ece < 0", 'group "few": ece < 0', "all groups: n >= 0", "noiseFloor p > 0"];
    const { audited, results } = await judge(texts, true);
    const few = audited.groups[1];
    expect(few.events).toBeGreaterThan(0);
    expect(few.events).toBeLessThan(10);
    const undecided = [
      {
        group: "few",
        reason: `${few.events} events observed, ${few.expectedEvents.toFixed(1)} expected: fewer than 10 of either, too few to say`,
      },
      { group: "empty", reason: "0 events observed, 0.0 expected: fewer than 10 of either, too few to say" },
    ];
    expect(results[0].failed.map(({ group }) => group)).toEqual(["all", "even"]);
    expect(results[0]).toMatchObject({ met: false, scope: "all groups", undecided });
    expect(results[1]).toMatchObject({
      met: null,
      scope: 'group "few"',
      failed: [],
      undecided: [undecided[0]],
    });
    expect(results[2]).toMatchObject({ met: true, failed: [], undecided: [] });
    expect(results[3]).toMatchObject({
      met: null,
      undecided: [{ group: "all", reason: "the noise floor was not drawn (--draws)" }],
    });
    const plain = (await judge(["all groups: ece < 1", ...texts.slice(1)])).results;
    expect(plain.map(({ met }) => met)).toEqual([false, false, true, false]);
    expect((await judge(["all groups: ece < 1"], true)).results[0].met).toBe(true);
  });
});
