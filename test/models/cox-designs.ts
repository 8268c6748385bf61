/**
 * The design matrices of test/oracles/cox/cox.R, built from the same tables as the library reads them: factors as 0/1
 * columns against their first level, logarithms where R takes them, rows with a missing covariate left out.
 */
import type { Table } from "../../src/data/table.ts";
import type { CoxInput } from "../../src/models/cox/cox.ts";
import { loadCsv, numbers, texts } from "../stats/oracle-tables.ts";

type Design = (table: Table) => readonly (readonly [name: string, values: Float64Array])[];

const plain =
  (...names: string[]): Design =>
  (table) =>
    names.map((name) => [name, numbers(table, name)]);

const indicator = (table: Table, column: string, level: string) =>
  Float64Array.from(texts(table, column), (text) => (text === level ? 1 : 0));

const log = (table: Table, column: string) => numbers(table, column).map(Math.log);

interface Recipe {
  readonly path: string;
  readonly time: string;
  readonly status: string;
  readonly event: number;
  readonly design: Design;
  /** Times are rounded up to this many values. */
  readonly tied?: number;
}

const lung: Recipe = {
  path: "../tables/lung.csv",
  time: "time",
  status: "status",
  event: 2,
  design: plain("age", "sex", "ph.ecog"),
};

const tiny = (name: string): Recipe => ({
  path: `../tables/tiny_${name}.csv`,
  time: "time",
  status: "status",
  event: 1,
  design: plain("x"),
});

export const RECIPES: Readonly<Record<string, Recipe>> = {
  nwtco: {
    path: "../../datasets/nwtco/nwtco.csv",
    time: "edrel",
    status: "rel",
    event: 1,
    design: (table) => [
      ["histol2", indicator(table, "histol", "2")],
      ["stage2", indicator(table, "stage", "2")],
      ["stage3", indicator(table, "stage", "3")],
      ["stage4", indicator(table, "stage", "4")],
      ["study4", indicator(table, "study", "4")],
      ["age", numbers(table, "age")],
    ],
  },
  flchain: {
    path: "../../datasets/flchain/flchain.csv",
    time: "futime",
    status: "death",
    event: 1,
    design: (table) => [
      ["age", numbers(table, "age")],
      ["sexM", indicator(table, "sex", "M")],
      ...plain("sample.yr", "kappa", "lambda", "flc.grp", "mgus")(table),
    ],
  },
  pbc: {
    path: "../tables/pbc.csv",
    time: "time",
    status: "status",
    event: 2,
    design: (table) => [
      ...plain("age", "edema")(table),
      ["log_bili", log(table, "bili")],
      ["log_albumin", log(table, "albumin")],
      ["log_protime", log(table, "protime")],
    ],
  },
  lung,
  gbsg: {
    path: "../tables/gbsg.csv",
    time: "rfstime",
    status: "status",
    event: 1,
    design: plain("age", "meno", "size", "grade", "nodes", "pgr", "er", "hormon"),
  },
  tiny_heavy_ties: tiny("heavy_ties"),
  tiny_censored_tail: tiny("censored_tail"),
  tiny_single_event: tiny("single_event"),
  lung_tied: { ...lung, tied: 12 },
};

/** The input of a Cox model with its arrays typed. */
export type TypedCoxInput = CoxInput & {
  readonly time: Float64Array;
  readonly event: Uint8Array;
  readonly x: Float64Array;
};

export interface CoxFixture extends TypedCoxInput {
  /** Times on the grid of 102 equal bins up to the largest time of the whole table. */
  readonly bin: Float64Array;
  readonly names: readonly string[];
}

const roundUp = (time: number, bins: number, horizon: number) =>
  Math.min(Math.max(Math.ceil((time * bins) / horizon), 1), bins);

export async function loadCoxFixture(name: string): Promise<CoxFixture> {
  const { path, time: timeName, status, event: eventValue, design, tied } = RECIPES[name];
  const table = await loadCsv(path);
  const raw = numbers(table, timeName);
  const horizon = raw.reduce((a, b) => Math.max(a, b), 0);
  const times = tied === undefined ? raw : raw.map((time) => roundUp(time, tied, horizon));
  const statuses = numbers(table, status);
  const columns = design(table);
  const D = columns.length;
  const rows = [...times.keys()].filter((row) => columns.every(([, values]) => !Number.isNaN(values[row])));
  const lastTime = times.reduce((a, b) => Math.max(a, b), 0);
  return {
    time: Float64Array.from(rows, (row) => times[row]),
    event: Uint8Array.from(rows, (row) => (statuses[row] === eventValue ? 1 : 0)),
    x: Float64Array.from(rows.flatMap((row) => columns.map(([, values]) => values[row]))),
    D,
    names: columns.map(([column]) => column),
    bin: Float64Array.from(rows, (row) => roundUp(times[row], 102, lastTime)),
  };
}
