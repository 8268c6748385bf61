export { type AnchoredOptions, createAnchored } from "./anchored.ts";
export type { CoxFit, CoxInput, CoxModel, CoxOptions, CoxTies, StratifiedCoxInput } from "./cox.ts";
export { cumulativeHazardAtZero } from "./cox-baseline.ts";
export { type CoxCoefficient, describeCoefficients } from "./cox-coefficients.ts";
export { type CoxTerm, type ProportionalHazards, testProportionalHazards } from "./cox-proportional.ts";
export { type CoxRobust, robustCox } from "./cox-robust.ts";
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
