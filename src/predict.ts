/**
 * Predict: a model and rows it has not seen give survival curves on the model's time grid. Encoder and grid are the model's own;
 * an unknown level or a missing column is refused with row and column.
 */
import type { Backend } from "./compute/backend.ts";
import { BackendError } from "./core/errors.ts";
import { isAbsent } from "./core/measured.ts";
import type { Curves } from "./data/curves.ts";
import { encode } from "./data/encode.ts";
import { addGroupColumns } from "./data/group-columns.ts";
import type { Table } from "./data/table.ts";
import { medianTime, type TimeGrid } from "./data/time-grid.ts";
import { coxCurvesOnGrid } from "./models/cox-baseline.ts";
import { createNetwork, writeParameters } from "./models/create-network.ts";
import { survivalCurves } from "./objectives/curves.ts";
import { coxPredictor, type Model } from "./training/model.ts";

export interface Prediction {
  readonly curves: Curves;
  /** NaN where the curve stays above one half up to the horizon. */
  readonly median: Float64Array; // [N]
}

/** Rows a forward pass takes at once: memory stays bounded whatever the table. */
const ROWS_AT_ONCE = 4096;

export function gridOf(model: Model): TimeGrid {
  return { ...model.grid, edges: Float64Array.from(model.grid.edges) };
}

/** `backend` serves networks; a Cox model needs none. */
export async function predict(
  model: Model,
  table: Table,
  backend: Backend | null,
  rows?: ArrayLike<number>,
): Promise<Prediction> {
  const { N, D, values } = encode(model.encoder, addGroupColumns(table, model.inputGroups), rows);
  const { T } = model.grid;
  const grid = gridOf(model);
  const { predictor } = model;
  let survival: Float64Array;
  if (predictor.kind === "cox") {
    ({ survival } = coxCurvesOnGrid(coxPredictor(predictor), values, grid.edges));
  } else {
    if (backend === null) {
      throw new BackendError("a network needs a backend to predict with", { code: "backend.none" });
    }
    survival = new Float64Array(N * T);
    const network = createNetwork(backend, predictor.network, 0);
    writeParameters(network, predictor.parameters);
    const size = Math.min(ROWS_AT_ONCE, Math.max(N, 1));
    const x = backend.allocate(size * D);
    const logits = backend.allocate(size * T);
    for (let from = 0; from < N; from += size) {
      const count = Math.min(size, N - from);
      x.set(values.subarray(from * D, (from + count) * D));
      await network.forward(x, count, logits);
      survivalCurves(logits, count, T, survival.subarray(from * T, (from + count) * T));
    }
  }
  const median = Float64Array.from({ length: N }, (_, i) => {
    const at = medianTime(survival.subarray(i * T, (i + 1) * T), grid);
    return isAbsent(at) ? Number.NaN : at;
  });
  return { curves: { N, T, survival }, median };
}
