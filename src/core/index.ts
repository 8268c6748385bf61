export {
  betaQuantile,
  binomialUpperTail,
  chiSquareUpperTail,
  logGamma,
  logGammaUpper,
  normalQuantile,
  normalUpperTail,
} from "./distributions.ts";
export { exp, expm1, log, log1p, power, powerOfTen } from "./elementary.ts";
export {
  BackendError,
  type ErrorDetails,
  FormatError,
  GraduateError,
  InputError,
  MAX_ROWS_NAMED,
  NumericalError,
  nameRows,
  restate,
  unreachable,
} from "./errors.ts";
export { type CholeskyFactor, factorCholesky, invertCholesky, solveCholesky } from "./linear-algebra.ts";
export * from "./measured.ts";
export { present } from "./present.ts";
export { createRandom, type Random, shuffle } from "./random.ts";
