/**
 * What one worker thread of `graduate tune` runs: it is given the table and the request once, without test rows, then
 * trains and scores one setting after the other, each with a backend of its own and one thread, so that a run depends
 * on nothing but its task.
 */
import { runSetting, type TuneResult, type TuneSource, type TuneTask } from "../../verbs/tune.ts";
import { serveRuns } from "./run-worker.ts";
import { openWasmBackend } from "./wasm-backend.ts";

export interface TuneShared extends TuneSource {
  readonly deterministic: boolean;
}

serveRuns<TuneShared, TuneTask, TuneResult>(
  ({ deterministic, ...source }) =>
    async function* (task) {
      const backend = await openWasmBackend({ threads: 1, deterministic });
      try {
        return yield* runSetting(source, task, backend);
      } finally {
        await backend.close();
      }
    },
);
