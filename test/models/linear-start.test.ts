// Where the default preset's networks start, and the offsets of groups over time: by hand, and against Cox.
import { describe, expect, test } from "vitest";
import { createReferenceBackend } from "../../src/compute/reference.ts";
import { createRandom } from "../../src/core/random.ts";
import { fitCox } from "../../src/models/cox/cox.ts";
import { createAdditive } from "../../src/models/networks/additive.ts";
import { GROUP_KNOTS, placeKnots } from "../../src/models/networks/group-offsets.ts";
import { anchorHazards } from "../../src/models/networks/initialise.ts";
import { fitLinearStart, MOST_START_COLUMNS } from "../../src/models/start/linear-start.ts";
import { place } from "../compute/problems.ts";

function simulate(N: number, D: number) {
  const random = createRandom(3);
  const x = Float64Array.from({ length: N * D }, () => random.normal());
  const bin = Int32Array.from({ length: N }, (_, i) =>
    Math.min(10, 1 + Math.floor(-6 * Math.log(random.uniform()) * Math.exp(-0.7 * x[i * D]))),
  );
  const event = Uint8Array.from(bin, (b) => (b < 10 ? 1 : 0));
  return { T: 10, bin, event, x, D };
}

describe("fitLinearStart", () => {
  test("slopes of a ridge-penalised Cox model; group columns start at 0", () => {
    const rows = simulate(300, 3);
    const { slopes } = fitLinearStart({ ...rows, groups: 1 });
    const features = Float64Array.from({ length: 600 }, (_, k) => rows.x[Math.floor(k / 2) * 3 + (k % 2)]);
    const cox = fitCox(
      { time: Float64Array.from(rows.bin), event: rows.event, x: features, D: 2 },
      { ridge: 1 },
    );
    expect(slopes[0]).toBeCloseTo(cox.coefficients[0], 8);
    expect(slopes[1]).toBeCloseTo(cox.coefficients[1], 8);
    expect(slopes[2]).toBe(0);
  });

  test("baseline hazards are events over the risks of those at risk", () => {
    const rows = simulate(300, 1);
    const { slopes, baselineHazard } = fitLinearStart({ ...rows, groups: 0 });
    const events = new Float64Array(10);
    const exposed = new Float64Array(10);
    rows.bin.forEach((bin, i) => {
      events[bin - 1] += rows.event[i];
      for (let t = 0; t < bin; t++) exposed[t] += Math.exp(slopes[0] * rows.x[i]);
    });
    anchorHazards(events, exposed).forEach((hazard, t) => {
      expect(baselineHazard[t]).toBeCloseTo(hazard, 12);
    });
  });

  test("very wide tables start with slopes of 0", () => {
    const D = MOST_START_COLUMNS + 1;
    const rows = simulate(20, D);
    expect(fitLinearStart({ ...rows, groups: 0 }).slopes.every((slope) => slope === 0)).toBe(true);
  });
});

describe("group offsets", () => {
  test("knots have equal shares of the expected events between them", () => {
    // Hazards 1/5, 1/4, 1/3, 1/2, 1: a fifth of the people in each bin, so a knot after each.
    const { knot, share } = placeKnots(5, [1 / 5, 1 / 4, 1 / 3, 1 / 2, 1]);
    const place = Array.from(knot, (k, t) => k + share[t]);
    [1, 2, 3, 4, 5].forEach((at, t) => {
      expect(place[t]).toBeCloseTo(at, 12);
    });
    expect(Math.max(...knot)).toBe(GROUP_KNOTS - 2);
  });

  test("only members move, by five times the parameter, linearly between knots", async () => {
    const backend = createReferenceBackend();
    // One group, one knot interval a bin and a half: expected events 1/2 and 1 of all, knots at 2.5 and 5.
    const baselineHazard = [0.5, 1 - 1e-15];
    const { parameters, forward } = createAdditive(backend, { D: 2, T: 2, groups: 1, baselineHazard });
    const [baseline, , offsets] = parameters;
    backend.clear(baseline.values);
    backend.write(offsets.values, [0, 0, 1, 3, 0, 2]);
    const out = backend.allocate(4);
    await forward(place(backend, [9, 1, 9, 0]), 2, out);
    const logits = await backend.read(out);
    expect(logits[0]).toBeCloseTo(5 * 2, 12);
    expect(logits[1]).toBeCloseTo(5 * 2, 12);
    expect(Array.from(logits.subarray(2))).toEqual([0, 0]);
  });
});
