/**
 * What a boost is fitted to, applied to and judged by: curves from a model or a file, with their outcomes and columns,
 * and which rows may fit and which may judge. Also writes the file of repaired curves.
 */
import type { Curves } from "../../data/curves/curves.ts";
import type { Group } from "../../data/groups/groups.ts";
import type { BinnedRightCensored } from "../../data/outcomes/outcomes.ts";
import type { People } from "../../data/outcomes/people.ts";
import { type OutcomeColumns, outcomeNames } from "../../data/outcomes/read-outcomes.ts";
import { binOutcomes, type TimeGrid } from "../../data/outcomes/time-grid.ts";
import type { Table } from "../../data/table.ts";
import type { BoostRowSets } from "../../verbs/boost.ts";
import {
  type ChosenBoostRows,
  chooseBoostRows,
  divideUnseen,
  type FitShare,
} from "../../verbs/judged-rows.ts";
import { isTrainedOn } from "../../verbs/model-study.ts";
import { gridOf, medianTimes, predict, predictStudy } from "../../verbs/predict.ts";
import { findPeople } from "../../verbs/whose-rows.ts";
import { readSplitFile } from "../options/table-options.ts";
import { openBackendOf } from "../workers/model-backend.ts";
import { openGrowingFile } from "./growing-file.ts";
import { openCsvPredictions, openParquetPredictions } from "./prediction-output.ts";
import { hashFile } from "./provenance.ts";
import {
  type ModelTable,
  openModelStudy,
  type PredictionOptions,
  readModelTable,
  readWithCurves,
} from "./read-predictions.ts";

/** What can be repaired, whether or not its outcomes are known. */
export interface BoostSource {
  readonly curves: Curves; // [N,T]
  readonly outcomes: BinnedRightCensored | null; // [N]
  readonly table: Table;
  readonly columns: OutcomeColumns;
  /** The id column, and the person each row belongs to; null where rows are people. */
  readonly id: string | null;
  readonly people: People | null;
  /** What to tell the user about these rows and curves. */
  readonly notes: readonly string[];
  /** The model's own groups. */
  readonly groups: readonly Group[];
  /** In units of bins if the curves come without times. */
  readonly grid: TimeGrid;
  /** SHA-256 of the model's file; null for curves of another program. */
  readonly modelHash: string | null;
  /** SHA-256 of the file that the rows came from. */
  readonly tableHash: string | null;
  /** Whether the model was trained on rows of this table. */
  readonly isOwnTable: boolean;
}

/** A source with outcomes, so that a boost can be fitted. */
export interface FitSource extends BoostSource {
  readonly outcomes: BinnedRightCensored;
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
  const { id, people, warnings: notes } = findPeople(table, options, model);
  const backend = await openBackendOf(model, options.threads);
  try {
    return {
      curves: (await predict(model, table, backend)).curves,
      outcomes: null,
      table,
      columns: model.columns,
      id,
      people,
      notes,
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
  const { study, backend, modelHash } = await openModelStudy(read, options);
  try {
    const { table, columns, people, grid, model, isOwnTable, sha256 } = study;
    const everyRow = Int32Array.from({ length: table.rows }, (_, row) => row);
    return {
      curves: (await predictStudy(study, everyRow, backend)).curves,
      outcomes: binOutcomes(study.outcomes, grid),
      table,
      columns,
      id: columns.id ?? null,
      people,
      notes: study.warnings,
      groups: model.groups,
      grid,
      modelHash,
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
  const { warnings: notes, ...read } = await readWithCurves(path, paths, options);
  const { curves, outcomes, people } = read;
  const given = await readSplitFile(options.split, { ...read.table, rows: curves.N });
  const everyone = Int32Array.from({ length: curves.N }, (_, row) => row);
  const split = given ?? { train: new Int32Array(), validation: new Int32Array(), test: everyone };
  return {
    ...read,
    notes,
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

/** The role of each row, in the words of a split. */
function nameSets(N: number, { fit, held }: BoostRowSets): string[] {
  const sets = new Array<string>(N).fill("train");
  for (const row of fit) sets[row] = "validation";
  for (const row of held) sets[row] = "test";
  return sets;
}

/** Writes curves as `graduate predict` does, with outcomes beside them if known; `rows` if some were fitted on. */
export async function writeCurves(
  path: string,
  curves: Curves,
  { grid, outcomes, people }: BoostSource,
  rows?: BoostRowSets,
): Promise<void> {
  const { N, T } = curves;
  const median = medianTimes(curves, grid);
  const output = await openGrowingFile(path, "the repaired curves");
  try {
    const set = rows === undefined ? {} : { set: nameSets(N, rows) };
    const person = people === null ? {} : { person: people.of.map((one) => one + 1) };
    const known =
      outcomes === null ? undefined : { bin: outcomes.bin, event: outcomes.event, ...set, ...person };
    const written = path.endsWith(".parquet")
      ? await openParquetPredictions(output, T, { known })
      : openCsvPredictions(output, T, { known });
    await written.write({ curves, median });
    await written.finish();
  } finally {
    await output.abandon();
  }
}
