/**
 * One set of people as models and metrics take them: encoded features, what was observed, and the same on the time
 * grid, row by row in the same order. The encoder and the grid come fitted (on training rows); nothing is fitted here.
 */
import { InputError } from "../../core/errors.ts";
import { type EncodedFeatures, type Encoder, encode } from "../encode/encode.ts";
import type { Table } from "../table.ts";
import { type BinnedOutcomes, type Outcomes, pickOutcomes } from "./outcomes.ts";
import { binOutcomes, type TimeGrid } from "./time-grid.ts";

/** Encoded features and binned outcomes of some rows. */
export interface SurvivalDataset {
  readonly features: EncodedFeatures;
  readonly outcomes: Outcomes;
  readonly binned: BinnedOutcomes;
  /** Row i of everything above is row rows[i] (0-based) of the table. */
  readonly rows: Int32Array;
}

/** `outcomes` has one entry per row of the table; `rows` (0-based) says which belong to this set. */
export function buildDataset(
  table: Table,
  rows: ArrayLike<number>,
  encoder: Encoder,
  grid: TimeGrid,
  outcomes: Outcomes,
): SurvivalDataset {
  if (outcomes.time.length !== table.rows || outcomes.event.length !== table.rows) {
    throw new InputError(`outcomes are not one per row: ${outcomes.time.length} for ${table.rows} rows`, {
      code: "outcomes.length",
      where: table.name,
    });
  }
  const features = encode(encoder, table, rows);
  const selected = pickOutcomes(outcomes, rows);
  return { features, outcomes: selected, binned: binOutcomes(selected, grid), rows: Int32Array.from(rows) };
}
