export {
  DISTANCES,
  type DistanceName,
  type KeepRule,
  METHODS,
  type Method,
} from "./choices.ts";
export { finishRun, type TrainingResult } from "./finish.ts";
export { FIXED_PENALTY_BELOW, nextMultipliers, relativeMove } from "./lagrangian/dual.ts";
export {
  type Model,
  type ModelHistoryEntry,
  type Predictor,
  type Provenance,
  toHistoryEntry,
} from "./model.ts";
export {
  averageWeights,
  clipGradientNorm,
  createOptimiser,
  type Optimiser,
  type OptimiserSpec,
} from "./optimiser.ts";
export {
  type ConstraintSpec,
  type DualSpec,
  type ObjectiveSpec,
  PRESETS,
  type PresetName,
  type TrainingOptions,
} from "./options.ts";
export type { BlindPoint, BlindReport, SolveReport } from "./solve/hold.ts";
export type { GroupVerdict, VerdictStatus } from "./solve/verdict.ts";
export {
  type Checkpoint,
  optimise,
  type TrainingEvent,
  type TrainingInput,
  type TrainingRows,
} from "./trainer.ts";
