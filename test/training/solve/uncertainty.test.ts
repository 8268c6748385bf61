// The errors of a held layer's curves against the whole matrix, inverted by brute force; and where shapes are left out.
import { describe, expect, test } from "vitest";
import { factorCholesky, invertCholesky } from "../../../src/core/linear-algebra.ts";
import { createRandom } from "../../../src/core/random.ts";
import { chanceOf, type HeldSpec } from "../../../src/models/networks/held.ts";
import {
  factorSizes,
  type LayerUncertainty,
  prepareLayerErrors,
  prepareLayerSlopes,
} from "../../../src/models/uncertainty/layer-uncertainty.ts";
import { createLayout, listByRow, offsetAt } from "../../../src/training/solve/layout.ts";
import { createPrior, type PriorSource } from "../../../src/training/solve/prior.ts";
import { measureUncertainty } from "../../../src/training/solve/uncertainty.ts";

const [N, T, D, TOLD] = [80, 8, 4, 2];
const BLOCKS = [
  { first: 1, last: 4 },
  { first: 5, last: 8 },
];
const random = createRandom(5);
const x = Float64Array.from({ length: N * D }, (_, k) =>
  k % D < D - TOLD ? random.normal() : Number(random.uniform() < 0.4),
);
const bin = Int32Array.from({ length: N }, () => 1 + Math.floor(T * random.uniform()));
const event = Uint8Array.from({ length: N }, () => Number(random.uniform() < 0.8));
const logits = Float64Array.from({ length: N * T }, () => -1.5 + 0.5 * random.normal());
const membership = [0.4, -0.3, 0.2, 0.1, -0.5];
const base = { kind: "linear", D, T, baselineHazard: Array<number>(T).fill(0.1) } as const;
const spec: HeldSpec = { kind: "held", D, T, base, blocks: [4, 8], chances: 1 };
const source: PriorSource = {
  spec: base,
  parameters: {},
  precisions: { slopes: 2, splines: 5, level: [1, 3, 0.1], shape: [4, 2, 0.1] },
  splines: [1],
};

const chances = Float64Array.from({ length: N }, (_, n) => chanceOf(x.subarray(n * D), membership, 0, D));
const everyone = Array.from({ length: N }, (_, n) => n);
const membersOf = (j: number) => everyone.filter((n) => x[n * D + j] !== 0);
const shaped = listByRow(N, [
  { rows: membersOf(2) },
  { rows: membersOf(3) },
  { rows: everyone, values: chances },
]);
const events = new Float64Array(T);
for (let n = 0; n < N; n++) events[bin[n] - 1] += event[n];
const layout = createLayout(BLOCKS, events, { dense: 0, shaped: 3 });
const theta = Float64Array.from({ length: layout.at[2] }, () => 0.2 * random.normal());
const first = Float64Array.from({ length: N + 1 }, (_, n) => n * T);
const rowsOf = { N, bin, event, logits, first, x, stride: D, shaped };
const variances = [0.05];

/** φ over [slopes, levels, each block's free bins and offsets]. */
const whole = createLayout(BLOCKS, events, { dense: 2, shaped: 3 });
function featuresOf(own: ArrayLike<number>, t: number): Float64Array {
  const phi = new Float64Array(whole.at[2]);
  const columns = [own[2], own[3], chanceOf(own, membership, 0, D)];
  phi.set([own[0], own[1], ...columns]);
  const b = whole.blockOf[t];
  phi[whole.at[b] + whole.binOf[t]] = 1;
  columns.forEach((value, j) => {
    phi[offsetAt(whole, b, j)] = value;
  });
  return phi;
}

function covariance(): Float64Array {
  const P = whole.at[2];
  const information = new Float64Array(P * P);
  const moved = [0, 0, ...theta];
  for (let n = 0; n < N; n++) {
    for (let t = 0; t < bin[n]; t++) {
      const phi = featuresOf(x.subarray(n * D, (n + 1) * D), t);
      const z = logits[n * T + t] + phi.reduce((sum, one, p) => sum + one * moved[p], 0);
      const h = 1 / (1 + Math.exp(-z));
      for (let p = 0; p < P; p++)
        for (let q = 0; q < P; q++) information[p * P + q] += h * (1 - h) * phi[p] * phi[q];
    }
  }
  const { precision } = createPrior(whole, TOLD, source, variances);
  for (let p = 0; p < P; p++) information[p * P + p] += precision[p];
  return invertCholesky(factorCholesky(information, P, new Float64Array(P)));
}

const people = Float64Array.from([0.5, -1, 1, 0, -2, 0.3, 1, 1, 0, 0, 0, 0]);
const survival = Float64Array.from(
  { length: 3 * T },
  (_, k) => 0.97 ** ((1 + (k % T)) * (1 + Math.floor(k / T))),
);

function measure(): LayerUncertainty {
  const measured = measureUncertainty(
    { problem: { layout, rowsOf, variances }, theta, source, told: TOLD },
    spec,
  );
  if (measured === null) throw new Error("expected a factor");
  return measured;
}

describe("errors of log Λ of a held layer", () => {
  test("are those of the whole inverse, to single precision", () => {
    const uncertainty = measure();
    const { dense, shaped: columns, border, blocks, cross } = uncertainty;
    expect([dense, columns]).toEqual([2, 3]);
    const sizes = factorSizes(uncertainty, spec.blocks);
    expect([border.length, blocks.length, cross.length]).toEqual(Object.values(sizes));
    const errors = prepareLayerErrors(uncertainty, spec, membership)(people, survival);
    const inverse = covariance();
    const P = whole.at[2];
    for (let n = 0; n < 3; n++) {
      const g = new Float64Array(P);
      for (let t = 0; t < T; t++) {
        const before = t === 0 ? 1 : survival[n * T + t - 1];
        const hazard = 1 - survival[n * T + t] / before;
        featuresOf(people.subarray(n * D, (n + 1) * D), t).forEach((one, p) => {
          g[p] += hazard * one;
        });
        let variance = 0;
        for (let p = 0; p < P; p++) for (let q = 0; q < P; q++) variance += g[p] * inverse[p * P + q] * g[q];
        const wanted = Math.sqrt(variance) / -Math.log(survival[n * T + t]);
        expect(Math.abs(errors[n * T + t] / wanted - 1), `person ${n}, bin ${t}`).toBeLessThan(1e-5);
      }
    }
  });

  test("a difference of two people at the last time has the error of the whole inverse", () => {
    const slopes = prepareLayerSlopes(measure(), spec, membership)(people, survival);
    const inverse = covariance();
    const P = whole.at[2];
    const gradientOf = (n: number) => {
      const g = new Float64Array(P);
      for (let t = 0; t < T; t++) {
        const hazard = 1 - survival[n * T + t] / (t === 0 ? 1 : survival[n * T + t - 1]);
        featuresOf(people.subarray(n * D, (n + 1) * D), t).forEach((one, p) => {
          g[p] += (hazard * one) / -Math.log(survival[(n + 1) * T - 1]);
        });
      }
      return g;
    };
    for (const [a, b] of [
      [0, 1],
      [2, 1],
    ]) {
      const [ga, gb] = [gradientOf(a), gradientOf(b)];
      const d = ga.map((one, p) => one - gb[p]);
      let variance = 0;
      for (let p = 0; p < P; p++) for (let q = 0; q < P; q++) variance += d[p] * inverse[p * P + q] * d[q];
      const own = Math.hypot(...slopes[a].map((one, k) => one - slopes[b][k]));
      expect(Math.abs(own / Math.sqrt(variance) - 1)).toBeLessThan(1e-5);
    }
  });

  test("a curve of 1 has no error, nor has one of 0", () => {
    const flat = Float64Array.from([1, 1, 0.9, 0.8, 0.8, 0.5, 0, 0]);
    const errors = prepareLayerErrors(measure(), spec, membership)(people.subarray(0, D), flat);
    expect([errors[0], errors[1], errors[6], errors[7]]).toEqual([0, 0, 0, 0]);
    expect(errors[2]).toBeGreaterThan(0);
  });

  test("where shapes are left out, all columns have slopes and the errors are those of the smaller inverse", () => {
    const problem = { layout, rowsOf, variances };
    const flat = measureUncertainty({ problem, theta, source, told: TOLD }, spec, 0);
    if (flat === null) throw new Error("expected a factor");
    expect([flat.dense, flat.shaped]).toEqual([D, 0]);
    const bins = createLayout(BLOCKS, events, { dense: D, shaped: 0 });
    const P = bins.at[2];
    const phiOf = (own: ArrayLike<number>, t: number) => {
      const phi = new Float64Array(P);
      phi.set(Array.from(own));
      phi[bins.at[bins.blockOf[t]] + bins.binOf[t]] = 1;
      return phi;
    };
    const levels = [0, 0, theta[0], theta[1]];
    const information = new Float64Array(P * P);
    for (let n = 0; n < N; n++) {
      for (let t = 0; t < bin[n]; t++) {
        const own = x.subarray(n * D, (n + 1) * D);
        const b = layout.blockOf[t];
        const offset = theta[layout.at[b] + layout.binOf[t]];
        const z = logits[n * T + t] + offset + own.reduce((sum, value, j) => sum + value * levels[j], 0);
        const h = 1 / (1 + Math.exp(-z));
        const phi = phiOf(own, t);
        for (let p = 0; p < P; p++)
          for (let q = 0; q < P; q++) information[p * P + q] += h * (1 - h) * phi[p] * phi[q];
      }
    }
    const { precision } = createPrior(whole, TOLD, source, variances);
    for (let p = 0; p < P; p++) information[p * P + p] += p < D ? precision[p] : precision[whole.at[0]];
    const inverse = invertCholesky(factorCholesky(information, P, new Float64Array(P)));
    const errors = prepareLayerErrors(flat, spec, membership)(people, survival);
    const g = new Float64Array(P);
    for (let t = 0; t < T; t++) {
      const hazard = 1 - survival[t] / (t === 0 ? 1 : survival[t - 1]);
      phiOf(people.subarray(0, D), t).forEach((one, p) => {
        g[p] += hazard * one;
      });
    }
    let variance = 0;
    for (let p = 0; p < P; p++) for (let q = 0; q < P; q++) variance += g[p] * inverse[p * P + q] * g[q];
    const wanted = Math.sqrt(variance) / -Math.log(survival[T - 1]);
    expect(Math.abs(errors[T - 1] / wanted - 1)).toBeLessThan(1e-5);
  });

  test("more features than slopes can be solved for leave none", () => {
    const wide = { ...spec, D: 500 };
    const problem = { layout, rowsOf, variances };
    expect(measureUncertainty({ problem, theta, source, told: TOLD }, wide)).toBe(null);
  });
});
