/**
 * Reads the input of commands that take "a model and a table, or curves": the study of the model on the table, or a
 * file of curves that any program wrote, with a table beside it, row by row, if the file of curves does not hold
 * everything. An outcome that is more than time and event is read by read-outcome-curves.ts.
 */
import { type Command, Option } from "commander";
import type { WasmBackend } from "../../compute/wasm/wasm-backend.ts";
import { InputError } from "../../core/errors.ts";
import { present } from "../../core/present.ts";
import {
  type CurvesWithOutcomes,
  type ReadCurvesOptions,
  readCurves,
} from "../../data/curves/read-curves.ts";
import { type OutcomeColumns, outcomeNames } from "../../data/outcomes/read-outcomes.ts";
import type { Table } from "../../data/table.ts";
import type { Model } from "../../training/model.ts";
import { type ModelStudy, openStudy } from "../../verbs/model-study.ts";
import { findPeople } from "../../verbs/whose-rows.ts";
import {
  addIdOption,
  openTableFile,
  parsePositive,
  readingOf,
  readSplitFile,
  readTableFile,
  repeatedOption,
  type TableOptions,
} from "../options/table-options.ts";
import { openBackendOf } from "../workers/wasm-backend.ts";
import { readModel } from "./model-file.ts";
import type { TableFile } from "./provenance.ts";
import type { OutcomeOptions } from "./read-cause-predictions.ts";
import { addOutcomeOfCurves, type OutcomeCurves } from "./read-outcome-curves.ts";

export interface PredictionOptions extends TableOptions, ReadCurvesOptions, OutcomeOptions {
  readonly curves?: string;
  readonly split?: string;
  readonly id?: string;
  readonly threads: number;
}

/** Curves of another program, with the outcomes and the columns of the same rows. */
export interface Predictions
  extends Pick<CurvesWithOutcomes, "curves" | "outcomes" | "grid">,
    Pick<OutcomeCurves<never, never>, "findings">,
    ReturnType<typeof findPeople> {
  /** The same rows, including the outcome's columns. */
  readonly table: Table;
  readonly columns: OutcomeColumns;
}

/** Options for predictions that do not come from a model. `several`: where a file for each cause may be given. */
export function addCurvesOptions(command: Command, { several = false } = {}): Command {
  const said = "predictions: one row a person, S1..ST or S(TIME).., event, and bin or time";
  const curves = several
    ? new Option("--curves <file>", `${said}; with --causes, NAME=FILE for each cause`).argParser(
        repeatedOption,
      )
    : new Option("--curves <file>", said);
  return command
    .addOption(curves)
    .option("--bin <column>", 'the time bin of each person, 1..T (default: "bin")')
    .option("--event <column>", 'whether the event happened, 0/1 (default: "event")')
    .option("--time <column>", "the time of each person, in place of the bin")
    .option("--origin <column>", "the date that times are counted from, in days, where --time is a date")
    .option("--horizon <time>", "the end of bin T, with --time", parsePositive);
}

export function addPredictionOptions(command: Command): Command {
  const split = "the row,set table that the model was trained with";
  const curves = addCurvesOptions(command, { several: true });
  return addOutcomeOfCurves(addIdOption(curves.option("--split <file>", split)));
}

/** As they are given: of several causes there are several files of curves. */
export type GivenPredictions<Options extends PredictionOptions> = Omit<Options, "curves"> & {
  readonly curves?: readonly string[];
};

/** Of one kind of event there is one file. */
export function onlyFile(curves: readonly string[] | undefined): string | undefined {
  if (curves === undefined || curves.length === 1) return curves?.[0];
  throw new InputError("--curves is given more than once", {
    code: "option.conflict",
    hint: "several files are of several causes: name these with --causes, and the files NAME=FILE",
  });
}

/** A model and a table that were read together. */
export interface ModelTable extends TableFile {
  readonly model: Model;
  readonly modelPath: string;
}

/** `paths`: a model and a table. */
export async function readModelTable(
  paths: readonly string[],
  options: PredictionOptions,
): Promise<ModelTable> {
  if (paths.length !== 2) {
    throw new InputError("no predictions were given", {
      code: "option.missing",
      hint: "give a model and a table, or predictions with --curves FILE",
    });
  }
  const [modelPath, path] = paths;
  const model = await readModel(modelPath);
  return { model, modelPath, ...(await openTableFile(path, readingOf(model, options))) };
}

/** Opens the study of a model on its table, and the backend that computes its curves, which the caller closes. */
export async function openModelStudy(
  { model, table, sha256 }: ModelTable,
  options: PredictionOptions,
): Promise<{ readonly study: ModelStudy; readonly backend: WasmBackend | null }> {
  const split = await readSplitFile(options.split, table);
  const backend = await openBackendOf(model, options.threads);
  try {
    const study = await openStudy(model, table, backend, { sha256, ...present({ id: options.id, split }) });
    return { study, backend };
  } catch (error) {
    await backend?.close();
    throw error;
  }
}

/** `paths`: a table, or nothing if the file of curves holds everything. */
export async function readWithCurves(
  path: string,
  paths: readonly string[],
  options: PredictionOptions,
): Promise<Predictions> {
  if (paths.length > 1) {
    throw new InputError("both a model and --curves were given", {
      code: "option.conflict",
      hint: "give a model and a table, or --curves with at most one table",
    });
  }
  const file = await readTableFile(path, paths.length === 0 ? options : {});
  const beside = paths.length === 0 ? null : await readTableFile(paths[0], options);
  if (beside !== null && beside.rows !== file.rows) {
    throw new InputError(`the curves have ${file.rows} rows and the table has ${beside.rows}`, {
      code: "rows.mismatch",
      where: `${file.name}, ${beside.name}`,
      hint: "give one curve for each row of the table, in the same order",
    });
  }
  // Columns present in the file of curves are not taken from the table.
  const named = new Set(file.columns.map(({ name }) => name));
  const more = beside?.columns.filter(({ name }) => !named.has(name)) ?? [];
  const { curves, outcomes, others, told, notes, grid, timeColumn } = readCurves(
    { ...file, columns: [...file.columns, ...more] },
    options,
  );
  const columns = {
    time: timeColumn,
    event: options.event ?? "event",
    ...present({ origin: options.origin }),
  };
  const names = outcomeNames(columns);
  const outcome = [...file.columns, ...more].filter(({ name }) => names.includes(name));
  const described =
    beside === null ? others.columns : beside.columns.filter((column) => !outcome.includes(column));
  const table = { name: beside?.name ?? file.name, rows: file.rows, columns: [...described, ...outcome] };
  const { id, people } = findPeople(table, options, null);
  return { curves, outcomes, grid, table, columns, id, people, findings: told, warnings: notes };
}
