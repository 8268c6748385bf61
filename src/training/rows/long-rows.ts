/**
 * Long tables. A run that ends in the solve fits its start, trains its network and makes its choices on at most
 * MOST_TRAINING_ROWS training and MOST_VALIDATION_ROWS validation rows, drawn from all of them by what they say; the
 * last solve, which says what the curves are, takes every row. Early stopping shows a network some hundred thousand
 * rows at most, however many there are. Rows that a backend need not hold are encoded block by block whenever they are
 * wanted.
 */
import { present } from "../../core/present.ts";
import type { EncodedBlock } from "../../data/encode/encode.ts";
import type { BinnedOutcomes } from "../../data/outcomes/outcomes.ts";
import { drawRowKeys, type Split } from "../../data/outcomes/split.ts";
import type { NamedRows } from "../../objectives/constraints.ts";
import { encodeStudyRows, pickStudyGroups, pickStudyRows, type Study } from "../../study/study.ts";

export const MOST_TRAINING_ROWS = 250_000;
export const MOST_VALIDATION_ROWS = 100_000;

/** Added to the seed: a sample shares no draws with the split. */
const SAMPLE_SEED = 0x70000000;

/** Rows whose inputs are in no backend's memory. */
export interface LongRows {
  readonly binned: BinnedOutcomes;
  readonly groups: readonly NamedRows[];
  readonly causes?: readonly string[];
  /** The encoded rows in their order; made anew on each call. */
  readonly blocks: () => Iterable<Pick<EncodedBlock, "N" | "values">>;
}

export function openLongRows(study: Study, rows: Int32Array): LongRows {
  return {
    binned: pickStudyRows(study, rows).binned,
    groups: pickStudyGroups(study, rows),
    ...present({ causes: study.causes ?? undefined }),
    blocks: () => encodeStudyRows(study, rows),
  };
}

/** The rows of a split that a run trains and chooses on. */
export type SampledRows = Pick<Split, "train" | "validation">;

export function sampleRows(
  { table, columns, split: { train, validation } }: Pick<Study, "table" | "columns" | "split">,
  seed: number,
): SampledRows {
  if (train.length <= MOST_TRAINING_ROWS && validation.length <= MOST_VALIDATION_ROWS) {
    return { train, validation };
  }
  const keys = drawRowKeys(table, columns, seed + SAMPLE_SEED);
  return {
    train: thinRows(train, MOST_TRAINING_ROWS, keys),
    validation: thinRows(validation, MOST_VALIDATION_ROWS, keys),
  };
}

/** At most `most` of the rows, in their order: those with the smallest keys, of which each row of the table has one. */
export function thinRows(rows: Int32Array, most: number, keys: Float64Array): Int32Array {
  if (rows.length <= most) return rows;
  const own = Float64Array.from(rows, (row) => keys[row]);
  const border = own.slice().sort()[most - 1];
  let ties = most;
  for (const key of own) if (key < border) ties--;
  return rows.filter((_, k) => own[k] < border || (own[k] === border && ties-- > 0));
}
