import fc from "fast-check";
import { describe, expect, test } from "vitest";
import { censoringKaplanMeier, censoringKaplanMeierBinned, stepValue } from "../../src/stats/censoring.ts";
import {
  groupSupport,
  type IntervalScale,
  kaplanMeier,
  kaplanMeierBinned,
} from "../../src/stats/kaplan-meier.ts";
import {
  DATASETS,
  type Dataset,
  expectClose,
  expectColumn,
  type Json,
  type KaplanMeierOracle,
  loadDataset,
  loadTiny,
  readOracle,
  type TableOracle,
  TINY,
} from "./oracle-tables.ts";
import { repeatRows, takeBinned, takeOutcomes } from "./slow-twins.ts";

const outcomesOf = (time: number[], event: number[]) => ({
  time: Float64Array.from(time),
  event: Uint8Array.from(event),
});
const binnedOf = (T: number, bin: number[], event: number[]) => ({
  T,
  bin: Int32Array.from(bin),
  event: Uint8Array.from(event),
});

describe("worked by hand", () => {
  // Six rows: at 1 an event of 6 at risk, at 2 an event and a censoring of 5, at 4 two events of 3, at 5 a censoring of
  // 1.
  const outcomes = outcomesOf([4, 1, 2, 2, 5, 4], [1, 1, 1, 0, 0, 1]);

  test("counts, survival, Greenwood, Nelson-Aalen", () => {
    const km = kaplanMeier(outcomes);
    expect([...km.time]).toEqual([1, 2, 4, 5]);
    expect([...km.atRisk]).toEqual([6, 5, 3, 1]);
    expect([...km.events]).toEqual([1, 1, 2, 0]);
    expect([...km.censored]).toEqual([0, 1, 0, 1]);
    expectColumn(km.survival, [5 / 6, 2 / 3, 2 / 9, 2 / 9], "S");
    expectColumn(km.cumulativeHazard, [1 / 6, 11 / 30, 31 / 30, 31 / 30], "Λ");
    expectColumn(km.greenwood, [1 / 30, 1 / 30 + 1 / 20, 1 / 12 + 2 / 3, 3 / 4], "Greenwood");
    expectColumn(km.variance, [25 / 36 / 30, 4 / 9 / 12, (4 / 81) * (3 / 4), 1 / 27], "variance");
  });

  test("censoring: the event at 2 is still at risk of it, or has left", () => {
    const simple = censoringKaplanMeier(outcomes, { ties: "simple" });
    expectColumn(simple.survival, [1, 4 / 5, 4 / 5, 0], "simple");
    expectColumn(simple.leftLimit, [1, 1, 4 / 5, 4 / 5], "simple, left");
    const reverse = censoringKaplanMeier(outcomes, { ties: "reverse" });
    expectColumn(reverse.survival, [1, 3 / 4, 3 / 4, 0], "reverse");
  });

  test("bins: the same numbers, carried through bin 3", () => {
    const km = kaplanMeierBinned(binnedOf(6, [4, 1, 2, 2, 5, 4], [1, 1, 1, 0, 0, 1]));
    expectColumn(km.survival, [1, 5 / 6, 2 / 3, 2 / 3, 2 / 9, 2 / 9, 2 / 9], "S");
    expectColumn(km.hazard, [0, 1 / 6, 1 / 5, 0, 2 / 3, 0, 0], "h");
    expect([...km.atRisk]).toEqual([6, 6, 5, 3, 3, 1, 0]);
  });

  test("steps are looked up from the right and from the left", () => {
    const times = [1, 2, 4];
    const values = [0.9, 0.5, 0.1];
    expect([0.5, 1, 3, 4, 9].map((at) => stepValue(times, values, at))).toEqual([1, 0.9, 0.5, 0.1, 0.1]);
    expect([0.5, 1, 3, 4, 9].map((at) => stepValue(times, values, at, true))).toEqual([1, 1, 0.5, 0.5, 0.1]);
    expect(stepValue(times, values, 0, false, 0)).toBe(0);
    expect(stepValue([], [], 3)).toBe(1);
  });

  test("support ends with the last bin that has ten at risk", () => {
    const bin = [...new Array<number>(9).fill(5), 3, 2, 1];
    const binned = binnedOf(8, bin, new Array<number>(12).fill(1));
    expect(groupSupport(binned)).toBe(3);
    expect(groupSupport(binned, { minimumAtRisk: 9 })).toBe(5);
    expect(groupSupport(binned, { minimumAtRisk: 13 })).toBe(0);
    expect(groupSupport(binned, { rows: [0, 1, 9], minimumAtRisk: 3 })).toBe(3);
    expect(groupSupport(binned, { weights: new Array<number>(12).fill(2), minimumAtRisk: 18 })).toBe(5);
  });
});

describe("odd tables", () => {
  test("no rows, one row, nobody but censored", () => {
    expect(kaplanMeier(outcomesOf([], [])).time.length).toBe(0);
    expect([...kaplanMeierBinned(binnedOf(2, [], [])).survival]).toEqual([1, 1, 1]);
    expect([...kaplanMeier(outcomesOf([3], [0])).survival]).toEqual([1]);
    const one = kaplanMeier(outcomesOf([3], [1]));
    expect([...one.survival]).toEqual([0]);
    expect([...one.greenwood]).toEqual([Number.POSITIVE_INFINITY]);
    expect([...one.variance, ...one.lower, ...one.upper]).toEqual([Number.NaN, Number.NaN, Number.NaN]);
  });

  test("what cannot be meant is refused", () => {
    expect(() => kaplanMeier(outcomesOf([1, Number.NaN, 2], [1, 1, 0]))).toThrow(
      "time is not a number: row 2",
    );
    expect(() => kaplanMeier(outcomesOf([1, 2], [1, 1]), { weights: [1, -1] })).toThrow(
      "non-negative number: -1",
    );
    expect(() => kaplanMeier(outcomesOf([1, 2], [1, 1]), { weights: [1] })).toThrow(
      "weights: 1 values for 2 rows",
    );
    expect(() => kaplanMeier(outcomesOf([1], [1]), { level: 95 })).toThrow(
      "confidence level outside (0, 1): 95",
    );
    expect(() => kaplanMeierBinned(binnedOf(3, [0], [1]))).toThrow("bin outside 1…3: 0");
  });
});

test("a weight of 2 is the row twice, of 0 the row absent", () => {
  const row = fc.record({ time: fc.integer({ min: 1, max: 6 }), event: fc.integer({ min: 0, max: 1 }) });
  const weighted = fc.array(fc.tuple(row, fc.integer({ min: 0, max: 3 })), { maxLength: 25 });
  fc.assert(
    fc.property(weighted, (rows) => {
      const weights = rows.map(([, weight]) => weight);
      const outcomes = outcomesOf(
        rows.map(([{ time }]) => time),
        rows.map(([{ event }]) => event),
      );
      const repeated = takeOutcomes(outcomes, repeatRows(weights));
      expect(kaplanMeier(outcomes, { weights })).toEqual(kaplanMeier(repeated));
      for (const ties of ["simple", "reverse"] as const) {
        expect(censoringKaplanMeier(outcomes, { ties, weights })).toEqual(
          censoringKaplanMeier(repeated, { ties }),
        );
      }
      const binned = { T: 7, bin: Int32Array.from(outcomes.time), event: outcomes.event };
      const binnedTwice = takeBinned(binned, repeatRows(weights));
      expect(kaplanMeierBinned(binned, weights)).toEqual(kaplanMeierBinned(binnedTwice));
      expect(groupSupport(binned, { weights })).toBe(groupSupport(binnedTwice));
    }),
    { seed: 1, numRuns: 300 },
  );
});

test("fractional weights still reach 0 exactly when everyone left has the event", () => {
  const km = kaplanMeier(outcomesOf([1, 2, 3, 3], [1, 1, 1, 1]), { weights: [0.1, 0.2, 0.7, 0.3] });
  expect(km.survival[2]).toBe(0);
  const G = censoringKaplanMeier(outcomesOf([1, 2, 3, 3], [0, 1, 0, 0]), {
    ties: "reverse",
    weights: [0.1, 0.2, 0.7, 0.3],
  });
  expect(G.survival[2]).toBe(0);
});

describe.each([...DATASETS, ...TINY])("R's survfit on %s", async (name) => {
  const oracle = readOracle<TableOracle>(`r/${name}.json`);
  const isTiny = name.startsWith("tiny_");
  const data = await (isTiny ? loadTiny(name as (typeof TINY)[number]) : loadDataset(name as Dataset));

  function checkColumns(ours: Readonly<Record<string, ArrayLike<number>>>, theirs: KaplanMeierOracle): void {
    for (const [key, column] of Object.entries(ours)) expectColumn(column, theirs[key], key, theirs.index);
  }

  test("Kaplan-Meier", () => {
    const km = kaplanMeier(data.outcomes);
    expect(km.time.length - 1).toBe(oracle.km.index[oracle.km.index.length - 1]);
    checkColumns(
      {
        time: km.time,
        n_risk: km.atRisk,
        n_event: km.events,
        n_censor: km.censored,
        surv: km.survival,
        greenwood_sum: km.greenwood,
        var_surv: km.variance,
        cumhaz_nelson_aalen: km.cumulativeHazard,
      },
      oracle.km,
    );
  });

  test("censoring", () => {
    const simple = censoringKaplanMeier(data.outcomes, { ties: "simple" });
    const reverse = censoringKaplanMeier(data.outcomes, { ties: "reverse" });
    checkColumns(
      {
        time: simple.time,
        G_simple: simple.survival,
        G_simple_left: simple.leftLimit,
        G_reverse: reverse.survival,
        G_reverse_left: reverse.leftLimit,
      },
      oracle.censoring_km,
    );
  });
});

describe.each(DATASETS)("R's survfit on the bins of %s", async (name) => {
  const oracle = readOracle<TableOracle>(`r/${name}.json`);
  const data = await loadDataset(name);

  test("Kaplan-Meier and censoring", () => {
    const km = kaplanMeierBinned(data.binned);
    const simple = censoringKaplanMeierBinned(data.binned, { ties: "simple" });
    const reverse = censoringKaplanMeierBinned(data.binned, { ties: "reverse" });
    const ours = {
      t: simple.time,
      surv: km.survival,
      var_surv: km.variance,
      greenwood_sum: km.greenwood,
      n_risk: km.atRisk,
      n_event: km.events,
      n_censor: km.censored,
      G_simple: simple.survival,
      G_simple_left: simple.leftLimit,
      G_reverse: reverse.survival,
      G_reverse_left: reverse.leftLimit,
    };
    for (const [key, column] of Object.entries(ours))
      expectColumn(column, oracle.binned[key], `binned ${key}`);
  });
});

interface LimitsOracle {
  readonly level: number;
  readonly index: readonly number[];
  readonly [key: string]: number | readonly Json[];
}

interface Limits {
  readonly limits: Readonly<Record<string, Readonly<Record<string, LimitsOracle>>>>;
}

describe("R's confidence limits", async () => {
  const { limits } = readOracle<Limits>("r/limits.json");
  const scales: Readonly<Record<string, IntervalScale>> = { log: "log", loglog: "log-log", plain: "plain" };
  const sources: Record<string, { data: Awaited<ReturnType<typeof loadDataset>>; group?: string }> = {
    lung: { data: await loadDataset("lung") },
    lung_90: { data: await loadDataset("lung") },
    pbc_stage: { data: await loadDataset("pbc"), group: "stage" },
    gbsg_grade: { data: await loadDataset("gbsg"), group: "grade" },
    nwtco_histol: { data: await loadDataset("nwtco"), group: "histol" },
    flchain_sex: { data: await loadDataset("flchain"), group: "sex" },
  };
  for (const name of TINY) sources[name] = { data: await loadTiny(name) };

  test.each(Object.keys(limits))("%s", (name) => {
    const { data, group } = sources[name];
    for (const [level, oracle] of Object.entries(limits[name])) {
      const rows = [...data.outcomes.time.keys()].filter(
        (row) => group === undefined || data.groups[group][row] === level,
      );
      const outcomes = takeOutcomes(data.outcomes, rows);
      for (const [key, interval] of Object.entries(scales)) {
        const km = kaplanMeier(outcomes, { interval, level: oracle.level });
        expectColumn(
          km.lower,
          oracle[`${key}_lower`] as readonly Json[],
          `${name} ${level} ${key} lower`,
          oracle.index,
        );
        expectColumn(
          km.upper,
          oracle[`${key}_upper`] as readonly Json[],
          `${name} ${level} ${key} upper`,
          oracle.index,
        );
      }
    }
  });

  test("log is the default, and its upper limit stops at 1", () => {
    const km = kaplanMeier(sources.tiny_heavy_ties.data.outcomes);
    expectClose(km.lower[0], (limits.tiny_heavy_ties.all.log_lower as readonly Json[])[0], "lower");
    expect(km.upper.every((value) => Number.isNaN(value) || value <= 1)).toBe(true);
  });
});
