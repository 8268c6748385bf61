// Explanations against Shapley values written out over all subsets of columns of the table, Cox's own terms, and each
// other: sums, sampling errors, columns that do not matter.
import { describe, expect, test } from "vitest";
import { createReferenceBackend } from "../../src/compute/reference.ts";
import { isAbsent } from "../../src/core/measured.ts";
import { createRandom } from "../../src/core/random.ts";
import { encode } from "../../src/data/encode/encode.ts";
import { fitEncoder } from "../../src/data/encode/fit-encoder.ts";
import { addGroupColumns, groupColumnName } from "../../src/data/groups/groups.ts";
import { interpolateCurve } from "../../src/data/outcomes/time-grid.ts";
import { type Column, selectRows, type Table } from "../../src/data/table.ts";
import type { Model } from "../../src/training/model.ts";
import { explainPerson } from "../../src/verbs/people/explain.ts";
import type { Breakdown, ExplainedTime } from "../../src/verbs/people/explained-quantities.ts";
import { findPersonRow } from "../../src/verbs/people/person-row.ts";
import { shapleyValues } from "../../src/verbs/people/shapley.ts";
import { gridOf, predict } from "../../src/verbs/predict.ts";
import { type PatientKind, patientModel } from "../files/onnx-models.ts";
import { drawPeople } from "../simulated-people.ts";

const backend = createReferenceBackend();
const people: Table = drawPeople(30, 3, null).table;
const FEATURES = ["race", "sex", "age", "lab", "bmi", "site"];
const GROUPS = [
  { name: "older", expression: "age >= 60 & age < 90" },
  { name: "older women", expression: "age >= 60 & sex = F" },
];

function modelOf(kind: PatientKind, groups: Model["inputGroups"] = [], features = FEATURES): Model {
  const widened = addGroupColumns(people, groups);
  const encoder = fitEncoder(widened, { features: [...features, ...groups.map(groupColumnName)] });
  return patientModel(encoder, kind, groups);
}

const known = (one: ExplainedTime): Breakdown => {
  if (isAbsent(one.logHazard)) throw new Error(one.logHazard.absent);
  return one.logHazard;
};
const sumOf = ({ baseline, contributions }: Breakdown) =>
  contributions.reduce((sum, value) => sum + value, baseline);

/** The table's row `other`, with the cells of row `own` in the named columns. */
function compose(own: number, other: number, named: readonly string[]): Column[] {
  const [mine, theirs] = [own, other].map((row) => selectRows(people, [row]).columns);
  return theirs.map((column, c) => (named.includes(column.name) ? mine[c] : column));
}

/** Rows of one table each are joined into one, so that they are predicted at once. */
function joinRows(rows: readonly Column[][]): Table {
  const columns = rows[0].map((first, c): Column => {
    if (first.type === "category") {
      return { ...first, codes: Int32Array.from(rows, (row) => (row[c] as typeof first).codes[0]) };
    }
    if (first.type === "boolean") throw new Error("no such column here");
    return { ...first, values: Float64Array.from(rows, (row) => (row[c] as typeof first).values[0]) };
  });
  return { name: "composed", rows: rows.length, columns };
}

/** φ of each column by its definition: a mean over all subsets without it, each weighted by the orders it stands for. */
async function bruteForce(model: Model, own: number, background: readonly number[], time: number) {
  const d = FEATURES.length;
  const subsets = Array.from({ length: 2 ** d }, (_, S) => FEATURES.filter((_, j) => (S >> j) % 2 === 1));
  const rows = subsets.flatMap((named) => background.map((other) => compose(own, other, named)));
  const { curves } = await predict(model, joinRows(rows), backend);
  const survival = rows.map((_, i) => {
    const S = interpolateCurve(
      curves.survival.subarray(i * curves.T, (i + 1) * curves.T),
      gridOf(model),
      time,
    );
    return isAbsent(S) ? Number.NaN : S;
  });
  const B = background.length;
  const factorial = (n: number): number => (n < 2 ? 1 : n * factorial(n - 1));
  const solve = (quantity: (S: number) => number) => {
    const v = subsets.map((_, S) => {
      const own = survival.slice(S * B, (S + 1) * B);
      return own.reduce((sum, one) => sum + quantity(one) / B, 0);
    });
    const phi = FEATURES.map((_, j) =>
      subsets.reduce((sum, named, S) => {
        if ((S >> j) % 2 === 1) return sum;
        const share = (factorial(named.length) * factorial(d - named.length - 1)) / factorial(d);
        return sum + share * (v[S + 2 ** j] - v[S]);
      }, 0),
    );
    return { phi, baseline: v[0], prediction: v[2 ** d - 1] };
  };
  return { logHazard: solve((S) => Math.log(-Math.log(S))), risk: solve((S) => 1 - S) };
}

describe("against all subsets of six columns", () => {
  const background = [1, 4, 7, 11, 20];
  test.each(["mlp", "held mean", "cox"] as const)("%s", async (kind) => {
    const model = modelOf(kind, GROUPS.slice(0, 1));
    const explained = await explainPerson(model, people, backend, 9, { at: [6, 10], background });
    expect(explained.method).toBe("enumeration");
    expect(explained.columns.map(({ name }) => name)).toEqual(FEATURES);
    for (const one of explained.times) {
      const truth = await bruteForce(model, 9, background, one.time);
      for (const [found, wanted] of [
        [known(one), truth.logHazard],
        [one.risk, truth.risk],
      ] as const) {
        expect(found.baseline).toBeCloseTo(wanted.baseline, 10);
        expect(found.prediction).toBeCloseTo(wanted.prediction, 10);
        found.contributions.forEach((value, j) => {
          expect(value).toBeCloseTo(wanted.phi[j], 10);
        });
        expect(found.standardErrors.every((error) => error === 0)).toBe(true);
        expect(Math.abs(sumOf(found) - found.prediction)).toBeLessThan(1e-9);
      }
    }
  });
});

test("a group of several columns has a contribution of its own, and everything adds up", async () => {
  for (const kind of ["anchored", "mean", "held blind", "linear", "drsa"] as const) {
    const model = modelOf(kind, GROUPS);
    const explained = await explainPerson(model, people, backend, 2, { at: [15], background: [0, 5, 9] });
    expect(explained.columns.at(-1)).toMatchObject({ name: "older women", kind: "group" });
    expect(explained.columns).toHaveLength(FEATURES.length + 1);
    const [{ risk, logHazard, survival }] = explained.times;
    if (isAbsent(logHazard)) throw new Error(logHazard.absent);
    expect(Math.abs(sumOf(risk) - (1 - survival))).toBeLessThan(1e-9);
    expect(Math.abs(sumOf(logHazard) - Math.log(-Math.log(survival)))).toBeLessThan(1e-9);
  }
});

test("Cox at the edge of a bin: the terms of the linear predictor, β(x − mean), for any number of columns", async () => {
  const features = people.columns.map(({ name }) => name);
  const model = modelOf("cox", [], features);
  if (model.predictor.kind !== "cox") throw new Error("not a Cox model");
  const { coefficients } = model.predictor;
  const background = [3, 8, 13, 21];
  const explained = await explainPerson(model, people, null, 0, { at: [10, 11], background });
  const { values, D } = encode(model.encoder, people, [0, ...background]);
  const terms = Array.from({ length: D }, (_, d) => {
    const mean = background.reduce((sum, _, b) => sum + values[(b + 1) * D + d] / background.length, 0);
    return Number.isNaN(coefficients[d]) ? 0 : coefficients[d] * (values[d] - mean);
  });
  // race has four levels, house three, sex two, site four; the numbers one column each
  const widths = [4, 3, 2, 4, 1, 1, 1, 1, 1];
  const byColumn = widths.map((width, c) => {
    const first = widths.slice(0, c).reduce((a, b) => a + b, 0);
    return terms.slice(first, first + width).reduce((a, b) => a + b, 0);
  });
  known(explained.times[0]).contributions.forEach((value, c) => {
    expect(value).toBeCloseTo(byColumn[c], 10);
  });
  expect(explained.times.map(({ isAdditive }) => isAdditive)).toEqual([true, false]);
});

test("a column that is not there is refused by its name, also where a group asks for it", async () => {
  const model = modelOf("mlp", GROUPS);
  const ageless = { ...people, columns: people.columns.filter(({ name }) => name !== "age") };
  const asked = explainPerson(model, ageless, backend, 0, { at: [gridOf(model).edges[2]] });
  await expect(asked).rejects.toThrow(/^missing column: "age" \(have /);
});

test("a column that is the same for everyone contributes nothing", async () => {
  const same = people.columns.map((column) =>
    column.type === "number" && column.name === "bmi"
      ? { ...column, values: column.values.map(() => 21) }
      : column,
  );
  const table = { ...people, columns: same };
  const { times, columns } = await explainPerson(modelOf("mlp"), table, backend, 4, { at: [5] });
  const at = columns.findIndex(({ name }) => name === "bmi");
  expect(times[0].risk.contributions[at]).toBe(0);
  expect(columns[at].value).toBe("21");
});

describe("orders that are drawn", () => {
  /** A game whose values are known in closed form: Σ a_j + Σ_{i<j} c_ij, so φ_j = a_j + Σ_i c_ij / 2. */
  const players = 12;
  const random = createRandom(8);
  const alone = Array.from({ length: players }, () => random.normal());
  const together = alone.map((_, i) =>
    alone.map((_, j) => (i < j && (i + j) % 3 === 0 ? random.normal() : 0)),
  );
  const triple = 1.5; // of players 0, 1 and 2: a third of it to each
  const all = Array.from({ length: players }, (_, j) => j);
  const worthOf = (isIn: (j: number) => boolean) =>
    all.reduce(
      (sum, i) => {
        if (!isIn(i)) return sum;
        return sum + alone[i] + all.reduce((pairs, j) => pairs + (isIn(j) ? together[i][j] : 0), 0);
      },
      isIn(0) && isIn(1) && isIn(2) ? triple : 0,
    );
  const truth = all.map(
    (j) =>
      alone[j] +
      all.reduce((sum, i) => sum + (together[i][j] + together[j][i]) / 2, 0) +
      (j < 3 ? triple / 3 : 0),
  );
  const play = (seed: number, budget: number) =>
    shapleyValues(
      {
        outputs: 1,
        differing: [all, all, all],
        evaluate: async (_, coalitions) =>
          Float64Array.from({ length: coalitions.length / players }, (_, c) =>
            worthOf((j) => coalitions[c * players + j] === 1),
          ),
      },
      players,
      Float64Array.of(worthOf(() => true)),
      { seed, budget },
    );

  test("every subset gives the closed form", async () => {
    const { values, sampled } = await play(1, 3 * 2 ** players);
    expect(sampled.rows).toBe(0);
    values.forEach((value, j) => {
      expect(value).toBeCloseTo(truth[j], 10);
    });
  });

  test("the sum is exact, pairs cancel interactions of two, and the error covers those of three", async () => {
    const repeats = 60;
    let covered = 0;
    let squared = 0;
    let claimed = 0;
    for (let seed = 1; seed <= repeats; seed++) {
      const { values, standardErrors, baseline, sampled } = await play(seed, 3 * 12 * 2 * 20);
      expect(sampled).toEqual({ rows: 3, pairs: 20 });
      const sum = values.reduce((total, one) => total + one, baseline[0]);
      expect(Math.abs(sum - worthOf(() => true))).toBeLessThan(1e-9);
      for (const j of all.slice(3)) {
        expect(values[j]).toBeCloseTo(truth[j], 10);
        expect(standardErrors[j]).toBeLessThan(1e-12);
      }
      for (const j of [0, 1, 2]) {
        const off = values[j] - truth[j];
        squared += off ** 2;
        claimed += standardErrors[j] ** 2;
        if (Math.abs(off) <= 1.96 * standardErrors[j]) covered++;
      }
    }
    // 180 intervals: 95 % of them, give or take three standard deviations; the claimed variance is the real one.
    expect(covered / (3 * repeats)).toBeGreaterThan(0.9);
    expect(claimed / squared).toBeGreaterThan(0.7);
    expect(claimed / squared).toBeLessThan(1.4);
  });
});

describe("which row is meant", () => {
  const ids: Column = {
    name: "pid",
    type: "category",
    levels: ["7", "a", "b"],
    codes: Int32Array.of(1, 0, 2, 2),
  };
  const table: Table = { name: "people.csv", rows: 4, columns: [ids] };
  const refusal = (wanted: string, id: string | null) => {
    try {
      return String(findPersonRow(table, wanted, id));
    } catch (error) {
      const { code, message, hint } = error as { code: string; message: string; hint?: string };
      return `${code}: ${message} (${hint})`;
    }
  };
  test.each([
    ["a", "pid", "0"],
    ["7", "pid", "1"],
    ["#3", "pid", "2"],
    ["3", null, "2"],
    [
      "b",
      "pid",
      "row.ambiguous: several rows belong to \"b\": rows 3 and 4 (name one of them by its number, --row '#3')",
    ],
    ["4", "pid", "row.unknown: no row belongs to \"4\" (the row of that number is --row '#4')"],
    [
      "x",
      null,
      'row.unknown: not a row number: "x" (give a number from 1 to 4, or name the column of ids with --id COLUMN)',
    ],
    ["0", null, "rows.range: no such row in a table of 4: 0 (undefined)"],
    ["5", null, "rows.range: no such row in a table of 4: 5 (undefined)"],
  ])("%s by %s", (wanted, id, answer) => {
    expect(refusal(wanted, id)).toBe(answer);
  });
});

test.each([
  [{ at: [0] }, "time.invalid"],
  [{ at: [99] }, "time.horizon"],
  [{ at: [5], background: [] }, "rows.none"],
  [{ at: [5], background: [30] }, "rows.range"],
])("%j is refused", async (options, code) => {
  await expect(explainPerson(modelOf("cox"), people, null, 0, options)).rejects.toMatchObject({ code });
});
