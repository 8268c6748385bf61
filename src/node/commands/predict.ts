/**
 * `graduate predict`: survival curves and median times for the rows of a table, read, predicted and written part by
 * part, so that memory does not grow with the table. Rows before a bad one may already have been printed; a file is
 * either complete or absent.
 */
import { availableParallelism } from "node:os";
import type { Command } from "commander";
import { present } from "../../core/present.ts";
import type { Curves } from "../../data/curves/curves.ts";
import { addCellWarnings, type CellWarning } from "../../data/encode/new-cells.ts";
import { inWholeTable } from "../../data/reading/containers.ts";
import { readTableChunks } from "../../data/reading/read-table.ts";
import type { Model } from "../../training/model.ts";
import { columnsNeeded, knowsAtRisk, preparePredictor, riskOf } from "../../verbs/predict.ts";
import { openGrowingFile, openStandardOutput } from "../io/growing-file.ts";
import { openStreamedSource } from "../io/input-file.ts";
import { readModel } from "../io/model-file.ts";
import { refuseUnwritable, refuseWrongSuffix } from "../io/output-path.ts";
import { openCsvPredictions, openParquetPredictions } from "../io/prediction-output.ts";
import {
  addTableOptions,
  parseThreads,
  readingOf,
  TABLE_ARGUMENT,
  type TableOptions,
} from "../options/table-options.ts";
import { createProgress, print, warn } from "../print/output.ts";
import { openBackendOf } from "../workers/wasm-backend.ts";

/** The number of columns named in warnings. */
const MAX_WARNINGS = 20;
/** Of a model whose file has no share at risk. */
const EQUAL_WEIGHTS =
  "this model's file does not say how many people were at risk when: the risk counts all time bins alike";

interface PredictOptions extends TableOptions {
  readonly out?: string;
  readonly risk?: true;
  readonly threads: number;
}

export function addPredict(program: Command): void {
  const command = program
    .command("predict")
    .description("survival curves S1..ST and median times, one row a person")
    .argument("<model>", "a model that train wrote")
    .argument("<table>", `${TABLE_ARGUMENT}, of any length; - is standard input`);
  addTableOptions(command)
    .option("--out <file>", "write CSV here, or Parquet if it ends in .parquet (default: standard output)")
    .option("--risk", "add a last column `risk`, the one number by which the curves rank people")
    .option("--threads <n>", "threads", parseThreads, availableParallelism())
    .action(async (modelPath: string, path: string, options: PredictOptions) => {
      await refuseUnwritable([options.out], [modelPath, path]);
      refuseWrongSuffix({ curves: options.out });
      const model = await readModel(modelPath);
      if (options.risk && !knowsAtRisk(model)) warn(EQUAL_WEIGHTS);
      const backend = await openBackendOf(model, options.threads);
      try {
        const predictRows = preparePredictor(model, backend);
        const { rows, warnings } = await predictFile(path, model, options, predictRows);
        for (const { message } of warnings.slice(0, MAX_WARNINGS)) warn(message);
        if (warnings.length > MAX_WARNINGS) warn(`and ${warnings.length - MAX_WARNINGS} more such columns`);
        if (options.out !== undefined) print(`${rows} rows written to ${options.out}`);
      } finally {
        await backend?.close();
      }
    });
}

/** Returns how many rows there were, and the remarks on their cells. */
async function predictFile(
  path: string,
  model: Model,
  options: PredictOptions,
  predictRows: ReturnType<typeof preparePredictor>,
): Promise<{ readonly rows: number; readonly warnings: readonly CellWarning[] }> {
  const columns = columnsNeeded(model);
  const { category, number, decimal } = readingOf(model, options);
  const dates = columns.filter((name) =>
    model.encoder.columns.some(({ column, type }) => column === name && type === "date"),
  );
  const { source, close } = await openStreamedSource(path, dates.length > 0 ? 2 : 1);
  const progress = createProgress(`predicting ${source.name}`);
  const output =
    options.out === undefined ? openStandardOutput() : await openGrowingFile(options.out, "the predictions");
  let rows = 0;
  let warnings: readonly CellWarning[] = [];
  try {
    const { T } = model.grid;
    const more = options.risk ? { riskOf: (curves: Curves) => riskOf(model, curves) } : {};
    const written = options.out?.endsWith(".parquet")
      ? await openParquetPredictions(output, T, more)
      : openCsvPredictions(output, T, more);
    const chunks = readTableChunks(source, {
      columns,
      dates,
      ...present({ category, number, decimal }),
      onProgress: (bytes) => progress.update(bytes, source.byteLength),
    });
    for await (const chunk of chunks) {
      const predicted = await inWholeTable(chunk, () => predictRows(chunk.table));
      await written.write(predicted);
      const before = rows;
      rows += chunk.table.rows;
      warnings = addCellWarnings(model.encoder, warnings, predicted.warnings, before, rows);
    }
    await written.finish();
  } finally {
    progress.finish();
    await output.abandon();
    close();
  }
  return { rows, warnings };
}
