// Runs that are followed step by step: their events gathered, and six of them held to PyTorch's, on whichever backends.
import { describe, expect, test } from "vitest";
import type { Backend } from "../../src/compute/backend.ts";
import type { OptimiserSpec } from "../../src/training/optimiser.ts";
import { PRESETS, type TrainingOptions } from "../../src/training/options.ts";
import {
  type Checkpoint,
  type OptimiseHooks,
  optimise,
  type StepEvent,
  type TrainingInput,
} from "../../src/training/trainer.ts";
import { createTorchNetwork, fromTorch, loadTorchRuns, packRows, type TorchRun } from "./trajectory-twin.ts";

export interface Followed {
  readonly steps: StepEvent[];
  readonly checkpoints: Checkpoint[];
  readonly last: Checkpoint;
}

export async function follow(
  input: TrainingInput,
  options: TrainingOptions,
  hooks?: OptimiseHooks,
): Promise<Followed> {
  const run = optimise(input, options, hooks);
  const steps: StepEvent[] = [];
  const checkpoints: Checkpoint[] = [];
  for (;;) {
    const { done, value } = await run.next();
    if (done) return { steps, checkpoints, last: value };
    if (value.type === "step") steps.push(value);
    if (value.type === "checkpoint") checkpoints.push(value.checkpoint);
  }
}

function optimiserOf(run: TorchRun): OptimiserSpec {
  if (run.optimiser === "sgd") return { kind: "sgd", rate: run.lr };
  return { kind: run.optimiser, rate: run.lr, decay: run.decay, decayAll: true };
}

/** Within a share of the largest entry. */
export function expectClose(actual: ArrayLike<number>, wanted: ArrayLike<number>, tolerance: number): void {
  expect(actual.length).toBe(wanted.length);
  let largest = 0;
  for (let k = 0; k < wanted.length; k++) largest = Math.max(largest, Math.abs(wanted[k]));
  for (let k = 0; k < wanted.length; k++) {
    expect(Math.abs(actual[k] - wanted[k])).toBeLessThanOrEqual(tolerance * largest);
  }
}

export interface TrajectoryBackend {
  readonly name: string;
  open(): Promise<Backend>;
  /** Relative to the largest entry. */
  readonly tolerance: number;
}

export function followPyTorch(backends: readonly TrajectoryBackend[]): void {
  describe.each(backends)("on $name the trainer follows PyTorch for ten steps", ({ open, tolerance }) => {
    test.each(loadTorchRuns())("$name", async (run) => {
      const backend = await open();
      const network = createTorchNetwork(backend, run);
      const binned = { T: network.T, bin: Int32Array.from(run.t), event: Uint8Array.from(run.d) };
      const groups = run.groups.map((rows, g) => ({ name: `group ${g}`, rows: Int32Array.from(rows) }));
      const options: TrainingOptions = {
        ...PRESETS.paper,
        objective: { kind: "likelihood", tail: run.tail },
        constraint: { distance: run.kind, variant: "paper", slack: run.c, strata: 1 },
        dual: { form: "ascent", rate: run.eta, start: run.steps[0].multipliers },
        optimiser: optimiserOf(run),
        steps: run.steps.length,
        batch: run.batches === null ? null : run.batches[0].length,
        refresh: false,
        average: { decay: run.average ?? 0, from: 0 },
      };
      const training = { x: packRows(backend, run.x), binned, groups };
      const { batches } = run;
      const hooks = batches === null ? {} : { batches: () => batches.map((rows) => Int32Array.from(rows)) };
      const { steps, last } = await follow({ backend, network, training, validation: null }, options, hooks);
      await backend.close();
      steps.forEach((step, k) => {
        const wanted = run.steps[k];
        expectClose([step.loss, step.lagrangian], [wanted.loss, wanted.lagrangian], tolerance);
        expectClose(step.distances, wanted.distances, tolerance);
        expectClose(step.multipliers, wanted.multipliers, tolerance);
      });
      expect(steps).toHaveLength(10);
      expectClose(last.lagrangian?.multipliers ?? [], run.multipliersAfter, tolerance);
      for (const [name, values] of Object.entries(fromTorch(run.final))) {
        expectClose(last.parameters[name], values, tolerance);
      }
      if (run.averaged === null) return;
      for (const [name, values] of Object.entries(fromTorch(run.averaged))) {
        expectClose(last.average[name], values, tolerance);
      }
    });
  });
}
