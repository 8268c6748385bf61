// At every door of the library: plain lists, booleans among them, give what typed arrays give; what is neither 0 nor 1
// is no event; and late entry, causes and weights are refused by name, never read as if they were not there.
import { describe, expect, test } from "vitest";
import * as library from "./public-library.ts";

const time = [5, 3, 8, 8, 1, 9, 4, 2, 7, 6, 10, 12];
const event = [1, 0, 1, 1, 1, 0, 0, 1, 1, 0, 1, 0];
const happened = event.map((one) => one === 1);
const risk = [0.5, 0.2, 0.1, 0.3, 0.9, 0.05, 0.4, 0.8, 0.3, 0.25, 0.1, 0.02];
const [N, T] = [time.length, 4];
const typed = { time: Float64Array.from(time), event: Uint8Array.from(event) };
const plain = { time, event: happened };
const grid = library.equalTimeGrid(T, 12);
const binned = library.binOutcomes(typed, grid);
const plainBinned = { T, bin: [...binned.bin], event: [...binned.event].map((one) => one === 1) };
const curves = {
  N,
  T,
  survival: Float64Array.from({ length: N * T }, (_, k) => (1 - risk[Math.floor(k / T)]) ** (1 + (k % T))),
};
const plainCurves = { N, T, survival: [...curves.survival] };
const group = risk.map((one) => (one > 0.28 ? 1 : 0));
const groups = [{ name: "high", rows: [...group.keys()].filter((row) => group[row] === 1) }];
const typedGroups = groups.map(({ rows }) => ({ rows: Int32Array.from(rows) }));
const pairs = risk.flatMap((one) => [1 - one / 2, 1 - one]); // survival at two times
const logits = Float64Array.from({ length: 12 * 4 }, (_, k) => (k % 7) / 7 - 2);
const x = risk.flatMap((one, row) => [one, row % 3]);
const cox = library.fitCox({ ...typed, x: Float64Array.from(x), D: 2 }, {});

/** For functions that take typed arrays alone; fields beyond time and event stay what they are. */
const typedOf = ({ time: times, event: events, ...rest }: Outcomes): library.RightCensored =>
  ({
    ...rest,
    time: Float64Array.from(times),
    event: Uint8Array.from(events, Number),
  }) as library.RightCensored;
const typedBins = ({ T: bins, bin, event: events, ...rest }: Binned): library.BinnedRightCensored =>
  ({
    ...rest,
    T: bins,
    bin: Int32Array.from(bin),
    event: Uint8Array.from(events, Number),
  }) as library.BinnedRightCensored;

type Outcomes = library.RightCensoredInput;
type Binned = library.BinnedRightCensoredInput;
type Curves = library.CurvesInput;

const DOORS: readonly [string, (outcomes: Outcomes, bins: Binned, matrix: Curves) => unknown][] = [
  ["kaplanMeier", (o) => library.kaplanMeier(o)],
  ["kaplanMeierBinned", (_, b) => library.kaplanMeierBinned(b)],
  ["groupSupport", (_, b) => library.groupSupport(b, { minimumAtRisk: 3 })],
  ["censoringKaplanMeier", (o) => library.censoringKaplanMeier(o, { ties: "reverse" })],
  ["censoringKaplanMeierBinned", (_, b) => library.censoringKaplanMeierBinned(b, { ties: "reverse" })],
  ["logrank", (o) => library.logrank(o, group, 2)],
  ["logrankMeanCurve", (_, b, c) => library.logrankMeanCurve(c, b)],
  ["logrankIndividual", (_, b, c) => library.logrankIndividual(c, b)],
  ["concordanceHarrell", (o) => library.concordanceHarrell(o, risk)],
  ["concordanceUno", (o) => library.concordanceUno(o, risk, { convention: "r", censoring: o })],
  ["timeDependentPairs", (_, b, c) => library.timeDependentPairs(c, b)],
  ["brierBinned", (_, b, c) => library.brierBinned(c, b)],
  ["brierScore", (o) => library.brierScore({ outcomes: o, times: [4], survival: risk, convention: "r" })],
  ["mlr3probaTimes", (o) => library.mlr3probaTimes(o)],
  ["meanCurve", (_, __, c) => library.meanCurve(c)],
  ["dCalibration", (_, b, c) => library.dCalibration(c, b)],
  ["dCalScore", (_, b, c) => library.dCalScore(c, b)],
  ["oneCalibration", (_, b, c) => library.oneCalibration(c, b, { t: 2, groups: 2 })],
  ["rankedProbabilityScore", (_, b, c) => library.rankedProbabilityScore(c, b)],
  ["noiseFloor", (_, b, c) => library.noiseFloor(c, b, undefined, { draws: 5, seed: 1 })],
  ["prepareScores", (_, b, c) => library.prepareScores("all", c, b)],
  ["scoreCurves", (_, b, c) => library.scoreCurves("all", c, b)],
  ["certify", (_, b, c) => library.certify(c, b, groups, { alpha: 0.05, draws: 64, seed: 1 })],
  ["tallyFollowUp", (_, b) => library.tallyFollowUp(b, [0, 1, 2])],
  [
    "integratedBrier",
    (o) =>
      library.integratedBrier({ outcomes: o, training: o, times: [2, 4], survival: pairs, convention: "r" }),
  ],
  [
    "simultaneousNoiseFloor",
    (_, b, c) => library.simultaneousNoiseFloor(c, b, groups, { draws: 5, seed: 1 }),
  ],
  ["boundGroups", (_, b, c) => library.boundGroups(c, b, typedGroups, { alpha: 0.05, draws: 64, seed: 1 })],
  ["checkFollowup", (o) => library.checkFollowup(typedOf(o), typedOf(o))],
  ["fitTimeGrid", (o) => library.fitTimeGrid(o)],
  ["binOutcomes", (o) => library.binOutcomes(o, grid)],
  ["binningGap", (o) => library.binningGap(o, grid)],
  ["fitCox", (o) => library.fitCox({ ...o, x, D: 2 })],
  ["fitCox by stratum", (o) => library.fitCox({ ...o, x, D: 2, strata: group })],
  ["robustCox", (o) => library.robustCox({ ...o, x, D: 2 }, cox, risk)],
  ["testProportionalHazards", (o) => library.testProportionalHazards({ ...o, x, D: 2 }, cox, [], "km")],
  ["linearPredictor", () => library.linearPredictor(cox, x)],
  ["coxCurvesOnGrid", () => library.coxCurvesOnGrid(cox, x, [...grid.edges])],
  ["fitBoost", (_, b, c) => library.fitBoost({ curves: c, outcomes: b, groups })],
  ["boostCurves", (_, b, c) => library.boostCurves({ curves: c, outcomes: b, groups })],
  [
    "discreteLikelihood",
    (_, b) => library.discreteLikelihood(logits, typedBins(b), { tail: false }, null, 1),
  ],
  ["rankedProbability", (_, b) => library.rankedProbability(logits, typedBins(b), null, 1)],
  ["rankingKernel", (_, b) => library.rankingKernel(logits, typedBins(b), { sigma: 1 }, null, 1)],
  ["xcalPenalty", (_, b) => library.xcalPenalty(logits, typedBins(b), {}, null, 1)],
  ["equalEventBlocks", (_, b) => library.equalEventBlocks(typedBins(b), 2)],
  [
    "prepareConstraints",
    (_, b) =>
      library.prepareConstraints({
        binned: typedBins(b),
        groups: typedGroups.map(({ rows }) => ({ name: "high", rows })),
        distance: "l2",
        variant: "default",
      }),
  ],
  [
    "measureRisks",
    (_, b) => {
      const curve = library.createCurveWorkspace(N, T);
      library.fillCurves(logits, N, T, curve);
      return library.measureRisks(curve, typedBins(b));
    },
  ],
  ["audit", (_, b, c) => library.audit({ curves: c, outcomes: b, groups }, { draws: 10 })],
];

describe("plain lists", () => {
  test.each(DOORS)("%s", async (_, call) => {
    expect(await call(plain, plainBinned, plainCurves)).toEqual(await call(typed, binned, curves));
  });

  test("are not copied where they are typed already", () => {
    const { survival, time: times } = library.kaplanMeier(typed);
    expect(times[0]).toBe(1);
    expect(survival[0]).toBeCloseTo(11 / 12, 12);
  });
});

describe("events that are none", () => {
  test.each([[2], [-1], [Number.NaN], [0.5]])("%s is refused with its row", (strange) => {
    const bad = { time: [1, 2, 3], event: [0, strange, 1] };
    expect(() => library.kaplanMeier(bad)).toThrow(`event is neither 0 nor 1: ${strange}`);
    expect(() => library.kaplanMeier(bad)).toThrow(library.InputError);
  });

  test("lists of two lengths are refused", () => {
    expect(() => library.kaplanMeier({ time: [1, 2], event: [1] })).toThrow("event: 1 values for 2 rows");
    expect(() => library.meanCurve({ N: 2, T: 3, survival: [1, 1] })).toThrow("2 values for 2 rows × 3 bins");
  });
});

/** Doors at which outcomes of every kind pass, with all they hold. */
const CARRIERS = ["binOutcomes", "fitTimeGrid", "checkFollowup"];
/** Doors without outcomes. */
const NO_OUTCOMES = ["meanCurve", "linearPredictor", "coxCurvesOnGrid"];
/** Doors that take late entry and weights. */
const INTERVALS = [
  "kaplanMeier",
  "logrank",
  "concordanceHarrell",
  "fitCox",
  "fitCox by stratum",
  "robustCox",
  "testProportionalHazards",
];
/**
 * Doors on a time grid that take late entry and weights (test/stats/history-scores.test.ts,
 * test/training/start-stop.test.ts).
 */
const HISTORIES = [
  "timeDependentPairs",
  "logrankIndividual",
  "prepareScores",
  "audit",
  "kaplanMeierBinned",
  "groupSupport",
  "discreteLikelihood",
  "equalEventBlocks",
  "measureRisks",
];
/** Doors that take weights, and refuse late entry. */
const WEIGHED: readonly string[] = ["simultaneousNoiseFloor", "boostCurves", "fitBoost"];
/** Absent under entry, with the reason (test/stats/intervals.test.ts). */
const ABSENT = ["concordanceUno"];
const REFUSING = DOORS.filter(
  ([name]) => ![...CARRIERS, ...NO_OUTCOMES, ...INTERVALS, ...HISTORIES, ...ABSENT].includes(name),
);

const entry = time.map((one) => one / 2);
const cause = event.map((one, row) => one * (1 + (row % 2)));
const weight = time.map(() => 1);
const id = time.map((_, row) => row >> 1);
const BEYOND = [
  ["late entry", { entry }, { firstBin: binned.bin }],
  ["competing causes", { cause }, { cause }],
  ["weighted people", { weight }, { weight }],
] as const;

describe("what goes beyond right censoring", () => {
  describe.each(REFUSING)("%s", (name, call) => {
    const refused = BEYOND.filter(([words]) => !(words === "weighted people" && WEIGHED.includes(name)));
    test.each(refused)("refuses %s by name", async (words, raw, inBins) => {
      // As JavaScript may call it, where no type says that these fields have no place here.
      const outcomes = { ...typed, ...raw } as unknown as Outcomes;
      const bins = { ...binned, ...inBins } as unknown as Binned;
      const answer = async () => call(outcomes, bins, curves);
      await expect(answer).rejects.toThrow(library.InputError);
      await expect(answer).rejects.toThrow(`does not take ${words} yet`);
    });
  });

  describe.each(DOORS.filter(([name]) => HISTORIES.includes(name)))("%s", (_, call) => {
    test("refuses competing causes by name, and takes first bins and weights", async () => {
      const withCauses = { ...binned, cause } as unknown as Binned;
      await expect(async () => call(typed, withCauses, curves)).rejects.toThrow(
        "does not take competing causes yet",
      );
      for (const more of [{ firstBin: binned.bin }, { weight }]) {
        const bins = { ...binned, ...more } as unknown as Binned;
        expect(await call(typed, bins, curves)).toBeDefined();
      }
    });
  });

  describe.each(DOORS.filter(([name]) => INTERVALS.includes(name)))("%s", (_, call) => {
    test("refuses competing causes by name, and takes entries and weights", async () => {
      const withCauses = { ...typed, cause } as unknown as Outcomes;
      await expect(async () => call(withCauses, binned, curves)).rejects.toThrow(
        "does not take competing causes yet",
      );
      for (const more of [{ entry }, { weight }]) {
        const outcomes = { ...typed, ...more } as unknown as Outcomes;
        expect(await call(outcomes, binned, curves)).toBeDefined();
      }
    });
  });

  test.each(DOORS.filter(([name]) => ![...CARRIERS, ...NO_OUTCOMES].includes(name)))(
    "%s takes ids, which change no number",
    async (_, call) => {
      const withIds = await call({ ...typed, id }, { ...binned, id }, curves);
      expect(withIds).toEqual(await call(typed, binned, curves));
    },
  );

  test("the sentence says who refuses, and where it is", () => {
    const late = { ...typed, entry } as unknown as Outcomes;
    expect(() => library.censoringKaplanMeier(late, { ties: "reverse" })).toThrow(
      "Kaplan-Meier of the censoring does not take late entry yet",
    );
    expect(() =>
      library.requireRightCensored({ ...typed, cause: Uint8Array.from(cause) }, "this test"),
    ).toThrow(expect.objectContaining({ code: "outcomes.beyond", where: "outcomes.cause" }));
    expect(library.requireRightCensored(typed, "this test")).toBe(typed);
  });

  test("rows the censoring is estimated from are asked the same", () => {
    const censoring = { ...typed, cause } as unknown as Outcomes;
    expect(() => library.concordanceUno(typed, risk, { convention: "r", censoring })).toThrow(
      "does not take competing causes yet",
    );
    const input = {
      outcomes: typed,
      training: censoring,
      times: [4],
      survival: risk,
      convention: "r",
    } as const;
    expect(() => library.brierScore(input)).toThrow("does not take competing causes yet");
  });

  test("picking rows and binning keep every field", () => {
    const all = { time, event, entry, cause, weight, id };
    const bins = library.binOutcomes(all, grid);
    expect([...(bins.firstBin ?? [])]).toEqual(entry.map((one) => Math.ceil((one * T) / 12) + 1));
    expect([...(bins.cause ?? [])]).toEqual(cause);
    expect([...(bins.weight ?? [])]).toEqual(weight);
    expect([...(bins.id ?? [])]).toEqual(id);
    const typedAll = {
      ...typed,
      entry: Float64Array.from(entry),
      cause: Uint8Array.from(cause),
      weight: Float64Array.from(weight),
      id: Int32Array.from(id),
    };
    expect(library.pickOutcomes(typedAll, [2, 0])).toEqual({
      time: Float64Array.of(8, 5),
      event: Uint8Array.of(1, 1),
      entry: Float64Array.of(4, 2.5),
      cause: Uint8Array.of(1, 1),
      weight: Float64Array.of(1, 1),
      id: Int32Array.of(1, 0),
    });
  });

  test("an event after the horizon has no cause any more, and an entry at 0 starts in bin 1", () => {
    const late = { time: [1, 9, 3.5], event: [1, 1, 0], cause: [2, 1, 0], entry: [0, 1, 3] };
    const { event: events, cause: causes, firstBin } = library.binOutcomes(late, library.equalTimeGrid(4, 4));
    expect([...events]).toEqual([1, 0, 0]);
    expect([...(causes ?? [])]).toEqual([2, 0, 0]);
    expect([...(firstBin ?? [])]).toEqual([1, 2, 4]);
  });

  test("causes without an event, events without a cause and entries after the time are refused", () => {
    const bins = library.equalTimeGrid(4, 4);
    const bad = (more: object) => () => library.binOutcomes({ time: [1, 2], event: [1, 0], ...more }, bins);
    expect(bad({ cause: [0, 0] })).toThrow("event and cause do not go together: 1 and 0");
    expect(bad({ cause: [1, 2] })).toThrow("event and cause do not go together: 0 and 2");
    expect(bad({ cause: [1.5, 0] })).toThrow("event and cause do not go together: 1 and 1.5");
    expect(bad({ entry: [1, 0] })).toThrow("entry is not from 0 up and before the time: 1 and 1");
    expect(bad({ weight: [1] })).toThrow("weight: 1 values for 2 rows");
  });

  test("a typed event of 2 is no event either", () => {
    expect(() => library.kaplanMeier({ time: [1, 2], event: Uint8Array.of(2, 1) })).toThrow(
      "event is neither 0 nor 1: 2",
    );
  });
});
