import fc from "fast-check";
import { describe, expect, test } from "vitest";
import { isAbsent, type Measured } from "../../src/core/measured.ts";
import { createRandom } from "../../src/core/random.ts";
import type { RightCensored } from "../../src/data/outcomes/outcomes.ts";
import {
  concordanceHarrell,
  concordanceUno,
  type UnoConvention,
} from "../../src/stats/concordance/concordance.ts";
import {
  DATASETS,
  expectClose,
  type HarrellOracle,
  loadDataset,
  loadLinearPredictor,
  loadTiny,
  numbers,
  readOracle,
  type StrictPairsOracle,
  type TableOracle,
  TINY,
} from "./oracle-tables.ts";
import { censoringAt, countPairsSlowly, repeatRows, takeOutcomes } from "./slow-twins.ts";

const outcomesOf = (time: number[], event: number[]) => ({
  time: Float64Array.from(time),
  event: Uint8Array.from(event),
});

function present(value: Measured): number {
  if (isAbsent(value)) throw new Error(`absent: ${value.absent}`);
  return value;
}

function checkHarrell(outcomes: RightCensored, risk: Float64Array, theirs: HarrellOracle): void {
  const ours = concordanceHarrell(outcomes, risk);
  expect(ours.concordant).toBe(theirs.concordant);
  expect(ours.discordant).toBe(theirs.discordant);
  expect(ours.tiedRisk).toBe(theirs.tied_x);
  expect(ours.tiedTime).toBe(theirs.tied_y);
  expect(ours.tiedBoth).toBe(theirs.tied_xy);
  expectClose(present(ours.c), theirs.C, "Harrell");
}

function checkStrict(outcomes: RightCensored, risk: Float64Array, theirs: StrictPairsOracle): void {
  const ours = concordanceHarrell(outcomes, risk, { pairs: "strict" });
  expect(ours.concordant).toBe(theirs.concordant);
  expect(ours.discordant).toBe(theirs.discordant);
  expect(ours.tiedRisk).toBe(theirs.tied_x);
  expect(ours.concordant + ours.discordant + ours.tiedRisk).toBe(theirs.pairs);
  expectClose(present(ours.c), theirs.C_half_ties, "Harrell, strict");
}

describe("R's concordance", () => {
  test.each(DATASETS)("%s by a Cox linear predictor", async (name) => {
    const { concordance: oracle } = readOracle<TableOracle>(`r/${name}.json`);
    const data = await loadDataset(name);
    const { rows, risk } = loadLinearPredictor(name);
    const outcomes = takeOutcomes(data.outcomes, rows);
    checkHarrell(outcomes, risk, oracle.harrell);
    checkStrict(outcomes, risk, oracle.harrell_strict_times);
    const binned = { time: Float64Array.from(rows, (row) => data.binned.bin[row]), event: outcomes.event };
    checkStrict(binned, risk, oracle.harrell_strict_times_binned);
    const uno = concordanceUno(outcomes, risk, { convention: "r" });
    expectClose(present(uno.c), oracle.uno.C_R_timewt_nG2, "Uno");
  });

  test.each(TINY)("%s", async (name) => {
    const { concordance_x: oracle } = readOracle<TableOracle>(`r/${name}.json`);
    const { outcomes, table } = await loadTiny(name);
    if (oracle === undefined) throw new Error(`no oracle for ${name}`);
    const risk = numbers(table, "x");
    checkHarrell(outcomes, risk, oracle);
    checkStrict(outcomes, risk, oracle.strict_times);
    expectClose(present(concordanceUno(outcomes, risk, { convention: "r" }).c), oracle.uno_nG2, "Uno");
  });

  test("up to a time, which is included", async () => {
    interface UpTo {
      readonly ymax: readonly number[];
      readonly uno: readonly number[];
    }
    const { uno } = readOracle<{ uno: Readonly<Record<string, UpTo>> }>("r/limits.json");
    const lung = await loadDataset("lung");
    const tiny = await loadTiny("tiny_heavy_ties");
    const cases: [UpTo, RightCensored, Float64Array][] = [
      [uno.lung_age, lung.outcomes, numbers(lung.table, "age")],
      [uno.heavy_ties_x, tiny.outcomes, numbers(tiny.table, "x")],
      [uno.seven_rows, SEVEN, Float64Array.from(SEVEN_RISK)],
    ];
    for (const [oracle, outcomes, risk] of cases) {
      oracle.ymax.forEach((tau, k) => {
        expectClose(
          present(concordanceUno(outcomes, risk, { convention: "r", tau }).c),
          oracle.uno[k],
          `up to ${tau}`,
        );
      });
    }
  });
});

const SEVEN = outcomesOf([11, 11, 26, 89, 128, 299, 300], [1, 0, 0, 1, 0, 1, 0]);
const SEVEN_RISK = [-0.02, 1.2, -0.56, -1.33, -0.81, 1.02, -1.29];

describe("the seven rows on which packages disagree", () => {
  test("Harrell ½", () => {
    const { c, concordant, discordant, tiedRisk } = concordanceHarrell(SEVEN, SEVEN_RISK);
    expect({ c, concordant, discordant, tiedRisk }).toEqual({
      c: 0.5,
      concordant: 5,
      discordant: 5,
      tiedRisk: 0,
    });
  });

  test("Uno in R 29/57, in scikit-survival 64/171 up to 299", () => {
    expectClose(present(concordanceUno(SEVEN, SEVEN_RISK, { convention: "r" }).c), 29 / 57, "R");
    const scikit = concordanceUno(SEVEN, SEVEN_RISK, { convention: "scikit-survival", tau: 299 });
    expectClose(present(scikit.c), 64 / 171, "scikit-survival");
    expect(present(scikit.c)).toBeCloseTo(0.374269, 6);
  });
});

interface ScikitCase {
  readonly test: { readonly time: number[]; readonly event: number[] };
  readonly training: { readonly time: number[]; readonly event: number[] };
  readonly risk: number[];
  readonly tau: number;
  readonly harrell: { c: number; concordant: number; discordant: number; tiedRisk: number };
  readonly uno: number | null;
  readonly unoTau: number | null;
  readonly unoSameRows: number | null;
  readonly unoSameRowsTau: number | null;
}

describe("scikit-survival on tables full of ties", () => {
  const { uno } = readOracle<{ uno: readonly ScikitCase[] }>("peers/concordance.json");
  test.each(uno.map((one, k) => [k, one] as const))("table %d", (_, one) => {
    const outcomes = outcomesOf(one.test.time, one.test.event);
    const censoring = outcomesOf(one.training.time, one.training.event);
    const convention = "scikit-survival";
    const check = (c: Measured, theirs: number | null) => {
      if (theirs === null) expect(isAbsent(c)).toBe(true);
      else expectClose(present(c), theirs, "Uno");
    };
    check(concordanceUno(outcomes, one.risk, { convention, censoring }).c, one.uno);
    check(concordanceUno(outcomes, one.risk, { convention, censoring, tau: one.tau }).c, one.unoTau);
    check(concordanceUno(outcomes, one.risk, { convention }).c, one.unoSameRows);
    check(concordanceUno(outcomes, one.risk, { convention, tau: one.tau }).c, one.unoSameRowsTau);
    expect(concordanceHarrell(outcomes, one.risk)).toMatchObject(one.harrell);
  });
});

const tiedRow = fc.record({
  time: fc.integer({ min: 1, max: 6 }),
  event: fc.integer({ min: 0, max: 1 }),
  risk: fc.integer({ min: 0, max: 5 }),
  weight: fc.integer({ min: 0, max: 3 }),
});
const tiedRows = fc.array(tiedRow, { maxLength: 30 });

interface TiedRow {
  readonly time: number;
  readonly event: number;
}
const outcomesOfRows = (rows: readonly TiedRow[]) =>
  outcomesOf(
    rows.map((row) => row.time),
    rows.map((row) => row.event),
  );

const SLOW_RULES: Readonly<
  Record<UnoConvention, { same: boolean; ties: "simple" | "reverse"; left: boolean }>
> = {
  r: { same: true, ties: "reverse", left: true },
  "scikit-survival": { same: true, ties: "reverse", left: false },
  mlr3proba: { same: false, ties: "simple", left: false },
};
const CONVENTIONS = Object.keys(SLOW_RULES) as UnoConvention[];

describe("the fast forms count what the definitions count", () => {
  test("Harrell, every count", () => {
    fc.assert(
      fc.property(tiedRows, fc.constantFrom("r" as const, "strict" as const), (rows, pairs) => {
        const outcomes = outcomesOfRows(rows);
        const risk = rows.map((row) => row.risk);
        const { c, ...counts } = concordanceHarrell(outcomes, risk, { pairs });
        const rule = { sameTimeCensored: pairs === "r", tolerance: 0, timeWeight: () => 1 };
        expect(counts).toEqual(countPairsSlowly(outcomes, risk, rule));
        expect(isAbsent(c)).toBe(counts.concordant + counts.discordant + counts.tiedRisk === 0);
      }),
      { seed: 4, numRuns: 500 },
    );
  });

  test.each(CONVENTIONS)(
    "Uno as in %s, training rows apart, scores nearly tied, up to a time",
    (convention) => {
      const { same, ties, left } = SLOW_RULES[convention];
      const tolerance = convention === "scikit-survival" ? 1e-8 : 0;
      const tau = fc.option(fc.integer({ min: 1, max: 7 }), { nil: undefined });
      // Steps of the very tolerance are tied or not as the rounding of a difference has it.
      const scale = fc.record({
        from: fc.constantFrom(0, 0.1, 1, 3, 70),
        step: fc.constantFrom(0.5e-8, 0.6e-8, 1e-8, 1),
      });
      fc.assert(
        fc.property(tiedRows, tiedRows, tau, scale, (rows, training, tau, { from, step }) => {
          const outcomes = outcomesOfRows(rows);
          const censoring = outcomesOfRows(training);
          const risk = rows.map((row) => from + row.risk * step);
          const ours = concordanceUno(outcomes, risk, {
            convention,
            censoring,
            ...(tau === undefined ? {} : { tau }),
          });
          const timeWeight = (time: number) => {
            if (tau !== undefined && (convention === "r" ? time > tau : time >= tau)) return 0;
            return 1 / censoringAt(censoring, time, ties, left) ** 2;
          };
          const slow = countPairsSlowly(outcomes, risk, { sameTimeCensored: same, tolerance, timeWeight });
          const total = slow.concordant + slow.discordant + slow.tiedRisk;
          if (total === 0 || !Number.isFinite(total)) expect(isAbsent(ours.c)).toBe(true);
          else expectClose(present(ours.c), (slow.concordant + slow.tiedRisk / 2) / total, "Uno");
        }),
        { seed: 5, numRuns: 600 },
      );
    },
  );

  test("a weight of 2 is the row twice, of 0 the row absent", () => {
    fc.assert(
      fc.property(tiedRows, (rows) => {
        const outcomes = outcomesOfRows(rows);
        const weights = rows.map((row) => row.weight);
        const risk = rows.map((row) => row.risk);
        const repeated = repeatRows(weights);
        const twice = takeOutcomes(outcomes, repeated);
        const riskTwice = repeated.map((row) => risk[row]);
        for (const pairs of ["r", "strict"] as const) {
          const ours = concordanceHarrell(outcomes, risk, { pairs, weights });
          expect(ours).toEqual(concordanceHarrell(twice, riskTwice, { pairs }));
        }
        for (const convention of CONVENTIONS) {
          const ours = concordanceUno(outcomes, risk, { convention, weights }).c;
          const theirs = concordanceUno(twice, riskTwice, { convention }).c;
          if (isAbsent(theirs)) expect(ours).toEqual(theirs);
          else expectClose(present(ours), theirs, convention);
          const apart = { convention, censoring: outcomes, censoringWeights: weights, weights };
          expect(concordanceUno(outcomes, risk, apart).c).toEqual(ours);
        }
      }),
      { seed: 6, numRuns: 300 },
    );
  });

  test("2,000 rows", () => {
    const random = createRandom(7);
    const rows = Array.from({ length: 2000 }, () => ({ time: random.integer(80), event: random.integer(2) }));
    const risk = rows.map((row) => random.integer(40) - row.time);
    const { c, ...counts } = concordanceHarrell(outcomesOfRows(rows), risk);
    const rule = { sameTimeCensored: true, tolerance: 0, timeWeight: () => 1 };
    expect(counts).toEqual(countPairsSlowly(outcomesOfRows(rows), risk, rule));
    expect(present(c)).toBeGreaterThan(0.8);
  });
});

describe("odd tables", () => {
  const reason = { absent: "no comparable pairs" };
  test("nothing to compare", () => {
    for (const outcomes of [
      outcomesOf([], []),
      outcomesOf([1], [1]),
      outcomesOf([1, 2, 3], [0, 0, 0]),
      outcomesOf([2, 2], [1, 1]),
    ]) {
      const risk = outcomes.time;
      expect(concordanceHarrell(outcomes, risk).c).toEqual(reason);
      for (const convention of CONVENTIONS)
        expect(concordanceUno(outcomes, risk, { convention }).c).toEqual(reason);
    }
  });

  test("an event after every training row was censored has no weight", () => {
    const censoring = outcomesOf([1, 2], [0, 0]);
    const uno = concordanceUno(outcomesOf([3, 4], [1, 1]), [1, 0], { convention: "mlr3proba", censoring });
    expect(uno.c).toEqual({
      absent: "everyone was censored before an event time: its censoring weight is infinite",
    });
    expect([uno.concordant, uno.discordant, uno.tiedRisk]).toEqual([0, 0, 0]);
  });

  test("infinite and signed zero scores are ordinary, NaN is refused", () => {
    const outcomes = outcomesOf([1, 2, 3], [1, 1, 0]);
    const { concordant, tiedRisk } = concordanceHarrell(outcomes, [Number.POSITIVE_INFINITY, 0, -0]);
    expect([concordant, tiedRisk]).toEqual([2, 1]);
    expect(() => concordanceHarrell(outcomes, [1, Number.NaN, 0])).toThrow("risk is not a number: row 2");
    expect(() => concordanceHarrell(outcomes, [1, 0])).toThrow("risk: 2 values for 3 rows");
  });
});
