// What a page says of rows that are several of a person's, of notes and warnings, of bounds and times, and which marks
// it leaves out.
import { parseHTML } from "linkedom";
import { beforeAll, describe, expect, test } from "vitest";
import { say, share } from "../../src/core/sentence.ts";
import { createNotice } from "../../src/data/checks/findings.ts";
import { gatherReport } from "../../src/report/data/gather-report.ts";
import type { ReportData, ReportGroup } from "../../src/report/data/report-data.ts";
import { renderReport } from "../../src/report/page/render-report.ts";
import { durationOf, roundedDurationOf } from "../../src/report/words/report-time.ts";
import { makeInput, type ReportInput } from "./report-input.ts";

let input: ReportInput;

beforeAll(async () => {
  input = await makeInput({ draws: 0, replicates: 0 }, 5);
});

function draw(data: ReportData) {
  const page = renderReport(data, { document: parseHTML("<html></html>").document });
  const { document } = parseHTML(page);
  const textOf = (selector: string) => document.querySelector(selector)?.textContent ?? "";
  return { document, textOf, text: document.body.textContent ?? "" };
}

describe("the head", () => {
  test("rows of fewer people are called rows, and what counts them is said", () => {
    const { textOf, text } = draw(gatherReport({ ...input, people: { count: 250 } }));
    expect(textOf(".subject")).toContain("500 rows of 250 people in ");
    expect(textOf(".subject")).toContain("max z, D-calibration and numbers at risk count rows");
    expect(textOf(".tiles")).toContain("500 rows of 250 people audited");
    expect(textOf(".glance")).toMatch(/Everyone500 rows, \d+ events/);
    expect(text).not.toMatch(/\d+ people, \d+ events/);
    const alone = draw(gatherReport({ ...input, people: { count: 500 } }));
    expect(alone.textOf(".glance")).toMatch(/Everyone500 people, \d+ events/);
  });

  test("times from a date are days from one column to the other; another file is only that", () => {
    const { textOf } = draw(
      gatherReport({
        ...input,
        outcome: { event: "dead", time: "seen", origin: "entry" },
        cohort: { ...input.cohort, relation: "newTable" },
      }),
    );
    expect(textOf(".subject")).toContain(
      "Counted in days from entry to seen; 365.25 days are shown as a year.",
    );
    expect(textOf(".subject")).toContain(
      "from another file than the training table; whether the model has seen",
    );
    expect(textOf(".subject")).toContain("horizon of about 17 years");
  });

  test("times below a year are months or days, those that may be somebody's have two digits", () => {
    const said = [0.188, 0.5, 1, 1.5].map((time) => durationOf(time, "years"));
    expect(said).toEqual(["69 days", "6 months", "1 year", "1.5 years"]);
    expect(roundedDurationOf(1799, "days")).toBe("about 1800 days");
    expect(roundedDurationOf(5, "years")).toBe("5 years");
  });
});

describe("the box", () => {
  const withVerdict = (group: ReportGroup, verdict: Partial<ReportGroup["verdict"]>): ReportGroup => ({
    ...group,
    name: String(verdict.reason),
    verdict: { ...group.verdict, ...verdict },
  });

  test("the widest bound is that of a group in which no disagreement is shown", () => {
    const data = gatherReport(input);
    const open = { agreement: "noDisagreementShown", look: "open" } as const;
    const groups = [
      withVerdict(data.groups[0], { agreement: "disagrees", look: "off", bound: 0.396, reason: "wide" }),
      withVerdict(data.groups[1], { ...open, bound: 0.12, reason: "less" }),
    ];
    const overall = withVerdict(data.overall, { ...open, bound: 0.06, reason: "all" });
    const said = draw({ ...data, overall, groups }).textOf(".headline");
    expect(said).toContain("the mean curve of everyone could be off by up to 6.0 points");
    expect(said).toContain("for less, the least known, up to 12.0 points");
    expect(said).not.toContain("39.6");
  });

  test.each([
    [1, "The one group does not have enough events to judge."],
    [2, "Neither group has enough events to judge."],
    [3, "None of the 3 groups has enough events to judge."],
  ])("%i groups without events", (count, says) => {
    const data = gatherReport(input);
    const few = { agreement: "tooFewEvents", look: "few", lacks: "events", reason: "few" } as const;
    const groups = data.groups.slice(0, count).map((group) => withVerdict(group, few));
    expect(groups).toHaveLength(count);
    const overall = withVerdict(data.overall, {
      agreement: "noDisagreementShown",
      look: "open",
      bound: null,
    });
    expect(draw({ ...data, overall, groups }).textOf(".say")).toBe(says);
  });
});

describe("what is left out", () => {
  test("what training only noted is a note", () => {
    const { model } = input;
    if (model === undefined) throw new Error("the input has no model");
    const alone = (c: string) => `a alone gives a C-index of ${c}, the best of the rest (b) 0.621: make sure`;
    const cells = say`a ${share(3, 228, { percent: true })}, b ${share(21, 228, { percent: true })}`;
    const notices = [
      createNotice("note", say`missing cells: ${cells}; the training median stands in`),
      createNotice("note", alone("0.674")),
      createNotice("warning", alone("0.961")),
      createNotice("note", "30 automatic groups asked for, 27 found: others are too small"),
    ];
    const training = { ...model.training, notices };
    const { document } = draw(gatherReport({ ...input, findings: [], model: { ...model, training } }));
    const found = [...document.querySelectorAll(".findings li")].map((one) => (one.textContent ?? "").trim());
    expect(found.map((said) => said.slice(0, 12))).toEqual([
      "warninga alo",
      "notemissing ",
      "notea alone ",
      "note30 autom",
    ]);
    expect(found[1]).toContain("a under 5 of 228, b 9 % (21 of 228)");
  });

  test("warnings without their parts, as older model files keep them, are counted and not shown", () => {
    const { model } = input;
    if (model === undefined) throw new Error("the input has no model");
    const { notices: _, ...older } = model.training;
    const training = { ...older, warnings: ["2 rows repeat an earlier row in every column: rows 7 and 9"] };
    const listed = (shown: object) => {
      const page = gatherReport({ ...input, findings: [], model: { ...model, training }, ...shown });
      return draw(page).textOf(".findings");
    };
    expect(listed({})).toContain("training gave 1 warning; the model file keeps such sentences whole");
    expect(listed({})).not.toContain("7 and 9");
    expect(listed({ showRows: true, showSmallCells: true })).toContain("rows 7 and 9");
    const { document } = draw(
      gatherReport({ ...input, findings: [], model: { ...model, training: { ...older, warnings: [] } } }),
    );
    expect(document.querySelector(".findings")).toBeNull();
  });

  test("a part whose count is hidden has no mark", () => {
    const data = gatherReport(input);
    const one = data.calibration[0];
    const hidden = one.bins.filter(({ n, events }) => events < 5 || n - events < 5).length;
    expect(hidden).toBeGreaterThan(0);
    const marks = (shown: ReportData) =>
      draw(shown).document.querySelector("#risk ~ .three figure, .three figure");
    const figure = marks(data);
    expect(figure?.querySelectorAll("circle")).toHaveLength(one.bins.length - hidden);
    expect(figure?.textContent).toContain("not drawn: a count under 5 would follow");
    const all = marks(gatherReport({ ...input, showSmallCells: true }));
    expect(all?.querySelectorAll("circle")).toHaveLength(one.bins.length);
  });
});
