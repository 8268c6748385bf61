// Incidences of several causes: what they say of survival and hazards by hand, and what is refused by name.
import { describe, expect, test } from "vitest";
import { causeCurves, hazardsOf, survivalOf } from "../../src/data/curves/cause-curves.ts";

/** Two people, two causes, three bins. */
const incidence = [0.1, 0.2, 0.2, 0.1, 0.3, 0.5, 0, 0.25, 0.25, 0.5, 0.75, 0.75];
const given = { N: 2, T: 3, causes: ["relapse", "death"], incidence };

describe("causeCurves", () => {
  test("keeps the values; survival and hazards follow from them", () => {
    const curves = causeCurves(given);
    expect(curves).toMatchObject({ N: 2, K: 2, T: 3, causes: ["relapse", "death"] });
    expect([...curves.incidence]).toEqual(incidence);
    const { survival } = survivalOf(curves);
    [0.8, 0.5, 0.3, 0.5, 0, 0].forEach((S, k) => {
      expect(survival[k]).toBeCloseTo(S, 15);
    });
    // First person: 0.1/1, 0.1/0.8, 0/0.5; 0.1/1, 0.2/0.8, 0.2/0.5. Nobody like the second is left after bin 2.
    const hazards = hazardsOf(curves);
    [0.1, 0.125, 0, 0.1, 0.25, 0.4, 0, 0.5, 0, 0.5, 0.5, 0].forEach((h, k) => {
      expect(hazards[k]).toBeCloseTo(h, 15);
    });
  });

  test("of one cause, survival is what is left and the hazards are those of survival", () => {
    const curves = causeCurves({ N: 1, T: 3, causes: ["death"], incidence: [0.2, 0.2, 0.6] });
    expect([...survivalOf(curves).survival].map((S) => S.toFixed(12))).toEqual(
      [0.8, 0.8, 0.4].map((S) => S.toFixed(12)),
    );
    expect(hazardsOf(curves)[2]).toBeCloseTo(0.5, 15);
  });

  test("rounding is let through and goes no further", () => {
    const rounded = [0.5, 0.5 - 5e-10, 0.5, 0.5, 0.5 + 5e-10, 0.5 + 5e-10];
    const curves = causeCurves({ N: 1, T: 3, causes: ["a", "b"], incidence: rounded });
    const { survival } = survivalOf(curves);
    for (let t = 0; t < 3; t++) {
      expect(survival[t]).toBeGreaterThanOrEqual(0);
      expect(survival[t]).toBeLessThanOrEqual(t === 0 ? 1 : survival[t - 1]);
    }
    for (const h of hazardsOf(curves)) expect(h >= 0 && h <= 1).toBe(true);
  });

  const change = (at: number, value: number) => incidence.map((F, k) => (k === at ? value : F));
  test.each([
    [
      "falls",
      change(1, 0.05),
      "cumulative incidence falls: from 0.1 to 0.05",
      'row 1, cause "relapse", bin 2',
    ],
    ["above 1", change(11, 1.5), "cumulative incidence outside 0 to 1: 1.5", 'row 2, cause "death", bin 3'],
    [
      "below 0",
      change(6, -0.1),
      "cumulative incidence outside 0 to 1: -0.1",
      'row 2, cause "relapse", bin 1',
    ],
    [
      "no number",
      change(4, Number.NaN),
      "cumulative incidence is not a number",
      'row 1, cause "death", bin 2',
    ],
    ["infinite", change(4, 1 / 0), "cumulative incidence is not a number", 'row 1, cause "death", bin 2'],
    ["a sum above 1", change(11, 0.9), "the causes make more than 1 together: 1.15", "row 2, bin 3"],
  ])("refuses curves that are none: %s", (_, values, message, where) => {
    expect(() => causeCurves({ ...given, incidence: values })).toThrow(
      expect.objectContaining({ message, where }),
    );
  });

  test("refuses what does not fit together", () => {
    expect(() => causeCurves({ ...given, N: 3 })).toThrow("12 values for 3 rows × 2 causes × 3 bins");
    expect(() => causeCurves({ ...given, causes: ["a", "a"] })).toThrow('two causes have one name: "a"');
    expect(() => causeCurves({ ...given, causes: [] })).toThrow("no cause is named");
  });
});
