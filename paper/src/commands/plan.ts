/**
 * `graduate reproduce nwtco|flchain|eye|all`: the runs of the plans in paper/plans, spread over the cores, each saved
 * as it ends. When started again, the command does the remaining runs. A run that fails does not stop the others; it is
 * named at the end and tried again next time.
 */

import { availableParallelism } from "node:os";
import { type Command, InvalidArgumentError, Option } from "commander";
import { countOf } from "graduate-survival/data";
import {
  addQueueAddress,
  createHead,
  EXIT_INPUT,
  EXIT_INTERRUPTED,
  parseThreads,
  pickShard,
  placeShard,
  type QueueOptions,
  readTextFile,
  refuseQueueConflicts,
  refuseUnwritable,
  type Shard,
  say,
  sayQueueGoesOn,
  shardOption,
  warn,
} from "graduate-survival/node";
import { VERSION } from "../runs/checkout.ts";
import { planFile } from "../runs/committed.ts";
import { lineKey, type Plan, parsePlan, type RunLine, selectLines } from "../runs/plan.ts";
import { type RunBackend, type RunOutcome, runLines } from "../runs/pool.ts";
import { runLinesInQueue } from "../runs/queue.ts";
import { openResultsFile } from "../runs/results-file.ts";
import { networkKey } from "../runs/shared-network.ts";
import { PAGE_TARGETS } from "../runs/targets.ts";
import { writePage } from "./cohort-page.ts";
import { createRunProgress, sayFailures } from "./print-runs.ts";

export interface PlanOptions extends QueueOptions {
  readonly preset: "default" | "paper";
  readonly out: string;
  readonly seeds?: readonly number[];
  readonly systems?: readonly string[];
  readonly cohorts?: readonly string[];
  readonly workers: number;
  readonly backend: RunBackend;
  readonly shard?: Shard;
  readonly tables?: string | true;
}

export function addPlanTargets(command: Command): void {
  for (const name of PAGE_TARGETS) {
    addRunOptions(command.command(name).description(`the runs of the paper's table of ${name}`))
      .addOption(presetOption())
      .option("--tables [file]", "run nothing: print the page of tables, or write it to a file")
      .action(async (options: PlanOptions, given: Command) => {
        if (options.tables === undefined) return runPlans([choosePlan(name, options)], options);
        const isNamed = given.getOptionValueSource("out") === "cli";
        return writePage(name, options.tables, isNamed ? options.out : undefined);
      });
  }
  addRunOptions(command.command("all").description("all three of them"))
    .addOption(presetOption())
    .action(async (options: PlanOptions) =>
      runPlans(
        PAGE_TARGETS.map((name) => choosePlan(name, options)),
        options,
      ),
    );
  addRunOptions(
    command
      .command("plan")
      .description("the runs of a plan of your own")
      .argument("<file>", "a plan as those in paper/plans"),
  ).action(async (file: string, options: PlanOptions) => runPlans([file], options));
}

export function presetOption(): Option {
  return new Option(
    "--preset <name>",
    "default: our recipe, over splits; paper: the paper's, over initialisations of one split",
  )
    .choices(["default", "paper"])
    .default("default");
}

function addRunOptions(command: Command): Command {
  return addQueueAddress(
    command,
    "let workers elsewhere make the runs, by a queue in Redis: redis://host:6379 (graduate worker, in a checkout)",
  )
    .option(
      "--out <file>",
      "where results are kept as runs end, and what was done before is found",
      "results.jsonl",
    )
    .option("--seeds <list>", "only these seeds, e.g. 1,2,5-9", parseSeedRanges)
    .option("--systems <list>", 'only these systems, e.g. "cox,graduate"', parseNames)
    .option("--cohorts <list>", "only these cohorts of the plan", parseNames)
    .option("--workers <n>", "runs at a time, each on one thread", parseThreads, availableParallelism())
    .addOption(backendOption())
    .addOption(shardOption());
}

export function backendOption(): Option {
  return new Option("--backend <name>", "where networks are trained: the processor, or a graphics device")
    .choices(["wasm", "webgpu"])
    .default("wasm");
}

function choosePlan(target: string, { preset }: PlanOptions): string {
  const name = preset === "paper" ? `paper-${target}` : target;
  return planFile(name);
}

function parseNames(text: string): readonly string[] {
  return text.split(",").map((name) => name.trim());
}

function parseSeedRanges(text: string): readonly number[] {
  const seeds = text.split(",").flatMap((part) => {
    const range = /^\s*(\d+)(?:\s*-\s*(\d+))?\s*$/.exec(part);
    if (range === null) throw new InvalidArgumentError("expected seeds such as 1,2,5-9.");
    const [from, to] = [Number(range[1]), Number(range[2] ?? range[1])];
    return Array.from({ length: Math.max(0, to - from + 1) }, (_, k) => from + k);
  });
  return [...new Set(seeds)];
}

async function readGivenPlan(path: string): Promise<Plan> {
  return parsePlan(await readTextFile(path, "the plan"), path);
}

async function runPlans(paths: readonly string[], options: PlanOptions): Promise<void> {
  refuseQueueConflicts(options);
  const plans = await Promise.all(paths.map(readGivenPlan));
  const chosen = plans.map((plan) => {
    const lines = selectLines(plan, options);
    return options.shard === undefined
      ? lines
      : pickShard(lines, options.shard, (line) => networkKey(plan, line)).map((k) => lines[k]);
  });
  const out = placeShard(options.out, options.shard);
  await refuseUnwritable([out], paths);
  const failed: RunLine[] = [];
  for (const [k, plan] of plans.entries()) {
    const failures = await runPlan(plan, chosen[k], { ...options, out });
    if (failures === null) return;
    failed.push(...failures);
  }
  if (failed.length > 0) process.exitCode = EXIT_INPUT;
}

/** As `graduate merge` knows a run's line. */
function runKey({ plan, cohort, system, seed }: RunLine): string {
  return JSON.stringify({ plan, cohort, system, seed });
}

function nameOf({ cohort, system, seed }: RunLine): string {
  return `${cohort}, ${system}, seed ${seed}`;
}

/** Returns the lines that failed; null after Ctrl-C. */
async function runPlan(
  plan: Plan,
  lines: readonly RunLine[],
  { out, workers, backend, shard, queue }: PlanOptions,
): Promise<readonly RunLine[] | null> {
  const file = openResultsFile(out, plan, backend);
  if (shard !== undefined)
    file.begin(
      createHead(
        shard,
        lines.map((line) => [runKey(line), nameOf(line)]),
      ),
    );
  const { before, repaired } = file;
  const open = lines.filter((line) => before?.runs.has(lineKey(line)) !== true);
  if (repaired) warn(`the last line of ${out} was cut off in the middle: that run is done again`);
  const progress = createRunProgress(plan.name, open, [...(before?.runs.values() ?? [])], workers);
  progress.start(lines.length - open.length, out);
  const failures = new Map<number, string>();
  const stop = new AbortController();
  const onInterrupt = () => stop.abort();
  process.removeAllListeners("SIGINT");
  process.once("SIGINT", onInterrupt);
  let done = 0;
  try {
    const making = {
      backend,
      signal: stop.signal,
      onProgress: progress.underWay,
      onDone(index: number, outcome: RunOutcome) {
        const { plan: _, ...run } = open[index];
        if (outcome.kind === "done") {
          const { seconds, ...result } = outcome.result;
          file.append({ ...result, version: VERSION, seconds }, outcome.names);
          done++;
        } else {
          failures.set(index, outcome.failure);
          file.append({ run: { plan: plan.name, ...run }, version: VERSION, failure: outcome.failure });
        }
        progress.done(index, outcome);
      },
    };
    if (queue === undefined) await runLines(plan, open, { ...making, workers });
    else await runLinesInQueue(plan, open, { ...making, url: queue, out, asked: lines });
  } catch (error) {
    progress.finish();
    if (!stop.signal.aborted) throw error;
    process.exitCode = EXIT_INTERRUPTED;
    say(
      `\ngraduate: interrupted with ${lines.length - open.length + done} of ${countOf(lines.length, "run")} done; ` +
        `they are in ${out}, and the same command goes on from there`,
    );
    if (queue !== undefined) say(sayQueueGoesOn());
    return null;
  } finally {
    process.removeListener("SIGINT", onInterrupt);
    file.close();
  }
  process.once("SIGINT", () => process.exit(EXIT_INTERRUPTED));
  progress.finish();
  const failed = [...failures].map(([index, failure]) => ({ ...open[index], failure }));
  sayFailures(failed, out);
  return failed;
}
