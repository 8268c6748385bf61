// Baseline hazards and curves of a fitted Cox model against R's survfit(coxph), and worked by hand.
import { readFileSync } from "node:fs";
import { describe, expect, test } from "vitest";
import { InputError } from "../../src/core/errors.ts";
import {
  coxCurves,
  coxCurvesOnGrid,
  cumulativeHazardAtZero,
  fitCox,
  linearPredictor,
} from "../../src/models/cox/cox.ts";
import { loadCoxFixture, RECIPES } from "./cox-designs.ts";

const oracle = JSON.parse(readFileSync(new URL("../oracles/cox/cox.json", import.meta.url), "utf8"));

/** Relative; flchain's x = 0 is the year 0, 2000 times a coefficient that R leaves 1e-11 from the maximum. */
const HAZARD = 1e-9;
const SURVIVAL = 1e-11; // absolute

describe.each(Object.keys(RECIPES).filter((name) => oracle[name]))("survfit on %s", (name) => {
  test.each(["efron", "breslow"] as const)("%s hazard at x = 0, curves of three persons", async (ties) => {
    const expected = oracle[name];
    const { bin: _, ...input } = await loadCoxFixture(name);
    const expectHazard = (model: ReturnType<typeof fitCox>, hazard: readonly number[]) => {
      expect(Array.from(model.baseline.time)).toEqual(expected.event_time);
      const actual = cumulativeHazardAtZero(model);
      expect(actual.length).toBe(hazard.length);
      expect(hazard.findIndex((value, k) => !(Math.abs(actual[k] / value - 1) < HAZARD))).toBe(-1);
    };
    const model = fitCox(input, { ties });
    expectHazard(model, expected[`H0_${ties}`]);
    if (expected[`weighted_H0_${ties}`]) {
      const weights = input.time.map((_, i) => 0.5 * (1 + (i % 4)));
      expectHazard(fitCox(input, { ties, weights }), expected[`weighted_H0_${ties}`]);
    }
    const persons = Float64Array.from(expected.persons.flat());
    const curves = coxCurves(model, persons, expected.curve_time);
    expected[`curves_${ties}`].flat().forEach((value: number, at: number) => {
      expect(Math.abs(curves[at] - value), `entry ${at}`).toBeLessThan(SURVIVAL);
    });
  });
});

describe("worked by hand", () => {
  const r = Math.SQRT1_2; // exp β of cox.test.ts' three rows
  const model = fitCox({
    time: Float64Array.of(1, 2, 3),
    event: Uint8Array.of(1, 1, 1),
    x: Float64Array.of(1, 0, 1),
    D: 1,
  });
  const H = [1 / (2 * r + 1), 1 / (2 * r + 1) + 1 / (1 + r), 1 / (2 * r + 1) + 1 / (1 + r) + 1 / r];

  test("hazard, curves and linear predictor", () => {
    Array.from(cumulativeHazardAtZero(model)).forEach((value, k) => {
      expect(value).toBeCloseTo(H[k], 13);
    });
    expect(linearPredictor(model, Float64Array.of(0, 2))[1]).toBeCloseTo(-Math.LN2, 13);
    const curves = coxCurves(model, Float64Array.of(0, 1), [0.5, 1, 2.5, 99]);
    [1, Math.exp(-H[0]), Math.exp(-H[1]), Math.exp(-H[2])].forEach((value, t) => {
      expect(curves[t]).toBeCloseTo(value, 13);
      expect(curves[4 + t]).toBeCloseTo(value ** r, 13);
    });
  });

  test("on a grid: read at the upper edges", () => {
    const grid = coxCurvesOnGrid(model, Float64Array.of(0), [0, 0.5, 1, 2, 4]);
    expect([grid.N, grid.T]).toEqual([1, 4]);
    [1, Math.exp(-H[0]), Math.exp(-H[1]), Math.exp(-H[2])].forEach((value, t) => {
      expect(grid.survival[t]).toBeCloseTo(value, 13);
    });
  });

  test("an edge rounded to just below an event time still counts it", () => {
    const edge = (9 * 1.7) / 17;
    expect(edge).toBeLessThan(0.9);
    expect(Math.ceil((0.9 * 17) / 1.7)).toBe(9); // the event at 0.9 is in bin 9
    const late = fitCox({
      time: Float64Array.of(0.9, 1.7),
      event: Uint8Array.of(1, 0),
      x: new Float64Array(0),
      D: 0,
    });
    const grid = coxCurvesOnGrid(late, Float64Array.of(0), Float64Array.of(0, edge, 1.7));
    expect(Array.from(grid.survival)).toEqual([Math.exp(-0.5), Math.exp(-0.5)]);
  });

  test("a column without a coefficient is left out of predictions", () => {
    const aliased = fitCox({
      time: Float64Array.of(1, 2, 3),
      event: Uint8Array.of(1, 1, 1),
      x: Float64Array.of(1, 5, 0, 5, 1, 5),
      D: 2,
    });
    expect(linearPredictor(aliased, Float64Array.of(2, 7))[0]).toBeCloseTo(-Math.LN2, 13);
  });

  test("covariates a billion away from zero", () => {
    const far = fitCox({
      time: Float64Array.of(1, 2, 3),
      event: Uint8Array.of(1, 1, 1),
      x: Float64Array.of(1e9 + 1, 1e9, 1e9 + 1),
      D: 1,
    });
    const curves = coxCurves(far, Float64Array.of(1e9), [2]);
    expect(curves[0]).toBeCloseTo(Math.exp(-H[1]), 7);
  });

  test("a model is plain data: a copy predicts the same", () => {
    const copy = structuredClone(model);
    expect(coxCurves(copy, Float64Array.of(0.3), [2])).toEqual(coxCurves(model, Float64Array.of(0.3), [2]));
  });

  test("a wrong number of columns is refused", () => {
    const two = fitCox({
      time: Float64Array.of(1, 2, 3),
      event: Uint8Array.of(1, 1, 1),
      x: Float64Array.of(1, 5, 0, 5, 1, 5),
      D: 2,
    });
    expect(() => linearPredictor(two, Float64Array.of(1, 2, 3))).toThrow(InputError);
  });
});
