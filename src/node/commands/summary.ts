/** `graduate summary`: what a model file says of itself, and what every column and group does to the hazard. */
import { availableParallelism } from "node:os";
import type { Command } from "commander";
import { summariseModel } from "../../verbs/summary/summary.ts";
import { summaryDocument } from "../../verbs/summary/summary-document.ts";
import { readModel } from "../io/model-file.ts";
import { parseThreads } from "../options/table-options.ts";
import { printJson } from "../print/output.ts";
import { printSummary } from "../print/summary.ts";
import { openBackendOf } from "../workers/wasm-backend.ts";

interface SummaryOptions {
  readonly threads: number;
  readonly json?: boolean;
}

export function addSummary(program: Command): void {
  program
    .command("summary")
    .description("what a model is, on whom it was trained, and what each column does to the hazard")
    .argument("<model>", "a model that train wrote")
    .option("--threads <n>", "threads", parseThreads, availableParallelism())
    .option("--json", "print one JSON document")
    .action(runSummary);
}

async function runSummary(path: string, { threads, json }: SummaryOptions): Promise<void> {
  const model = await readModel(path);
  const backend = await openBackendOf(model, threads);
  try {
    const summary = await summariseModel(model, backend);
    if (json) printJson(summaryDocument(summary));
    else printSummary(summary);
  } finally {
    await backend?.close();
  }
}
