/**
 * Every command once on a table on which nothing was tuned, as a user would run them: describe, train, audit with its
 * report, predict, export to ONNX, discover. Each must end with exit code 0 or with a refusal that says why.
 */
import { spawnSync } from "node:child_process";
import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import type { Split } from "graduate-survival/data";
import { checkoutFile } from "../runs/checkout.ts";
import { openUnseen, splitUnseen, type UnseenTable } from "./unseen-tables.ts";

/** In this order: later ones need the model of `train`. */
export const UNSEEN_COMMANDS = ["describe", "train", "audit", "predict", "export", "discover"] as const;
export type UnseenCommand = (typeof UNSEEN_COMMANDS)[number];

/** How a command ended. */
export interface CommandLine {
  readonly kind: "command";
  readonly table: string;
  readonly command: UnseenCommand;
  readonly exit: number | null;
  readonly seconds: number;
  /** The last output of a command that did not end with 0. */
  readonly said?: string;
  /** Groups that `discover` confirmed. */
  readonly confirmed?: number;
}

interface Places {
  readonly table: string;
  /** The folder for models, reports and predictions. */
  readonly folder: string;
  /** Null where rows are split one by one. */
  readonly split: string | null;
}

function argumentsOf(command: UnseenCommand, entry: UnseenTable, places: Places): readonly string[] {
  const { name, time, event, drop, groups, timeUnit, patient } = entry;
  const { table, folder } = places;
  const model = join(folder, `${name}.model`);
  const outcome = ["--time", time, "--event", event];
  const split = places.split === null ? [] : ["--split", places.split];
  switch (command) {
    case "describe":
      return [table, ...outcome];
    case "train": {
      const dropped = drop.length === 0 ? [] : ["--drop", drop.join(",")];
      const id = patient === undefined ? [] : ["--id", patient];
      const named = groups.flatMap((group) => ["--group", group]);
      return [table, ...outcome, ...dropped, ...id, ...named, ...split, "--out", model];
    }
    case "audit":
      return [model, table, ...split, "--time-unit", timeUnit, "--report", join(folder, `${name}.html`)];
    case "predict":
      return [model, table, "--out", join(folder, `${name}-curves.csv`)];
    case "export":
      return [model, "--onnx", join(folder, `${name}.onnx`)];
    case "discover":
      return [model, table, ...split];
  }
}

/** The file of row and set that `--split` takes. */
function writeSplit(path: string, split: Split): void {
  const rows = Object.entries(split).flatMap(([set, own]: [string, Int32Array]) =>
    Array.from(own, (row) => ({ row, set })),
  );
  const text = rows.sort((a, b) => a.row - b.row).map(({ row, set }) => `${row + 1},${set}\n`);
  writeFileSync(path, `row,set\n${text.join("")}`);
}

function runCommand(command: UnseenCommand, entry: UnseenTable, places: Places): CommandLine {
  const started = performance.now();
  const args = [checkoutFile("bin/graduate.js"), command, ...argumentsOf(command, entry, places)];
  const { status, stdout, stderr } = spawnSync(process.execPath, args, {
    encoding: "utf8",
    maxBuffer: 2 ** 28,
  });
  const confirmed = /: (\d+) confirmed\./.exec(stdout.replaceAll(/\s+/g, " "));
  return {
    kind: "command",
    table: entry.name,
    command,
    exit: status,
    seconds: Number(((performance.now() - started) / 1000).toFixed(1)),
    ...(status === 0 ? {} : { said: stderr.trim().split("\n").slice(-4).join(" ") }),
    ...(command === "discover" && confirmed ? { confirmed: Number(confirmed[1]) } : {}),
  };
}

/**
 * `keep`: a folder for the commands' output; by default it goes to a folder that is removed. `seed` is that of the
 * patients' split.
 */
export async function runUnseenCommands(
  entry: UnseenTable,
  data: string,
  { keep, seed }: { readonly keep?: string; readonly seed: number },
): Promise<readonly CommandLine[]> {
  const folder = keep ?? mkdtempSync(join(tmpdir(), "graduate-tables-"));
  mkdirSync(folder, { recursive: true });
  try {
    const split = entry.patient === undefined ? null : join(folder, `${entry.name}-split.csv`);
    if (split !== null) writeSplit(split, splitUnseen(await openUnseen(entry, data), entry, seed));
    const places = { table: join(data, entry.file), folder, split };
    return UNSEEN_COMMANDS.map((command) => runCommand(command, entry, places));
  } finally {
    if (keep === undefined) rmSync(folder, { recursive: true, force: true });
  }
}
