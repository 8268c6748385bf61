// Valve patients are drawn by the law that is written down, and its true incidences are those of a fine integration.
import { describe, expect, test } from "vitest";
import {
  CAUSES,
  deathRate,
  reoperationRate,
  simulateValves,
  trueIncidence,
  VALVE_MONTHS,
  type ValvePatient,
} from "../../src/causes/law.ts";

const plain: ValvePatient = {
  age: 66,
  female: false,
  region: "coast",
  tissue: false,
  urgent: false,
  smoker: false,
  diabetes: false,
  creatinine: 1,
  ejection: 52,
  iron: 100,
  sodium: 140,
};
const logRatio = (
  rate: (patient: ValvePatient, month: number) => number,
  change: Partial<ValvePatient>,
  month = 10,
) => Math.log(rate({ ...plain, ...change }, month) / rate(plain, month));

describe("rates, as they are written down", () => {
  test("of the plain patient", () => {
    expect(reoperationRate(plain, 0)).toBeCloseTo(0.0042, 12);
    expect(reoperationRate(plain, 50)).toBeCloseTo(0.0042 * Math.exp(0.4), 12);
    expect(deathRate(plain, 0)).toBeCloseTo(0.005 * Math.exp(0.5), 12);
    expect(deathRate(plain, 600)).toBeCloseTo(0.005, 12);
  });

  test("each cause has its own effects", () => {
    expect(logRatio(reoperationRate, { age: 76, female: true })).toBeCloseTo(-0.25 + 0.25, 12);
    expect(logRatio(deathRate, { age: 76, female: true })).toBeCloseTo(0.55 - 0.2, 12);
    expect(logRatio(reoperationRate, { tissue: true, region: "hills" })).toBeCloseTo(1.1, 12);
    expect(logRatio(deathRate, { tissue: true, region: "hills" })).toBeCloseTo(-0.4, 12);
    expect(logRatio(deathRate, { creatinine: Math.E })).toBeCloseTo(0.7, 12);
    for (const rate of [reoperationRate, deathRate])
      expect(logRatio(rate, { iron: 50, sodium: 130 })).toBe(0);
  });

  test("a bend, an interaction and an effect that fades", () => {
    expect([60, 45, 40, 30].map((ejection) => logRatio(deathRate, { ejection }))).toEqual(
      [0, 0, 0.35, 1.05].map((effect) => expect.closeTo(effect, 12)),
    );
    const [smoker, diabetes, both] = [
      { smoker: true },
      { diabetes: true },
      { smoker: true, diabetes: true },
    ].map((change) => logRatio(reoperationRate, change));
    expect(both - smoker - diabetes).toBeCloseTo(1, 12);
    expect([0, 9, 90].map((month) => logRatio(deathRate, { urgent: true }, month))).toEqual(
      [1.9, 1.9 / Math.E, 1.9 * Math.exp(-10)].map((effect) => expect.closeTo(effect, 12)),
    );
  });
});

test("true incidences are those of an integration in 400 steps a month", () => {
  const patient = { ...plain, urgent: true, smoker: true, diabetes: true, ejection: 38, tissue: true };
  const times = [0, 0.5, 1, 7.3, 36, VALVE_MONTHS];
  const F = trueIncidence(patient, times);
  const slow = times.map((until) => {
    const steps = Math.round(400 * until);
    let [survival, one, two] = [1, 0, 0];
    for (let step = 0; step < steps; step++) {
      const month = Math.floor((step + 0.5) / 400);
      const [a, b] = [reoperationRate(patient, month) / 400, deathRate(patient, month) / 400];
      // The middle of the step stands for it.
      const middle = survival * Math.exp(-(a + b) / 2);
      one += middle * a;
      two += middle * b;
      survival *= Math.exp(-(a + b));
    }
    return [one, two, survival];
  });
  for (const [t, [one, two, survival]] of slow.entries()) {
    expect(F[t]).toBeCloseTo(one, 8);
    expect(F[times.length + t]).toBeCloseTo(two, 8);
    expect(1 - F[t] - F[times.length + t]).toBeCloseTo(survival, 8);
  }
});

describe("people who are drawn", () => {
  const rowsOf = (text: string) =>
    text
      .trimEnd()
      .split("\n")
      .slice(1)
      .map((line) => line.split(","));

  test("have as many events of each cause in the first months as the law says, and the same for the same seed", () => {
    const { people, text } = simulateValves(20_000, 7, false);
    expect(simulateValves(20_000, 7, false).text).toBe(text);
    const rows = rowsOf(text);
    expect(rows).toHaveLength(people.length);
    for (const [k, cause] of CAUSES.entries()) {
      // Few have left by month 3: at most one in fifty, so the seen events lie between these.
      const expected = people.reduce((sum, patient) => sum + trueIncidence(patient, [3.05])[k], 0);
      const seen = rows.filter((row) => row[1] === cause && Number(row[0]) <= 3).length;
      expect(seen).toBeGreaterThan(0.97 * expected - 4 * Math.sqrt(expected));
      expect(seen).toBeLessThan(expected + 4 * Math.sqrt(expected));
    }
    const hills = people.filter(({ region }) => region === "hills").length;
    expect(hills / people.length).toBeCloseTo(0.04, 2);
  });

  test("come late where they may, and leave after they came", () => {
    const rows = rowsOf(simulateValves(5000, 8, true).text);
    const late = rows.filter((row) => Number(row[0]) > 0);
    expect(late.length / rows.length).toBeGreaterThan(0.3);
    expect(late.length / rows.length).toBeLessThan(0.4);
    for (const [entry, months] of rows) expect(Number(months)).toBeGreaterThan(Number(entry));
    expect(Math.max(...rows.map(([entry]) => Number(entry)))).toBeLessThanOrEqual(30);
  });
});
