export {
  betaQuantile,
  binomialUpperTail,
  chiSquareUpperTail,
  logGamma,
  logGammaUpper,
  normalQuantile,
} from "./distributions.ts";
export { exp, expm1, log, log1p, power, powerOfTen } from "./elementary.ts";
export * from "./errors.ts";
export { type CholeskyFactor, factorCholesky, invertCholesky, solveCholesky } from "./linear-algebra.ts";
export * from "./measured.ts";
export { present } from "./present.ts";
export { createRandom, type Random, shuffle } from "./random.ts";
