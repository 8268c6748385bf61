// Median, restricted mean and survival at chosen times against R's survfit (test/oracles/km/summary.R).
import { readFileSync } from "node:fs";
import { describe, expect, test } from "vitest";
import { isAbsent, type Measured } from "../../src/core/measured.ts";
import { groupByColumns } from "../../src/data/groups/group-by.ts";
import { pickOutcomes } from "../../src/data/outcomes/outcomes.ts";
import { readOutcomes } from "../../src/data/outcomes/read-outcomes.ts";
import { readTable, tableSourceFromBytes } from "../../src/data/reading/read-table.ts";
import { medianSurvival, restrictedMean, survivalAt } from "../../src/stats/curve-summary.ts";
import { type IntervalScale, kaplanMeier } from "../../src/stats/kaplan-meier.ts";
import { loadCsv } from "./oracle-tables.ts";

type Values = readonly (number | null)[];

interface Oracle {
  readonly groups: readonly string[];
  readonly median: Values;
  readonly lower: Values;
  readonly upper: Values;
  readonly until: number;
  readonly rmean: readonly number[];
  readonly se: readonly number[];
  readonly last: readonly number[];
  readonly tau: readonly number[];
  readonly rmean_tau: readonly (readonly number[])[];
  readonly se_tau: readonly (readonly number[])[];
  readonly at: readonly number[];
  readonly n: readonly (readonly number[])[];
  readonly surv: readonly (readonly number[])[];
  readonly std_err: readonly Values[];
  readonly at_lower: readonly Values[];
  readonly at_upper: readonly Values[];
}

const oracle = JSON.parse(readFileSync(new URL("../oracles/km/summary.json", import.meta.url), "utf8"));

const HALF = "time,status\n1,1\n2,1\n3,1\n7,1\n9,0\n9,0\n";
const TABLES: Readonly<Record<string, readonly [time: string, event: string, eventIs: string, by: string]>> =
  {
    lung: ["time", "status", "2", "sex"],
    veteran: ["time", "status", "1", "celltype"],
    gbsg: ["rfstime", "status", "1", "grade"],
    tiny_heavy_ties: ["time", "status", "1", ""],
    tiny_all_events: ["time", "status", "1", ""],
    half: ["time", "status", "1", ""],
  };

/** An absent number of ours is one that R does not have either. */
function near(actual: Measured, expected: number | null, what: string): void {
  if (expected === null || isAbsent(actual)) {
    expect(
      isAbsent(actual) && expected === null,
      `${what}: ${JSON.stringify(actual)} against ${expected}`,
    ).toBe(true);
    return;
  }
  const off = Math.abs(actual - expected);
  expect(off, `${what}: ${actual} against ${expected}`).toBeLessThanOrEqual(
    1e-12 * Math.max(1, Math.abs(expected)),
  );
}

describe.each(Object.entries(TABLES))("survfit on %s", (name, [time, event, eventIs, by]) => {
  test.each(["log", "log-log", "plain"] as const)("%s limits", async (interval: IntervalScale) => {
    const table =
      name === "half"
        ? await readTable(tableSourceFromBytes("half.csv", new TextEncoder().encode(HALF)))
        : await loadCsv(`../tables/${name}.csv`);
    const outcomes = readOutcomes(table, { time, event, eventIs });
    for (const [columns, expected] of [
      [[], oracle[name][interval].all],
      ...(by === "" ? [] : [[[by], oracle[name][interval].by] as const]),
    ] as readonly (readonly [readonly string[], Oracle])[]) {
      const { groups } = groupByColumns(table, columns);
      expect(groups.map((group) => group.name)).toEqual(expected.groups);
      groups.forEach(({ rows }, g) => {
        const km = kaplanMeier(pickOutcomes(outcomes, rows), { interval });
        const median = medianSurvival(km);
        near(median.estimate, expected.median[g], "median");
        near(median.lower, expected.lower[g], "lower limit of the median");
        near(median.upper, expected.upper[g], "upper limit of the median");
        const mean = restrictedMean(km, expected.until);
        near(mean.estimate, expected.rmean[g], "restricted mean");
        near(mean.standardError, expected.se[g], "its error");
        expected.tau.forEach((tau, k) => {
          const own = restrictedMean(km, tau);
          near(own.estimate, expected.rmean_tau[k][g], `restricted mean to ${tau}`);
          near(own.standardError, expected.se_tau[k][g], `its error to ${tau}`);
        });
        expected.at.forEach((at, k) => {
          const own = survivalAt(km, at);
          expect(own.atRisk).toBe(expected.n[g][k]);
          // R extends a curve past its end when told to; here it has ended.
          if (at > expected.last[g] && expected.surv[g][k] > 0) {
            expect(own.survival).toEqual({
              absent: `nobody is followed that long: the curve ends at ${expected.last[g]}`,
            });
            return;
          }
          near(own.survival, expected.surv[g][k], `survival at ${at}`);
          near(own.standardError, expected.std_err[g][k], `error at ${at}`);
          near(own.lower, expected.at_lower[g][k], `lower limit at ${at}`);
          near(own.upper, expected.at_upper[g][k], `upper limit at ${at}`);
        });
      });
    }
  });
});

describe("by hand", () => {
  const km = kaplanMeier({ time: Float64Array.of(2, 4, 5), event: Uint8Array.of(1, 0, 1) });

  test("a mean up to before the first time is that time; the error is 0", () => {
    expect(restrictedMean(km, 1)).toEqual({ until: 1, estimate: 1, standardError: 0 });
  });

  test("a mean past the end of a curve that has reached 0 adds nothing", () => {
    // 2 + 2/3·3 = 4
    expect(restrictedMean(km, 100).estimate).toBeCloseTo(4, 14);
    expect(survivalAt(km, 100)).toMatchObject({
      survival: 0,
      atRisk: 0,
      lower: { absent: "undefined where survival is 0" },
    });
  });
});
