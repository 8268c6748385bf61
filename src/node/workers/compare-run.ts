/**
 * A run of `graduate compare` with what Node provides: its own wasm backend, resamples over the backend's threads, and
 * a clock. It is the same in the command's own thread and in a worker; neither the number of threads nor the place
 * changes a number.
 */
import { fromPlainStudy, type PlainStudy } from "../../study/prepare.ts";
import type { CompareSource, CompareTask, MethodResult } from "../../verbs/comparison/method-run.ts";
import { runMethod } from "../../verbs/comparison/method-run.ts";
import type { Run } from "../../verbs/runs.ts";
import { bootstrapInParallel } from "./replicate-pool.ts";
import { openWasmBackend } from "./wasm-backend.ts";

export interface CompareShared extends Omit<CompareSource, "study"> {
  readonly study: PlainStudy;
  /** The threads of one run. */
  readonly threads: number;
  readonly deterministic: boolean;
}

export function openCompareRun(shared: CompareShared): Run<CompareTask, MethodResult> {
  const { threads, deterministic, study, ...rest } = shared;
  const source = { ...rest, study: fromPlainStudy(study) };
  return async function* (task) {
    const backend = await openWasmBackend({ threads, deterministic });
    try {
      return yield* runMethod(source, task, {
        backend,
        bootstrap: (groups, options) => bootstrapInParallel(groups, { ...options, threads }),
        now: () => performance.now() / 1000,
      });
    } finally {
      await backend.close();
    }
  };
}
