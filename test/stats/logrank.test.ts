import fc from "fast-check";
import { describe, expect, test } from "vitest";
import { type Absent, isAbsent, type Measured } from "../../src/core/measured.ts";
import { stepValue } from "../../src/stats/censoring.ts";
import { kaplanMeier } from "../../src/stats/kaplan-meier.ts";
import { logrankIndividual } from "../../src/stats/individual-logrank.ts";
import { logrank, logrankMeanCurve, logrankOneSample, MEAN_SURVIVAL_FLOOR } from "../../src/stats/logrank.ts";
import {
  codesOf,
  DATASETS,
  type Dataset,
  expectClose,
  expectColumn,
  type LogrankOracle,
  loadDataset,
  loadPrediction,
  loadTiny,
  type OneSampleOracle,
  PREDICTIONS,
  readOracle,
  type TableOracle,
  TINY,
  texts,
} from "./oracle-tables.ts";
import { logrankSlowly, repeatRows, takeBinned, takeCurves, takeOutcomes } from "./slow-twins.ts";

const outcomesOf = (time: number[], event: number[]) => ({
  time: Float64Array.from(time),
  event: Uint8Array.from(event),
});

function present<T extends object>(value: Measured<T>): T {
  if (isAbsent(value)) throw new Error(`absent: ${value.absent}`);
  return value;
}

/** The oracle's p as a logarithm; below the smallest double R printed 0 and only that much can be said. */
const SMALLEST_LOG_P = Math.log(Number.MIN_VALUE);
function expectTail(ours: { p: number; logP: number }, p: number, what: string): void {
  if (p > 0) expectClose(ours.logP, Math.log(p), what);
  else expect(ours.logP, what).toBeLessThan(SMALLEST_LOG_P);
  expectClose(ours.p, Math.exp(ours.logP), what);
}

const reasonOf = (value: Measured<object>) => (value as Absent).absent;

describe("between groups, worked by hand", () => {
  test("four rows, two groups", () => {
    // t=1: 1 event of 4, 2 in a; t=2: 1 of 3, 1 in a; t=3: 1 of 2, 1 in a; t=4: 1 of 1, in b.
    const outcomes = outcomesOf([1, 2, 3, 4], [1, 1, 1, 1]);
    const result = present(logrank(outcomes, Int32Array.of(0, 1, 0, 1), 2));
    expect([...result.observed]).toEqual([2, 2]);
    expectColumn(result.expected, [4 / 3, 8 / 3], "E");
    const V = 1 / 4 + 2 / 9 + 1 / 4;
    expectColumn(result.variance, [V, -V, -V, V], "V");
    expectClose(result.chi2, (2 / 3) ** 2 / V, "χ²");
    expect(result.df).toBe(1);
    expectClose(Math.exp(result.logP), result.p, "p");
  });

  test("rows marked −1 are not there", () => {
    const outcomes = outcomesOf([1, 9, 2, 3, 1, 4], [1, 1, 1, 1, 0, 1]);
    const marked = present(logrank(outcomes, Int32Array.of(0, -1, 1, 0, -1, 1), 2));
    const without = present(logrank(outcomesOf([1, 2, 3, 4], [1, 1, 1, 1]), Int32Array.of(0, 1, 0, 1), 2));
    expect(marked).toEqual(without);
  });

  test("what cannot be tested says why", () => {
    const group = Int32Array.of(0, 0, 1);
    expect(reasonOf(logrank(outcomesOf([1, 2, 3], [0, 0, 0]), group, 2))).toBe("no events");
    expect(reasonOf(logrank(outcomesOf([], []), new Int32Array(0), 2))).toBe("no events");
    expect(reasonOf(logrank(outcomesOf([2, 3, 1], [1, 1, 0]), group, 2))).toBe(
      "only one group has expected events",
    );
    expect(reasonOf(logrank(outcomesOf([2, 2, 2], [1, 1, 1]), group, 2))).toContain("no variance");
    expect(() => logrank(outcomesOf([1], [1]), Int32Array.of(2), 2)).toThrow("group outside −1…1: 2");
  });
});

interface SmallOracle extends Omit<LogrankOracle, "levels" | "p"> {
  readonly time: number[];
  readonly status: number[];
  readonly group: number[];
  readonly var: readonly (readonly number[])[];
  readonly log_p: number;
}

describe("R's survdiff", async () => {
  const extra = readOracle<Readonly<Record<string, SmallOracle>>>("r/limits.json");

  test.each([0, 1] as const)("a group without expected events is left out of the test, rho %d", (rho) => {
    const oracle = extra[`group_without_events_rho${rho}`];
    const ours = present(
      logrank(outcomesOf(oracle.time, oracle.status), Int32Array.from(oracle.group), 3, { rho }),
    );
    expectColumn(ours.observed, oracle.observed, "O");
    expectColumn(ours.expected, oracle.expected, "E");
    expectColumn(ours.variance, oracle.var.flat(), "V");
    expectClose(ours.chi2, oracle.chisq, "χ²");
    expectClose(ours.logP, oracle.log_p, "log p");
    expect(ours.df).toBe(1);
  });

  test("Peto-Peto on lung by ph.ecog: the whole covariance", async () => {
    const oracle = extra.lung_ph_ecog_rho1;
    const { outcomes, groups } = await loadDataset("lung");
    const ours = present(logrank(outcomes, codesOf(groups["ph.ecog"], ["0", "1", "2", "3"]), 4, { rho: 1 }));
    expectColumn(ours.observed, oracle.observed, "O");
    expectColumn(ours.expected, oracle.expected, "E");
    expectColumn(ours.variance, oracle.var.flat(), "V");
    expectClose(ours.chi2, oracle.chisq, "χ²");
    expectClose(ours.logP, oracle.log_p, "log p");
  });

  describe.each([...DATASETS, ...TINY])("%s", async (name) => {
    const oracle = readOracle<TableOracle>(`r/${name}.json`);
    const isTiny = name.startsWith("tiny_");
    const data = await (isTiny ? loadTiny(name as (typeof TINY)[number]) : loadDataset(name as Dataset));
    const groupOf = (name: string) =>
      name === "a_vs_rest"
        ? data.groups.group.map((value) => (value === "a" ? "a" : "rest"))
        : data.groups[name];

    test.each(Object.entries(oracle.logrank))("by %s", (by, theirs) => {
      const group = codesOf(groupOf(by), theirs.levels);
      const ours = present(logrank(data.outcomes, group, theirs.levels.length));
      expectColumn(ours.observed, theirs.observed, "O");
      expectColumn(ours.expected, theirs.expected, "E");
      expectColumn(ours.variance, (theirs.var ?? []).flat(), "V");
      expectClose(ours.chi2, theirs.chisq, "χ²");
      expectClose(ours.logP, theirs.log_p ?? null, "log p");
      expect(ours.df).toBe(theirs.df);
      const peto = present(logrank(data.outcomes, group, theirs.levels.length, { rho: 1 }));
      expectClose(peto.chi2, theirs.peto_rho1_chisq ?? null, "Peto-Peto χ²");
    });

    test("by bins", () => {
      expect(Object.keys(oracle.logrank_binned ?? {}).length).toBe(
        isTiny ? 0 : Object.keys(data.groups).length,
      );
      for (const [by, theirs] of Object.entries(oracle.logrank_binned ?? {})) {
        const outcomes = { time: Float64Array.from(data.binned.bin), event: data.binned.event };
        const ours = present(
          logrank(outcomes, codesOf(data.groups[by], theirs.levels), theirs.levels.length),
        );
        expectColumn(ours.observed, theirs.observed, `${by} O`);
        expectColumn(ours.expected, theirs.expected, `${by} E`);
        expectClose(ours.chi2, theirs.chisq, `${by} χ²`);
        expectTail(ours, theirs.p, `${by} log p`);
      }
    });

    test("one sample against a reference curve", () => {
      const checkOne = (
        observed: number,
        expected: number,
        theirs: readonly [OneSampleOracle, "neglogS" | "cumhaz"],
      ) => {
        const [values, form] = theirs;
        expect(observed).toBe(values.observed);
        expectClose(expected, values[`expected_${form}`], `E ${form}`);
        const ours = logrankOneSample(observed, expected);
        if (expected === Number.POSITIVE_INFINITY) {
          expect(reasonOf(ours)).toBe("infinitely many events are expected");
          return;
        }
        expectClose(present(ours).chi2, values[`chisq_${form}`], `χ² ${form}`);
        expectTail(present(ours), Number(values[`p_${form}`]), `log p ${form}`);
      };
      const sum = (rows: number[], value: (time: number) => number) =>
        rows.reduce((total, row) => total + value(data.outcomes.time[row]), 0);
      const eventsOf = (rows: number[]) => rows.filter((row) => data.outcomes.event[row] === 1).length;
      if (isTiny) {
        const rows = [...data.outcomes.time.keys()];
        const expected = sum(rows, (time) => -Math.log(Math.exp(-0.1 * time)));
        checkOne(eventsOf(rows), expected, [oracle.one_sample_logrank.all, "neglogS"]);
        return;
      }
      const km = kaplanMeier(data.outcomes);
      for (const [by, levels] of Object.entries(oracle.one_sample_logrank.groups)) {
        for (const [level, theirs] of Object.entries(levels)) {
          const rows = [...data.outcomes.time.keys()].filter((row) => data.groups[by][row] === level);
          const logS = sum(rows, (time) => -Math.log(stepValue(km.time, km.survival, time)));
          const cumulative = sum(rows, (time) => stepValue(km.time, km.cumulativeHazard, time, false, 0));
          checkOne(eventsOf(rows), logS, [theirs, "neglogS"]);
          checkOne(eventsOf(rows), cumulative, [theirs, "cumhaz"]);
        }
      }
    });
  });
});

interface OneSampleScore {
  readonly observed: number;
  readonly expected: number;
  readonly chisq: number;
  readonly p: number;
}

interface PredictionScores {
  readonly n: number;
  readonly one_sample_logrank: {
    readonly mean_curve_neglogS: OneSampleScore;
    readonly individual_sum_hazard: OneSampleScore;
  };
}

interface PredictionOracle {
  readonly overall: PredictionScores;
  readonly subgroups: Readonly<Record<string, Readonly<Record<string, PredictionScores>>>>;
}

interface IndividualScore {
  readonly observed: number;
  readonly expected: number;
  readonly variance: number;
  readonly chisq: number;
  readonly log_p: number;
}

interface IndividualOracle {
  readonly overall: IndividualScore;
  readonly subgroups: Readonly<Record<string, Readonly<Record<string, IndividualScore>>>>;
}

describe.each(PREDICTIONS)("against predicted curves: %s", async (name) => {
  const oracle = readOracle<PredictionOracle>(`pred/${name}.json`);
  const individual = readOracle<Readonly<Record<string, IndividualOracle>>>("r/individual.json")[name];
  const { curves, binned, table } = await loadPrediction(name);

  function check(theirs: PredictionScores, ownCurves: IndividualScore, rows: number[] | undefined): void {
    const { mean_curve_neglogS: mean, individual_sum_hazard: sum } = theirs.one_sample_logrank;
    const ours = present(logrankMeanCurve(curves, binned, rows));
    expect(ours.observed).toBe(mean.observed);
    expectClose(ours.expected, mean.expected, "E of the mean curve");
    expectClose(ours.chi2, mean.chisq, "χ² of the mean curve");
    expectTail(ours, mean.p, "log p of the mean curve");
    const own = present(logrankIndividual(curves, binned, rows));
    expect(own.observed).toBe(sum.observed);
    expectClose(own.expected, sum.expected, "E of the individual curves");
    expectClose(own.expected, ownCurves.expected, "E of the individual curves, again");
    expectClose(own.variance, ownCurves.variance, "V of the individual curves");
    expectClose(own.chi2, ownCurves.chisq, "χ² of the individual curves");
    expectClose(own.logP, ownCurves.log_p, "log p of the individual curves");
  }

  test("overall", () => check(oracle.overall, individual.overall, undefined));

  test.each(Object.keys(oracle.subgroups))("by %s", (by) => {
    const values = texts(table, by);
    for (const [level, theirs] of Object.entries(oracle.subgroups[by])) {
      const rows = [...values.keys()].filter((row) => values[row] === level);
      expect(rows.length).toBe(theirs.n);
      check(theirs, individual.subgroups[by][level], rows);
    }
  });
});

describe("one sample, worked by hand", () => {
  // S of the two rows at bins 1, 2: (¾, ½) and (½, ¼); the first has the event in bin 2, the second is censored in bin
  // 1.
  const curves = { N: 2, T: 2, survival: Float64Array.of(3 / 4, 1 / 2, 1 / 2, 1 / 4) };
  const binned = { T: 2, bin: Int32Array.of(2, 1), event: Uint8Array.of(1, 0) };

  test("mean curve: −log ⅜ − log ⅝", () => {
    const { observed, expected, variance, chi2 } = present(logrankMeanCurve(curves, binned));
    expect(observed).toBe(1);
    expectClose(expected, -Math.log(3 / 8) - Math.log(5 / 8), "E");
    expect(variance).toBe(expected);
    expectClose(chi2, (1 - expected) ** 2 / expected, "χ²");
  });

  test("individual: hazards ¼, ⅓ and ½", () => {
    const { expected, variance, chi2 } = present(logrankIndividual(curves, binned));
    expectClose(expected, 1 / 4 + 1 / 3 + 1 / 2, "E");
    expectClose(variance, 3 / 16 + 2 / 9 + 1 / 4, "V");
    expectClose(chi2, (1 / 12) ** 2 / (3 / 16 + 2 / 9 + 1 / 4), "χ²", 1e-12);
  });

  test("a mean curve at 0 is floored, and a curve at 0 has no hazard left", () => {
    const dead = { N: 1, T: 3, survival: Float64Array.of(0.5, 0, 0) };
    const late = { T: 3, bin: Int32Array.of(3), event: Uint8Array.of(1) };
    expectClose(present(logrankMeanCurve(dead, late)).expected, -Math.log(MEAN_SURVIVAL_FLOOR), "E");
    const barely = { N: 1, T: 1, survival: Float64Array.of(MEAN_SURVIVAL_FLOOR * 2) };
    const first = { T: 1, bin: Int32Array.of(1), event: Uint8Array.of(1) };
    expectClose(
      present(logrankMeanCurve(barely, first)).expected,
      -Math.log(2 * MEAN_SURVIVAL_FLOOR),
      "E above",
    );
    const own = present(logrankIndividual(dead, late));
    expectClose(own.expected, 1.5, "½ + 1 + nothing");
    expectClose(own.variance, 0.25, "V");
  });

  test("what cannot be tested says why", () => {
    const certain = { N: 1, T: 1, survival: Float64Array.of(1) };
    const first = { T: 1, bin: Int32Array.of(1), event: Uint8Array.of(0) };
    expect(reasonOf(logrankMeanCurve(certain, first))).toBe("no events are expected");
    expect(reasonOf(logrankIndividual(certain, first))).toBe("no events are expected");
    const doomed = { N: 1, T: 1, survival: Float64Array.of(0) };
    expect(reasonOf(logrankIndividual(doomed, first))).toBe("the expected number of events has no variance");
    const unknown = { N: 1, T: 1, survival: Float64Array.of(Number.NaN) };
    expect(reasonOf(logrankIndividual(unknown, first))).toContain("not numbers");
    expect(reasonOf(logrankMeanCurve(curves, binned, []))).toBe("no rows");
    expect(() => logrankIndividual(curves, { ...binned, T: 3 })).toThrow(
      "curves and outcomes are on different grids: 2 and 3 bins",
    );
  });
});

const tiedRow = fc.record({
  time: fc.integer({ min: 1, max: 5 }),
  event: fc.integer({ min: 0, max: 1 }),
  group: fc.integer({ min: -1, max: 2 }),
  weight: fc.integer({ min: 0, max: 3 }),
});

test("the fast form is the definition, with heavy ties", () => {
  fc.assert(
    fc.property(fc.array(tiedRow, { minLength: 1, maxLength: 30 }), fc.constantFrom(0, 1), (rows, rho) => {
      const outcomes = outcomesOf(
        rows.map((row) => row.time),
        rows.map((row) => row.event),
      );
      const group = Int32Array.from(rows, (row) => row.group);
      const ours = logrank(outcomes, group, 3, { rho: rho as 0 | 1 });
      if (isAbsent(ours)) return;
      const slow = logrankSlowly(outcomes, group, 3, rho as 0 | 1);
      for (let g = 0; g < 3; g++) {
        expect(ours.observed[g]).toBeCloseTo(slow.observed[g], 12);
        expect(ours.expected[g]).toBeCloseTo(slow.expected[g], 12);
        for (let h = 0; h < 3; h++) expect(ours.variance[g * 3 + h]).toBeCloseTo(slow.variance[g][h], 12);
      }
    }),
    { seed: 2, numRuns: 300 },
  );
});

test("a weight of 2 is the row twice, of 0 the row absent", () => {
  fc.assert(
    fc.property(fc.array(tiedRow, { minLength: 1, maxLength: 20 }), (rows) => {
      const outcomes = outcomesOf(
        rows.map((row) => row.time),
        rows.map((row) => row.event),
      );
      const weights = rows.map((row) => row.weight);
      const repeated = repeatRows(weights);
      const group = Int32Array.from(rows, (row) => row.group);
      const groupTwice = Int32Array.from(repeated, (row) => group[row]);
      expect(logrank(outcomes, group, 3, { weights })).toEqual(
        logrank(takeOutcomes(outcomes, repeated), groupTwice, 3),
      );

      const T = 5;
      const binned = { T, bin: Int32Array.from(outcomes.time), event: outcomes.event };
      // Halves and quarters, so that sums of weighted and of repeated rows are the same numbers.
      const survival = Float64Array.from(
        { length: rows.length * T },
        (_, k) => 2 ** -(((k % T) + (k % 3)) / 1),
      );
      const curves = { N: rows.length, T, survival };
      const curvesTwice = takeCurves(curves, repeated);
      const binnedTwice = takeBinned(binned, repeated);
      const mean = logrankMeanCurve(curves, binned, undefined, weights);
      const meanTwice = logrankMeanCurve(curvesTwice, binnedTwice);
      expect(mean).toEqual(meanTwice);
      expect(logrankIndividual(curves, binned, undefined, weights)).toEqual(
        logrankIndividual(curvesTwice, binnedTwice),
      );
    }),
    { seed: 3, numRuns: 300 },
  );
});
