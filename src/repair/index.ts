export { applyCauseHazards, type CauseHazardBoost } from "./cause-hazards.ts";
export { fitBoostRounds } from "./left-out.ts";
export { applyBoost, type Boost, boostCurves, fitBoost, type McBoost } from "./mcboost.ts";
