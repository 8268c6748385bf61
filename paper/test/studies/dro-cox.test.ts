// DRO-Cox: α = 1 against the product's Cox, gradients against central differences, η against a grid, and what the worst
// case must satisfy.
import { createRandom, InputError } from "graduate-survival/core";
import { findColumn, readTable, type Table } from "graduate-survival/data";
import { coxCurves, fitCox } from "graduate-survival/models";
import { tableSourceFromPath } from "graduate-survival/node";
import { beforeAll, describe, expect, test } from "vitest";
import { checkoutFile } from "../../src/runs/checkout.ts";
import { type DroCoxInput, droCoxCurves, droCoxObjective, fitDroCox } from "../../src/studies/dro-cox.ts";
import { robustFactor, worstCase } from "../../src/studies/dro-loss.ts";

/** Heavy ties, and a person who is alone at risk. */
function drawPeople(N: number, D: number, seed: number): DroCoxInput {
  const random = createRandom(seed);
  const x = Float64Array.from({ length: N * D }, () => random.normal());
  const time = Float64Array.from({ length: N }, () => 1 + random.integer(Math.ceil(N / 4)));
  return { N, D, x, time, event: Uint8Array.from(time, () => (random.uniform() < 0.4 ? 1 : 0)) };
}

function numbers(table: Table, name: string): Float64Array {
  const column = findColumn(table, name);
  if (column.type !== "number") throw new Error(`${name} is not of numbers`);
  return column.values;
}

describe("the worst case", () => {
  const random = createRandom(3);
  const drawn = Float64Array.from({ length: 301 }, () => Math.max(0, random.normal()) ** 2);

  test.each([0.9, 0.5, 0.2, 0.1])("η is where a grid has its least, α = %s", (alpha) => {
    const C = robustFactor(alpha);
    const at = (eta: number) =>
      C * Math.sqrt(drawn.reduce((sum, one) => sum + Math.max(0, one - eta) ** 2, 0) / drawn.length) + eta;
    const { value, eta, weights } = worstCase(drawn, C);
    expect(value).toBeCloseTo(at(eta), 12);
    const step = 2e-3;
    let least = Number.POSITIVE_INFINITY;
    let where = 0;
    for (let k = -6000; k < 6000; k++) {
      if (at(k * step) >= least) continue;
      least = at(k * step);
      where = k * step;
    }
    expect(Math.abs(eta - where)).toBeLessThanOrEqual(step);
    expect(value).toBeLessThanOrEqual(least + 1e-12);
    expect(weights.reduce((sum, one) => sum + one, 0)).toBeCloseTo(1, 12);
    // The worst distribution's own mean is the value.
    expect(weights.reduce((sum, one, k) => sum + one * drawn[k], 0)).toBeCloseTo(value, 10);
  });

  test("it is the mean at α = 1, grows as α falls, and ends at the largest loss", () => {
    const largest = Math.max(...drawn);
    const values = [1, 0.999999, 0.5, 0.1, 0.01].map((alpha) => worstCase(drawn, robustFactor(alpha)).value);
    expect(values[0]).toBeCloseTo(drawn.reduce((sum, one) => sum + one, 0) / drawn.length, 12);
    expect(values[1]).toBeCloseTo(values[0], 4);
    for (let k = 1; k < values.length; k++) expect(values[k]).toBeGreaterThan(values[k - 1]);
    expect(values[4]).toBe(largest); // C² is above 301
  });

  test("it is no less than the mean of any share α", () => {
    const top = drawn.toSorted().subarray(-30);
    const mean = top.reduce((sum, one) => sum + one, 0) / top.length;
    expect(worstCase(drawn, robustFactor(30 / 301)).value).toBeGreaterThanOrEqual(mean);
  });

  test("equal losses are their own worst case", () => {
    const { value, weights } = worstCase(new Float64Array(5).fill(0.7), robustFactor(0.3));
    expect(value).toBe(0.7);
    expect([...weights]).toEqual([0.2, 0.2, 0.2, 0.2, 0.2]);
  });

  test("α must be a share", () => {
    for (const alpha of [0, -1, 1.1, Number.NaN]) expect(() => robustFactor(alpha)).toThrow(InputError);
  });
});

describe("the objective", () => {
  const people = drawPeople(83, 4, 5);

  test.each([
    [1, undefined],
    [0.3, undefined],
    [0.1, undefined],
    [0.3, 7],
    [1, 7],
  ])("its gradient is that of central differences, α = %s, split by %s", (alpha, splitSeed) => {
    const options = { alpha, ridge: 0.5, ...(splitSeed === undefined ? {} : { splitSeed }) };
    const evaluate = droCoxObjective(people, options);
    const at = Float64Array.of(0.3, -0.2, 0.5, 0.1);
    const { gradient } = evaluate(at);
    const step = 1e-5;
    for (let j = 0; j < 4; j++) {
      const value = (by: number) => evaluate(at.map((one, k) => (k === j ? one + by : one))).value;
      expect(gradient[j]).toBeCloseTo((value(step) - value(-step)) / (2 * step), 7);
    }
  });

  test("a slow twin has the same losses, plain and split", () => {
    const { N, D, x, time, event } = people;
    const at = Float64Array.of(0.3, -0.2, 0.5, 0.1);
    const f = Array.from({ length: N }, (_, i) => at.reduce((sum, b, j) => sum + b * x[i * D + j], 0));
    let sum = 0;
    for (let i = 0; i < N; i++) {
      if (event[i] === 0) continue;
      let risk = 0;
      for (let j = 0; j < N; j++) if (time[j] >= time[i]) risk += Math.exp(f[j]);
      sum += Math.log(risk) - f[i];
    }
    expect(droCoxObjective(people, { alpha: 1 })(at).value).toBeCloseTo(sum / N, 12);
    // A person and a half of the others make a smaller risk set.
    expect(droCoxObjective(people, { alpha: 1, splitSeed: 1 })(at).value).toBeLessThan(sum / N);
  });

  test("two halves of one person each are compared with each other", () => {
    const two = { N: 2, D: 1, x: Float64Array.of(0, 1), time: [1, 2], event: [1, 1] };
    const at = Float64Array.of(Math.log(3));
    // The first is one in 1 + 3 at risk; the second is alone.
    const { value, worstCase: worst } = droCoxObjective(two, { alpha: 1, splitSeed: 1, ridge: 2 })(at);
    expect(worst).toBeCloseTo(Math.log(4) / 2, 14);
    expect(value).toBeCloseTo(Math.log(4) / 2 + Math.log(3) ** 2 / 2, 14);
  });

  test("predictors far apart neither overflow nor lose the gradient", () => {
    const { value, gradient } = droCoxObjective(people, { alpha: 0.3 })(Float64Array.of(500, -400, 300, 0));
    expect(Number.isFinite(value)).toBe(true);
    expect(gradient.every(Number.isFinite)).toBe(true);
  });
});

describe("nwtco", () => {
  let input: DroCoxInput;
  const D = 4;
  beforeAll(async () => {
    const table = await readTable(await tableSourceFromPath(checkoutFile("datasets/nwtco/nwtco.csv")));
    const columns = ["histol", "stage", "age", "study"].map((name) => numbers(table, name));
    const x = Float64Array.from({ length: table.rows * D }, (_, at) => columns[at % D][Math.floor(at / D)]);
    const event = Uint8Array.from(numbers(table, "rel"));
    input = { N: table.rows, D, x, time: numbers(table, "edrel"), event };
  });

  test.each([0, 20])("α = 1 is Cox's model, ridge %s", (ridge) => {
    const cox = fitCox(input, { ties: "breslow", ridge });
    const dro = fitDroCox(input, { alpha: 1, ridge });
    expect(dro.converged).toBe(true);
    for (let j = 0; j < D; j++)
      expect(Math.abs(dro.coefficients[j] - cox.coefficients[j])).toBeLessThan(1e-6);
    const times = [100, 1000, 3000];
    const x = input.x.subarray(0, 10 * D);
    const expected = coxCurves(cox, x, times);
    droCoxCurves(dro, x, times).forEach((survival, at) => {
      expect(survival).toBeCloseTo(expected[at], 6);
    });
  });

  test.each([undefined, 1])("a smaller α has the smaller worst case, split by %s", (splitSeed) => {
    const split = splitSeed === undefined ? {} : { splitSeed };
    const robust = fitDroCox(input, { alpha: 0.1, ...split });
    const plain = fitDroCox(input, { alpha: 1, ...split });
    expect(robust.converged).toBe(true);
    expect(robust.etas).toHaveLength(splitSeed === undefined ? 1 : 2);
    const judge = droCoxObjective(input, { alpha: 0.1, ...split });
    expect(judge(robust.coefficients).value).toBeLessThan(judge(plain.coefficients).value);
    expect(fitDroCox(input, { alpha: 0.1, ...split }).coefficients).toEqual(robust.coefficients);
  });
});

test("people without an event are refused", () => {
  const people = drawPeople(20, 2, 1);
  expect(() => fitDroCox({ ...people, event: new Uint8Array(20) }, { alpha: 0.5 })).toThrow("no events");
});

test("an α so small that a few people decide: it ends, lower than plain Cox, and may say it has not converged", () => {
  const people = drawPeople(200, 5, 2);
  const robust = fitDroCox(people, { alpha: 0.02 });
  const judge = droCoxObjective(people, { alpha: 0.02 });
  const plain = fitDroCox(people, { alpha: 1 });
  expect(judge(robust.coefficients).value).toBeLessThan(judge(plain.coefficients).value);
  expect(judge(robust.coefficients).value).toBeLessThan(judge(new Float64Array(5)).value);
  expect(robust.converged).toBe(false);
});
