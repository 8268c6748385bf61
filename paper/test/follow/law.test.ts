// Patients are drawn by the law that is written down, their true survival is that of a fine integration, and their rows
// follow on each other.
import { describe, expect, test } from "vitest";
import {
  deathRate,
  drawFresh,
  LAW_MONTHS,
  type Patient,
  simulatePatients,
  trueSurvival,
} from "../../src/follow/law.ts";

const plain: Patient = { age: 63, female: false, smoker: false, marker: 1, iron: 100 };
const logRatio = (change: Partial<Patient>, isTreated = false) =>
  Math.log(deathRate({ ...plain, ...change }, isTreated, 10) / deathRate(plain, false, 10));

test("rates, as they are written down", () => {
  expect(deathRate(plain, false, 0)).toBeCloseTo(0.014 * Math.exp(0.4), 12);
  expect(deathRate(plain, false, 600)).toBeCloseTo(0.014, 12);
  expect(logRatio({ age: 72, female: true })).toBeCloseTo(0.27 - 0.3, 12);
  expect(logRatio({ age: 75 })).toBeCloseTo(0.36 + 0.24, 12);
  expect(logRatio({ marker: Math.E, iron: 50 })).toBeCloseTo(0.6, 12);
  // The treatment helps those who do not smoke.
  expect(logRatio({}, true)).toBeCloseTo(-1, 12);
  expect(logRatio({ smoker: true }, true) - logRatio({ smoker: true })).toBeCloseTo(0.15, 12);
});

test("true survival is that of an integration in 400 steps a month", () => {
  const times = [0, 0.5, 1, 7.3, 36, LAW_MONTHS];
  const slow = times.map((until) => {
    let passed = 0;
    for (let step = 0; step < Math.round(400 * until); step++)
      passed += deathRate(plain, true, Math.floor((step + 0.5) / 400)) / 400;
    return Math.exp(-passed);
  });
  for (const [t, one] of trueSurvival(plain, true, times).entries()) expect(one).toBeCloseTo(slow[t], 9);
});

describe("people who are drawn", () => {
  const text = simulatePatients(4000, 7);
  const [head, ...lines] = text.trimEnd().split("\n");
  const rows = lines.map((line) => {
    const cells = line.split(",");
    const at = (name: string) => Number(cells[head.split(",").indexOf(name)]);
    return { id: at("id"), start: at("start"), stop: at("stop"), died: at("died"), treated: at("treated") };
  });

  test("are the same for the same seed, and a second row begins where the first ends, with the treatment", () => {
    expect(simulatePatients(4000, 7)).toBe(text);
    expect(new Set(rows.map(({ id }) => id)).size).toBe(4000);
    for (const [k, row] of rows.entries()) {
      expect(row.stop).toBeGreaterThan(row.start);
      const isSecond = k > 0 && rows[k - 1].id === row.id;
      expect(row.treated).toBe(Number(isSecond));
      expect(row.start).toBe(isSecond ? rows[k - 1].stop : 0);
      if (isSecond) expect(rows[k - 1].died).toBe(0);
    }
  });

  test("die, untreated, as often in the first months as the law says", () => {
    // Months at risk times the rate of a mean over fresh people; the mean rate falls a little as the frail die.
    const { people } = drawFresh(4000, 8);
    const rate = people.reduce((sum, { patient }) => sum + deathRate(patient, false, 0), 0) / people.length;
    const early = rows.filter(({ start }) => start === 0);
    const atRisk = early.reduce((sum, { stop }) => sum + Math.min(stop, 1), 0);
    const deaths = early.filter(({ stop, died }) => died === 1 && stop <= 1).length;
    expect(Math.abs(deaths - rate * atRisk)).toBeLessThan(4 * Math.sqrt(rate * atRisk));
  });
});

test("fresh people are treated by a coin, and their cells say so", () => {
  const { people, text } = drawFresh(1000, 3);
  const treated = text
    .trimEnd()
    .split("\n")
    .slice(1)
    .map((line) => line.endsWith(",1"));
  expect(treated).toEqual(people.map(({ isTreated }) => isTreated));
  expect(Math.abs(treated.filter(Boolean).length - 500)).toBeLessThan(64);
});
