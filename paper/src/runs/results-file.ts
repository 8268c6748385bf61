/**
 * The results of a plan on disk: lines of experiments/results.ts, appended as runs end (growing-lines.ts). A file can
 * hold several plans. A file that holds another form of this plan is refused, and so is one whose runs were made
 * elsewhere: rounding differs between a processor and a graphics device, and a thousand steps enlarge it.
 */
import { FormatError } from "graduate-survival/core";
import { openLines, type ShardHead } from "graduate-survival/node";
import { type Plan, planContent } from "./plan.ts";
import {
  type CohortNames,
  collectResults,
  RESULT_LINES,
  type Results,
  type RunFailure,
  type RunResult,
  requireSamePlan,
} from "./results.ts";
import type { RunBackend } from "./worker.ts";

export interface ResultsFile {
  /** The plan's results already in the file; undefined where there were none. */
  readonly before: Results | undefined;
  /** Whether a half-written line was cut off. */
  readonly repaired: boolean;
  append(line: RunResult | RunFailure, names?: CohortNames): void;
  /** Says which runs a shard is to make. */
  begin(head: ShardHead): void;
  close(): void;
}

/** Opens or creates the file for one plan on one backend; results of other plans in it stay. */
export function openResultsFile(path: string, plan: Plan, backend: RunBackend): ResultsFile {
  const file = openLines(path, RESULT_LINES);
  let before: Results | undefined;
  try {
    before = collectResults(file.lines, path).get(plan.name);
    requireSamePlan(before, plan, path);
    requireSameBackend(before, backend, path);
  } catch (error) {
    file.close();
    throw error;
  }
  let hasPlan = before !== undefined;
  let hasHead = file.lines.some(({ kind }) => kind === "shard");
  const named = new Map(before?.cohorts);
  return {
    before,
    repaired: file.repaired,
    append(line, names) {
      const heading = hasPlan ? [] : [{ reproduce: 1, plan: planContent(plan) }];
      const known = names && named.get(names.cohort);
      if (names !== undefined && known !== undefined && JSON.stringify(names) !== JSON.stringify(known)) {
        throw new FormatError(`the groups of "${names.cohort}" are not those of the results file`, {
          code: "results.groups",
          where: path,
          hint: "name another file (--out), or delete this one to begin anew",
        });
      }
      file.append(...heading, ...(names === undefined || known !== undefined ? [] : [names]), line);
      hasPlan = true;
      if (names !== undefined) named.set(names.cohort, names);
    },
    begin(head) {
      if (!hasHead) file.append(head);
      hasHead = true;
    },
    close: file.close,
  };
}

function requireSameBackend(before: Results | undefined, backend: RunBackend, where: string): void {
  const others = [...(before?.runs.values() ?? [])].filter((run) => (run.backend ?? "wasm") !== backend);
  if (others.length === 0) return;
  const [{ backend: there = "wasm", run }] = others;
  throw new FormatError(`runs of "${run.plan}" there were made on ${there}, not on ${backend}`, {
    code: "results.backend",
    where,
    hint: `go on with --backend ${there}, or name another file (--out)`,
  });
}
