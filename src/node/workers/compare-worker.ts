/** What one worker thread of `graduate compare` runs: one method on one split after another. */
import type { CompareTask, MethodResult } from "../../verbs/comparison/method-run.ts";
import { type CompareShared, openCompareRun } from "./compare-run.ts";
import { serveRuns } from "./run-worker.ts";

serveRuns<CompareShared, CompareTask, MethodResult>(openCompareRun);
