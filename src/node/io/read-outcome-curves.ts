/**
 * Curves of another program with an outcome that is more than time and event: late entry, start–stop rows, weights,
 * several causes. The outcome is read from the table as `train` reads it, so curves stand on times, not on bins. Curves
 * of one kind of event are a file of their own beside the table, or columns of the table; several causes have a file
 * each.
 */

import type { Command } from "commander";
import { InputError } from "../../core/errors.ts";
import { present } from "../../core/present.ts";
import type { Finding } from "../../data/checks/findings.ts";
import type { CauseCurves } from "../../data/curves/cause-curves.ts";
import type { Curves } from "../../data/curves/curves.ts";
import { readSurvivalCurves } from "../../data/curves/read-curves.ts";
import type {
  BinnedOutcomes,
  BinnedSingleCause,
  Outcomes,
  SingleCause,
} from "../../data/outcomes/outcomes.ts";
import type { People } from "../../data/outcomes/people.ts";
import {
  type EventHistory,
  type HistoryColumns,
  modelOutcomes,
  readHistory,
} from "../../data/outcomes/read-history.ts";
import { binOutcomes, type TimeGrid } from "../../data/outcomes/time-grid.ts";
import type { Table } from "../../data/table.ts";
import type { BinnedCauses } from "../../stats/causes/binned-causes.ts";
import { addRowOptions, readTableFile, valuesOption } from "../options/table-options.ts";
import {
  type CauseTableOptions,
  historyColumns,
  type OutcomeOptions,
  readCauseTable,
} from "./read-cause-predictions.ts";

/** Whether an outcome is more than time and event. */
export function hasWholeOutcome(options: OutcomeOptions): boolean {
  const { causes, censored, entry, start, stop, weights } = options;
  return [causes, censored, entry, start, stop, weights].some((one) => one !== undefined);
}

/** What an outcome may have beyond time and event, for a command that reads curves or a model. */
export function addOutcomeOfCurves(command: Command): Command {
  const withCauses = command
    .option(
      "--causes <values>",
      "of --curves: the values of the event column that are events, each VALUE or VALUE=name",
      valuesOption,
    )
    .option("--censored <value>", "with --causes, the value that means censored (default: 0, no, none, …)");
  return addRowOptions(withCauses, "of --curves: ");
}

/** Curves with an outcome of the table beside them, and the table. */
export interface OutcomeCurves<Predicted extends Curves | CauseCurves, Observed extends BinnedOutcomes> {
  readonly curves: Predicted;
  readonly outcomes: Observed;
  /** The same as read, at their times. */
  readonly history: Outcomes;
  readonly grid: TimeGrid;
  /** The same rows, including the outcome's columns. */
  readonly table: Table;
  readonly columns: HistoryColumns;
  readonly id: string | null;
  readonly people: People | null;
  /** What should be said of the outcome; the warnings have the same as sentences. */
  readonly findings: readonly Finding[];
  readonly warnings: readonly string[];
}

/** Curves of every cause, beside a table. */
export async function readCurvesOfCauses(
  paths: readonly string[],
  options: CauseTableOptions,
): Promise<OutcomeCurves<CauseCurves, BinnedCauses>> {
  if (options.bin !== undefined) throw refuseBins();
  const [path, ...others] = paths;
  if (others.length > 0) throw refuseSecond();
  const { table, columns, history, curves, grid, notes } = await readCauseTable(path, options);
  const read = outcomesOf(history, columns);
  const { cause, ...outcomes } = binOutcomes(read, grid);
  if (cause === undefined) throw new InputError("no causes are given", { code: "cause.values" });
  const rest = { grid, table, columns, ...ofHistory(history, columns, notes) };
  return { curves, outcomes: { ...outcomes, cause }, history: read, ...rest };
}

/** Curves of one kind of event, in a file of their own or in the table's columns. */
export async function readCurvesOfHistory(
  path: string,
  paths: readonly string[],
  options: Omit<CauseTableOptions, "causes" | "curves">,
): Promise<OutcomeCurves<Curves, BinnedSingleCause>> {
  if (options.bin !== undefined) throw refuseBins();
  if (paths.length > 1) throw refuseSecond();
  const columns = historyColumns(options);
  const file = await readTableFile(path, paths.length === 0 ? options : {});
  const { curves, grid, names } = readSurvivalCurves(file, options);
  const table =
    paths.length === 0
      ? { ...file, columns: file.columns.filter(({ name }) => !names.includes(name)) }
      : await readTableFile(paths[0], options);
  if (table.rows !== file.rows) {
    throw new InputError(`the curves have ${file.rows} rows and the table has ${table.rows}`, {
      code: "rows.mismatch",
      where: `${file.name}, ${table.name}`,
      hint: "give one curve for each row of the table, in the same order",
    });
  }
  const history = readHistory(table, columns);
  const { cause: _, ...read } = outcomesOf(history, columns);
  const outcomes = binOutcomes(read as SingleCause, grid);
  return { curves, outcomes, history: read, grid, table, columns, ...ofHistory(history, columns, []) };
}

/** As models take them, weights 1 on average among other things; one cause named as such stays one. */
function outcomesOf(history: EventHistory, columns: HistoryColumns): Outcomes {
  const { cause } = history.outcomes;
  return { ...modelOutcomes(history, columns).outcomes, ...present({ cause }) };
}

function ofHistory(history: EventHistory, { id }: HistoryColumns, notes: readonly string[]) {
  const { people, told: findings } = history;
  return {
    id: id ?? null,
    people,
    findings,
    warnings: [...findings.map(({ message }) => message), ...notes],
  };
}

function refuseBins(): InputError {
  return new InputError("--bin is given with an outcome that is read from the table's times", {
    code: "option.conflict",
    hint: "leave --bin out and name the time: --time COLUMN",
  });
}

function refuseSecond(): InputError {
  return new InputError("both a model and --curves were given", {
    code: "option.conflict",
    hint: "give a model and a table, or --curves with the table",
  });
}
