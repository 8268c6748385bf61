// The paper's preset, number by number; what another distance brings; which weights are kept.
import { describe, expect, test } from "vitest";
import type { KeepRule } from "../../src/training/choices.ts";
import { chooseNetwork, chooseOptions, type RunRequest } from "../../src/training/choose-options.ts";
import { type Evaluation, isBetter } from "../../src/training/evaluation.ts";
import { refuseObjective } from "../../src/training/objective.ts";
import { PRESETS } from "../../src/training/options.ts";
import { refuseUncountedDistance } from "../../src/training/rows/cause-view.ts";

const paper = (request: RunRequest = {}) => chooseOptions("graduate", "paper", request, 2416);

describe("the paper's preset", () => {
  test("is what the paper says, and where it says nothing what method and comments do", () => {
    expect(paper()).toEqual({
      objective: { kind: "likelihood", tail: true },
      constraint: { distance: "l2", variant: "paper", slack: 0.02, strata: 1 },
      dual: { form: "ascent", rate: 0.01, start: "uniform" },
      optimiser: { kind: "adam", rate: 5e-3 },
      clip: null,
      steps: 3000,
      primalSteps: 1,
      batch: null,
      refresh: true,
      keep: "constraints",
      average: { decay: 0.995, from: 200 },
      evaluateEvery: 5,
      patience: 500,
      seed: 1,
      solve: "none",
      hold: "balanced",
    });
    expect(PRESETS.paper).toEqual(paper());
  });

  test("has DRSA's network, whose hidden units default to 50", () => {
    const spec = chooseNetwork({}, "paper", { D: 7, T: 102, groups: 0 }, new Float64Array(102));
    expect(spec).toEqual({ kind: "drsa", D: 7, T: 102 });
  });

  test("holds the baselines to no group and keeps their weights by the C-index", () => {
    for (const method of ["drsa", "xcal", "rps", "nll"] as const) {
      const options = chooseOptions(method, "paper", {}, 2416);
      expect([options.constraint, options.keep, options.patience]).toEqual([null, "concordance", 500]);
    }
  });
});

describe("each distance brings its own slack", () => {
  test.each([
    ["paper", "l2", { slack: 0.02 }],
    ["paper", "variance", { slack: 1.96 }],
    ["paper", "atRisk", { slack: "auto", kappa: 1 }],
    ["default", "l2", { slack: "auto", kappa: 0.25 }],
    ["default", "variance", { slack: "auto", kappa: 1 }],
    ["default", "atRisk", { slack: "auto", kappa: 1 }],
  ] as const)("%s, %s", (preset, distance, own) => {
    const { constraint } = chooseOptions("graduate", preset, { constraint: { distance } }, 2416);
    expect(constraint).toEqual({ distance, variant: preset, strata: 1, ...own });
  });

  test("unless one is given", () => {
    expect(paper({ constraint: { distance: "variance", slack: 2.5 } }).constraint?.slack).toBe(2.5);
    expect(paper({ constraint: { slack: 0.01 } }).constraint).toMatchObject({ distance: "l2", slack: 0.01 });
  });
});

describe("which of two evaluations is kept", () => {
  const slack = { a: 0.02, b: 0.02, c: 0.02 };
  const evaluate = (concordance: number, distances: readonly number[], loss = 1): Evaluation => ({
    loss,
    concordance,
    groups: ["a", "b", "c"].map((name, k) => ({
      name,
      n: 100,
      events: 20,
      distance: distances[k],
      measured: k < distances.length,
    })),
  });
  const keeps = (one: Evaluation, other: Evaluation, keep: KeepRule) => [
    isBetter(one, other, keep, slack),
    isBetter(other, one, keep, slack),
  ];

  test("the paper's rule: the one that meets more constraints, whatever its C-index and loss", () => {
    const [two, one] = [evaluate(0.6, [0.02, 0.01, 0.5], 2), evaluate(0.8, [0.001, 0.021, 0.03])];
    expect(keeps(two, one, "constraints")).toEqual([true, false]);
  });

  test("then the one of higher C-index, and of equals the earlier", () => {
    const [high, low] = [evaluate(0.7, [0.01, 0.5, 0.5], 2), evaluate(0.69, [0.5, 0.5, 0.001])];
    expect(keeps(high, low, "constraints")).toEqual([true, false]);
    expect(keeps(high, high, "constraints")).toEqual([false, false]);
  });

  test("groups that the validation rows cannot measure do not count", () => {
    expect(keeps(evaluate(0.7, [0.5]), evaluate(0.69, [0.5, 0.6]), "constraints")).toEqual([true, false]);
  });

  test("by C-index alone, and by validation loss alone", () => {
    const [first, second] = [evaluate(0.7, [], 1), evaluate(0.6, [0.01], 0.9)];
    expect(keeps(first, second, "concordance")).toEqual([true, false]);
    expect(keeps(first, second, "validation")).toEqual([false, true]);
  });
});

describe("what is not defined for the outcomes at hand is refused", () => {
  const plain = { T: 3, bin: Int32Array.of(1, 2), event: Uint8Array.of(1, 0) };
  const late = { ...plain, firstBin: Int32Array.of(1, 2) };
  const weighted = { ...plain, weight: Float64Array.of(1, 2) };
  const xcal = { kind: "xcal", lambda: 1, tail: false } as const;
  const rps = { kind: "rps" } as const;
  const tail = { kind: "likelihood", tail: true } as const;
  const likelihood = { kind: "likelihood", tail: false } as const;

  test.each([
    [xcal, late, 1, "the xcal loss is not defined under late entry"],
    [rps, weighted, 1, "the rps loss is not defined for weighted rows"],
    [tail, late, 1, "the likelihood with the paper's tail term is not defined under late entry"],
    [tail, plain, 2, "the likelihood with the paper's tail term is not defined for several causes"],
  ])("%o", (spec, outcomes, K, message) => {
    expect(() => refuseObjective(spec, outcomes, K)).toThrow(message);
  });

  test.each([
    [xcal, plain, 1],
    [tail, weighted, 1],
    [likelihood, late, 2],
    [likelihood, weighted, 3],
  ])("%o is taken where it is", (spec, outcomes, K) => {
    expect(() => refuseObjective(spec, outcomes, K)).not.toThrow();
  });

  test("a distance of mean curves, by name", () => {
    expect(() => refuseUncountedDistance("l2", late)).toThrow(
      "the distance l2 of mean curves is not defined under late entry",
    );
    expect(() => refuseUncountedDistance("variance", weighted)).toThrow(
      "the distance variance of mean curves is not defined for weighted rows",
    );
    expect(() => refuseUncountedDistance("l2", {})).not.toThrow();
    expect(() => refuseUncountedDistance("atRisk", { ...late, ...weighted })).not.toThrow();
  });
});
