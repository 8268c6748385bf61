/**
 * Peers that are scripts of paper/peers: each runs on files in a folder of its own, which is gone afterwards, and
 * leaves one file of numbers, a row a person. Nothing of R or Python is needed by the product.
 */
import { spawnSync } from "node:child_process";
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { InputError } from "graduate-survival/core";
import { cellText, findColumn, type Table } from "graduate-survival/data";
import { checkoutFile } from "../runs/checkout.ts";

export interface PeerScript {
  /** What messages call it. */
  readonly name: string;
  /** What runs the script. */
  readonly program: string;
  /** A file of paper/peers. */
  readonly script: string;
  /** The arguments, given the folder. */
  readonly argumentsOf: (folder: string) => readonly string[];
  /** Name and text of what the script reads. */
  readonly files: Readonly<Record<string, string>>;
  /** The file it leaves. */
  readonly leaves: string;
}

/** Runs a script and gives the text that it leaves. */
export function runScript({ name, program, script, argumentsOf, files, leaves }: PeerScript): string {
  const folder = mkdtempSync(join(tmpdir(), "peer-"));
  try {
    for (const [file, text] of Object.entries(files)) writeFileSync(join(folder, file), text);
    // More threads than free processors make the boosting of Python wait for itself.
    const env = { ...process.env, OMP_NUM_THREADS: "1" };
    const args = [checkoutFile(`paper/peers/${script}`), ...argumentsOf(folder)];
    const { status, stderr, error } = spawnSync(program, args, { encoding: "utf8", env });
    if (status !== 0)
      throw new InputError(`${name} failed: ${error?.message ?? stderr.trim().split("\n").at(-1)}`, {
        code: "peer.failed",
      });
    return readFileSync(join(folder, leaves), "utf8");
  } finally {
    rmSync(folder, { recursive: true, force: true });
  }
}

/** Numbers of each row, and what they are called. */
export interface LeadColumns {
  readonly names: readonly string[];
  readonly cells: (row: number) => readonly number[];
}

/** Columns of a table as CSV, a row for each of `rows`, with the columns of `lead` before them. */
export function formatRows(
  table: Table,
  features: readonly string[],
  rows: ArrayLike<number>,
  lead: LeadColumns = { names: [], cells: () => [] },
): string {
  const columns = features.map((name) => findColumn(table, name));
  const quote = (text: string) => (/[",\s]/.test(text) ? `"${text.replaceAll('"', '""')}"` : text);
  const lines = Array.from(rows, (row) =>
    [...lead.cells(row), ...columns.map((column) => quote(cellText(column, row)))].join(","),
  );
  return `${[[...lead.names, ...features.map(quote)].join(","), ...lines].join("\n")}\n`;
}

/** Numbers as a file of one column. */
export function formatNumbers(values: ArrayLike<number>): string {
  return `${Array.from(values).join("\n")}\n`;
}

/** Refuses a file with another number of people or values; `what` names the values. */
export function readMatrix(text: string, people: number, width: number, what: string): Float64Array {
  const lines = text.trimEnd().split("\n");
  const matrix = new Float64Array(people * width);
  if (lines.length !== people)
    throw new InputError(`${what} of ${lines.length} people, not of ${people}`, { code: "peer.shape" });
  for (const [i, line] of lines.entries()) {
    const values = line.split(",").map(Number);
    if (values.length !== width || !values.every(Number.isFinite))
      throw new InputError(`row ${i + 1} does not have ${width} ${what}`, { code: "peer.shape" });
    matrix.set(values, i * width);
  }
  return matrix;
}
