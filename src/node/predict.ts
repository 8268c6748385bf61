/**
 * `graduate predict`: survival curves and median times for the rows of a table, read, predicted and written part by part, so that
 * memory does not grow with the table. Rows before a bad one may have been printed already; a file is whole or not there.
 */
import { availableParallelism } from "node:os";
import type { Command } from "commander";
import { groupColumnName } from "../data/group-columns.ts";
import { columnsOf, parseGroup } from "../data/group-expression.ts";
import { inWholeTable } from "../data/read-chunk.ts";
import { readTableChunks } from "../data/read-table-chunks.ts";
import { preparePredictor } from "../predict.ts";
import type { Model } from "../training/model.ts";
import { openGrowingFile, openStandardOutput } from "./growing-file.ts";
import { openBackendOf } from "./model-backend.ts";
import { readModel } from "./model-file.ts";
import { createProgress, print } from "./output.ts";
import { refuseWrongSuffix } from "./output-suffix.ts";
import { openCsvPredictions, openParquetPredictions } from "./prediction-output.ts";
import { openStreamedSource } from "./streamed-source.ts";
import { addTableOptions, parseThreads, type TableOptions } from "./table-options.ts";
import { refuseUnwritable } from "./writable.ts";

interface PredictOptions extends TableOptions {
  readonly out?: string;
  readonly threads: number;
}

export function addPredict(program: Command): void {
  const command = program
    .command("predict")
    .description("survival curves S1..ST and median times, one row a person")
    .argument("<model>", "a model that train wrote")
    .argument("<table>", "CSV, gzip or Parquet file, of any length; - is standard input");
  addTableOptions(command)
    .option("--out <file>", "write CSV here, or Parquet if it ends in .parquet (default: standard output)")
    .option("--threads <n>", "threads", parseThreads, availableParallelism())
    .action(async (modelPath: string, path: string, options: PredictOptions) => {
      await refuseUnwritable([options.out], [modelPath, path]);
      refuseWrongSuffix({ curves: options.out });
      const model = await readModel(modelPath);
      const backend = await openBackendOf(model, options.threads);
      try {
        const predictRows = preparePredictor(model, backend);
        const rows = await predictFile(path, model, options, predictRows);
        if (options.out !== undefined) print(`${rows} rows written to ${options.out}`);
      } finally {
        await backend?.close();
      }
    });
}

/** Returns how many rows there were. */
async function predictFile(
  path: string,
  model: Model,
  options: PredictOptions,
  predictRows: ReturnType<typeof preparePredictor>,
): Promise<number> {
  const columns = columnsNeeded(model);
  const dates = columns.filter((name) =>
    model.encoder.columns.some(({ column, type }) => column === name && type === "date"),
  );
  const { source, close } = await openStreamedSource(path, dates.length > 0 ? 2 : 1);
  const progress = createProgress(`predicting ${source.name}`);
  const output =
    options.out === undefined ? openStandardOutput() : await openGrowingFile(options.out, "the predictions");
  let rows = 0;
  try {
    const { T } = model.grid;
    const written = options.out?.endsWith(".parquet")
      ? await openParquetPredictions(output, T)
      : openCsvPredictions(output, T);
    const chunks = readTableChunks(source, {
      columns,
      dates,
      category: [...new Set([...(options.category ?? []), ...categoriesOf(model)])],
      ...(options.number === undefined ? {} : { number: options.number }),
      onProgress: (bytes) => {
        if (source.byteLength !== undefined)
          progress.update(Math.min(bytes, source.byteLength), source.byteLength);
      },
    });
    for await (const chunk of chunks) {
      await written.write(await inWholeTable(chunk, () => predictRows(chunk.table)));
      rows += chunk.table.rows;
    }
    await written.finish();
  } finally {
    progress.finish();
    await output.abandon();
    close();
  }
  return rows;
}

/** Columns that were categories in training are read as such, so that "01" stays "01". */
export function categoriesOf(model: Model): string[] {
  return model.encoder.columns.filter(({ type }) => type === "category").map(({ column }) => column);
}

/** The table's columns that a prediction depends on, those that its groups are made of among them. */
function columnsNeeded(model: Model): string[] {
  const made = new Set(model.inputGroups.map(groupColumnName));
  const own = model.encoder.columns.map(({ column }) => column).filter((name) => !made.has(name));
  const ofGroups = model.inputGroups.flatMap(({ expression }) => columnsOf(parseGroup(expression)));
  return [...new Set([...own, ...ofGroups])];
}
