import { describe, expect, test } from "vitest";
import { createReferenceBackend } from "../../src/compute/reference.ts";
import { BackendError, type GraduateError, NumericalError } from "../../src/core/errors.ts";
import { createRandom } from "../../src/core/random.ts";
import type { BinnedRightCensored } from "../../src/data/outcomes/outcomes.ts";
import { createNetwork } from "../../src/models/networks/create-network.ts";
import { anchorHazards } from "../../src/models/networks/initialise.ts";
import { readParameters } from "../../src/models/networks/parameters.ts";
import { openWasmBackend } from "../../src/node/workers/wasm-backend.ts";
import { kaplanMeierBinned } from "../../src/stats/kaplan-meier.ts";
import { shuffleBatches } from "../../src/training/batches.ts";
import { createEvaluator } from "../../src/training/evaluation.ts";
import { finishRun, judgeGroups } from "../../src/training/finish.ts";
import { PRESETS, type TrainingOptions } from "../../src/training/options.ts";
import type { Checkpoint, StepEvent, TrainingInput } from "../../src/training/trainer.ts";
import { separateMemory } from "../compute/backends.ts";
import { place } from "../compute/problems.ts";
import { expectClose, follow, followPyTorch } from "./trajectories.ts";

followPyTorch([
  { name: "reference", open: async () => createReferenceBackend(), tolerance: 1e-9 },
  { name: "wasm", open: () => openWasmBackend({ threads: 2 }), tolerance: 1e-4 },
]);

/** Rows whose hazard rises with the first feature, with two overlapping groups. */
function simulate(backend = createReferenceBackend(), N = 240, T = 8, seed = 3): TrainingInput {
  const random = createRandom(seed);
  const D = 3;
  const x = new Float64Array(N * D);
  const binned: BinnedRightCensored = { T, bin: new Int32Array(N), event: new Uint8Array(N) };
  for (let i = 0; i < N; i++) {
    for (let d = 0; d < D; d++) x[i * D + d] = random.normal();
    const hazard = 1 / (1 + Math.exp(2.2 - 1.6 * x[i * D]));
    const censoring = 1 + random.integer(T);
    let t = 1;
    while (t < censoring && random.uniform() >= hazard) t++;
    binned.bin[i] = t;
    binned.event[i] = t < censoring ? 1 : 0;
  }
  const rowsWhere = (holds: (row: number) => boolean) =>
    Int32Array.from(Array.from({ length: N }, (_, i) => i).filter(holds));
  const groups = [
    { name: "all", rows: rowsWhere(() => true) },
    { name: "high", rows: rowsWhere((i) => x[i * D] > 0) },
    { name: "other", rows: rowsWhere((i) => x[i * D + 1] > 0.3) },
  ];
  const km = kaplanMeierBinned(binned);
  const baselineHazard = Array.from(anchorHazards(km.events.subarray(1), km.atRisk.subarray(1)));
  const network = createNetwork(backend, { kind: "anchored", D, T, H: 4, baselineHazard }, seed);
  const rows = { x: place(backend, x), binned, groups };
  return { backend, network, training: rows, validation: rows };
}

const SMALL: TrainingOptions = {
  ...PRESETS.default,
  constraint: { distance: "l2", variant: "default", slack: "auto", strata: 1 },
  steps: 24,
  batch: 100,
  average: { decay: 0.9, from: 6 },
  evaluateEvery: 6,
};

describe("a run", () => {
  test.each([
    ["minibatches, augmented", SMALL],
    [
      "minibatches, strata",
      { ...SMALL, constraint: { distance: "atRisk", variant: "default", slack: "auto", strata: 3 } },
    ],
    ["full batch, ascent", { ...PRESETS.paper, steps: 9, evaluateEvery: 2 }],
    ["full batch, a dual step every third", { ...PRESETS.paper, steps: 9, evaluateEvery: 2, primalSteps: 3 }],
    [
      "full batch, variance, augmented",
      {
        ...SMALL,
        batch: null,
        steps: 8,
        constraint: { distance: "variance", variant: "default", slack: "auto", strata: 1 },
      },
    ],
  ] as [string, TrainingOptions][])(
    "%s: resumed from any checkpoint ends with the same bytes",
    async (_, options) => {
      const whole = await follow(simulate(), options);
      expect(whole.checkpoints.length).toBeGreaterThan(2);
      for (const checkpoint of whole.checkpoints.slice(0, -1)) {
        const resume = JSON.parse(JSON.stringify(checkpoint)) as Checkpoint;
        const rest = await follow(simulate(), options, { resume });
        expect(rest.last).toEqual(whole.last);
      }
    },
  );

  test.each([
    { distance: "l2", variant: "paper", slack: 1e-4, strata: 1 },
    { distance: "atRisk", variant: "default", slack: "auto", strata: 1 },
    { distance: "l2", variant: "default", slack: "auto", strata: 2 },
    null,
  ] as TrainingOptions["constraint"][])("all rows in parts are the same step: %o", async (constraint) => {
    const options = { ...PRESETS.paper, constraint, steps: 6, evaluateEvery: 7 };
    const whole = await follow(simulate(), options);
    for (const partRows of [64, 131]) {
      const parted = await follow(simulate(), { ...options, partRows });
      parted.steps.forEach((step, k) => {
        expect(step.loss).toBeCloseTo(whole.steps[k].loss, 11);
        expectClose(step.distances, whole.steps[k].distances, 1e-9);
      });
      for (const [name, values] of Object.entries(whole.last.parameters)) {
        expectClose(parted.last.parameters[name], values, 1e-8);
      }
    }
  });

  test("an evaluation shows each group's curves: Kaplan-Meier and the mean of what was predicted", async () => {
    const input = simulate();
    const { binned, groups } = input.training;
    const { evaluate, groupCurves } = createEvaluator(input.backend, input.network, input.training, null);
    await evaluate();
    const N = binned.bin.length;
    const logits = input.backend.allocate(N * binned.T);
    await input.network.forward(input.training.x, N, logits, null);
    const values = await input.backend.read(logits);
    const shown = groupCurves();
    expect(shown.map(({ name }) => name)).toEqual(groups.map(({ name }) => name));
    for (const [g, { observed, predicted }] of shown.entries()) {
      const { rows } = groups[g];
      const alive =
        rows.length - rows.filter((row) => binned.bin[row] === 1 && binned.event[row] === 1).length;
      expect(observed[1]).toBeCloseTo(alive / rows.length, 12);
      let sum = 0;
      for (const row of rows) {
        let survival = 1;
        for (let t = 0; t < binned.T; t++) survival /= 1 + Math.exp(values[row * binned.T + t]);
        sum += survival;
      }
      expect(predicted[binned.T]).toBeCloseTo(sum / rows.length, 6);
      expect([observed[0], predicted[0]]).toEqual([1, 1]);
    }
  });

  test("lowers the loss and ends with a verdict at the weights it keeps", async () => {
    const input = simulate();
    const options = { ...SMALL, steps: 150, average: { decay: 0.95, from: 60 } };
    const before = await createEvaluator(input.backend, input.network, input.training, null).evaluate();
    const { steps, last } = await follow(input, options);
    const mean = (events: StepEvent[]) => events.reduce((sum, { loss }) => sum + loss, 0) / events.length;
    expect(mean(steps.slice(-12))).toBeLessThan(mean(steps.slice(0, 12)) - 0.02);
    const result = await finishRun(input, options, last);
    expect(await readParameters(input.network)).toEqual(last.average);
    const verdict = judgeGroups(input, options, result.train, [true, true, false]);
    expect(verdict.map(({ group, told }) => [group, told])).toEqual([
      ["all", true],
      ["high", true],
      ["other", false],
    ]);
    for (const { distance, slack, status } of verdict) {
      expect(status).toBe(distance.solve <= slack ? "met" : "unmet");
    }
    expect(result.validation?.concordance).toBeGreaterThan((before.concordance ?? 1) + 0.05);
    expect(result.train.loss).toBeLessThan(before.loss);
  });

  test("takes a dual step after as many updates as it is told, and after each unless told", async () => {
    const options = { ...PRESETS.paper, steps: 7, evaluateEvery: 10 };
    const once = await follow(simulate(), options);
    const { primalSteps: _, ...untold } = options;
    expect((await follow(simulate(), untold)).last).toEqual(once.last);
    expect(new Set(once.steps.map(({ multipliers }) => multipliers[0])).size).toBe(7);
    const thrice = await follow(simulate(), { ...options, primalSteps: 3 });
    // Multipliers as they stood before each of the seven updates: changed after the third and the sixth.
    const [start, second, third] = [0, 3, 6].map((k) => thrice.steps[k].multipliers[0]);
    expect(thrice.steps.map(({ multipliers }) => multipliers[0])).toEqual([
      start,
      start,
      start,
      second,
      second,
      second,
      third,
    ]);
    expect(new Set([start, second, third]).size).toBe(3);
    expect(thrice.last.lagrangian?.multipliers[0]).toBe(third);
    await expect(follow(simulate(), { ...options, primalSteps: 0 })).rejects.toThrow(
      "updates per dual step are not a whole number from 1 up: 0",
    );
  });

  test("ends after as many updates without a better look at the validation rows as its patience", async () => {
    // At a rate of 0 no weights ever move: the first look, at update 2, stays the best.
    const still = { kind: "sgd", rate: 0 } as const;
    const options = { ...PRESETS.paper, optimiser: still, steps: 30, evaluateEvery: 2, patience: 5 };
    const { last } = await follow(simulate(), options);
    expect([last.best?.step, last.step]).toEqual([2, 7]);
  });

  test("an impossible slack is said to be unmet", async () => {
    const input = simulate();
    const options = {
      ...SMALL,
      constraint: { distance: "l2", variant: "default", slack: 1e-12, strata: 1 } as const,
      dual: { form: "ascent", rate: 0.1, start: 1 } as const,
    };
    const { last } = await follow(input, options);
    const { train } = await finishRun(input, options, last);
    const verdict = judgeGroups(input, options, train, [true, true, true]);
    expect(verdict.map(({ status }) => status)).toEqual(["unmet", "unmet", "unmet"]);
  });

  test("multipliers that never move are called a fixed penalty", async () => {
    const input = simulate();
    const options = { ...SMALL, dual: { form: "ascent", rate: 1e-9, start: 2 } as const };
    const { last } = await follow(input, options);
    const { multipliers } = await finishRun(input, options, last);
    expect(multipliers.fixedPenalty).toBe(true);
    expect(multipliers.start).toEqual([2, 2, 2]);
  });

  test("a loss that is not a number stops with the step and the last good checkpoint", async () => {
    const input = simulate();
    const options: TrainingOptions = { ...SMALL, optimiser: { kind: "sgd", rate: 1.7e308 }, clip: null };
    const failure = await follow(input, options).catch((error: unknown) => error);
    expect(failure).toBeInstanceOf(NumericalError);
    expect((failure as Error).message).toMatch(/^training stopped at step \d+: /);
    expect((failure as GraduateError).hint).toMatch(/checkpoint/);
  });

  test("memory that the host does not see gives the same bytes, whole and in batches", async () => {
    for (const batch of [null, 50]) {
      const options: TrainingOptions = { ...SMALL, batch, steps: 12, evaluateEvery: 5 };
      const shared = await follow(simulate(), options);
      const separate = await follow(simulate(separateMemory(createReferenceBackend())), options);
      expect(separate).toEqual(shared);
    }
  });

  test("what is refused for want of memory is not said to have diverged", async () => {
    const { backend, network, ...input } = simulate();
    let passes = 0;
    // The second step finds no room.
    const backward: typeof network.backward = (...given) => {
      if (++passes === 2) {
        throw new BackendError("out of memory", { code: "memory.exhausted", hint: "fewer rows" });
      }
      return network.backward(...given);
    };
    const failing = { ...input, backend, network: { ...network, backward } };
    const failure = await follow(failing, SMALL).catch((error: unknown) => error);
    expect(failure).toBeInstanceOf(BackendError);
    expect(failure).not.toBeInstanceOf(NumericalError);
    expect(failure).toMatchObject({ name: "BackendError", code: "memory.exhausted" });
    expect((failure as BackendError).message).toMatch(/^training stopped at step \d+: out of memory$/);
    expect((failure as BackendError).hint).toMatch(/checkpoint.*; fewer rows$/);
  });

  test("a diverging multiplier names its group", async () => {
    const options: TrainingOptions = {
      ...SMALL,
      constraint: { distance: "l2", variant: "default", slack: 1e-9, strata: 1 },
      dual: { form: "augmented", penalty: 1e6, start: 0 },
    };
    await expect(follow(simulate(), options)).rejects.toThrow(
      /multiplier of group "(all|high|other)" diverges/,
    );
  });

  test("batches hold every row once an epoch, anew each epoch", () => {
    const batches = shuffleBatches(10, 4, 1, 0);
    expect(batches.map((rows) => rows.length)).toEqual([4, 4, 2]);
    expect(batches.flatMap((rows) => [...rows]).sort((a, b) => a - b)).toEqual([
      0, 1, 2, 3, 4, 5, 6, 7, 8, 9,
    ]);
    expect(shuffleBatches(10, 4, 1, 1)).not.toEqual(batches);
    expect(shuffleBatches(10, 4, 1, 0)).toEqual(batches);
  });
});
