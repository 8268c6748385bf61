/**
 * Long tables. A run that ends in the solve fits its start, trains its network and makes its choices on at most
 * MOST_TRAINING_ROWS training and MOST_VALIDATION_ROWS validation rows, drawn evenly from all of them; the last solve,
 * which says what the curves are, takes every row. Early stopping shows a network some hundred thousand rows at most,
 * however many there are. Rows that a backend need not hold are encoded block by block whenever they are wanted.
 */
import { present } from "../../core/present.ts";
import { createRandom } from "../../core/random.ts";
import type { EncodedBlock } from "../../data/encode/encode.ts";
import type { BinnedOutcomes } from "../../data/outcomes/outcomes.ts";
import type { Split } from "../../data/outcomes/split.ts";
import type { NamedRows } from "../../objectives/constraints.ts";
import { encodeStudyRows, pickStudyGroups, pickStudyRows, type Study } from "../../study/study.ts";

export const MOST_TRAINING_ROWS = 250_000;
export const MOST_VALIDATION_ROWS = 100_000;

/** Separate from every other stream of a run. */
const SAMPLE_STREAM = 0x70000000;

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

export function sampleRows({ train, validation }: SampledRows, seed: number): SampledRows {
  return {
    train: thinRows(train, MOST_TRAINING_ROWS, seed),
    validation: thinRows(validation, MOST_VALIDATION_ROWS, seed),
  };
}

/**
 * At most `most` of the rows: one at random from each of as many stretches of nearly equal length. So a table that is
 * sorted is sampled evenly, and one with a period is not sampled in step with it.
 */
export function thinRows(rows: Int32Array, most: number, seed: number): Int32Array {
  const { length: N } = rows;
  if (N <= most) return rows;
  const random = createRandom(seed, SAMPLE_STREAM);
  const cut = (k: number) => Math.floor((k * N) / most);
  return Int32Array.from({ length: most }, (_, k) => rows[cut(k) + random.integer(cut(k + 1) - cut(k))]);
}
