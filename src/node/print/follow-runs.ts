/**
 * Follows the runs of a plan for a command: reports what the results file already has, makes the other runs and reports
 * them as they end, and shows each warning once. Ctrl-C stops the runs under way and leaves the file as it is; the same
 * command continues from there.
 */
import { countOf } from "../../core/text.ts";
import type { RunEvent, Runner } from "../../verbs/runs.ts";
import { endBySignal, onInterrupt } from "../io/process-end.ts";
import { keepRuns, type RunResults } from "../io/run-results.ts";
import { programName } from "../program-name.ts";
import { pickShard, type Shard } from "../shards/shard.ts";
import { createHead } from "../shards/shard-head.ts";
import { clearLive, EXIT_INTERRUPTED, isLive, print, say, showLive, warn } from "./output.ts";

/** Runs, or parts of them, that must be done before the time left is more than a guess. */
const LEAST_DONE = 0.2;

type RunProgress = ReturnType<typeof createRunProgress>;

/** A live line on a terminal, nothing elsewhere. */
function createRunProgress(quiet: boolean) {
  const live = isLive() && !quiet;
  const started = performance.now();
  const shares = new Map<number, number>();
  let [total, ended] = [0, 0];
  let shown = "";
  /** ", 12 s left"; empty if it would be a guess. */
  const timeLeft = () => {
    if (ended === total) return "";
    const seconds = (performance.now() - started) / 1000;
    const done = [...shares.values()].reduce((sum, share) => sum + share, ended);
    return done >= LEAST_DONE ? `, ${Math.ceil((seconds / done) * (total - done))} s left` : "";
  };
  const show = () => {
    if (live) showLive(`${ended} of ${countOf(total, "run")}${timeLeft()}${shown}`);
  };
  return {
    /** How many runs there are to make. */
    expect(expected: number) {
      total = expected;
    },
    underWay(index: number, share: number) {
      shares.set(index, share);
      show();
    },
    /** `last` is what the live line shows for the run that ended last. */
    ended(index: number, last: string) {
      shares.delete(index);
      ended++;
      shown = `; last: ${last}`;
      show();
    },
    /** "3/8" */
    count: () => `${ended}/${total}`,
    timeLeft,
    finish() {
      if (!quiet) clearLive();
    },
  };
}

/** A run that has just ended, with the progress display for reporting it. */
export interface EndedRun<Task, Result> {
  readonly task: Task;
  readonly index: number;
  readonly result: Result;
  readonly progress: RunProgress;
}

interface FollowedPlan<Task, Result, Outcome> {
  /** Makes the runs. */
  readonly runner: (signal: AbortSignal) => Runner<Task, Result>;
  /** Plans the runs and turns their results into an outcome. */
  readonly verb: (
    runner: Runner<Task, Result>,
  ) => AsyncGenerator<{ readonly type: "start"; readonly plan: readonly Task[] } | RunEvent<Result>, Outcome>;
  /** Where runs are saved and looked up; null for nowhere. */
  readonly kept: { readonly file: RunResults<Task, Result>; readonly keyOf: (task: Task) => string } | null;
  /** Prints nothing but errors. */
  readonly quiet: boolean;
  /** Reports a run as it ends, but not one that was already saved. */
  readonly tell: (run: EndedRun<Task, Result>) => void;
  /** Makes only this part of the runs, and leaves the outcome to whoever has them all. */
  readonly shard?: Shard | undefined;
  /** Whether others make the runs, who go on when this program is interrupted. */
  readonly isQueued?: boolean;
  /** The name of a run, for what says which are missing. */
  readonly nameOf: (task: Task) => string;
}

/** Thrown where a shard has made its runs. */
class ShardDone extends Error {
  readonly runs: number;
  constructor(runs: number) {
    super("the shard is done");
    this.runs = runs;
  }
}

/** Returns what the verb returns; null after Ctrl-C. The file is closed in either case. */
export async function followPlan<Task, Result extends { readonly warnings: readonly string[] }, Outcome>({
  runner,
  verb,
  kept,
  quiet,
  tell,
  shard,
  nameOf,
  isQueued = false,
}: FollowedPlan<Task, Result, Outcome>): Promise<Outcome | null> {
  const progress = createRunProgress(quiet);
  const stop = new AbortController();
  const leave = onInterrupt(() => (stop.signal.aborted ? endBySignal("SIGINT") : stop.abort()));
  let plan: readonly Task[] = [];
  let done = 0;
  const warnOnce = createWarner(quiet);
  try {
    const all = keepIn(kept, runner(stop.signal), quiet, progress);
    const events = verb(shard && kept ? runShard(all, shard, kept, nameOf) : all);
    for (let next = await events.next(); ; next = await events.next()) {
      if (next.done) {
        progress.finish();
        return next.value;
      }
      const event = next.value;
      if (event.type === "start") {
        plan = event.plan;
        progress.expect(plan.length);
      } else if (event.type === "progress") progress.underWay(event.index, event.share);
      else {
        const { index, result, isKept } = event;
        done++;
        warnOnce(result.warnings);
        if (!isKept) tell({ task: plan[index], index, result, progress });
      }
    }
  } catch (error) {
    progress.finish();
    if (error instanceof ShardDone && shard !== undefined) {
      sayShard(shard, error.runs, plan.length, kept?.file.path ?? "");
      return null;
    }
    if (!stop.signal.aborted) throw error;
    process.exitCode = EXIT_INTERRUPTED;
    const runs = `interrupted with ${done} of ${countOf(plan.length, "run")} ${isQueued ? "collected" : "done"}`;
    const where =
      kept === null || (isQueued && done === 0)
        ? ""
        : `; they are in ${kept.file.path}, and the same command goes on from there`;
    say(`\ngraduate: ${runs}${where}`);
    if (isQueued) say(sayQueueGoesOn());
    return null;
  } finally {
    kept?.file.close();
    leave();
  }
}

/** What becomes of the runs of a queue when nobody waits for them. */
export function sayQueueGoesOn(): string {
  return `  workers go on with the others; \`${programName()} jobs --queue …\` shows them and can cancel them`;
}

/** A runner of a shard's tasks, which never returns: what the verb makes of all runs is made elsewhere. */
function runShard<Task, Result>(
  runner: Runner<Task, Result>,
  shard: Shard,
  { file, keyOf }: NonNullable<FollowedPlan<Task, Result, unknown>["kept"]>,
  nameOf: (task: Task) => string,
): Runner<Task, Result> {
  return async function* (tasks) {
    const own = pickShard(tasks, shard);
    file.begin(
      createHead(
        shard,
        own.map((k) => [keyOf(tasks[k]), nameOf(tasks[k])]),
      ),
    );
    for await (const event of runner(own.map((k) => tasks[k]))) yield { ...event, index: own[event.index] };
    throw new ShardDone(own.length);
  };
}

function sayShard(shard: Shard, runs: number, total: number, path: string): void {
  const { index, count } = shard;
  print(`shard ${index} of ${count}: its ${runs} of ${countOf(total, "run")} are in ${path}`);
  const [files, whole] = ["*-of-", ""].map((place) =>
    path.replace(`.${index}-of-${count}`, place && `.${place}${count}`),
  );
  print("when all have ended, this makes one file of theirs:");
  print(`  ${programName()} merge ${files} --out ${whole}`);
  print(`then the command without --shard and with --results ${whole} makes no run again`);
}

function keepIn<Task, Result>(
  kept: FollowedPlan<Task, Result, unknown>["kept"],
  runner: Runner<Task, Result>,
  quiet: boolean,
  progress: RunProgress,
): Runner<Task, Result> {
  if (kept === null) return runner;
  const { file, keyOf } = kept;
  if (file.repaired) warn(`the last line of ${file.path} was cut off in the middle: that run is done again`);
  return keepRuns(runner, file, {
    keyOf,
    onStart({ kept: found, total }) {
      progress.expect(total - found);
      if (found > 0 && !quiet) say(`${found} of ${countOf(total, "run")} are in ${file.path} already`);
    },
  });
}

/** Each warning once. */
function createWarner(quiet: boolean): (warnings: readonly string[]) => void {
  const warned = new Set<string>();
  return (warnings) => {
    for (const warning of warnings) {
      if (!warned.has(warning) && !quiet) warn(warning);
      warned.add(warning);
    }
  };
}
