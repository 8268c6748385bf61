// The generator's family by maximum likelihood: the likelihood against its definition, its maximum, the truth found
// again.

import { chiSquareUpperTail } from "graduate-survival/core";
import { ALL_GROUP, binOutcomes, equalTimeGrid } from "graduate-survival/data";
import { coxCurvesOnGrid, fitCox } from "graduate-survival/models";
import { describe, expect, test } from "vitest";
import { fitGenerator } from "../../src/eye/generator-fit.ts";
import { type EyeCohort, simulateEye } from "../../src/eye/simulate.ts";
import { type EventModel, SHAPE_NAMES, TERM_NAMES, trueEventModel } from "../../src/eye/survival.ts";
import { scoreAgainstTruth } from "../../src/eye/truth.ts";

const N = 20_000;
const cohort = simulateEye({ seed: 31, n: N, level: 2, censoring: "dependent" });
const everyone = Int32Array.from({ length: N }, (_, row) => row);
const fit = fitGenerator(cohort, everyone);
const D = TERM_NAMES.length;
const names = [...TERM_NAMES, ...SHAPE_NAMES];

function listParameters({ coefficients, shapes, delay }: EventModel): Record<string, number> {
  const values = [...Array.from(coefficients), ...Array.from(shapes)];
  return { ...Object.fromEntries(names.map((name, j) => [name, values[j]])), delay };
}

function modelOf(parameters: Readonly<Record<string, number>>): EventModel {
  return {
    coefficients: TERM_NAMES.map((name) => parameters[name]),
    shapes: SHAPE_NAMES.map((name) => parameters[name]),
    delay: parameters.delay,
  };
}

/** By definition, person by person: an event somewhere in its day, a censoring in the middle of it. */
function logLikelihoodOf(of: EyeCohort, rows: ArrayLike<number>, model: EventModel): number {
  const { x, shape, delayed } = of.terms;
  let sum = 0;
  for (let i = 0; i < rows.length; i++) {
    const row = rows[i];
    const eta = TERM_NAMES.reduce((total, _, j) => total + model.coefficients[j] * x[row * D + j], 0);
    const start = delayed[row] === 1 ? model.delay : 0;
    const S = (days: number) =>
      Math.exp(-Math.exp(eta) * Math.max(0, days / 365.25 - start) ** model.shapes[shape[row]]);
    const day = of.outcomes.time[row];
    sum += Math.log(of.outcomes.event[row] === 1 ? S(day - 1) - S(day) : S(day - 0.5));
  }
  return sum;
}

describe("fitted to 20,000 people", () => {
  const truth = trueEventModel(2);

  test("the likelihood is that of its definition", () => {
    const slow = logLikelihoodOf(cohort, everyone, modelOf(fit.parameters));
    expect(Math.abs(fit.logLikelihood / slow - 1)).toBeLessThan(1e-10);
  });

  test("every parameter is within four standard errors of the truth, the delay before the first event after it", () => {
    const wanted = listParameters(truth);
    for (const name of names) {
      const z = (fit.parameters[name] - wanted[name]) / fit.standardErrors[name];
      expect(Math.abs(z), `${name}: ${fit.parameters[name]}, not ${wanted[name]}`).toBeLessThan(4);
      expect(fit.standardErrors[name]).toBeGreaterThan(0);
    }
    expect(Math.abs(fit.parameters.delay - 3)).toBeLessThan(0.25);
  });

  test("the truth is as likely as it should be, and nothing near the fit is likelier", () => {
    const atTruth = logLikelihoodOf(cohort, everyone, truth);
    const ratio = 2 * (fit.logLikelihood - atTruth);
    expect(ratio).toBeGreaterThan(0);
    expect(chiSquareUpperTail(ratio, names.length + 1)).toBeGreaterThan(0.001);
    for (const name of names) {
      // Alone, and but for cubic terms, a parameter one standard error off costs at least a half.
      const off = [-1, 1].map((side) =>
        logLikelihoodOf(
          cohort,
          everyone,
          modelOf({ ...fit.parameters, [name]: fit.parameters[name] + side * fit.standardErrors[name] }),
        ),
      );
      for (const value of off) expect(fit.logLikelihood - value, name).toBeGreaterThan(0.45);
    }
  });
});

test("it is closer to the truth than Cox's model on the same terms, and likelier on new people", async () => {
  const grid = equalTimeGrid(102, 4383);
  const x = (of: EyeCohort) => of.terms.x.filter((_, at) => at % D > 0); // all but the intercept
  const model = fitCox({ ...cohort.outcomes, x: x(cohort), D: D - 1 });
  const fresh = { seed: 32, n: 5000, level: 2, censoring: "dependent" } as const;
  const people = simulateEye(fresh);
  const curves = fit.survival(people, grid.edges.subarray(1));
  const cox = coxCurvesOnGrid(model, x(people), grid.edges);
  const binned = binOutcomes(people.outcomes, grid);
  const likelihood = (survival: ArrayLike<number>) => {
    let sum = 0;
    binned.bin.forEach((t, row) => {
      const after = survival[row * grid.T + t - 1];
      const before = t === 1 ? 1 : survival[row * grid.T + t - 2];
      sum += Math.log(binned.event[row] === 1 ? before - after : after);
    });
    return sum;
  };
  expect(likelihood(curves) - likelihood(cox.survival)).toBeGreaterThan(20);

  const old = { name: "old", expression: "age >= 75" };
  const score = (survival: Float64Array | Float32Array) =>
    scoreAgainstTruth({
      settings: fresh,
      groups: [ALL_GROUP, old],
      supports: [102, 90],
      grid,
      predictCurves: async () => ({ N: fresh.n, T: grid.T, survival }),
    });
  const ours = await score(curves);
  const theirs = await score(cox.survival);
  ours.groups.forEach(({ A, B, ise }, g) => {
    expect(A).toBeLessThan(0.012);
    expect(B).toBeLessThan(theirs.groups[g].B);
    expect(ise).toBeLessThan(theirs.groups[g].ise / 2);
  });
  expect(ours.concordance).toBeGreaterThan(theirs.concordance);
});

describe("few people", () => {
  test.each([0, 1, 2] as const)("level %i: 1873 of the paper's size give finite curves", (level) => {
    const small = simulateEye({ seed: 33, n: 1873, level, censoring: "late" });
    const rows = Int32Array.from({ length: 1873 }, (_, row) => row);
    const own = fitGenerator(small, rows);
    expect(own.logLikelihood).toBeGreaterThan(logLikelihoodOf(small, rows, trueEventModel(level)));
    const curves = own.survival(small, [0, 400, 4383], [5, 6]);
    expect(Array.from(curves).every((S) => S >= 0 && S <= 1)).toBe(true);
    expect(curves[0]).toBe(1);
  });

  test("what the rows cannot tell stays where it started; without events there is nothing to fit", () => {
    const small = simulateEye({ seed: 34, n: 800, level: 2, censoring: "dependent" });
    const rows = everyone.subarray(0, 800).filter((row) => small.terms.delayed[row] === 0);
    const own = fitGenerator(small, rows);
    expect(own.parameters.eyeMedication).toBe(0);
    expect(own.parameters.delay).toBe(0);
    const censored = everyone.subarray(0, 800).filter((row) => small.outcomes.event[row] === 0);
    expect(() => fitGenerator(small, censored)).toThrow("no events among");
  });
});
