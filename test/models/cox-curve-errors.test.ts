// Errors of Cox curves against R's survfit(coxph), with few ties and with many.
import { readFileSync } from "node:fs";
import { describe, expect, test } from "vitest";
import { exp } from "../../src/core/elementary.ts";
import { coxCurvesOnGrid, fitCox } from "../../src/models/cox/cox.ts";
import { coxContrastError, coxErrors, measureCoxUncertainty } from "../../src/models/cox/curve-errors.ts";

const oracle = JSON.parse(readFileSync(new URL("../oracles/cox/curve-errors.json", import.meta.url), "utf8"));

describe.each([
  ["plain", "days", "time"],
  ["tied", "months", "month"],
] as const)("survfit, %s times", (name, times, column) => {
  test.each(["efron", "breslow"] as const)("%s: curves and errors of three persons", (ties) => {
    const { rows, persons } = oracle;
    const input = { time: rows[column], event: rows.event, x: rows.x.flat(), D: 3 };
    const fit = fitCox(input, { ties });
    const edges = [0, ...oracle[times]];
    const uncertainty = measureCoxUncertainty(input, fit, edges);
    if (uncertainty === null) throw new Error("expected errors");
    const { survival } = coxCurvesOnGrid(fit, persons.flat(), edges);
    const errors = coxErrors(fit, uncertainty, persons.flat(), edges);
    const { surv, error } = oracle[name][ties];
    const wanted = error.flat();
    surv.flat().forEach((value: number, at: number) => {
      expect(survival[at]).toBeCloseTo(value, 9);
      // R's is that of Λ, ours that of log Λ.
      const own = errors[at] * -Math.log(survival[at]);
      expect(Math.abs(own - wanted[at]), `entry ${at}`).toBeLessThan(1e-8);
    });
  });
});

test("a column that others determine adds nothing, an infinite coefficient leaves no errors", () => {
  const time = [1, 2, 3, 4, 5, 6, 7, 8];
  const event = [1, 1, 0, 1, 1, 0, 1, 1];
  const x = [0.1, 1.2, -0.4, 0.8, 0.3, -1.1, 0.6, -0.2];
  const edges = [0, 2, 4, 8];
  const one = { time, event, x, D: 1 };
  const twice = { time, event, x: x.flatMap((value) => [value, 2 * value]), D: 2 };
  const ofOne = measureCoxUncertainty(one, fitCox(one), edges);
  const ofTwo = measureCoxUncertainty(twice, fitCox(twice), edges);
  if (ofOne === null || ofTwo === null) throw new Error("expected errors");
  const doubled = coxErrors(fitCox(twice), ofTwo, [0.5, 1], edges);
  coxErrors(fitCox(one), ofOne, [0.5], edges).forEach((error, t) => {
    expect(doubled[t]).toBeCloseTo(error, 10);
  });
  const split = { time, event, x: event.map((_, i) => exp(-i)).map((v) => (v > 0.1 ? 1 : 0)), D: 1 };
  expect(fitCox(split).infinite).toEqual([0]);
  expect(measureCoxUncertainty(split, fitCox(split), edges)).toBe(null);
});

test("the error of a log hazard ratio: √(dᵀ Cov d), one column's is its own standard error", () => {
  const { rows } = oracle;
  const fit = fitCox({ time: rows.time, event: rows.event, x: rows.x.flat(), D: 3 });
  const { covariance } = fit;
  const packed = [0, 3, 4, 6, 7, 8].map((at) => covariance[at]);
  const one = coxContrastError({ covariance: packed }, [2, 0, 0], [0, 0, 0]);
  expect(one).toBeCloseTo(2 * Math.sqrt(covariance[0]), 12);
  const [p, q] = [1, 2];
  const both = coxContrastError({ covariance: packed }, [5, 1, 1], [5, 0, 3]);
  const wanted = covariance[p * 4] + 4 * covariance[q * 4] - 4 * covariance[q * 3 + p];
  expect(both).toBeCloseTo(Math.sqrt(wanted), 12);
});
