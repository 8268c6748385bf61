// The additive hazard model that networks with group offsets start at: against R's glm, by differences, and on planted
// groups.
import { readFileSync, writeFileSync } from "node:fs";
import { describe, expect, test } from "vitest";
import { finishTurns } from "../../src/core/progress.ts";
import { createRandom } from "../../src/core/random.ts";
import { fillSplines, SPLINE_COLUMNS } from "../../src/data/encode/spline.ts";
import { GROUP_KNOTS, OFFSET_SCALE, placeKnots } from "../../src/models/networks/group-offsets.ts";
import { createHazardFit } from "../../src/models/start/additive-hazard.ts";
import { climb, fitAdditiveStart, MOST_START_PARAMETERS } from "../../src/models/start/additive-start.ts";

const T = 12;
const oracle = new URL("../oracles/additive/", import.meta.url);
const hazards = Float64Array.from({ length: T }, (_, t) => 0.05 + 0.01 * t);

/** Two features and two overlapping groups; the second group's hazard is multiplied by `ratio` in the later half. */
function simulate(N: number, seed: number, ratio = 1) {
  const random = createRandom(seed);
  const x = new Float64Array(N * 4);
  const bin = new Int32Array(N).fill(T);
  const event = new Uint8Array(N);
  for (let i = 0; i < N; i++) {
    x.set(
      [random.normal(), random.normal(), random.uniform() < 0.4 ? 1 : 0, random.uniform() < 0.3 ? 1 : 0],
      i * 4,
    );
    const late = x[i * 4 + 3] === 1 ? ratio : 1;
    const censored = 1 + Math.floor(T * random.uniform());
    for (let t = 0; t < censored; t++) {
      const odds = (hazards[t] / (1 - hazards[t])) * Math.exp(0.5 * x[i * 4]) * (t >= T / 2 ? late : 1);
      bin[i] = t + 1;
      if (random.uniform() >= odds / (1 + odds)) continue;
      event[i] = 1;
      break;
    }
  }
  return { T, bin, event, x, D: 4, groups: 2 };
}

describe("the likelihood", () => {
  const rows = simulate(60, 5, 2);
  const fit = createHazardFit(rows, hazards);
  const random = createRandom(9);
  const theta = Float64Array.from({ length: fit.P }, () => 0.3 * random.normal());
  const step = 1e-5;
  const shifted = (p: number, by: number) => theta.map((value, q) => value + (p === q ? by : 0));

  test("gradient and information are its differences", () => {
    const { value, gradient, information } = fit.measure(theta);
    expect(fit.evaluate(theta)).toBeCloseTo(value, 10);
    for (let p = 0; p < fit.P; p++) {
      const rise = (fit.evaluate(shifted(p, step)) - fit.evaluate(shifted(p, -step))) / (2 * step);
      expect(gradient[p]).toBeCloseTo(rise, 6);
      const up = fit.measure(shifted(p, step)).gradient;
      const down = fit.measure(shifted(p, -step)).gradient;
      for (let q = p; q < fit.P; q++) {
        expect(information[q * fit.P + p]).toBeCloseTo((up[q] - down[q]) / (2 * step), 6);
      }
    }
  });

  test("without priors its mode is the logistic regression of person-periods that R fits", () => {
    const people = simulate(400, 7, 2);
    const { knot, share } = placeKnots(T, hazards);
    if (process.env.WRITE_ORACLE_ROWS === "1") {
      const cut = (from: number) =>
        Array.from({ length: 400 }, (_, i) => Array.from(people.x.subarray(i * 4 + from, i * 4 + from + 2)));
      const base = Array.from(hazards, (h) => Math.log(h / (1 - h)));
      const given = {
        T,
        knot: [...knot],
        share: [...share],
        base,
        bin: [...people.bin],
        event: [...people.event],
      };
      writeFileSync(new URL("rows.json", oracle), JSON.stringify({ ...given, x: cut(0), g: cut(2) }));
    }
    const all = createHazardFit(people, hazards);
    const flat = {
      slopes: 1e-12,
      splines: 1e-12,
      level: [1e-12, 1e-12, 1e-12],
      shape: [1e-12, 1e-12, 1e-12],
    };
    const { theta: mode } = finishTurns(climb(all, new Float64Array(all.P), flat, [], 1e-18, 50));
    const r = JSON.parse(readFileSync(new URL("additive.json", oracle), "utf8"));
    expect(all.evaluate(mode)).toBeCloseTo(r.negativeLogLikelihood, 8);
    r.coefficients.forEach((value: number, p: number) => {
      expect(mode[p]).toBeCloseTo(value, 6);
    });
  });
});

describe("fitAdditiveStart", () => {
  test("meets a group whose hazard rises late and leaves one alone that is like the rest", () => {
    const { offsets, slopes } = fitAdditiveStart(simulate(6000, 11, 3));
    const of = (g: number) =>
      Array.from(offsets.subarray(g * GROUP_KNOTS, (g + 1) * GROUP_KNOTS), (value) => value * OFFSET_SCALE);
    expect(slopes[0]).toBeGreaterThan(0.45);
    expect(slopes[0]).toBeLessThan(0.55);
    expect(Math.abs(slopes[1])).toBeLessThan(0.05);
    expect(Math.max(...of(0).map(Math.abs))).toBeLessThan(0.12);
    const [early, ...rest] = of(1);
    expect(Math.abs(early)).toBeLessThan(0.3);
    expect(Math.abs((rest.at(-1) ?? 0) - Math.log(3))).toBeLessThan(0.3);
  });

  test("the baseline goes with the rest: expected events are those observed", () => {
    const rows = simulate(3000, 13, 3);
    const { offsets, slopes, baselineHazard } = fitAdditiveStart(rows);
    const fit = createHazardFit(rows, baselineHazard);
    const theta = new Float64Array(fit.P);
    theta.set(slopes.subarray(0, 2));
    theta.set(
      offsets.map((value) => value * OFFSET_SCALE),
      2,
    );
    // The gradient in everyone's knots is expected less observed events around each; their prior is worth a tenth.
    const { gradient } = fit.measure(theta);
    const events = rows.event.reduce((sum, value) => sum + value, 0);
    const gap = gradient.subarray(fit.P - GROUP_KNOTS).reduce((sum, value) => sum + value, 0);
    expect(Math.abs(gap)).toBeLessThan(0.01 * events);
  });

  test("splines follow an effect that bends, and lie flat beside one that does not", () => {
    const N = 6000;
    const D = 1 + SPLINE_COLUMNS;
    const line = { at: [-2.5, 2.5], scores: [-2.5, 2.5] };
    for (const effect of [(z: number) => 0.5 * z * z, (z: number) => 0.5 * z]) {
      const random = createRandom(21, 1);
      const x = new Float64Array(N * D);
      const bin = new Int32Array(N).fill(T);
      const event = new Uint8Array(N);
      for (let i = 0; i < N; i++) {
        x[i * D] = random.normal();
        fillSplines(line, x[i * D], x, i * D + 1);
        const odds = 0.03 * Math.exp(effect(x[i * D]));
        for (let t = 0; t < T && event[i] === 0; t++) {
          bin[i] = t + 1;
          if (random.uniform() < odds / (1 + odds)) event[i] = 1;
        }
      }
      const splines = [1, 2, 3, 4];
      const { slopes } = fitAdditiveStart({ T, bin, event, x, D, groups: 0, splines });
      const fitted = (z: number) => {
        const row = new Float64Array(D);
        row[0] = z;
        fillSplines(line, z, row, 1);
        return row.reduce((sum, value, d) => sum + value * slopes[d], 0);
      };
      for (const z of [-2, -1, 1, 2]) {
        expect(Math.abs(fitted(z) - fitted(0) - effect(z)), `at ${z}`).toBeLessThan(0.2);
      }
    }
  });

  test("begun at the start of most of its rows it ends where it ends by itself, on the knots it is given", () => {
    const rows = simulate(4000, 17, 3);
    const most = {
      ...rows,
      bin: rows.bin.subarray(0, 3000),
      event: rows.event.subarray(0, 3000),
      x: rows.x.subarray(0, 12_000),
    };
    const alone = fitAdditiveStart({ ...rows, knotHazard: hazards });
    const again = fitAdditiveStart({ ...rows, knotHazard: hazards }, undefined, fitAdditiveStart(most));
    again.slopes.forEach((slope, d) => {
      expect(slope).toBeCloseTo(alone.slopes[d], 3);
    });
    again.offsets.forEach((offset, k) => {
      expect(Math.abs(offset - alone.offsets[k]) * OFFSET_SCALE).toBeLessThan(0.02);
    });
    expect(Math.log(again.baselineHazard[5] / alone.baselineHazard[5])).toBeCloseTo(0, 2);
    // Its offsets are the mode on these knots: the gradient is what their priors take.
    const fit = createHazardFit({ ...rows, knotHazard: hazards }, again.baselineHazard);
    const theta = new Float64Array(fit.P);
    theta.set(again.slopes.subarray(0, 2));
    theta.set(
      again.offsets.map((value) => value * OFFSET_SCALE),
      2,
    );
    const { gradient } = fit.measure(theta);
    const { slopes = 0, level = [], shape = [] } = again.precisions ?? {};
    expect(gradient[0]).toBeCloseTo(-slopes * theta[0], 1);
    for (const g of [0, 1]) {
      const of = theta.subarray(2 + g * GROUP_KNOTS, 2 + (g + 1) * GROUP_KNOTS);
      const mean = of.reduce((sum, one) => sum + one, 0) / GROUP_KNOTS;
      of.forEach((one, k) => {
        const taken = -(level[g] * mean + shape[g] * (one - mean));
        expect(gradient[2 + g * GROUP_KNOTS + k], `group ${g}, knot ${k}`).toBeCloseTo(taken, 1);
      });
    }
  });

  test("more groups than Newton can carry start at 0", () => {
    const G = Math.ceil(MOST_START_PARAMETERS / GROUP_KNOTS);
    const { bin, event } = simulate(40, 3);
    const x = new Float64Array(40 * G).map((_, k) => (k % 7 === 0 ? 1 : 0));
    const { offsets } = fitAdditiveStart({ T, bin, event, x, D: G, groups: G });
    expect(offsets.length).toBe(G * GROUP_KNOTS);
    expect(offsets.every((value) => value === 0)).toBe(true);
  });
});
