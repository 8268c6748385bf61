/**
 * Writes repaired curves whose outcome is more than time and event, as `graduate audit --curves` reads them: survival
 * with the outcome at its times beside it, or, where causes compete, a file of incidences for each cause, row by row
 * beside the table that has the outcome. Columns are named by the ends of the bins, and `set` says which rows fitted
 * and which judged. Plain outcomes are written by prediction-output.ts.
 */

import type { CauseCurves } from "../../data/curves/cause-curves.ts";
import type { Curves } from "../../data/curves/curves.ts";
import { parseCauseFiles } from "../../data/curves/read-cause-curves.ts";
import type { BinnedSingleCause, Outcomes } from "../../data/outcomes/outcomes.ts";
import type { People } from "../../data/outcomes/people.ts";
import type { TimeGrid } from "../../data/outcomes/time-grid.ts";
import type { BoostRowSets } from "../../verbs/boost.ts";
import type { PeopleColumn } from "../../verbs/people/people-columns.ts";
import { medianTimes } from "../../verbs/predict.ts";
import { openGrowingFile } from "./growing-file.ts";
import { refuseUnwritable, refuseWrongSuffix } from "./output-path.ts";
import { openCsvPeople, openParquetPeople } from "./people-output.ts";
import { nameSets, writeCurves } from "./prediction-output.ts";
import type { BoostSource } from "./read-boost-source.ts";

/** All rows in one part; cells know their own values. */
interface Rows {
  readonly curves: { readonly N: number };
}
type Column = PeopleColumn<Rows>;

/** What is written beside curves. */
interface BesideCurves {
  readonly grid: TimeGrid;
  readonly people: People | null;
  /** The rows that fitted and those that judge. */
  readonly rows?: BoostRowSets | undefined;
}

/** Survival, and the outcome at its times. */
async function writeHistoryCurves(
  path: string,
  curves: Curves,
  { time, event, entry, weight }: Outcomes,
  { grid, people, rows }: BesideCurves,
): Promise<void> {
  const { T, survival } = curves;
  const median = medianTimes(curves, grid);
  await writeColumns(path, curves.N, [
    ROW,
    // In full: under late entry a curve is read as a share of what it was at entry, which may be next to nothing.
    ...nameEnds(grid, "S").map((name, t) => number(name, (i) => survival[i * T + t])),
    { name: "median", kind: "measured", cell: (_, i) => (Number.isNaN(median[i]) ? null : median[i]) },
    ...(entry === undefined ? [] : [number("entry", (i) => entry[i])]),
    number("time", (i) => time[i]),
    { name: "event", kind: "count", cell: (_, i) => event[i] },
    ...(weight === undefined ? [] : [number("weight", (i) => weight[i])]),
    ...(people === null
      ? []
      : [{ name: "person", kind: "count", cell: (_, i) => people.of[i] + 1 } as Column]),
    ...listSets(curves.N, rows),
  ]);
}

/** Where the repaired curves go, and what else is written. */
export interface RepairedOutput {
  readonly out?: string;
  readonly save?: string;
}

/** Checks the paths, and gives what writes the repaired curves there; `rows` says which fitted and which judge. */
export async function prepareOutput(
  { out, save }: RepairedOutput,
  source: Pick<BoostSource, "predicted" | "history" | "grid" | "people">,
  inputs: readonly (string | undefined)[],
): Promise<(curves: Curves | CauseCurves, rows?: BoostRowSets) => Promise<void>> {
  if (out === undefined) return async () => {};
  const { predicted, history } = source;
  if ("incidence" in predicted.curves) {
    const files = await parseCauseOutputs(out, predicted.curves.causes, inputs, [save]);
    return (curves, rows) => writeIncidences(files, curves as CauseCurves, { grid: source.grid, rows });
  }
  await refuseUnwritable([out, save], inputs);
  refuseWrongSuffix({ curves: out });
  const outcomes = predicted.outcomes as BinnedSingleCause | null;
  return (curves, rows) =>
    history === null
      ? writeCurves(out, curves as Curves, { ...source, outcomes }, rows)
      : writeHistoryCurves(out, curves as Curves, history, { ...source, rows });
}

/** What an audit of the written curves must be told of their outcome, and of which group. */
export function auditFlags({ history, people }: Pick<BoostSource, "history" | "people">, group = ""): string {
  if (history !== null) return `${outcomeFlags(history, people)}${group}`;
  return `${group}${people === null ? "" : " --id person"}`;
}

/** How `graduate audit` is told of the columns that the outcome has in such a file. */
function outcomeFlags({ entry, weight, id }: Outcomes, people: People | null): string {
  const times = id === undefined ? " --time time" : " --start entry --stop time";
  return [
    `${times} --event event`,
    ...(entry === undefined || id !== undefined ? [] : [" --entry entry"]),
    ...(weight === undefined ? [] : [" --weights weight"]),
    ...(people === null ? [] : [" --id person"]),
  ].join("");
}

/** NAME=FILE for each cause; the files are checked before the work. `others`: what else is written. */
async function parseCauseOutputs(
  out: string,
  causes: readonly string[],
  inputs: readonly (string | undefined)[],
  others: readonly (string | undefined)[],
): Promise<ReturnType<typeof parseCauseFiles>> {
  const files = parseCauseFiles([out], causes, "--out");
  await refuseUnwritable([...files.map(({ path }) => path), ...others], inputs);
  for (const { path } of files) refuseWrongSuffix({ curves: path });
  return files;
}

/** The incidences of every cause, a file each. */
async function writeIncidences(
  files: ReturnType<typeof parseCauseFiles>,
  { N, K, T, incidence }: CauseCurves,
  { grid, rows }: Pick<BesideCurves, "grid" | "rows">,
): Promise<void> {
  for (const [k, { path }] of files.entries()) {
    await writeColumns(path, N, [
      ROW,
      ...nameEnds(grid, "F").map((name, t) => number(name, (i) => incidence[(i * K + k) * T + t])),
      ...listSets(N, rows),
    ]);
  }
}

const ROW: Column = { name: "row", kind: "count", cell: (_, i) => i + 1 };

function number(name: string, value: (i: number) => number): Column {
  return { name, kind: "number", cell: (_, i) => value(i) };
}

/** A column for each bin, named by its end. */
function nameEnds({ edges }: TimeGrid, letter: "S" | "F"): string[] {
  return Array.from(edges.subarray(1), (end) => `${letter}(${end})`);
}

function listSets(N: number, rows: BoostRowSets | undefined): readonly Column[] {
  if (rows === undefined) return [];
  const sets = nameSets(N, rows);
  return [{ name: "set", kind: "text", cell: (_, i) => sets[i] }];
}

async function writeColumns(path: string, N: number, columns: readonly Column[]): Promise<void> {
  const output = await openGrowingFile(path, "the repaired curves");
  try {
    const table = { columns, rowsEach: 1 };
    const written = path.endsWith(".parquet")
      ? await openParquetPeople<Rows>(output, table)
      : openCsvPeople<Rows>(output, table, false);
    await written.write({ curves: { N } });
    await written.finish();
  } finally {
    await output.abandon();
  }
}
