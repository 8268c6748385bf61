/**
 * `graduate compare`: trains several methods on the same split or splits, and prints one table with each method's
 * difference from the first. A method may name its distance and a repair on the validation rows: graduate:atRisk,
 * cox+boost.
 */

import { availableParallelism } from "node:os";
import { type Command, InvalidArgumentError, Option } from "commander";
import { InputError } from "../../core/errors.ts";
import { namesOf } from "../../core/names.ts";
import { present } from "../../core/present.ts";
import type { Table } from "../../data/table.ts";
import { toPlainStudy } from "../../study/prepare.ts";
import { DISTANCES, type DistanceName, NETWORKS, PRESETS, type PresetName } from "../../training/choices.ts";
import {
  compare,
  DEFAULT_CAUSE_REPLICATES,
  DEFAULT_REPLICATES,
  defaultReplicates,
  planComparison,
} from "../../verbs/compare.ts";
import {
  COMPARED_METHODS,
  type ComparedMethod,
  type CompareTask,
  findSplit,
  type MethodResult,
  type NamedSplit,
} from "../../verbs/comparison/method-run.ts";
import { type Runner, runInTurn } from "../../verbs/runs.ts";
import { prepare, type TrainRequest } from "../../verbs/train-request.ts";
import { refuseUnwritable, refuseWrongSuffix } from "../io/output-path.ts";
import type { TableFile } from "../io/provenance.ts";
import { COMPARE_LINES, hashShared } from "../io/run-lines.ts";
import { hashKey, openRunResults, readResult } from "../io/run-results.ts";
import { stemOfTable } from "../io/table-files.ts";
import { addQueueOptions, type QueueOptions, refuseQueueConflicts } from "../options/queue-option.ts";
import { placeShard, refuseOutcome, shardOption } from "../options/shard-option.ts";
import {
  openTableFile,
  parseCount,
  parseThreads,
  readingOptions,
  repeatedOption,
  TABLE_ARGUMENT,
  type TableOptions,
} from "../options/table-options.ts";
import {
  addSubjectOptions,
  parseSeeds,
  readShares,
  readSplit,
  readTrainRequest,
  type TrainRequestOptions,
} from "../options/train-options.ts";
import { describeComparison, printComparison, tellMethod } from "../print/comparison.ts";
import { describeCauseComparison, printCauseComparison } from "../print/comparison-causes.ts";
import { followPlan } from "../print/follow-runs.ts";
import { printJson, tellFindings } from "../print/output.ts";
import { describeSubject, runSubmitted } from "../queue/submit-plan.ts";
import type { Shard } from "../shards/shard.ts";
import { type CompareShared, openCompareRun } from "../workers/plan-runs.ts";
import { runInPool, workerModule } from "../workers/run-pool.ts";

interface CompareCommandOptions extends TrainRequestOptions, TableOptions, QueueOptions {
  readonly methods: readonly ComparedMethod[];
  readonly preset: PresetName;
  readonly seeds: readonly number[];
  readonly split: readonly string[];
  readonly replicates?: number;
  readonly threads: number;
  readonly workers: number;
  readonly results?: string;
  readonly shard?: Shard;
  readonly deterministic?: boolean;
  readonly json?: boolean;
}

const methodNames: readonly string[] = COMPARED_METHODS;
const distanceNames: readonly string[] = namesOf(DISTANCES);
const DEFAULT_METHODS = "cox,nll,graduate";
/** Fewer resamples give no useful p-value. */
const LEAST_REPLICATES = 100;

export function addCompare(program: Command): void {
  const command = program
    .command("compare")
    .description("train several methods on the same rows and print their differences")
    .argument("<table>", TABLE_ARGUMENT);
  addSubjectOptions(command)
    .addOption(
      new Option(
        "--methods <list>",
        `of ${methodNames.join(", ")} (what a network starts from); ` +
          `graduate:${distanceNames.join("|")} for its distance, +boost to repair its curves`,
      )
        .argParser(parseMethods)
        .default(parseMethods(DEFAULT_METHODS), DEFAULT_METHODS),
    )
    .addOption(new Option("--distance <kind>", "the constraint of graduate").choices(distanceNames))
    .addOption(new Option("--preset <name>", "defaults").choices(namesOf(PRESETS)).default("default"))
    .addOption(new Option("--network <kind>", "the network").choices(namesOf(NETWORKS)))
    .addOption(
      new Option("--seeds <list>", "one split and one start of the weights for each")
        .argParser(parseSeeds)
        .default([1], "1"),
    )
    .option(
      "--split <file|shares>",
      "a table of row (from 1) and set (train, validation, test; repeatable), or shares such as 0.6,0.2,0.2",
      repeatedOption,
      [],
    )
    .option("--splines", "give networks splines of every number too (default: where events are enough)")
    .option("--no-splines", "give them none")
    .option("--steps <n>", "parameter updates", parseCount)
    .option(
      "--replicates <n>",
      "resamples of the test rows, with one split " +
        `(default: ${DEFAULT_REPLICATES}; with --causes ${DEFAULT_CAUSE_REPLICATES})`,
      parseReplicates,
    )
    .option("--threads <n>", "threads", parseThreads, availableParallelism())
    .option("--workers <n>", "runs at a time, which share the threads", parseThreads, 1)
    .option("--deterministic", "the same bytes on every machine")
    .option("--results <file>", "keep the runs here as they end, and go on from those that are there")
    .addOption(shardOption())
    .option("--json", "print one JSON document")
    .action(runCompare);
  addQueueOptions(command);
}

function parseMethods(text: string): readonly ComparedMethod[] {
  const names = text.split(",").map((name) => name.trim());
  const methods = names.map((label): ComparedMethod => {
    const [, method, distance, boost] = /^([a-z]+)(?::([a-zA-Z0-9]+))?(\+boost)?$/.exec(label) ?? [];
    const isKnown =
      methodNames.includes(method) && (distance === undefined || distanceNames.includes(distance));
    if (!isKnown || (distance !== undefined && method !== "graduate"))
      throw new InvalidArgumentError(
        `no such method: "${label}" ` +
          `(have ${methodNames.join(", ")}, graduate:${distanceNames.join("|")}, each with +boost).`,
      );
    return {
      label,
      method: method as ComparedMethod["method"],
      distance: (distance as DistanceName | undefined) ?? null,
      boosted: boost !== undefined,
    };
  });
  if (new Set(names).size < names.length) throw new InvalidArgumentError("a method is named twice.");
  if (methods.length < 2)
    throw new InvalidArgumentError("expected at least two methods, such as cox,graduate.");
  return methods;
}

function parseReplicates(text: string): number {
  const value = parseCount(text);
  if (value < LEAST_REPLICATES)
    throw new InvalidArgumentError(`expected a whole number, ${LEAST_REPLICATES} or more.`);
  return value;
}

async function runCompare(path: string, options: CompareCommandOptions): Promise<void> {
  const { methods, shard } = options;
  refuseOutcome(options);
  refuseQueueConflicts(options);
  const isDivided = shard !== undefined || options.queue !== undefined;
  const asked = options.results ?? (isDivided ? `${stemOfTable(path)}.compare.jsonl` : undefined);
  const results = asked && placeShard(asked, shard);
  if (results !== undefined) {
    await refuseUnwritable([results], [path, ...options.split, options.groups]);
    refuseWrongSuffix({ runs: results });
  }
  const file = await openTableFile(path, options);
  const splits = await readSplits(file.table, options);
  const request = await readTrainRequest(options);
  const [{ split, seed }] = splits;
  const study = prepare(file.table, { ...request, split, seed }, file.sha256);
  tellFindings(study.told);
  const replicates = options.replicates ?? defaultReplicates(study);
  const shared: CompareShared = {
    kind: "compare",
    study: toPlainStudy(study),
    request,
    splits,
    threads: Math.max(1, Math.floor(options.threads / options.workers)),
    deterministic: options.deterministic === true,
  };
  const kept = results === undefined ? null : openKept(file, results, { splits, request }, options);
  const comparison = await followPlan({
    runner: (signal) =>
      kept === null || options.queue === undefined
        ? chooseRunner(shared, options.workers, signal)
        : submitRuns(file, { splits, request, replicates }, kept, options.queue, options)(signal),
    verb: (runner) => compare(study, request, { methods, splits, replicates }, { runner }),
    kept,
    isQueued: options.queue !== undefined,
    quiet: options.json === true,
    shard,
    nameOf,
    tell: (run) => {
      if (!options.json) tellMethod(run);
    },
  });
  if (comparison === null) return;
  if (comparison.byCause === undefined) {
    if (options.json) printJson(describeComparison(comparison));
    else printComparison(comparison);
  } else if (options.json) printJson(describeCauseComparison(comparison, comparison.byCause));
  else printCauseComparison(comparison, comparison.byCause);
}

function nameOf({ method, split }: CompareTask): string {
  return `${method.label}, ${split}`;
}

/** Lets workers of a queue make the runs. */
function submitRuns(
  file: TableFile,
  {
    splits,
    request,
    replicates,
  }: {
    readonly splits: readonly NamedSplit[];
    readonly request: TrainRequest;
    readonly replicates: number;
  },
  { file: { path: results }, keyOf }: ReturnType<typeof openKept>,
  url: string,
  options: CompareCommandOptions,
): (signal: AbortSignal) => Runner<CompareTask, MethodResult> {
  const { methods, shipTable: ship = false, deterministic = false, json: quiet = false } = options;
  const subject = { reading: readingOptions(options), request, splits, deterministic };
  const tasks = planComparison(methods, splits, splits.length === 1 ? replicates : null);
  const about = describeSubject(file, subject);
  const read = (task: CompareTask, result: unknown) =>
    readResult(COMPARE_LINES, { key: keyOf(task), task, result });
  const plan = { ...about, url, command: "compare", ship, tasks, keyOf, nameOf, readResult: read };
  return (signal) => runSubmitted({ ...plan, results, quiet }, signal);
}

/** With one worker, runs are made in this thread; with more, by worker threads. */
function chooseRunner(
  shared: CompareShared,
  workers: number,
  signal: AbortSignal,
): Runner<CompareTask, MethodResult> {
  if (workers === 1) return runInTurn(openCompareRun(shared), { signal });
  const worker = workerModule("plan-worker");
  return (tasks) =>
    runInPool<CompareShared, CompareTask, MethodResult>(tasks, {
      worker,
      shared,
      workers,
      what: "a run of the comparison",
      signal,
    });
}

function openKept(
  file: TableFile,
  results: string,
  shared: { readonly splits: readonly NamedSplit[]; readonly request: TrainRequest },
  options: CompareCommandOptions,
) {
  const base = hashShared(file, shared.request, options, "--results");
  return {
    file: openRunResults(results, COMPARE_LINES),
    keyOf: (task: CompareTask) => {
      const { label: _, ...method } = task.method;
      const { seed, split } = findSplit(shared, task);
      return hashKey([base, method, seed, split, task.replicates]);
    },
  };
}

async function readSplits(
  table: Table,
  { split, seeds, ...columns }: CompareCommandOptions,
): Promise<readonly NamedSplit[]> {
  const draw = async (name: string, seed: number, one: string | undefined): Promise<NamedSplit> => ({
    name,
    seed,
    split: await readSplit(table, { ...columns, seed, ...present({ split: one }) }),
  });
  if (split.length === 0 || (split.length === 1 && readShares(split[0]) !== null))
    return Promise.all(seeds.map((seed) => draw(`seed ${seed}`, seed, split[0])));
  if (seeds.length > 1) {
    throw new InputError("both --seeds and a split from a file were given", {
      code: "option.conflict",
      hint: "--seeds draws its own splits; --split FILE can be given several times",
    });
  }
  const read: NamedSplit[] = [];
  for (const file of split) read.push(await draw(file, seeds[0], file));
  return read;
}
