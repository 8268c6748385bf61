// The share of training that is kept: by hand for losses that are a parabola, and without a jump as they change.
import { expect, test } from "vitest";
import { chooseMixture, MIXTURES } from "../../../src/training/solve/mixture.ts";

/** Losses of rows with slope·α + bend·α² and deviations ± spread·α, half of the rows each. */
function lossesOf(slope: number, bend: number, spread: number, rows = 100): Float64Array[] {
  return MIXTURES.map((share) =>
    Float64Array.from({ length: rows }, (_, n) => {
      const deviation = (n % 2 === 0 ? 1 : -1) * spread * share;
      return 2 + slope * share + bend * share * share + deviation;
    }),
  );
}

test("by hand: least at .6, a gain of .36 and its standard error, and what noise leaves of it", () => {
  // −1.2α + α² is least at .6, where it is −.36; deviations there are ±.6·3, so SE = 1.8 √(100/99) / 10.
  const standardError = 0.18 * Math.sqrt(100 / 99);
  const chosen = chooseMixture(lossesOf(-1.2, 1, 3));
  expect(chosen.gain).toBeCloseTo(0.36, 12);
  expect(chosen.standardError).toBeCloseTo(standardError, 12);
  // Less than twice the standard error.
  expect(chosen.share).toBeCloseTo(0.6 * (0.36 / standardError - 1), 12);
  expect(chosen.losses.map(({ loss }) => loss)).toEqual([
    expect.closeTo(2, 12),
    expect.closeTo(2 - 0.3 + 0.0625, 12),
    expect.closeTo(2 - 0.6 + 0.25, 12),
    expect.closeTo(2 - 0.9 + 0.5625, 12),
    expect.closeTo(2 - 1.2 + 1, 12),
  ]);
  // A member of an ensemble takes the least point as it is.
  expect(chooseMixture(lossesOf(-1.2, 1, 3), 0).share).toBeCloseTo(0.6, 12);
});

test("the start is kept within the noise, and where training loses; the trained network where it gains to the end", () => {
  expect(chooseMixture(lossesOf(-1.2, 1, 7)).share).toBe(0);
  expect(chooseMixture(lossesOf(0.5, 1, 0))).toMatchObject({ share: 0, gain: 0 });
  expect(chooseMixture(lossesOf(-3, 1, 0)).share).toBe(1);
  expect(chooseMixture(lossesOf(-1, -1, 0)).share).toBe(1);
});

test("the share varies without a jump as training gains more", () => {
  let before = 0;
  let steps = 0;
  for (let slope = 0.2; slope > -3; slope -= 0.001) {
    const { share } = chooseMixture(lossesOf(slope, 1, 3));
    expect(Math.abs(share - before)).toBeLessThan(0.005);
    if (share > before) steps++;
    before = share;
  }
  expect(before).toBeGreaterThan(0.9);
  expect(steps).toBeGreaterThan(1000);
});
