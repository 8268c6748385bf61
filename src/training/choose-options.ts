/**
 * From what a person asks for to the options of a run: the method on the preset, then whatever was given. Asking the `default` preset
 * for another kind of distance brings that kind's slack and multipliers along; a long table is passed over often enough.
 */
import type { NetworkSpec } from "../models/create-network.ts";
import type { Method } from "./model.ts";
import {
  type ConstraintSpec,
  KIND_DEFAULTS,
  LEAST_PASSES,
  type ObjectiveSpec,
  PRESETS,
  type PresetName,
  RANDOM_START,
  type TrainingOptions,
  XCAL_LAMBDA,
} from "./options.ts";

export interface RunRequest {
  readonly network?: NetworkSpec["kind"];
  readonly constraint?: Partial<ConstraintSpec>;
  readonly seed?: number;
  readonly options?: Partial<TrainingOptions>;
}

export function chooseOptions(
  method: Exclude<Method, "cox">,
  preset: PresetName,
  request: RunRequest,
  N: number,
): TrainingOptions {
  const given = preset === "default" ? fitToRequest(request, N) : PRESETS[preset];
  const base: TrainingOptions = { ...given, seed: request.seed ?? 1, ...request.options };
  const tail = preset === "paper";
  const free = { ...base, constraint: null, keep: preset === "paper" ? ("concordance" as const) : base.keep };
  const likelihood = (withTail: boolean): ObjectiveSpec => ({ kind: "likelihood", tail: withTail });
  switch (method) {
    case "graduate": {
      const constraint = base.constraint ?? given.constraint;
      return { ...base, constraint: constraint && { ...constraint, ...request.constraint } };
    }
    case "nll":
      return { ...free, objective: likelihood(false) };
    case "drsa":
      return { ...free, objective: likelihood(true) };
    case "xcal":
      return {
        ...free,
        objective: request.options?.objective ?? { kind: "xcal", tail, lambda: XCAL_LAMBDA },
      };
    case "rps":
      return { ...free, objective: request.options?.objective ?? { kind: "rps" } };
  }
}

function fitToRequest({ network, constraint, options = {} }: RunRequest, N: number): TrainingOptions {
  const preset = { ...PRESETS.default, ...(network === "drsa" ? RANDOM_START : {}) };
  const kind = constraint?.kind ?? options.constraint?.kind ?? preset.constraint?.kind ?? "atRisk";
  const { kappa, dual } = KIND_DEFAULTS[kind];
  const batch = options.batch === undefined ? preset.batch : options.batch;
  return {
    ...preset,
    constraint: preset.constraint && { ...preset.constraint, kind, kappa },
    dual,
    steps: Math.max(preset.steps, Math.ceil((LEAST_PASSES * N) / (batch ?? N))),
  };
}
