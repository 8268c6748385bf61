/**
 * `graduate compare`: trains several methods on the same split, or the same splits, and prints one table with each method's difference
 * to the first. A method may carry its distance and a repair on the validation rows: graduate:atRisk, cox+boost.
 */
import { availableParallelism } from "node:os";
import { type Command, InvalidArgumentError, Option } from "commander";
import { InputError } from "../../core/errors.ts";
import { type People, pickPeople, readPeople } from "../../data/outcomes/people.ts";
import { type Split, splitRows } from "../../data/outcomes/split.ts";
import type { Table } from "../../data/table.ts";
import type { ConstraintKind } from "../../objectives/constraints.ts";
import { prepareScores } from "../../stats/scores/prepared-scores.ts";
import { countPeople, countSets } from "../../training/choose-split.ts";
import type { Method } from "../../training/model.ts";
import type { PresetName } from "../../training/options.ts";
import { compareResampled, compareSplits, judgedGroups, type MethodDifference } from "../../verbs/compare.ts";
import {
  addSubjectOptions,
  readSplit,
  readTrainRequest,
  type TrainRequestOptions,
} from "../options/subject-options.ts";
import { parseCount, parseThreads, readTableFile, type TableOptions } from "../options/table-options.ts";
import { announceRun, printComparison } from "../print/comparison.ts";
import { createProgress, printJson, warn } from "../print/output.ts";
import { type ComparedMethod, type MethodRun, runMethod } from "../rows/compare-run.ts";
import { bootstrapInParallel } from "../workers/replicate-pool.ts";

interface CompareOptions extends TrainRequestOptions, TableOptions {
  readonly methods: readonly ComparedMethod[];
  readonly preset: PresetName;
  readonly seeds: readonly number[];
  readonly split: readonly string[];
  readonly replicates: number;
  readonly threads: number;
  readonly deterministic?: boolean;
  readonly json?: boolean;
}

const METHODS: readonly string[] = ["graduate", "drsa", "xcal", "rps", "nll", "cox"] satisfies Method[];
const DISTANCES: readonly string[] = ["l2", "variance", "atRisk"] satisfies ConstraintKind[];
const DEFAULT_METHODS = "cox,nll,graduate";
/** Fewer resamples give no p-value that could matter. */
const LEAST_REPLICATES = 100;

export function addCompare(program: Command): void {
  const command = program
    .command("compare")
    .description("train several methods on the same rows and print their differences")
    .argument("<table>", "CSV, gzip or Parquet file");
  addSubjectOptions(command)
    .addOption(
      new Option(
        "--methods <list>",
        `of ${METHODS.join(", ")}; graduate:${DISTANCES.join("|")} for its distance, +boost to repair its curves`,
      )
        .argParser(parseMethods)
        .default(parseMethods(DEFAULT_METHODS), DEFAULT_METHODS),
    )
    .addOption(new Option("--distance <kind>", "the constraint of graduate").choices([...DISTANCES]))
    .addOption(new Option("--preset <name>", "defaults").choices(["default", "paper"]).default("default"))
    .addOption(new Option("--network <kind>", "the network").choices(["anchored", "drsa", "mlp", "linear"]))
    .addOption(
      new Option("--seeds <list>", "one split and one start of the weights for each")
        .argParser(parseSeeds)
        .default([1], "1"),
    )
    .option(
      "--split <file|shares>",
      "a table of row (from 1) and set (train, valid, test; repeatable), or shares such as 0.6,0.2,0.2",
      (text: string, before: readonly string[]) => [...before, text],
      [],
    )
    .option("--splines", "give networks splines of every number too, so that effects may bend")
    .option("--steps <n>", "parameter updates", parseCount)
    .option("--replicates <n>", "resamples of the test rows, with one split", parseReplicates, 500)
    .option("--threads <n>", "threads", parseThreads, availableParallelism())
    .option("--deterministic", "the same bytes on every machine")
    .option("--json", "print one JSON document")
    .action(async (path: string, options: CompareOptions) => runCompare(path, options));
}

function parseMethods(text: string): readonly ComparedMethod[] {
  const names = text.split(",").map((name) => name.trim());
  const methods = names.map((label): ComparedMethod => {
    const [, method, distance, boost] = /^([a-z]+)(?::([a-zA-Z0-9]+))?(\+boost)?$/.exec(label) ?? [];
    const isKnown = METHODS.includes(method) && (distance === undefined || DISTANCES.includes(distance));
    if (!isKnown || (distance !== undefined && method !== "graduate"))
      throw new InvalidArgumentError(
        `no such method: "${label}" (have ${METHODS.join(", ")}, graduate:${DISTANCES.join("|")}, each with +boost).`,
      );
    return {
      label,
      method: method as Method,
      distance: (distance as ConstraintKind | undefined) ?? null,
      boosted: boost !== undefined,
    };
  });
  if (new Set(names).size < names.length) throw new InvalidArgumentError("a method is named twice.");
  if (methods.length < 2)
    throw new InvalidArgumentError("expected at least two methods, such as cox,graduate.");
  return methods;
}

function parseSeeds(text: string): readonly number[] {
  const seeds = text.split(",").map((part) => (/^\s*\d+\s*$/.test(part) ? Number(part) : Number.NaN));
  if (seeds.some((seed) => !Number.isSafeInteger(seed)))
    throw new InvalidArgumentError("expected whole numbers, such as 1,2,3.");
  return [...new Set(seeds)];
}

function parseReplicates(text: string): number {
  const value = parseCount(text);
  if (value < LEAST_REPLICATES)
    throw new InvalidArgumentError(`expected a whole number, ${LEAST_REPLICATES} or more.`);
  return value;
}

interface NamedSplit {
  readonly name: string;
  readonly seed: number;
  readonly split: Split;
}

async function runCompare(path: string, options: CompareOptions): Promise<void> {
  const table = await readTableFile(path, options);
  const splits = await readSplits(table, options);
  for (const { name, split } of splits) {
    if (split.test.length > 0) continue;
    throw new InputError("no test rows to compare on", {
      code: "split.test",
      where: name,
      hint: "give the split some, e.g. --split 0.6,0.2,0.2",
    });
  }
  const people = options.id === undefined ? null : readPeople(table, options.id);
  const common = await readTrainRequest(options);
  const warnings = new Set<string>();
  const runs: MethodRun[][] = [];
  for (const { name, seed, split } of splits) {
    const own: MethodRun[] = [];
    for (const method of options.methods) {
      const progress = createProgress(`${name}, ${method.label}`);
      const run = await runMethod(table, method, { ...common, seed, split }, options, progress.update);
      progress.finish();
      own.push(run);
      for (const warning of run.warnings) {
        if (!warnings.has(warning) && !options.json) warn(warning);
        warnings.add(warning);
      }
      if (!options.json) announceRun(name, run);
    }
    runs.push(own);
  }
  const differences =
    splits.length === 1
      ? await resample(runs[0], splits[0].seed, options)
      : testOverSplits(runs, splits, people);
  const document = {
    splits: splits.map(({ name, seed, split }) => ({
      name,
      seed,
      rows: countSets(split),
      ...(people === null ? {} : { people: countPeople(people, split) }),
    })),
    test: splits.length === 1 ? ("resampled test rows" as const) : ("corrected resampled t" as const),
    replicates: splits.length === 1 ? options.replicates : null,
    runs: runs.flatMap((own, j) =>
      own.map(({ method, scores, met, constrained, seconds, failure, audit }) => ({
        split: splits[j].name,
        method: method.label,
        ...scores,
        met,
        constrained,
        seconds,
        failure,
        audit,
      })),
    ),
    differences,
    warnings: [...warnings],
  };
  if (options.json) printJson(document);
  else printComparison(document, runs);
}

/** One split: the same resamples of its test rows for every method. */
async function resample(
  runs: readonly MethodRun[],
  seed: number,
  { replicates, threads }: CompareOptions,
): Promise<MethodDifference[]> {
  const methods = [];
  for (const { method, scores, scored, audit } of runs) {
    if (scored === null || audit === null || scores === null) {
      methods.push({ method: method.label, scores, bootstrap: null });
      continue;
    }
    const { curves, binned, groups, people } = scored;
    const judged = new Set(judgedGroups(audit, curves.T));
    const everyone = Int32Array.from({ length: curves.N }, (_, row) => row);
    const prepared = [{ name: "all", rows: everyone }, ...groups.filter(({ name }) => judged.has(name))].map(
      ({ name, rows }) => prepareScores(name, curves, binned, rows),
    );
    const progress = createProgress(`resampling, ${method.label}`);
    const onProgress = ({ done, total }: { readonly done: number; readonly total: number }) =>
      progress.update(done, total);
    const by = people === undefined ? {} : { people };
    const bootstrap = await bootstrapInParallel(prepared, { replicates, seed, threads, onProgress, ...by });
    progress.finish();
    methods.push({ method: method.label, scores, bootstrap });
  }
  return compareResampled(methods);
}

function testOverSplits(
  runs: readonly (readonly MethodRun[])[],
  splits: readonly NamedSplit[],
  people: People | null,
): MethodDifference[] {
  // Where people have several rows, they are what is drawn.
  const count = (rows: Int32Array) => (people === null ? rows.length : pickPeople(people, rows).count);
  const mean = (set: (split: Split) => Int32Array) =>
    splits.reduce((sum, { split }) => sum + count(set(split)), 0) / splits.length;
  const methods = runs[0].map(({ method }, m) => ({
    method: method.label,
    scores: runs.map((own) => own[m].scores),
  }));
  return compareSplits(methods, {
    testSize: mean(({ test }) => test),
    trainSize: mean(({ train }) => train),
  });
}

async function readSplits(
  table: Table,
  { split, seeds, id }: CompareOptions,
): Promise<readonly NamedSplit[]> {
  const by = id === undefined ? {} : { id };
  const shares = split.map((text) => text.split(",").map(Number));
  const isShares = (values: readonly number[]) =>
    values.length === 3 && values.every((share) => share >= 0 && share <= 1);
  if (split.length === 0 || (split.length === 1 && isShares(shares[0]))) {
    const [train, valid, test] = shares[0] ?? [];
    const fractions = split.length === 0 ? {} : { fractions: [train, valid, test] as const };
    const people = id === undefined ? {} : { people: readPeople(table, id) };
    return seeds.map((seed) => ({
      name: `seed ${seed}`,
      seed,
      split: splitRows(table.rows, { seed, ...fractions, ...people }),
    }));
  }
  if (seeds.length > 1) {
    throw new InputError("several seeds and a split from a file: one of them", {
      code: "option.conflict",
      hint: "--seeds draws its own splits; --split FILE can be given several times",
    });
  }
  const read: NamedSplit[] = [];
  for (const file of split) {
    const [seed] = seeds;
    read.push({ name: file, seed, split: await readSplit(table, { seed, split: file, ...by }) });
  }
  return read;
}
