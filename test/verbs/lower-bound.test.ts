// Lower bounds against people whose event times are known: they hold for everyone and within groups, under censoring.
import { beforeAll, describe, expect, test } from "vitest";
import { isAbsent } from "../../src/core/measured.ts";
import { createRandom } from "../../src/core/random.ts";
import type { Table } from "../../src/data/table.ts";
import type { Model } from "../../src/training/model.ts";
import { fit as trainCox } from "../../src/verbs/fit.ts";
import { openStudy } from "../../src/verbs/model-study.ts";
import { calibrateBound, type LowerBound } from "../../src/verbs/people/lower-bound.ts";
import { predictPeople } from "../../src/verbs/people/predict-people.ts";

interface Cohort {
  readonly table: Table;
  readonly eventTime: Float64Array;
}

/** Curves of a Cox model are wrong for kind b, whose events come early or late; censoring depends on x. */
function draw(n: number, seed: number, censored = true): Cohort {
  const random = createRandom(seed);
  const x = Float64Array.from({ length: n }, () => random.normal());
  const codes = Int32Array.from({ length: n }, () => Number(random.uniform() < 0.3));
  const eventTime = x.map((value, i) => {
    const drawn = -Math.log(1 - random.uniform());
    return (codes[i] === 1 ? drawn * drawn : drawn) / (0.1 * Math.exp(0.7 * value));
  });
  const leaves = x.map((value) => (-Math.log(1 - random.uniform()) * 14) / Math.exp(-0.5 * value));
  const time = eventTime.map((own, i) => (censored ? Math.min(own, leaves[i], 30) : own));
  const event = eventTime.map((own, i) => (!censored || own <= Math.min(leaves[i], 30) ? 1 : 0));
  return {
    eventTime,
    table: {
      name: "people",
      rows: n,
      columns: [
        { name: "time", type: "number", values: time },
        { name: "event", type: "number", values: event },
        { name: "x", type: "number", values: x },
        { name: "kind", type: "category", codes, levels: ["a", "b"] },
      ],
    },
  };
}

const groups = [{ name: "kind b", expression: "kind = b" }];
let model: Model;
let bound: LowerBound;

beforeAll(async () => {
  const { table } = draw(1500, 1);
  model = await trainCox(table, { time: "time", event: "event", method: "cox", groups, horizon: 25 });
  bound = await calibrate(draw(1500, 2).table, 0.9);
});

async function calibrate(table: Table, level: number): Promise<LowerBound> {
  return calibrateBound(await openStudy(model, table, null), null, level);
}

/** The share of fresh people whose event comes at the bound or later, of everyone and of b. */
async function judge(lowerBound: LowerBound, seed: number) {
  const { table, eventTime } = draw(6000, seed);
  const { bounds } = await predictPeople(model, table, null, { lowerBound });
  if (bounds === null) throw new Error("expected bounds");
  const kind = table.columns[3];
  if (kind.type !== "category") throw new Error("expected a category");
  const held = Array.from(eventTime, (own, i) => own >= bounds.time[i]);
  const share = (list: readonly boolean[]) => list.filter(Boolean).length / list.length;
  return {
    bounds,
    everyone: share(held),
    ofB: share(held.filter((_, i) => kind.codes[i] === 1)),
    ofA: share(held.filter((_, i) => kind.codes[i] === 0)),
  };
}

describe("calibrateBound", () => {
  test("holds for everyone and within a group whose curves are wrong, under censoring that depends on x", async () => {
    expect(bound.groups.map(({ name }) => name)).toEqual(["all", "kind b"]);
    const { everyone, ofB, bounds } = await judge(bound, 11);
    // The threshold of 1,500 rows (450 of b, about 300 seen) has its own chance error of about .01 and .02.
    expect(everyone).toBeGreaterThan(0.88);
    expect(ofB).toBeGreaterThan(0.86);
    expect(Math.max(...bounds.time)).toBeLessThanOrEqual(bound.until);
    const [all, b] = bound.groups;
    expect(isAbsent(b.threshold) || isAbsent(all.threshold) || b.threshold < all.threshold).toBe(true);
  });

  test("without a threshold of its own the group would not be held", async () => {
    const marginal = { ...bound, groups: bound.groups.slice(0, 1) };
    const { ofA, ofB } = await judge(marginal, 11);
    expect(ofB).toBeLessThan(ofA - 0.05);
  });

  test("the weights bring back the threshold of the same people, followed to the end", async () => {
    const followed = await calibrate(draw(1500, 2, false).table, 0.9);
    bound.groups.forEach(({ threshold, events }, g) => {
      expect(followed.groups[g].events).toBeGreaterThan(1.3 * events);
      const whole = Number(followed.groups[g].threshold);
      expect(Math.abs(Number(threshold) / whole - 1)).toBeLessThan(0.15);
    });
  });

  test("a bound that is not reached by the end is the end, and says so", async () => {
    const loose = { ...bound, until: 3 };
    const { bounds } = await judge(loose, 12);
    const beyond = bounds.isBeyond.reduce((sum, one) => sum + one, 0);
    expect(beyond).toBeGreaterThan(0);
    bounds.isBeyond.forEach((one, i) => {
      expect(one === 1 ? bounds.time[i] === 3 : bounds.time[i] < 3).toBe(true);
    });
  });

  test("is refused with too few events, on rows that were learnt from, and at no level", async () => {
    await expect(calibrate(draw(30, 4).table, 0.9)).rejects.toMatchObject({ code: "bound.events" });
    await expect(calibrate(draw(1500, 2).table, 1)).rejects.toMatchObject({ code: "level.invalid" });
    const { table } = draw(1500, 1);
    const study = await openStudy(model, table, null);
    const seen = { ...study, acquaintance: "unknown" as const };
    await expect(calibrateBound(seen, null, 0.9)).rejects.toMatchObject({ code: "bound.seen" });
  });
});
