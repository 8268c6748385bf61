export { type AnchoredOptions, createAnchored } from "./anchored.ts";
export { type CoxInput, type CoxModel, type CoxOptions, type CoxTies, fitCox } from "./cox.ts";
export { coxCurves, coxCurvesOnGrid, cumulativeHazardAtZero, linearPredictor } from "./cox-baseline.ts";
export {
  createNetwork,
  type NetworkSpec,
  type ParameterValues,
  readParameters,
  writeParameters,
} from "./create-network.ts";
export { createDrsa } from "./drsa.ts";
export { anchorHazards } from "./initialise.ts";
export { createLinear } from "./linear.ts";
export { createMlp } from "./mlp.ts";
export type { Network, Parameter } from "./network.ts";
