/** `graduate merge`: the results files of shards as one file, and which runs are still missing. */
import type { Command } from "commander";
import { InputError } from "../../core/errors.ts";
import { countOf } from "../../core/text.ts";
import { lockFile } from "../io/file-lock.ts";
import { replaceFile } from "../io/growing-file.ts";
import { readTextFile } from "../io/input-file.ts";
import { refuseUnwritable } from "../io/output-path.ts";
import { createUnwritableError } from "../io/write-errors.ts";
import { print, warn } from "../print/output.ts";
import { EXIT_REQUIREMENT } from "../print/write-report.ts";
import { type MissingRuns, mergeLines } from "../shards/merge-lines.ts";

/** Names of missing runs that are listed by shard. */
const MOST_NAMES = 5;

export function addMerge(program: Command): void {
  program
    .command("merge")
    .description("make one results file of those that shards of tune, compare or reproduce have written")
    .argument("<files...>", "results files")
    .requiredOption("--out <file>", "where the runs of all files go; it may be one of them")
    .action(runMerge);
}

async function runMerge(paths: readonly string[], { out }: { readonly out: string }): Promise<void> {
  await refuseUnwritable([out]);
  const unlock = lockResults(out);
  try {
    await mergeFiles(paths, out);
  } finally {
    unlock();
  }
}

/** A program that appends to the file would go on with the one that is replaced. */
function lockResults(out: string): () => void {
  try {
    return lockFile(out, "name another file (--out)");
  } catch (error) {
    if (error instanceof InputError) throw error;
    throw createUnwritableError(out, "the results", error);
  }
}

async function mergeFiles(paths: readonly string[], out: string): Promise<void> {
  const files = await Promise.all(
    paths.map(async (path) => ({ path, text: await readTextFile(path, "the results") })),
  );
  const { lines, runs, missing, cut } = mergeLines(files);
  for (const path of cut) warn(`the last line of ${path} is cut off in the middle: that run is left out`);
  await replaceFile(out, lines.map((line) => `${line}\n`).join(""), "the results");
  print(`written: ${out}, ${countOf(runs, "run")} of ${countOf(files.length, "file")}`);
  if (missing.length === 0) return;
  process.exitCode = EXIT_REQUIREMENT;
  print("missing, and what makes them:");
  for (const one of missing) {
    print(`  ${sayMissing(one)}`);
    print(`    ${one.command}`);
  }
}

function sayMissing({ index, count, names }: MissingRuns): string {
  const shard = `shard ${index} of ${count}`;
  if (names === null) return `${shard}: no file of it`;
  const more = names.length > MOST_NAMES ? `, and ${names.length - MOST_NAMES} more` : "";
  return `${shard}: ${names.slice(0, MOST_NAMES).join("; ")}${more}`;
}
