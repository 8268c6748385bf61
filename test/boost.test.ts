// The guarded boost on planted tables whose truth is known; the two departures from the reference (doubt, hazards) by hand; its file.
import { describe, expect, test } from "vitest";
import { type BoostTask, boost, fitGuardedBoost, judgeBoost, pickTask } from "../src/boost.ts";
import { FormatError } from "../src/core/errors.ts";
import { resolveGroups } from "../src/data/groups.ts";
import { splitRows } from "../src/data/split.ts";
import { boostFromJson, boostToJson } from "../src/files/boost-file.ts";
import { applyBoost, boostCurves, fitBoost } from "../src/training/mcboost.ts";
import { drawPeople, type Plant } from "./simulated-people.ts";

const GROUPS = ["all", "race = A", "race = B", "sex = F", "site = south", "age >= 70"].map((expression) => ({
  name: expression,
  expression,
}));

/** Half of the rows fit and half judge; the curves are right but for the planted group. */
function drawTask(seed: number, plant: Plant | null, N = 1600) {
  const { table, curves, outcomes } = drawPeople(N, seed, plant);
  const task: BoostTask = { curves, outcomes, groups: resolveGroups(GROUPS, table) };
  const { train, test: held } = splitRows(N, {
    seed,
    fractions: [0.5, 0, 0.5],
    stratifyBy: outcomes.event,
  });
  return { task, rows: { fit: train, held } };
}

/** Quicker than the defaults, by fewer folds and rounds. */
const QUICK = { folds: 3, repeats: 1, rounds: 40 } as const;
const DOUBLED: Plant = { expression: "race = B", ratio: () => 2 };
const HALVED: Plant = { expression: "race = B", ratio: () => 0.5 };
const TURNED: Plant = { expression: "site = south", ratio: (share) => (share < 0.4 ? 2.5 : 0.4) };

describe("planted groups", () => {
  test.each([
    { what: "hazards doubled", plant: DOUBLED, seed: 1 },
    { what: "hazards doubled", plant: DOUBLED, seed: 2 },
    { what: "hazards halved", plant: HALVED, seed: 1 },
    { what: "hazards halved", plant: HALVED, seed: 2 },
    { what: "a change of shape", plant: TURNED, seed: 1 },
    { what: "a change of shape", plant: TURNED, seed: 2 },
  ])(
    "$what, seed $seed: the worst distance on unseen rows falls, and the Brier score rises by no more than 1 %",
    (one) => {
      const { task, rows } = drawTask(one.seed, one.plant);
      const { verdict, choice, boost: fitted } = boost(task, rows, QUICK);
      expect(verdict.worst.before?.group).toBe(one.plant.expression);
      const { before, after } = verdict.worst;
      expect(after?.distance).toBeLessThan(0.75 * (before?.distance ?? 0));
      expect(verdict.ibsChange).toBeLessThan(0.01);
      expect(choice.rounds).toBeGreaterThan(0);
      expect(fitted.updates.length).toBeLessThanOrEqual(choice.rounds);
      expect(choice.worst[choice.rounds]).toBeLessThanOrEqual(choice.worst[0]);
      expect(choice.ibs[choice.rounds]).toBeLessThanOrEqual(choice.ibs[0]);
    },
  );

  test("curves that are right for everybody are left alone where no number of rounds helps", () => {
    const { task, rows } = drawTask(1, null);
    const { verdict, choice, boost: fitted, curves } = boost(task, rows, QUICK);
    expect(choice.rounds).toBe(0);
    expect(fitted.updates).toEqual([]);
    expect(curves.survival).toEqual(task.curves.survival);
    expect(verdict.ibsChange).toBe(0);
    expect(verdict.worst.after).toEqual(verdict.worst.before);
  });

  test("what the judging rows show has no say in the fit; a boost survives its file", () => {
    const { task, rows } = drawTask(3, DOUBLED, 800);
    const options = { ...QUICK, folds: 2, rounds: 20 };
    const result = boost(task, rows, options);
    const event = task.outcomes.event.slice();
    for (const row of rows.held) event[row] = 1 - event[row];
    const other = boost({ ...task, outcomes: { ...task.outcomes, event } }, rows, options);
    expect(other.boost).toEqual(result.boost);
    expect(other.verdict).not.toEqual(result.verdict);
    const again = boostToJson({ boost: result.boost, model: null, table: null });
    const read = boostFromJson(again, "b.json");
    expect(read.boost).toEqual(result.boost);
    const applied = applyBoost(read.boost, task.curves, { groups: task.groups });
    expect(applied.survival).toEqual(result.curves.survival);
    const held = pickTask(task, rows.held);
    expect(judgeBoost(held, pickTask({ ...task, curves: applied }, rows.held).curves)).toEqual(
      result.verdict,
    );
  });

  test("rows that cannot be cut into folds, or none to judge on, are refused", () => {
    const { task, rows } = drawTask(1, null, 100);
    expect(() => fitGuardedBoost(pickTask(task, rows.fit.subarray(0, 25)))).toThrow("too few rows");
    expect(() => fitGuardedBoost(task, { folds: 1 })).toThrow("folds are not a whole number");
    expect(() => boost(task, { fit: rows.fit, held: new Int32Array() })).toThrow("no rows left to judge");
  });
});

// Four people all followed to bin 2, who live past bin 1 but for A: the residual of S = 1/2 at bin 1 is 1/2 for A and −1/2 for B, C, D.
const FOUR: BoostTask = {
  curves: { N: 4, T: 2, survival: new Float64Array(8).fill(0.5) },
  outcomes: { T: 2, bin: Int32Array.of(1, 2, 2, 2), event: Uint8Array.of(1, 0, 0, 0) },
  groups: [{ name: "all", rows: [0, 1, 2, 3] }],
};
const ONE_STEP = { rounds: 1, minimumFollowed: 1, timeBuckets: 1, step: 1 } as const;

describe("doubt and hazards, by hand", () => {
  test("the mean −1/4 is drawn to 0 by its standard error: √(1/4 − 1/16)/√4 = √3/8", () => {
    const [update] = fitBoost(FOUR, { ...ONE_STEP, doubt: 1 }).updates;
    expect(update.auditor).toMatchObject({ kind: "group", group: 0 });
    const expected = -1 / 4 + Math.sqrt(3) / 8;
    expect(update.correlation).toBeCloseTo(expected, 14);
    if (update.auditor.kind === "group") expect(update.auditor.value).toBeCloseTo(expected, 14);
    const sure = fitBoost(FOUR, { ...ONE_STEP, doubt: 1.2 });
    expect(sure).toMatchObject({ updates: [], stopped: "tolerance" });
  });

  test("hazards: a = h / mean(−S log S) = −(1/4)/(log 2 / 2), and S ← S^exp(a)", () => {
    const { curves, boost: fitted } = boostCurves(FOUR, { ...ONE_STEP, scale: "hazard" });
    const a = -1 / 2 / Math.log(2);
    expect(fitted.updates[0].auditor).toMatchObject({ kind: "group", value: expect.closeTo(a, 14) });
    for (const S of curves.survival) expect(S).toBeCloseTo(0.5 ** Math.exp(a), 14);
    expect(applyBoost(fitted, FOUR.curves, { groups: FOUR.groups }).survival).toEqual(curves.survival);
  });

  test("raised on the survival scale low risks are clipped at 1; on the hazard scale nobody is and all keep their order", () => {
    const survival = Float64Array.of(0.5, 0.4, 0.95, 0.9, 0.97, 0.94, 0.99, 0.98);
    const task = { ...FOUR, curves: { N: 4, T: 2, survival }, groups: [{ name: "living", rows: [1, 2, 3] }] };
    const firstBins = (scale: "survival" | "hazard") => {
      const { curves } = boostCurves(task, { ...ONE_STEP, scale });
      return [1, 2, 3].map((row) => curves.survival[row * 2]);
    };
    // The mean residual of the three is −(0.05 + 0.03 + 0.01)/3.
    const raise = Math.exp(0.03);
    expect(firstBins("survival")).toEqual([0.95 * raise, 0.97 * raise, 1].map((S) => expect.closeTo(S, 12)));
    const [low, middle, high] = firstBins("hazard");
    expect(low).toBeGreaterThan(0.95);
    expect(middle).toBeGreaterThan(low);
    expect(high).toBeGreaterThan(middle);
    expect(high).toBeLessThan(1);
  });

  test("hazards are the group auditor's alone", () => {
    expect(() => fitBoost(FOUR, { scale: "hazard", reference: true })).toThrow("scale cannot be hazard");
    expect(() => fitBoost(FOUR, { doubt: 1, reference: true })).toThrow("doubt cannot be 1");
    expect(() => fitBoost(FOUR, { doubt: -1 })).toThrow("doubt cannot be -1");
  });
});

describe("a boost in a file", () => {
  const good = JSON.parse(
    boostToJson({ boost: fitBoost(FOUR, ONE_STEP), model: "0".repeat(64), table: null }, { note: "kept" }),
  );
  const read = (change: object) => boostFromJson(JSON.stringify({ ...good, ...change }), "b.json");
  test("is read back; more travels along", () => {
    expect(good.note).toBe("kept");
    expect(read({})).toEqual({ boost: fitBoost(FOUR, ONE_STEP), model: "0".repeat(64), table: null });
  });

  test.each([
    ["no JSON", () => boostFromJson("{", "b.json"), "not JSON"],
    ["another file", () => boostFromJson('{"groups": []}', "b.json"), "not a boost"],
    ["a later version", () => read({ version: 2 }), "version 2"],
    ["a value that is no number", () => read({ boost: { ...good.boost, T: null } }), "boost.T"],
    ["bins that are not there", () => read({ boost: { ...good.boost, T: 1 } }), "bins 1 to 2 of 1"],
    ["a group that is not there", () => read({ boost: { ...good.boost, groups: [] } }), "no group 0"],
    ["a hash that is none", () => read({ model: "x" }), "model"],
  ])("%s is refused", (_, run, message) => {
    expect(run).toThrow(FormatError);
    expect(run).toThrow(message);
  });
});
