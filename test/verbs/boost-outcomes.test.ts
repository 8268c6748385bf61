// Boost of several causes, under late entry and with weights, as a verb: a planted error is found in its cause and
// group alone, the share is the largest that does no harm, the verdict is the audit's, and a repair survives its file.
import { describe, expect, test } from "vitest";
import { FormatError } from "../../src/core/errors.ts";
import { boostFromJson, boostToJson } from "../../src/files/model/boost-file.ts";
import { auditCauses, boostCauses } from "../../src/index.ts";
import { type BoostTask, pickTask } from "../../src/repair/boost-input.ts";
import { applyCauseHazards } from "../../src/repair/cause-hazards.ts";
import { fitHazardShare } from "../../src/repair/share-choice.ts";
import { audit } from "../../src/verbs/audit.ts";
import { boost } from "../../src/verbs/boost.ts";
import { resealedBoost } from "../files/resealed.ts";
import { hazardsTimes } from "../planted-hazards.ts";
import { drawPeople } from "../simulated-people.ts";
import { simulateCauses } from "../stats/simulated-causes.ts";

const T = 10;
const N = 1500;
const made = simulateCauses(N, T, 5);

const rows = {
  fit: Int32Array.from({ length: N / 2 }, (_, k) => 2 * k),
  held: Int32Array.from({ length: N / 2 }, (_, k) => 2 * k + 1),
};

/** Hazards of the first cause at half of what they are, in one group. */
const hazards = [hazardsTimes(T, "x = 1", -Math.log(2)), hazardsTimes(T, "x = 1", null)];
const off = applyCauseHazards(
  { kind: "cause hazards", T, causes: made.curves.causes, hazards },
  made.curves,
  made.groups,
);
const input = { curves: off, outcomes: made.outcomes, groups: made.groups };

describe("several causes", () => {
  const result = boostCauses(input, rows, { folds: 3 });
  const [disease, other] = result.verdict.causes;

  test("the planted group's incidence of its cause is repaired, and the other cause stays what it was", () => {
    const of = (name: string, cause: typeof disease) => cause.groups.find((group) => group.name === name);
    const planted = of("x = 1", disease)?.distance;
    expect(disease.worst.before?.group).toBe("x = 1");
    expect(planted?.after).toBeLessThan(0.25 * (planted?.before ?? 0));
    expect(disease.ibsChange).toBeLessThan(-0.01);
    expect(other.ibsChange).toBeLessThan(0.005);
    const [first, second] = result.boost.hazards.map(({ updates }) =>
      updates.find(({ group }) => made.groups[group].name === "x = 1"),
    );
    for (const a of first?.logRatios ?? []) expect(a).toBeGreaterThan(0.3);
    for (const a of second?.logRatios ?? []) expect(Math.abs(a)).toBeLessThan(0.1);
  });

  test("the share is the largest at which no cause's score is sure to rise", () => {
    const passes = result.choice.tried.filter(({ causes }) =>
      causes.every(({ ibsChange, standardError }) => (ibsChange ?? 1) + 3 * standardError <= 0.005),
    );
    expect(result.choice.share).toBe(passes[0].share);
    expect(result.choice.tried[0].causes.map(({ name }) => name)).toEqual(["disease", "other"]);
  });

  test("the verdict is the audit's of the same rows, before and after", async () => {
    for (const [when, curves] of [
      ["before", off],
      ["after", result.curves],
    ] as const) {
      const held = pickTask({ ...input, curves }, rows.held);
      const { causes } = await auditCauses(held, { draws: 0 });
      causes.forEach(({ groups, overall }, k) => {
        const own = result.verdict.causes[k];
        expect(own.ibs[when]).toBe(overall.ibs);
        groups.forEach((group, g) => {
          expect(own.groups[g].distance[when]).toBe(group.distanceL2);
          expect(own.groups[g].ece[when]).toBe(group.ece);
        });
      });
    }
  });

  test("a file of it is read back, in a version of its own; what is damaged is refused", () => {
    const text = boostToJson({ boost: result.boost, model: null, table: null });
    const saved = JSON.parse(text);
    expect(saved.version).toBe(4);
    const { boost: again } = boostFromJson(text, "b.json");
    expect(again).toEqual(result.boost);
    if (again.kind !== "cause hazards") throw new Error("another kind");
    expect(applyCauseHazards(again, off, made.groups).incidence).toEqual(result.curves.incidence);
    const read = (change: object) => () =>
      boostFromJson(resealedBoost({ ...saved, boost: { ...saved.boost, ...change } }), "b.json");
    expect(read({ causes: ["disease"] })).toThrow("2 repairs for 1 causes");
    expect(read({ causes: ["other", "other"] })).toThrow("expected different names");
    expect(read({ T: 9 })).toThrow("10 bins where the boost has 9");
    expect(() => boostFromJson(resealedBoost({ ...saved, version: 3 }), "b.json")).toThrow(FormatError);
  });

  test("MCBoostSurv and its options are refused by name", () => {
    expect(() => boostCauses(input, rows, { method: "mcboost" })).toThrow("it does not take several causes");
    expect(() => boostCauses(input, rows, { rounds: 3 })).toThrow('an option of the method "mcboost"');
    expect(() => boost({ ...input, curves: drawPeople(N, 1, null).curves } as never, rows)).toThrow(
      "a repair of survival curves does not take competing causes",
    );
  });

  test("under late entry the likelihood decides, and the verdict is of events at risk", () => {
    const firstBin = Int32Array.from({ length: N }, (_, row) => 1 + (row % 4));
    const seen = Int32Array.from(firstBin.keys()).filter((row) => firstBin[row] <= made.outcomes.bin[row]);
    const late = pickTask({ ...input, outcomes: { ...made.outcomes, firstBin } }, seen);
    const half = (rest: number) => Int32Array.from(seen.keys()).filter((place) => place % 2 === rest);
    const { verdict, choice } = boostCauses(late, { fit: half(0), held: half(1) }, { folds: 3 });
    expect(choice.share).toBeGreaterThan(0);
    for (const { ibsChange, lossChange } of choice.tried[0].causes)
      expect([ibsChange, Number.isFinite(lossChange)]).toEqual([null, true]);
    const [found] = verdict.causes;
    expect(found.distanceOf).toBe("events at risk");
    expect(found.ibs).toEqual({ before: null, after: null });
    const planted = found.groups.find(({ name }) => name === "x = 1");
    expect(planted?.ratio?.before).toBeGreaterThan(1.5);
    expect(Math.abs((planted?.ratio?.after ?? 0) - 1)).toBeLessThan(0.25);
    expect(planted?.distance.after).toBeLessThan(0.5 * (planted?.distance.before ?? 0));
  });
});

describe("one kind of event", () => {
  const people = drawPeople(1600, 1, { expression: "race = B", ratio: () => 2 });
  const groups = [
    {
      name: "planted",
      rows: Int32Array.from(people.planted.keys()).filter((row) => people.planted[row] === 1),
    },
  ];
  const task: BoostTask = { curves: people.curves, outcomes: people.outcomes, groups };
  const halves = {
    fit: Int32Array.from({ length: 800 }, (_, k) => 2 * k),
    held: Int32Array.from({ length: 800 }, (_, k) => 2 * k + 1),
  };

  test("with weights of 2 everything is as without but the events, which count twice", () => {
    const plain = fitHazardShare(task, { folds: 3 });
    const weight = new Float64Array(1600).fill(2);
    const heavy = fitHazardShare({ ...task, outcomes: { ...task.outcomes, weight } }, { folds: 3 });
    expect(heavy.choice.share).toBe(plain.choice.share);
    heavy.choice.tried.forEach(({ ibsChange, standardError }, k) => {
      expect(ibsChange).toBeCloseTo(plain.choice.tried[k].ibsChange ?? Number.NaN, 12);
      expect(standardError).toBeCloseTo(plain.choice.tried[k].standardError, 12);
    });
    expect(heavy.boost.groups[0].events).toBe(2 * plain.boost.groups[0].events);
    heavy.boost.updates[0].logRatios.forEach((a, b) => {
      expect(a).toBeCloseTo(plain.boost.updates[0].logRatios[b], 12);
    });
  });

  test("late entry: one curve that is 0 before or in the bin of its event leaves every loss finite", () => {
    const { bin, event } = task.outcomes;
    const firstBin = Int32Array.from(bin, (own, row) => Math.min(own, 1 + (row % 6)));
    const row = event.findIndex((one, k) => one === 1 && bin[k] >= 3);
    const { T: bins, survival } = task.curves;
    for (const from of [bin[row] - 1, bin[row] - 2]) {
      const gone = survival.slice();
      gone.fill(0, row * bins + from, (row + 1) * bins);
      const curves = { ...task.curves, survival: gone };
      const { choice } = fitHazardShare(
        { ...task, curves, outcomes: { ...task.outcomes, firstBin } },
        { folds: 3 },
      );
      for (const { lossChange, standardError } of choice.tried) {
        expect(Number.isFinite(lossChange) && Number.isFinite(standardError)).toBe(true);
      }
      expect(choice.share).toBeGreaterThan(0);
    }
  });

  test("late entry: events of rows that are at risk in no bin are none that a loss is shared among", () => {
    const { bin } = task.outcomes;
    const isNever = (row: number) => row % 3 === 0;
    const firstBin = Int32Array.from(bin, (own, row) =>
      isNever(row) ? own + 1 : Math.min(own, 1 + (row % 6)),
    );
    const fitted = (event: Uint8Array) =>
      fitHazardShare({ ...task, outcomes: { ...task.outcomes, event, firstBin } }, { folds: 3 }).choice
        .tried[0];
    const asEvents = fitted(task.outcomes.event.map((one, row) => (isNever(row) ? 1 : one)));
    const asCensored = fitted(task.outcomes.event.map((one, row) => (isNever(row) ? 0 : one)));
    // The folds differ, and nothing else.
    expect(asEvents.standardError / asCensored.standardError).toBeGreaterThan(0.8);
    expect(asEvents.standardError / asCensored.standardError).toBeLessThan(1.25);
  });

  test("late entry: the planted group's events come to those expected, and the verdict is the audit's", async () => {
    const firstBin = Int32Array.from(people.outcomes.bin, (bin, row) => Math.min(bin, 1 + (row % 6)));
    const late = { ...task, outcomes: { ...task.outcomes, firstBin } };
    const { verdict, curves, choice } = boost(late, halves, { folds: 3 });
    expect(choice !== null && "share" in choice && choice.share).toBeGreaterThan(0);
    const [planted] = verdict.groups;
    expect(planted.ratio?.before).toBeGreaterThan(1.5);
    expect(planted.ratio?.after).toBeLessThan(1.3);
    const held = pickTask({ ...late, curves }, halves.held);
    const { groups: audited, overall } = await audit(held, { draws: 0 });
    expect(planted.distance.after).toBe(audited[0].atRisk?.distance);
    expect(verdict.concordance.after).toBe(overall.concordance);
    expect(verdict.ibs.after).toBeNull();
    expect(() => boost(late, halves, { method: "mcboost" })).toThrow("MCBoostSurv does not take late entry");
  });

  test("MCBoostSurv with weights of 1 is that without, and with others the weighted distance falls", () => {
    const quick = { method: "mcboost", folds: 3, repeats: 1, rounds: 30 } as const;
    const repairWith = (weight: Float64Array | null) => {
      const outcomes = weight === null ? task.outcomes : { ...task.outcomes, weight };
      return boost({ ...task, outcomes }, halves, quick);
    };
    const plain = repairWith(null);
    const ones = repairWith(new Float64Array(1600).fill(1));
    if (plain.choice === null || !("rounds" in plain.choice)) throw new Error("no rounds");
    expect(plain.choice.rounds).toBeGreaterThan(0);
    expect(ones.choice).toMatchObject({ rounds: plain.choice.rounds });
    expect(ones.verdict.groups[0].distance.after).toBeCloseTo(
      plain.verdict.groups[0].distance.after ?? 0,
      12,
    );
    const { verdict } = repairWith(Float64Array.from({ length: 1600 }, (_, row) => 1 + (row % 2)));
    const [{ distance }] = verdict.groups;
    expect(distance.after).toBeLessThan(0.8 * (distance.before ?? 0));
    expect(verdict.ibsChange).toBeLessThan(0);
  });
});
