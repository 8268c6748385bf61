export { applyBoost, type Boost, boostCurves, fitBoost, type McBoost } from "./mcboost.ts";
export { fitBoostRounds } from "./mcboost-rounds.ts";
