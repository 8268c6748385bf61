/**
 * What `graduate reproduce` shows while it runs: a bar with the time left on a terminal, one plain line per run
 * elsewhere.
 */
import { countOf } from "graduate-survival/data";
import { clearLive, isLive, say, showLive, warn } from "graduate-survival/node";
import { formatNumber, shorten } from "graduate-survival/report";
import type { RunLine } from "../runs/plan.ts";
import type { RunOutcome } from "../runs/pool.ts";
import type { RunResult } from "../runs/results.ts";

export interface RunProgress {
  start(already: number, out: string): void;
  underWay(shares: ReadonlyMap<number, number>): void;
  done(index: number, outcome: RunOutcome): void;
  finish(): void;
}

const BAR_WIDTH = 20;

/** `before`: earlier runs of the same plan, whose times predict how long others will take. */
export function createRunProgress(
  plan: string,
  lines: readonly RunLine[],
  before: readonly RunResult[],
  workers: number,
): RunProgress {
  const live = isLive();
  const seen = before.map(({ run, seconds }) => ({ ...run, seconds: seconds.fit + seconds.score }));
  const ended = new Set<number>();
  let shares: ReadonlyMap<number, number> = new Map();
  let last = "";
  const started = performance.now();
  let spent = 0;
  /** Elapsed seconds per CPU second here: more than one where runs share a core with other programs. */
  const stretch = () =>
    spent === 0 ? 1 : Math.max(1, (workers * (performance.now() - started)) / 1000 / spent);
  /** From runs like this one: same cohort and system, else the mean of all; NaN before any has ended. */
  const expect = (line: RunLine) => {
    const alike = seen.filter(({ cohort, system }) => cohort === line.cohort && system === line.system);
    const from = alike.length > 0 ? alike : seen;
    return from.reduce((sum, { seconds }) => sum + seconds, 0) / from.length;
  };
  const timeLeft = () => {
    const left = lines.reduce(
      (sum, line, k) => sum + (ended.has(k) ? 0 : expect(line) * (1 - (shares.get(k) ?? 0))),
      0,
    );
    return Number.isNaN(left)
      ? ""
      : `, ${formatDuration((left * stretch()) / Math.min(workers, lines.length))} left`;
  };
  const show = () => {
    if (!live) return;
    const share = [...shares.values()].reduce((sum, one) => sum + one, ended.size) / lines.length;
    const bar = "█".repeat(Math.round(share * BAR_WIDTH)).padEnd(BAR_WIDTH, "░");
    showLive(`${plan} ${bar} ${ended.size}/${lines.length}${timeLeft()}${last}`);
  };
  return {
    start(already, out) {
      const todo = lines.length === 0 ? "nothing left to do" : `${countOf(lines.length, "run")} to do`;
      const had = already > 0 ? ` (${already} in ${out} already)` : "";
      say(`${plan}: ${todo}${had}`);
    },
    underWay(now) {
      shares = now;
      show();
    },
    done(index, outcome) {
      const { cohort, system, seed } = lines[index];
      ended.add(index);
      const said =
        outcome.kind === "failed" ? `failed (${shorten(outcome.failure, 60)})` : describe(outcome.result);
      if (outcome.kind === "done") {
        const { fit, score } = outcome.result.seconds;
        spent += fit + score;
        seen.push({ ...outcome.result.run, seconds: fit + score });
      }
      last = `; last: ${system} ${seed}, ${said}`;
      if (live) show();
      else {
        const left = ended.size < lines.length ? timeLeft() : "";
        say(`${ended.size}/${lines.length} ${cohort}, ${system}, seed ${seed}: ${said}${left}`);
      }
    },
    finish: clearLive,
  };
}

function describe({ scores, truth, seconds }: Omit<RunResult, "version">): string {
  const worst = truth === null ? "" : `, largest A ${formatNumber(largest(truth.A), 4)}`;
  return `C ${formatNumber(scores.concordance[0], 4)}, ECE ${formatNumber(scores.ece[0], 4)}${worst}, ${seconds.fit} s`;
}

function largest(values: readonly (number | null)[]): number | null {
  const present = values.filter((value) => value !== null);
  return present.length === 0 ? null : Math.max(...present);
}

function formatDuration(seconds: number): string {
  if (seconds < 90) return `${Math.ceil(seconds)} s`;
  const minutes = Math.ceil(seconds / 60);
  return minutes < 90 ? `${minutes} min` : `${Math.floor(minutes / 60)} h ${minutes % 60} min`;
}

export function sayFailures(
  failures: readonly (RunLine & { readonly failure: string })[],
  out: string,
): void {
  if (failures.length === 0) return;
  warn(`${countOf(failures.length, "run")} failed; the same command tries again:`);
  for (const { cohort, system, seed, failure } of failures) {
    say(`  ${cohort}, ${system}, seed ${seed}: ${failure}`);
  }
  say(`  the others are in ${out}`);
}
