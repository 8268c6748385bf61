/**
 * Which rows a model is judged on. A model that was trained on this very table (by its SHA-256) is judged on its test rows only, where
 * they can be drawn again by its seed and show the events, observed and expected, that were recorded at the end of training; where
 * they cannot, every row is taken and a warning says what that is worth.
 */
import { InputError } from "../core/errors.ts";
import { isAbsent } from "../core/measured.ts";
import { splitFromTable, splitRows } from "../data/split.ts";
import type { Table } from "../data/table.ts";
import { logrankIndividual } from "../stats/logrank.ts";
import type { Model } from "../training/model.ts";
import type { PredictedRows } from "./score-rows.ts";
import { readTableFile } from "./table-options.ts";

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
  const test = input.allRows ? new Int32Array() : redrawTestRows(model, table.rows);
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

/** The test rows of a split by seed with the recorded sizes; whether there was such a split, isAsRecorded tells. */
function redrawTestRows({ training: { rows, seed } }: Model, N: number): Int32Array {
  if (rows.train + rows.valid + rows.test !== N || rows.test === 0) return new Int32Array();
  return splitRows(N, { seed, fractions: [rows.train / N, rows.valid / N, rows.test / N] }).test;
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
