/** What a run on a device is told, in the plain numbers of compute/device-training.ts. */
import type {
  DeviceGroups,
  DeviceObjective,
  DeviceOptimiserSettings,
  StepRates,
} from "../../compute/device-training.ts";
import { power } from "../../core/elementary.ts";
import { XCAL_BINS, XCAL_GAMMA } from "../../objectives/xcal.ts";
import type { Lagrangian } from "../lagrangian/lagrangian.ts";
import type { OptimiserSpec } from "../optimiser.ts";
import type { DualSpec, ObjectiveSpec, TrainingOptions } from "../options.ts";
import type { TrainingInput } from "../trainer.ts";

/**
 * Steps that are submitted before anything comes back: at most this many, and fewer on long tables, whose steps take
 * a good part of a second.
 */
const STRETCH = 128;
const STRETCH_ROWS = 4_000_000;
/** Evaluations of a stretch: as many as have room for their logits, 256 MiB. */
const EVALUATIONS = 64;
const EVALUATED_LOGITS = 2 ** 26;

/** Every field that some optimiser has. */
function readRates(spec: OptimiserSpec) {
  const { rate, decay, decayAll, momentum, beta1, beta2, epsilon } = spec as Partial<
    Record<"decay" | "momentum" | "beta1" | "beta2" | "epsilon", number>
  > & { readonly rate: number; readonly decayAll?: boolean };
  return { rate, decay, decayAll, momentum, beta1, beta2, epsilon };
}

export function objectiveOf(spec: ObjectiveSpec): DeviceObjective {
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

export function groupsOf({ constraints, slack }: Lagrangian, dual: DualSpec): DeviceGroups {
  const { distance, variant, groups, blocks, memberships } = constraints;
  return {
    gap: GAPS[distance],
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

/** A distance as kernels know it: which statistic it reads, and how gaps are summed up. */
const GAPS = { l2: "meanSquare", variance: "largest", atRisk: "blocks" } as const;

/** Whether parameters marked exempt decay as well. */
export function decaysAll(optimiser: OptimiserSpec): boolean {
  return readRates(optimiser).decayAll === true;
}

export function optimiserOf(
  { optimiser, clip }: TrainingOptions,
  room: Pick<DeviceOptimiserSettings, "entries" | "kept">,
): DeviceOptimiserSettings {
  const { momentum = 0, beta1 = 0.9, beta2 = 0.999, epsilon = 1e-8 } = readRates(optimiser);
  return { kind: optimiser.kind, momentum, beta1, beta2, epsilon, clip, ...room };
}

/** Steps of a stretch, and evaluations that have room in it, at most. */
export function planStretch(
  { training, validation, network: { T, K } }: TrainingInput,
  { evaluateEvery }: TrainingOptions,
) {
  const most = Math.min(STRETCH, Math.max(1, Math.floor(STRETCH_ROWS / training.binned.bin.length)));
  if (validation === null) return { stretch: most, evaluations: 0 };
  const room = Math.floor(EVALUATED_LOGITS / Math.max(1, validation.binned.bin.length * K * T));
  const evaluations = Math.max(1, Math.min(EVALUATIONS, room, Math.ceil(most / evaluateEvery)));
  return { stretch: Math.min(most, evaluations * evaluateEvery), evaluations };
}

/** Adam's factors at step k, in float64: 1 − β₂ᵏ would lose its digits on the device. */
export function planStep({ optimiser, average }: TrainingOptions, step: number, k: number): StepRates {
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
