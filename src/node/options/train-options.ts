/**
 * Options of commands that train, and the requests made from them: which columns and groups to use and how rows are
 * split, which `train`, `compare` and `tune` share; then those of `train` alone.
 */
import { existsSync } from "node:fs";
import { availableParallelism } from "node:os";
import { type Command, InvalidArgumentError, Option } from "commander";
import { InputError } from "../../core/errors.ts";
import { namesOf } from "../../core/names.ts";
import { present } from "../../core/present.ts";
import { parseNamedGroup } from "../../data/groups/groups.ts";
import { readPeople } from "../../data/outcomes/people.ts";
import type { OutcomeColumns } from "../../data/outcomes/read-outcomes.ts";
import {
  refuseTornPeople,
  type Split,
  type SplitColumns,
  splitFromTable,
  splitTable,
} from "../../data/outcomes/split.ts";
import type { Table } from "../../data/table.ts";
import { parseTargets } from "../../data/targets/parse-targets.ts";
import type { Targets } from "../../data/targets/targets.ts";
import {
  BACKENDS,
  type BackendName,
  DISTANCES,
  type DistanceName,
  HOLDS,
  type Hold,
  METHODS,
  type Method,
  NETWORKS,
  PRESETS,
  type PresetName,
} from "../../training/choices.ts";
import type { ObjectiveSpec } from "../../training/options.ts";
import type { TrainRequest } from "../../verbs/train.ts";
import { readTextFile } from "../io/input-file.ts";
import {
  addReportOptions,
  addRequireOptions,
  type ReportOptions,
  type RequireOptions,
} from "../print/write-report.ts";
import { parseShard, type Shard } from "../shards/shard.ts";
import {
  addGroupOptions,
  addTableOptions,
  addWholeOutcomeOptions,
  checkHistoryOptions,
  type GroupOptions,
  idOption,
  namesOption,
  numberOption,
  parseAtLeastOne,
  parseCount,
  parsePositive,
  parseThreads,
  readGroupsFile,
  readTableFile,
  type TableOptions,
} from "./table-options.ts";

/** What a run is about, whatever is fitted: request fields taken from options unchanged, and groups. */
export interface SubjectOptions
  extends OutcomeColumns,
    GroupOptions,
    Pick<
      TrainRequest,
      "features" | "drop" | "protected" | "allowLeak" | "autoGroups" | "id" | "rowsAreIndependent"
    >,
    Pick<TrainRequest, "bins" | "horizon"> {}

export interface TrainRequestOptions
  extends SubjectOptions,
    Pick<TrainRequest, "preset" | "splines" | "network" | "hidden"> {
  readonly distance?: DistanceName;
  readonly steps?: number;
}

/** Outcome, how columns are read, groups, features and time grid. */
export function addSubjectOptions(command: Command): Command {
  return addGroupOptions(addTableOptions(addWholeOutcomeOptions(command)))
    .option(
      "--features <columns>",
      "the columns to learn from (default: all but ids and constants)",
      namesOption,
    )
    .option("--drop <columns>", "columns not to learn from", namesOption)
    .option(
      "--protected <columns>",
      "columns that the model may not see; groups over them are held, not told",
      namesOption,
    )
    .option("--allow-leak <columns>", "learn from these although they give the outcome away", namesOption)
    .option("--auto-groups <n>", "add n groups: values of categories, bands of numbers", parseCount)
    .option("--id <column>", "whose row it is: all rows of a person stay together", idOption)
    .option(
      "--rows-are-independent",
      "take rows as people although a column looks like an id with several rows",
    )
    .option("--bins <n>", "time bins (default: 102, more under late entry)", parseCount)
    .option(
      "--horizon <time>",
      "the end of the last bin (default: the largest training time)",
      parsePositive,
    );
}

/** Turns the options into the request, which holds the contents of the groups file. */
export async function readSubject(options: SubjectOptions): Promise<TrainRequest> {
  const { time, event, groups } = options;
  checkHistoryOptions(options);
  return {
    time,
    event,
    groups: options.group.map(parseNamedGroup),
    // The order of the fields is part of a checkpoint's fingerprint (io/provenance.ts).
    ...present({
      eventIs: options.eventIs,
      origin: options.origin,
      features: options.features,
      drop: options.drop,
      allowLeak: options.allowLeak,
      groupsFile: groups === undefined ? undefined : await readGroupsFile(groups),
      autoGroups: options.autoGroups,
      id: options.id,
      rowsAreIndependent: options.rowsAreIndependent,
      bins: options.bins,
      horizon: options.horizon,
      protected: options.protected,
      entry: options.entry,
      start: options.start,
      weights: options.weights,
      causes: options.causes,
      censored: options.censored,
    }),
  };
}

/** The subject, and the settings common to every fit. */
export async function readTrainRequest(options: TrainRequestOptions): Promise<TrainRequest> {
  const { distance, steps, preset, splines, network, hidden } = options;
  return {
    ...(await readSubject(options)),
    constraint: present({ distance }),
    options: present({ steps }),
    ...present({ preset, splines, network, hidden }),
  };
}

/** Three shares such as 0.6,0.2,0.2; null if the text is something else. */
export function readShares(text: string): readonly [number, number, number] | null {
  const [train, validation, test, ...rest] = text.split(",").map(Number);
  const isShare = (share: number | undefined) => share !== undefined && share >= 0 && share <= 1;
  return [train, validation, test].every(isShare) && rest.length === 0 ? [train, validation, test] : null;
}

/** `split` is a row,set table or three shares; without it, the usual shares. With `id`, splits by person. */
export async function readSplit(
  table: Table,
  options: SplitColumns & { readonly seed: number; readonly split?: string },
): Promise<Split> {
  const { seed, split, id } = options;
  const people = id === undefined ? null : readPeople(table, id);
  const drawn = { seed, ...present({ people: people ?? undefined }) };
  if (split === undefined) return splitTable(table, options, drawn);
  const fractions = readShares(split);
  if (fractions !== null) return splitTable(table, options, { ...drawn, fractions });
  if (split !== "-" && !existsSync(split)) {
    throw new InputError(`no such split: "${split}"`, {
      code: "split.missing",
      hint: "--split takes a table of row,set, or three shares such as 0.6,0.2,0.2",
    });
  }
  const read = splitFromTable(await readTableFile(split, {}), table.rows);
  if (people !== null && id !== undefined) refuseTornPeople(read, people, { table, id });
  return read;
}

export interface TrainOptions extends TrainRequestOptions, TableOptions, ReportOptions, RequireOptions {
  readonly method: Method;
  readonly preset: PresetName;
  readonly riskStrata?: number;
  /** The former name of `riskStrata`. */
  readonly strata?: number;
  readonly slack?: number | "auto";
  readonly hold?: Hold;
  readonly targets?: string;
  readonly targetSlack?: number | "auto";
  readonly allowClash?: readonly string[];
  readonly lambda?: number;
  readonly groupInputs: boolean;
  readonly split?: string;
  readonly batch?: number;
  readonly primalSteps?: number;
  readonly ensemble?: number;
  readonly fast?: true;
  readonly shard?: Shard;
  readonly backend: BackendName;
  readonly deterministic?: boolean;
  readonly out?: string;
  readonly checkpoint?: string;
  readonly resume?: string;
  readonly json?: boolean;
}

export function addTrainOptions(command: Command): Command {
  return addRequireOptions(addReportOptions(addSubjectOptions(command)))
    .addOption(new Option("--method <name>", "what is fitted").choices(namesOf(METHODS)).default("graduate"))
    .addOption(new Option("--distance <kind>", "the constraint").choices(namesOf(DISTANCES)))
    .option("--risk-strata <n>", "constrain each group in n strata of predicted risk", parseCount)
    .addOption(new Option("--strata <n>", "--risk-strata by its old name").argParser(parseCount).hideHelp())
    .option("--slack <c>", "the distance allowed to a group: a number, or auto", parseSlack)
    .addOption(
      new Option(
        "--hold <how>",
        "how hard groups over protected columns are held (default: balanced)",
      ).choices(namesOf(HOLDS)),
    )
    .option("--targets <file>", "survival known from outside, to hold groups to: group,time,survival,se")
    .option(
      "--target-slack <c>",
      "mean squared gap to a target, in standard errors (default: 1); auto weighs it beside the rows",
      parseSlack,
    )
    .option("--allow-clash <groups>", "hold these targets although the rows contradict them", namesOption)
    .option(
      "--lambda <weight>",
      "X-Cal's penalty (default: the best of 1, 10, 100 on the validation rows)",
      parsePositive,
    )
    .option("--no-group-inputs", "keep the network from knowing who is in which group")
    .addOption(new Option("--preset <name>", "defaults").choices(namesOf(PRESETS)).default("default"))
    .addOption(new Option("--network <kind>", "the network").choices(namesOf(NETWORKS)))
    .option("--splines", "give the network splines of every number too (default: where events are enough)")
    .option("--no-splines", "give it none")
    .option("--hidden <n>", "hidden units (default: 12, paper 50)", parseCount)
    .option("--seed <n>", "seed of split, weights and batches", parseCount, 1)
    .option(
      "--split <file|shares>",
      "a table of row (from 1) and set (train, validation, test), or shares such as 0.6,0.2,0.2",
    )
    .option("--steps <n>", "parameter updates", parseCount)
    .option("--batch <n>", "rows a step; 0 is all of them", parseCount)
    .option(
      "--primal-steps <n>",
      "parameter updates to one update of the multipliers (default: 1)",
      parseAtLeastOne,
    )
    .option(
      "--ensemble <n>",
      "the mean of n runs, each with another nth of training and validation rows for validation " +
        "(default: 5 for small tables, 1 for large ones)",
      parseCount,
    )
    .addOption(new Option("--fast", "one run").conflicts("ensemble"))
    .addOption(
      new Option(
        "--shard <i/n>",
        "train only the i-th of n parts of an ensemble's runs, beside --out; auto or auto/n: as a cluster's array " +
          "counts (the same command without it then makes the model)",
      ).argParser((text) => parseShard(text)),
    )
    .option("--threads <n>", "threads", parseThreads, availableParallelism())
    .addOption(new Option("--backend <name>", "what computes").choices(namesOf(BACKENDS)).default("wasm"))
    .option("--deterministic", "the same bytes on every machine")
    .option("--out <file>", "write the model here")
    .option("--checkpoint <file>", "keep a checkpoint here as training goes on")
    .option("--resume <file>", "go on from a checkpoint that an interrupted run left")
    .option("--json", "print one JSON document");
}

/** "1,2,3", each once. */
export function parseSeeds(text: string): readonly number[] {
  const seeds = text.split(",").map((part) => (/^\s*\d+\s*$/.test(part) ? Number(part) : Number.NaN));
  if (seeds.some((seed) => !Number.isSafeInteger(seed)))
    throw new InvalidArgumentError("expected whole numbers, such as 1,2,3.");
  return [...new Set(seeds)];
}

function parseSlack(text: string): number | "auto" {
  if (text === "auto") return "auto";
  return numberOption((value) => value > 0 && Number.isFinite(value), "a number above 0, or auto")(text);
}

export async function toRequest(options: TrainOptions, split: Split): Promise<TrainRequest> {
  const shared = await readTrainRequest(options);
  const objective = options.lambda === undefined ? undefined : penalise(options, options.lambda);
  return {
    ...shared,
    method: options.method,
    seed: options.seed,
    split,
    constraint: {
      ...shared.constraint,
      ...present({ strata: options.riskStrata ?? options.strata, slack: options.slack }),
    },
    options: {
      ...shared.options,
      ...present({
        batch: options.batch === 0 ? null : options.batch,
        primalSteps: options.primalSteps,
        objective,
        hold: options.hold,
      }),
    },
    ...(options.groupInputs ? {} : { inputGroups: "none" }),
    ...present({
      targets: options.targets === undefined ? undefined : await readTargets(options.targets),
      targetSlack: options.targetSlack,
      allowClash: options.allowClash,
    }),
  };
}

async function readTargets(path: string): Promise<Targets> {
  return parseTargets(await readTextFile(path, "the targets file"), { name: path });
}

export function refuseConflicts({ splines, method, backend, deterministic }: TrainOptions): void {
  if (deterministic === true && backend === "webgpu") {
    throw new InputError(
      "--deterministic is for the processor: graphics devices differ in their last digits",
      {
        code: "option.conflict",
        hint: "leave one of --deterministic and --backend webgpu out",
      },
    );
  }
  if (splines !== true || method !== "cox") return;
  throw new InputError("--splines is for networks: a Cox model is fitted without them", {
    code: "option.conflict",
    hint: "leave --splines out, or ask for another --method",
  });
}

function penalise({ method, preset }: TrainOptions, lambda: number): ObjectiveSpec {
  if (method === "xcal") return { kind: "xcal", tail: preset === "paper", lambda };
  throw new InputError("--lambda is the weight of X-Cal's penalty", {
    code: "option.conflict",
    hint: "leave it out, or ask for --method xcal",
  });
}
