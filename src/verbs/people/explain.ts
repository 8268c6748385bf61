/**
 * Why one person is predicted what they are: the contribution of every column of the table to the log cumulative hazard
 * and to the risk, of each cause where there are several (explained-quantities.ts), as Shapley values against a
 * background of other people (shapley.ts). Rows are composed of encoded cells, so any predictor will do. Baseline and
 * contributions add up to the prediction. For a Cox model at the edge of a time bin the log cumulative hazard is itself
 * a sum over columns, and the contributions are its terms, β(x − mean), however they are computed. Of networks only the
 * logits of hazards are sums, and those of the additive part alone: neither the log cumulative hazard nor the risk is.
 * A contribution says what the model did with a cell, not what changing it would do to a person.
 */
import type { Backend } from "../../compute/backend.ts";
import { BackendScope } from "../../compute/memory.ts";
import { InputError } from "../../core/errors.ts";
import { createRandom } from "../../core/random.ts";
import { encode } from "../../data/encode/encode.ts";
import { addGroupColumns } from "../../data/groups/groups.ts";
import type { TimeGrid } from "../../data/outcomes/time-grid.ts";
import { checkRows, findColumn, type Table } from "../../data/table.ts";
import { refuseTime } from "../../stats/curve-readings.ts";
import type { Model } from "../../training/model.ts";
import { findStored } from "../model-study.ts";
import { columnsNeeded, gridOf } from "../predict.ts";
import { type ExplainedColumn, listExplained, readExplained } from "./explained-columns.ts";
import {
  chooseCause,
  describeTimes,
  type ExplainedCause,
  type ExplainedTime,
  type PlayedQuantities,
  prepareFree,
  readQuantities,
  survivalOf,
} from "./explained-quantities.ts";
import { type Game, shapleyValues } from "./shapley.ts";

/** How a person is explained. */
export interface ExplainOptions {
  /** Times, after 0 and up to the horizon, in the unit of the training table. */
  readonly at: readonly number[];
  /** SHA-256 of the table's file, by which the model knows its training rows; null where it did not come from one. */
  readonly sha256?: string | null;
  /** The background rows, 0-based; the model's training rows where it knows them, else all rows, unless given. */
  readonly background?: ArrayLike<number>;
  /** Seed of the background and of drawn orders; 1 unless given. */
  readonly seed?: number;
  /** Of a model of several causes the one that `times` speaks of; the first unless given. */
  readonly cause?: string;
  /** The most rows to compose for one person: fewer are quicker, and rougher where orders are drawn. */
  readonly budget?: number;
}

/** One person's prediction, taken apart. */
export interface Explanation {
  /** 0-based. */
  readonly row: number;
  readonly columns: readonly (Pick<ExplainedColumn, "name" | "kind"> & { readonly value: string | null })[];
  readonly times: readonly ExplainedTime[];
  /** The cause that `times` speaks of, and all causes; null of a model of one kind of event. */
  readonly byCause: { readonly cause: string; readonly all: readonly ExplainedCause[] } | null;
  /** The person's survival at the end of every bin: no event of any cause. */
  readonly survival: Float64Array; // [T]
  /** The mean of the background's survival. */
  readonly everyone: Float64Array; // [T]
  readonly background: {
    readonly rows: number;
    readonly which: "training rows" | "rows of the table" | "given rows";
  };
  /** "enumeration" computes every subset of columns, "sampling" draws pairs of their orders. */
  readonly method: "enumeration" | "sampling";
  /** Pairs of orders drawn for each background row; null where none were drawn. */
  readonly pairs: number | null;
  readonly seed: number;
}

/** Explains a row (0-based) of a table with the model's columns, the background's own table or another. */
export type ExplainRow = (table: Table, row: number) => Promise<Explanation>;

/** Background rows: their mean is within an eighth of the spread of people, and 2^10 subsets of each take a second. */
export const BACKGROUND_ROWS = 64;
/** Composed rows for one person, enough for all subsets of ten columns in each background row. */
export const COMPOSED_ROWS = 1024 * BACKGROUND_ROWS;
const DEFAULT_SEED = 1;

/** Explains one row; `backend` is for networks, a Cox model needs none. */
export async function explainPerson(
  model: Model,
  table: Table,
  backend: Backend | null,
  row: number,
  options: ExplainOptions,
): Promise<Explanation> {
  if (backend === null) return (await prepareExplainer(model, table, null, options))(table, row);
  const scope = new BackendScope(backend);
  try {
    return await (await prepareExplainer(model, table, scope, options))(table, row);
  } finally {
    scope.end();
  }
}

/** Draws and predicts the background once, for any number of people. */
export async function prepareExplainer(
  model: Model,
  table: Table,
  backend: Backend | null,
  options: ExplainOptions,
): Promise<ExplainRow> {
  const { at, seed = DEFAULT_SEED, budget = COMPOSED_ROWS } = options;
  const grid = gridOf(model);
  checkTimes(at, grid);
  // Before a group over it is asked for, whose refusal would speak of the group.
  for (const name of columnsNeeded(model)) findColumn(table, name);
  const cause = chooseCause(model, options.cause);
  const { rows, which } = drawBackground(model, table, options, seed);
  const computeFree = prepareFree(model, backend, grid);
  const widen = rememberLast((one: Table) => addGroupColumns(one, model.inputGroups));
  const others = encode(model.encoder, widen(table), rows);
  const { D, names } = others;
  const columns = listExplained(model);
  const K = model.causes?.length ?? 1;
  const predictEncoded = (values: Float64Array, where: Table) =>
    computeFree({ N: values.length / D, D, names, values }, where);
  const everyone = meanCurve(await predictEncoded(others.values, table), K * grid.T);
  return async (people, row) => {
    const own = encode(model.encoder, widen(people), [row]).values;
    const free = await predictEncoded(own, people);
    const read = (curves: Float64Array) => readQuantities(curves, grid, at);
    const game = createGame(
      { own, others: others.values, columns, outputs: 2 * K * at.length },
      async (values) => read(await predictEncoded(values, people)),
    );
    const prediction = read(free);
    const played = await shapleyValues(game, columns.length, prediction, { seed, budget });
    const { sampled } = played;
    const quantities = { at, prediction, played, model, grid };
    return {
      row,
      columns: columns.map((one) => ({
        name: one.name,
        kind: one.kind,
        value: readExplained(one, model, people, row),
      })),
      times: describeTimes(quantities, cause ?? 0),
      byCause: cause === null ? null : describeCauses(quantities, cause, { free, everyone }),
      survival: survivalOf(free, grid.T),
      everyone: survivalOf(everyone, grid.T),
      background: { rows: rows.length, which },
      method: sampled.rows === 0 ? "enumeration" : "sampling",
      pairs: sampled.rows === 0 ? null : sampled.pairs,
      seed,
    };
  };
}

function describeCauses(
  quantities: PlayedQuantities,
  cause: number,
  { free, everyone }: { readonly free: Float64Array; readonly everyone: Float64Array }, // [K,T]
): Explanation["byCause"] {
  const { model, grid } = quantities;
  const incidenceOf = (curves: Float64Array, k: number) =>
    curves.subarray(k * grid.T, (k + 1) * grid.T).map((left) => 1 - left);
  const all = (model.causes ?? []).map((name, k) => ({
    name,
    times: describeTimes(quantities, k),
    incidence: incidenceOf(free, k),
    everyone: incidenceOf(everyone, k),
  }));
  return { cause: all[cause].name, all };
}

function checkTimes(at: readonly number[], grid: TimeGrid): void {
  for (const time of at) {
    refuseTime(grid, time, "time");
    if (time > 0) continue;
    throw new InputError("nothing has happened by time 0, and there is nothing to explain", {
      code: "time.invalid",
      hint: `ask for times after 0 and up to ${grid.edges[grid.T]}`,
    });
  }
}

function drawBackground(
  model: Model,
  table: Table,
  { background, sha256 = null }: ExplainOptions,
  seed: number,
): { readonly rows: Int32Array; readonly which: Explanation["background"]["which"] } {
  const stored = background === undefined ? findStored(model, table, sha256) : null;
  const train = stored === null || stored.train.length === 0 ? undefined : stored.train;
  const from = checkRows(table, background ?? train);
  if (from.length === 0) {
    throw new InputError("no row to compare a person with", { code: "rows.none", where: table.name });
  }
  const which =
    background !== undefined ? "given rows" : train === undefined ? "rows of the table" : "training rows";
  const random = createRandom(seed);
  const count = Math.min(BACKGROUND_ROWS, from.length);
  for (let i = 0; i < count; i++) {
    const j = i + random.integer(from.length - i);
    [from[i], from[j]] = [from[j], from[i]];
  }
  return { rows: from.slice(0, count).sort(), which };
}

function rememberLast<Input, Output>(compute: (input: Input) => Output): (input: Input) => Output {
  let last: { readonly input: Input; readonly output: Output } | null = null;
  return (input) => {
    if (last?.input !== input) last = { input, output: compute(input) };
    return last.output;
  };
}

interface Composed {
  readonly own: Float64Array; // [D]
  readonly others: Float64Array; // [B,D]
  readonly columns: readonly ExplainedColumn[];
  readonly outputs: number;
}

function createGame(
  { own, others, columns, outputs }: Composed,
  predictRows: (values: Float64Array) => Promise<Float64Array>,
): Game {
  const D = own.length;
  const differing = Array.from({ length: others.length / D }, (_, b) =>
    columns.flatMap(({ places }, c) => (places.some((d) => others[b * D + d] !== own[d]) ? [c] : [])),
  );
  return {
    outputs,
    differing,
    evaluate(b, coalitions) {
      const players = differing[b];
      const C = coalitions.length / players.length;
      const values = new Float64Array(C * D);
      const other = others.subarray(b * D, (b + 1) * D);
      for (let c = 0; c < C; c++) {
        values.set(other, c * D);
        players.forEach((player, i) => {
          if (coalitions[c * players.length + i] === 0) return;
          for (const d of columns[player].places) values[c * D + d] = own[d];
        });
      }
      return predictRows(values);
    },
  };
}

function meanCurve(curves: Float64Array, size: number): Float64Array {
  const N = curves.length / size;
  const mean = new Float64Array(size);
  curves.forEach((value, k) => {
    mean[k % size] += value / N;
  });
  return mean;
}
