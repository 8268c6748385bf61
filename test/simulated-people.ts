/**
 * People with categories, numbers and noise columns, hazards that are known, and curves that are right for all of them
 * but one planted group: for it the true hazards are `ratio(t)` times the predicted. Censoring depends on the features;
 * about three quarters are censored.
 */
import { createRandom } from "../src/core/random.ts";
import type { Curves } from "../src/data/curves/curves.ts";
import { evaluateGroup } from "../src/data/groups/group-members.ts";
import type { BinnedRightCensored } from "../src/data/outcomes/outcomes.ts";
import type { Column, Table } from "../src/data/table.ts";

export interface People {
  readonly table: Table;
  readonly curves: Curves;
  readonly outcomes: BinnedRightCensored;
  /** [N], 1 = of the planted group. */
  readonly planted: Uint8Array;
}

export interface Plant {
  readonly expression: string;
  /** True hazard over predicted, at a share 0…1 of the time. */
  ratio(share: number): number;
}

const T = 25;

export function drawPeople(N: number, seed: number, plant: Plant | null): People {
  const random = createRandom(seed, 99);
  const pick = (name: string, shares: Readonly<Record<string, number>>): Column & { type: "category" } => {
    const levels = Object.keys(shares);
    const codes = Int32Array.from({ length: N }, () => {
      let left = random.uniform();
      const code = levels.findIndex((level) => {
        left -= shares[level];
        return left < 0;
      });
      return code < 0 ? levels.length - 1 : code;
    });
    return { type: "category", name, levels, codes };
  };
  const measure = (name: string, mean = 0, sd = 1, digits = 2): Column & { type: "number" } => ({
    type: "number",
    name,
    values: Float64Array.from({ length: N }, () => Number((mean + sd * random.normal()).toFixed(digits))),
  });
  const race = pick("race", { A: 0.6, B: 0.18, C: 0.14, D: 0.08 });
  const house = pick("house", { rent: 0.3, own: 0.5, other: 0.2 });
  const sex = pick("sex", { F: 0.5, M: 0.5 });
  const site = pick("site", { north: 0.4, south: 0.3, east: 0.2, west: 0.1 });
  const age = measure("age", 62, 11, 1);
  const lab = measure("lab");
  const noise = ["bmi", "height", "pulse"].map((name) => measure(name));
  const table = { name: "people", rows: N, columns: [race, house, sex, site, age, lab, ...noise] };

  const planted = plant === null ? new Uint8Array(N) : evaluateGroup(plant.expression, table);
  const survival = new Float64Array(N * T);
  const bin = new Int32Array(N);
  const event = new Uint8Array(N);
  for (let i = 0; i < N; i++) {
    const rate = Math.exp(-0.5 + 0.5 * lab.values[i] + 0.025 * (age.values[i] - 62));
    const threshold = -Math.log(1 - random.uniform());
    let [before, cumulated, dies] = [0, 0, T + 1];
    for (let t = 1; t <= T; t++) {
      const predicted = rate * (t / T) ** 1.2;
      survival[i * T + t - 1] = Math.exp(-predicted);
      cumulated += (predicted - before) * (plant !== null && planted[i] === 1 ? plant.ratio(t / T) : 1);
      before = predicted;
      if (dies > T && cumulated >= threshold) dies = t;
    }
    const leaves = 1 + Math.floor(T * random.uniform() ** Math.exp(0.3 * lab.values[i]));
    event[i] = dies <= Math.min(leaves, T) ? 1 : 0;
    bin[i] = Math.min(dies, leaves, T);
  }
  return { table, curves: { N, T, survival }, outcomes: { T, bin, event }, planted };
}
