/**
 * The peers of the study of competing causes: models of R and Python, each run by a script of paper/peers on files in a
 * folder of its own. learn.csv has time, cause (0 = censored), entry where people come late, and the features;
 * people.csv the features of those to predict; times.csv the times. The script leaves F.csv: a row a person, the
 * incidences at every time, cause after cause. Nothing of R or Python is needed by the product.
 */
import { spawnSync } from "node:child_process";
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { InputError } from "graduate/core";
import { cellText, type Outcomes, type Table } from "graduate/data";
import { checkoutFile } from "../runs/checkout.ts";
import type { CauseSystem } from "./plan.ts";

/** The programs that run the scripts. */
export interface PeerPrograms {
  readonly rscript: string;
  readonly python: string;
}

export interface PeerRequest {
  /** With columns for groups, where the system takes them. */
  readonly table: Table;
  readonly people: Table;
  readonly outcomes: Outcomes;
  /** Rows to learn from. */
  readonly learn: Int32Array;
  /** Rows of `people` to predict; all unless given. */
  readonly predict?: Int32Array;
  readonly features: readonly string[];
  readonly times: Float64Array;
  readonly K: number;
  readonly seed: number;
}

/** Fits a peer and predicts F_k(t|x). */
export function runPeer(system: CauseSystem, request: PeerRequest, programs: PeerPrograms): Float64Array {
  const folder = mkdtempSync(join(tmpdir(), "causes-"));
  try {
    writeFiles(folder, request);
    const [program, args] = commandOf(system, folder, request.seed, programs);
    // More threads than free processors make the boosting of Python wait for itself.
    const env = { ...process.env, OMP_NUM_THREADS: "1" };
    const { status, stderr, error } = spawnSync(program, args, { encoding: "utf8", env });
    if (status !== 0)
      throw new InputError(`${system} failed: ${error?.message ?? stderr.trim().split("\n").at(-1)}`, {
        code: "peer.failed",
      });
    const people = request.predict?.length ?? request.people.rows;
    return readIncidences(
      readFileSync(join(folder, "F.csv"), "utf8"),
      people,
      request.K * request.times.length,
    );
  } finally {
    rmSync(folder, { recursive: true, force: true });
  }
}

function commandOf(
  system: CauseSystem,
  folder: string,
  seed: number,
  { rscript, python }: PeerPrograms,
): [string, string[]] {
  const ofR = checkoutFile("paper/peers/causes.R");
  const ofPython = checkoutFile("paper/peers/causes.py");
  switch (system) {
    case "cox":
    case "cox with group terms":
      return [rscript, [ofR, "cox", folder]];
    case "fine-gray":
      return [rscript, [ofR, "fine-gray", folder]];
    case "survivalboost":
    case "forest":
      return [python, [ofPython, system, folder, String(seed)]];
    default:
      throw new InputError(`not a peer: ${system}`, { code: "peer.name" });
  }
}

/** Columns of a table as CSV, a row for each of `rows`. */
function formatRows(
  table: Table,
  features: readonly string[],
  rows: ArrayLike<number>,
  lead: { readonly names: readonly string[]; readonly cells: (row: number) => readonly number[] },
): string {
  const columns = features.map((name) => {
    const column = table.columns.find((one) => one.name === name);
    if (column === undefined) throw new InputError(`no column "${name}"`, { code: "column.unknown" });
    return column;
  });
  const quote = (text: string) => (/[",\s]/.test(text) ? `"${text.replaceAll('"', '""')}"` : text);
  const lines = Array.from(rows, (row) =>
    [...lead.cells(row), ...columns.map((column) => quote(cellText(column, row)))].join(","),
  );
  return `${[[...lead.names, ...features.map(quote)].join(","), ...lines].join("\n")}\n`;
}

function writeFiles(folder: string, request: PeerRequest): void {
  const { table, people, outcomes, learn, predict, features, times } = request;
  const { time, cause, entry } = outcomes;
  const observed = (row: number) => [
    time[row],
    cause?.[row] ?? 0,
    ...(entry === undefined ? [] : [entry[row]]),
  ];
  const names = ["time", "cause", ...(entry === undefined ? [] : ["entry"])];
  const everyone = predict ?? Int32Array.from({ length: people.rows }, (_, row) => row);
  const files = {
    "learn.csv": formatRows(table, features, learn, { names, cells: observed }),
    "people.csv": formatRows(people, features, everyone, { names: [], cells: () => [] }),
    "times.csv": `${Array.from(times).join("\n")}\n`,
  };
  for (const [name, text] of Object.entries(files)) writeFileSync(join(folder, name), text);
}

/** Refuses a file with another number of people or values. */
export function readIncidences(text: string, people: number, width: number): Float64Array {
  const lines = text.trimEnd().split("\n");
  const F = new Float64Array(people * width);
  if (lines.length !== people)
    throw new InputError(`incidences of ${lines.length} people, not of ${people}`, { code: "peer.shape" });
  for (const [i, line] of lines.entries()) {
    const values = line.split(",").map(Number);
    if (values.length !== width || !values.every(Number.isFinite))
      throw new InputError(`row ${i + 1} does not have ${width} incidences`, { code: "peer.shape" });
    F.set(values, i * width);
  }
  return F;
}
