/** The options of `graduate train`, and the request made from them. */

import { availableParallelism } from "node:os";
import { type Command, InvalidArgumentError, Option } from "commander";
import { InputError } from "../../core/errors.ts";
import { namesOf } from "../../core/names.ts";
import { present } from "../../core/present.ts";
import type { Split } from "../../data/outcomes/split.ts";
import {
  BACKENDS,
  type BackendName,
  DISTANCES,
  METHODS,
  type Method,
  NETWORKS,
  PRESETS,
  type PresetName,
} from "../../training/choices.ts";
import type { ObjectiveSpec } from "../../training/options.ts";
import type { TrainRequest } from "../../verbs/train.ts";
import { addReportOptions, type ReportOptions } from "../print/write-report.ts";
import { addRequireOptions, type RequireOptions } from "./require-options.ts";
import { addSubjectOptions, readTrainRequest, type TrainRequestOptions } from "./subject-options.ts";
import { parseCount, parsePositive, parseThreads, type TableOptions } from "./table-options.ts";

export interface TrainOptions extends TrainRequestOptions, TableOptions, ReportOptions, RequireOptions {
  readonly method: Method;
  readonly preset: PresetName;
  readonly riskStrata?: number;
  /** The former name of `riskStrata`. */
  readonly strata?: number;
  readonly slack?: number | "auto";
  readonly lambda?: number;
  readonly groupInputs: boolean;
  readonly split?: string;
  readonly batch?: number;
  readonly primalSteps?: number;
  readonly ensemble?: number;
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
      parseSteps,
    )
    .option(
      "--ensemble <n>",
      "the mean of n runs, each with another nth of training and validation rows for validation",
      parseCount,
    )
    .option("--threads <n>", "threads", parseThreads, availableParallelism())
    .addOption(new Option("--backend <name>", "what computes").choices(namesOf(BACKENDS)).default("wasm"))
    .option("--deterministic", "the same bytes on every machine")
    .option("--out <file>", "write the model here")
    .option("--checkpoint <file>", "keep a checkpoint here as training goes on")
    .option("--resume <file>", "go on from a checkpoint that an interrupted run left")
    .option("--json", "print one JSON document");
}

function parseSlack(text: string): number | "auto" {
  if (text === "auto") return "auto";
  const value = Number(text);
  if (!(value > 0) || !Number.isFinite(value))
    throw new InvalidArgumentError("expected a number above 0, or auto.");
  return value;
}

function parseSteps(text: string): number {
  const value = parseCount(text);
  if (value === 0) throw new InvalidArgumentError("expected a whole number, 1 or more.");
  return value;
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
      }),
    },
    ...(options.groupInputs ? {} : { inputGroups: "none" }),
  };
}

export function refuseConflicts({ splines, method }: TrainOptions): void {
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
