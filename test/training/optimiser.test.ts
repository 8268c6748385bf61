// Optimisers: ten primal-dual steps against PyTorch (test/oracles/torch), and single updates worked by hand.
import { describe, expect, test } from "vitest";
import { createReferenceBackend } from "../../src/compute/reference.ts";
import { FormatError, InputError, NumericalError } from "../../src/core/errors.ts";
import type { HostParameter } from "../../src/models/networks/host-parameters.ts";
import {
  averageWeights,
  clipGradientNorm,
  createOptimiser,
  type OptimiserSpec,
} from "../../src/training/optimiser.ts";
import { followRun, fromTorch, loadTorchRuns } from "./trajectory-twin.ts";

const TRAJECTORY = 1e-12; // absolute, after ten steps

function expectNear(actual: ArrayLike<number>, expected: readonly number[], what: string): void {
  expect(actual.length, what).toBe(expected.length);
  expected.forEach((value, i) => {
    expect(Math.abs(actual[i] - value), `${what} ${i}: ${actual[i]} against ${value}`).toBeLessThan(
      TRAJECTORY,
    );
  });
}

describe("ten steps against PyTorch", () => {
  test.each(loadTorchRuns())("$name", async (run) => {
    const ours = await followRun(createReferenceBackend(), run);
    expect(ours.steps.length).toBe(10);
    run.steps.forEach(({ loss, lagrangian, distances, multipliers }, s) => {
      expectNear([ours.steps[s].loss, ours.steps[s].lagrangian], [loss, lagrangian], `step ${s + 1} values`);
      expectNear(ours.steps[s].distances, [...distances], `step ${s + 1} distance`);
      expectNear(ours.steps[s].multipliers, [...multipliers], `step ${s + 1} multiplier`);
    });
    expectNear(ours.multipliersAfter, [...run.multipliersAfter], "last multiplier");
    const final = fromTorch(run.final);
    for (const name of Object.keys(final)) expectNear(ours.final[name], final[name], name);
    if (run.averaged === null) return;
    const averaged = fromTorch(run.averaged);
    for (const name of Object.keys(averaged))
      expectNear(ours.averaged[name], averaged[name], `averaged ${name}`);
  });
});

function parameter(name: string, values: number[], decays = true): HostParameter {
  return {
    name,
    shape: [values.length],
    values: Float64Array.from(values),
    gradient: new Float64Array(values.length),
    decays,
  };
}

describe("single updates by hand", () => {
  test("SGD moves along the gradient", () => {
    const theta = parameter("θ", [1, 2]);
    theta.gradient.set([10, -20]);
    createOptimiser([theta], { kind: "sgd", rate: 0.01 }).step();
    expect(Array.from(theta.values)).toEqual([0.9, 2.2]);
    expect(Array.from(theta.gradient)).toEqual([10, -20]);
  });

  // Velocity 1, then .9 + 2 = 2.9, then 2.61 − 1 = 1.61.
  test("momentum carries the old gradients", () => {
    const theta = parameter("θ", [0]);
    const optimiser = createOptimiser([theta], { kind: "sgd", rate: 0.1, momentum: 0.9 });
    const path = [1, 2, -1].map((gradient) => {
      theta.gradient[0] = gradient;
      optimiser.step();
      return theta.values[0];
    });
    expect(path[0]).toBeCloseTo(-0.1, 15);
    expect(path[1]).toBeCloseTo(-0.39, 15);
    expect(path[2]).toBeCloseTo(-0.551, 15);
  });

  // β₁ = β₂ = ½, gradients 2 then 4: m 1, 2.5; v 2, 9; corrected m 2, 10/3; corrected v 4, 12; ε = 1.
  test("Adam corrects both moments for their start at 0", () => {
    const theta = parameter("θ", [0]);
    const optimiser = createOptimiser([theta], {
      kind: "adam",
      rate: 0.3,
      beta1: 0.5,
      beta2: 0.5,
      epsilon: 1,
    });
    theta.gradient[0] = 2;
    optimiser.step();
    expect(theta.values[0]).toBeCloseTo((-0.3 * 2) / 3, 15);
    theta.gradient[0] = 4;
    optimiser.step();
    expect(theta.values[0]).toBeCloseTo(-0.2 - (0.3 * (10 / 3)) / (Math.sqrt(12) + 1), 15);
  });

  test("Adam's defaults make the first step the rate times the sign", () => {
    const theta = parameter("θ", [0, 0, 0]);
    theta.gradient.set([1e-3, -50, 0]);
    createOptimiser([theta], { kind: "adam", rate: 0.1 }).step();
    expect(theta.values[0]).toBeCloseTo(-0.1 * (1e-3 / (1e-3 + 1e-8)), 14);
    expect(theta.values[1]).toBeCloseTo(0.1, 9);
    expect(theta.values[2]).toBe(0);
  });

  // Gradient 0: Adam sees decay × θ as its gradient and takes a whole step; AdamW shrinks θ by rate × decay.
  test("decay goes through the moments in Adam and past them in AdamW", () => {
    const coupled = parameter("θ", [4]);
    createOptimiser([coupled], { kind: "adam", rate: 0.1, decay: 0.5, epsilon: 1 }).step();
    expect(coupled.values[0]).toBeCloseTo(4 - (0.1 * 2) / (2 + 1), 14);
    const decoupled = parameter("θ", [4]);
    createOptimiser([decoupled], { kind: "adamw", rate: 0.1, decay: 0.5 }).step();
    expect(decoupled.values[0]).toBeCloseTo(4 * (1 - 0.05), 14);
  });

  test("AdamW takes its gradient step from the shrunken weight", () => {
    const theta = parameter("θ", [4]);
    theta.gradient[0] = 1;
    createOptimiser([theta], { kind: "adamw", rate: 0.1, decay: 0.5, epsilon: 1 }).step();
    expect(theta.values[0]).toBeCloseTo(4 * 0.95 - 0.1 / 2, 14);
  });

  test("biases and baselines are spared unless decayAll", () => {
    for (const kind of ["adam", "adamw"] as const) {
      const spared = parameter("bias", [4], false);
      createOptimiser([spared], { kind, rate: 0.1, decay: 0.5 }).step();
      expect(spared.values[0]).toBe(4);
      createOptimiser([spared], { kind, rate: 0.1, decay: 0.5, decayAll: true }).step();
      expect(spared.values[0]).toBeLessThan(4);
    }
  });

  test("float32 weights keep float64 moments", () => {
    const single: HostParameter = {
      ...parameter("θ", [0]),
      values: new Float32Array(1),
      gradient: new Float32Array([0.1]),
    };
    const optimiser = createOptimiser([single], { kind: "adam", rate: 0.01 });
    optimiser.step();
    expect(optimiser.state().first.θ[0]).toBeCloseTo(0.1 * Math.fround(0.1), 16);
    expect(single.values[0]).toBe(Math.fround(-0.01 * (Math.fround(0.1) / (Math.fround(0.1) + 1e-8))));
  });

  test("options outside their range are refused", () => {
    const bad: OptimiserSpec[] = [
      { kind: "sgd", rate: Number.NaN },
      { kind: "sgd", rate: -1 },
      { kind: "sgd", rate: 1, momentum: -0.1 },
      { kind: "adam", rate: 1, beta1: 1 },
      { kind: "adam", rate: 1, beta2: 1.5 },
      { kind: "adamw", rate: 1, epsilon: -1e-8 },
      { kind: "adamw", rate: 1, decay: -1 },
    ];
    for (const spec of bad) expect(() => createOptimiser([], spec), JSON.stringify(spec)).toThrow(InputError);
    expect(() => createOptimiser([], bad[3])).toThrow("beta1 of the optimiser outside [0, 1): 1");
  });
});

describe("state", () => {
  const specs: OptimiserSpec[] = [
    { kind: "sgd", rate: 0.1, momentum: 0.9 },
    { kind: "adam", rate: 0.1, decay: 0.01 },
    { kind: "adamw", rate: 0.1, decay: 0.01 },
  ];
  const advance = (theta: HostParameter, from: number, to: number, optimiser: { step(): void }) => {
    for (let k = from; k < to; k++) {
      for (let i = 0; i < 3; i++) theta.gradient[i] = Math.sin(5 * k + i) + theta.values[i];
      optimiser.step();
    }
  };

  test.each(specs)("$kind resumed from JSON in the middle ends at the same bits", (spec) => {
    const straight = parameter("θ", [1, -2, 3]);
    advance(straight, 0, 9, createOptimiser([straight], spec));
    const before = parameter("θ", [1, -2, 3]);
    const interrupted = createOptimiser([before], spec);
    advance(before, 0, 4, interrupted);
    const after = parameter("θ", Array.from(before.values));
    const resumed = createOptimiser([after], spec);
    resumed.restore(JSON.parse(JSON.stringify(interrupted.state())));
    advance(after, 4, 9, resumed);
    expect(Array.from(after.values)).toEqual(Array.from(straight.values));
  });

  test("a state that does not fit is refused", () => {
    const theta = parameter("θ", [1, 2]);
    const adam = createOptimiser([theta], { kind: "adam", rate: 0.1 });
    const state = adam.state();
    const sgd = createOptimiser([theta], { kind: "sgd", rate: 0.1 });
    expect(() => sgd.restore(state)).toThrow("the optimiser state is of another kind: adam, expected sgd");
    expect(() => adam.restore({ ...state, steps: -1 })).toThrow(FormatError);
    expect(() => adam.restore({ ...state, first: {} })).toThrow("missing parameter: θ");
    expect(() => adam.restore({ ...state, first: { ...state.first, more: [1] } })).toThrow(
      "unknown parameter: more",
    );
    expect(() => adam.restore({ ...state, second: { θ: [1] } })).toThrow(
      "parameter θ has 1 values; expected 2",
    );
    expect(() => adam.restore({ ...state, second: { θ: [1, Number.NaN] } })).toThrow(
      "is not a finite number: NaN",
    );
  });
});

describe("gradients and averages", () => {
  test("clipping takes the norm over all parameters, torch's 1e-6 in the factor", () => {
    const a = parameter("a", [0]);
    const b = parameter("b", [0, 0]);
    a.gradient[0] = 3;
    b.gradient.set([0, -4]);
    expect(clipGradientNorm([a, b], 6)).toBe(5);
    expect(Array.from(b.gradient)).toEqual([0, -4]);
    expect(clipGradientNorm([a, b], 1)).toBe(5);
    expect(a.gradient[0]).toBeCloseTo(3 / 5.000001, 15);
    expect(b.gradient[1]).toBeCloseTo(-4 / 5.000001, 15);
    a.gradient.fill(0);
    b.gradient.fill(0);
    expect(clipGradientNorm([a, b], 1)).toBe(0);
  });

  // Torch multiplies by min(1, max/(norm + 1e-6)): a norm of exactly max is shortened by a millionth.
  test("a norm of exactly the maximum", () => {
    const a = parameter("a", [0]);
    a.gradient[0] = 1;
    expect(clipGradientNorm([a], 1)).toBe(1);
    expect(a.gradient[0]).toBe(1 / 1.000001);
  });

  test("a gradient that is not finite is refused, as is a maximum of 0", () => {
    const a = parameter("a", [0]);
    for (const bad of [Number.NaN, Number.POSITIVE_INFINITY]) {
      a.gradient[0] = bad;
      expect(() => clipGradientNorm([a], 1)).toThrow(NumericalError);
    }
    expect(() => clipGradientNorm([], 0)).toThrow(InputError);
  });

  test("averaged weights by hand", () => {
    const theta = parameter("θ", [10, 0]);
    const average = { θ: [0, 4] };
    averageWeights(average, [theta], 0.75);
    expect(average.θ).toEqual([2.5, 3]);
    averageWeights(average, [theta], 0);
    expect(average.θ).toEqual([10, 0]);
    expect(() => averageWeights({}, [theta], 0.5)).toThrow(FormatError);
    expect(() => averageWeights(average, [theta], 1.5)).toThrow(InputError);
  });
});
