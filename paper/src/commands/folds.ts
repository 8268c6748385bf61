/**
 * `graduate reproduce folds --data DIR`: Cox, DRSA and graduate on the folds of a published benchmark, in its table.
 * The tables and scores are not part of the package: DIR holds them, and a message says what belongs there. The folds
 * run one after the other, and each is saved as it ends; the same command resumes from there.
 */

import { existsSync } from "node:fs";
import { availableParallelism } from "node:os";
import { join } from "node:path";
import type { Command } from "commander";
import { InputError } from "graduate-survival/core";
import { readTable, type Table } from "graduate-survival/data";
import {
  createProgress,
  type LineForm,
  openLines,
  openWasmBackend,
  parseThreads,
  print,
  replaceFile,
  tableSourceFromPath,
  warn,
} from "graduate-survival/node";
import { z } from "zod";
import { foldsPage, foldsSummaryPage } from "../pages/folds.page.ts";
import { readCheckout } from "../runs/checkout.ts";
import {
  FOLD_SYSTEMS,
  type FoldPlan,
  type FoldSystem,
  type FoldTask,
  parseFoldPlan,
  readFolds,
  runFold,
} from "../runs/folds.ts";
import { compareCox, type FoldLine, type FoldSizes, readPublishedFolds } from "../summaries/fold-ranks.ts";

interface FoldOptions {
  readonly data: string;
  readonly out: string;
  readonly tables?: string;
  readonly summary?: string;
  readonly threads: number;
}

const lineSchema = z.strictObject({
  task: z.string(),
  system: z.enum(FOLD_SYSTEMS),
  iteration: z.int(),
  harrell: z.number().nullable(),
  uno: z.number().nullable(),
  ibs: z.number().nullable(),
  notes: z.array(z.string()).exactOptional(),
  seconds: z.number(),
});

export function addFoldsTarget(command: Command): void {
  command
    .command("folds")
    .description("Cox, DRSA and graduate on the folds of a published benchmark of tuned learners")
    .requiredOption("--data <folder>", "holds the benchmark's tables, test rows and scores")
    .option("--out <file>", "where scores are kept as folds end", "folds.jsonl")
    .option("--tables <file>", "write the page of tables to a file")
    .option("--summary <file>", "write our scores and ranks alone, without the published scores")
    .option("--threads <n>", "threads that train", parseThreads, availableParallelism())
    .action(async (options: FoldOptions) => runFolds(options));
}

async function runFolds(options: FoldOptions): Promise<void> {
  const plan = parseFoldPlan(readCheckout("paper/plans/folds.json"), "paper/plans/folds.json");
  requireFiles(options.data, plan);
  const kept = openLines(options.out, FOLD_LINES);
  const lines = [...kept.lines];
  if (kept.repaired)
    warn(`the last line of ${options.out} was cut off in the middle: that fold is done again`);
  const tasks = await Promise.all(plan.tasks.map((task) => openTask(options.data, task)));
  const total = tasks.reduce((sum, { folds }) => sum + folds.size * plan.systems.length, 0);
  const progress = createProgress("folds");
  try {
    for (const task of tasks) {
      for (const system of plan.systems) {
        for (const [iteration, test] of task.folds) {
          if (lines.some((line) => isOf(line, task.task.name, system, iteration))) continue;
          progress.update(lines.length, total);
          const { seconds, ...line } = await runOne({ ...task, test }, { system, iteration, plan }, options);
          for (const note of line.notes ?? []) warn(`${line.task}, ${system}, fold ${iteration}: ${note}`);
          kept.append({ ...line, seconds });
          lines.push(line);
        }
      }
    }
  } finally {
    progress.finish();
    kept.close();
  }
  const scores = await openTable(join(options.data, plan.scores), []);
  await report(plan, tasks, lines, readPublishedFolds(scores, plan.scores), options);
}

const isOf = (line: FoldLine, task: string, system: FoldSystem, iteration: number) =>
  line.task === task && line.system === system && line.iteration === iteration;

interface OpenTask {
  readonly task: FoldTask;
  readonly table: Table;
  readonly folds: ReadonlyMap<number, Int32Array>;
}

async function openTask(folder: string, task: FoldTask): Promise<OpenTask> {
  const table = await openTable(join(folder, task.table), task.category);
  const rows = await openTable(join(folder, task.testRows), []);
  return { task, table, folds: readFolds(rows, task.testRows) };
}

async function openTable(path: string, category: readonly string[]): Promise<Table> {
  return readTable(await tableSourceFromPath(path), { category });
}

async function runOne(
  fold: OpenTask & { readonly test: Int32Array },
  run: { readonly system: FoldSystem; readonly iteration: number; readonly plan: FoldPlan },
  { threads }: FoldOptions,
): Promise<FoldLine & { readonly seconds: number }> {
  const { system, iteration, plan } = run;
  const started = process.cpuUsage();
  const backend = await openWasmBackend({ threads, deterministic: true });
  const request = { system, seed: iteration, validation: plan.validation };
  const scores = await runFold(fold, request, backend).finally(() => backend.close());
  const used = process.cpuUsage(started);
  const seconds = Number(((used.user + used.system) / 1e6).toFixed(1));
  return { task: fold.task.name, system, iteration, ...scores, seconds };
}

function requireFiles(folder: string, plan: FoldPlan): void {
  const files = [plan.scores, ...plan.tasks.flatMap(({ table, testRows }) => [table, testRows])];
  const missing = files.filter((file) => !existsSync(join(folder, file)));
  if (missing.length === 0) return;
  throw new InputError(`missing in the folder: ${missing.join(", ")}`, {
    code: "folds.data",
    where: folder,
    hint:
      `it has to hold ${files.join(", ")}: the benchmark's tables, its test rows (columns iteration and row, ` +
      "counted from 1) " +
      "and its scores (task_id, learner_id, tune_measure, iteration, harrell_c, uno_c, isbs)",
  });
}

/** Scores of folds, one line per fold and system. */
const FOLD_LINES: LineForm<FoldLine> = {
  starts: ['{"task":"'],
  parse(json) {
    const { success, data } = lineSchema.safeParse(json);
    if (!success) return null;
    const { seconds: _, ...line } = data;
    return line;
  },
  of: "folds",
  code: "folds.line",
  option: "--out",
};

async function report(
  plan: FoldPlan,
  tasks: readonly OpenTask[],
  lines: readonly FoldLine[],
  published: ReturnType<typeof readPublishedFolds>,
  { tables, summary }: FoldOptions,
): Promise<void> {
  const gate = compareCox(lines, published);
  if (!gate.passed)
    warn("our Cox model is not the published one: the other rows cannot be read in its table");
  const sizes = tasks.map(({ task, table, folds }) => {
    const test = Math.round([...folds.values()].reduce((sum, rows) => sum + rows.length, 0) / folds.size);
    return { name: task.name, test, train: table.rows - test } satisfies FoldSizes;
  });
  const shown = { about: plan.about, gate, tasks: sizes, lines, published };
  const page = foldsPage(shown);
  if (summary !== undefined) await replaceFile(summary, foldsSummaryPage(shown), "the page");
  if (tables !== undefined) await replaceFile(tables, page, "the page");
  if (tables === undefined && summary === undefined) print(page);
}
