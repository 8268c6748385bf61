/** `graduate audit`: every score of predicted curves, overall and by group. */
import { availableParallelism } from "node:os";
import type { Command } from "commander";
import { type AuditGroup, type AuditOptions, type AuditTable, audit } from "../audit.ts";
import { InputError } from "../core/errors.ts";
import { groupByColumns } from "../data/group-by.ts";
import { readCurves } from "../data/read-curves.ts";
import type { Table } from "../data/table.ts";
import { formatNumber, formatP, formatRange, formatTable, wrapText } from "../report/text-table.ts";
import type { Scores } from "../stats/scores.ts";
import { readModel } from "./model-file.ts";
import { createProgress, print, printJson, terminalWidth } from "./output.ts";
import { categoriesOf } from "./predict.ts";
import { bootstrapInParallel } from "./replicate-pool.ts";
import { scoreRows } from "./score-rows.ts";
import {
  addGroupOptions,
  addTableOptions,
  type GroupOptions,
  namesOption,
  parseCount,
  parsePositive,
  readGroups,
  readTableFile,
  type TableOptions,
} from "./table-options.ts";
import { openWasmBackend } from "./wasm-backend.ts";

interface AuditCommandOptions extends TableOptions, GroupOptions {
  readonly curves?: string;
  readonly bin?: string;
  readonly event?: string;
  readonly time?: string;
  readonly horizon?: number;
  readonly by?: readonly string[];
  readonly intervals: number;
  readonly draws: number;
  readonly seed: number;
  readonly threads: number;
  readonly json?: boolean;
}

export function addAudit(program: Command): void {
  const command = program
    .command("audit")
    .description("score predicted survival curves, overall and by group")
    .argument("[model]", "a model that train wrote")
    .argument("[table]", "rows it has not seen")
    .option("--curves <file>", "predictions: one row a person, S1..ST, event, and bin or time")
    .option("--bin <column>", 'the time bin of each person, 1..T (default: "bin")')
    .option("--event <column>", 'whether the event happened, 0/1 (default: "event")')
    .option("--time <column>", "the time of each person, in place of the bin")
    .option("--horizon <time>", "the end of bin T, with --time", parsePositive)
    .option("--by <columns>", "one group for each value of each of these columns", namesOption);
  addGroupOptions(addTableOptions(command))
    .option("--intervals <replicates>", "add bootstrap intervals", parseCount, 0)
    .option("--draws <n>", "draws of the noise floor (0: none)", parseCount, 200)
    .option("--seed <n>", "seed of draws and replicates", parseCount, 1)
    .option("--threads <n>", "worker threads for the intervals", parseCount, availableParallelism())
    .option("--json", "print one JSON document")
    .action(async (model: string | undefined, table: string | undefined, options: AuditCommandOptions) => {
      const progress = createProgress("bootstrap");
      const settings: AuditOptions = {
        seed: options.seed,
        draws: options.draws,
        replicates: options.intervals,
        bootstrap: async (prepared, bootstrapOptions) => {
          try {
            return await bootstrapInParallel(prepared, {
              ...bootstrapOptions,
              threads: Math.max(1, options.threads),
              onProgress: ({ done, total }) => progress.update(done, total),
            });
          } finally {
            progress.finish();
          }
        },
      };
      const { result, T } =
        model !== undefined && table !== undefined
          ? await auditModel(model, table, options, settings)
          : await auditCurves(options, settings);
      if (options.json) printJson(result);
      else printAudit(result, T);
    });
}

interface Audited {
  readonly result: AuditTable;
  readonly T: number;
}

async function auditCurves(options: AuditCommandOptions, settings: AuditOptions): Promise<Audited> {
  if (options.curves === undefined) {
    throw new InputError("nothing to audit", {
      code: "option.missing",
      hint: "give a model and a table, or predictions with --curves FILE",
    });
  }
  const table = await readTableFile(options.curves, options);
  const { curves, outcomes, others } = readCurves(table, options);
  const groups = [...groupsBy(others, options.by ?? []), ...(await readGroups(others, options))];
  return { result: await audit({ curves, outcomes, groups }, settings), T: curves.T };
}

async function auditModel(
  modelPath: string,
  path: string,
  options: AuditCommandOptions,
  settings: AuditOptions,
): Promise<Audited> {
  const model = await readModel(modelPath);
  const category = [...new Set([...(options.category ?? []), ...categoriesOf(model)])];
  const table = await readTableFile(path, { ...options, category });
  const named = new Set(model.groups.map(({ name }) => name));
  const { time, event } = model.columns;
  const more = [...groupsBy(table, options.by ?? []), ...(await readGroups(table, options, [time, event]))];
  const rows = Int32Array.from({ length: table.rows }, (_, row) => row);
  const backend =
    model.predictor.kind === "cox" ? null : await openWasmBackend({ threads: Math.max(1, options.threads) });
  try {
    const added = more.filter(({ name }) => !named.has(name));
    return { result: await scoreRows(model, table, rows, backend, added, settings), T: model.grid.T };
  } finally {
    await backend?.close();
  }
}

/** One group for each value of each column; the columns are not crossed. */
function groupsBy(table: Table, columns: readonly string[]): AuditGroup[] {
  return columns.flatMap((column) => groupByColumns(table, [column]).groups);
}

export function printAudit({ overall, groups }: AuditTable, T: number): void {
  const width = terminalWidth();
  const all = [overall, ...groups];
  print(
    formatTable(
      [
        { title: "group", flexible: true },
        { title: "n", align: "right" },
        { title: "events", align: "right" },
        { title: "C", align: "right" },
        { title: "ECE", align: "right" },
        { title: "floor", align: "right" },
        { title: "p", align: "right" },
        { title: "L2", align: "right" },
        { title: "max z", align: "right" },
        { title: "IBS", align: "right" },
        { title: "logrank p", align: "right" },
        { title: "bins", align: "right" },
      ],
      all.map((scores) => [
        scores.name,
        String(scores.n),
        String(scores.events),
        formatNumber(scores.concordance, 3),
        formatNumber(scores.ece),
        formatNumber(scores.noiseFloor?.ece),
        formatP(scores.noiseFloor?.p),
        scores.distanceL2 === null ? "–" : scores.distanceL2.toExponential(1),
        formatNumber(scores.distanceVariance, 2),
        formatNumber(scores.ibs),
        formatP(scores.logrankIndividual.p),
        `${scores.supported.bins}/${T}`,
      ]),
      width,
    ),
  );
  const note =
    "C: the paper's concordance, ties scoring 0. ECE, L2, max z: distance of the mean curve to Kaplan-Meier over all bins; " +
    "floor and p: what a perfect model shows on these rows, and how often it shows this much. logrank p: events against " +
    "the sum of individual hazards. bins: those with at least ten people at risk.";
  print(`\n${wrapText(note, width)}`);
  if (overall.intervals !== undefined) printIntervals(all, width);
  const missing = all.flatMap((scores) =>
    Object.entries(scores.absent).map(([field, reason]) => `${scores.name}: no ${field} (${reason})`),
  );
  if (missing.length > 0) print(`\n${missing.map((line) => wrapText(line, width, "  ")).join("\n")}`);
}

function printIntervals(all: readonly Scores[], width: number): void {
  const between = (interval: { lower: number | null; upper: number | null } | undefined) =>
    formatRange(interval?.lower, interval?.upper, 3);
  const level = Math.round(100 * (all[0].intervals?.level ?? 0));
  print(
    `\n${level} % bootstrap intervals, ${all[0].intervals?.replicates} replicates; for distances the upper bound alone\n`,
  );
  print(
    formatTable(
      [
        { title: "group", flexible: true },
        { title: "C", align: "right" },
        { title: "IBS", align: "right" },
        { title: "ECE below", align: "right" },
        { title: "r.m.s. gap", align: "right" },
        { title: "below", align: "right" },
      ],
      all.map(({ name, intervals }) => [
        name,
        between(intervals?.concordance),
        between(intervals?.ibs),
        formatNumber(intervals?.ece.upper),
        formatNumber(intervals?.distanceL2Root.estimate),
        formatNumber(intervals?.distanceL2Root.upper),
      ]),
      width,
    ),
  );
}
