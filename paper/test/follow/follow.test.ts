// Scores of people who enter late are those worked by hand, a line has what the plan names, and the page is made from
// the committed lines.
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { openWasmBackend } from "graduate-survival/node";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { committedLines, STUDY_PAGES } from "../../src/commands/studies.ts";
import { LAW_GROUPS } from "../../src/follow/law.ts";
import { followPage } from "../../src/follow/page.ts";
import {
  expandFollowPlan,
  type FollowLawLine,
  type FollowLine,
  type FollowTableLine,
  readFollowPlan,
  systemsOf,
} from "../../src/follow/plan.ts";
import { createFollowRunner } from "../../src/follow/run.ts";
import { logLikelihood, scoreFollowed } from "../../src/follow/scores.ts";
import { drift, misfit, summariseFollow } from "../../src/follow/summary.ts";
import { readLines } from "../../src/studies/lines.ts";

const plan = readFollowPlan();

test("seeds go one by one over all parts; a table may have a system of its own", () => {
  const runs = expandFollowPlan(plan);
  expect(runs).toHaveLength(10 * (6 * 5 + 1) + 15 * 5);
  expect(runs.slice(0, 36).every(({ seed }) => seed === 5001)).toBe(true);
  expect(new Set(runs.slice(0, 36).map(({ part }) => part)).size).toBe(7);
  const own = runs.filter(({ system }) => system === "cox without weights");
  expect(new Set(own.map(({ part }) => part))).toEqual(new Set(["nwtco-cohort"]));
});

// Rates of 0.1 up to 2 and 0.3 up to 4, for everyone.
const edges = Float64Array.of(0, 2, 4);
const atEnds = [Math.exp(-0.2), Math.exp(-0.8)];
const intervals = { kind: "quantile", T: 2, edges } as const;

describe("scores", () => {
  const outcomes = {
    time: Float64Array.of(3, 1, 4, 5),
    event: Uint8Array.of(1, 1, 0, 1),
    entry: Float64Array.of(1, 0, 2.5, 0),
  };
  const atIntervals = Float64Array.from([...atEnds, ...atEnds, ...atEnds, ...atEnds]);

  test("the likelihood takes each row from its entry to its time, and no event after the last interval", () => {
    const byHand =
      Math.log(0.3) -
      0.1 -
      0.3 + // at risk in (1, 3]
      Math.log(0.1) -
      0.1 + // in (0, 1]
      -0.3 * 1.5 + // in (2.5, 4]
      -0.2 -
      0.6; // in (0, 4], the event comes later
    expect(logLikelihood({ outcomes, intervals, atIntervals, leastRate: 1e-9 })).toBeCloseTo(byHand, 12);
    // A rate below the least counts as that: (2, 4] at 0.5.
    const least = { outcomes, intervals, atIntervals, leastRate: 0.5 };
    const each = Math.log(0.5) - 0.5 * 2 + Math.log(0.5) - 0.5 - 0.5 * 1.5 - 0.5 * 4;
    expect(logLikelihood(least)).toBeCloseTo(each, 12);
  });

  test("observed and expected events, and pairs of those who had entered", () => {
    const survival = Float64Array.from([...atEnds, ...atEnds, ...atEnds, ...atEnds]);
    survival.set([Math.exp(-0.4), Math.exp(-1.6)], 2); // row 1 has twice the hazard
    const found = scoreFollowed({
      outcomes,
      learnt: outcomes,
      grid: { kind: "equal", T: 2, edges },
      survival,
      intervals,
      atIntervals: survival,
      leastRate: 1e-9,
      members: [
        { name: "all", rows: Int32Array.of(0, 1, 2, 3) },
        { name: "late", rows: Int32Array.of(0, 2) },
      ],
    });
    const h = (H: number) => 1 - Math.exp(-H);
    // At risk: row 0 in bin 2, row 1 in bin 1, row 2 in none, row 3 in both; the event of row 3 comes later.
    expect(found.events).toBe(2);
    expect(found.groups.all.observed).toBe(2);
    expect(found.groups.all.expected).toBeCloseTo(h(0.6) + h(0.4) + h(0.2) + h(0.6), 6);
    expect(found.groups.late).toMatchObject({ observed: 1 });
    expect(found.groups.late.expected).toBeCloseTo(h(0.6), 6);
    // Row 1 at 1 is compared with row 3 alone and ranked first; row 0 at 3 with rows 2 and 3, which share its risk.
    expect(found.concordance).toBeCloseTo((1 + 0.5 + 0.5) / 3, 6);
  });
});

test("drift and misfit", () => {
  expect(drift({ observed: 5, expected: 10.5, variance: 1 })).toBeCloseTo(Math.log(2), 12);
  expect(misfit({ observed: 5, expected: 11, variance: 9 })).toBe(2);
  expect(misfit({ observed: 0, expected: 0, variance: 0 })).toBe(0);
});

describe("a line", () => {
  const folder = mkdtempSync(join(tmpdir(), "follow-"));
  let backend: Awaited<ReturnType<typeof openWasmBackend>>;
  beforeAll(async () => {
    backend = await openWasmBackend({ threads: 1, deterministic: true });
  });
  afterAll(async () => {
    await backend.close();
    rmSync(folder, { recursive: true });
  });
  const runnerOf = (small: typeof plan) =>
    createFollowRunner(small, { backend, rscript: "none", data: folder, training: { bins: 20 } });

  test("of the law has everyone and the groups", async () => {
    const run = runnerOf({ ...plan, law: { ...plan.law, people: 700, truthPeople: 400 } });
    const { errors, ise } = (await run({ part: "law", seed: 3, system: "start" })) as FollowLawLine;
    expect(Object.keys(errors)).toEqual(["all", ...LAW_GROUPS]);
    expect(errors.all).toBeLessThan(0.06);
    // The mean of squares is no less than the square of the mean.
    expect(ise).toBeGreaterThan(errors.all ** 2);
    await expect(run({ part: "law", seed: 3, system: "cox" })).rejects.toThrow("cox failed");
  });

  test("of a case-cohort learns from the weighted rows, and is judged on all", async () => {
    const table = { ...plan.tables.tables[5], name: "small", groups: ["age >= 50"] };
    const rows = Array.from({ length: 500 }, (_, i) => {
      const isEvent = i % 5 === 0;
      return [1 + ((i * 37) % 90), Number(isEvent), isEvent ? 1 : i % 2 === 0 ? 2 : 0, 30 + ((i * 53) % 41)];
    });
    const text = ["time,event,weight,age", ...rows.map((row) => row.join(","))].join("\n");
    writeFileSync(join(folder, "small.csv"), text);
    const run = runnerOf({ ...plan, bins: 100, tables: { ...plan.tables, tables: [table] } });
    const line = (await run({ part: "small", seed: 2, system: "start" })) as FollowTableLine;
    expect(line.people.test).toBe(100);
    expect(line.people.learnt).toBeLessThan(300);
    expect(Object.keys(line.groups)).toEqual(["all", "age >= 50"]);
    const { observed, expected } = line.groups.all;
    expect(observed).toBe(line.events);
    expect(Math.abs(observed - expected)).toBeLessThan(4 * Math.sqrt(expected));
  });
});

test("the summary pairs by seed, and adds events up over them", () => {
  const [table] = plan.tables.tables;
  const lines = [1, 2, 3].flatMap((k) =>
    systemsOf(plan, table).map((system, s): FollowTableLine => {
      const events = { observed: 10 + k, expected: 10 + s, variance: 10 };
      return {
        kind: "table",
        part: table.name,
        seed: 5000 + k,
        system,
        people: { learnt: 80, test: 20 },
        events: 10,
        concordance: 0.6,
        likelihood: -2 - s / 10 - k / 100,
        groups: { all: events, young: events },
        seconds: 1,
        version: "0",
      };
    }),
  );
  const summary = summariseFollow(plan, lines.slice(0, -1));
  const [first, second] = summary.tables;
  expect([summary.made, first.seeds, second.seeds]).toEqual([14, [5001, 5002], []]);
  expect(first.rows[0].scores[1].mean).toBeCloseTo(2.015, 12);
  expect(first.rows[1].scores[1].difference?.mean).toBeCloseTo(-0.1, 12);
  expect(first.groups[1].values[1]).toBeCloseTo(23 / 22, 12);
  expect(followPage(plan, lines)).toContain("heart 15 of 50");
});

test("docs/results/follow.md is made from paper/follow.jsonl", () => {
  const path = committedLines("follow");
  const page = readFileSync(new URL("../../../docs/results/follow.md", import.meta.url), "utf8");
  expect(STUDY_PAGES.follow(path)).toBe(page);
  expect(page).toContain(`${readLines<FollowLine>(path).length} of 385 planned lines`);
});
