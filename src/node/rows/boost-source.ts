/**
 * What a boost is fitted to, applied to and judged by: curves of a model or of a file, with their outcomes and columns; and which rows
 * fit and which judge. A model's validation rows fit and its test rows judge where its split is known (drawn again by its
 * seed, or given); rows it was trained on do neither.
 */
import { createHash } from "node:crypto";
import { readFile } from "node:fs/promises";
import { InputError } from "../../core/errors.ts";
import { isAbsent } from "../../core/measured.ts";
import type { Curves } from "../../data/curves/curves.ts";
import type { Group } from "../../data/groups/groups.ts";
import { type BinnedOutcomes, pickOutcomes } from "../../data/outcomes/outcomes.ts";
import { type People, pickPeople } from "../../data/outcomes/people.ts";
import { type OutcomeColumns, outcomeNames, readOutcomes } from "../../data/outcomes/read-outcomes.ts";
import { joinRows, type Split, splitRows } from "../../data/outcomes/split.ts";
import { binOutcomes, medianTime, type TimeGrid } from "../../data/outcomes/time-grid.ts";
import type { Table } from "../../data/table.ts";
import { redrawSplit } from "../../training/choose-split.ts";
import type { Model } from "../../training/model.ts";
import type { BoostRowSets } from "../../verbs/boost.ts";
import { gridOf, predict } from "../../verbs/predict.ts";
import { openGrowingFile } from "../io/growing-file.ts";
import { readModel } from "../io/model-file.ts";
import { openCsvPredictions, openParquetPredictions } from "../io/prediction-output.ts";
import { describeOrigin } from "../io/provenance.ts";
import { type PredictionOptions, readPredictions } from "../io/read-predictions.ts";
import { findPeople } from "../options/find-people.ts";
import { categoriesOf, readTableFile } from "../options/table-options.ts";
import { openBackendOf } from "../workers/model-backend.ts";
import type { PredictedRows } from "./score-rows.ts";
import { predictUnseenRows, readSplitOf } from "./unseen-rows.ts";

/** A share of the unseen rows that fits where nothing says which do. */
const DEFAULT_FIT = 0.5;

export interface BoostSource {
  readonly curves: Curves; // [N,T]
  /** Null only where they were not required. */
  readonly outcomes: BinnedOutcomes | null; // [N]
  readonly table: Table;
  readonly columns: OutcomeColumns;
  /** The column of ids, and whose rows these are; null where rows are people. */
  readonly id: string | null;
  readonly people: People | null;
  /** What is to be said of them. */
  readonly notes: readonly string[];
  /** The model's own. */
  readonly groups: readonly Group[];
  /** In bins where curves come without times. */
  readonly grid: TimeGrid;
  /** SHA-256 of the model's file; null for curves of another program. */
  readonly modelHash: string | null;
  /** SHA-256 of the file that the rows came from. */
  readonly tableHash: string | null;
  readonly model: Model | null;
  readonly isOwnTable: boolean;
}

/** `paths`: a model and a table; with --curves a table or nothing. */
export async function readBoostSource(
  paths: readonly string[],
  options: PredictionOptions,
  outcomes: "required" | "if there" = "required",
): Promise<BoostSource> {
  if (options.curves === undefined && paths.length === 2) {
    return predictSource(paths[0], paths[1], options, outcomes);
  }
  const read = await readPredictions(paths, options);
  const { table: origin } = await describeOrigin(options.curves ?? "-", read.table, null);
  return {
    ...read,
    notes: read.warnings,
    groups: [],
    modelHash: null,
    tableHash: origin?.sha256 ?? null,
    model: null,
    isOwnTable: false,
  };
}

async function predictSource(
  modelPath: string,
  path: string,
  options: PredictionOptions,
  required: "required" | "if there",
): Promise<BoostSource> {
  const model = await readModel(modelPath);
  const category = [...new Set([...(options.category ?? []), ...categoriesOf(model)])];
  const table = await readTableFile(path, { ...options, category });
  const { columns, groups } = model;
  const { id, people, warnings: notes } = findPeople(table, options, model);
  const isThere = outcomeNames(columns).every((name) => table.columns.some((one) => one.name === name));
  const grid = gridOf(model);
  const outcomes =
    required === "required" || isThere ? binOutcomes(readOutcomes(table, columns), grid) : null;
  const { table: origin } = await describeOrigin(path, table, null);
  const tableHash = origin?.sha256 ?? null;
  const backend = await openBackendOf(model, options.threads);
  try {
    const { curves } = await predict(model, table, backend);
    return {
      curves,
      outcomes,
      table,
      columns,
      id,
      people,
      notes,
      groups,
      grid,
      modelHash: createHash("sha256")
        .update(await readFile(modelPath))
        .digest("hex"),
      tableHash,
      model,
      isOwnTable: tableHash !== null && model.provenance?.table?.sha256 === tableHash,
    };
  } finally {
    await backend?.close();
  }
}

export interface RowChoiceOptions {
  readonly split?: string;
  readonly fit?: number;
  readonly seed: number;
}

export interface ChosenBoostRows {
  readonly rows: BoostRowSets;
  readonly warnings: string[];
}

/** Which rows fit and which judge. */
export async function chooseBoostRows(
  source: BoostSource,
  options: RowChoiceOptions,
): Promise<ChosenBoostRows> {
  const N = source.curves.N;
  if (options.split !== undefined) {
    const split = await readSplitOf(source.model, options.split, N);
    return { rows: divideUnseen(split, source, options), warnings: [] };
  }
  const everyone = { train: new Int32Array(), valid: new Int32Array(), test: allRows(N) };
  if (!source.isOwnTable) return { rows: divideUnseen(everyone, source, options), warnings: [] };
  const split = await recallSplit(source);
  if (split !== null) {
    const unseen = split.valid.length + split.test.length;
    const warning = `the model was trained on this table: only the ${unseen} rows that it has not learnt from are used`;
    return { rows: divideUnseen(split, source, options), warnings: [warning] };
  }
  if (options.fit === undefined) {
    throw new InputError(
      "the model was trained on this table, and which rows it has not seen cannot be told",
      {
        code: "split.unknown",
        hint: "give its split with --split FILE, or rows it has not seen; --fit SHARE goes on all the same, on rows that it may know by heart",
      },
    );
  }
  const warning =
    "the model was trained on rows of this table: on those it learnt by heart there is little to repair, and what is said of them is too good";
  return { rows: divideUnseen(everyone, source, options), warnings: [warning] };
}

/** Validation rows fit and test rows judge, unless a share of both is asked for or one of them is empty. */
function divideUnseen(
  { valid, test }: Split,
  { outcomes, people }: BoostSource,
  { fit, seed }: RowChoiceOptions,
): BoostRowSets {
  if (fit === undefined && valid.length > 0 && test.length > 0) return { fit: valid, held: test };
  const unseen = joinRows(valid, test);
  if (unseen.length < 2) {
    throw new InputError(`too few rows that the model has not learnt from: ${unseen.length}`, {
      code: "rows.few",
      hint: "give a table of other rows",
    });
  }
  const share = fit ?? DEFAULT_FIT;
  const places = splitRows(unseen.length, {
    seed,
    fractions: [share, 0, 1 - share],
    ...(people && { people: pickPeople(people, unseen) }),
    ...(outcomes && { stratifyBy: Uint8Array.from(unseen, (row) => outcomes.event[row]) }),
  });
  return { fit: places.train.map((k) => unseen[k]), held: places.test.map((k) => unseen[k]) };
}

function allRows(N: number): Int32Array {
  return Int32Array.from({ length: N }, (_, row) => row);
}

/** The split of the training, drawn again and held against what was recorded of its test rows; null where it is not the same. */
async function recallSplit(source: BoostSource): Promise<Split | null> {
  const { model, table, tableHash, curves, grid, columns } = source;
  if (model === null) return null;
  const all = readOutcomes(table, columns);
  const predictRows = async (rows: Int32Array): Promise<PredictedRows> => {
    const outcomes = pickOutcomes(all, rows);
    const { T } = curves;
    const survival = new Float64Array(rows.length * T);
    rows.forEach((row, k) => {
      survival.set(curves.survival.subarray(row * T, (row + 1) * T), k * T);
    });
    return {
      rows,
      curves: { N: rows.length, T, survival },
      outcomes,
      binned: binOutcomes(outcomes, grid),
      grid,
    };
  };
  const { isTest } = await predictUnseenRows({ model, table, sha256: tableHash, predictRows });
  return isTest ? redrawSplit(model, table) : null;
}

/** Which rows did what, in the words of a split. */
function nameSets(N: number, { fit, held }: BoostRowSets): string[] {
  const sets = new Array<string>(N).fill("train");
  for (const row of fit) sets[row] = "valid";
  for (const row of held) sets[row] = "test";
  return sets;
}

/** As `graduate predict` writes them, with outcomes beside them where they are known; `rows` where some were fitted on. */
export async function writeCurves(
  path: string,
  curves: Curves,
  { grid, outcomes, people }: BoostSource,
  rows?: BoostRowSets,
): Promise<void> {
  const { N, T, survival } = curves;
  const median = Float64Array.from({ length: N }, (_, i) => {
    const at = medianTime(survival.subarray(i * T, (i + 1) * T), grid);
    return isAbsent(at) ? Number.NaN : at;
  });
  const output = await openGrowingFile(path, "the repaired curves");
  try {
    const set = rows === undefined ? {} : { set: nameSets(N, rows) };
    const person = people === null ? {} : { person: people.of.map((one) => one + 1) };
    const known =
      outcomes === null ? undefined : { bin: outcomes.bin, event: outcomes.event, ...set, ...person };
    const written = path.endsWith(".parquet")
      ? await openParquetPredictions(output, T, known)
      : openCsvPredictions(output, T, known);
    await written.write({ curves, median });
    await written.finish();
  } finally {
    await output.abandon();
  }
}
