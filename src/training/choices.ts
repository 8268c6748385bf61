/**
 * Everything that can be chosen by name, one list each. Option parsers, file schemas, JSON schemas, sweeps and docs
 * take their names from here (`namesOf`), and every switch over a choice ends in `unreachable`, so a name cannot be
 * known in one place and forgotten in another. A list is an object that maps each name to its meaning. Where a lower
 * layer owns a choice (distances, networks, metrics, backends), its list is defined there and only collected here.
 * docs/concepts/choices.md is the same list for users.
 */
import type { Backend } from "../compute/backend.ts";
import { NETWORKS as NETWORK_LIST, type NetworkName } from "../models/networks/list.ts";
import type { OptimiserSpec } from "./optimiser.ts";
import type { DualSpec, ObjectiveSpec } from "./options.ts";

export type { NetworkName } from "../models/networks/list.ts";
export { VARIANTS } from "../objectives/constraints.ts";
export { DISTANCES, type DistanceName, distanceInWords } from "../objectives/distances/list.ts";
export { METRICS, type MetricName } from "../stats/scores/metrics.ts";
export { PRESETS, type PresetName } from "./options.ts";

/** What is fitted. */
export const METHODS = {
  graduate: "a network whose curves are held close to the observed in every group",
  drsa: "the network without constraints, on DRSA's loss: the likelihood and its tail term",
  xcal: "the network without constraints, with X-Cal's calibration penalty",
  rps: "the network without constraints, on the ranked probability score",
  nll: "the network without constraints, on the likelihood alone",
  cox: "Cox's proportional hazards, without a network",
} as const satisfies Readonly<Record<string, string>>;
/** The name of a method. */
export type Method = keyof typeof METHODS;

/** What turns features into logits. */
export const NETWORKS = Object.fromEntries(NETWORK_LIST.map(({ kind, words }) => [kind, words])) as Readonly<
  Record<NetworkName, string>
>;

/** The loss, before any constraint. */
export const OBJECTIVES = {
  likelihood: "the discrete likelihood, with or without DRSA's tail term",
  xcal: "the likelihood and X-Cal's calibration penalty",
  rps: "the ranked probability score, with or without a ranking term",
} as const satisfies Readonly<Record<ObjectiveSpec["kind"], string>>;

/** How multipliers rise and fall. */
export const DUAL_FORMS = {
  ascent: "μ ← max(0, μ + rate·(distance − slack)), as the paper has it",
  augmented: "the augmented Lagrangian: μ ← max(0, μ + penalty·(distance/slack − 1)), once an epoch",
} as const satisfies Readonly<Record<DualSpec["form"], string>>;

/** How parameters are updated. */
export const OPTIMISERS = {
  sgd: "gradient descent, with or without momentum",
  adam: "Adam",
  adamw: "Adam with weight decay of its own",
} as const satisfies Readonly<Record<OptimiserSpec["kind"], string>>;

/** Which weights a run keeps. */
export const KEEP_RULES = {
  average: "the average at the end",
  validation: "of the averages evaluated, the one with the least validation loss",
  constraints:
    "the paper's: the iterate that meets most constraints on the validation rows, then the best C-index",
  concordance: "the iterate with the best C-index on the validation rows",
  last: "the last iterate",
} as const satisfies Readonly<Record<string, string>>;
/** The name of a rule for which weights to keep. */
export type KeepRule = keyof typeof KEEP_RULES;

/** What follows training. */
export const SOLVES = {
  none: "nothing: the trained weights as they are",
  mixture: "the mixture of the start and the trained network that the validation rows choose",
  held: "that mixture, and an output layer solved under every group's constraint",
  heldOnTraining: "the same, solved on the training rows alone: the validation rows may still judge it",
} as const satisfies Readonly<Record<string, string>>;
/** The name of what follows training. */
export type SolveMode = keyof typeof SOLVES;

/** Whether a run ends in the solve of its output layer. */
export function endsHeld(solve: SolveMode | undefined): boolean {
  return solve === "held" || solve === "heldOnTraining";
}

/** How hard groups that the model may not see are held. */
export const HOLDS = {
  strict: "at the cost of up to a fifth of the likelihood that the model gains over Kaplan-Meier",
  balanced: "at the cost of up to a twentieth of it",
  free: "only where it costs nothing",
} as const satisfies Readonly<Record<string, string>>;
/** The name of how hard such groups are held. */
export type Hold = keyof typeof HOLDS;

/** What computes. */
export const BACKENDS = {
  auto: "`webgpu` where there is a graphics device and every step takes all rows, else `wasm`",
  wasm: "WebAssembly kernels on several threads",
  webgpu: "kernels on the graphics device; in Node the package `webgpu` has to be installed",
  reference: "plain float64, slow, to compare with",
} as const satisfies Readonly<Record<Backend["name"] | "auto", string>>;
/** The name of a backend, or `auto`. */
export type BackendName = keyof typeof BACKENDS;
