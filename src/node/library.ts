/**
 * What `import "graduate-survival"` loads in Node: the library, with a `fit` that, if no backend is named, opens the
 * fast one for the run and closes it afterwards.
 */
import type { Backend } from "../compute/backend.ts";
import type { Table } from "../data/table.ts";
import type { Model } from "../training/model.ts";
import { type FitOptions, type FitRequest, fit as fitOn } from "../verbs/fit.ts";
import { openWasmBackend } from "./workers/wasm-backend.ts";

export * from "../index.ts";

/** Trains on a table and returns the model; the backend is that of `openWasmBackend` unless another is named. */
export async function fit(
  table: Table,
  request: FitRequest,
  backend?: Backend,
  options: FitOptions = {},
): Promise<Model> {
  // Cox needs no backend, and starting threads would take longer than the fit.
  if (backend !== undefined || request.method === "cox") return fitOn(table, request, backend, options);
  const opened = await openWasmBackend();
  try {
    return await fitOn(table, request, opened, options);
  } finally {
    await opened.close();
  }
}
