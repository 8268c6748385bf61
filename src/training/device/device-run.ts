/**
 * The training loop on a device that keeps loss, constraints and optimiser to itself (compute/device-training.ts): many
 * steps are submitted at once, and what they leave in the log comes back together, with the validation rows' logits of
 * every evaluation among them. A step ends with the forward pass at the new weights, which measures the groups for the
 * dual step and is the next step's forward pass too. The events are those of trainer.ts, a stretch of steps at a time;
 * checkpoints come at the ends of stretches, and a run whose patience ends within one keeps what it had then.
 */
import type { DeviceArray, Floats } from "../../compute/backend.ts";
import type { DeviceLoss, DeviceOptimiser, DeviceValues, LossEntry } from "../../compute/device-training.ts";
import { GraduateError } from "../../core/errors.ts";
import type { Activations, Network } from "../../models/networks/network.ts";
import { findParameters, type ParameterValues } from "../../models/networks/parameters.ts";
import { createJudge, type Evaluation, isBetter, type Judge } from "../evaluation.ts";
import { lagrangianTerm, refuseDivergence, scaleToRows } from "../lagrangian/dual.ts";
import { createLagrangian, type Lagrangian } from "../lagrangian/lagrangian.ts";
import type { OptimiserState } from "../optimiser.ts";
import type { DualSpec, TrainingOptions } from "../options.ts";
import { seeRows } from "../rows/cause-view.ts";
import { nameStep, refuseNaN } from "../run-errors.ts";
import type {
  Checkpoint,
  EvaluationEvent,
  OptimiseHooks,
  StepEvent,
  TrainingEvent,
  TrainingInput,
  TrainingRows,
} from "../trainer.ts";
import { checkPrimalSteps, hasNoPatience } from "../training-run.ts";
import { decaysAll, groupsOf, objectiveOf, optimiserOf, planStep, planStretch } from "./device-settings.ts";

/** Steps between two checkpoints, at least: each one is read from the device. */
const BETWEEN_CHECKPOINTS = 250;

interface DeviceRun {
  readonly input: TrainingInput;
  readonly options: TrainingOptions;
  readonly primalSteps: number;
  readonly activations: Activations;
  readonly lagrangian: Lagrangian | null;
  readonly dual: DualSpec;
  readonly loss: DeviceLoss;
  readonly optimiser: DeviceOptimiser;
  /** Null without validation rows. */
  readonly validation: DeviceValidation | null;
  readonly startMultipliers: readonly number[];
  /** Steps of a stretch, at most. */
  readonly stretch: number;
  /** Steps of the run; and those of the optimiser, which is ahead of it when patience ends within a stretch. */
  step: number;
  taken: number;
  best: Checkpoint["best"];
  /** Loss, distances and multipliers at the weights now. */
  now: LossEntry;
}

interface DeviceValidation extends Judge {
  readonly rows: TrainingRows;
  /** Logits of each evaluation of a stretch. */
  readonly logits: readonly DeviceArray[];
}

export async function* optimiseOnDevice(
  input: TrainingInput,
  options: TrainingOptions,
  hooks: OptimiseHooks,
): AsyncGenerator<TrainingEvent, Checkpoint> {
  const run = openDeviceRun(input, options, hooks);
  let lastGood = run.step;
  try {
    await begin(run);
    while (run.step < options.steps && !hasNoPatience(run)) {
      const from = run.step;
      try {
        yield* takeStretch(run);
      } catch (error) {
        throw error instanceof GraduateError
          ? nameStep(error, Math.max(run.step, from + 1), lastGood)
          : error;
      }
      const isLast = run.step >= options.steps || hasNoPatience(run);
      if (isLast || run.step - lastGood < BETWEEN_CHECKPOINTS) continue;
      lastGood = run.step;
      yield { type: "checkpoint", step: run.step, checkpoint: await takeDeviceCheckpoint(run) };
    }
    const last = await takeDeviceCheckpoint(run);
    yield { type: "checkpoint", step: run.step, checkpoint: last };
    return last;
  } finally {
    run.loss.release();
    run.optimiser.release();
    for (const array of run.validation?.logits ?? []) input.backend.release(array);
  }
}

function openDeviceRun(input: TrainingInput, options: TrainingOptions, { resume }: OptimiseHooks): DeviceRun {
  const { backend, network, training, validation } = input;
  const { training: device } = backend;
  if (device === undefined) throw new Error("the backend cannot keep a step to itself");
  const { constraint, seed } = options;
  const { binned } = training;
  const people = binned.bin.length;
  const dual = scaleToRows(options.dual, people);
  const lagrangian =
    constraint &&
    createLagrangian({ constraint, dual: options.dual, ...seeRows(training), people, seed, whole: true });
  if (resume?.lagrangian) lagrangian?.restore(resume.lagrangian);
  const { stretch, evaluations } = planStretch(input, options);
  const loss = device.openLoss({
    T: binned.T,
    K: network.K,
    bin: binned.bin,
    event: binned.cause ?? binned.event,
    first: binned.firstBin,
    weight: binned.weight,
    objective: objectiveOf(options.objective),
    groups: lagrangian && groupsOf(lagrangian, dual),
    entries: stretch + 1,
  });
  const decayAll = decaysAll(options.optimiser);
  const optimiser = device.openOptimiser(
    network.parameters.map(({ values, gradient, decays }) => ({
      values,
      gradient,
      decays: decayAll || decays,
    })),
    optimiserOf(options, { entries: stretch, kept: evaluations }),
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
    validation: validation && {
      rows: validation,
      ...createJudge(validation, constraint),
      logits: Array.from({ length: evaluations }, () =>
        backend.allocate(validation.binned.bin.length * network.K * network.T),
      ),
    },
    stretch,
    startMultipliers: resume?.startMultipliers ?? Array.from(lagrangian?.multipliers ?? []),
    taken: resume?.optimiser.steps ?? 0,
    step: resume?.step ?? 0,
    best: resume?.best ?? null,
    now: { loss: 0, distances: new Float64Array(0), multipliers: new Float64Array(0) },
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

function isDue({ step, options: { evaluateEvery, steps } }: Pick<DeviceRun, "step" | "options">): boolean {
  return step % evaluateEvery === 0 || step === steps;
}

/** Up to the end of a stretch, or to the last evaluation that has room in it. */
function countSteps({ step, validation, stretch, options }: DeviceRun): number {
  const most = Math.min(stretch, options.steps - step);
  const room = validation?.logits.length ?? Number.POSITIVE_INFINITY;
  let evaluations = 0;
  for (let k = 1; k <= most; k++) {
    if (isDue({ step: step + k, options }) && ++evaluations === room) return k;
  }
  return most;
}

async function* takeStretch(run: DeviceRun): AsyncGenerator<StepEvent | EvaluationEvent> {
  const { input, options, loss, optimiser, primalSteps, activations, validation } = run;
  const { step: first, taken } = run;
  const count = countSteps(run);
  optimiser.plan(Array.from({ length: count }, (_, k) => planStep(options, first + k + 1, taken + k + 1)));
  const evaluated: number[] = [];
  for (let k = 0; k < count; k++) {
    const step = first + k + 1;
    loss.differentiate();
    await input.network.backward(activations, loss.dLogits);
    optimiser.step(k);
    await forward(run);
    loss.measure(k + 1, step % primalSteps === 0);
    if (validation === null || !isDue({ step, options })) continue;
    await submitEvaluation(run, validation, evaluated.length);
    evaluated.push(step);
  }
  run.taken += count;
  const [entries, ...logits] = await Promise.all([
    loss.readLog(1, count + 1),
    ...evaluated.map((_, k) => input.backend.read((validation?.logits ?? [])[k])),
  ]);
  let kept: number | null = null;
  for (const entry of entries) {
    run.step++;
    const event = describeStep(run);
    run.now = entry;
    yield event;
    refuseLost(run);
    const place = evaluated.indexOf(run.step);
    if (place < 0 || validation === null) continue;
    const evaluation = describeEvaluation(run, validation, logits[place]);
    if (evaluation.best) kept = place;
    yield evaluation;
    if (hasNoPatience(run)) break;
  }
  if (kept !== null && run.best !== null) run.best = { ...run.best, parameters: await readKept(run, kept) };
}

/** A run that keeps an average is evaluated at the average. */
async function submitEvaluation(
  { input: { network }, options: { keep }, optimiser }: DeviceRun,
  { rows, logits }: DeviceValidation,
  place: number,
): Promise<void> {
  const keepsAverage = keep === "average" || keep === "validation";
  if (keepsAverage) optimiser.exchange();
  await network.forward(rows.x, rows.binned.bin.length, logits[place], null);
  optimiser.keep(place);
  if (keepsAverage) optimiser.exchange();
}

/** The parameters of a new best one are read when the stretch ends. */
function describeEvaluation(
  run: DeviceRun,
  { judge, groupCurves }: DeviceValidation,
  logits: Floats,
): EvaluationEvent {
  const evaluation: Evaluation = judge(logits);
  const { options, lagrangian, step, now, best } = run;
  refuseNaN(now.loss);
  const isBest =
    best === null || isBetter(evaluation, best.evaluation, options.keep, lagrangian?.groupSlack ?? {});
  if (isBest) run.best = { step, evaluation, parameters: {} };
  const groupState = lagrangian && {
    distances: Array.from(now.distances),
    multipliers: Array.from(now.multipliers),
  };
  return {
    type: "evaluation",
    step,
    evaluation,
    groupState,
    best: isBest,
    get groupCurves() {
      return groupCurves();
    },
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

function nameValues({ input: { network } }: DeviceRun, values: DeviceValues): ParameterValues {
  return Object.fromEntries(network.parameters.map(({ name }, k) => [name, Array.from(values[k])]));
}

async function readKept(run: DeviceRun, place: number): Promise<ParameterValues> {
  return nameValues(run, await run.optimiser.readKept(place));
}

async function readValues(
  run: DeviceRun,
  what: "values" | "first" | "second" | "average",
): Promise<ParameterValues> {
  return nameValues(run, await run.optimiser.read(what));
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
