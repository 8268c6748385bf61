/**
 * docs/results/examples.md and its figures are what the examples give when they are computed again; and the numbers
 * themselves, by hand where a hand suffices. The scores at the counterexamples are held as fractions in
 * test/worked/counterexamples.test.ts.
 */
import { readdirSync, readFileSync } from "node:fs";
import { beforeAll, describe, expect, test } from "vitest";
import { type ExampleFile, makeExampleFiles } from "../src/commands/examples.ts";
import type { CounterexampleName } from "../src/examples/counter.ts";
import { computeExamples, EXAMPLE_NAMES, type Examples } from "../src/examples/examples.ts";
import { exampleSections } from "../src/pages/examples.page.ts";

const results = new URL("../../docs/results/", import.meta.url);
/** Of four digits on the page. */
const HALF_DIGIT = 5e-5;

let examples: Examples;
let files: readonly ExampleFile[];

beforeAll(async () => {
  examples = await computeExamples();
  files = await makeExampleFiles(examples);
}, 60_000);

describe("the page", () => {
  test("page and figures are what the examples give", () => {
    expect(files.map(({ path }) => path)).toEqual([
      "examples.md",
      ...EXAMPLE_NAMES.map((name) => `examples/${name}.svg`),
    ]);
    for (const { path, text } of files) expect(text, path).toBe(readFileSync(new URL(path, results), "utf8"));
    expect(readdirSync(new URL("examples/", results)).sort()).toEqual(
      EXAMPLE_NAMES.map((name) => `${name}.svg`).sort(),
    );
  });

  test("every section has its figure and its command, in the order of the names", () => {
    const sections = exampleSections(examples);
    expect(sections.map(({ name }) => name)).toEqual([...EXAMPLE_NAMES]);
    for (const { name, text } of sections) {
      expect(text).toContain(`(examples/${name}.svg)`);
      expect(text).toContain(`graduate reproduce examples ${name}`);
      expect(text).not.toMatch(/^\|.*(NaN|undefined|Infinity)/m);
    }
  });

  test("figures say what they show and follow light and dark", () => {
    for (const { path, text } of files.slice(1)) {
      expect(text, path).toMatch(/^<svg [^>]*aria-label="[^"]{20,}"/);
      expect(text, path).toContain('role="img"');
      expect(text, path).toContain("prefers-color-scheme:dark");
      expect(text, path).not.toContain("NaN");
    }
  });
});

/** What the paper prints: predicted and Kaplan-Meier survival after time 5, as whole percents. */
const PRINTED: readonly { name: CounterexampleName; predicted: number; km: number; l2: number }[] = [
  // Gaps .03, .1, .21, .36, .55.
  { name: "xcal", predicted: 0.55, km: 0, l2: (0.0009 + 0.01 + 0.0441 + 0.1296 + 0.3025) / 5 },
  {
    name: "brier",
    predicted: 0,
    km: 0.42,
    l2: [14 / 15, 11 / 12, 8 / 9, 5 / 6, 2 / 3].reduce(
      ({ S, sum }, factor, t) => ({ S: S * factor, sum: sum + (S * factor - (4 - t) / 5) ** 2 / 5 }),
      { S: 1, sum: 0 },
    ).sum,
  },
  // Means 14/15 … 10/15 against 14/15, 21/25, 7/10, 7/20, 0.
  {
    name: "rps",
    predicted: 0.67,
    km: 0,
    l2: (0 + (13 / 15 - 0.84) ** 2 + (12 / 15 - 0.7) ** 2 + (11 / 15 - 0.35) ** 2 + (10 / 15) ** 2) / 5,
  },
];

describe.each(PRINTED)("counterexample $name", ({ name, predicted, km, l2 }) => {
  test("the printed numbers come out, with a score of 0", () => {
    const example = examples.counterexamples[name];
    const printed = example.numbers.filter((line) => line.printed !== null);
    expect(printed.map((line) => line.printed)).toEqual([0, predicted, km]);
    for (const line of printed) expect(Math.round(line.here * 100) / 100, line.what).toBe(line.printed);
    expect(printed[0].here).toBe(0);
  });

  test("the constraint is above 0 there, in every form", () => {
    const { numbers } = examples.counterexamples[name];
    const numberOf = (start: string) =>
      numbers.find(({ what }) => what.startsWith(start))?.here ?? Number.NaN;
    expect(numberOf("l2 constraint")).toBeCloseTo(l2, 14);
    expect(numberOf("the same as the example divides it")).toBeCloseTo((l2 * 5) / 6, 14);
    expect(numberOf("variance constraint, Greenwood's")).toBeGreaterThan(1);
    expect(numberOf("variance constraint, the mean")).toBeGreaterThan(2);
  });

  test("under the constraint the mean is Kaplan-Meier; without it the score and the censored stay", () => {
    const { constrained, runs, mean } = examples.counterexamples[name];
    expect(constrained.largestGap).toBeLessThan(0.004);
    expect(constrained.distance).toBeLessThan(1e-5);
    const alone = runs.find(({ objective }) => /^(D-Cal|RPS) alone$/.test(objective));
    if (name === "brier") expect(alone).toBeUndefined();
    // .003: the start is held .001 from hazards of 0, over at most five bins.
    else expect(Math.abs((alone?.mean[5] ?? Number.NaN) - mean[5])).toBeLessThan(0.003);
    const likelihood = runs.find(({ objective }) => objective === "likelihood alone");
    if (name === "xcal") expect(likelihood?.largestGap).toBeLessThan(0.001);
    else expect(likelihood?.largestGap).toBeGreaterThan(0.2);
    if (name !== "xcal") expect(constrained.score).toBeLessThan(1e-4);
  });
});

test("X-Cal: twenty bins at their least, and the gap that Greenwood's variance does not see", () => {
  const numberOf = (start: string) =>
    examples.counterexamples.xcal.numbers.find(({ what }) => what.startsWith(start))?.here;
  // Five bins with a fifth each, fifteen with none: 5 (.2 − .05)² + 15 (.05)².
  expect(numberOf("D-Cal, X-Cal's own twenty bins")).toBeCloseTo(0.15, 14);
  // At t = 4: .36 / √(.8 · .2 / 5).
  expect(numberOf("variance constraint, Greenwood's")).toBeCloseTo(0.36 / Math.sqrt(0.032), 12);
  expect(numberOf("the same of a mean that is right up to t = 4")).toBe(0);
  // All five in the last bin: (1 − .2)² + 4 (.2)².
  expect(examples.counterexamples.xcal.constrained.score).toBeCloseTo(0.8, 14);
});

test("trained on the score itself: RPS gives way to the constraint, D-Cal stops at the edge of a bin", () => {
  const gapOf = (name: CounterexampleName) =>
    examples.counterexamples[name].runs.find(({ objective }) => /^(D-Cal|RPS) under/.test(objective))
      ?.largestGap;
  expect(gapOf("rps")).toBeLessThan(0.004);
  // One of five at S = 1 − .8 where Kaplan-Meier is 0.
  expect(gapOf("xcal")).toBeCloseTo(0.2 / 5, 3);
});

test("the score that is 0 is 0 whatever is predicted after a censoring", () => {
  for (const [name, alive] of [
    ["brier", 2 / 3],
    ["rps", 0],
  ] as const) {
    const { numbers } = examples.counterexamples[name];
    const at = numbers.findIndex(({ what }) => what.includes("if the censored are predicted"));
    expect(numbers[at].here).toBe(0);
    expect(numbers[at + 1].here).toBeCloseTo(alive, 15);
  }
});

describe("swapped curves", () => {
  test("four people: every mean right, every pair wrong, and the cells see it", () => {
    const [right, swapped, freed] = examples.swap.four;
    expect(right).toMatchObject({ concordance: 1, distance: 0, strata: 0, cells: 2 });
    // The cell of the dying is predicted to live: gaps .5, 1, 1, 1, 1.
    expect(swapped).toMatchObject({ concordance: 0, distance: 0, strata: 0.85, cells: 2 });
    expect(freed.strata).toBeLessThan(0.001);
    // The pair within a cell stays tied, the other four of five are right.
    expect(freed.concordance).toBe(4 / 5);
    expect(freed.concordanceHalfTies).toBe(4.5 / 5);
  });

  test("two hundred people: the cells bring the order back", () => {
    const [right, swapped, freed] = examples.swap.many;
    expect(swapped.distance).toBeLessThan(1e-28);
    // The halves differ by a tenth more each year: .01 (1 + 4 + 9 + 16 + 25)/5.
    expect(swapped.strata).toBeCloseTo(0.11, 14);
    expect(swapped.concordance).toBeLessThan(right.concordance / 3);
    expect(freed.concordance).toBe(right.concordance);
    expect(freed.strata).toBeLessThan(1e-9);
  });

  test("two who die before the horizon share a cell, and nothing sees them", () => {
    const [right, swapped] = examples.swap.horizon;
    expect(right).toMatchObject({ concordance: 1, strata: 0, cells: 1 });
    expect(swapped).toMatchObject({ concordance: 0, distance: 0, strata: 0, cells: 1 });
  });
});

test("right order and wrong level, right level and wrong order", () => {
  const { deaths, lines } = examples.level;
  expect(deaths).toEqual([2, 5, 9]);
  const [truth, level, order, none] = lines;
  const hazards = [0.35, 0.15, 0.08];
  // Predicted is above the truth everywhere, so no signs cancel: the mean gap over t = 0…10.
  let gap = 0;
  for (const h of hazards) for (let t = 0; t <= 10; t++) gap += ((1 - h / 4) ** t - (1 - h) ** t) / 33;
  expect(level.concordance).toBe(1);
  expect(level.eceOfTruth).toBeCloseTo(gap, 14);
  expect(level.eceOfTruth).toBeGreaterThan(0.3);
  expect(level.totalScore).toBeCloseTo((2 * (1 - gap)) / (2 - gap), 14);
  expect(truth).toMatchObject({ concordance: 1, eceOfTruth: 0, totalScore: 1 });
  expect(order.concordance).toBe(0);
  expect(order.eceOfTruth).toBeLessThan(1e-15);
  expect(none).toMatchObject({ concordance: 0, concordanceHalfTies: 0.5 });
  expect(none.eceOfTruth).toBeLessThan(1e-15);
});

test("under 60: right on average, wrong for both groups, mended by their constraints", () => {
  const { truth, groups, steps, reasons, leastMiss } = examples.under60;
  expect(truth).toEqual([1, 0.01, 0.9901]);
  expect(groups.map(({ n }) => n)).toEqual([4950, 50]);
  const [start, all, both] = steps;
  // The young's Kaplan-Meier is 1: mean over t of (.01 − .01 · .01^(t/10))².
  let young = 0;
  for (let t = 1; t <= 10; t++) young += (0.01 * (1 - 0.01 ** (t / 10))) ** 2 / 10;
  expect(start.distances[1].distance).toBeCloseTo(young, 12);
  for (const step of [start, all]) {
    expect(step.audit.overall.noiseFloor?.p).toBeGreaterThan(0.5);
    // 999 draws: 1/1000 is the least p there is.
    for (const group of step.audit.groups) expect(group.noiseFloor?.adjustedP).toBeCloseTo(1 / 1000, 14);
    expect(step.audit.groups[1].paper.ece).toBeGreaterThan(0.7);
    expect(step.predicted.every((S) => Math.abs(S - 0.99) < 0.001)).toBe(true);
  }
  for (const scores of [both.audit.overall, ...both.audit.groups]) {
    expect(scores.noiseFloor?.adjustedP).toBeGreaterThan(0.05);
    expect(scores.logrankIndividual.p).toBeGreaterThan(0.05);
  }
  expect(both.predicted[0]).toBeGreaterThan(0.999);
  expect(both.predicted[1]).toBeLessThan(0.03);
  expect(reasons).toEqual(["0 events, fewer than 10", null]);
  expect(Math.abs(leastMiss - 0.5)).toBeLessThan(HALF_DIGIT);
});
