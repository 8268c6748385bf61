// The guarded boost on planted tables whose truth is known; the two departures from the reference (doubt, hazards) by
// hand; its file. docs/decisions/009-boost.md has the same on many more tables. The repair on the hazard scale by hand:
// training/hazard-boost.
import { describe, expect, test } from "vitest";
import { FormatError } from "../../src/core/errors.ts";
import { resolveGroups } from "../../src/data/groups/groups.ts";
import { splitByOrder } from "../../src/data/outcomes/split.ts";
import { boostFromJson, boostToJson } from "../../src/files/model/boost-file.ts";
import { fitHazardBoost } from "../../src/repair/hazard-boost.ts";
import { applyBoost, type Boost, boostCurves, fitBoost } from "../../src/repair/mcboost.ts";
import { type BoostTask, boost, fitGuardedBoost, judgeBoost, pickTask } from "../../src/verbs/boost.ts";
import { resealedBoost } from "../files/resealed.ts";
import { drawPeople, type Plant } from "../simulated-people.ts";

const GROUPS = ["all", "race = A", "race = B", "sex = F", "site = south", "age >= 70"].map((expression) => ({
  name: expression,
  expression,
}));

/** Half of the rows fit and half judge; the curves are right but for the planted group. */
function drawTask(seed: number, plant: Plant | null, N = 1600) {
  const { table, curves, outcomes } = drawPeople(N, seed, plant);
  const task: BoostTask = { curves, outcomes, groups: resolveGroups(GROUPS, table) };
  const { train, test: held } = splitByOrder(N, {
    seed,
    fractions: [0.5, 0, 0.5],
    stratifyBy: outcomes.event,
  });
  return { task, rows: { fit: train, held } };
}

const DOUBLED: Plant = { expression: "race = B", ratio: () => 2 };
const HALVED: Plant = { expression: "race = B", ratio: () => 0.5 };
const TURNED: Plant = { expression: "site = south", ratio: (share) => (share < 0.4 ? 2.5 : 0.4) };
/** A small share of what MCBoostSurv does by default. */
const QUICK = { method: "mcboost", folds: 3, repeats: 1, rounds: 40 } as const;

describe("planted groups", () => {
  test.each([
    { what: "hazards doubled", plant: DOUBLED },
    { what: "hazards halved", plant: HALVED },
    { what: "a change of shape", plant: TURNED },
  ])(
    "$what, four seeds: the worst distance on unseen rows falls, and the Brier score rises by no more than 1 %",
    ({ plant }) => {
      for (let seed = 1; seed <= 4; seed++) {
        const { task, rows } = drawTask(seed, plant, 2400);
        const { verdict, choice } = boost(task, rows);
        const { before, after } = verdict.worst;
        expect(before?.group).toBe(plant.expression);
        const planted = verdict.groups.find(({ name }) => name === plant.expression);
        // The group that was worst, and whichever is the worst afterwards.
        expect(planted?.distance.after).toBeLessThan(0.75 * (before?.distance ?? 0));
        expect(after?.distance).toBeLessThan(before?.distance ?? 0);
        expect(verdict.ibsChange).toBeLessThan(0.01);
        expect(choice !== null && "share" in choice && choice.share).toBeGreaterThan(0);
      }
    },
  );

  test("the ratios that are found are the planted ones, and other groups' are near 1", () => {
    const ratiosOf = (plant: Plant) => {
      const { task } = drawTask(1, plant, 4000);
      const fitted = fitHazardBoost(task, { timeBuckets: 3 });
      return GROUPS.map((_, g) => fitted.updates.find(({ group }) => group === g)?.logRatios ?? []);
    };
    const doubled = ratiosOf(DOUBLED);
    for (const a of doubled[2]) expect(Math.abs(Math.exp(a) - 1.9)).toBeLessThan(0.3);
    for (const g of [0, 1, 3, 4, 5]) for (const a of doubled[g]) expect(Math.abs(a)).toBeLessThan(0.08);
    const turned = ratiosOf(TURNED)[4];
    expect(Math.exp(turned[0])).toBeGreaterThan(1.8);
    expect(Math.exp(turned[2])).toBeLessThan(0.6);
  });

  test("curves that are right for everybody are hardly moved: Brier score and groups stay what they were", () => {
    for (let seed = 1; seed <= 3; seed++) {
      const { task, rows } = drawTask(seed, null, 2400);
      const { verdict } = boost(task, rows);
      expect(Math.abs(verdict.ibsChange ?? 1)).toBeLessThan(0.005);
      for (const { distance } of verdict.groups) {
        const moved = Math.abs(Math.sqrt(distance.after ?? 1) - Math.sqrt(distance.before ?? 0));
        expect(moved).toBeLessThan(0.02);
      }
    }
  });

  test("MCBoostSurv: rounds that help are taken, and none where none does", () => {
    const planted = drawTask(1, DOUBLED);
    const { verdict, choice, boost: fitted } = boost(planted.task, planted.rows, QUICK);
    expect(verdict.worst.after?.distance).toBeLessThan(0.75 * (verdict.worst.before?.distance ?? 0));
    expect(verdict.ibsChange).toBeLessThan(0.01);
    if (choice === null || !("rounds" in choice)) throw new Error("no rounds");
    expect(choice.rounds).toBeGreaterThan(0);
    expect(fitted.updates.length).toBeLessThanOrEqual(choice.rounds);
    expect(choice.worst[choice.rounds]).toBeLessThanOrEqual(choice.worst[0]);
    expect(choice.ibs[choice.rounds]).toBeLessThanOrEqual(choice.ibs[0]);
    const right = drawTask(1, null);
    const none = boost(right.task, right.rows, QUICK);
    expect(none.choice).toMatchObject({ rounds: 0 });
    expect(none.boost.updates).toEqual([]);
    expect(none.curves.survival).toEqual(right.task.curves.survival);
    expect(none.verdict.ibsChange).toBe(0);
    expect(none.verdict.worst.after).toEqual(none.verdict.worst.before);
  });

  test.each([
    { method: "hazards", folds: 2 },
    { ...QUICK, folds: 2, rounds: 20 },
  ] as const)(
    "$method: what the judging rows show has no say in the fit; a boost survives its file",
    (options) => {
      const { task, rows } = drawTask(3, DOUBLED, 800);
      const result = boost(task, rows, options);
      expect(result.boost.updates.length).toBeGreaterThan(0);
      const event = task.outcomes.event.slice();
      for (const row of rows.held) event[row] = 1 - event[row];
      const other = boost({ ...task, outcomes: { ...task.outcomes, event } }, rows, options);
      expect(other.boost).toEqual(result.boost);
      expect(other.verdict).not.toEqual(result.verdict);
      const again = boostToJson({ boost: result.boost, model: null, table: null });
      const read = boostFromJson(again, "b.json");
      expect(read.boost).toEqual(result.boost);
      const applied = applyBoost(read.boost as Boost, task.curves, { groups: task.groups });
      expect(applied.survival).toEqual(result.curves.survival);
      const held = pickTask(task, rows.held);
      expect(judgeBoost(held, pickTask({ ...task, curves: applied }, rows.held).curves)).toEqual(
        result.verdict,
      );
    },
  );

  test("the reference's form of MCBoostSurv is that of the R package, with all its rounds and no folds", () => {
    const { task, rows } = drawTask(1, DOUBLED, 60);
    const asked = { method: "mcboost", reference: true } as const;
    const { boost: fitted, choice, curves } = boost(task, rows, asked);
    expect(choice).toBeNull();
    const own = fitBoost(pickTask(task, rows.fit), { reference: true });
    expect(fitted).toEqual(own);
    expect(own.options).toMatchObject({ reference: true, rounds: 25, step: 0.1, correlateOver: "cell" });
    expect(curves).toEqual(applyBoost(own, task.curves, { groups: task.groups }));
    expect(() => boost(task, rows, { ...asked, folds: 5 })).toThrow(
      "the reference's form of MCBoostSurv has no folds",
    );
    expect(() => boost(task, rows, { reference: true })).toThrow(
      'reference is an option of the method "mcboost"',
    );
  });

  test("the share is the largest whose rise of the Brier score and three standard errors are within half a percent", () => {
    const { task } = drawTask(2, DOUBLED, 60);
    const { choice, boost: fitted } = fitGuardedBoost(task);
    if (choice === null || !("share" in choice)) throw new Error("no share");
    expect(choice.tried.map(({ share }) => share)).toEqual([1, 0.8, 0.6, 0.45, 0.3, 0.2, 0.1, 0.05]);
    const passes = choice.tried.filter(
      ({ ibsChange, standardError }) => (ibsChange ?? 1) + 3 * standardError <= 0.005,
    );
    expect(choice.share).toBe(passes[0]?.share ?? 0);
    expect(fitted).toMatchObject({ kind: "hazards", share: choice.share });
  });

  test("rows that cannot be cut into folds, or none to judge on, are refused", () => {
    const { task, rows } = drawTask(1, null, 100);
    expect(() => fitGuardedBoost(pickTask(task, rows.fit.subarray(0, 25)))).toThrow("too few rows");
    expect(() => fitGuardedBoost(task, { folds: 1 })).toThrow("the number of folds is not a whole number");
    expect(() => fitGuardedBoost(task, { rounds: 3 })).toThrow('rounds is an option of the method "mcboost"');
    expect(() => boost(task, { fit: rows.fit, held: new Int32Array() })).toThrow("no rows left to judge");
  });
});

// Four people all followed to bin 2, who live past bin 1 but for A: the residual of S = 1/2 at bin 1 is 1/2 for A and
// −1/2 for B, C, D.
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
  const write = (boost: Boost) =>
    JSON.parse(boostToJson({ boost, model: "0".repeat(64), table: null }, { note: "kept" }));
  const good = write(fitBoost(FOUR, ONE_STEP));
  const hazards = write(fitHazardBoost(FOUR));
  const read = (change: object, from = good) =>
    boostFromJson(resealedBoost({ ...from, ...change }), "b.json");
  const readHazards = (change: object) => read({ boost: { ...hazards.boost, ...change } }, hazards);
  test("is read back; more travels along", () => {
    expect(good.note).toBe("kept");
    const boost = fitBoost(FOUR, ONE_STEP);
    expect(boostFromJson(JSON.stringify(good, null, 3), "b.json")).toEqual({
      boost,
      model: "0".repeat(64),
      table: null,
      warnings: [],
    });
    expect(readHazards({}).boost).toEqual(fitHazardBoost(FOUR));
  });

  test("a changed digit is refused, wherever it stands, and a checksum that was taken away", () => {
    const text = JSON.stringify(good);
    const digits = Array.from(text.matchAll(/[0-9]/g), ({ index }) => index);
    const taken = digits.filter((at) => {
      const changed = `${text.slice(0, at)}${(Number(text[at]) + 1) % 10}${text.slice(at + 1)}`;
      try {
        boostFromJson(changed, "b.json");
        return true;
      } catch (error) {
        if (!(error instanceof FormatError)) throw error;
        return false;
      }
    });
    expect(digits.length).toBeGreaterThan(100);
    expect(taken).toEqual([]);
    const { sha256: _, ...bare } = good;
    expect(() => boostFromJson(JSON.stringify(bare), "b.json")).toThrow("checksum does not match");
  });

  test("those of earlier versions, which had no checksum, are read with a warning", () => {
    const { sha256: _, ...bare } = good;
    for (const version of [1, 2]) {
      const { boost, warnings } = boostFromJson(JSON.stringify({ ...bare, version }), "b.json");
      expect(boost).toEqual(fitBoost(FOUR, ONE_STEP));
      expect(warnings).toEqual([expect.stringContaining("wrote no checksum")]);
    }
  });

  test.each([
    ["no JSON", () => boostFromJson("{", "b.json"), "not JSON"],
    ["another file", () => boostFromJson('{"groups": []}', "b.json"), "not a boost"],
    ["a later version", () => read({ version: 4 }), "version 4"],
    ["another kind", () => read({ boost: { ...good.boost, kind: "magic" } }), "boost.kind"],
    ["a value that is no number", () => read({ boost: { ...good.boost, T: null } }), "boost.T"],
    ["bins that are not there", () => read({ boost: { ...good.boost, T: 1 } }), "bins 1 to 2 of 1"],
    ["a group that is not there", () => read({ boost: { ...good.boost, groups: [] } }), "no group 0"],
    ["a hash that is none", () => read({ model: "x" }), "model"],
    [
      "a block that is missing",
      () => readHazards({ blocks: [{ first: 2, last: 2 }] }),
      "bins 2 to 2 after 0",
    ],
    ["bins beyond the blocks", () => readHazards({ T: 3 }), "blocks up to bin 2 of 3"],
    ["a share of more than one", () => readHazards({ share: 1.5 }), "boost.share: expected a number between"],
    [
      "a group twice",
      () => readHazards({ groups: [1, 2].map(() => hazards.boost.groups[0]) }),
      "different names",
    ],
    [
      "a group that cannot be read",
      () => readHazards({ groups: [{ ...hazards.boost.groups[0], expression: "age >=" }] }),
      "boost.groups[0].expression: expected a group expression",
    ],
    [
      "a ratio beyond anything",
      () => readHazards({ updates: [{ group: 0, logRatios: hazards.boost.blocks.map(() => 700) }] }),
      "expected log ratios of at most 100",
    ],
    ["more bins than can be", () => read({ boost: { ...good.boost, T: 2_000_000 } }), "boost.T"],
    ["hazards of nobody", () => readHazards({ groups: [] }), "no group 0"],
    [
      "a ratio too many",
      () => readHazards({ updates: [{ group: 0, logRatios: [0, 0, 0] }] }),
      /3 ratios for [12] blocks?/,
    ],
  ])("%s is refused", (_, run, message) => {
    expect(run).toThrow(FormatError);
    expect(run).toThrow(message);
  });
});
