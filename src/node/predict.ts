/** `graduate predict`: survival curves and median times for the rows of a table. */
import { writeFile } from "node:fs/promises";
import { availableParallelism } from "node:os";
import type { Command } from "commander";
import { InputError } from "../core/errors.ts";
import { type Prediction, predict } from "../predict.ts";
import { readModel } from "./model-file.ts";
import { print } from "./output.ts";
import { addTableOptions, parseCount, readTableFile, type TableOptions } from "./table-options.ts";
import { openWasmBackend } from "./wasm-backend.ts";

interface PredictOptions extends TableOptions {
  readonly out?: string;
  readonly threads: number;
}

export function addPredict(program: Command): void {
  const command = program
    .command("predict")
    .description("survival curves S1..ST and median times, one row a person")
    .argument("<model>", "a model that train wrote")
    .argument("<table>", "CSV, gzip or Parquet file");
  addTableOptions(command)
    .option("--out <file>", "write CSV here (default: standard output)")
    .option("--threads <n>", "threads", parseCount, availableParallelism())
    .action(async (modelPath: string, path: string, options: PredictOptions) => {
      const model = await readModel(modelPath);
      const category = [...(options.category ?? []), ...categoriesOf(model)];
      const table = await readTableFile(path, { ...options, category: category.filter(isNew) });
      const backend =
        model.predictor.kind === "cox"
          ? null
          : await openWasmBackend({ threads: Math.max(1, options.threads) });
      try {
        const text = formatCurves(await predict(model, table, backend));
        if (options.out === undefined) process.stdout.write(text);
        else {
          await writeText(options.out, text);
          print(`${table.rows} rows written to ${options.out}`);
        }
      } finally {
        await backend?.close();
      }
    });
}

/** Columns that were categories in training are read as such, so that "01" stays "01". */
export function categoriesOf(model: Awaited<ReturnType<typeof readModel>>): string[] {
  return model.encoder.columns.filter(({ type }) => type === "category").map(({ column }) => column);
}

const isNew = (name: string, k: number, all: readonly string[]) => all.indexOf(name) === k;

/** Digits of a printed probability: enough to give every metric to ten places. */
const DIGITS = 10;

function formatCurves({ curves, median }: Prediction): string {
  const { N, T, survival } = curves;
  const lines = [["row", ...Array.from({ length: T }, (_, t) => `S${t + 1}`), "median"].join(",")];
  for (let i = 0; i < N; i++) {
    const cells = Array.from(survival.subarray(i * T, (i + 1) * T), (S) => String(Number(S.toFixed(DIGITS))));
    lines.push([i + 1, ...cells, Number.isNaN(median[i]) ? "" : median[i]].join(","));
  }
  return `${lines.join("\n")}\n`;
}

async function writeText(path: string, text: string): Promise<void> {
  try {
    await writeFile(path, text);
  } catch {
    throw new InputError(`cannot write the predictions: "${path}"`, { code: "file.unwritable" });
  }
}
