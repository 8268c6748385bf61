// What a sweep expands to, how its runs are scored and summarised, the frontier, and the choice by every rule.

import fc from "fast-check";
import { parseHTML } from "linkedom";
import { describe, expect, test } from "vitest";
import { createReferenceBackend } from "../../src/compute/reference.ts";
import { isAbsent } from "../../src/core/measured.ts";
import { createRandom } from "../../src/core/random.ts";
import { splitByOrder } from "../../src/data/outcomes/split.ts";
import { binOutcomes } from "../../src/data/outcomes/time-grid.ts";
import type { Table } from "../../src/data/table.ts";
import { plotFrontier } from "../../src/report/plots/frontier-plot.ts";
import { plotFrontierAsText } from "../../src/report/plots/terminal-plots.ts";
import { noiseFloor } from "../../src/stats/calibration/noise-floor.ts";
import { audit } from "../../src/verbs/audit.ts";
import { studyOf } from "../../src/verbs/model-study.ts";
import { gridOf, predict } from "../../src/verbs/predict.ts";
import { prepare, type TrainRequest, train } from "../../src/verbs/train.ts";
import { trainChosen } from "../../src/verbs/tune.ts";
import { type RunScores, scoreRun } from "../../src/verbs/tuning/scores.ts";
import { findFrontier, selectSetting, summariseRuns } from "../../src/verbs/tuning/selection.ts";
import {
  expandSweep,
  labelSettings,
  parseSweep,
  reduceSetting,
  requestOfSetting,
  type Setting,
} from "../../src/verbs/tuning/settings.ts";

describe("a sweep", () => {
  test("is every combination, or one option at a time", () => {
    const sweeps = [parseSweep("kappa=0.25,1"), parseSweep("hidden=8, 16")];
    expect(expandSweep(sweeps, { steps: 10 })).toEqual({
      settings: [
        { kappa: 0.25, hidden: 8, steps: 10 },
        { kappa: 0.25, hidden: 16, steps: 10 },
        { kappa: 1, hidden: 8, steps: 10 },
        { kappa: 1, hidden: 16, steps: 10 },
      ],
      merged: 0,
    });
    expect(expandSweep(sweeps, { kappa: 1 }, "each")).toEqual({
      settings: [{ kappa: 1 }, { kappa: 0.25 }, { kappa: 1, hidden: 8 }, { kappa: 1, hidden: 16 }],
      merged: 1,
    });
  });

  test("runs nothing twice: what has no effect beside the rest is left out", () => {
    const { settings, merged } = expandSweep([
      parseSweep("kappa=1,2,none"),
      parseSweep("distance=l2,variance"),
    ]);
    expect(settings).toEqual([
      { distance: "l2", kappa: 1 },
      { distance: "variance" },
      { distance: "l2", kappa: 2 },
      { slack: "none" },
    ]);
    expect(merged).toBe(2);
    expect(reduceSetting({ method: "cox", kappa: 1, hidden: 8 })).toEqual({ method: "cox" });
    expect(reduceSetting({ method: "drsa", slack: 1, distance: "l2", hidden: 8 })).toEqual({
      method: "drsa",
      hidden: 8,
    });
    expect(reduceSetting({ slack: 0.5, kappa: 2, network: "linear", hidden: 8 })).toEqual({
      slack: 0.5,
      network: "linear",
    });
    expect(expandSweep([parseSweep("splines=auto,no,yes")]).settings).toEqual([
      {},
      { splines: "no" },
      { splines: "yes" },
    ]);
  });

  test("settings are named by what sets them apart", () => {
    const settings: Setting[] = [{ kappa: 1, steps: 10 }, { slack: "none", steps: 10 }, { steps: 10 }];
    expect(labelSettings(settings)).toEqual(["kappa=1", "slack=none", "defaults"]);
    expect(labelSettings([{ kappa: 1 }])).toEqual(["kappa=1"]);
  });

  test("a setting becomes a request of train", () => {
    const common: TrainRequest = { time: "t", event: "e" };
    expect(requestOfSetting({ splines: "yes" }, common, 1).splines).toBe(true);
    expect(requestOfSetting({ splines: "no" }, common, 1).splines).toBe(false);
    expect(requestOfSetting({ splines: "auto" }, common, 1)).not.toHaveProperty("splines");
    expect(requestOfSetting({}, common, 1)).not.toHaveProperty("splines");
    expect(
      requestOfSetting({ kappa: 2, distance: "l2", hidden: 8, batch: 0, rate: 0.01 }, common, 7),
    ).toEqual({
      time: "t",
      event: "e",
      method: "graduate",
      preset: "default",
      constraint: { distance: "l2", slack: "auto", kappa: 2 },
      hidden: 8,
      options: {
        batch: null,
        optimiser: { kind: "adamw", rate: 0.01, decay: 1 },
        solve: "heldOnTraining",
      },
      seed: 7,
    });
    expect(requestOfSetting({ slack: "none" }, common, 1)).toMatchObject({ method: "nll", constraint: {} });
    expect(requestOfSetting({ preset: "paper" }, common, 1)).toMatchObject({ options: { solve: "none" } });
  });

  test.each([
    ["kappa", "not a sweep"],
    ["kappa=", "not a sweep"],
    ["kappa=1,zero", 'invalid value for kappa: "zero" (expected a number above 0, or none)'],
    ["slack=-1", "above 0, or auto, or none"],
    ["hidden=2.5", "a whole number, 1 or more"],
    ["distance=cosine", "one of l2, variance, atRisk"],
    ["bins=10,20", "cannot be swept"],
    ["toString=1", "unknown option"],
  ])("%s is refused", (text, says) => {
    expect(() => parseSweep(text)).toThrow(says);
  });

  test("an option is swept once", () => {
    expect(() => expandSweep([parseSweep("kappa=1"), parseSweep("kappa=2")])).toThrow("swept twice: kappa");
  });
});

const scores = (concordance: number, ratio: number, p: number, ece = 0.02): RunScores => ({
  concordance,
  ece,
  total: (2 * concordance * (1 - ece)) / (concordance + 1 - ece),
  worst: { group: "older", ece: ratio * 0.05, critical: 0.05, ratio },
  p,
  met: 2,
  constrained: 4,
  steps: 10,
});
const run = (kappa: number, seed: number, own: RunScores | null) => ({
  setting: { kappa },
  seed,
  scores: own,
  failure: own === null ? "the loss is not finite" : null,
});

describe("runs", () => {
  test("are averaged over seeds; within noise is in every seed", () => {
    const [one, other] = summariseRuns([
      run(1, 1, scores(0.7, 1, 0.5)),
      run(2, 1, scores(0.72, 1.5, 0.3)),
      run(1, 2, scores(0.74, 2, 0.25)),
      run(2, 2, scores(0.76, 2.5, 0.04)),
    ]);
    expect(one.concordance).toBeCloseTo(0.72, 12);
    expect([one.worst, one.worstGroup?.ratio, one.p, one.withinNoise]).toEqual([1.5, 2, 0.25, true]);
    expect([other.worst, other.p, other.withinNoise]).toEqual([2, 0.04, false]);
    expect([one.label, one.met, one.constrained]).toEqual(["kappa=1", 2, 4]);
    expect([one.onFrontier, other.onFrontier]).toEqual([true, true]);
  });

  test("a setting of which one run failed has no scores", () => {
    const [one] = summariseRuns([run(1, 1, scores(0.7, 1, 0.5)), run(1, 2, null)]);
    expect([one.concordance, one.worst, one.p, one.withinNoise]).toEqual([null, null, null, null]);
    expect(one.failure).toBe("the loss is not finite");
    expect(selectSetting([one]).chosen).toBeNull();
  });

  test("the frontier is what a look at every pair says", () => {
    const point = fc.record({
      concordance: fc.option(fc.integer({ min: 0, max: 6 })),
      worst: fc.option(fc.integer({ min: 0, max: 6 })),
    });
    fc.assert(
      fc.property(fc.array(point, { maxLength: 12 }), (points) => {
        const frontier = findFrontier(points);
        const defined = points.filter(({ concordance, worst }) => concordance !== null && worst !== null);
        // Sorted by error, then the best concordance so far decides.
        const expected = points.flatMap((one, k) => {
          if (one.concordance === null || one.worst === null) return [];
          const { concordance, worst } = one;
          const noWorse = defined.filter((other) => (other.worst ?? 0) <= worst);
          const best = Math.max(...noWorse.map((other) => other.concordance ?? 0));
          const cheapest = Math.min(
            ...noWorse.filter((other) => other.concordance === best).map((other) => other.worst ?? 0),
          );
          return concordance === best && worst === cheapest ? [k] : [];
        });
        expect(frontier).toEqual(expected);
      }),
      { seed: 4 },
    );
  });
});

describe("the choice", () => {
  // concordance, worst, p, ECE of everyone
  const summaries = summariseRuns([
    run(1, 1, scores(0.7, 0.9, 0.4, 0.03)),
    run(2, 1, scores(0.72, 1.3, 0.051, 0.04)),
    run(3, 1, scores(0.74, 1.8, 0.05, 0.2)),
    run(4, 1, scores(0.73, 2.5, 0.005, 0.01)),
  ]);

  test.each([
    ["calibrated" as const, 1],
    ["concordance" as const, 2],
    ["worst" as const, 0],
    ["total" as const, 3],
  ])("by %s", (rule, chosen) => {
    expect(selectSetting(summaries, rule)).toMatchObject({ rule, chosen, usedFallback: false });
  });

  test("falls back on the least error, and says so, when no setting is within noise", () => {
    const none = selectSetting(summaries.slice(2));
    expect(none).toMatchObject({ chosen: 0, usedFallback: true });
    expect(none.words).toContain("no setting is, so the one whose worst group is least off");
  });

  test("without a group to measure it is by concordance, and says so", () => {
    const blank = { ...scores(0.7, 1, 0.5), worst: null, p: null };
    const bare = summariseRuns([run(1, 1, blank), run(2, 1, { ...blank, concordance: 0.8 })]);
    const chosen = selectSetting(bare);
    expect(chosen).toMatchObject({ chosen: 1, usedFallback: true });
    expect(chosen.words).toContain("no group has events enough");
  });

  test("of equals, the one with the smaller error, then the first", () => {
    const equal = summariseRuns([
      run(1, 1, scores(0.7, 0.9, 0.4)),
      run(2, 1, scores(0.7, 0.8, 0.4)),
      run(3, 1, scores(0.7, 0.8, 0.4)),
    ]);
    expect(selectSetting(equal).chosen).toBe(1);
  });
});

/** Risk rises with x; times are exponential, censored at random. */
function tableOf(rows: number): Table {
  const random = createRandom(3);
  const x = Float64Array.from({ length: rows }, () => random.normal());
  const half = Int32Array.from({ length: rows }, () => (random.uniform() < 0.5 ? 0 : 1));
  const time = new Float64Array(rows);
  const event = new Float64Array(rows);
  for (let i = 0; i < rows; i++) {
    const own = -Math.log(1 - random.uniform()) / Math.exp(x[i] + half[i]);
    const censoring = 2 * random.uniform();
    time[i] = Math.min(own, censoring);
    event[i] = own <= censoring ? 1 : 0;
  }
  return {
    name: "drawn",
    rows,
    columns: [
      { name: "x", type: "number", values: x },
      { name: "half", type: "category", codes: half, levels: ["a", "b"] },
      { name: "time", type: "number", values: time },
      { name: "event", type: "number", values: event },
    ],
  };
}

test("a run's scores are the audit's, and its error is in units of the noise floor's 95 % point", async () => {
  const table = tableOf(1500);
  const split = splitByOrder(table.rows, { seed: 1 });
  const groups = [
    { name: "a", expression: "half = a" },
    { name: "tiny", expression: "x > 3" },
  ];
  const backend = createReferenceBackend();
  const request: TrainRequest = {
    time: "time",
    event: "event",
    method: "cox",
    bins: 20,
    split,
    groups,
    features: ["x"],
  };
  const study = prepare(table, request);
  const training = train(study, request, backend);
  let next = await training.next();
  while (!next.done) next = await training.next();
  const model = next.value;
  const own = await scoreRun(studyOf(model, study, split), null);
  const { curves } = await predict(model, table, null, split.validation);
  const pick = (name: "time" | "event") => {
    const column = table.columns.find((one) => one.name === name);
    if (column?.type !== "number") throw new Error(name);
    return Float64Array.from(split.validation, (row) => column.values[row]);
  };
  const binned = binOutcomes({ time: pick("time"), event: Uint8Array.from(pick("event")) }, gridOf(model));
  const { overall } = await audit({ curves, outcomes: binned }, { draws: 0 });
  expect([own.concordance, own.ece, own.total]).toEqual([
    overall.concordance,
    overall.ece,
    overall.totalScore,
  ]);
  // "all" and "a" have events enough; nobody above 3, or hardly anybody, has.
  const codes = table.columns[1].type === "category" ? table.columns[1].codes : new Int32Array(0);
  const inA = Int32Array.from(
    Array.from(split.validation, (row, k) => (codes[row] === 0 ? k : -1)).filter((k) => k >= 0),
  );
  const ratios = [undefined, inA].map((rows) => {
    const floor = noiseFloor(curves, binned, rows, { draws: 200, seed: 1 });
    const measured = isAbsent(floor) ? floor : floor.metrics.ece;
    if (isAbsent(measured)) throw new Error("no floor");
    return measured.observed / measured.critical;
  });
  expect(own.worst?.ratio).toBe(Math.max(...ratios));
  // The offset of the half that the model does not know is far beyond noise.
  expect(own.worst?.group).toBe("a");
  expect(own.p).toBe(1 / 201);
});

describe("the pictures", () => {
  test("as text: a letter a setting, good above and left, the line of noise", () => {
    const text = plotFrontierAsText(
      [
        { mark: "A", concordance: 0.7, worst: 0.5 },
        { mark: "B", concordance: 0.8, worst: 2 },
        { mark: "C", concordance: null, worst: 1 },
      ],
      { width: 40 },
    );
    const lines = text.split("\n");
    const find = (mark: string) => lines.findIndex((line) => line.slice(9).includes(mark));
    expect(find("B")).toBeLessThan(find("A"));
    expect(lines[find("A")].indexOf("A")).toBeLessThan(lines[find("A")].indexOf("┊"));
    expect(lines[find("B")].indexOf("B")).toBeGreaterThan(lines[find("B")].indexOf("┊"));
    expect(find("C")).toBe(-1);
    for (const line of lines.slice(0, -1)) expect(line.length).toBeLessThanOrEqual(40);
    expect(plotFrontierAsText([{ mark: "C", concordance: null, worst: 1 }])).toBe("");
  });

  test("as SVG: a dot a setting, a ring around the choice, labels escaped", () => {
    const base = { concordance: 0.7, worst: 0.5, withinNoise: true, onFrontier: true, isChosen: false };
    const svg = plotFrontier(
      [
        { ...base, label: "kappa=1" },
        { ...base, label: "<script>", concordance: 0.8, worst: 2, withinNoise: false, isChosen: true },
        { ...base, label: "failed", concordance: null },
      ],
      { document: parseHTML("<html></html>").document },
    );
    expect(svg.match(/<circle/g)).toHaveLength(3);
    expect(svg).toContain("kappa=1");
    expect(svg).toContain("&lt;script&gt;");
    expect(svg).not.toContain("failed");
    expect(svg).not.toContain("NaN");
  });
});

test("a setting's output layer is solved on the training rows alone: the validation rows are to choose", async () => {
  const table = tableOf(800);
  const request: TrainRequest = {
    time: "time",
    event: "event",
    bins: 10,
    network: "linear",
    groups: [{ name: "a", expression: "half = a" }],
    split: splitByOrder(table.rows, { seed: 1 }),
    options: { steps: 5 },
  };
  const study = prepare(table, request);
  const { validation: scores, model } = await trainChosen(
    study,
    request,
    { setting: { kappa: 0.5 }, seed: 1 },
    createReferenceBackend(),
  );
  const { training } = model;
  expect(training.solve?.solvedOn).toBe("training rows");
  expect(training.verdict.map(({ group, n, status }) => [group, n, status])).toEqual([
    ["all", training.rows.train, "met"],
    ["a", expect.any(Number), "met"],
  ]);
  expect(scores).toMatchObject({ met: 2, constrained: 2 });
  // Outcomes of validation rows that all changed for the worse cannot be seen in the layer.
  const spoilt = prepare(spoilEvents(table, study.split.validation), request);
  const again = await trainChosen(
    spoilt,
    { ...request, options: { steps: 0 } },
    { setting: { kappa: 0.5 }, seed: 1 },
    createReferenceBackend(),
  );
  const before = await trainChosen(
    study,
    { ...request, options: { steps: 0 } },
    { setting: { kappa: 0.5 }, seed: 1 },
    createReferenceBackend(),
  );
  expect(again.model.predictor).toEqual(before.model.predictor);
  expect(again.validation.concordance).not.toBe(before.validation.concordance);
});

/** Everyone among the rows has the event. */
function spoilEvents(table: Table, rows: Int32Array): Table {
  const columns = table.columns.map((column) => {
    if (column.name !== "event" || column.type !== "number") return column;
    const values = column.values.slice();
    for (const row of rows) values[row] = 1;
    return { ...column, values };
  });
  return { ...table, columns };
}
