// Value and gradient of every objective and distance, and the first step of the trajectories, against PyTorch autograd
// in float64.

import { readFileSync } from "node:fs";
import { describe, expect, test } from "vitest";
import type { BinnedRightCensored } from "../../src/data/outcomes/outcomes.ts";
import { prepareConstraints } from "../../src/objectives/constraints.ts";
import { createCurveWorkspace, survivalCurves } from "../../src/objectives/curves.ts";
import type { DistanceName } from "../../src/objectives/distances/list.ts";
import { groupDistances } from "../../src/objectives/distances.ts";
import { discreteLikelihood } from "../../src/objectives/likelihood.ts";
import { rankedProbability, rankingKernel } from "../../src/objectives/rps.ts";
import { xcalPenalty } from "../../src/objectives/xcal.ts";
import { expectEntries } from "./gradient-checks.ts";

const TOLERANCE = 1e-10;

interface Case {
  readonly value: number;
  readonly dLogits: number[][];
}

interface Setting {
  readonly about: string;
  readonly blocks: number[][];
  readonly logits: number[][];
  readonly t: number[];
  readonly d: number[];
  readonly groups: number[][];
  readonly km: number[][];
  readonly var: (number | null)[][];
  readonly survival: number[][];
  readonly cases: Record<string, Case>;
}

interface Trajectory {
  readonly name: string;
  readonly kind: "l2" | "variance";
  readonly tail: boolean;
  readonly batches: number[][] | null;
  readonly t: number[];
  readonly d: number[];
  readonly groups: number[][];
  readonly first: { readonly logits: number[][] };
  readonly steps: readonly { readonly loss: number; readonly distances: number[] }[];
}

function readJson<Content>(name: string): Content {
  return JSON.parse(readFileSync(new URL(`../oracles/torch/${name}`, import.meta.url), "utf8"));
}

const objectives = readJson<{ ordinary: Setting; edge: Setting }>("torch_objectives.json");
const trajectories = readJson<{ runs: Trajectory[] }>("torch_trajectory.json").runs;

function binOutcomes(t: number[], d: number[], T: number): BinnedRightCensored {
  return { T, bin: Int32Array.from(t), event: Uint8Array.from(d) };
}

const nameGroups = (groups: number[][]) =>
  groups.map((rows, g) => ({ name: `group ${g}`, rows: Int32Array.from(rows) }));

describe.each(["ordinary", "edge"] as const)("%s logits", (name) => {
  const setting = objectives[name];
  const N = setting.t.length;
  const T = setting.logits[0].length;
  const logits = Float64Array.from(setting.logits.flat());
  const binned = binOutcomes(setting.t, setting.d, T);
  const groups = nameGroups(setting.groups);
  const blocks = setting.blocks.map(([first, last]) => ({ first, last }));

  /** One group's distance: a multiplier of 1 for it and 0 for the others. */
  function distanceOf(kind: DistanceName, g: number, dLogits: Float64Array | null): number {
    const constraints = prepareConstraints({ binned, groups, distance: kind, variant: "paper", blocks });
    const multipliers = groups.map((_, k) => (k === g ? 1 : 0));
    return groupDistances(constraints, logits, multipliers, createCurveWorkspace(N, T), dLogits, 1)[g];
  }

  function evaluate(objective: string, dLogits: Float64Array | null): number {
    const distance = /^distance_(l2|variance|atRisk)_group(\d)$/.exec(objective);
    if (distance !== null) return distanceOf(distance[1] as DistanceName, Number(distance[2]), dLogits);
    switch (objective) {
      case "drsa":
        return discreteLikelihood(logits, binned, { tail: true }, dLogits, 1);
      case "nll":
        return discreteLikelihood(logits, binned, { tail: false }, dLogits, 1);
      case "rps":
        return rankedProbability(logits, binned, dLogits, 1);
      case "xcal_bins5_gamma50":
        return xcalPenalty(logits, binned, { bins: 5, gamma: 50 }, dLogits, 1);
      case "xcal_bins20_gamma10000":
        return xcalPenalty(logits, binned, {}, dLogits, 1);
      case "ranking_sigma0.1":
        return rankingKernel(logits, binned, { sigma: 0.1 }, dLogits, 1);
      default:
        throw new Error(`no objective for the oracle's case ${objective}`);
    }
  }

  test.each(Object.keys(setting.cases))("%s", (objective) => {
    const { value, dLogits } = setting.cases[objective];
    const gradient = new Float64Array(N * T);
    expectEntries([evaluate(objective, gradient)], [value], TOLERANCE, "value");
    expectEntries(gradient, dLogits.flat(), TOLERANCE, "dLogits");
    expectEntries([evaluate(objective, null)], [value], TOLERANCE, "value alone");
  });

  test("survival curves, Kaplan-Meier targets and their variances", () => {
    const survival = new Float64Array(N * T);
    survivalCurves(logits, N, T, survival);
    setting.survival.flat().forEach((S, k) => {
      expectEntries([survival[k]], [S], 1e-12, `S ${k}`);
    });
    const constraints = prepareConstraints({ binned, groups, distance: "l2", variant: "paper" });
    constraints.groups.forEach(({ km }, g) => {
      expectEntries(km.survival.subarray(1), setting.km[g], 1e-14, "Kaplan-Meier");
      setting.var[g].forEach((variance, t) => {
        if (variance === null) expect(km.variance[t + 1] > 0).toBe(false);
        else expectEntries([km.variance[t + 1]], [variance], 1e-12, "variance");
      });
    });
  });
});

describe("the first step of the trajectories", () => {
  test.each(trajectories)("$name", (run) => {
    const T = run.first.logits[0].length;
    const rows = run.batches === null ? run.t.map((_, row) => row) : run.batches[0];
    const logits = Float64Array.from(run.first.logits.flat());
    const part = binOutcomes(
      rows.map((row) => run.t[row]),
      rows.map((row) => run.d[row]),
      T,
    );
    const loss = discreteLikelihood(logits, part, { tail: run.tail }, null, 1);
    expectEntries([loss], [run.steps[0].loss], TOLERANCE, "loss");
    if (run.batches !== null) return; // the other rows' logits are not in the oracle
    const constraints = prepareConstraints({
      binned: part,
      groups: nameGroups(run.groups),
      distance: run.kind,
      variant: "paper",
    });
    const curves = createCurveWorkspace(rows.length, T);
    const distances = groupDistances(constraints, logits, [0, 0, 0], curves, null, 1);
    expectEntries(distances, run.steps[0].distances, TOLERANCE, "distances");
  });
});
