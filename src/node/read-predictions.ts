/**
 * Predicted curves with the outcomes and the columns of the same rows: out of a model and a table, or of a file of curves that any
 * program wrote (with a table beside it, row by row, when the curves' file does not hold everything). A model that was trained on
 * this very table is judged on its test rows only, where they can be drawn again; where they cannot, a warning says so.
 */
import type { Command } from "commander";
import { InputError } from "../core/errors.ts";
import { isAbsent } from "../core/measured.ts";
import type { Curves } from "../data/curves.ts";
import { type BinnedOutcomes, pickOutcomes } from "../data/outcomes.ts";
import { readCurves } from "../data/read-curves.ts";
import { type OutcomeColumns, readOutcomes } from "../data/read-outcomes.ts";
import { splitFromTable, splitRows } from "../data/split.ts";
import { selectRows, type Table } from "../data/table.ts";
import { binOutcomes } from "../data/time-grid.ts";
import { gridOf, predict } from "../predict.ts";
import { logrankIndividual } from "../stats/logrank.ts";
import type { Model } from "../training/model.ts";
import { readModel } from "./model-file.ts";
import { categoriesOf } from "./predict.ts";
import { describeOrigin } from "./provenance.ts";
import { parsePositive, readTableFile, type TableOptions } from "./table-options.ts";
import { openWasmBackend } from "./wasm-backend.ts";

export interface PredictionOptions extends TableOptions {
  readonly curves?: string;
  readonly bin?: string;
  readonly event?: string;
  readonly time?: string;
  readonly horizon?: number;
  readonly split?: string;
  readonly threads: number;
}

export interface Predictions {
  readonly curves: Curves; // [N,T]
  readonly outcomes: BinnedOutcomes; // [N]
  /** The same rows, the outcome's columns included. */
  readonly table: Table;
  readonly columns: OutcomeColumns;
  readonly warnings: readonly string[];
}

export function addPredictionOptions(command: Command): Command {
  return command
    .option("--curves <file>", "predictions: one row a person, S1..ST, event, and bin or time")
    .option("--bin <column>", 'the time bin of each person, 1..T (default: "bin")')
    .option("--event <column>", 'whether the event happened, 0/1 (default: "event")')
    .option("--time <column>", "the time of each person, in place of the bin")
    .option("--horizon <time>", "the end of bin T, with --time", parsePositive)
    .option("--split <file>", "the row,set table the model was trained with: its test rows alone are used");
}

/** `paths`: a model and a table; with --curves a table or nothing. */
export async function readPredictions(
  paths: readonly string[],
  options: PredictionOptions,
): Promise<Predictions> {
  if (options.curves !== undefined) return readWithCurves(options.curves, paths, options);
  if (paths.length === 2) return predictTable(paths[0], paths[1], options);
  throw new InputError("no predictions", {
    code: "option.missing",
    hint: "give a model and a table, or predictions with --curves FILE",
  });
}

async function readWithCurves(
  path: string,
  paths: readonly string[],
  options: PredictionOptions,
): Promise<Predictions> {
  if (paths.length > 1) {
    throw new InputError("a model and --curves: one of them", {
      code: "option.conflict",
      hint: "with --curves, give at most one table",
    });
  }
  const file = await readTableFile(path, paths.length === 0 ? options : {});
  const beside = paths.length === 0 ? null : await readTableFile(paths[0], options);
  if (beside !== null && beside.rows !== file.rows) {
    throw new InputError(`${file.rows} rows of curves for ${beside.rows} rows of the table`, {
      code: "rows.mismatch",
      where: `${file.name}, ${beside.name}`,
      hint: "the curves belong to the rows of the table in their order",
    });
  }
  // What the curves' file says of a column is not asked of the table as well.
  const named = new Set(file.columns.map(({ name }) => name));
  const more = beside?.columns.filter(({ name }) => !named.has(name)) ?? [];
  const { curves, outcomes, others } = readCurves({ ...file, columns: [...file.columns, ...more] }, options);
  const columns = { time: options.time ?? options.bin ?? "bin", event: options.event ?? "event" };
  const outcome = [...file.columns, ...more].filter(
    ({ name }) => name === columns.time || name === columns.event,
  );
  const people =
    beside === null ? others.columns : beside.columns.filter((column) => !outcome.includes(column));
  const table = { name: beside?.name ?? file.name, rows: file.rows, columns: [...people, ...outcome] };
  return { curves, outcomes, table, columns, warnings: [] };
}

async function predictTable(
  modelPath: string,
  path: string,
  options: PredictionOptions,
): Promise<Predictions> {
  const model = await readModel(modelPath);
  const category = [...new Set([...(options.category ?? []), ...categoriesOf(model)])];
  const table = await readTableFile(path, { ...options, category });
  const { columns } = model;
  const outcomes = readOutcomes(table, columns);
  const backend = model.predictor.kind === "cox" ? null : await openWasmBackend({ threads: options.threads });
  const predictRows = async (rows: Int32Array) => ({
    curves: (await predict(model, table, backend, rows)).curves,
    outcomes: binOutcomes(pickOutcomes(outcomes, rows), gridOf(model)),
    table: selectRows(table, rows),
    columns,
  });
  try {
    if (options.split !== undefined) {
      const { test } = splitFromTable(await readTableFile(options.split, {}), table.rows);
      if (test.length === 0) {
        throw new InputError('no row of the split is in "test"', {
          code: "split.test",
          where: options.split,
        });
      }
      return { ...(await predictRows(test)), warnings: [] };
    }
    if (await wasTrainedOn(model, path, table)) {
      const test = redrawTestRows(model, table.rows);
      const predictions = test.length > 0 ? await predictRows(test) : null;
      if (predictions !== null && isAsRecorded(model, predictions)) {
        const warning = `the model was trained on this table: only its ${test.length} test rows are used`;
        return { ...predictions, warnings: [warning] };
      }
      const warning =
        "the model was trained on this table, and which rows it has not seen cannot be told: what it learnt by heart " +
        "will look right. Give its split with --split FILE, or rows it has not seen";
      return { ...(await predictRows(everyRow(table))), warnings: [warning] };
    }
    return { ...(await predictRows(everyRow(table))), warnings: [] };
  } finally {
    await backend?.close();
  }
}

function everyRow(table: Table): Int32Array {
  return Int32Array.from({ length: table.rows }, (_, row) => row);
}

async function wasTrainedOn({ provenance }: Model, path: string, table: Table): Promise<boolean> {
  const known = provenance?.table?.sha256;
  return known !== undefined && (await describeOrigin(path, table, null)).table?.sha256 === known;
}

/** The test rows of a split by seed with the recorded sizes; whether there was such a split, isAsRecorded tells. */
function redrawTestRows({ training: { rows, seed } }: Model, N: number): Int32Array {
  if (rows.train + rows.valid + rows.test !== N || rows.test === 0) return new Int32Array();
  return splitRows(N, { seed, fractions: [rows.train / N, rows.valid / N, rows.test / N] }).test;
}

/** Expected events agree to this share with those the model was scored with, whichever machine computed them. */
const SAME_EXPECTED = 1e-4;

/** Whether these rows have the events, observed and expected, that the model's own test rows had. */
function isAsRecorded(
  { metrics }: Model,
  { curves, outcomes }: Pick<Predictions, "curves" | "outcomes">,
): boolean {
  const { overall } = (metrics ?? {}) as {
    readonly overall?: {
      readonly n?: unknown;
      readonly logrankIndividual?: Readonly<Record<string, unknown>>;
    };
  };
  const recorded = overall?.logrankIndividual;
  const found = logrankIndividual(curves, outcomes);
  if (recorded === undefined || isAbsent(found)) return false;
  const { observed, expected } = recorded;
  return (
    overall?.n === curves.N &&
    observed === found.observed &&
    typeof expected === "number" &&
    Math.abs(expected - found.expected) <= SAME_EXPECTED * found.expected
  );
}
