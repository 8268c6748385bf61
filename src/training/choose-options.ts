/**
 * Turns what a person asks for into the network and the options of a run: the preset, changed by the method, then by
 * whatever was given. Asking a preset for another distance also changes the slack to that distance's; in the `default`
 * preset, the multipliers too. A long table gets enough steps to be passed over often enough.
 */
import { present } from "../core/present.ts";
import { InputError, unreachable } from "../core/errors.ts";
import { requireNetwork } from "../models/networks/create-network.ts";
import type { SingleNetworkSpec } from "../models/networks/list.ts";
import { canStart } from "../models/start/additive-start.ts";
import { DISTANCES, type Method, type NetworkName } from "./choices.ts";
import {
  type ConstraintSpec,
  DEFAULT_PRESET_HIDDEN,
  LEAST_PASSES,
  type ObjectiveSpec,
  PRESETS,
  type PresetName,
  RANDOM_START,
  type TrainingOptions,
  XCAL_LAMBDA,
  XCAL_LAMBDAS,
} from "./options.ts";
import type { TargetRequest } from "./solve/curves/hold-targets.ts";

export interface RunRequest extends Partial<Omit<TargetRequest, "allowClash">> {
  readonly network?: NetworkName;
  readonly hidden?: number;
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
  const given = preset === "default" ? fitToRequest(request, N) : fitToPaper(request);
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
    default:
      return unreachable(method);
  }
}

/** X-Cal's weight is chosen on the validation rows unless it is given or there are none. */
export function listCandidates(
  method: Method,
  options: TrainingOptions,
  { isGiven, canChoose }: { readonly isGiven: boolean; readonly canChoose: boolean },
): { readonly what: string; readonly options: TrainingOptions }[] {
  const { objective } = options;
  if (method !== "xcal" || objective.kind !== "xcal" || isGiven || !canChoose) {
    return [{ what: method, options }];
  }
  return XCAL_LAMBDAS.map((lambda) => ({
    what: `X-Cal with a penalty of weight ${lambda}`,
    options: { ...options, objective: { ...objective, lambda } },
  }));
}

function fitToRequest({ network, constraint, options = {} }: RunRequest, N: number): TrainingOptions {
  const preset = {
    ...PRESETS.default,
    ...(network && requireNetwork(network).startsAtRandom && RANDOM_START),
  };
  const distance =
    constraint?.distance ?? options.constraint?.distance ?? PRESETS.default.constraint.distance;
  const { kappa, dual } = DISTANCES[distance].defaults;
  const batch = options.batch === undefined ? preset.batch : options.batch;
  return {
    ...preset,
    constraint: { ...PRESETS.default.constraint, distance, kappa },
    dual,
    steps: Math.max(preset.steps, Math.ceil((LEAST_PASSES * N) / (batch ?? N))),
  };
}

/**
 * A slack is in the units of its distance: .02 is a mean square of probabilities, and next to nothing in standard
 * errors.
 */
function fitToPaper({ constraint, options = {} }: RunRequest): TrainingOptions {
  const { constraint: own, ...preset } = PRESETS.paper;
  const distance = constraint?.distance ?? options.constraint?.distance ?? own.distance;
  return { ...preset, constraint: { ...own, distance, ...DISTANCES[distance].paper } };
}

/** `groups`: how many of the D columns (the last ones) give group membership; `causes`: where there are several. */
export interface NetworkSizes {
  readonly D: number;
  readonly T: number;
  readonly groups: number;
  readonly causes?: number | undefined;
}

/** `hazards`: of each bin at the start; with causes, cause by cause. */
export function chooseNetwork(
  request: RunRequest,
  preset: PresetName,
  { D, T, groups, causes }: NetworkSizes,
  hazards: Float64Array,
): SingleNetworkSpec {
  const kind = request.network ?? (preset === "paper" ? "drsa" : "anchored");
  return requireNetwork(kind).describe({
    D,
    T,
    groups,
    ...present({ causes }),
    hidden: request.hidden ?? (preset === "paper" ? undefined : DEFAULT_PRESET_HIDDEN),
    hiddenIsGiven: request.hidden !== undefined,
    baselineHazard: Array.from(hazards),
  });
}

/** The additive start is what keeps splines in check. */
export function refuseSplines(preset: PresetName, own: number): void {
  if (preset === "paper") {
    throw new InputError("the paper's preset has no splines", {
      code: "option.conflict",
      hint: "leave out --splines or --preset paper",
    });
  }
  if (canStart(own)) return;
  throw new InputError(`too many columns for splines: ${own} features with them`, {
    code: "splines.wide",
    hint: "choose among the features (--features), or leave --splines out",
  });
}
