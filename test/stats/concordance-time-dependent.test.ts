import fc from "fast-check";
import { describe, expect, test } from "vitest";
import { isAbsent, type Measured } from "../../src/core/measured.ts";
import { createRandom } from "../../src/core/random.ts";
import {
  concordanceAntolini,
  concordanceHalfTies,
  concordancePaper,
  type TimeDependentPairs,
  timeDependentPairs,
} from "../../src/stats/concordance/time-dependent.ts";
import { expectClose, loadPrediction, PREDICTIONS, readOracle, texts } from "./oracle-tables.ts";
import { repeatRows, takeBinned, takeCurves, timeDependentPairsSlowly } from "./slow-twins.ts";

function present(value: Measured): number {
  if (isAbsent(value)) throw new Error(`absent: ${value.absent}`);
  return value;
}

const binnedOf = (T: number, bin: number[], event: number[]) => ({
  T,
  bin: Int32Array.from(bin),
  event: Uint8Array.from(event),
});

test("worked by hand: one pair of every kind", () => {
  // Bin 1: events 0 (S ½) and 1 (S ½), censored 2 (S ½) and 3 (S ¾). Bin 2: event 4 (S(1) ¼, S(2) ¼). Bin 3: censored 5
  // (½, ½).
  const curves = {
    N: 6,
    T: 3,
    survival: Float64Array.from([0.5, 0.5, 0.5, 0.75, 0.25, 0.5].flatMap((S) => [S, S, S])),
  };
  const counts = timeDependentPairs(curves, binnedOf(3, [1, 1, 1, 1, 2, 3], [1, 1, 0, 0, 1, 0]));
  expect(counts).toEqual({
    pairs: 5, // 0 and 1 with 4 and 5; 4 with 5
    concordant: 1, // 4 with 5
    tied: 2, // 0 and 1 with 5
    censoredPairs: 4,
    censoredConcordant: 2, // 0 and 1 with 3
    censoredTied: 2, // 0 and 1 with 2
    eventPairs: 1,
    eventTied: 1,
  });
  expectClose(present(concordancePaper(counts)), 1 / 5, "paper");
  expectClose(present(concordanceHalfTies(counts)), 2 / 5, "half ties");
  expectClose(present(concordanceAntolini(counts, "antolini")), 3 / 9, "Antolini");
  expectClose(
    present(concordanceAntolini(counts, "adj_antolini")),
    (2 + 2 * 3 + 2 * 1) / (5 + 2 * 4 + 2 * 1),
    "adjusted",
  );
});

interface Scores {
  readonly n: number;
  readonly C_td: number;
  readonly C_td_numerator: number;
  readonly C_td_pairs: number;
  readonly C_td_tied_predictions: number;
  readonly C_td_half_ties: number;
  readonly C_td_numerator_comparing_S: number;
  readonly C_td_ties_comparing_S: number;
  readonly C_td_incl_equal_time_censored_half_ties: number;
}

interface Oracle {
  readonly overall: Scores;
  readonly subgroups: Readonly<Record<string, Readonly<Record<string, Scores>>>>;
}

describe.each(PREDICTIONS)("R, pair by pair, on %s", async (name) => {
  const oracle = readOracle<Oracle>(`pred/${name}.json`);
  const { curves, binned, table } = await loadPrediction(name);

  function check(counts: TimeDependentPairs, theirs: Scores): void {
    expect(counts.pairs).toBe(theirs.C_td_pairs);
    expect(counts.concordant).toBe(theirs.C_td_numerator_comparing_S);
    expect(counts.concordant).toBe(theirs.C_td_numerator);
    expect(counts.tied).toBe(theirs.C_td_ties_comparing_S);
    expect(counts.tied).toBe(theirs.C_td_tied_predictions);
    expectClose(present(concordancePaper(counts)), theirs.C_td, "paper");
    expectClose(present(concordanceHalfTies(counts)), theirs.C_td_half_ties, "half ties");
    const right = counts.concordant + counts.censoredConcordant + (counts.tied + counts.censoredTied) / 2;
    const withCensored = right / (counts.pairs + counts.censoredPairs);
    expectClose(withCensored, theirs.C_td_incl_equal_time_censored_half_ties, "with the censored of the bin");
  }

  test("overall", () => check(timeDependentPairs(curves, binned), oracle.overall));

  test.each(Object.keys(oracle.subgroups))("by %s", (by) => {
    const values = texts(table, by);
    for (const [level, theirs] of Object.entries(oracle.subgroups[by])) {
      const rows = [...values.keys()].filter((row) => values[row] === level);
      expect(rows.length).toBe(theirs.n);
      check(timeDependentPairs(curves, binned, { rows }), theirs);
      const weights = values.map((value) => (value === level ? 1 : 0));
      check(timeDependentPairs(curves, binned, { weights }), theirs);
    }
  });
});

interface AntoliniCase {
  readonly T: number;
  readonly bin: number[];
  readonly event: number[];
  readonly survival: number[];
  readonly antolini: number;
  readonly adj_antolini: number;
}

describe("pycox on tables full of ties", () => {
  const { antolini } = readOracle<{ antolini: readonly AntoliniCase[] }>("peers/concordance.json");
  test.each(antolini.map((one, k) => [k, one] as const))("table %d", (_, one) => {
    const curves = { N: one.bin.length, T: one.T, survival: Float64Array.from(one.survival) };
    const counts = timeDependentPairs(curves, binnedOf(one.T, one.bin, one.event));
    expectClose(present(concordanceAntolini(counts, "antolini")), one.antolini, "Antolini");
    expectClose(present(concordanceAntolini(counts, "adj_antolini")), one.adj_antolini, "adjusted");
  });
});

const T = 5;
const tiedRow = fc.record({
  bin: fc.integer({ min: 1, max: T }),
  event: fc.integer({ min: 0, max: 1 }),
  curve: fc.array(fc.integer({ min: 0, max: 3 }), { minLength: T, maxLength: T }),
  weight: fc.integer({ min: 0, max: 3 }),
});

describe("the fast form counts what the definition counts", () => {
  test("with heavy ties, in float64 and float32, weighted and on some rows", () => {
    fc.assert(
      fc.property(fc.array(tiedRow, { maxLength: 30 }), (rows) => {
        const curves = {
          N: rows.length,
          T,
          survival: Float64Array.from(rows.flatMap((row) => row.curve.map((k) => k / 3))),
        };
        const binned = binnedOf(
          T,
          rows.map((row) => row.bin),
          rows.map((row) => row.event),
        );
        const slow = timeDependentPairsSlowly(curves, binned);
        expect(timeDependentPairs(curves, binned)).toEqual(slow);
        const single = { ...curves, survival: Float32Array.from(curves.survival) };
        expect(timeDependentPairs(single, binned)).toEqual(slow);

        const weights = rows.map((row) => row.weight);
        const repeated = repeatRows(weights);
        const twice = timeDependentPairsSlowly(takeCurves(curves, repeated), takeBinned(binned, repeated));
        expect(timeDependentPairs(curves, binned, { weights })).toEqual(twice);

        const some = [...rows.keys()].filter((row) => row % 2 === 0);
        const half = timeDependentPairsSlowly(takeCurves(curves, some), takeBinned(binned, some));
        expect(timeDependentPairs(curves, binned, { rows: some })).toEqual(half);
      }),
      { seed: 8, numRuns: 300 },
    );
  });

  test("more rows than a block: a table repeated 1,200 times is that table with weights of 1,200", () => {
    const random = createRandom(10);
    const [N, bins, times] = [30, 4, 1200];
    const survival = Float32Array.from({ length: N * bins }, () => random.integer(7) / 7);
    const curves = { N, T: bins, survival };
    const binned = binnedOf(
      bins,
      Array.from({ length: N }, () => 1 + random.integer(bins)),
      Array.from({ length: N }, () => random.integer(2)),
    );
    const weights = new Array<number>(N).fill(times);
    const repeated = repeatRows(weights);
    expect(timeDependentPairs(takeCurves(curves, repeated), takeBinned(binned, repeated))).toEqual(
      timeDependentPairs(curves, binned, { weights }),
    );
    expect(timeDependentPairs(curves, binned, { rows: repeated })).toEqual(
      timeDependentPairs(curves, binned, { weights }),
    );
  });

  test("values a rounding apart, and one far from all others, are found in their place", () => {
    const near = Array.from({ length: 40 }, (_, k) => 0.5 + k * 2 ** -53 + (k === 39 ? 0.4 : 0));
    const survival = Float64Array.from([...near, ...near, 0, 1, 5e-324].flatMap((S) => [S, S]));
    const N = survival.length / 2;
    const curves = { N, T: 2, survival };
    const bin = Array.from({ length: N }, (_, row) => (row < 40 ? 1 : 2));
    const binned = binnedOf(
      2,
      bin,
      bin.map((t) => (t === 1 ? 1 : 0)),
    );
    expect(timeDependentPairs(curves, binned)).toEqual(timeDependentPairsSlowly(curves, binned));
  });

  test("1,500 rows of 40 bins", () => {
    const random = createRandom(9);
    const N = 1500;
    const bins = 40;
    const survival = new Float64Array(N * bins);
    const bin = new Int32Array(N);
    const event = new Uint8Array(N);
    for (let row = 0; row < N; row++) {
      const risk = Math.exp(random.normal() / 2);
      for (let t = 1; t <= bins; t++)
        survival[row * bins + t - 1] = Math.round(1000 * Math.exp((-risk * t) / bins)) / 1000;
      bin[row] = 1 + random.integer(bins);
      event[row] = random.uniform() < 0.3 ? 1 : 0;
    }
    const curves = { N, T: bins, survival };
    const binned = { T: bins, bin, event };
    expect(timeDependentPairs(curves, binned)).toEqual(timeDependentPairsSlowly(curves, binned));
  });
});

describe("odd tables", () => {
  const reason = { absent: "no comparable pairs" };
  const everyVariant = (counts: TimeDependentPairs) => [
    concordancePaper(counts),
    concordanceHalfTies(counts),
    concordanceAntolini(counts, "antolini"),
    concordanceAntolini(counts, "adj_antolini"),
  ];

  test("nothing to compare", () => {
    const none = { N: 0, T: 3, survival: new Float64Array(0) };
    const two = { N: 2, T: 3, survival: new Float64Array(6).fill(0.5) };
    const one = { N: 1, T: 3, survival: new Float64Array(3).fill(0.5) };
    for (const counts of [
      timeDependentPairs(none, binnedOf(3, [], [])),
      timeDependentPairs(one, binnedOf(3, [2], [1])),
      timeDependentPairs(two, binnedOf(3, [1, 2], [0, 0])),
      timeDependentPairs(two, binnedOf(3, [1, 2], [1, 1]), { weights: [0, 1] }),
    ]) {
      for (const variant of everyVariant(counts)) expect(variant).toEqual(reason);
    }
  });

  test("what cannot be meant is refused", () => {
    const curves = { N: 2, T: 2, survival: Float64Array.of(0.5, 0.4, Number.NaN, 0.3) };
    const binned = binnedOf(2, [1, 2], [1, 0]);
    expect(() => timeDependentPairs(curves, binned)).toThrow("a predicted survival is not a number: bin 1");
    expect(() => timeDependentPairs(curves, binnedOf(2, [1], [1]))).toThrow("bin: 1 values for 2 rows");
    expect(() => timeDependentPairs(curves, binnedOf(3, [1, 2], [1, 0]))).toThrow(
      "curves and outcomes are on different grids: 2 and 3 bins",
    );
    expect(() => timeDependentPairs(curves, binnedOf(2, [1, 3], [1, 0]))).toThrow("bin outside 1…2: 3");
  });
});
