/**
 * Which rows a model is judged on. A model that was trained on this very table (by its SHA-256) is judged on its test rows only, where
 * they can be drawn again by its seed and show the events, observed and expected, that were recorded at the end of training; where
 * they cannot, every row is taken and a warning says what that is worth.
 * A search for groups (discover) has use for rows that the model knows: predictSearchedRows gives it the others too.
 */
import { InputError } from "../../core/errors.ts";
import { isAbsent } from "../../core/measured.ts";
import { joinRows, type Split, splitFromTable } from "../../data/outcomes/split.ts";
import type { Table } from "../../data/table.ts";
import { logrankIndividual } from "../../stats/logrank.ts";
import { redrawSplit } from "../../training/choose-split.ts";
import type { Model } from "../../training/model.ts";
import type { PredictedRows } from "../../verbs/score-rows.ts";
import { readTableFile } from "../options/table-options.ts";

export interface JudgedRows extends PredictedRows {
  /** "test rows", "rows of the table". */
  readonly which: string;
  /** Whether they are the test rows of the table that the model was trained on. */
  readonly isTest: boolean;
  readonly warning: string | null;
}

export interface UnseenRowsInput {
  readonly model: Model;
  readonly table: Table;
  /** Of the table's file; null where it is not known. */
  readonly sha256: string | null;
  /** A row,set table: its test rows are taken. */
  readonly split?: string;
  /** Every row, seen in training or not. */
  readonly allRows?: boolean;
  readonly predictRows: (rows: Int32Array) => Promise<PredictedRows>;
}

export async function predictUnseenRows(input: UnseenRowsInput): Promise<JudgedRows> {
  const { model, table, sha256, predictRows } = input;
  const isOwnTable = sha256 !== null && model.provenance?.table?.sha256 === sha256;
  const everyRow = Int32Array.from({ length: table.rows }, (_, row) => row);
  if (input.split !== undefined) {
    const { test } = splitFromTable(await readTableFile(input.split, {}), table.rows);
    if (test.length === 0) {
      throw new InputError('no row of the split is in "test"', { code: "split.test", where: input.split });
    }
    const isTest = isOwnTable && test.length === model.training.rows.test;
    return { ...(await predictRows(test)), which: "test rows", isTest, warning: null };
  }
  if (!isOwnTable) {
    return { ...(await predictRows(everyRow)), which: "rows of the table", isTest: false, warning: null };
  }
  const test = input.allRows ? new Int32Array() : (redrawSplit(model, table)?.test ?? new Int32Array());
  const predicted = test.length > 0 ? await predictRows(test) : null;
  if (predicted !== null && isAsRecorded(model, predicted)) {
    const warning = `the model was trained on this table: only its ${test.length} test rows are judged`;
    return { ...predicted, which: "test rows", isTest: true, warning };
  }
  const warning = input.allRows
    ? "the model was trained on this table: of the rows it has seen, what it learnt by heart will look right"
    : "the model was trained on this table, and which rows it has not seen cannot be told: what it learnt by heart will look right. Give its split with --split FILE, or rows it has not seen";
  const which = "rows of the table, those it was trained on among them";
  return { ...(await predictRows(everyRow)), which, isTest: false, warning };
}

/** Rows to search and rows to confirm on; or, where no split is known, rows that are divided by chance. */
export interface SearchedRows extends PredictedRows {
  /** Places among the rows: those that confirm, none of which the model has seen. Null: any half of them. */
  readonly confirm: Int32Array | null;
  /** "training rows", "validation rows", "rows". */
  readonly searchedAre: string;
  readonly confirmAre: string;
  /** How many rows trained the model, where they are of this table; null elsewhere. */
  readonly trainingRows: number | null;
  readonly warning: string | null;
}

/**
 * The rows to search and, apart from them, the rows that the model has not seen. A Cox model learns from its training rows alone: those are
 * searched, validation and test rows confirm. Of a network, which can know its training rows by heart and was stopped by the validation
 * rows, the validation rows are searched and the test rows confirm.
 */
export async function predictSearchedRows(input: UnseenRowsInput): Promise<SearchedRows> {
  const { model, table, sha256, predictRows } = input;
  const isOwnTable = sha256 !== null && model.provenance?.table?.sha256 === sha256;
  const given = input.split === undefined ? null : await readSplitOf(model, input.split, table.rows);
  const split = given ?? (isOwnTable ? redrawSplit(model, table) : null);
  const sets = split === null ? null : chooseSets(model, split);
  if (split !== null && sets !== null) {
    const isKnown = given !== null || isAsRecorded(model, await predictRows(split.test));
    if (isKnown) {
      const rows = joinRows(sets.search, sets.confirm);
      const confirms = new Set(sets.confirm);
      const confirm = Int32Array.from(rows.keys()).filter((place) => confirms.has(rows[place]));
      const { searchedAre, confirmAre } = sets;
      const warning =
        given !== null
          ? null
          : `the model was trained on this table: its ${sets.search.length} ${searchedAre} are searched, and its ${sets.confirm.length} ${confirmAre}, which it has not seen, confirm`;
      const trainingRows = split.train.length;
      return { ...(await predictRows(rows)), confirm, searchedAre, confirmAre, trainingRows, warning };
    }
  }
  const { which: _which, isTest, ...judged } = await predictUnseenRows(input);
  const are = isTest ? "test rows" : "rows";
  return { ...judged, confirm: null, searchedAre: are, confirmAre: are, trainingRows: null };
}

/** The split of a file. A model that had no rows for validation alone, as an ensemble has none, learnt from the file's. */
export async function readSplitOf(model: Model | null, path: string, rows: number): Promise<Split> {
  const split = splitFromTable(await readTableFile(path, {}), rows);
  if (model === null || model.training.rows.valid > 0) return split;
  const train = joinRows(split.train, split.valid);
  return { train, valid: new Int32Array(), test: split.test };
}

interface ChosenSets {
  readonly search: Int32Array;
  readonly confirm: Int32Array;
  readonly searchedAre: string;
  readonly confirmAre: string;
}

/** Null when a set is empty. */
function chooseSets({ predictor }: Model, { train, valid, test }: Split): ChosenSets | null {
  const isCox = predictor.kind === "cox";
  const search = isCox ? train : valid;
  const confirm = isCox ? joinRows(valid, test) : test;
  if (search.length === 0 || test.length === 0) return null;
  return {
    search,
    confirm,
    searchedAre: isCox ? "training rows" : "validation rows",
    confirmAre: isCox && valid.length > 0 ? "validation and test rows" : "test rows",
  };
}

/** Expected events agree to this share with those the model was scored with, whichever machine computed them. */
const SAME_EXPECTED = 1e-4;

function isAsRecorded({ metrics }: Model, { curves, binned }: PredictedRows): boolean {
  const { overall } = (metrics ?? {}) as {
    readonly overall?: {
      readonly n?: unknown;
      readonly logrankIndividual?: Readonly<Record<string, unknown>>;
    };
  };
  const recorded = overall?.logrankIndividual;
  const found = logrankIndividual(curves, binned);
  if (recorded === undefined || isAbsent(found)) return false;
  const { observed, expected } = recorded;
  return (
    overall?.n === curves.N &&
    observed === found.observed &&
    typeof expected === "number" &&
    Math.abs(expected - found.expected) <= SAME_EXPECTED * found.expected
  );
}
