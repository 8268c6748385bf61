/**
 * Errors against the truth of the simulated cohorts, as numbers of a run (eye/truth.ts defines A, B and ISE). The floor
 * is the generator's own family fitted by maximum likelihood to the same training rows: an error minus the generator's
 * in the same group is what a system could still have avoided. Worst is the largest over groups within a run, then
 * averaged over runs.
 */

import { type CohortRuns, largest, meanOf, type Read, type RunsBySystem, runsOf } from "./summary.ts";

/** A range of groups: positions from `from` up to `to`. */
export interface Range {
  readonly from: number;
  readonly to: number;
}

export type TrueError = "A" | "B" | "ise";

export function readWorst(error: TrueError, { from, to }: Range): Read {
  return ({ truth }) => (truth === null ? null : largest(truth[error].slice(from, to)));
}

export function readMean(error: TrueError, { from, to }: Range): Read {
  return ({ truth }) => (truth === null ? null : meanOf(truth[error].slice(from, to)));
}

/** The largest error minus the generator's, for the same run's people in the same group. */
export function readExcess(runs: RunsBySystem, error: TrueError, range: Range): Read {
  const floors = new Map(runsOf(runs, "generator").map((run) => [run.run.seed, run.truth]));
  return (run) => {
    const floor = floors.get(run.run.seed);
    if (run.truth === null || floor === undefined || floor === null) return null;
    const own = run.truth[error];
    let worst = range.from;
    for (let g = range.from; g < range.to; g++) if ((own[g] ?? 0) > (own[worst] ?? 0)) worst = g;
    const [value, least] = [own[worst] ?? null, floor[error][worst] ?? null];
    return value === null || least === null ? null : value - least;
  };
}

export function rangeOf({ runs, groups }: CohortRuns, which: "constrained" | "audit-only"): Range {
  const [first] = [...runs.values()].flat();
  return which === "constrained"
    ? { from: 0, to: groups }
    : { from: groups, to: first?.truth?.A.length ?? groups };
}
