// Peers' files are refused where they have another shape, places and verdicts are what they say, a line has the scores
// that the plan names, and the page is made from the committed lines.
import { readFileSync } from "node:fs";
import { openWasmBackend } from "graduate-survival/node";
import { describe, expect, test } from "vitest";
import { LAW_GROUPS } from "../../src/causes/law.ts";
import { causesPage } from "../../src/causes/page.ts";
import { readIncidences } from "../../src/causes/peers.ts";
import {
  type CauseLine,
  expandCausesPlan,
  type LawLine,
  readCausesPlan,
  type TableLine,
} from "../../src/causes/plan.ts";
import { createCausesRunner } from "../../src/causes/run.ts";
import { scoreTestRows } from "../../src/causes/scores.ts";
import { summariseCauses } from "../../src/causes/summary.ts";
import { committedLines, STUDY_PAGES } from "../../src/commands/studies.ts";
import { readLines } from "../../src/studies/lines.ts";
import { judge, placeAmong } from "../../src/summaries/paired.ts";

const plan = readCausesPlan();

test("incidences are read row by row, and refused with another shape", () => {
  expect(Array.from(readIncidences("0.1,0.2\n0.3,0.4\n", 2, 2))).toEqual([0.1, 0.2, 0.3, 0.4]);
  expect(() => readIncidences("0.1,0.2\n", 2, 2)).toThrow("of 1 people");
  expect(() => readIncidences("0.1\n0.3,0.4\n", 2, 2)).toThrow("row 1");
  expect(() => readIncidences("0.1,NA\n0.3,0.4\n", 2, 2)).toThrow("row 1");
});

test("seeds go one by one, part A first, with every system of the plan", () => {
  const runs = expandCausesPlan(plan);
  expect(runs.slice(0, 8).map(({ part, seed }) => `${part} ${seed}`)).toEqual(Array(8).fill("A 5001"));
  expect(runs).toHaveLength(15 * 8 + 15 * 4 + 5 * 5 * 8);
  expect(runs.filter(({ part, system }) => part === "B" && system === "forest")).toHaveLength(0);
});

describe("scores of test rows", () => {
  // Four people, one event of each cause: cause 1 at 1, cause 2 at 3, two are seen to 4. No censoring before 4.
  const outcomes = {
    time: Float64Array.of(1, 3, 4, 4),
    event: Uint8Array.of(1, 1, 0, 0),
    cause: Uint8Array.of(1, 2, 0, 0),
  };
  const times = Float64Array.of(1, 2, 3);
  const rows = Int32Array.of(0, 1, 2, 3);
  const everyone = [{ rows }];

  test("of 1/4 for everyone: Brier 3/16 for cause 1 from its event on, worked by hand", () => {
    const F = new Float64Array(4 * 2 * 3).fill(0.25);
    const { brier } = scoreTestRows({ outcomes, rows, members: everyone, times, F, K: 2 });
    // Cause 1, at 1 and at 2: (9 + 1 + 1 + 1) / 16 / 4 = 3/16, each held for 1; the first stretch has 0; over 3.
    expect(brier[0]).toBeCloseTo((3 / 16 + 3 / 16) / 3, 8);
    // Cause 2, at 1 and at 2: nobody has had it: 1/16.
    expect(brier[1]).toBeCloseTo((1 / 16 + 1 / 16) / 3, 8);
  });

  test("the gap to Aalen-Johansen of forty people like these", () => {
    const times40 = Int32Array.from({ length: 40 }, (_, i) => i % 4);
    const many = {
      time: Float64Array.from(times40, (i) => outcomes.time[i]),
      event: Uint8Array.from(times40, (i) => outcomes.event[i]),
      cause: Uint8Array.from(times40, (i) => outcomes.cause[i]),
    };
    const all = Int32Array.from(times40.keys());
    const F = new Float64Array(40 * 2 * 3).fill(0.35);
    const { gap } = scoreTestRows({ outcomes: many, rows: all, members: [{ rows: all }], times, F, K: 2 });
    // Observed: 1/4 of cause 1 at all three times; of cause 2 0, 0 and 1/4.
    expect(gap[0]).toBeCloseTo(0.1, 6);
    expect(gap[1]).toBeCloseTo(Math.sqrt((0.35 ** 2 + 0.35 ** 2 + 0.1 ** 2) / 3), 6);
  });
});

test("a line of the law has everyone and the groups, for both causes", async () => {
  const backend = await openWasmBackend({ threads: 1, deterministic: true });
  const small = { ...plan, people: 700, truthPeople: 400 };
  const programs = { rscript: "none", python: "none" };
  const run = createCausesRunner(small, { backend, programs, training: { bins: 20 } });
  const lines: CauseLine[] = [];
  for (const part of ["A", "B"]) lines.push(await run({ part, seed: 3, system: "start" }));
  await expect(run({ part: "A", seed: 3, system: "cox" })).rejects.toThrow("cox failed");
  await backend.close();
  for (const line of lines) {
    const { errors, ise } = line as LawLine;
    expect(Object.keys(errors)).toEqual(["all", ...LAW_GROUPS]);
    for (const error of errors.all) expect(error).toBeLessThan(0.06);
    // The mean of squares is no less than the square of the mean.
    for (const [k, own] of ise.entries()) expect(own).toBeGreaterThan(errors.all[k] ** 2);
  }
});

describe("the summary", () => {
  test("places and verdicts", () => {
    expect([1, 2, 2, 5].map((value) => placeAmong(value, [1, 2, 2, 5]))).toEqual([1, 2.5, 2.5, 4]);
    expect(judge({ mean: -1, error: 0.1, p: 0.01 })).toBe("better");
    expect(judge({ mean: 1, error: 0.1, p: 0.01 })).toBe("worse");
    expect(judge({ mean: 1, error: 1, p: 0.3 })).toBe("par");
  });

  const lineOf = (seed: number, system: LawLine["system"], error: number): LawLine => ({
    kind: "law",
    part: "B",
    seed,
    system,
    errors: { all: [error, error], "sex = f": [error, 3 * error] },
    ise: [error, error],
    seconds: 1,
    version: "0",
  });

  test("counts the seeds that every system has, and pairs by them", () => {
    const lines = [1, 2, 3].flatMap((k) =>
      plan.parts[1].systems.map((system, s) => lineOf(5000 + k, system, 0.01 * (s + 1) + (s * k) / 1000)),
    );
    const summary = summariseCauses(plan, lines.slice(0, -1));
    const [a, b] = summary.laws;
    expect([summary.made, a.seeds.length, b.seeds]).toEqual([11, 0, [5001, 5002]]);
    const [graduate, start] = b.rows;
    expect(graduate.scores[0].mean).toBeCloseTo(0.02, 12);
    expect(graduate.scores[0].rank).toBe(1);
    expect(start.scores[0].mean).toBeCloseTo((2 * (0.021 + 0.022)) / 2, 12);
    // Differences: −0.022 and −0.024.
    expect(start.scores[0].difference?.mean).toBeCloseTo(-0.023, 12);
    expect(start.scores[0].difference?.error).toBeCloseTo(0.001, 12);
    expect(causesPage(plan, lines)).toContain(
      "Simulated patients, some come late (part B, 3 cohorts with a known truth)",
    );
  });
});

test("docs/results/causes.md is made from paper/causes.jsonl", () => {
  const path = committedLines("causes");
  const page = readFileSync(new URL("../../../docs/results/causes.md", import.meta.url), "utf8");
  expect(STUDY_PAGES.causes(path)).toBe(page);
  const lines = readLines<LawLine | TableLine>(path);
  expect(page).toContain(`${lines.length} of 380 planned lines`);
});
