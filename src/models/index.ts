export type { DeviceArray } from "../compute/backend.ts";
export { cumulativeHazardAtZero } from "./cox/baseline.ts";
export { causeSpecificIncidence } from "./cox/cause-specific.ts";
export { type CoxCoefficient, type CoxRobust, describeCoefficients, robustCox } from "./cox/coefficients.ts";
export {
  type CoxFit,
  type CoxInput,
  type CoxModel,
  type CoxOptions,
  type CoxTies,
  coxCurves,
  coxCurvesOnGrid,
  fitCox,
  linearPredictor,
  requireCurves,
  type StratifiedCoxInput,
} from "./cox/cox.ts";
export { type CoxTerm, type ProportionalHazards, testProportionalHazards } from "./cox/proportional.ts";
export {
  fitSubdistribution,
  type SubdistributionFit,
  type SubdistributionInput,
  subdistributionIncidence,
} from "./cox/subdistribution.ts";
export { type AnchoredOptions, createAnchored } from "./networks/anchored.ts";
export { createNetwork } from "./networks/create-network.ts";
export { createDrsa } from "./networks/drsa.ts";
export { type HostParameter, type HostParameters, mirrorParameters } from "./networks/host-parameters.ts";
export { anchorHazards } from "./networks/initialise.ts";
export { createLinear } from "./networks/linear.ts";
export type { NetworkSpec } from "./networks/list.ts";
export { createMlp } from "./networks/mlp.ts";
export type { Activations, Network, Parameter } from "./networks/network.ts";
export {
  type ParameterValues,
  readParameters,
  writeParameters,
  zeroGradients,
} from "./networks/parameters.ts";
