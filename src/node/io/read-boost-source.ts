/**
 * Reads what `graduate boost` repairs: curves of a model or of any program, survival or the incidence of every cause,
 * with outcomes, people and groups; and says which rows may fit and which may judge.
 */

import type { Backend } from "../../compute/backend.ts";
import type { Finding } from "../../data/checks/findings.ts";
import type { CauseCurves } from "../../data/curves/cause-curves.ts";
import type { Curves } from "../../data/curves/curves.ts";
import type { Group } from "../../data/groups/groups.ts";
import { type BinnedSingleCause, isPlainRows, type Outcomes } from "../../data/outcomes/outcomes.ts";
import type { People } from "../../data/outcomes/people.ts";
import { type OutcomeColumns, outcomeNames } from "../../data/outcomes/read-outcomes.ts";
import { binOutcomes, type TimeGrid } from "../../data/outcomes/time-grid.ts";
import type { Table } from "../../data/table.ts";
import type { BinnedCauses } from "../../stats/causes/binned-causes.ts";
import type { Model } from "../../training/model.ts";
import {
  type ChosenBoostRows,
  chooseBoostRows,
  divideUnseen,
  type FitShare,
} from "../../verbs/judged-rows.ts";
import { isTrainedOn } from "../../verbs/acquaintance/known-rows.ts";
import type { ModelStudy } from "../../verbs/model-study.ts";
import { predictPeople } from "../../verbs/people/predict-people.ts";
import { gridOf, predictStudy, predictStudyCauses } from "../../verbs/predict.ts";
import { findPeople } from "../../verbs/whose-rows.ts";
import { readSplitFile } from "../options/table-options.ts";
import { openBackendOf } from "../workers/wasm-backend.ts";
import { hashFile } from "./provenance.ts";
import { refuseOutcomeOfModel } from "./read-cause-predictions.ts";
import { hasWholeOutcome, readCurvesOfCauses, readCurvesOfHistory } from "./read-outcome-curves.ts";
import {
  type GivenPredictions,
  type ModelTable,
  onlyFile,
  openModelStudy,
  type PredictionOptions,
  readModelTable,
  readWithCurves,
} from "./read-predictions.ts";

/** Survival curves, of one kind of event, and the outcomes of their rows. */
export interface RowsOfOne {
  readonly curves: Curves;
  readonly outcomes: BinnedSingleCause;
}

/** The incidences of every cause, and the outcomes of their rows. */
export interface RowsOfCauses {
  readonly curves: CauseCurves;
  readonly outcomes: BinnedCauses;
}

/** Curves of either kind; the outcomes are null where they are not known. */
export type BoostedRows =
  | { readonly curves: Curves; readonly outcomes: BinnedSingleCause | null }
  | { readonly curves: CauseCurves; readonly outcomes: BinnedCauses | null };

/** What can be repaired, whether or not its outcomes are known. */
export interface BoostSource {
  readonly predicted: BoostedRows;
  /** The outcomes at their times, where they are more than time and event; null where they are not, or not known. */
  readonly history: Outcomes | null;
  readonly grid: TimeGrid;
  /** The same rows, including the outcome's columns. */
  readonly table: Table;
  readonly columns: OutcomeColumns;
  readonly id: string | null;
  readonly people: People | null;
  /** What should be said of the outcome; the warnings have the same as sentences. */
  readonly findings: readonly Finding[];
  readonly warnings: readonly string[];
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
  readonly predicted: RowsOfOne | RowsOfCauses;
  /** Which rows fit and which judge. */
  readonly chooseRows: (share: FitShare) => ChosenBoostRows;
}

/** `paths`: a model and a table; with --curves a table or nothing. */
export async function readFitSource(
  paths: readonly string[],
  given: GivenPredictions<PredictionOptions>,
): Promise<FitSource> {
  if (given.curves !== undefined) return readCurvesSource(paths, given);
  return predictFitSource(await openGiven(paths, given), withoutCurves(given));
}

/** The same without requiring outcomes: a repair can be applied to rows that nobody has followed up. */
export async function readApplySource(
  paths: readonly string[],
  given: GivenPredictions<PredictionOptions>,
): Promise<BoostSource> {
  if (given.curves !== undefined || paths.length !== 2) return readFitSource(paths, given);
  const options = withoutCurves(given);
  const read = await openGiven(paths, given);
  const { model, modelPath, table, sha256: tableHash } = read;
  const names = new Set(table.columns.map(({ name }) => name));
  if (outcomeNames(model.columns).every((name) => names.has(name))) return predictFitSource(read, options);
  const whose = findPeople(table, options, model);
  const backend = await openBackendOf(model, options.threads);
  try {
    const { curves, causes } = await predictPeople(model, table, backend, {});
    return {
      predicted:
        causes === null
          ? { curves, outcomes: null }
          : { curves: incidencesOf(model, table.rows, causes.incidence), outcomes: null },
      history: null,
      table,
      columns: model.columns,
      ...whose,
      findings: [],
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

function openGiven(
  paths: readonly string[],
  given: GivenPredictions<PredictionOptions>,
): Promise<ModelTable> {
  refuseOutcomeOfModel(given);
  return readModelTable(paths, withoutCurves(given));
}

function withoutCurves(given: GivenPredictions<PredictionOptions>): PredictionOptions {
  const { curves: _, ...options } = given;
  return options;
}

function incidencesOf(model: Model, N: number, incidence: Float64Array): CauseCurves {
  const { causes = [], grid } = model;
  return { N, K: causes.length, T: grid.T, causes, incidence };
}

async function predictFitSource(read: ModelTable, options: PredictionOptions): Promise<FitSource> {
  const { study, backend } = await openModelStudy(read, options);
  try {
    const { table, columns, people, grid, warnings, model, isOwnTable, sha256, told } = study;
    return {
      predicted: await predictRows(study, backend),
      history: isPlainRows(study.outcomes) ? null : study.outcomes,
      table,
      columns,
      id: columns.id ?? null,
      people,
      findings: told,
      warnings: [...told.map(({ message }) => message), ...warnings],
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

async function predictRows(study: ModelStudy, backend: Backend | null): Promise<FitSource["predicted"]> {
  const { model, table } = study;
  const everyRow = Int32Array.from({ length: table.rows }, (_, row) => row);
  const { cause, ...outcomes } = binOutcomes(study.outcomes, study.grid);
  if (cause === undefined) return { curves: (await predictStudy(study, everyRow, backend)).curves, outcomes };
  const incidence = await predictStudyCauses(study, everyRow, backend);
  return { curves: incidencesOf(model, table.rows, incidence), outcomes: { ...outcomes, cause } };
}

async function readCurvesSource(
  paths: readonly string[],
  given: GivenPredictions<PredictionOptions>,
): Promise<FitSource> {
  const { hashed, ...read } = await readGivenCurves(paths, given);
  const { curves, outcomes } = read.predicted;
  const split = await readSplitFile(given.split, { ...read.table, rows: curves.N });
  const everyone = Int32Array.from({ length: curves.N }, (_, row) => row);
  const sets = split ?? { train: new Int32Array(), validation: new Int32Array(), test: everyone };
  return {
    ...read,
    groups: [],
    modelHash: null,
    tableHash: await hashFile(hashed),
    isOwnTable: false,
    chooseRows: (share) => ({
      rows: divideUnseen(sets, { people: read.people, event: outcomes.event }, share),
      warnings: [],
    }),
  };
}

/** Curves of any program, and the file that tells rows from others. */
async function readGivenCurves(
  paths: readonly string[],
  given: GivenPredictions<PredictionOptions>,
): Promise<
  Omit<FitSource, "groups" | "modelHash" | "tableHash" | "isOwnTable" | "chooseRows"> & {
    readonly hashed: string;
  }
> {
  const { causes } = given;
  if (causes !== undefined) {
    const { curves, outcomes, ...rest } = await readCurvesOfCauses(paths, { ...given, causes });
    return { ...rest, predicted: { curves, outcomes }, hashed: paths[0] };
  }
  const path = onlyFile(given.curves) ?? "";
  const options = withoutCurves(given);
  if (hasWholeOutcome(given)) {
    const { curves, outcomes, ...rest } = await readCurvesOfHistory(path, paths, options);
    return { ...rest, predicted: { curves, outcomes }, hashed: path };
  }
  const { curves, outcomes, ...rest } = await readWithCurves(path, paths, options);
  return { ...rest, predicted: { curves, outcomes }, history: null, hashed: path };
}
