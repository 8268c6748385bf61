/** What one worker thread of `graduate compare` or `graduate tune` runs: one task after another. */
import { type CompareShared, openCompareRun, openTuneRun, type TuneShared } from "./plan-runs.ts";
import { serveRuns } from "./run-worker.ts";

// The pool sends tasks of the plan's own kind.
serveRuns<CompareShared | TuneShared, never, unknown>((shared) =>
  shared.kind === "compare" ? openCompareRun(shared) : openTuneRun(shared),
);
