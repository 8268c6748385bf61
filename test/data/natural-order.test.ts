// Levels in the order a person lists them.
import fc from "fast-check";
import { describe, expect, test } from "vitest";
import { compareLevels } from "../../src/data/natural-order.ts";

const sorted = (...levels: string[]) => [...levels].sort(compareLevels);

describe("natural order", () => {
  test.each([
    [
      ["20-50", "<=20", ">50"],
      ["<=20", "20-50", ">50"],
    ],
    [
      ["100-199", "20-99", "< 20", "≥ 200"],
      ["< 20", "20-99", "100-199", "≥ 200"],
    ],
    [
      ["80+", "10-19", "0-9", "20-79"],
      ["0-9", "10-19", "20-79", "80+"],
    ],
    [
      ["stage 10", "stage 2", "stage 1"],
      ["stage 1", "stage 2", "stage 10"],
    ],
    [
      [">=65", ">80"],
      [">=65", ">80"],
    ],
    [
      ["1.5-2", "0.5-1.5", "<0.5"],
      ["<0.5", "0.5-1.5", "1.5-2"],
    ],
    [
      ["squamous", "adeno", "large"],
      ["adeno", "large", "squamous"],
    ],
    [
      ["T2", "T1b", "T1a"],
      ["T1a", "T1b", "T2"],
    ],
    [
      ["10", "9", "a"],
      ["9", "10", "a"],
    ],
  ])("%j", (levels, expected) => {
    expect(sorted(...levels)).toEqual(expected);
  });

  test("is an order: antisymmetric, and 0 for equal texts alone", () => {
    const level = fc.stringMatching(/^[<>]?=?[0-9ab .-]{0,6}$/);
    fc.assert(
      fc.property(level, level, (a, b) => {
        expect(Math.sign(compareLevels(a, b))).toBe(-Math.sign(compareLevels(b, a)) + 0);
        expect(compareLevels(a, b) === 0).toBe(a === b);
      }),
      { seed: 3, numRuns: 500 },
    );
    fc.assert(
      fc.property(level, level, level, (a, b, c) => {
        if (compareLevels(a, b) <= 0 && compareLevels(b, c) <= 0)
          expect(compareLevels(a, c)).toBeLessThanOrEqual(0);
      }),
      { seed: 4, numRuns: 500 },
    );
  });
});
