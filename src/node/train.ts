/** `graduate train`: fits a model to a table under one constraint a group, and says per group whether it was met. */
import { readFile, rename, writeFile } from "node:fs/promises";
import { availableParallelism } from "node:os";
import { type Command, InvalidArgumentError, Option } from "commander";
import type { AuditTable } from "../audit.ts";
import { createReferenceBackend } from "../compute/reference.ts";
import { InputError } from "../core/errors.ts";
import { parseGroupsFile, parseNamedGroup } from "../data/groups.ts";
import { type Split, splitFromTable, splitRows } from "../data/split.ts";
import type { Table } from "../data/table.ts";
import type { ConstraintKind } from "../objectives/constraints.ts";
import { formatNumber, formatTable, wrapText } from "../report/text-table.ts";
import { type TrainEvent, type TrainRequest, train } from "../train.ts";
import { type Method, type Model, modelToBytes } from "../training/model.ts";
import type { PresetName, TrainingOptions } from "../training/options.ts";
import type { Checkpoint } from "../training/trainer.ts";
import { printAudit } from "./audit.ts";
import { EXIT_INTERRUPTED, print, printJson, terminalWidth, warn } from "./output.ts";
import { scoreRows } from "./score-rows.ts";
import {
  addGroupOptions,
  addOutcomeOptions,
  addTableOptions,
  type GroupOptions,
  namesOption,
  type OutcomeOptions,
  parseCount,
  parsePositive,
  readTableFile,
  type TableOptions,
} from "./table-options.ts";
import { createTrainProgress } from "./train-progress.ts";
import { openWasmBackend } from "./wasm-backend.ts";

interface TrainOptions extends OutcomeOptions, TableOptions, GroupOptions {
  readonly features?: readonly string[];
  readonly drop?: readonly string[];
  readonly allowLeak?: readonly string[];
  readonly autoGroups?: number;
  readonly method: Method;
  readonly distance?: ConstraintKind;
  readonly strata?: number;
  readonly slack?: number | "auto";
  readonly preset: PresetName;
  readonly network?: TrainRequest["network"];
  readonly bins?: number;
  readonly horizon?: number;
  readonly hidden?: number;
  readonly seed: number;
  readonly split?: string;
  readonly steps?: number;
  readonly batch?: number;
  readonly threads: number;
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
  addGroupOptions(addTableOptions(addOutcomeOptions(command)))
    .option(
      "--features <columns>",
      "the columns to learn from (default: all but ids and constants)",
      namesOption,
    )
    .option("--drop <columns>", "columns not to learn from", namesOption)
    .option("--allow-leak <columns>", "learn from these although they give the outcome away", namesOption)
    .option("--auto-groups <n>", "let the automatic rule add up to n groups", parseCount)
    .addOption(new Option("--method <name>", "what is fitted").choices(METHODS).default("graduate"))
    .addOption(new Option("--distance <kind>", "the constraint").choices(["l2", "variance", "atRisk"]))
    .option("--strata <n>", "constrain each group in n strata of predicted risk", parseCount)
    .option("--slack <c>", "the distance allowed to a group: a number, or auto", parseSlack)
    .addOption(new Option("--preset <name>", "defaults").choices(["default", "paper"]).default("default"))
    .addOption(new Option("--network <kind>", "the network").choices(["anchored", "drsa", "mlp", "linear"]))
    .option("--bins <n>", "time bins (default: 102)", parseCount)
    .option("--horizon <time>", "the end of the last bin (default: the largest training time)", parsePositive)
    .option("--hidden <n>", "hidden units (default: 50)", parseCount)
    .option("--seed <n>", "seed of split, weights and batches", parseCount, 1)
    .option("--split <file|shares>", "a row,set table, or shares such as 0.6,0.2,0.2")
    .option("--steps <n>", "parameter updates", parseCount)
    .option("--batch <n>", "rows a step; 0 is all of them", parseCount)
    .option("--threads <n>", "threads", parseCount, availableParallelism())
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
  if (!(value > 0)) throw new InvalidArgumentError("expected a number above 0, or auto.");
  return value;
}

async function runTrain(path: string, options: TrainOptions): Promise<void> {
  const table = await readTableFile(path, options);
  const split = await readSplit(table, options);
  const request = await toRequest(options, split);
  const resume = options.resume === undefined ? null : await readCheckpoint(options.resume);
  const backend =
    options.backend === "reference"
      ? createReferenceBackend()
      : await openWasmBackend({
          threads: Math.max(1, options.threads),
          deterministic: options.deterministic === true,
        });
  const started = performance.now();
  try {
    const { model, checkpoint } = await follow(
      train(table, request, backend, resume ? { resume } : {}),
      options,
    );
    if (model === null) {
      await leaveCheckpoint(checkpoint, options);
      return;
    }
    const seconds = (performance.now() - started) / 1000;
    const test = split.test.length > 0 ? await scoreRows(model, table, split.test, backend) : null;
    if (options.out !== undefined) await writeModel(options.out, model);
    if (options.json) printJson(toDocument(model, seconds, test));
    else printModel(model, seconds, test, options.out);
  } finally {
    await backend.close();
  }
}

/** Runs to the end, or to Ctrl-C: then the last checkpoint is what there is. */
async function follow(
  run: AsyncGenerator<TrainEvent, Model>,
  options: TrainOptions,
): Promise<{ readonly model: Model | null; readonly checkpoint: Checkpoint | null }> {
  let interrupted = false;
  let checkpoint: Checkpoint | null = null;
  process.removeAllListeners("SIGINT");
  process.once("SIGINT", () => {
    interrupted = true;
  });
  const show = createTrainProgress();
  for (let next = await run.next(); ; next = await run.next()) {
    if (next.done) return { model: next.value, checkpoint };
    if (next.value.type === "checkpoint") {
      ({ checkpoint } = next.value);
      if (options.checkpoint !== undefined) await writeCheckpoint(options.checkpoint, checkpoint);
    }
    if (!options.json) show(next.value);
    if (interrupted) {
      await run.return(undefined as never);
      return { model: null, checkpoint };
    }
  }
}

async function readSplit(table: Table, options: TrainOptions): Promise<Split> {
  const { seed } = options;
  if (options.split === undefined) return splitRows(table.rows, { seed });
  const shares = options.split.split(",").map(Number);
  if (shares.length === 3 && shares.every((share) => share >= 0 && share <= 1)) {
    return splitRows(table.rows, { seed, fractions: [shares[0], shares[1], shares[2]] });
  }
  return splitFromTable(await readTableFile(options.split, {}), table.rows);
}

async function toRequest(options: TrainOptions, split: Split): Promise<TrainRequest> {
  const given = <T>(key: string, value: T | undefined) => (value === undefined ? {} : { [key]: value });
  const trainer: Partial<TrainingOptions> = {
    ...given("steps", options.steps),
    ...given("batch", options.batch === 0 ? null : options.batch),
  };
  const groupsFile =
    options.groups === undefined
      ? undefined
      : parseGroupsFile(await readText(options.groups), options.groups);
  return {
    time: options.time,
    event: options.event,
    method: options.method,
    preset: options.preset,
    seed: options.seed,
    split,
    groups: options.group.map(parseNamedGroup),
    constraint: {
      ...given("kind", options.distance),
      ...given("strata", options.strata),
      ...given("slack", options.slack),
    },
    options: trainer,
    ...given("eventIs", options.eventIs),
    ...given("features", options.features),
    ...given("drop", options.drop),
    ...given("allowLeak", options.allowLeak),
    ...given("groupsFile", groupsFile),
    ...given("autoGroups", options.autoGroups),
    ...given("network", options.network),
    ...given("bins", options.bins),
    ...given("horizon", options.horizon),
    ...given("hidden", options.hidden),
  };
}

async function readText(path: string): Promise<string> {
  try {
    return await readFile(path, "utf8");
  } catch {
    throw new InputError(`cannot read the file: "${path}"`, { code: "file.unreadable" });
  }
}

async function readCheckpoint(path: string): Promise<Checkpoint> {
  const text = await readText(path);
  try {
    return JSON.parse(text) as Checkpoint;
  } catch {
    throw new InputError(`not a checkpoint: "${path}"`, { code: "checkpoint.format" });
  }
}

/** Written beside and moved, so that a run killed in the middle leaves the one before it whole. */
async function writeCheckpoint(path: string, checkpoint: Checkpoint): Promise<void> {
  try {
    await writeFile(`${path}.part`, `${JSON.stringify(checkpoint)}\n`);
    await rename(`${path}.part`, path);
  } catch {
    throw new InputError(`cannot write the checkpoint: "${path}"`, { code: "file.unwritable" });
  }
}

async function leaveCheckpoint(checkpoint: Checkpoint | null, options: TrainOptions): Promise<void> {
  process.exitCode = EXIT_INTERRUPTED;
  if (checkpoint === null) {
    process.stderr.write("\ngraduate: interrupted before the first checkpoint\n");
    return;
  }
  const path = options.checkpoint ?? `${options.out ?? "graduate"}.checkpoint.json`;
  await writeCheckpoint(path, checkpoint);
  process.stderr.write(
    `\ngraduate: interrupted at step ${checkpoint.step}; the same command with --resume ${path} goes on\n`,
  );
}

async function writeModel(path: string, model: Model): Promise<void> {
  try {
    await writeFile(path, modelToBytes(model));
  } catch {
    throw new InputError(`cannot write the model: "${path}"`, { code: "file.unwritable" });
  }
}

function toDocument(model: Model, seconds: number, test: AuditTable | null) {
  const { training, method } = model;
  const { seed, steps, bestStep, parameters, verdict, multipliers, warnings } = training;
  return { method, seed, steps, bestStep, seconds, parameters, verdict, multipliers, warnings, test };
}

function printModel(model: Model, seconds: number, test: AuditTable | null, out: string | undefined): void {
  const { training, method } = model;
  process.stderr.write(process.stderr.isTTY ? "\r\x1b[K" : "");
  print(`${method}: ${training.steps} steps in ${seconds.toFixed(1)} s, weights of ${keptText(model)}`);
  if (training.verdict.length > 0) {
    print("");
    print(
      formatTable(
        [
          { title: "group", flexible: true },
          { title: "n", align: "right" },
          { title: "events", align: "right" },
          { title: "slack", align: "right" },
          { title: "training", align: "right" },
          { title: "validation", align: "right" },
          { title: "noise", align: "right" },
          { title: "met" },
        ],
        training.verdict.map((one) => [
          one.group,
          String(one.n),
          String(one.events),
          formatNumber(one.slack, 5),
          formatNumber(one.train, 5),
          formatNumber(one.validation, 5),
          formatNumber(one.noise, 5),
          one.met === null ? `– (${one.reason})` : one.met ? "yes" : "no",
        ]),
        terminalWidth(),
      ),
    );
    print(
      wrapText(
        "slack: the distance allowed; noise: what a perfect model shows on a fresh sample of the group's size",
        terminalWidth(),
      ),
    );
  }
  if (training.multipliers?.fixedPenalty) warn("the multipliers hardly moved: this run was a fixed penalty");
  if (test !== null) {
    print("\non the test rows:");
    printAudit(test, model.grid.T);
  }
  if (out !== undefined) print(`\nmodel written to ${out}`);
}

function keptText(model: Model): string {
  const { keep } = model.options ?? { keep: "last" };
  if (keep === "average") return "the average over the end of training";
  return `step ${model.training.bestStep}`;
}
