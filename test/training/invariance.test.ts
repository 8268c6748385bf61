// A result does not hang on the order of things: the same table written another way gives the same curves. Small tables
// and few steps; the numbers on real ones are in docs/decisions/025-order-of-things.md.
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import type { WasmBackend } from "../../src/compute/wasm/wasm-backend.ts";
import { createRandom, shuffle } from "../../src/core/random.ts";
import { type Split, splitTable } from "../../src/data/outcomes/split.ts";
import { type CategoryColumn, type Column, selectRows, type Table } from "../../src/data/table.ts";
import { openWasmBackend } from "../../src/node/workers/wasm-backend.ts";
import type { Model } from "../../src/training/model.ts";
import { type FitRequest, fit as fitModel } from "../../src/verbs/fit.ts";
import { predict } from "../../src/verbs/predict.ts";

/** The most that a survival may change. */
const BOUND = 0.01;
const N = 600;

/** Skewed numbers, ties, missing cells, a code, a category, and an effect that is not linear. */
function drawTable(seed = 3): Table {
  const random = createRandom(seed);
  const z = Array.from({ length: N }, () => [
    random.normal(),
    random.normal(),
    random.integer(4),
    random.integer(3),
  ]);
  const hazard = z.map(([a, b, c, d]) =>
    Math.exp(0.7 * a + 0.6 * Math.abs(b) + (c === 2 ? 0.8 : 0) - 0.3 * d),
  );
  const dropout = Array.from({ length: N }, () => random.uniform());
  const raw = hazard.map((h) => -Math.log(random.uniform()) / h);
  const time = raw.map((t, i) => Math.max(1, Math.ceil(20 * Math.min(t, 3 * dropout[i]))));
  const number = (name: string, values: readonly number[]): Column => ({
    name,
    type: "number",
    values: Float64Array.from(values),
  });
  return {
    name: "drawn.csv",
    rows: N,
    columns: [
      number(
        "marker",
        z.map(([a], i) => (i % 40 === 7 ? Number.NaN : Math.round(40 * Math.exp(0.8 * a)) / 10)),
      ),
      number(
        "age",
        z.map(([, b]) => Math.round(60 + 10 * b)),
      ),
      number(
        "stage",
        z.map(([, , c]) => c + 1),
      ),
      {
        name: "site",
        type: "category",
        levels: ["east", "north", "west"],
        codes: Int32Array.from(z, ([, , , d], i) => (i % 50 === 3 ? -1 : d)),
      },
      number("time", time),
      number(
        "event",
        raw.map((t, i) => (t <= 3 * dropout[i] ? 1 : 0)),
      ),
    ],
  };
}

const table = drawTable();
const COLUMNS = { time: "time", event: "event" };
const request: FitRequest = {
  ...COLUMNS,
  groups: [
    { name: "late", expression: "stage >= 3" },
    { name: "here", expression: "site = east" },
  ],
  bins: 24,
  hidden: 4,
  ensemble: 1,
  options: { steps: 60 },
};

let backend: WasmBackend;
beforeAll(async () => {
  backend = await openWasmBackend({ threads: 1, deterministic: true });
});
afterAll(() => backend.close());

interface Fitted {
  readonly model: Model;
  readonly survival: Float32Array | Float64Array;
}

async function fitTable(own: Table, asked: FitRequest = request): Promise<Fitted> {
  const model = await fitModel(own, asked, backend);
  return { model, survival: (await predict(model, own, backend)).curves.survival };
}

/** Row i of the second is row rows[i] of the first. */
function furthest(one: Fitted, other: Fitted, rows?: ArrayLike<number>): number {
  const T = one.model.grid.T;
  let largest = 0;
  other.survival.forEach((value, k) => {
    const row = Math.floor(k / T);
    const before = one.survival[(rows === undefined ? row : rows[row]) * T + (k % T)];
    largest = Math.max(largest, Math.abs(value - before));
  });
  return largest;
}

const withColumn = (name: string, change: (column: Column) => Column): Table => ({
  ...table,
  columns: table.columns.map((column) => (column.name === name ? change(column) : column)),
});
const withNumbers = (name: string, of: (value: number) => number) =>
  withColumn(name, (column) =>
    column.type === "number" ? { ...column, values: column.values.map((value) => of(value)) } : column,
  );

function shuffled(length: number, seed: number): Int32Array {
  const order = Int32Array.from({ length }, (_, k) => k);
  shuffle(order, createRandom(seed));
  return order;
}

describe.each([
  ["one run", request],
  ["an ensemble", { ...request, ensemble: 2 }],
  ["a perceptron", { ...request, network: "mlp" as const }],
])("%s does not depend on", (_, asked) => {
  let plain: Fitted;
  let split: Split;
  beforeAll(async () => {
    plain = await fitTable(table, asked);
    split = splitTable(table, COLUMNS, { seed: 1 });
  });

  test("the order of rows", async () => {
    const order = shuffled(N, 11);
    expect(furthest(plain, await fitTable(selectRows(table, order), asked), order)).toBeLessThan(BOUND);
  });

  test("the order of columns", async () => {
    const columns = [...shuffled(table.columns.length, 12)].map((k) => table.columns[k]);
    const other = await fitTable({ ...table, columns }, asked);
    expect(furthest(plain, other)).toBeLessThan(BOUND);
    // People see the order of their table.
    const features = columns.map(({ name }) => name).filter((name) => name !== "time" && name !== "event");
    expect(other.model.encoder.columns.slice(0, 4).map(({ column }) => column)).toEqual(features);
  });

  test.each<[string, Table]>([
    ["the unit of time", withNumbers("time", (value) => value / 365.25)],
    ["the unit of a number", withNumbers("marker", (value) => 1000 * value)],
    ["the unit of a code", withNumbers("stage", (value) => 0.0254 * value)],
    ["the sign of a skewed number", withNumbers("marker", (value) => -value)],
    ["the sign of a number that has splines", withNumbers("age", (value) => -value)],
    ["the zero of a skewed number", withNumbers("marker", (value) => value + 100)],
    ["a number far from 0", withNumbers("marker", (value) => value + 1e9)],
    ["a whole number far from 0", withNumbers("age", (value) => value + 1e9)],
  ])("%s", async (what, other) => {
    const stage = what === "the unit of a code" ? "stage >= 0.06" : "stage >= 3";
    const groups = [{ name: "late", expression: stage }, ...(asked.groups ?? []).slice(1)];
    expect(furthest(plain, await fitTable(other, { ...asked, groups, split }))).toBeLessThan(BOUND);
  });

  test("the names of levels", async () => {
    // "east", "north", "west" become "z", "y", "x": the order of the alphabet is turned.
    const other = withColumn("site", (column) => ({
      ...(column as CategoryColumn),
      levels: ["x", "y", "z"],
      codes: (column as CategoryColumn).codes.map((code) => (code < 0 ? code : 2 - code)),
    }));
    const groups = [...(asked.groups ?? []).slice(0, 1), { name: "here", expression: "site = z" }];
    expect(furthest(plain, await fitTable(other, { ...asked, groups, split }))).toBeLessThan(BOUND);
  });
});

test("all rows twice, taken as independent, keep the verdicts", async () => {
  const { model } = await fitTable(table);
  const rows = Int32Array.from({ length: 2 * N }, (_, k) => k % N);
  const twice = await fitTable(selectRows(table, rows), { ...request, rowsAreIndependent: true });
  const verdicts = ({ training }: Model) => training.verdict.map(({ group, status }) => [group, status]);
  expect(verdicts(twice.model)).toEqual(verdicts(model));
});

test("another seed still gives other weights", async () => {
  const split = splitTable(table, COLUMNS, { seed: 1 });
  const own = { ...request, split, network: "mlp", options: { steps: 60, solve: "none" } } as const;
  const one = await fitTable(table, own);
  expect(furthest(one, await fitTable(table, { ...own, seed: 2 }))).toBeGreaterThan(1e-3);
});
