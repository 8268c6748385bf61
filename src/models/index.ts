export { type AnchoredOptions, createAnchored } from "./anchored.ts";
export type { CoxInput, CoxModel, CoxOptions, CoxTies } from "./cox.ts";
export { cumulativeHazardAtZero } from "./cox-baseline.ts";
export {
  createNetwork,
  type NetworkSpec,
  type ParameterValues,
  readParameters,
  writeParameters,
} from "./create-network.ts";
export { createDrsa } from "./drsa.ts";
export {
  type CoxArrays,
  coxCurves,
  coxCurvesOnGrid,
  fitCox,
  linearPredictor,
  type StratifiedCoxArrays,
} from "./from-arrays.ts";
export { anchorHazards } from "./initialise.ts";
export { createLinear } from "./linear.ts";
export { createMlp } from "./mlp.ts";
export type { Network, Parameter } from "./network.ts";
