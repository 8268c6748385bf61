export { finishRun, type GroupVerdict, type TrainingResult } from "./finish.ts";
export { ascend, FIXED_PENALTY_BELOW, relativeMove } from "./lagrangian/dual.ts";
export type { Method, Model, ModelHistoryEntry, Predictor, Provenance } from "./model.ts";
export {
  averageWeights,
  clipGradientNorm,
  createOptimiser,
  type Optimiser,
  type OptimiserSpec,
  zeroGradients,
} from "./optimiser.ts";
export {
  type ConstraintSpec,
  type DualSpec,
  type KeepRule,
  type ObjectiveSpec,
  PRESETS,
  type PresetName,
  type TrainingOptions,
} from "./options.ts";
export {
  type Checkpoint,
  optimise,
  type TrainingEvent,
  type TrainingInput,
  type TrainingRows,
} from "./trainer.ts";
