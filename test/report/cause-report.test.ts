// The report of an audit by cause without a browser: its numbers are the audit's, small counts are hidden, no name from
// outside becomes markup, and the sentences say what the numbers say. cause-browser.test.ts opens it.
import { parseHTML } from "linkedom";
import { beforeAll, describe, expect, test } from "vitest";
import { count, say } from "../../src/core/sentence.ts";
import type { CauseReportInput } from "../../src/report/data/cause-report.ts";
import { gapOf, hundredSentence, judgeCauses, ofHundred } from "../../src/report/words/cause-words.ts";
import type { CauseAuditTable } from "../../src/verbs/causes/audit-causes.ts";
import { HOSTILE, makeCauseInput, renderCauses as render } from "./cause-input.ts";

let audit: CauseAuditTable;
let late: CauseAuditTable;
let input: CauseReportInput;

beforeAll(async () => {
  ({ audit, late, input } = await makeCauseInput());
});

test("of start–stop rows, a prediction holds if features stay as they are", () => {
  const sentence = "a prediction is what follows if these features stay as they are.";
  expect(render(input)).not.toContain(sentence);
  expect(render({ ...input, staysAsItIs: true })).toContain(sentence);
});

describe("words", () => {
  test("whole people make what their shares make", () => {
    expect(ofHundred([0.124, 0.216])).toEqual([12, 22]);
    expect(ofHundred([1 / 3, 1 / 3, 1 / 3])).toEqual([34, 33, 33]);
    expect(ofHundred([0, 0.004])).toEqual([0, 0]);
    expect(ofHundred([0.335, 0.335, 0.33]).reduce((a, b) => a + b)).toBe(100);
  });

  test("of 100 such people, as the curves have it", () => {
    const { causes } = audit;
    const at = { moment: "8 years", curve: "observed" } as const;
    const shares = causes.map(({ overall }) => overall.incidence?.observed[8] ?? 0);
    const [first, second] = ofHundred(shares);
    expect(hundredSentence(causes, 0, 8, at)).toBe(
      `by 8 years, ${first} have had disease, ${second} ${HOSTILE} and ${100 - first - second} neither`,
    );
    expect(hundredSentence(late.causes, 0, 8, at)).toBeNull();
  });

  test("gap and direction are those of the curves", () => {
    const [line] = judgeCauses(audit, 0.05, { edges: input.grid.edges, label: "time" });
    const { incidence, supported, distanceL2 } = line.scores;
    const gap = gapOf(line.scores);
    expect(gap?.mean).toBeLessThan(0);
    expect(line.word).toBe("disagrees: predicted too low");
    const t = gap?.largestBin ?? 0;
    expect(gap?.largest).toBe((incidence?.predicted[t] ?? 0) - (incidence?.observed[t] ?? 0));
    expect(Math.sqrt(distanceL2 ?? 0)).toBeGreaterThanOrEqual(Math.abs(gap?.mean ?? 1));
    expect(supported.bins).toBeGreaterThanOrEqual(t);
  });
});

describe("the page", () => {
  test("has the audit's numbers for every cause and group, and a panel for each that may be shown", () => {
    const { document } = parseHTML(render(input));
    const tables = [...document.querySelectorAll("section.scores table.main")].slice(1);
    expect(tables).toHaveLength(2);
    tables.forEach((table, k) => {
      const { overall, groups } = audit.causes[k];
      const rows = [...table.querySelectorAll("tbody tr")];
      expect(rows).toHaveLength(4);
      [overall, ...groups.slice(0, 2)].forEach((scores, g) => {
        const cell = (label: string) => rows[g].querySelector(`td[data-label="${label}"]`)?.textContent;
        expect(cell("ECE")).toBe(scores.ece?.toFixed(4));
        expect(cell("Could be up to")).toBe(scores.bound?.toFixed(4));
        expect(cell("IBS")).toBe(scores.ibs?.toFixed(4));
        expect(cell("Events")).toBe(String(scores.events));
      });
    });
    expect(document.querySelectorAll(".panel .figure")).toHaveLength(6);
    expect(document.querySelectorAll("figure .figure")).toHaveLength(2);
    expect(document.querySelector(".headline")?.textContent).toContain("Of 100 such people, by 10 years");
    expect(document.querySelector(".who bdi")?.textContent).toBe("x < 1");
  });

  test("hides four people and what is known of them, unless told to show them", () => {
    const { document } = parseHTML(render(input));
    const panel = document.querySelector("#cause-1-group-3")?.textContent ?? "";
    expect(panel).toContain("under 5 people, under 5 events");
    expect(panel).toContain("Curves of fewer than 5 people are not shown.");
    const findings = [
      { level: "warning", sentence: { parts: say`stroke has ${count(3, "event")}: too few` } } as const,
    ];
    const noted = { ...input, findings, notes: ["predict for more times"] };
    const page = parseHTML(render(noted)).document.querySelector(".findings")?.textContent;
    expect(page).toBe("stroke has under 5 events: too fewpredict for more times");
    const shown = parseHTML(render({ ...input, showSmallCells: true })).document;
    expect(shown.querySelector("#cause-1-group-3")?.textContent).toContain("4 people");
  });

  test("no name becomes markup, nothing is loaded or run", () => {
    const page = render(input);
    const { document } = parseHTML(page);
    expect(document.querySelectorAll("script, img, iframe, link, [onerror], [src]")).toHaveLength(0);
    expect(page).toContain("&lt;img src=x");
    const policy = document.querySelector('meta[http-equiv="Content-Security-Policy"]');
    expect(policy?.getAttribute("content")).toContain("default-src 'none'");
  });

  test("says why there are no curves under late entry, and still gives events against expected", () => {
    const { document } = parseHTML(render({ ...input, audit: late, groups: [] }));
    const text = document.querySelector("main")?.textContent ?? "";
    expect(text).toContain("means of predicted curves over people who entered late are not comparable");
    expect(text).not.toContain("Of 100 such people");
    const { observed, expected } = late.causes[0].overall.logrankIndividual;
    expect(text).toContain(`${observed} ÷ ${expected?.toFixed(1)}`);
    expect(document.querySelectorAll(".figure")).toHaveLength(0);
  });
});
