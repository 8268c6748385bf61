export { applyBoost, type Boost, boostCurves, fitBoost } from "./mcboost.ts";
