/**
 * A checkpoint as bytes and back, in the container of the model file: what the trainer needs to go on, and the history so far, so
 * that the model of a resumed run has all of it. Tensors are flat and named by what they are: parameters.NAME, average.NAME,
 * first.NAME and second.NAME (the optimiser's moments), best.NAME (the best iterate so far). Whether they fit the network is asked by
 * the trainer, which has one; whether the run is the same one is for the caller to compare by `run`.
 */
import type { ModelHistoryEntry } from "../training/model.ts";
import type { Checkpoint } from "../training/trainer.ts";
import { packSections } from "./container.ts";
import { encodeJson } from "./json-bytes.ts";
import {
  checkHeader,
  openSections,
  parameterTensors,
  parseHeader,
  refuseWeights,
  takeParameters,
} from "./model-file.ts";
import { checkpointHeaderSchema } from "./model-schema.ts";
import { writeSafetensors } from "./safetensors.ts";

/** A run in the middle, with its history and a fingerprint of what it was begun with. */
export interface SavedCheckpoint {
  readonly checkpoint: Checkpoint;
  readonly history: readonly ModelHistoryEntry[];
  /** What the run was asked, as text to compare with, such as the SHA-256 of its request; null where nobody keeps track. */
  readonly run: string | null;
}

const SETS = ["parameters", "average", "first", "second", "best"] as const;

/** A checkpoint as the bytes of a file. */
export function checkpointToBytes({ checkpoint, history, run }: SavedCheckpoint): Uint8Array {
  const { step, parameters, average, optimiser, held, startMultipliers, best } = checkpoint;
  const header = checkHeader(
    checkpointHeaderSchema,
    {
      kind: "checkpoint",
      run,
      step,
      optimiser: { kind: optimiser.kind, steps: optimiser.steps },
      held,
      startMultipliers,
      best: best && { step: best.step, evaluation: best.evaluation },
      history,
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
  return packSections({ header: encodeJson(header), weights: writeSafetensors(new Map(tensors)) });
}

/** `name` says in errors which file it was. */
export function checkpointFromBytes(bytes: Uint8Array, name: string): SavedCheckpoint {
  const { header, weights } = openSections(bytes, name, "checkpoint");
  const { run, step, optimiser, held, startMultipliers, best, history } = parseHeader(
    checkpointHeaderSchema,
    header,
    name,
  );
  for (const key of weights.keys()) {
    if (!SETS.some((set) => key.startsWith(`${set}.`))) {
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
  return {
    checkpoint: {
      step,
      parameters,
      average: whole.average,
      optimiser: { ...optimiser, first: whole.first, second: whole.second },
      held,
      startMultipliers,
      best: best && { ...best, parameters: whole.best },
    },
    history,
    run,
  };
}
