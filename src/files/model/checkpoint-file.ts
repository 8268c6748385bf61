/**
 * A checkpoint as bytes and back, in the container of the model file: what the trainer needs to go on, and the history
 * so far, so that the model of a resumed run has all of it. Tensors are flat and named by what they are:
 * parameters.NAME, average.NAME, first.NAME and second.NAME (the optimiser's moments), best.NAME (the best iterate so
 * far), and members.2.NAME (an ensemble's finished runs). The trainer, which has the network, checks whether they fit
 * it; the caller checks whether the run is the same one by comparing `run`.
 */
import * as z from "zod";
import { namesOf } from "../../core/names.ts";
import { MAX_BINS } from "../../data/outcomes/time-grid.ts";
import type { SingleNetworkSpec } from "../../models/networks/list.ts";
import { memberParameter } from "../../models/networks/mean.ts";
import { parameterShapes, singleNetworkSchema } from "../../models/networks/network-spec.ts";
import { OPTIMISERS } from "../../training/choices.ts";
import type { Evaluation } from "../../training/evaluation.ts";
import type { LagrangianState } from "../../training/lagrangian/lagrangian.ts";
import type { ModelHistoryEntry } from "../../training/model.ts";
import type { Checkpoint, TrainedMember } from "../../training/trainer.ts";
import { encodeJson, packSections } from "../container/container.ts";
import { type Tensor, writeSafetensors } from "../container/safetensors.ts";
import { refuseWeights } from "./check-tensors.ts";
import { checkHeader, openSections, parameterTensors, parseHeader, takeParameters } from "./model-file.ts";
import { historySchema } from "./model-schema.ts";
import { anyNumber, count, describing, list, numbers } from "./schema-parts.ts";

/** An unfinished run, with its history and a fingerprint of what it was started with. */
export interface SavedCheckpoint {
  readonly checkpoint: Checkpoint;
  readonly history: readonly ModelHistoryEntry[];
  /** What the run was asked, as text to compare, such as the SHA-256 of its request; null where nobody keeps track. */
  readonly run: string | null;
  /** In an ensemble, the runs that ended before this one. */
  readonly members?: readonly TrainedMember[];
}

const evaluation = describing<Evaluation>()(
  z.strictObject({
    loss: anyNumber,
    concordance: anyNumber.nullable(),
    groups: list(
      z.strictObject({
        name: z.string(),
        n: count,
        events: count,
        distance: anyNumber,
        measured: z.boolean(),
      }),
    ),
  }),
);

/** The Lagrangian of a run: its key in files is "held". */
const held = describing<LagrangianState>()(
  z.strictObject({
    multipliers: numbers,
    cells: list(
      z.strictObject({
        name: z.string(),
        group: z.string(),
        first: count,
        last: count,
        expectedEvents: anyNumber,
      }),
    ).nullable(),
  }),
)
  .refine(({ multipliers }) => multipliers.every((one) => one >= 0 && one < Number.POSITIVE_INFINITY), {
    path: ["multipliers"],
    message: "expected multipliers from 0 up",
  })
  .refine(({ multipliers, cells }) => cells === null || cells.length === multipliers.length, {
    path: ["cells"],
    message: "expected a cell for every multiplier",
  });

/** A finished run of an ensemble, without its numbers. */
export const memberSchema = describing<Omit<TrainedMember, "parameters">>()(
  z.strictObject({ network: describing<SingleNetworkSpec>()(singleNetworkSchema), steps: count }),
).refine(({ network }) => network.T <= MAX_BINS, {
  path: ["network", "T"],
  message: `expected at most ${MAX_BINS} time bins`,
});

const checkpointHeaderSchema = z
  .strictObject({
    kind: z.literal("checkpoint"),
    run: z.string().nullable(),
    step: count,
    optimiser: z.strictObject({ kind: z.enum(namesOf(OPTIMISERS)), steps: count }),
    held: held.nullable(),
    startMultipliers: numbers,
    best: z.strictObject({ step: count, evaluation }).nullable(),
    history: historySchema,
    members: list(memberSchema).exactOptional(),
  })
  .refine(({ step, best }) => best === null || best.step <= step, {
    path: ["best", "step"],
    message: "expected a step that the run has taken",
  });

const SETS = ["parameters", "average", "first", "second", "best"] as const;
export const MEMBERS = "members.";

/** A checkpoint as the bytes of a file. */
export function checkpointToBytes({ checkpoint, history, run, members }: SavedCheckpoint): Uint8Array {
  const { step, parameters, average, optimiser, lagrangian, startMultipliers, best } = checkpoint;
  const header = checkHeader(
    checkpointHeaderSchema,
    {
      kind: "checkpoint",
      run,
      step,
      optimiser: { kind: optimiser.kind, steps: optimiser.steps },
      held: lagrangian,
      startMultipliers,
      best: best && { step: best.step, evaluation: best.evaluation },
      history,
      ...(members && { members: members.map(({ network, steps }) => ({ network, steps })) }),
    },
    "the checkpoint to be written",
  );
  const sets = {
    parameters,
    average,
    first: optimiser.first,
    second: optimiser.second,
    best: best?.parameters ?? {},
  };
  const tensors = SETS.flatMap((set) => [...parameterTensors(`${set}.`, sets[set])]);
  for (const [m, one] of (members ?? []).entries()) {
    tensors.push(...parameterTensors(MEMBERS + memberParameter(m, ""), one.parameters));
  }
  return packSections({ header: encodeJson(header), weights: writeSafetensors(new Map(tensors)) });
}

/** `name` is the file's name in errors. */
export function checkpointFromBytes(bytes: Uint8Array, name: string): SavedCheckpoint {
  const { header, weights } = openSections(bytes, name, "checkpoint");
  const parsed = parseHeader(checkpointHeaderSchema, header, name);
  const { run, step, optimiser, held: lagrangian, startMultipliers, best, history, members } = parsed;
  for (const key of weights.keys()) {
    if (![...SETS.map((set) => `${set}.`), MEMBERS].some((prefix) => key.startsWith(prefix))) {
      throw refuseWeights(`"${key.slice(0, 60)}" is none of a checkpoint's`, name);
    }
  }
  const take = (set: (typeof SETS)[number]) => takeParameters(weights, `${set}.`, name);
  const parameters = take("parameters");
  const whole = {
    average: take("average"),
    first: take("first"),
    second: take("second"),
    best: take("best"),
  };
  const names = Object.keys(parameters);
  const isLike = (set: Readonly<Record<string, readonly number[]>>) =>
    Object.keys(set).length === names.length &&
    names.every((key) => Object.hasOwn(set, key) && set[key].length === parameters[key].length);
  const isEmpty = (set: object) => Object.keys(set).length === 0;
  const fits =
    isLike(whole.average) &&
    isLike(whole.first) &&
    (optimiser.kind === "sgd" ? isEmpty(whole.second) : isLike(whole.second)) &&
    (best === null ? isEmpty(whole.best) : isLike(whole.best));
  if (!fits) throw refuseWeights("weights, averages and moments are not of the same parameters", name);
  for (const [key, values] of Object.entries(whole.second)) {
    if (values.some((value) => value < 0))
      throw refuseWeights(`"second.${key}" has means of squares below 0`, name);
  }
  const ended = readMembers(members ?? [], weights, name);
  return {
    checkpoint: {
      step,
      parameters,
      average: whole.average,
      optimiser: { ...optimiser, first: whole.first, second: whole.second },
      lagrangian,
      startMultipliers,
      best: best && { ...best, parameters: whole.best },
    },
    history,
    run,
    ...(members && { members: ended }),
  };
}

/** Refuses more or fewer weights than the networks have. */
export function readMembers(
  described: readonly Omit<TrainedMember, "parameters">[],
  weights: ReadonlyMap<string, Tensor>,
  name: string,
): TrainedMember[] {
  let left = [...weights.keys()].filter((key) => key.startsWith(MEMBERS)).length;
  const members = described.map((one, m) => {
    const parameters = takeParameters(weights, MEMBERS + memberParameter(m, ""), name);
    for (const [key, shape] of parameterShapes(one.network)) {
      const length = shape.reduce((product, size) => product * size, 1);
      if (parameters[key]?.length !== length)
        throw refuseWeights(`"${key}" of run ${m + 1} does not fit its network`, name);
      left--;
    }
    return { ...one, parameters };
  });
  if (left > 0) throw refuseWeights(`${left} of them belong to no run that has ended`, name);
  return members;
}
