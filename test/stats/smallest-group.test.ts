/** How large a group must be to be worth naming: by hand from Schoenfeld's formula. */
import { describe, expect, test } from "vitest";
import { smallestGroup } from "../../src/stats/smallest-group.ts";

describe("the smallest group worth naming", () => {
  test("48 events find out a hazard ratio of 1.5, among four fifths of the rows", () => {
    // (1.959964 + .841621)²/(log 1.5)² = 47.74; one row in ten has an event, and 80 % of the rows teach.
    expect(smallestGroup(1000, 100)).toEqual({ rows: 600, events: 48, ratio: 1.5, held: 167 });
  });
  test("rarer events need more people", () => {
    expect(smallestGroup(1000, 10)?.rows).toBe(6000);
    expect(smallestGroup(1000, 10)?.held).toBe(1667);
  });
  test("without events there is none", () => {
    expect(smallestGroup(1000, 0)).toBeNull();
  });
});
