// The simulated eye cohort against the reference law: exactly, on draws that law recorded (oracles/replay.py), and in
// distribution, against cohorts it made with its own random numbers (oracles/marginals.py).
import { readFileSync } from "node:fs";
import { normalQuantile } from "graduate-survival/core";
import {
  type Column,
  cellText,
  countMissing,
  findColumn,
  groupsFromFile,
  isMissing,
  parseGroupsFile,
  readTable,
  resolveGroups,
  type Table,
  tableSourceFromBytes,
} from "graduate-survival/data";
import { describe, expect, test } from "vitest";
import type { EyeDraws } from "../../src/eye/law.ts";
import {
  drawCohort,
  EYE_PEOPLE,
  EYE_SPLIT,
  type EyeCensoring,
  roundHalfEven,
  simulateEye,
} from "../../src/eye/simulate.ts";
import { DAYS_PER_YEAR } from "../../src/eye/survival.ts";
import marginals from "../oracles/marginals.json" with { type: "json" };
import replay from "../oracles/replay.json" with { type: "json" };

const PEOPLE = replay.draws.length;

/** Hands out the recorded draws, and refuses another kind than the law drew at that place. */
function replayDraws(): EyeDraws {
  let person = 0;
  let place = 0;
  let counts = 0;
  const take = (kind: string) => {
    if (place === replay.kinds.length) {
      person++;
      place = 0;
      counts = 0;
    }
    if (kind !== replay.kinds[place])
      throw new Error(`drew ${kind} where the law draws ${replay.kinds[place]}`);
    return replay.draws[person][place++];
  };
  return {
    uniform: () => take("uniform"),
    normal: () => take("normal"),
    exponential: () => take("exponential"),
    gamma(shape) {
      expect(shape).toBe(2.2);
      return take("gamma");
    },
    poisson(mean) {
      const count = take("poisson");
      const wanted = replay.poissonMeans[person][counts++];
      expect(Math.abs(mean / wanted - 1)).toBeLessThan(1e-12);
      return count;
    },
  };
}

function cellOf(column: Column, row: number): number | string | null {
  if (isMissing(column, row)) return null;
  return column.type === "number" ? column.values[row] : cellText(column, row);
}

describe("the law on recorded draws", () => {
  test.each(replay.outcomes)("level $level, $censoring censoring", (wanted) => {
    const level = wanted.level as 0 | 1 | 2;
    const censoring = wanted.censoring as EyeCensoring;
    const cohort = drawCohort({ seed: 0, n: PEOPLE, level, censoring }, replayDraws());
    expect(cohort.table.columns.map(({ name }) => name)).toEqual([
      ...Object.keys(replay.columns),
      "time",
      "event",
    ]);
    for (const [name, cells] of Object.entries(replay.columns)) {
      const column = findColumn(cohort.table, name);
      expect(
        cells.map((_, row) => cellOf(column, row)),
        name,
      ).toEqual(cells);
    }
    expect(Array.from(cohort.outcomes.time)).toEqual(wanted.time);
    expect(Array.from(cohort.outcomes.event)).toEqual(wanted.event);
    const times = replay.years.map((years) => years * DAYS_PER_YEAR);
    const survival = cohort.trueSurvival(times);
    const ofLevel = replay.outcomes.find((one) => one.level === level && one.survival !== undefined);
    const expected = ofLevel?.survival?.flat() ?? [];
    expect(survival.length).toBe(PEOPLE * times.length);
    survival.forEach((S, at) => {
      expect(Math.abs(S - expected[at])).toBeLessThan(1e-12);
    });
    expect(cohort.trueSurvival(times.slice(3, 5), [7, 2])).toEqual(
      Float64Array.of(...[7, 2].flatMap((row) => [3, 4].map((t) => survival[row * times.length + t]))),
    );
  });

  test("the recorded people include all three minorities", () => {
    const { race, housing, age, eye_medication } = replay.columns;
    expect(race.filter((r, i) => r === "Malay" && housing[i] === "1-2 room").length).toBeGreaterThanOrEqual(
      8,
    );
    expect(age.filter((a) => a >= 75).length).toBeGreaterThanOrEqual(8);
    expect(eye_medication.filter((e) => e === 1).length).toBeGreaterThanOrEqual(8);
  });
});

/**
 * Largest |z| that right cohorts exceed anywhere among `tests` comparisons with probability .01 at most (Bonferroni).
 */
const familyWise = (tests: number) => normalQuantile(1 - 0.01 / (2 * tests));

interface Comparison {
  readonly what: string;
  readonly z: number;
}

function compareShares(
  what: string,
  count: number,
  n: number,
  otherCount: number,
  otherN: number,
): Comparison {
  const share = (count + otherCount) / (n + otherN);
  const variance = share * (1 - share) * (1 / n + 1 / otherN);
  return { what, z: variance === 0 ? 0 : (count / n - otherCount / otherN) / Math.sqrt(variance) };
}

function expectWithinChance(comparisons: readonly Comparison[]): void {
  const limit = familyWise(comparisons.length);
  expect(comparisons.filter(({ z }) => !(Math.abs(z) <= limit))).toEqual([]);
}

describe("the cohort in distribution", () => {
  const { cohort: theirs } = marginals;
  const ours = simulateEye({ seed: 7, n: 40_000, level: 2, censoring: "dependent" });
  const { table } = ours;

  test("means, variances, quantiles and missing values of all columns; shares of levels", () => {
    const comparisons: Comparison[] = [];
    for (const [name, their] of Object.entries(theirs.numbers)) {
      const column = findColumn(table, name);
      if (column.type !== "number") throw new Error(name);
      const values = column.values.filter((value) => !Number.isNaN(value));
      const n = values.length;
      const mean = values.reduce((sum, value) => sum + value, 0) / n;
      const moment = (power: number) => values.reduce((sum, value) => sum + (value - mean) ** power, 0) / n;
      const variance = moment(2);
      const both = 1 / n + 1 / their.n;
      comparisons.push({ what: `mean ${name}`, z: (mean - their.mean) / Math.sqrt(variance * both) });
      comparisons.push({
        what: `variance ${name}`,
        z: (variance - their.variance) / Math.sqrt((moment(4) - variance * variance) * both),
      });
      for (const { value, count } of their.below) {
        const below = values.reduce((sum, own) => sum + (own <= value ? 1 : 0), 0);
        comparisons.push(compareShares(`${name} up to ${value}`, below, n, count, their.n));
      }
      comparisons.push(
        compareShares(`missing ${name}`, countMissing(column), table.rows, their.missing, theirs.rows),
      );
    }
    for (const [name, levels] of Object.entries(theirs.categories)) {
      const column = findColumn(table, name);
      if (column.type !== "category") throw new Error(name);
      expect(column.levels).toEqual(Object.keys(levels));
      for (const [level, count] of Object.entries(levels)) {
        const code = column.levels.indexOf(level);
        const own = column.codes.reduce((sum, one) => sum + (one === code ? 1 : 0), 0);
        comparisons.push(compareShares(`${name} ${level}`, own, table.rows, count, theirs.rows));
      }
    }
    expect(Object.keys(theirs.numbers).length + Object.keys(theirs.categories).length).toBe(40);
    expectWithinChance(comparisons);
  });

  test("sizes, events and missing values of the 23 groups", () => {
    const groups = theirs.groups.map(({ name, where }) => ({ name, expression: where }));
    const comparisons = resolveGroups(groups, table).flatMap(({ name, rows }, g) => {
      const their = theirs.groups[g];
      const events = rows.reduce((sum, row) => sum + ours.outcomes.event[row], 0);
      return [
        compareShares(`size of ${name}`, rows.length, table.rows, their.n, theirs.rows),
        compareShares(`events of ${name}`, events, rows.length, their.events, their.n),
        ...Object.entries(their.missing).map(([column, missing]) => {
          const cells = findColumn(table, column);
          const own = rows.reduce((sum, row) => sum + (isMissing(cells, row) ? 1 : 0), 0);
          return compareShares(`${column} missing of ${name}`, own, rows.length, missing, their.n);
        }),
      ];
    });
    expect(comparisons.length).toBe(23 * 8);
    expectWithinChance(comparisons);
  });

  test("events and times at all levels and censorings", () => {
    const comparisons = marginals.rates.flatMap(({ level, censoring, groups }) => {
      const own = simulateEye({
        seed: 8,
        n: 8000,
        level: level as 0 | 1 | 2,
        censoring: censoring as EyeCensoring,
      });
      const named = groups.map(({ name, where }) => ({ name, expression: where }));
      return resolveGroups(named, own.table).flatMap(({ name, rows }, g) => {
        const their = groups[g];
        const n = rows.length;
        const events = rows.reduce((sum, row) => sum + own.outcomes.event[row], 0);
        const mean = rows.reduce((sum, row) => sum + own.outcomes.time[row], 0) / n;
        const what = `level ${level}, ${censoring}, ${name}`;
        return [
          compareShares(`events, ${what}`, events, n, their.events, their.n),
          {
            what: `time, ${what}`,
            z: (mean - their.meanTime) / Math.sqrt(their.varianceTime * (1 / n + 1 / their.n)),
          },
        ];
      });
    });
    expect(comparisons.length).toBe(9 * 6 * 2);
    expectWithinChance(comparisons);
  });

  test("event times follow the true curves", () => {
    // S(T|x) of a continuous T is uniform; whole days move it by at most one day's hazard.
    const n = 10_000;
    const values = Float64Array.from({ length: n }, (_, row) => {
      const [before, after] = ours.trueSurvival([ours.eventTime[row] - 1, ours.eventTime[row]], [row]);
      return (before + after) / 2;
    }).sort();
    let largest = 0;
    values.forEach((value, k) => {
      largest = Math.max(largest, value - k / n, (k + 1) / n - value);
    });
    expect(Math.sqrt(n) * largest).toBeLessThan(1.9495); // Kolmogorov's .001 point
  });
});

function toCsv({ rows, columns }: Table): Uint8Array {
  const lines = [columns.map(({ name }) => name).join(",")];
  for (let row = 0; row < rows; row++) lines.push(columns.map((column) => cellText(column, row)).join(","));
  return new TextEncoder().encode(`${lines.join("\n")}\n`);
}

describe("a cohort", () => {
  const settings = { seed: 3, n: 400, level: 2, censoring: "dependent" } as const;

  test("is the table that its file would be read as", async () => {
    const { table } = simulateEye(settings);
    const read = await readTable(tableSourceFromBytes(table.name, toCsv(table)));
    expect(read).toEqual(table);
  });

  test("of the same seed is the same, a smaller one its beginning, its people those of every level", () => {
    const whole = simulateEye(settings);
    expect(simulateEye(settings).table).toEqual(whole.table);
    const part = simulateEye({ ...settings, n: 150 });
    expect(part.outcomes.time).toEqual(whole.outcomes.time.subarray(0, 150));
    const other = simulateEye({ ...settings, level: 0, censoring: "late" });
    expect(other.table.columns.slice(0, 38)).toEqual(whole.table.columns.slice(0, 38));
    expect(other.outcomes.time).not.toEqual(whole.outcomes.time);
    expect(simulateEye({ ...settings, seed: 4 }).outcomes.time).not.toEqual(whole.outcomes.time);
  });

  test("shows the event where it comes before censoring, at its own time", () => {
    const { outcomes, eventTime } = simulateEye(settings);
    outcomes.event.forEach((event, row) => {
      if (event === 1) expect(outcomes.time[row]).toBe(eventTime[row]);
      else expect(outcomes.time[row]).toBeLessThanOrEqual(eventTime[row]);
    });
  });

  test("of the paper's size divides as the paper's did", () => {
    expect(EYE_SPLIT.train + EYE_SPLIT.valid + EYE_SPLIT.test).toBe(EYE_PEOPLE);
  });

  test("refuses settings that it does not know", () => {
    expect(() => simulateEye({ ...settings, n: 0 })).toThrow("whole number from 1 up: 0");
    expect(() => simulateEye({ ...settings, seed: 0.5 })).toThrow("seed is not a whole number: 0.5");
    expect(() => simulateEye({ ...settings, level: 3 as 2 })).toThrow("no such level");
    expect(() => simulateEye({ ...settings, censoring: "none" as "late" })).toThrow("no such censoring");
  });
});

test("halves are rounded to even", () => {
  const rounded = [0.5, 1.5, 2.5, -0.5, -1.5, -2.5, 0.49999999999999994].map((v) => roundHalfEven(v, 0));
  expect(rounded).toEqual([0, 2, 2, 0, -2, -2, 0]);
  expect([0.125, 0.375, -0.125].map((v) => roundHalfEven(v, 2))).toEqual([0.12, 0.38, -0.12]);
  expect(roundHalfEven(Number.NaN, 1)).toBeNaN();
});

test("24 audit-only groups, none of them constrained, each of 100 people in 4374 or more", () => {
  const read = (file: string) =>
    parseGroupsFile(readFileSync(new URL(`../../../paper/${file}`, import.meta.url), "utf8"), file);
  const { table } = simulateEye({ seed: 9, n: 4 * EYE_PEOPLE, level: 2, censoring: "dependent" });
  const constrained = resolveGroups(groupsFromFile(read("eye-groups.json"), table, []), table);
  const audited = resolveGroups(groupsFromFile(read("eye-audit-groups.json"), table, []), table);
  expect(constrained.length).toBe(24);
  expect(audited.length).toBe(24);
  for (const { name, rows } of audited) {
    expect(rows.length, name).toBeGreaterThanOrEqual(4 * 100);
    for (const other of constrained) expect(rows, `${name}, ${other.name}`).not.toEqual(other.rows);
  }
});
