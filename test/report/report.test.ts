// The report without a browser: what is gathered equals what the library computes, what is drawn equals what was
// gathered, and no name from outside becomes markup.
import { createHash } from "node:crypto";
import fc from "fast-check";
import { parseHTML } from "linkedom";
import { beforeAll, describe, expect, test } from "vitest";
import {
  among,
  count,
  joinSaid,
  named,
  type Part,
  percent,
  personal,
  plainText,
  say,
  share,
  verb,
  whole,
} from "../../src/core/sentence.ts";
import { calibrateByRisk } from "../../src/report/data/compare-curves.ts";
import { gatherReport } from "../../src/report/data/gather-report.ts";
import type { ReportData } from "../../src/report/data/report-data.ts";
import { createCells, withoutPeople } from "../../src/report/data/small-cells.ts";
import { cleanText, html } from "../../src/report/page/html.ts";
import { SORT_SCRIPT_HASH } from "../../src/report/page/policy.ts";
import { renderReport, SORT_SCRIPT } from "../../src/report/page/render-report.ts";
import { spreadLabels } from "../../src/report/plots/plot-canvas.ts";
import { shownBins } from "../../src/report/plots/plot-groups.ts";
import { binOfTime, chooseMoments, chooseTicks, chooseTimeUnit } from "../../src/report/words/report-time.ts";
import {
  countRejections,
  type JudgedScores,
  judgeGroups,
  ratioOf,
  rootGapOf,
  outsideSentence,
  sayOutside,
  verdictSentence,
  verdictWord,
} from "../../src/report/words/report-words.ts";
import { meanCurve } from "../../src/stats/calibration/calibration.ts";
import { kaplanMeier, kaplanMeierBinned } from "../../src/stats/kaplan-meier.ts";
import type { AuditedScores } from "../../src/verbs/audit.ts";
import { GROUPS, HOSTILE, makeInput, type ReportInput } from "./report-input.ts";

const draw = (data: ReportData) => renderReport(data, { document: parseHTML("<html></html>").document });

let input: ReportInput;
let data: ReportData;
let page: string;
let document: ReturnType<typeof parseHTML>["document"];

beforeAll(async () => {
  input = await makeInput();
  data = gatherReport(input);
  page = draw(data);
  ({ document } = parseHTML(page));
});

describe("escaping", () => {
  test("any text comes back from text and attribute as it went in, and makes no element", () => {
    const anything = fc.oneof(
      fc.string({ unit: fc.integer({ min: 0, max: 0xffff }).map((code) => String.fromCharCode(code)) }),
      fc.string({
        unit: fc.constantFrom(
          "<",
          ">",
          "&",
          '"',
          "'",
          "=",
          "/",
          " ",
          "script",
          "\u0000",
          "\ud800",
          ";",
          "#39",
        ),
      }),
    );
    const texts = fc.sample(anything, { seed: 4, numRuns: 500 });
    const { markup } = html`${texts.map((text) => html`<p title="${text}">${text}</p>`)}`;
    const { document: parsed } = parseHTML(`<html><body>${markup}</body></html>`);
    const found = [...parsed.body.children];
    expect(found.length).toBe(texts.length);
    const clean = texts.map(cleanText);
    expect(found.filter((p) => p.children.length > 0)).toEqual([]);
    expect(found.map((p) => p.textContent)).toEqual(clean);
    expect(found.map((p) => p.getAttribute("title"))).toEqual(clean);
  });

  test("hostile names are text: no element of theirs, and the whole name readable", () => {
    expect([...document.querySelectorAll("script")].map((script) => script.textContent)).toEqual([
      SORT_SCRIPT,
    ]);
    expect(
      document.querySelectorAll("img, iframe, object, embed, link, form, [onload], [onerror]").length,
    ).toBe(0);
    const shown = [...document.querySelectorAll("article.panel h3")].map((title) => title.textContent);
    expect(shown).toEqual(["Everyone", ...input.groups.map(({ name }) => cleanText(name))]);
    expect(document.querySelector("h1")?.textContent).toBe(`Audit of ${HOSTILE[0]}.csv`);
  });

  test("nothing is loaded and only the one script may run", () => {
    const hash = createHash("sha256").update(SORT_SCRIPT).digest("base64");
    expect(SORT_SCRIPT_HASH).toBe(`sha256-${hash}`);
    const policy = document.querySelector("meta[http-equiv]")?.getAttribute("content");
    expect(policy).toContain("default-src 'none'");
    expect(policy).toContain(`script-src 'sha256-${hash}'`);
    for (const link of document.querySelectorAll("[href]")) {
      const target = link.getAttribute("href") ?? "";
      expect(target).toMatch(/^#/);
      expect(document.getElementById(target.slice(1)), target).not.toBeNull();
    }
    expect(document.querySelectorAll("[src]").length).toBe(0);
    expect(page.replaceAll("http://www.w3.org/", "")).not.toMatch(/https?:|url\(|@import/);
  });
});

describe("the page", () => {
  test("25 groups of 102 bins stay under 2 MB, and the same data gives the same bytes", () => {
    expect(data.groups.length).toBe(GROUPS);
    expect(data.time.edges.length).toBe(103);
    expect(new TextEncoder().encode(page).length).toBeLessThan(2e6);
    expect(draw(data)).toBe(page);
  });

  test("every number of the table is the audit's", () => {
    const expected = (scores: AuditedScores): Record<string, number | null> => ({
      n: scores.n,
      events: scores.events,
      concordance: scores.concordance,
      ece: scores.ece,
      "noiseFloor.ece": scores.noiseFloor?.ece ?? null,
      "noiseFloor.adjustedP": scores.noiseFloor?.adjustedP ?? null,
      rootGap: scores.distanceL2 === null ? null : Math.sqrt(scores.distanceL2),
      bound: scores.bound,
      distanceVariance: scores.distanceVariance,
      "intervals.distanceL2Root": scores.intervals?.distanceL2Root.upper ?? null,
      ratio: ratioOf(scores).ratio,
      ibs: scores.ibs,
    });
    const all = [input.audit.overall, ...input.audit.groups];
    const open = parseHTML(draw(gatherReport({ ...input, showSmallCells: true }))).document;
    const rows = ["main", "more"].map((kind) => [...open.querySelectorAll(`table.${kind} tr[data-group]`)]);
    expect(rows.map(({ length }) => length)).toEqual([26, 26]);
    all.forEach((scores, k) => {
      const wanted = expected(scores);
      const cells = rows.flatMap((table) => [...table[k].querySelectorAll("td[data-key]")]);
      const shown = cells.map((cell): [string, number | null] => {
        const text = cell.getAttribute("data-value");
        return [cell.getAttribute("data-key") ?? "", text === null ? null : Number(text)];
      });
      expect(Object.fromEntries(shown.filter(([key]) => key in wanted))).toEqual(wanted);
    });
  });

  test("what is not there is a dash with its reason as a footnote", () => {
    const empty = input.groups.findIndex(({ rows }) => rows.length === 0) + 1;
    const link = document.querySelector(`tr[data-group="${empty}"] td[data-key="concordance"] a`);
    expect(link?.textContent).toMatch(/^–\d+ none: /);
    const note = document.getElementById(link?.getAttribute("href")?.slice(1) ?? "");
    expect(note?.textContent).toBe("scores of fewer than 5 people are not shown");
    const shown = parseHTML(draw(gatherReport({ ...input, showSmallCells: true }))).document;
    const own = shown.querySelector(`tr[data-group="${empty}"] td[data-key="concordance"] a`);
    expect(own?.getAttribute("title")).toBe(input.audit.groups[empty - 1].absent.concordance);
    expect(link?.textContent).toContain(note?.textContent);
  });

  test("ids are distinct, figures say what they show", () => {
    const ids = [...document.querySelectorAll("[id]")].map((element) => element.id);
    expect(new Set(ids).size).toBe(ids.length);
    const figures = [...document.querySelectorAll('[role="img"]')];
    expect(figures.length).toBeGreaterThan(26 * 3);
    for (const figure of figures) expect(figure.getAttribute("aria-label")?.length).toBeGreaterThan(10);
  });

  test("it is drawn without groups, draws, intervals, model and events as well", async () => {
    const { groups, model, audit: before, ...bare } = await makeInput({ draws: 0, replicates: 0 });
    expect(groups.length + before.groups.length).toBe(2 * GROUPS);
    const quiet = gatherReport({ ...bare, groups: [], audit: { overall: before.overall, groups: [] } });
    expect(model).toBeDefined();
    const text = parseHTML(draw(quiet)).document.querySelector("main")?.textContent ?? "";
    expect(text).toMatch(
      /Everyone together: no disagreement shown, but it could be off by up to \d+\.\d points/,
    );
    expect(text).toContain("500 people audited together;");
    expect(text).not.toMatch(/in 0 groups|agree with/);
    expect(text).toContain("The curves came without a model");
    expect(text).not.toMatch(/NaN|undefined|Infinity/);
    expect(document.querySelector("main")?.textContent).not.toMatch(/NaN|undefined|Infinity/);
  });
});

describe("what is gathered", () => {
  test("curves are the mean prediction and Kaplan-Meier with R's log limits", () => {
    const { rows } = input.groups[1];
    const { curve } = data.groups[1];
    const km = kaplanMeierBinned(input.binned, undefined, rows);
    expect(curve.predicted).toEqual(Array.from(meanCurve(input.curves, undefined, rows) as Float64Array));
    expect(curve.observed).toEqual(Array.from(km.survival));
    // The same limits as the estimator over distinct times gives, read at the bins that hold a row.
    const own = kaplanMeier({
      time: Float64Array.from(rows, (row) => input.binned.bin[row]),
      event: Uint8Array.from(rows, (row) => input.binned.event[row]),
    });
    own.time.forEach((t, k) => {
      expect(curve.lower[t]).toBeCloseTo(own.lower[k], 14);
      expect(curve.upper[t]).toBeCloseTo(own.upper[k], 14);
      expect(curve.atRisk[t]).toBe(own.atRisk[k]);
    });
    expect(rootGapOf(data.groups[1].scores)).toBe(Math.sqrt(data.groups[1].scores.distanceL2 ?? Number.NaN));
  });

  test("the planted group is off, the tiny and the empty one are not judged", () => {
    expect(data.groups[0].verdict).toMatchObject({ agreement: "disagrees", look: "off", direction: "high" });
    expect(data.groups[2].verdict.look).toBe("few");
    expect(data.groups[3].verdict.look).toBe("few");
    expect(data.groups.map(({ verdict }) => verdict.agreement)).toEqual(
      input.audit.groups.map(({ agreement }) => agreement),
    );
    expect(document.querySelector(".say")?.textContent).toContain(HOSTILE[0]);
  });

  test("the cohort adds up; follow-up is the reverse Kaplan-Meier's median", () => {
    const { audited, trainedOn, split } = data.cohort;
    expect(audited.events + audited.censored).toBe(500);
    expect(audited.events).toBe(64);
    const reverse = kaplanMeier({
      time: Float64Array.from(input.binned.bin, (t) => data.time.edges[t]),
      event: input.binned.event.map((one) => 1 - one),
    });
    expect(audited.medianFollowUp).toBe(reverse.time.find((_, k) => reverse.survival[k] <= 0.5));
    expect(split).toBeNull();
    expect(trainedOn).toEqual({ train: 2416, validation: 806, test: 806 });
  });

  test("no row is there unless asked for; then three people, to the end of the audited time", () => {
    expect(data.examples).toEqual([]);
    // Some groups are named so.
    expect(/\brows? \d/.test(page.replaceAll(/, from row \d+/g, ""))).toBe(false);
    const asked = gatherReport({ ...input, showRows: true });
    const last = asked.time.audited;
    expect(last).toBe(96);
    expect(asked.examples.map(({ risk }) => risk)).toEqual(["low", "middle", "high"]);
    for (const { row, event, survival, time } of asked.examples) {
      expect(event).toBe(true);
      expect(input.binned.event[row - 1]).toBe(1);
      expect(time).toBe(data.time.edges[input.binned.bin[row - 1]]);
      expect(survival.slice(1)).toEqual(
        Array.from(input.curves.survival.subarray((row - 1) * 102, (row - 1) * 102 + last)),
      );
    }
    const ends = asked.examples.map(({ survival }) => survival[last]);
    expect(ends[0] > ends[1] && ends[1] > ends[2]).toBe(true);
    expect(draw(asked)).toContain(`row ${asked.examples[0].row}: event at`);
  });

  test("people by predicted risk: fifths of a hundred each, their mean curves beside Kaplan-Meier", () => {
    const { bands, time } = data;
    expect(bands.map(({ n }) => n)).toEqual([100, 100, 100, 100, 100]);
    expect(bands.reduce((sum, { events }) => sum + events, 0)).toBe(64);
    const { survival } = input.curves;
    const risk = (row: number) => 1 - survival[row * 102 + time.audited - 1];
    const order = Array.from({ length: 500 }, (_, row) => row).sort((a, b) => risk(a) - risk(b) || a - b);
    const highest = Int32Array.from(order.slice(400));
    const mean = meanCurve(input.curves, undefined, highest) as Float64Array;
    const km = kaplanMeierBinned(input.binned, undefined, highest);
    expect(bands[4].predicted).toEqual(Array.from(mean.subarray(0, 97)));
    expect(bands[4].observed).toEqual(Array.from(km.survival.subarray(0, bands[4].last + 1)));
    expect(km.atRisk[bands[4].last]).toBeGreaterThanOrEqual(10);
    expect(km.atRisk[bands[4].last + 1]).toBeLessThan(10);
  });

  test("long follow-up in days is shown in years, at round times", () => {
    expect(data.time).toMatchObject({ label: "years", given: { label: "days", divisor: 365.25 } });
    expect(data.time.edges[102]).toBeCloseTo(6209 / 365.25, 12);
    expect(data.calibration.map(({ time }) => time)).toEqual([5, 10]);
    expect(document.body.textContent).toContain("By 5 years");
    expect(chooseTimeUnit("days", 730)).toEqual({ label: "days", divisor: 1 });
    expect(chooseTimeUnit("Months", 25)).toEqual({ label: "years", divisor: 12 });
    expect(chooseTimeUnit("hours", 1e6)).toEqual({ label: "hours", divisor: 1 });
    expect([17, 9.9, 7, 1, 0.03, 0].map(chooseMoments)).toEqual([
      [5, 10, 15],
      [2, 4, 8],
      [2, 4, 6],
      [0.2, 0.4, 0.8],
      [0.01, 0.02],
      [],
    ]);
  });

  test("the history's distances and multipliers get their group's name and slack", () => {
    const { history, verdict } = input.model?.training ?? { history: [], verdict: [] };
    const last = data.training?.history.at(-1);
    expect(last?.groups?.length).toBe(GROUPS);
    expect(last?.groups?.[7]).toEqual({
      name: verdict[7].group,
      slack: verdict[7].slack,
      distance: history.at(-1)?.distances?.[7],
      multiplier: history.at(-1)?.multipliers?.[7],
    });
    // A run that ends in the solve has trained without the groups that it was not told of.
    const told = verdict.filter((one) => one.told);
    const shorter = history.map((entry) => ({ ...entry, distances: told.map((_, g) => g), multipliers: [] }));
    const model = input.model && { ...input.model, training: { ...input.model.training, history: shorter } };
    const named = model && gatherReport({ ...input, model }).training?.history.at(-1)?.groups;
    expect(named?.map(({ name, distance }) => [name, distance])).toEqual(
      told.map(({ group }, g) => [group, g]),
    );
    const titles = [...document.querySelectorAll("figure h3")].map((title) => title.textContent);
    expect(titles).toEqual(
      expect.arrayContaining(["Each group’s distance over its slack", "Each group’s multiplier"]),
    );
  });

  test("settings leave long lists out; other groups than the audit's are refused", () => {
    const names = data.modelSettings.map(({ name }) => name);
    expect(names).toContain("constraint.slack");
    expect(names).not.toContain("network.baselineHazard");
    expect(() => gatherReport({ ...input, groups: input.groups.slice(1) })).toThrow(/different groups/);
  });
});

describe("calibration by risk", () => {
  test("fifths by hand, ties and an eventless part among them", () => {
    // Rows 0…39 of predicted risk .2, rows 40…79 of .6; of the first 10 have the event in bin 1, of the others 20.
    const N = 80;
    const curves = {
      N,
      T: 2,
      survival: Float64Array.from({ length: 2 * N }, (_, k) => (k < N ? 0.8 : 0.4)),
    };
    const binned = {
      T: 2,
      bin: Int32Array.from({ length: N }, (_, row) => (row < 10 || (row >= 40 && row < 60) ? 1 : 2)),
      event: Uint8Array.from({ length: N }, (_, row) => (row < 10 || (row >= 40 && row < 60) ? 1 : 0)),
    };
    const observed = { time: Array.from(binned.bin, (t) => 10 * t), event: binned.event };
    const { bins, absent } = calibrateByRisk(curves, observed, [0, 10, 20], 10);
    expect(absent).toBeNull();
    // 30 events: fifths, of 16 rows each; ties in the order of the rows.
    expect(bins.map(({ n }) => n)).toEqual([16, 16, 16, 16, 16]);
    expect(bins.map(({ events }) => events)).toEqual([10, 0, 8, 12, 0]);
    expect(bins.map(({ observed }) => observed)).toEqual(
      [0.625, 0, 0.5, 0.75, 0].map((o) => expect.closeTo(o, 14)),
    );
    expect(bins[2].predicted).toBeCloseTo((8 * 0.2 + 8 * 0.6) / 16, 14);
    // No event among 16: the exact binomial limit 1 − .025^(1/16).
    expect([bins[1].lower, bins[1].upper]).toEqual([0, expect.closeTo(0.20591, 5)]);
    // 8 of 16: S = 1/2, se of log S = √(8/(16·8)) = 1/4.
    expect(bins[2].upper).toBeCloseTo(1 - 0.5 * Math.exp(-1.959963984540054 / 4), 12);
    expect(bins[2].lower).toBeCloseTo(1 - 0.5 * Math.exp(1.959963984540054 / 4), 12);
  });

  test("too few events are said, not drawn", () => {
    const curves = { N: 30, T: 1, survival: new Float64Array(30).fill(0.5) };
    const observed = { time: new Float64Array(30).fill(1), event: new Uint8Array(30).fill(1, 0, 19) };
    expect(calibrateByRisk(curves, observed, [0, 1], 1)).toMatchObject({
      bins: [],
      absent: "fewer than 20 events by then",
    });
  });

  test("between two edges the predicted risk lies on the straight line, the observed at the time itself", () => {
    const curves = {
      N: 40,
      T: 2,
      survival: Float64Array.from({ length: 80 }, (_, k) => (k % 2 === 0 ? 0.8 : 0.4)),
    };
    const time = Float64Array.from({ length: 40 }, (_, row) => (row < 20 ? 11 : 20));
    const event = new Uint8Array(40).fill(1, 0, 20);
    const { bins } = calibrateByRisk(curves, { time, event }, [0, 10, 20], 15);
    // S(15) = .6; the events at 11 have come, in the order of the rows.
    expect(bins.map(({ predicted }) => predicted)).toEqual(new Array(5).fill(expect.closeTo(0.4, 12)));
    expect(bins.map(({ events }) => events)).toEqual([8, 8, 4, 0, 0]);
    expect(calibrateByRisk(curves, { time, event }, [0, 10, 20], 10.5).absent).toBe(
      "fewer than 20 events by then",
    );
  });
});

describe("verdicts", () => {
  const scores = (over: {
    p: number | null;
    adjustedP: number | null;
    logrank: number | null;
    statistic?: "rmsGap" | "largestZ" | "events";
    when?: Partial<NonNullable<JudgedScores["departure"]>>;
    events?: number;
    expected?: number;
    bins?: number;
    bound?: number | null;
  }) =>
    ({
      ...input.audit.overall,
      events: over.events ?? 50,
      expectedEvents: over.expected ?? over.events ?? 50,
      supported: { ...input.audit.overall.supported, bins: over.bins ?? 100 },
      noiseFloor: over.p === null ? null : { ece: 0.01, eceCritical: 0.02, p: 0.5, adjustedP: 0.5 },
      departure:
        over.p === null
          ? null
          : {
              ...{ p: over.p, adjustedP: over.adjustedP, statistic: over.statistic ?? "largestZ" },
              ...{ ownP: {}, draws: 999, ...over.when },
            },
      logrankIndividual: { observed: 50, expected: 50, variance: 50, chi2: 0, p: over.logrank },
      bound: over.bound === undefined ? 0.2 : over.bound,
    }) satisfies JudgedScores;
  const judge = (...all: ReturnType<typeof scores>[]) =>
    judgeGroups(
      all.map((one) => ({ scores: one, gap: { mean: 0.02, meanAbsolute: 0.02 } })),
      time,
      0.05,
    );
  const time = { edges: Array.from({ length: 103 }, (_, t) => t / 5), label: "years" };
  const said = (...all: ReturnType<typeof scores>[]) => judge(...all).map(({ agreement }) => agreement);
  const good = { p: 0.5, adjustedP: 0.9, logrank: 0.5 };

  test("by the departure at 0.05, all groups considered; without draws by the logrank", () => {
    expect(said(scores(good))).toEqual(["noDisagreementShown"]);
    expect(said(scores({ ...good, p: 0.001, adjustedP: 0.05 }))).toEqual(["disagrees"]);
    const doubtful = judge(scores({ ...good, p: 0.001, adjustedP: 0.051 }))[0];
    expect(doubtful).toMatchObject({ agreement: "noDisagreementShown", isDoubtful: true });
    expect(said(scores({ ...good, logrank: 1e-6 }))).toEqual(["noDisagreementShown"]);
    expect(said(scores({ p: null, adjustedP: null, logrank: 0.05 }))).toEqual(["disagrees"]);
    const untested = judge(scores({ p: null, adjustedP: null, logrank: null }))[0];
    expect(untested).toMatchObject({ agreement: "noDisagreementShown", isDoubtful: false });
    expect(untested.reason).toMatch(/no test could be made/);
  });

  test("green is for a bound below the tolerance, whatever the tests did not reject", () => {
    const looks = (bound: number | null, over = good) =>
      judge(scores({ ...over, bound })).map(({ look }) => look)[0];
    expect([0.049, 0.05, null].map((bound) => looks(bound))).toEqual(["within", "open", "open"]);
    expect(looks(0.001, { ...good, adjustedP: 1e-3 })).toBe("off");
    expect(looks(0.001, { ...good, events: 9 } as typeof good)).toBe("few");
  });

  test("Holm over the judged groups alone", () => {
    const undrawn = { p: null, adjustedP: null };
    const small = scores({ ...undrawn, logrank: 1e-9, events: 9 });
    const short = scores({ ...undrawn, logrank: 1e-9, bins: 25 });
    const verdicts = judge(
      small,
      scores({ ...undrawn, logrank: 0.012 }),
      short,
      scores({ ...undrawn, logrank: 0.4 }),
    );
    expect(verdicts.map(({ look }) => look)).toEqual(["few", "off", "few", "open"]);
    expect(verdicts.map(({ logrankAdjustedP }) => logrankAdjustedP)).toEqual([null, 0.024, null, 0.4]);
  });

  test("a group that is not judged lacks events, or else follow-up, and says how much there was", () => {
    // A quarter of 102 bins is 25.5.
    const verdicts = judge(
      scores({ ...good, events: 9, bins: 25 }),
      scores({ ...good, events: 1 }),
      scores({ ...good, events: 10, bins: 25 }),
      scores({ ...good, events: 10, bins: 26, bound: 0.126 }),
    );
    expect(verdicts.map(({ lacks }) => lacks)).toEqual(["events", "events", "followUp", null]);
    expect(verdicts.map(({ reason }) => reason)).toEqual([
      "9 events observed, 9.0 expected: fewer than 10 of either, too few to say",
      "1 event observed, 1.0 expected: fewer than 10 of either, too few to say",
      "ten people or more are at risk in only 25 of 102 time bins: too little follow-up to say",
      "no disagreement shown beyond chance",
    ]);
    expect(verdicts.map((verdict) => verdictWord(verdict))).toEqual([
      "too few events to say",
      "too few events to say",
      "followed too briefly to say",
      "no disagreement shown",
    ]);
    expect(verdictSentence(verdicts[3])).toBe(
      "No disagreement shown, but it could be off by up to 12.6 points on average over time.",
    );
  });

  test("enough to judge is the larger of observed and expected events", () => {
    expect(said(scores({ ...good, events: 0, expected: 10, adjustedP: 0.001 }))).toEqual(["disagrees"]);
    expect(said(scores({ ...good, events: 0, expected: 9.9 }))).toEqual(["tooFewEvents"]);
    expect(said(scores({ ...good, events: 10, expected: 0 }))).toEqual(["noDisagreementShown"]);
  });

  test("a departure says when, how far off and which test spoke", () => {
    const off = { ...good, p: 0.001, adjustedP: 0.004, bound: 0.2 };
    const gap = { bin: 80, value: 0.106 };
    const [late, passing, start, nowhere, events] = judge(
      scores({ ...off, when: { gap, span: { fromBin: 60, toBin: 100 } } }),
      scores({ ...off, when: { gap: { bin: 20, value: -0.04 }, span: { fromBin: 15, toBin: 25 } } }),
      scores({ ...off, statistic: "rmsGap", when: { gap, span: { fromBin: 1, toBin: 100 } } }),
      scores({ ...off, statistic: "rmsGap", when: { gap } }),
      scores({ ...off, statistic: "events", when: { eventsBy: { bin: 60, observed: 45, expected: 30.21 } } }),
    );
    expect([late, passing, start, nowhere, events].map(({ when }) => when?.words)).toEqual([
      "from 12 years on, up to 10.6 points too high",
      "from 3 years to 5 years, up to 4.0 points too low",
      "throughout, up to 10.6 points too high",
      "at most 10.6 points too high (16 years)",
      "by 12 years, 45 events against 30.2 expected",
    ]);
    expect(passing.direction).toBe("low");
    expect(verdictSentence(late)).toBe(
      "Disagrees: further from the observed than chance explains (curves at single times, all groups considered): " +
        "from 12 years on, up to 10.6 points too high; it could be off by up to 20.0 points on average over time.",
    );
    expect(verdictSentence(events)).toContain(
      "(number of events, all groups considered): by 12 years, 45 events",
    );
    expect(verdictSentence(events, false)).not.toContain("45");
  });

  test("a picture that shows a curve outside its limits is explained where the verdict sees no disagreement", () => {
    const line = (values: readonly number[]) => [
      1,
      ...values,
      ...new Array<number>(102 - values.length).fill(0),
    ];
    const curve = {
      predicted: line([0.9, 0.8, 0.5, 0.4]),
      observed: line([0.9, 0.8, 0.6, 0.55]),
      lower: line([0.8, 0.7, 0.52, 0.45]),
      upper: line([0.95, 0.9, 0.7, 0.6]),
    };
    const [verdict] = judge(scores({ ...good, p: 0.19, adjustedP: 0.6 }));
    const { departure } = scores({ ...good, p: 0.19, adjustedP: 0.6 });
    const told = sayOutside(verdict, curve, departure, 4, time);
    expect(told).toEqual({ words: "from 219 days on, up to 15.0 points too low", share: 19 });
    expect(outsideSentence(verdict, told ?? { words: "", share: 0 })).toBe(
      "From 219 days on, up to 15.0 points too low, outside the pointwise limits: a perfect model departs as much " +
        "somewhere in 19 of 100 samples of such rows.",
    );
    expect(sayOutside(verdict, curve, departure, 2, time)).toBeNull();
    expect(sayOutside({ ...verdict, agreement: "disagrees" }, curve, departure, 4, time)).toBeNull();
  });

  test("the direction is that of the mean gap, unless its signs cancel", () => {
    const one = scores(good);
    const directions = [
      { mean: 0.02, meanAbsolute: 0.02 },
      { mean: -0.02, meanAbsolute: 0.03 },
      { mean: 0.001, meanAbsolute: 0.03 },
      null,
    ].map((gap) => judgeGroups([{ scores: one, gap }], time, 0.05)[0].direction);
    expect(directions).toEqual(["high", "low", "shape", null]);
  });

  test("rejections are counted against the binomial range", () => {
    expect(countRejections([])).toBeNull();
    expect(countRejections([null])).toBeNull();
    // R: qbinom(c(.025, .975), 12, .05) is 0 and 2; for 25 tests 0 and 4.
    expect(countRejections([0.05, 0.051, ...new Array(10).fill(0.5)])).toEqual({
      tests: 12,
      rejected: 1,
      range: { low: 0, high: 2 },
    });
    expect(countRejections(new Array(25).fill(0.5))?.range).toEqual({ low: 0, high: 4 });
  });
});

describe("small counts", () => {
  const cells = createCells(true);

  test("are not printed, nor what they follow from in the same line", () => {
    expect([0, 4, 5, 12345].map((count) => cells.text(count))).toEqual([
      "under 5",
      "under 5",
      "5",
      "12\u202f345",
    ]);
    expect([3, 5, 15, 16, 19, 20].map((events) => cells.text(events, 20))).toEqual([
      "under 5",
      "5",
      "15",
      "over 15",
      "over 15",
      "over 15",
    ]);
    expect(cells.text(6, 8)).toBe("5 or more");
    expect(cells.countOf(1, "event")).toBe("under 5 events");
    expect([cells.countOf(7, "person"), createCells(false).countOf(1, "person")]).toEqual([
      "7 people",
      "1 person",
    ]);
    expect(cells.falling([73, 28, 26, 26, 20, 3])).toEqual([
      "73",
      "28",
      "over 23",
      "over 23",
      "20",
      "under 5",
    ]);
    expect(createCells(false).falling([73, 71, 3])).toEqual(["73", "71", "3"]);
  });

  const sentence = (parts: readonly Part[]) => cells.sentence({ parts });
  const plain = (parts: readonly Part[]) => plainText({ parts });

  test("sentences lose row numbers, single people's values and small counts of people", () => {
    const zeros = { parts: say`time is 0 in ${named([3, 8, 12])}: legal` };
    expect(plainText(zeros)).toBe("time is 0 in rows 3, 8 and 12: legal");
    expect(plainText(withoutPeople(zeros))).toBe("time is 0 in 3 rows: legal");
    expect(cells.sentence(withoutPeople(zeros))).toBe("time is 0 in under 5 rows: legal");
    const many = { parts: say`is missing in ${named(Array.from({ length: 74 }, (_, k) => k + 1))}` };
    expect(plainText(many)).toMatch(/ in rows 1, 2, .* \(and 54 more\)$/);
    expect(plainText(withoutPeople(many))).toBe("is missing in 74 rows");
    const negative = { parts: say`time is negative in ${named([5])}${personal(': "-3"')}` };
    expect(plainText(negative)).toBe('time is negative in row 5: "-3"');
    expect(plainText(withoutPeople(negative))).toBe("time is negative in 1 row");
    const early = { parts: say`had the event${personal(" up to time 12", " early on")}, where 9 would` };
    expect(plainText(withoutPeople(early))).toBe("had the event early on, where 9 would");
  });

  test("a count that is hidden takes its percentage with it", () => {
    expect(sentence(say`${count(1, "event")}: fewer than 10`)).toBe("under 5 events: fewer than 10");
    const beyond = say`${count(1, "test row")}${percent(1, 25)} beyond`;
    expect([plain(beyond), sentence(beyond)]).toEqual([
      "1 test row (4 %) beyond",
      "under 5 test rows beyond",
    ]);
    const missing = joinSaid(
      [3, 1, 14].map((cells, k) => say`${"abc"[k]} ${share(cells, 228, { percent: true })}`),
      ", ",
    );
    expect(plain(missing)).toBe("a 1 % (3 of 228), b 0.4 % (1 of 228), c 6 % (14 of 228)");
    expect(sentence(missing)).toBe("a under 5 of 228, b under 5 of 228, c 6 % (14 of 228)");
    expect(createCells(false).sentence({ parts: missing })).toBe(plain(missing));
    const had = share(75, 77, { before: "the", noun: "row" });
    const near = say`${had} with x had it${percent(75, 77, "all")}, ${share(12, 90, { before: "the other" })}`;
    expect(plain(near)).toBe("75 of the 77 rows with x had it (97 % of all), 12 of the other 90");
    expect(sentence(near)).toBe("all but a few of the 77 rows with x had it, 12 of the other 90");
    const known = say`${share(30, 60, { noun: "row" })} with a${percent(30, 60)} and in ${share(4, 38)} without`;
    expect(sentence(known)).toBe("30 of 60 rows with a (50 %) and in under 5 of 38 without");
    const few = say`${share(7, 9, { noun: "row" })}${percent(7, 9)}, ${share(2, 3, { noun: "event" })}`;
    expect(sentence(few)).toBe("all but a few of 9 rows, under 5 of under 5 events");
    const these = say`${share(3, 40, { these: true })} had the event`;
    expect([plain(these), sentence(these)]).toEqual([
      "3 of these had the event",
      "under 5 of these had the event",
    ]);
  });

  test("words agree with what is hidden", () => {
    const has = (events: number, rows: number) => say`"g" has ${among(events, "event", rows, "row")}`;
    expect(plain(has(8, 10))).toBe('"g" has 8 events in 10 rows');
    expect(sentence(has(8, 10))).toBe('"g" has events in all but a few of 10 rows');
    expect(sentence(has(3, 20))).toBe('"g" has under 5 events in 20 rows');
    expect(sentence(has(0, 4))).toBe('"g" has under 5 events in under 5 rows');
    const repeats = say`${count(1, "row")}${percent(1, 250)}${verb(1, " repeats", " repeat")} an earlier row`;
    expect([plain(repeats), sentence(repeats)]).toEqual([
      "1 row (0.4 %) repeats an earlier row",
      "under 5 rows repeat an earlier row",
    ]);
    const all = say`${whole("all", 3, "row")} with x, ${whole("none of the", 4, "row")} with y`;
    expect([plain(all), sentence(all)]).toEqual([
      "all 3 rows with x, none of the 4 rows with y",
      "all of the few rows with x, none of the few rows with y",
    ]);
    expect(sentence(say`${whole("all", 30, "row")} with ${4}`)).toBe("all 30 rows with 4");
  });

  test("text is nobody's: levels, bins and decimals stay", () => {
    const text = "2 of 12 levels have fewer than 5 training rows; 14 events of 10.4 rows, age 4";
    expect(sentence([text])).toBe(text);
  });

  test("of tiny groups nothing is in the page: no count, no curve, no score", () => {
    const rows = Int32Array.of(0, 1, 2);
    const tiny = { ...input.groups[1], name: "three", rows };
    const scored = { ...input.audit.groups[2], name: "three", n: 3, events: 2 };
    const made = gatherReport({
      ...input,
      groups: [tiny],
      audit: { overall: input.audit.overall, groups: [scored] },
    });
    const { document: drawn } = parseHTML(draw(made));
    expect(drawn.querySelector("#group-1 svg.figure, #group-1 .figure")).toBeNull();
    const main = drawn.querySelector('table.main tr[data-group="1"]');
    expect([...(main?.querySelectorAll("td[data-value]") ?? [])].map((cell) => cell.textContent)).toEqual([
      "under 5",
      "under 5",
    ]);
    expect(main?.outerHTML).not.toMatch(/data-value="[23]"/);
    expect(drawn.querySelector(".glance")?.textContent).toContain("under 5 people, under 5 events");
  });
});

test("the horizontal axis is cut where no group is followed for half of the bins", () => {
  const shown = (...lasts: number[]) =>
    shownBins(
      lasts.map((last) => ({ ...data.groups[1].curve, last })),
      100,
    );
  expect(shown(100, 3)).toBe(100);
  expect(shown(3, 50)).toBe(100);
  // The longest stretch takes four fifths: 49/0.8 = 61.25, 8/0.8 = 10.
  expect(shown(3, 49)).toBe(62);
  expect(shown(8, 0)).toBe(10);
  // Nobody is followed at all: there is nothing to make room for.
  expect(shown(0, 0)).toBe(100);
});

test("axes: round ticks, the bin of a time, labels moved apart", () => {
  expect(chooseTicks(6209, 5)).toEqual([0, 2000, 4000, 6000]);
  expect(chooseTicks(0, 5)).toEqual([0]);
  expect([0, 10, 10.5, 20, 31].map((time) => binOfTime([0, 10, 20, 30], time))).toEqual([1, 1, 2, 2, 3]);
  expect(spreadLabels([0.5, 0.52, 0.1], 0.1)).toEqual([expect.closeTo(0.42, 12), 0.52, 0.1]);
});
