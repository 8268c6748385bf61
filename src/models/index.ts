export { cumulativeHazardAtZero } from "./cox/baseline.ts";
export { type CoxCoefficient, describeCoefficients } from "./cox/coefficients.ts";
export {
  type CoxFit,
  type CoxInput,
  type CoxModel,
  type CoxOptions,
  type CoxTies,
  requireCurves,
  type StratifiedCoxInput,
} from "./cox/cox.ts";
export {
  type CoxArrays,
  coxCurves,
  coxCurvesOnGrid,
  fitCox,
  linearPredictor,
  type StratifiedCoxArrays,
} from "./cox/from-arrays.ts";
export { type CoxTerm, type ProportionalHazards, testProportionalHazards } from "./cox/proportional.ts";
export { type CoxRobust, robustCox } from "./cox/robust.ts";
export { type AnchoredOptions, createAnchored } from "./networks/anchored.ts";
export {
  createNetwork,
  type NetworkSpec,
  type ParameterValues,
  readParameters,
  writeParameters,
} from "./networks/create-network.ts";
export { createDrsa } from "./networks/drsa.ts";
export { anchorHazards } from "./networks/initialise.ts";
export { createLinear } from "./networks/linear.ts";
export { createMlp } from "./networks/mlp.ts";
export type { Network, Parameter } from "./networks/network.ts";
