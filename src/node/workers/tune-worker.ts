/**
 * What one worker thread of `graduate tune` runs: it receives the study and the request once, without test rows, then
 * trains and scores one setting after another, each with its own backend and one thread, so that a run depends only on
 * its task.
 */
import { fromPlainStudy, type PlainStudy } from "../../study/prepare.ts";
import { runSetting, type TuneResult, type TuneSource, type TuneTask } from "../../verbs/tune.ts";
import { serveRuns } from "./run-worker.ts";
import { openWasmBackend } from "./wasm-backend.ts";

export interface TuneShared extends Omit<TuneSource, "study"> {
  readonly study: PlainStudy;
  readonly deterministic: boolean;
}

serveRuns<TuneShared, TuneTask, TuneResult>(({ deterministic, study: plain, request }) => {
  const source = { study: fromPlainStudy(plain), request };
  return async function* (task) {
    const backend = await openWasmBackend({ threads: 1, deterministic });
    try {
      return yield* runSetting(source, task, backend);
    } finally {
      await backend.close();
    }
  };
});
