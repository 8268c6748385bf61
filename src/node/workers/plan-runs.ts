/**
 * Runs of `graduate compare` and `graduate tune` with what Node provides: a wasm backend of their own, for a comparison
 * also resamples over the backend's threads and a clock. They are the same in the command's own thread and in a worker;
 * neither the number of threads nor the place changes a number.
 */
import { fromPlainStudy, type PlainStudy } from "../../study/prepare.ts";
import {
  type CompareSource,
  type CompareTask,
  type MethodResult,
  runMethod,
} from "../../verbs/comparison/method-run.ts";
import type { Run } from "../../verbs/runs.ts";
import { runSetting, type TuneResult, type TuneSource, type TuneTask } from "../../verbs/tune.ts";
import { bootstrapInParallel } from "./replicate-pool.ts";
import { openWasmBackend } from "./wasm-backend.ts";

/** What the workers get once. */
interface SharedStudy {
  readonly study: PlainStudy;
  readonly deterministic: boolean;
}

export interface CompareShared extends Omit<CompareSource, "study">, SharedStudy {
  readonly kind: "compare";
  /** The threads of one run. */
  readonly threads: number;
}

/** Without test rows. */
export interface TuneShared extends Omit<TuneSource, "study">, SharedStudy {
  readonly kind: "tune";
}

export function openCompareRun(shared: CompareShared): Run<CompareTask, MethodResult> {
  const { threads, deterministic, study, request, splits } = shared;
  const source = { study: fromPlainStudy(study), request, splits };
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

/** Each run has one thread, so that it depends only on its task. */
export function openTuneRun({ deterministic, study, request }: TuneShared): Run<TuneTask, TuneResult> {
  const source = { study: fromPlainStudy(study), request };
  return async function* (task) {
    const backend = await openWasmBackend({ threads: 1, deterministic });
    try {
      return yield* runSetting(source, task, backend);
    } finally {
      await backend.close();
    }
  };
}
