// The seeded generator: the same numbers for the same seed, unrelated ones for neighbouring seeds, and the right
// distributions.
import { describe, expect, test } from "vitest";
import { chiSquareUpperTail } from "../../src/core/distributions.ts";
import { createRandom, shuffle } from "../../src/core/random.ts";

const draw = (seed: number, stream: number, n: number) => {
  const random = createRandom(seed, stream);
  return Array.from({ length: n }, () => random.uniform());
};

describe("reproducibility", () => {
  test("first values of seed 1, fixed for good", () => {
    expect(draw(1, 0, 3)).toEqual([0.7560580110168241, 0.8053388455363263, 0.615109523245912]);
    const random = createRandom(1);
    expect(Array.from({ length: 6 }, () => random.integer(100))).toEqual([75, 47, 80, 11, 61, 68]);
    expect(createRandom(1).normal()).toBe(0.6121792422697917);
  });

  test("equal seeds agree; streams and neighbouring seeds share no value among 1000", () => {
    expect(draw(7, 3, 20)).toEqual(draw(7, 3, 20));
    const sequences = [
      draw(1, 0, 1000),
      draw(1, 1, 1000),
      draw(2, 0, 1000),
      draw(0, 1, 1000),
      draw(2 ** 32 + 1, 0, 1000),
    ];
    expect(new Set(sequences.flat()).size).toBe(5000);
  });

  test("neighbouring seeds and streams start uncorrelated", () => {
    const N = 4000;
    for (const next of [(seed: number) => draw(seed + 1, 0, 1)[0], (seed: number) => draw(seed, 1, 1)[0]]) {
      let sum = 0;
      for (let seed = 0; seed < N; seed++) sum += (draw(seed, 0, 1)[0] - 0.5) * (next(seed) - 0.5);
      // The mean of products of independent uniforms has standard error 1/(12 √N).
      expect(Math.abs(sum / N)).toBeLessThan(4 / (12 * Math.sqrt(N)));
    }
  });
});

describe("distributions", () => {
  test("uniform: in [0, 1), mean 1/2, variance 1/12, within four standard errors", () => {
    const values = draw(11, 0, 100_000);
    const N = values.length;
    expect(values.every((value) => value >= 0 && value < 1)).toBe(true);
    const mean = values.reduce((sum, value) => sum + value, 0) / N;
    const variance = values.reduce((sum, value) => sum + (value - mean) ** 2, 0) / N;
    expect(Math.abs(mean - 0.5)).toBeLessThan(4 * Math.sqrt(1 / 12 / N));
    expect(Math.abs(variance - 1 / 12)).toBeLessThan(4 * Math.sqrt(1 / 180 / N));
  });

  test.each([2, 7, 100])("integer(%i): counts pass a chi-square test", (n) => {
    const random = createRandom(5, n);
    const draws = 2000 * n;
    const counts = new Float64Array(n);
    for (let i = 0; i < draws; i++) counts[random.integer(n)]++;
    const chiSquare = counts.reduce((sum, count) => sum + (count - 2000) ** 2 / 2000, 0);
    expect(chiSquareUpperTail(chiSquare, n - 1)).toBeGreaterThan(1e-3);
    expect(random.integer(1)).toBe(0);
  });

  test("normal: mean 0, variance 1, fourth moment 3, the two halves of a pair uncorrelated", () => {
    const random = createRandom(13);
    const N = 100_000;
    const values = Array.from({ length: N }, () => random.normal());
    const moment = (k: number) => values.reduce((sum, value) => sum + value ** k, 0) / N;
    expect(Math.abs(moment(1))).toBeLessThan(4 / Math.sqrt(N));
    expect(Math.abs(moment(2) - 1)).toBeLessThan(4 * Math.sqrt(2 / N));
    expect(Math.abs(moment(4) - 3)).toBeLessThan(4 * Math.sqrt(96 / N));
    const pairs =
      values.reduce((sum, value, i) => (i % 2 === 0 ? sum + value * values[i + 1] : sum), 0) / (N / 2);
    expect(Math.abs(pairs)).toBeLessThan(4 / Math.sqrt(N / 2));
  });
});

describe("shuffle", () => {
  test("keeps every value once, for any length", () => {
    for (const N of [0, 1, 2, 17, 1000]) {
      const values = Int32Array.from({ length: N }, (_, i) => i);
      shuffle(values, createRandom(3));
      expect(Array.from(values).sort((a, b) => a - b)).toEqual(Array.from({ length: N }, (_, i) => i));
    }
  });

  test("each of the six orders of three comes up equally often", () => {
    const random = createRandom(17);
    const counts = new Map<string, number>();
    for (let i = 0; i < 6000; i++) {
      const values = Int32Array.of(0, 1, 2);
      shuffle(values, random);
      counts.set(values.join(), (counts.get(values.join()) ?? 0) + 1);
    }
    expect(counts.size).toBe(6);
    const chiSquare = [...counts.values()].reduce((sum, count) => sum + (count - 1000) ** 2 / 1000, 0);
    expect(chiSquareUpperTail(chiSquare, 5)).toBeGreaterThan(1e-3);
  });
});
