/**
 * The runs of a sweep: those that the results file does not have yet are made, on several threads, and kept as they end; Ctrl-C leaves the
 * file as it is, and the same command goes on from there.
 */
import { countOf } from "../../core/text.ts";
import type { Table } from "../../data/table.ts";
import type { TrainRequest } from "../../verbs/train.ts";
import type { TuneRun } from "../../verbs/tune.ts";
import type { Setting } from "../../verbs/tune-settings.ts";
import { EXIT_INTERRUPTED, say, warn } from "../print/output.ts";
import { createTuneProgress } from "../print/tune.ts";
import { runSettings } from "./tune-pool.ts";
import type { ResultsFile } from "./tune-results.ts";

export interface PlannedRun {
  readonly key: string;
  readonly setting: Setting;
  readonly label: string;
  readonly seed: number;
  readonly request: TrainRequest;
}

export interface PlanOptions {
  readonly workers: number;
  readonly deterministic?: boolean;
  readonly json?: boolean;
}

/** Runs what the file does not have yet; null after Ctrl-C. The runs come in the order of the plan. */
export async function runPlan(
  plan: readonly PlannedRun[],
  table: Table,
  results: ResultsFile,
  options: PlanOptions,
  resultsPath: string,
): Promise<readonly TuneRun[] | null> {
  const outcomes = new Map(results.recorded);
  const open = plan.filter(({ key }) => !outcomes.has(key));
  const before = plan.length - open.length;
  if (results.repaired)
    warn(`the last line of ${resultsPath} was cut off in the middle: that run is done again`);
  if (before > 0 && !options.json) {
    say(`${before} of ${countOf(plan.length, "run")} are in ${resultsPath} already`);
  }
  const stop = new AbortController();
  const onInterrupt = () => stop.abort();
  process.removeAllListeners("SIGINT");
  process.once("SIGINT", onInterrupt);
  const progress = createTuneProgress(open.length, options.json === true);
  const warned = new Set<string>();
  try {
    await runSettings(
      open.map(({ request }) => request),
      {
        table,
        deterministic: options.deterministic === true,
        workers: options.workers,
        signal: stop.signal,
        onProgress: progress.underWay,
        onDone: (index, { scores, failure, warnings }) => {
          const { key, setting, seed, label } = open[index];
          results.append({ key, setting, seed, scores, failure });
          outcomes.set(key, { scores, failure });
          for (const warning of warnings) {
            if (warned.has(warning) || options.json) continue;
            warned.add(warning);
            warn(warning);
          }
          progress.done(label, seed, scores, failure);
        },
      },
    );
  } catch (error) {
    progress.finish();
    if (!stop.signal.aborted) throw error;
    process.exitCode = EXIT_INTERRUPTED;
    const kept = plan.filter(({ key }) => outcomes.has(key)).length;
    say(
      `\ngraduate: interrupted with ${kept} of ${countOf(plan.length, "run")} done; ` +
        `they are in ${resultsPath}, and the same command goes on from there`,
    );
    return null;
  } finally {
    process.removeListener("SIGINT", onInterrupt);
  }
  process.once("SIGINT", () => process.exit(EXIT_INTERRUPTED));
  progress.finish();
  return plan.map(({ key, setting, seed }) => {
    const { scores = null, failure = null } = outcomes.get(key) ?? {};
    return { setting, seed, scores, failure };
  });
}
