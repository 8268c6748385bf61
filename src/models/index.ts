export { type CoxInput, type CoxModel, type CoxOptions, type CoxTies, fitCox } from "./cox.ts";
export { coxCurves, coxCurvesOnGrid, cumulativeHazardAtZero, linearPredictor } from "./cox-baseline.ts";
