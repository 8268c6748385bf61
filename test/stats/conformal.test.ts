// The threshold of a conformal bound, worked by hand: without censoring the order statistic, with it the weighted one.
import { describe, expect, test } from "vitest";
import { isAbsent } from "../../src/core/measured.ts";
import { createRandom } from "../../src/core/random.ts";
import { conformalThreshold } from "../../src/stats/conformal.ts";

const ones = (n: number) => Array<number>(n).fill(1);

describe("conformalThreshold", () => {
  test("without censoring it is the ⌊α(n + 1)⌋-th smallest score", () => {
    const score = [0.9, 0.2, 0.7, 0.1, 0.5, 0.3, 0.8, 0.4, 0.6];
    const scores = { score, weight: ones(9), n: 9 };
    expect(conformalThreshold(scores, 0.1)).toBe(0.1);
    expect(conformalThreshold(scores, 0.29)).toBe(0.2);
    expect(conformalThreshold(scores, 0.3)).toBe(0.3);
    expect(conformalThreshold(scores, 0.999)).toBe(0.9);
  });

  test("an event stands for as many as its weight: (1 + Σ w) / (n + 1), five rows of which two were censored", () => {
    // α (n + 1) = 3: below .2 the sum is 1, below .5 it is 1 + 3/2, below .6 it is 1 + 3/2 + 1 > 3.
    const scores = { score: [0.5, 0.2, 0.6], weight: [1, 3 / 2, 2], n: 5 };
    expect(conformalThreshold(scores, 1 / 2)).toBe(0.5);
    expect(conformalThreshold(scores, 1 / 3)).toBe(0.2);
    expect(conformalThreshold(scores, 11 / 12)).toBe(Number.POSITIVE_INFINITY);
  });

  test("tied scores fail together, and their order does not matter", () => {
    const tied = { score: [0.2, 0.4, 0.2, 0.4], weight: ones(4), n: 9 };
    expect(conformalThreshold(tied, 0.3)).toBe(0.4);
    expect(conformalThreshold({ ...tied, score: [0.4, 0.2, 0.4, 0.2] }, 0.2)).toBe(0.2);
  });

  test("too few rows have none, with the reason", () => {
    const threshold = conformalThreshold({ score: [0.1], weight: [1], n: 8 }, 0.1);
    expect(isAbsent(threshold) && threshold.absent).toBe("8 rows are too few: 9 are needed at the least");
    expect(conformalThreshold({ score: [], weight: [], n: 9 }, 0.1)).toBe(Number.POSITIVE_INFINITY);
  });

  test("of exchangeable scores it fails as often as it may: exactly k / (n + 1)", () => {
    const random = createRandom(3);
    let failed = 0;
    const draws = 4000;
    for (let draw = 0; draw < draws; draw++) {
      const score = Float64Array.from({ length: 19 }, () => random.uniform());
      const threshold = conformalThreshold({ score, weight: ones(19), n: 19 }, 0.15);
      if (isAbsent(threshold)) throw new Error(threshold.absent);
      if (random.uniform() < threshold) failed++;
    }
    // 3/20, within three standard errors.
    expect(Math.abs(failed / draws - 0.15)).toBeLessThan(3 * Math.sqrt((0.15 * 0.85) / draws));
  });
});
