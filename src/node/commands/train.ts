/**
 * `graduate train`: fits a model to a table under one constraint a group, says per group whether it was met, scores the test rows, and
 * ends with where everything is and how to go on. The model is on disk before intervals, report and requirements are looked at.
 */
import { availableParallelism } from "node:os";
import { type Command, InvalidArgumentError, Option } from "commander";
import { createReferenceBackend } from "../../compute/reference.ts";
import { InputError } from "../../core/errors.ts";
import { present } from "../../core/present.ts";
import type { Split } from "../../data/outcomes/split.ts";
import type { Table } from "../../data/table.ts";
import { countMembers, type Method, type Model } from "../../training/model.ts";
import type { ObjectiveSpec, PresetName } from "../../training/options.ts";
import type { AuditTable } from "../../verbs/audit.ts";
import { trainEnsemble } from "../../verbs/ensemble.ts";
import type { RequirementResult } from "../../verbs/requirements.ts";
import { type TrainRequest, train } from "../../verbs/train.ts";
import { findUnclaimed, markFile } from "../io/claimed-path.ts";
import { readCheckpoint, writeModel } from "../io/model-file.ts";
import { describeOrigin, fingerprintRun } from "../io/provenance.ts";
import { refuseUnwritable } from "../io/writable.ts";
import { refuseWrongSuffix } from "../options/output-suffix.ts";
import {
  addRequireOptions,
  checkRequirements,
  printRequirements,
  type RequireOptions,
  readRequirements,
} from "../options/require-options.ts";
import {
  addSubjectOptions,
  readSplit,
  readTrainRequest,
  type TrainRequestOptions,
} from "../options/subject-options.ts";
import {
  parseCount,
  parsePositive,
  parseThreads,
  readTableFile,
  type TableOptions,
} from "../options/table-options.ts";
import { printAudit } from "../print/audit.ts";
import { followTraining, leaveCheckpoint } from "../print/follow-training.ts";
import { clearLive, print, printJson, renamedNote, warn } from "../print/output.ts";
import { describeOutcome, findingsFor, timeLabelOf } from "../print/report-facts.ts";
import { printNextSteps, printTraining } from "../print/training.ts";
import {
  addReportOptions,
  auditSettings,
  type ReportOptions,
  toleranceOf,
  writeReport,
} from "../print/write-report.ts";
import { addIntervals, predictRows, type ScoredRows, scorePredicted } from "../rows/score-rows.ts";
import { openWasmBackend } from "../workers/wasm-backend.ts";

interface TrainOptions extends TrainRequestOptions, TableOptions, ReportOptions, RequireOptions {
  readonly method: Method;
  readonly preset: PresetName;
  readonly riskStrata?: number;
  /** The name `riskStrata` had. */
  readonly strata?: number;
  readonly slack?: number | "auto";
  readonly lambda?: number;
  readonly groupInputs: boolean;
  readonly split?: string;
  readonly batch?: number;
  readonly primalSteps?: number;
  readonly ensemble?: number;
  readonly backend: "wasm" | "reference";
  readonly deterministic?: boolean;
  readonly out?: string;
  readonly checkpoint?: string;
  readonly resume?: string;
  readonly json?: boolean;
}

const METHODS = ["graduate", "drsa", "xcal", "rps", "nll", "cox"];

export function addTrain(program: Command): void {
  const command = program
    .command("train")
    .description("fit a model whose curves stay close to Kaplan-Meier in every group")
    .argument("<table>", "CSV, gzip or Parquet file");
  addRequireOptions(addReportOptions(addSubjectOptions(command)))
    .addOption(new Option("--method <name>", "what is fitted").choices(METHODS).default("graduate"))
    .addOption(new Option("--distance <kind>", "the constraint").choices(["l2", "variance", "atRisk"]))
    .option("--risk-strata <n>", "constrain each group in n strata of predicted risk", parseCount)
    .addOption(new Option("--strata <n>", "--risk-strata by its old name").argParser(parseCount).hideHelp())
    .option("--slack <c>", "the distance allowed to a group: a number, or auto", parseSlack)
    .option(
      "--lambda <weight>",
      "X-Cal's penalty (default: the best of 1, 10, 100 on the validation rows)",
      parsePositive,
    )
    .option("--no-group-inputs", "keep the network from knowing who is in which group")
    .addOption(new Option("--preset <name>", "defaults").choices(["default", "paper"]).default("default"))
    .addOption(new Option("--network <kind>", "the network").choices(["anchored", "drsa", "mlp", "linear"]))
    .option("--splines", "give the network splines of every number too, so that effects may bend")
    .option("--hidden <n>", "hidden units (default: 12, paper 50)", parseCount)
    .option("--seed <n>", "seed of split, weights and batches", parseCount, 1)
    .option(
      "--split <file|shares>",
      "a table of row (from 1) and set (train, valid, test), or shares such as 0.6,0.2,0.2",
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
    .addOption(new Option("--backend <name>", "what computes").choices(["wasm", "reference"]).default("wasm"))
    .option("--deterministic", "the same bytes on every machine")
    .option("--out <file>", "write the model here")
    .option("--checkpoint <file>", "keep a checkpoint here as training goes on")
    .option("--resume <file>", "go on from a checkpoint that an interrupted run left")
    .option("--json", "print one JSON document")
    .action(async (path: string, options: TrainOptions) => runTrain(path, options));
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

async function runTrain(path: string, asked: TrainOptions): Promise<void> {
  let options = asked;
  refuseConflicts(options);
  if (options.strata !== undefined) warn(renamedNote("--strata", "--risk-strata"));
  const requirements = readRequirements(options);
  await refuseUnwritable(
    [options.out, options.checkpoint, options.report],
    [path, options.groups, options.split],
  );
  refuseWrongSuffix({ model: options.out, checkpoint: options.checkpoint, report: options.report });
  const mark = await markFile(options.out);
  const table = await readTableFile(path, options);
  const split = await readSplit(table, options);
  if (split.test.length === 0 && (requirements.length > 0 || options.report !== undefined)) {
    throw new InputError("no test rows to report on or to require anything of", {
      code: "split.test",
      hint: "leave a share of the rows for the test: --split 0.6,0.2,0.2",
    });
  }
  const request = await toRequest(options, split);
  const resume = options.resume === undefined ? null : await readCheckpoint(options.resume);
  const backend =
    options.backend === "reference"
      ? createReferenceBackend()
      : await openWasmBackend({
          threads: options.threads,
          deterministic: options.deterministic === true,
        });
  const started = performance.now();
  try {
    const provenance = await describeOrigin(path, table, options.method === "cox" ? null : backend);
    const run = fingerprintRun(request, provenance, options.ensemble);
    if (resume !== null && resume.run !== run) throw refuseOtherRun(options.resume ?? "");
    const told = { ...request, provenance };
    const { model, checkpoint } = await followTraining(
      options.ensemble === undefined
        ? train(table, told, backend, resume ? { resume: resume.checkpoint, history: resume.history } : {})
        : trainEnsemble(
            table,
            { ...told, members: options.ensemble },
            backend,
            resume ? { resume: { checkpoint: resume.checkpoint, members: resume.members ?? [] } } : {},
          ),
      options,
      { run, history: resume?.history ?? [] },
      requirements,
    );
    if (model === null) {
      await leaveCheckpoint(checkpoint, options);
      return;
    }
    const seconds = (performance.now() - started) / 1000;
    const settings = auditSettings(options);
    let test: ScoredRows | null = null;
    if (split.test.length > 0) {
      const predicted = await predictRows(model, table, split.test, backend);
      test = await scorePredicted(model, table, predicted, [], { ...settings, replicates: 0 });
    }
    if (options.out !== undefined) {
      const out = await findUnclaimed(options.out, mark);
      if (out !== options.out) {
        warn(`${options.out} was written by another program meanwhile: this model is in ${out}`);
        options = { ...options, out };
      }
      await writeModel(out, { ...model, ...(test === null ? {} : { metrics: test.audit }) });
    }
    if (test !== null && settings.replicates > 0) test = await addIntervals(test, settings);
    if (test !== null && options.report !== undefined) {
      await writeReport(options.report, toReport(model, path, table, test, options), options);
    }
    const results = test === null ? [] : checkRequirements(requirements, test.audit, options);
    if (options.json) {
      printJson(toDocument(model, seconds, test?.audit ?? null, results, options));
      return;
    }
    clearLive();
    printTraining(model, seconds);
    if (test !== null) {
      print("\non the test rows:");
      printAudit(test.audit, model.grid.T, toleranceOf(options));
    }
    printRequirements(results);
    printNextSteps(model, path, options);
  } finally {
    await backend.close();
  }
}

async function toRequest(options: TrainOptions, split: Split): Promise<TrainRequest> {
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

function refuseConflicts({ splines, method }: TrainOptions): void {
  if (splines !== true || method !== "cox") return;
  throw new InputError("splines are for networks: Cox is fitted as others fit it", {
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

function refuseOtherRun(path: string): InputError {
  return new InputError(`the checkpoint is of another run: "${path}"`, {
    code: "checkpoint.run",
    where: path,
    hint: "--resume takes the table and the options the run was begun with; only --steps (without --ensemble) and --threads may differ",
  });
}

function toReport(model: Model, path: string, table: Table, test: ScoredRows, options: TrainOptions) {
  const { rows, ...scored } = test;
  return {
    title: `${table.name}: ${model.method} model`,
    ...scored,
    timeLabel: timeLabelOf(options, model.columns.origin),
    outcome: describeOutcome(model, table),
    findings: findingsFor(model, table, model.columns.id ?? null),
    model,
    rowNumbers: rows.map((row) => row + 1),
    cohort: {
      table: table.name,
      rows: table.rows,
      which: "test rows",
      relation: "heldOut" as const,
      split: model.training.rows,
    },
    files: [
      { role: "table", path },
      ...(options.groups === undefined ? [] : [{ role: "groups", path: options.groups }]),
      ...(options.out === undefined ? [] : [{ role: "model", path: options.out }]),
    ],
    source: table,
  };
}

function toDocument(
  model: Model,
  seconds: number,
  test: AuditTable | null,
  requirements: readonly RequirementResult[],
  { report, out, tolerance }: TrainOptions,
) {
  const { training, method } = model;
  const members = countMembers(model);
  const { seed, steps, bestStep, parameters, verdict, multipliers, warnings } = training;
  return {
    method,
    seed,
    steps,
    bestStep,
    seconds,
    parameters,
    verdict,
    multipliers,
    warnings,
    test,
    tolerance: toleranceOf({ tolerance }),
    ...(members > 1 ? { ensemble: members } : {}),
    ...present({ people: training.people }),
    ...(out === undefined ? {} : { model: out }),
    ...(requirements.length === 0 ? {} : { requirements }),
    ...(report === undefined ? {} : { report }),
  };
}
