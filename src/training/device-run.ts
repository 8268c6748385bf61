/**
 * The training loop on a device that keeps loss, constraints and optimiser to itself (compute/device-training.ts): many
 * steps are submitted at once, and what they leave in the log comes back together. A step ends with the forward pass at
 * the new weights, which measures the groups for the dual step and is the next step's forward pass too. The events are
 * those of trainer.ts, a stretch of steps at a time; checkpoints come at the ends of stretches.
 */
import type {
  DeviceGroups,
  DeviceLoss,
  DeviceObjective,
  DeviceOptimiser,
} from "../compute/device-training.ts";
import { power } from "../core/elementary.ts";
import { GraduateError } from "../core/errors.ts";
import type { Activations, Network } from "../models/networks/network.ts";
import { findParameters, type ParameterValues } from "../models/networks/parameters.ts";
import { XCAL_BINS, XCAL_GAMMA } from "../objectives/xcal.ts";
import { createEvaluator, type Evaluation, isBetter } from "./evaluation.ts";
import { lagrangianTerm, refuseDivergence, scaleToRows } from "./lagrangian/dual.ts";
import { createLagrangian, type Lagrangian } from "./lagrangian/lagrangian.ts";
import type { OptimiserSpec, OptimiserState } from "./optimiser.ts";
import type { DualSpec, ObjectiveSpec, TrainingOptions } from "./options.ts";
import { nameStep, refuseNaN } from "./run-errors.ts";
import type {
  Checkpoint,
  EvaluationEvent,
  OptimiseHooks,
  StepEvent,
  TrainingEvent,
  TrainingInput,
} from "./trainer.ts";
import { checkPrimalSteps, hasNoPatience } from "./training-run.ts";

/** Steps that are submitted before anything comes back, at most. */
const STRETCH = 32;
/** Steps between two checkpoints, at least: each one is read from the device. */
const BETWEEN_CHECKPOINTS = 50;

/** Whether every step takes all rows at once, by operations that the device has. */
export function canTrainOnDevice(
  { backend, network: { D, T }, training: { binned } }: TrainingInput,
  { batch, objective, constraint, partRows }: TrainingOptions,
  { batches }: OptimiseHooks,
): boolean {
  const N = binned.bin.length;
  return (
    backend.training?.fits({ N, D, T }) === true &&
    N > 0 &&
    batches === undefined &&
    (batch === null || batch >= N) &&
    (partRows ?? N) >= N &&
    (objective.kind !== "rps" || objective.ranking === undefined) &&
    (constraint?.strata ?? 1) === 1
  );
}

interface DeviceRun {
  readonly input: TrainingInput;
  readonly options: TrainingOptions;
  readonly primalSteps: number;
  readonly activations: Activations;
  readonly lagrangian: Lagrangian | null;
  readonly dual: DualSpec;
  readonly loss: DeviceLoss;
  readonly optimiser: DeviceOptimiser;
  readonly evaluate: (() => Promise<Evaluation>) | null;
  readonly startMultipliers: readonly number[];
  /** Steps of the optimiser, and of the run. */
  taken: number;
  step: number;
  best: Checkpoint["best"];
  /** Loss, distances and multipliers at the weights now. */
  now: { loss: number; distances: Float64Array; multipliers: Float64Array };
}

export async function* optimiseOnDevice(
  input: TrainingInput,
  options: TrainingOptions,
  hooks: OptimiseHooks,
): AsyncGenerator<TrainingEvent, Checkpoint> {
  const run = openDeviceRun(input, options, hooks);
  const { evaluate } = run;
  let lastGood = run.step;
  try {
    await begin(run);
    while (run.step < options.steps) {
      const from = run.step;
      try {
        yield* takeSteps(run, countSteps(run));
      } catch (error) {
        throw error instanceof GraduateError
          ? nameStep(error, Math.max(run.step, from + 1), lastGood)
          : error;
      }
      const isDue = run.step % options.evaluateEvery === 0 || run.step === options.steps;
      if (evaluate && isDue) yield await evaluateOnDevice(run, evaluate);
      if (hasNoPatience(run)) break;
      if (run.step - lastGood < BETWEEN_CHECKPOINTS && run.step < options.steps) continue;
      lastGood = run.step;
      yield { type: "checkpoint", step: run.step, checkpoint: await takeDeviceCheckpoint(run) };
    }
    return await takeDeviceCheckpoint(run);
  } finally {
    run.loss.release();
    run.optimiser.release();
  }
}

function openDeviceRun(input: TrainingInput, options: TrainingOptions, { resume }: OptimiseHooks): DeviceRun {
  const { backend, network, training, validation } = input;
  const { training: device } = backend;
  if (device === undefined) throw new Error("the backend cannot keep a step to itself");
  const { constraint, seed } = options;
  const { binned, groups } = training;
  const dual = scaleToRows(options.dual, binned.bin.length);
  const lagrangian =
    constraint && createLagrangian({ constraint, dual: options.dual, binned, groups, seed, whole: true });
  if (resume?.lagrangian) lagrangian?.restore(resume.lagrangian);
  const loss = device.openLoss({
    T: binned.T,
    bin: binned.bin,
    event: binned.event,
    objective: objectiveOf(options.objective),
    groups: lagrangian && groupsOf(lagrangian, dual),
    entries: STRETCH + 1,
  });
  const {
    decayAll = false,
    momentum = 0,
    beta1 = 0.9,
    beta2 = 0.999,
    epsilon = 1e-8,
  } = readRates(options.optimiser);
  const optimiser = device.openOptimiser(
    network.parameters.map(({ values, gradient, decays }) => ({
      values,
      gradient,
      decays: decayAll || decays,
    })),
    { kind: options.optimiser.kind, momentum, beta1, beta2, epsilon, clip: options.clip, entries: STRETCH },
  );
  if (lagrangian !== null) loss.writeMultipliers(lagrangian.multipliers);
  if (resume) writeState(network, optimiser, resume);
  return {
    input,
    options,
    primalSteps: checkPrimalSteps(options),
    activations: network.createActivations(),
    lagrangian,
    dual,
    loss,
    optimiser,
    evaluate: validation && createEvaluator(backend, network, validation, constraint),
    startMultipliers: resume?.startMultipliers ?? Array.from(lagrangian?.multipliers ?? []),
    taken: resume?.optimiser.steps ?? 0,
    step: resume?.step ?? 0,
    best: resume?.best ?? null,
    now: { loss: 0, distances: new Float64Array(0), multipliers: new Float64Array(0) },
  };
}

/** Every field that some optimiser has. */
function readRates(spec: OptimiserSpec) {
  const { rate, decay, decayAll, momentum, beta1, beta2, epsilon } = spec as Partial<
    Record<"decay" | "momentum" | "beta1" | "beta2" | "epsilon", number>
  > & { readonly rate: number; readonly decayAll?: boolean };
  return { rate, decay, decayAll, momentum, beta1, beta2, epsilon };
}

function objectiveOf(spec: ObjectiveSpec): DeviceObjective {
  switch (spec.kind) {
    case "likelihood":
      return { kind: "likelihood", tail: spec.tail };
    case "xcal": {
      const { tail, lambda, bins = XCAL_BINS, gamma = XCAL_GAMMA } = spec;
      return { kind: "xcal", tail, lambda, bins, gamma };
    }
    case "rps":
      return { kind: "rps" };
  }
}

function groupsOf({ constraints, slack }: Lagrangian, dual: DualSpec): DeviceGroups {
  const { distance, variant, groups, blocks, memberships } = constraints;
  return {
    distance,
    ownVariance: variant === "default",
    blocks,
    ...memberships,
    dual: dual.form === "ascent" ? { form: "ascent", rate: dual.rate } : dual,
    groups: groups.map(({ rows, bins, followedBlocks, measurable, constrained, km, observed }, g) => ({
      members: rows.length,
      bins,
      followedBlocks,
      measurable,
      constrained,
      slack: slack[g],
      survival: km.survival.subarray(1),
      variance: km.variance.subarray(1),
      atRisk: km.atRisk.subarray(1),
      observed,
    })),
  };
}

function writeState(network: Network, optimiser: DeviceOptimiser, resume: Checkpoint): void {
  optimiser.write("values", findParameters(network.parameters, resume.parameters));
  optimiser.write("average", findParameters(network.parameters, resume.average));
  optimiser.write("first", findParameters(network.parameters, resume.optimiser.first));
  if (resume.optimiser.kind !== "sgd")
    optimiser.write("second", findParameters(network.parameters, resume.optimiser.second));
}

async function forward({ input: { network, training }, loss, activations }: DeviceRun): Promise<void> {
  await network.forward(training.x, training.binned.bin.length, loss.logits, activations);
}

async function begin(run: DeviceRun): Promise<void> {
  await forward(run);
  run.loss.measure(0, false);
  [run.now] = await run.loss.readLog(0, 1);
}

/** Up to the next evaluation. */
function countSteps({ step, evaluate, options: { steps, evaluateEvery } }: DeviceRun): number {
  const untilDue = evaluate === null ? STRETCH : evaluateEvery - (step % evaluateEvery);
  return Math.min(STRETCH, steps - step, untilDue);
}

async function* takeSteps(run: DeviceRun, count: number): AsyncGenerator<StepEvent> {
  const { input, loss, optimiser, primalSteps, activations } = run;
  const first = run.step;
  optimiser.plan(Array.from({ length: count }, (_, k) => planStep(run, first + k + 1, run.taken + k + 1)));
  for (let k = 0; k < count; k++) {
    loss.differentiate();
    await input.network.backward(activations, loss.dLogits);
    optimiser.step(k);
    await forward(run);
    loss.measure(k + 1, (first + k + 1) % primalSteps === 0);
  }
  const entries = await loss.readLog(1, count + 1);
  for (const entry of entries) {
    run.step++;
    run.taken++;
    const event = describeStep(run);
    run.now = entry;
    yield event;
    refuseLost(run);
  }
}

/** Adam's factors at step k, in float64: 1 − β₂ᵏ would lose its digits on the device. */
function planStep({ options: { optimiser, average } }: DeviceRun, step: number, k: number) {
  const { rate, decay = 0, beta1 = 0.9, beta2 = 0.999 } = readRates(optimiser);
  const mean = step > average.from ? average.decay : 0;
  if (optimiser.kind === "sgd") return { size: rate, root: 1, inGradient: 0, shrink: 0, average: mean };
  return {
    size: rate / (1 - power(beta1, k)),
    root: Math.sqrt(1 - power(beta2, k)),
    inGradient: optimiser.kind === "adam" ? decay : 0,
    shrink: optimiser.kind === "adamw" ? rate * decay : 0,
    average: mean,
  };
}

/** The step that starts at `now`. */
function describeStep({ step, now, lagrangian, dual }: DeviceRun): StepEvent {
  const { loss, distances, multipliers } = now;
  const groups = lagrangian?.constraints.groups ?? [];
  const slack = lagrangian?.slack ?? new Float64Array(0);
  const value = loss + (lagrangian === null ? 0 : lagrangianTerm(dual, multipliers, distances, slack));
  refuseNaN(value);
  return {
    type: "step",
    step,
    loss,
    lagrangian: value,
    groups: groups.map(({ name }) => name),
    constrained: groups.map(({ constrained }) => constrained),
    distances,
    slack,
    multipliers,
  };
}

function refuseLost({ now, step, lagrangian }: DeviceRun): void {
  lagrangian?.constraints.groups.forEach(({ name }, g) => {
    refuseDivergence(name, now.multipliers[g], now.distances[g], lagrangian.slack[g], step);
  });
}

/** A run that keeps an average is evaluated at the average. */
async function evaluateOnDevice(
  run: DeviceRun,
  evaluate: () => Promise<Evaluation>,
): Promise<EvaluationEvent> {
  const { options, optimiser, lagrangian, step, now } = run;
  refuseNaN(now.loss);
  const keepsAverage = options.keep === "average" || options.keep === "validation";
  if (keepsAverage) optimiser.exchange();
  const evaluation = await evaluate();
  const isBest =
    run.best === null ||
    isBetter(evaluation, run.best.evaluation, options.keep, lagrangian?.groupSlack ?? {});
  if (isBest) run.best = { step, evaluation, parameters: await readValues(run, "values") };
  if (keepsAverage) optimiser.exchange();
  const groupState = lagrangian && {
    distances: Array.from(now.distances),
    multipliers: Array.from(now.multipliers),
  };
  return { type: "evaluation", step, evaluation, groupState, best: isBest };
}

async function readValues(
  { input: { network }, optimiser }: DeviceRun,
  what: "values" | "first" | "second" | "average",
): Promise<ParameterValues> {
  const values = await optimiser.read(what);
  return Object.fromEntries(network.parameters.map(({ name }, k) => [name, Array.from(values[k])]));
}

async function takeDeviceCheckpoint(run: DeviceRun): Promise<Checkpoint> {
  const { step, taken, options, lagrangian, startMultipliers, best, now } = run;
  const state: OptimiserState = {
    kind: options.optimiser.kind,
    steps: taken,
    first: await readValues(run, "first"),
    second: options.optimiser.kind === "sgd" ? {} : await readValues(run, "second"),
  };
  return {
    step,
    parameters: await readValues(run, "values"),
    average: await readValues(run, "average"),
    optimiser: state,
    lagrangian: lagrangian && { multipliers: Array.from(now.multipliers), cells: null },
    startMultipliers,
    best,
  };
}
