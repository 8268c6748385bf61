import { readFileSync } from "node:fs";
import fc from "fast-check";
import { describe, expect, test } from "vitest";
import { absent, isAbsent } from "../../src/core/measured.ts";
import type { RightCensored } from "../../src/data/outcomes/outcomes.ts";
import { readTable, tableSourceFromBytes } from "../../src/data/reading/read-table.ts";
import { cellText, findColumn } from "../../src/data/table.ts";
import { stepValue } from "../../src/stats/censoring.ts";
import {
  type BrierConvention,
  type BrierInput,
  brierBinned,
  brierScore,
  integrateBrier,
  integratedBrier,
  MLR3PROBA_EPSILON,
  mlr3probaTimes,
} from "../../src/stats/scores/brier.ts";
import {
  expectRelative,
  expectRelativeAll,
  loadPredictions,
  numbersOf,
  PREDICTION_NAMES,
  present,
  readOracleJson,
} from "./prediction-oracles.ts";
import { createTiedTable, repeatOutcomes, repeatRows, slowBrier } from "./slow-twins-calibration.ts";

const TOLERANCE = 1e-10;
const CONVENTIONS: readonly BrierConvention[] = ["r", "scikit-survival", "pycox", "mlr3proba"];

function outcomesOf(rows: { time: number[]; event: number[] }): RightCensored {
  return { time: Float64Array.from(rows.time), event: Uint8Array.from(rows.event) };
}

describe.each(PREDICTION_NAMES)("on bins: %s", async (name) => {
  const { curves, binned, groups } = await loadPredictions(name);

  test.each(groups)("$name: both tie rules as in R", ({ scores, weights }) => {
    for (const ties of ["reverse", "simple"] as const) {
      const result = present(
        brierBinned(curves, binned, { ties, ...(weights === undefined ? {} : { weights }) }),
      );
      expectRelative(result.ibs, scores.IBS[`mean_t1_tau_G_${ties}`], TOLERANCE, "mean");
      expectRelative(
        present(result.ibsTrapezoid),
        scores.IBS[`trapz_1_tau_G_${ties}`],
        TOLERANCE,
        "trapezoid",
      );
      const expected = scores[`brier_G_${ties}_t1_tau`];
      if (expected) expectRelativeAll(result.brier, expected, TOLERANCE, ties);
    }
  });
});

interface CoxOracle {
  readonly eventTime: number[];
  readonly H0: number[];
  readonly coef?: Record<string, number>;
  readonly time?: number[];
  readonly event?: number[];
  readonly lp?: number[];
  readonly brier: {
    times: number[];
    brier_G_reverse: number[];
    tstar: number;
    ibs_G_reverse: number;
    riskRegression_brier?: number[];
    /** From time 0 on, which the others leave out. */
    pec_brier?: number[];
  };
}

const COX = readOracleJson<Record<string, CoxOracle>>("r/brier.json");

/** Outcomes and the Breslow Cox linear predictor: stored, or coefficients times columns of the bundled table. */
async function loadCox(name: string): Promise<{ outcomes: RightCensored; lp: Float64Array }> {
  const oracle = COX[name];
  if (oracle.time && oracle.event && oracle.lp) {
    return {
      outcomes: outcomesOf({ time: oracle.time, event: oracle.event }),
      lp: Float64Array.from(oracle.lp),
    };
  }
  const bytes = readFileSync(new URL(`../../datasets/${name}/${name}.csv`, import.meta.url));
  const table = await readTable(tableSourceFromBytes(name, new Uint8Array(bytes)));
  const lp = new Float64Array(table.rows);
  for (const [term, coefficient] of Object.entries(oracle.coef ?? {})) {
    // "stage3" is the indicator of stage 3, "sexM" of sex M; other terms are columns.
    const [, column, level] = /^(histol|stage|study|sex)(.)$/.exec(term) ?? [undefined, term, undefined];
    const values = findColumn(table, column);
    const numbers = level === undefined ? numbersOf(table, column) : undefined;
    for (let row = 0; row < table.rows; row++) {
      lp[row] +=
        coefficient * (numbers === undefined ? Number(cellText(values, row) === level) : numbers[row]);
    }
  }
  const [time, event] = name === "nwtco" ? ["edrel", "rel"] : ["futime", "death"];
  return {
    outcomes: { time: numbersOf(table, time), event: Uint8Array.from(numbersOf(table, event)) },
    lp,
  };
}

/** S(t|x) = exp(−H0(t) e^lp), [N,K]. */
function predictCox(oracle: CoxOracle, lp: Float64Array, times: ArrayLike<number>): Float64Array {
  const baseline = Array.from(times, (t) => stepValue(oracle.eventTime, oracle.H0, t, false, 0));
  const K = baseline.length;
  const survival = new Float64Array(lp.length * K);
  for (let i = 0; i < lp.length; i++) {
    const risk = Math.exp(lp[i]);
    for (let k = 0; k < K; k++) survival[i * K + k] = Math.exp(-baseline[k] * risk);
  }
  return survival;
}

describe.each(Object.keys(COX))("r convention at raw times: %s", async (name) => {
  const oracle = COX[name];
  const { outcomes, lp } = await loadCox(name);

  test("deciles as by definition in R, by riskRegression and by pec", () => {
    const { times, brier_G_reverse, riskRegression_brier, pec_brier } = oracle.brier;
    const { brier } = brierScore({
      outcomes,
      times,
      survival: predictCox(oracle, lp, times),
      convention: "r",
    });
    expectRelativeAll(brier.map(present), brier_G_reverse, TOLERANCE, "Brier");
    if (riskRegression_brier)
      expectRelativeAll(brier.map(present), riskRegression_brier, TOLERANCE, "Score()");
    if (pec_brier) expectRelativeAll(brier.map(present), pec_brier.slice(1), TOLERANCE, "pec()");
  });

  test("exact integral up to the 90 % quantile", () => {
    const { tstar, ibs_G_reverse } = oracle.brier;
    const before = outcomes.time.filter((time) => time < tstar);
    const grid = [...new Set([0, ...before.sort(), tstar])];
    // A few times at once keeps the matrix small on the larger tables.
    const brier: number[] = [];
    for (let k = 0; k < grid.length; k += 100) {
      const times = grid.slice(k, k + 100);
      const part = brierScore({ outcomes, times, survival: predictCox(oracle, lp, times), convention: "r" });
      brier.push(...part.brier.map(present));
    }
    const integral = present(integrateBrier({ times: Float64Array.from(grid), brier }, "r"));
    expectRelative(integral, ibs_G_reverse, TOLERANCE, "IBS");
  });
});

interface PeerScores {
  readonly brier: number[];
  readonly ibs: number;
  readonly refused?: string;
}

interface PeerCase {
  readonly name: string;
  readonly times: number[];
  readonly test: { time: number[]; event: number[] };
  readonly training: { time: number[]; event: number[] };
  readonly survival: number[][];
  readonly scikitSurvival: PeerScores;
  readonly scikitSurvivalSameRows: PeerScores;
  readonly pycox: PeerScores;
  readonly pycoxMaxWeight: PeerScores;
  readonly pycoxTraining: PeerScores;
}

const PEERS = readOracleJson<{ maxWeight: number; cases: PeerCase[] }>("peers/brier.json");

describe.each(PEERS.cases)("peers: $name", (peer) => {
  const shared = {
    outcomes: outcomesOf(peer.test),
    times: peer.times,
    survival: Float64Array.from(peer.survival.flat()),
  };
  const training = outcomesOf(peer.training);

  function expectPeer(input: BrierInput, expected: PeerScores): void {
    expectRelativeAll(brierScore(input).brier.map(present), expected.brier, TOLERANCE, "Brier");
    expectRelative(present(integratedBrier(input)), expected.ibs, TOLERANCE, "IBS");
  }

  test("scikit-survival, G from training rows", () => {
    const input: BrierInput = { ...shared, training, convention: "scikit-survival" };
    if (peer.scikitSurvival.refused === undefined) {
      expectPeer(input, peer.scikitSurvival);
      return;
    }
    // It refuses the whole call; here the times within the training follow-up keep their scores.
    expect(peer.scikitSurvival.refused).toContain("time must be smaller than largest observed time point");
    const { brier } = brierScore(input);
    const last = Math.max(...peer.training.time);
    brier.forEach((score, k) => {
      expect(isAbsent(score)).toBe(peer.times[k] > last);
    });
    expect(isAbsent(integratedBrier(input))).toBe(true);
  });

  test("scikit-survival, G from the scored rows", () => {
    expectPeer({ ...shared, convention: "scikit-survival" }, peer.scikitSurvivalSameRows);
  });

  test("pycox, with and without a largest weight", () => {
    expectPeer({ ...shared, convention: "pycox" }, peer.pycox);
    expectPeer({ ...shared, convention: "pycox", maxWeight: PEERS.maxWeight }, peer.pycoxMaxWeight);
  });

  test("pycox, G from training rows", () => {
    expectPeer({ ...shared, training, convention: "pycox" }, peer.pycoxTraining);
  });
});

describe("worked by hand: events at 1, 2, 3, 5, censored at 2, 4; S = 3/4, 1/2, 1/2, 1/4, 1/4 for everyone", () => {
  const outcomes = outcomesOf({ time: [1, 2, 2, 3, 4, 5], event: [1, 1, 0, 1, 0, 1] });
  const times = [1, 2, 3, 4, 5];
  const survival = Float64Array.from({ length: 30 }, (_, k) => [3 / 4, 1 / 2, 1 / 2, 1 / 4, 1 / 4][k % 5]);
  const input = { outcomes, times, survival };

  test("mlr3proba: G(2) = 4/5, G(4) = 2/5, events weigh 1, 5/4, 5/4, 5/2", () => {
    const { brier } = brierScore({ ...input, convention: "mlr3proba" });
    expectRelativeAll(brier.map(present), [7 / 48, 1 / 4, 1 / 4, 13 / 48, 1 / 16], 1e-14, "Brier");
    // Trapezoids in 48ths: 19/2 + 12 + 25/2 + 8 = 42, over a range of 4.
    expectRelative(present(integratedBrier({ ...input, convention: "mlr3proba" })), 7 / 32, 1e-14, "IBS");
  });

  test("r: G(2) = 3/4, G(4) = 3/8, events weigh 1, 1, 4/3, 8/3", () => {
    const { brier } = brierScore({ ...input, convention: "r" });
    expectRelativeAll(brier.map(present), [7 / 48, 1 / 4, 1 / 4, 41 / 144, 1 / 16], 1e-14, "Brier");
    // Held until the next time: (7/48 + 1/4 + 1/4 + 41/144)/4.
    expectRelative(present(integratedBrier({ ...input, convention: "r" })), 134 / 144 / 4, 1e-14, "IBS");
  });

  test("scikit-survival: G as r, events weigh 1, 4/3, 4/3; nothing from the last time on", () => {
    const { brier } = brierScore({ ...input, convention: "scikit-survival" });
    expectRelativeAll(brier.slice(0, 4).map(present), [7 / 48, 19 / 72, 19 / 72, 83 / 288], 1e-14, "Brier");
    const outside = absent("time 5 is outside the follow-up of the scored rows, 1 to below 5");
    expect(brier[4]).toEqual(outside);
    expect(integratedBrier({ ...input, convention: "scikit-survival" })).toEqual(outside);
  });

  test("pycox: events weigh 1, 1, 5/4, 5/2, divided by the weights", () => {
    const { brier } = brierScore({ ...input, convention: "pycox" });
    expectRelativeAll(brier.map(present), [7 / 48, 1 / 4, 1 / 4, 103 / 368, 1 / 16], 1e-14, "Brier");
    const simpson = (7 / 48 + 4 / 4 + 2 / 4 + (4 * 103) / 368 + 1 / 16) / 3 / 4;
    expectRelative(present(integratedBrier({ ...input, convention: "pycox" })), simpson, 1e-14, "IBS");
  });

  test("mlr3proba's grid ends with the first time at which more than pMax have left", () => {
    // 1 − atRisk/n: 0, 1/6, 1/2, 2/3, 5/6.
    expect(Array.from(mlr3probaTimes(outcomes))).toEqual([1, 2, 3, 4, 5]);
    expect(Array.from(mlr3probaTimes(outcomes, { pMax: 0.6 }))).toEqual([1, 2, 3, 4]);
    expect(Array.from(mlr3probaTimes(outcomes, { pMax: 0.5 }))).toEqual([1, 2, 3, 4]);
    expect(Array.from(mlr3probaTimes(outcomes, { pMax: 0 }))).toEqual([1, 2]);
    expect(Array.from(mlr3probaTimes(outcomes, { pMax: 1 }))).toEqual([1, 2, 3, 4, 5]);
    expect(Array.from(mlr3probaTimes(outcomes, { pMax: 0.6, weights: [0, 1, 1, 1, 1, 6] }))).toEqual([
      2, 3, 4, 5,
    ]);
  });

  test("mlr3proba does not integrate over one time", () => {
    const one = { outcomes, times: [2], survival: new Float64Array(6).fill(1 / 2) };
    expectRelative(present(integratedBrier({ ...one, convention: "mlr3proba" })), 1 / 4, 1e-14, "IBS");
    for (const convention of ["r", "pycox", "scikit-survival"] as const) {
      expect(integratedBrier({ ...one, convention })).toEqual(
        absent("fewer than two times to integrate over"),
      );
    }
  });
});

describe("G reaching 0 in the training rows", () => {
  // G is 1/2 from 1 on and 0 from 2 on.
  const training = outcomesOf({ time: [1, 2], event: [0, 0] });
  const outcomes = outcomesOf({ time: [1, 3, 4], event: [1, 1, 0] });
  const survival = new Float64Array(9).fill(0.5);
  const input = { outcomes, training, survival, times: [1, 2, 3] };

  test("r and pycox have no score where a row needs it", () => {
    const reason = (time: number) =>
      absent(`the censoring distribution of the training rows is 0 or unknown at or before time ${time}`);
    const r = brierScore({ ...input, convention: "r" }).brier;
    expect(r).toEqual([(0.25 + 2 * 0.5) / 3, reason(2), reason(3)]);
    const pycox = brierScore({ ...input, convention: "pycox" }).brier;
    expect(pycox).toEqual([0.25, reason(2), reason(3)]);
    // A largest weight makes it defined again.
    expect(brierScore({ ...input, convention: "pycox", maxWeight: 4 }).brier).toEqual([0.25, 0.25, 0.25]);
  });

  test("scikit-survival gives weight 0, mlr3proba 1/0.001", () => {
    const scikit = brierScore({ ...input, convention: "scikit-survival" }).brier;
    expect(scikit).toEqual([(2 * 0.25 + 4 * 0.25) / 3, 0.5 / 3, 0.5 / 3]);
    const mlr3proba = brierScore({ ...input, convention: "mlr3proba" }).brier.map(present);
    const large = 0.25 / MLR3PROBA_EPSILON;
    expectRelativeAll(mlr3proba, [0.5, (0.5 + 2 * large) / 3, (0.5 + 2 * large) / 3], 1e-14, "Brier");
    // Only an exact 0 is replaced, a small positive G is not: 999 of 1000 censored leave G = 0.001, of 2001 less.
    for (const rows of [1000, 2001]) {
      const time = Array.from({ length: rows }, (_, i) => (i === 0 ? 9 : 1));
      const event = time.map((value) => (value === 9 ? 1 : 0));
      const many = { ...input, training: outcomesOf({ time, event }), times: [2] };
      const score = brierScore({ ...many, survival: new Float64Array(3).fill(0.5), convention: "mlr3proba" });
      expectRelative(present(score.brier[0]), (3 * 0.25 * rows) / 3, 1e-9, `${rows} rows`);
    }
  });
});

describe("slow twins on heavily tied tables", () => {
  test.each([1, 2, 3])("on bins and at raw times, seed %i", (seed) => {
    const T = 6;
    const table = createTiedTable(seed, 120, T);
    const outcomes: RightCensored = { time: Float64Array.from(table.binned.bin), event: table.binned.event };
    for (const ties of ["reverse", "simple"] as const) {
      const { brier } = present(brierBinned(table.curves, table.binned, { ties }));
      for (let t = 1; t <= T; t++) {
        const survivalAt = (row: number) => table.curves.survival[row * T + t - 1];
        const slow = slowBrier({ outcomes, survivalAt, at: t, ties, leftLimit: true });
        expectRelative(brier[t - 1], slow, 1e-12, `${ties}, bin ${t}`);
      }
    }
    // G is not 0 before the last bin, where mlr3proba's substitute would come in.
    const times = [1, 2, 3, 4, 5];
    const survival = Float64Array.from({ length: 120 * 5 }, (_, k) => {
      return table.curves.survival[Math.floor(k / 5) * T + (k % 5)];
    });
    const raw = { outcomes, times, survival };
    for (const [convention, ties, leftLimit] of [
      ["r", "reverse", true],
      ["mlr3proba", "simple", false],
      ["scikit-survival", "reverse", false],
    ] as const) {
      const { brier } = brierScore({ ...raw, convention });
      times.forEach((at, k) => {
        const slow = slowBrier({ outcomes, survivalAt: (row) => survival[row * 5 + k], at, ties, leftLimit });
        expectRelative(present(brier[k]), slow, 1e-12, `${convention} at ${at}`);
      });
    }
  });

  test("the r convention at the bins is the binned score", () => {
    const table = createTiedTable(9, 80, 5);
    const outcomes: RightCensored = { time: Float64Array.from(table.binned.bin), event: table.binned.event };
    const { brier } = brierScore({
      outcomes,
      times: [1, 2, 3, 4, 5],
      survival: table.curves.survival,
      convention: "r",
    });
    const binned = present(brierBinned(table.curves, table.binned)).brier;
    expectRelativeAll(binned, brier.map(present), 1e-13, "Brier");
  });
});

describe("weight w is the row w times", () => {
  const weightsOf = (length: number) =>
    fc.array(fc.integer({ min: 0, max: 3 }), { minLength: length, maxLength: length });

  test("on bins", () => {
    fc.assert(
      fc.property(fc.integer({ min: 1, max: 1000 }), weightsOf(15), (seed, weights) => {
        const table = createTiedTable(seed, 15, 4);
        const repeated = repeatRows(table, weights);
        for (const ties of ["reverse", "simple"] as const) {
          const fast = brierBinned(table.curves, table.binned, { ties, weights });
          const slow = brierBinned(repeated.curves, repeated.binned, { ties });
          expect(isAbsent(fast)).toBe(isAbsent(slow));
          if (isAbsent(fast) || isAbsent(slow)) continue;
          expectRelativeAll(fast.brier, Array.from(slow.brier), 1e-12, "Brier");
        }
      }),
      { seed: 20250711, numRuns: 150 },
    );
  });

  test("at raw times, in every convention, in scored and training rows", () => {
    fc.assert(
      fc.property(
        fc.integer({ min: 1, max: 1000 }),
        weightsOf(12),
        weightsOf(12),
        (seed, weights, trainingWeights) => {
          const table = createTiedTable(seed, 12, 4);
          const other = createTiedTable(seed + 1, 12, 4);
          const outcomes: RightCensored = {
            time: Float64Array.from(table.binned.bin),
            event: table.binned.event,
          };
          const training: RightCensored = {
            time: Float64Array.from(other.binned.bin),
            event: other.binned.event,
          };
          const repeated = repeatRows(table, weights);
          for (const convention of CONVENTIONS) {
            for (const withTraining of [false, true]) {
              const fast = brierScore({
                outcomes,
                times: [1, 2, 3, 4],
                survival: table.curves.survival,
                convention,
                weights,
                ...(withTraining ? { training, trainingWeights } : {}),
              });
              const slow = brierScore({
                outcomes: repeatOutcomes(outcomes, weights),
                times: [1, 2, 3, 4],
                survival: repeated.curves.survival,
                convention,
                ...(withTraining ? { training: repeatOutcomes(training, trainingWeights) } : {}),
              });
              fast.brier.forEach((score, k) => {
                const twin = slow.brier[k];
                if (isAbsent(score) || isAbsent(twin)) expect(score).toEqual(twin);
                else expectRelative(score, twin, 1e-12, `${convention} at ${k + 1}`);
              });
            }
          }
        },
      ),
      { seed: 20250712, numRuns: 150 },
    );
  });
});

describe("ordinary data that has no answer, and what is refused", () => {
  const one = outcomesOf({ time: [3], event: [0] });

  test("nobody, one censored row, one bin", () => {
    const curves = { N: 1, T: 1, survival: Float64Array.of(0.5) };
    const binned = { T: 1, bin: Int32Array.of(1), event: Uint8Array.of(0) };
    expect(brierBinned(curves, binned, { weights: [0] })).toEqual(absent("no rows"));
    expect(brierBinned(curves, binned)).toEqual({
      brier: Float64Array.of(0),
      ibs: 0,
      ibsTrapezoid: absent("only one bin"),
    });
    for (const convention of CONVENTIONS) {
      const nobody = brierScore({ outcomes: one, times: [1], survival: [0.5], convention, weights: [0] });
      expect(nobody.brier).toEqual([absent("no rows")]);
      const untrained = brierScore({
        outcomes: one,
        times: [1],
        survival: [0.5],
        convention,
        training: one,
        trainingWeights: [0],
      });
      expect(untrained.brier).toEqual([absent("no training rows")]);
    }
    expect(
      brierScore({ outcomes: one, times: [2, 3], survival: [0.5, 0.5], convention: "pycox" }).brier,
    ).toEqual([0.25, absent("every row is censored by time 3")]);
    expect(brierScore({ outcomes: one, times: [2, 3], survival: [0.5, 0.5], convention: "r" }).brier).toEqual(
      [0.25, 0],
    );
    expect(integrateBrier({ times: new Float64Array(0), brier: [] }, "r")).toEqual(
      absent("fewer than two times to integrate over"),
    );
  });

  test("wrong sizes and orders", () => {
    const input: BrierInput = { outcomes: one, times: [1, 2], survival: [0.5, 0.4], convention: "r" };
    expect(() => brierScore({ ...input, survival: [0.5] })).toThrow(
      "survival: 1 values for 1 rows and 2 times",
    );
    expect(() => brierScore({ ...input, times: [2, 2] })).toThrow("times are not ascending: 2 at position 2");
    expect(() => brierScore({ ...input, times: [Number.NaN, 2] })).toThrow(
      "times are not ascending: NaN at position 1",
    );
    expect(() => brierScore({ ...input, trainingWeights: [1] })).toThrow(
      "training weights without training rows",
    );
    expect(() => brierScore({ ...input, weights: [-1] })).toThrow(
      "a row weight is not a non-negative number: -1",
    );
  });
});
