// Late entry, weights, clusters and start–stop rows against R's survfit, coxph, concordance; the jackknife against its
// slow twin.
import { describe, expect, test } from "vitest";
import { isAbsent } from "../../src/core/measured.ts";
import { createRandom } from "../../src/core/random.ts";
import { joinIntervals } from "../../src/data/outcomes/intervals.ts";
import type { Outcomes } from "../../src/data/outcomes/outcomes.ts";
import { tallyRisk } from "../../src/data/outcomes/rows-by-time.ts";
import { concordanceHarrell, concordanceUno } from "../../src/stats/concordance/concordance.ts";
import { jackknifeRestrictedMean, jackknifeSurvival } from "../../src/stats/jackknife.ts";
import { type KaplanMeierOptions, kaplanMeier } from "../../src/stats/kaplan-meier.ts";
import { logrank } from "../../src/stats/logrank.ts";
import { historyTables, intervalOracle as oracle, plainNumber } from "./history-oracles.ts";
import { influenceByRows, squareByPerson } from "./jackknife-by-rows.ts";

const { mgus2, lung, retinopathy, heart } = historyTables;
const dead = (values: readonly string[], event: string) => values.map((value) => (value === event ? 1 : 0));
const late = {
  time: mgus2.number("exitMonths"),
  event: dead(mgus2.text("event"), "death"),
  entry: mgus2.number("ageMonths"),
};
const weighed = { ...late, weight: mgus2.number("weight"), id: mgus2.number("id") };
const lungWeight = lung.number("time").map((_, row) => 0.5 + (((row + 1) * 7) % 5));
const lungDead = lung.number("status").map((status) => (status === 2 ? 1 : 0));
const quarter = lung.number("time").map((time) => Math.ceil(time / 91));
const eyes = {
  time: retinopathy.number("futime"),
  event: retinopathy.number("status"),
  id: retinopathy.number("id"),
};
const stay = {
  time: heart.number("stop"),
  event: heart.number("event"),
  entry: heart.number("start"),
  id: heart.number("id"),
};

describe("kaplanMeier", () => {
  const cases: [keyof typeof oracle.km, Parameters<typeof kaplanMeier>[0], KaplanMeierOptions][] = [
    ["entry", late, {}],
    ["entry_loglog", late, { interval: "log-log" }],
    ["weights", { time: lung.number("time"), event: lungDead, weight: lungWeight }, {}],
    ["cluster", eyes, { variance: "robust" }],
    ["entry_weights", weighed, {}],
    ["start_stop", stay, { variance: "robust" }],
    ["start_stop_greenwood", stay, {}],
  ];
  test.each(cases)("%s", (name, outcomes, options) => {
    const expected = oracle.km[name];
    const km = kaplanMeier(outcomes, options);
    // R lists the ends of a person's inner rows as well, at which nothing happens.
    const at = expected.time.map((time) => km.time.indexOf(time));
    const listed = at.flatMap((k, row) => (k < 0 ? [] : [{ k, row }]));
    expect(listed.length).toBe(km.time.length);
    const read = (
      field: "survival" | "atRisk" | "events" | "lower" | "upper" | "cumulativeHazard",
      own: readonly (number | null)[],
    ) => {
      for (const { k, row } of listed) {
        const wanted = own[row];
        if (wanted === null || km.survival[k] === 0) continue;
        expect(km[field][k], `${field} at ${km.time[k]}`).toBeCloseTo(wanted, 11);
      }
    };
    read("survival", expected.survival);
    read("atRisk", expected.atRisk);
    read("events", expected.events);
    read("cumulativeHazard", expected.hazard);
    read("lower", expected.lower);
    read("upper", expected.upper);
    for (const { k, row } of listed) {
      if (km.survival[k] === 0) expect(km.variance[k]).toBeNaN();
      else expect(Math.sqrt(km.variance[k])).toBeCloseTo(expected.error[row] ?? 0, 11);
    }
  });
});

const typed = (
  given: Readonly<Record<"time" | "event" | "entry", number[]>> & { weight?: number[]; id?: number[] },
): Outcomes => ({
  time: Float64Array.from(given.time),
  event: Uint8Array.from(given.event),
  entry: Float64Array.from(given.entry),
  ...(given.weight && { weight: Float64Array.from(given.weight) }),
  ...(given.id && { id: Int32Array.from(given.id) }),
});

/** People with one to three rows each, ties everywhere, whole and broken weights. */
function drawIntervals(seed: number): Outcomes {
  const random = createRandom(seed);
  const rows = Array.from({ length: 60 }, (_, row) => {
    const entry = random.uniform() < 0.4 ? 0 : Math.floor(6 * random.uniform());
    const time = entry + 1 + Math.floor(6 * random.uniform());
    const cause = random.uniform() < 0.7 ? 1 + Math.floor(2 * random.uniform()) : 0;
    return { entry, time, cause, weight: 0.5 + random.uniform(), id: row % 25 };
  });
  return {
    time: Float64Array.from(rows, ({ time }) => time),
    event: Uint8Array.from(rows, ({ cause }) => Math.min(cause, 1)),
    entry: Float64Array.from(rows, ({ entry }) => entry),
    cause: Uint8Array.from(rows, ({ cause }) => cause),
    weight: Float64Array.from(rows, ({ weight }) => weight),
    id: Int32Array.from(rows, ({ id }) => id),
  };
}

describe("the jackknife", () => {
  test.each([1, 2, 3])("of log S is that of the derivatives by every weight, draw %i", (seed) => {
    const outcomes = drawIntervals(seed);
    const table = tallyRisk(outcomes, { weights: outcomes.weight });
    const slow = squareByPerson(outcomes, influenceByRows(outcomes, table.time, 2).survival);
    const fast = jackknifeSurvival(outcomes, table, outcomes.weight);
    const km = kaplanMeier({ ...outcomes, cause: undefined } as never, { timefix: false });
    for (let k = 0; k < table.time.length; k++) {
      if (km.survival[k] === 0) continue;
      expect(fast[k] * km.survival[k] ** 2).toBeCloseTo(slow[k], 12);
    }
  });

  test.each(["cluster", "entry_weights"] as const)("of the restricted mean, %s", (name) => {
    const { until, error } = oracle.means[name];
    const outcomes = name === "cluster" ? typed({ ...eyes, entry: eyes.time.map(() => 0) }) : typed(weighed);
    const km = kaplanMeier(outcomes as never, { variance: "robust" });
    expect(jackknifeRestrictedMean(outcomes, km, outcomes.weight, until)).toBeCloseTo(error, 10);
  });
});

describe("logrank", () => {
  const band = mgus2.number("hgb").map((hgb) => (hgb <= 12 ? 0 : hgb <= 14 ? 1 : 2));
  const sex = lung.number("sex").map((one) => one - 1);
  const trt = retinopathy.number("trt");
  const lungTied = { time: quarter, event: lungDead, weight: lungWeight };
  test.each([
    ["entry", late, band, 3, {}],
    ["weights", lungTied, sex, 2, {}],
    ["cluster", eyes, trt, 2, { variance: "robust" }],
    ["entry_weights", weighed, band, 3, {}],
  ] as const)("%s", (name, outcomes, groups, G, options) => {
    const test = logrank(outcomes, groups, G, options);
    if (isAbsent(test)) throw new Error(test.absent);
    const { chi2, observed, expected } = oracle.logrank[name];
    expect(test.chi2 / plainNumber(chi2)).toBeCloseTo(1, 11);
    if (observed === undefined || expected === undefined) return;
    for (let g = 0; g < G; g++) {
      expect(test.observed[g]).toBeCloseTo(observed[g], 10);
      expect(test.expected[g]).toBeCloseTo(expected[g], 10);
    }
  });

  test("entries at 0 and weights of 1 change nothing but the road", () => {
    const plain = logrank({ time: quarter, event: lungDead }, sex, 2);
    const entered = logrank({ time: quarter, event: lungDead, entry: quarter.map(() => 0) }, sex, 2);
    if (isAbsent(plain) || isAbsent(entered)) throw new Error("no test");
    expect(entered.chi2).toBeCloseTo(plain.chi2, 12);
  });
});

describe("concordanceHarrell", () => {
  const age = heart.number("age");
  const hgb = mgus2.number("hgb");
  test.each([
    ["entry", late, hgb],
    ["entry_weights", weighed, hgb],
    ["weights", { time: quarter, event: lungDead, weight: lungWeight }, lung.number("age")],
    ["start_stop", stay, age],
  ] as const)("%s", (name, outcomes, score) => {
    // R orders by a score that rises with survival.
    const { c, concordant, discordant, tiedRisk, tiedTime, tiedBoth } = concordanceHarrell(
      outcomes,
      score.map((one) => -one),
    );
    const counts = [concordant, discordant, tiedRisk, tiedTime, tiedBoth];
    for (const [k, one] of oracle.pairs[name].count.entries()) expect(counts[k]).toBeCloseTo(one, 8);
    expect(c).toBeCloseTo(oracle.pairs[name].c, 12);
  });

  test("Uno's is absent under entry, with the reason", () => {
    expect(concordanceUno(late, hgb, { convention: "r" }).c).toEqual({
      absent: "not defined under late entry: censoring weights count people from the start",
    });
  });
});

describe("joinIntervals", () => {
  test("rows of one person that follow on each other are one", () => {
    const outcomes = typed({
      time: [3, 7, 5, 9],
      event: [0, 1, 0, 0],
      entry: [0, 3, 1, 6],
      id: [1, 1, 2, 2],
    });
    const joined = joinIntervals(outcomes);
    expect([...joined.time]).toEqual([7, 5, 9]);
    expect([...(joined.entry ?? [])]).toEqual([0, 1, 6]);
    expect([...joined.event]).toEqual([1, 0, 0]);
  });
});
