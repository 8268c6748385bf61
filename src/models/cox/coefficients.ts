/**
 * What is reported for each coefficient of a Cox model: hazard ratio with a 95 % interval, z and p, from the robust
 * error where there is one. A column determined by others has no estimate; one that runs to infinity has no ratio,
 * error or test. Each missing number carries its reason.
 */
import { chiSquareUpperTail, normalQuantile } from "../../core/distributions.ts";
import { exp, square } from "../../core/elementary.ts";
import { absent, type Measured } from "../../core/measured.ts";
import type { CoxFit } from "./cox.ts";
import type { CoxRobust } from "./robust.ts";

/** One line of a Cox table: estimate, errors, hazard ratio with its interval, test. */
export interface CoxCoefficient {
  readonly name: string;
  /** Log hazard ratio per unit; if it runs to infinity, the value at which the likelihood stopped changing. */
  readonly estimate: Measured;
  /** From the inverse information. */
  readonly standardError: Measured;
  readonly robustStandardError: Measured;
  readonly hazardRatio: Measured;
  /** 95 % limits of the hazard ratio. */
  readonly lower: Measured;
  readonly upper: Measured;
  readonly z: Measured;
  readonly p: Measured;
}

const LEVEL = 0.95;
const ALIASED = "earlier columns determine this one";
const INFINITE = "the coefficient runs to infinity";
const OUT_OF_RANGE = "beyond the largest or smallest number there is: give the column in a larger unit";

/** The table of a Cox fit, with robust errors in place of the usual ones where they are given. */
export function describeCoefficients(fit: CoxFit, robust?: CoxRobust): readonly CoxCoefficient[] {
  const reach = normalQuantile(1 - (1 - LEVEL) / 2);
  const infinite = new Set(fit.infinite);
  return fit.names.map((name, j) => {
    const estimate = fit.coefficients[j];
    const standardError = fit.standardErrors[j];
    const robustStandardError = robust === undefined ? Number.NaN : robust.standardErrors[j];
    const used = robust === undefined ? standardError : robustStandardError;
    const reason = Number.isNaN(estimate) ? ALIASED : infinite.has(j) ? INFINITE : undefined;
    const unless = (value: () => Measured): Measured => (reason === undefined ? value() : absent(reason));
    const test = (value: () => number): Measured =>
      unless(() => (used > 0 ? value() : absent("the standard error is 0")));
    const ratio = (logRatio: number): Measured => {
      const value = exp(logRatio);
      return value > 0 && value < Number.POSITIVE_INFINITY ? value : absent(OUT_OF_RANGE);
    };
    return {
      name,
      estimate: Number.isNaN(estimate) ? absent(ALIASED) : estimate,
      standardError: unless(() => standardError),
      robustStandardError:
        robust === undefined
          ? absent("no column says which rows belong together")
          : unless(() => robustStandardError),
      hazardRatio: unless(() => ratio(estimate)),
      lower: unless(() => ratio(estimate - reach * used)),
      upper: unless(() => ratio(estimate + reach * used)),
      z: test(() => estimate / used),
      p: test(() => chiSquareUpperTail(square(estimate / used), 1)),
    };
  });
}
