/**
 * Reads the input of commands that take "a model and a table, or curves": the study of the model on the table, or a
 * file of curves that any program wrote, with a table beside it, row by row, if the file of curves does not hold
 * everything. For a boost it also says which rows may fit and which may judge.
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
import type { Group } from "../../data/groups/groups.ts";
import { requireRightCensored } from "../../data/outcomes/outcomes.ts";
import { type OutcomeColumns, outcomeNames } from "../../data/outcomes/read-outcomes.ts";
import { binOutcomes } from "../../data/outcomes/time-grid.ts";
import type { Table } from "../../data/table.ts";
import type { Model } from "../../training/model.ts";
import {
  type ChosenBoostRows,
  chooseBoostRows,
  divideUnseen,
  type FitShare,
} from "../../verbs/judged-rows.ts";
import { isTrainedOn, type ModelStudy, openStudy } from "../../verbs/model-study.ts";
import { gridOf, predict, predictStudy } from "../../verbs/predict.ts";
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
import { hashFile, type TableFile } from "./provenance.ts";

export interface PredictionOptions extends TableOptions, ReadCurvesOptions {
  readonly curves?: string;
  readonly split?: string;
  readonly id?: string;
  readonly threads: number;
}

/** Curves of another program, with the outcomes and the columns of the same rows. */
export interface Predictions
  extends Pick<CurvesWithOutcomes, "curves" | "outcomes" | "grid">,
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
  return addIdOption(addCurvesOptions(command).option("--split <file>", split));
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
  const { curves, outcomes, others, notes, grid, timeColumn } = readCurves(
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
  return { curves, outcomes, grid, table, columns, id, people, warnings: notes };
}

/** What can be repaired, whether or not its outcomes are known. */
export interface BoostSource extends Omit<Predictions, "outcomes"> {
  readonly outcomes: Predictions["outcomes"] | null; // [N]
  /** The model's own groups. */
  readonly groups: readonly Group[];
  /** SHA-256 of the model's file; null for curves of another program. */
  readonly modelHash: string | null;
  /** SHA-256 of the file that the rows came from. */
  readonly tableHash: string | null;
  /** Whether the model was trained on rows of this table. */
  readonly isOwnTable: boolean;
}

/** A source with outcomes, so that a boost can be fitted. */
interface FitSource extends BoostSource {
  readonly outcomes: Predictions["outcomes"];
  /** Which rows fit and which judge. */
  readonly chooseRows: (share: FitShare) => ChosenBoostRows;
}

/** `paths`: a model and a table; with --curves a table or nothing. */
export async function readFitSource(
  paths: readonly string[],
  options: PredictionOptions,
): Promise<FitSource> {
  return options.curves === undefined
    ? predictFitSource(await readModelTable(paths, options), options)
    : readCurvesSource(options.curves, paths, options);
}

const INSTEAD = "hold the groups in training: `graduate train --group` takes causes, entries and weights";

/** The same without requiring outcomes: a repair can be applied to rows that nobody has followed up. */
export async function readApplySource(
  paths: readonly string[],
  options: PredictionOptions,
): Promise<BoostSource> {
  if (options.curves !== undefined || paths.length !== 2) return readFitSource(paths, options);
  const read = await readModelTable(paths, options);
  const { model, modelPath, table, sha256: tableHash } = read;
  const names = new Set(table.columns.map(({ name }) => name));
  if (outcomeNames(model.columns).every((name) => names.has(name))) return predictFitSource(read, options);
  const whose = findPeople(table, options, model);
  const backend = await openBackendOf(model, options.threads);
  try {
    return {
      curves: (await predict(model, table, backend)).curves,
      outcomes: null,
      table,
      columns: model.columns,
      ...whose,
      groups: model.groups,
      grid: gridOf(model),
      modelHash: await hashFile(modelPath),
      tableHash,
      isOwnTable: isTrainedOn(model, tableHash),
    };
  } finally {
    await backend?.close();
  }
}

async function predictFitSource(read: ModelTable, options: PredictionOptions): Promise<FitSource> {
  const { study, backend } = await openModelStudy(read, options);
  try {
    const { table, columns, people, grid, warnings, model, isOwnTable, sha256 } = study;
    const everyRow = Int32Array.from({ length: table.rows }, (_, row) => row);
    return {
      curves: (await predictStudy(study, everyRow, backend)).curves,
      outcomes: binOutcomes(requireRightCensored(study.outcomes, "a repair", INSTEAD), grid),
      table,
      columns,
      id: columns.id ?? null,
      people,
      warnings,
      groups: model.groups,
      grid,
      modelHash: await hashFile(read.modelPath),
      tableHash: sha256,
      isOwnTable,
      chooseRows: (share) => chooseBoostRows(study, share),
    };
  } finally {
    await backend?.close();
  }
}

async function readCurvesSource(
  path: string,
  paths: readonly string[],
  options: PredictionOptions,
): Promise<FitSource> {
  const read = await readWithCurves(path, paths, options);
  const { curves, outcomes, people } = read;
  const given = await readSplitFile(options.split, { ...read.table, rows: curves.N });
  const everyone = Int32Array.from({ length: curves.N }, (_, row) => row);
  const split = given ?? { train: new Int32Array(), validation: new Int32Array(), test: everyone };
  return {
    ...read,
    groups: [],
    modelHash: null,
    tableHash: await hashFile(path),
    isOwnTable: false,
    chooseRows: (share) => ({
      rows: divideUnseen(split, { people, event: outcomes.event }, share),
      warnings: [],
    }),
  };
}
