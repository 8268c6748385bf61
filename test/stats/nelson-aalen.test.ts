// The Nelson-Aalen estimate and its variance against R's survfit (test/oracles/history/nelson-aalen.R), and by hand.
import { readFileSync } from "node:fs";
import { describe, expect, test } from "vitest";
import { type KaplanMeierOptions, kaplanMeier } from "../../src/stats/kaplan-meier.ts";
import { historyTables } from "./history-oracles.ts";

type Curve = Readonly<Record<"time" | "hazard" | "variance", readonly number[]>>;
const oracle: Readonly<Record<string, Curve>> = JSON.parse(
  readFileSync(new URL("../oracles/history/nelson-aalen.json", import.meta.url), "utf8"),
);
const { mgus2, heart, cgd } = historyTables;
const event = mgus2.text("event").map((text) => (text === "censored" ? 0 : 1));
const weight = mgus2.number("weight");
const ages = { entry: mgus2.number("ageMonths"), time: mgus2.number("exitMonths"), event };
const robust = { variance: "robust" } as const;
const rowsOf = (table: typeof heart, start: string, stop: string, happened: string) => ({
  entry: table.number(start),
  time: table.number(stop),
  event: table.number(happened),
  id: table.number("id"),
});

const CASES: readonly (readonly [string, Parameters<typeof kaplanMeier>[0], KaplanMeierOptions])[] = [
  ["plain", { time: mgus2.number("months"), event }, {}],
  ["late", ages, {}],
  ["weights", { time: mgus2.number("months"), event, weight }, {}],
  ["both", { ...ages, weight }, {}],
  ["heart", rowsOf(heart, "start", "stop", "event"), robust],
  ["cgd", rowsOf(cgd, "tstart", "tstop", "status"), robust],
];

describe("as R's survfit", () => {
  test.each(CASES)("%s", (name, outcomes, options) => {
    const { time, cumulativeHazard, cumulativeHazardVariance } = kaplanMeier(outcomes, options);
    const expected = oracle[name];
    // R also lists the times at which a person's row ends and the next begins.
    const at = new Map(expected.time.map((one, k) => [one, k]));
    expect(time.length).toBeGreaterThan(30);
    for (const [k, one] of time.entries()) {
      const own = at.get(one) ?? -1;
      expect(cumulativeHazard[k], `${one}`).toBeCloseTo(expected.hazard[own], 10);
      expect(cumulativeHazardVariance[k], `${one}`).toBeCloseTo(expected.variance[own], 12);
    }
  });
});

test("by hand, to the last time, where survival is 0 and the hazard is not", () => {
  const { cumulativeHazard, cumulativeHazardVariance } = kaplanMeier({
    time: [1, 2, 2, 3],
    event: [1, 1, 0, 1],
  });
  expect([...cumulativeHazard]).toEqual([1 / 4, 1 / 4 + 1 / 3, 1 / 4 + 1 / 3 + 1]);
  expect([...cumulativeHazardVariance]).toEqual([1 / 16, 1 / 16 + 1 / 9, 1 / 16 + 1 / 9 + 1]);
});
