/**
 * Predicted curves with the outcomes and the columns of the same rows: out of a model and a table, or of a file of
 * curves that any program wrote (with a table beside it, row by row, when the curves' file does not hold everything). A
 * model that was trained on this very table is judged on its test rows only, where they can be drawn again
 * (unseen-rows.ts); a search gets rows it knows as well.
 */
import type { Command } from "commander";
import { InputError } from "../../core/errors.ts";
import { present } from "../../core/present.ts";
import type { Curves } from "../../data/curves/curves.ts";
import { readCurves } from "../../data/curves/read-curves.ts";
import type { BinnedOutcomes } from "../../data/outcomes/outcomes.ts";
import { type People, pickPeople } from "../../data/outcomes/people.ts";
import { type OutcomeColumns, outcomeNames } from "../../data/outcomes/read-outcomes.ts";
import type { TimeGrid } from "../../data/outcomes/time-grid.ts";
import { selectRows, type Table } from "../../data/table.ts";
import type { Model } from "../../training/model.ts";
import { gridOf } from "../../verbs/predict.ts";
import { addIdOption, findPeople } from "../options/find-people.ts";
import {
  parsePositive,
  readTableFile,
  type TableOptions,
  withCategoriesOf,
} from "../options/table-options.ts";
import { predictRows } from "../rows/score-rows.ts";
import {
  predictSearchedRows,
  predictUnseenRows,
  type SearchedRows,
  type UnseenRowsInput,
} from "../rows/unseen-rows.ts";
import { openBackendOf } from "../workers/model-backend.ts";
import { readModel } from "./model-file.ts";
import { describeOrigin } from "./provenance.ts";

export interface PredictionOptions extends TableOptions {
  readonly curves?: string;
  readonly bin?: string;
  readonly event?: string;
  readonly time?: string;
  readonly origin?: string;
  readonly horizon?: number;
  readonly split?: string;
  readonly id?: string;
  readonly threads: number;
}

export interface Predictions {
  readonly curves: Curves; // [N,T]
  readonly outcomes: BinnedOutcomes; // [N]
  /** In bins where curves come without times. */
  readonly grid: TimeGrid;
  /** The same rows, the outcome's columns included. */
  readonly table: Table;
  readonly columns: OutcomeColumns;
  /** The column of ids, and whose rows these are; null where rows are people. */
  readonly id: string | null;
  readonly people: People | null;
  /** Null for curves of another program. */
  readonly model: Model | null;
  readonly warnings: readonly string[];
  /** Places of the rows that are to confirm what is found on the others; null where nothing sets them apart. */
  readonly confirmRows: Int32Array | null;
  /** How many rows trained the model, where confirmRows sets them apart. */
  readonly trainingRows: number | null;
  /** What the rows are that are searched, and those that confirm: "training rows", "rows". */
  readonly rowKinds: { readonly search: string; readonly confirm: string };
}

export function addPredictionOptions(command: Command): Command {
  command
    .option("--curves <file>", "predictions: one row a person, S1..ST or S(TIME).., event, and bin or time")
    .option("--bin <column>", 'the time bin of each person, 1..T (default: "bin")')
    .option("--event <column>", 'whether the event happened, 0/1 (default: "event")')
    .option("--time <column>", "the time of each person, in place of the bin")
    .option("--origin <column>", "the date that times are counted from, in days, where --time is a date")
    .option("--horizon <time>", "the end of bin T, with --time", parsePositive)
    .option("--split <file>", "the row,set table that the model was trained with");
  return addIdOption(command);
}

/**
 * For what: "judge" takes rows that are new to the model and no others, "search" also rows it knows, told apart by
 * confirmRows.
 */
export type PredictionUse = "judge" | "search";

/** `paths`: a model and a table; with --curves a table or nothing. */
export async function readPredictions(
  paths: readonly string[],
  options: PredictionOptions,
  use: PredictionUse = "judge",
): Promise<Predictions> {
  if (options.curves !== undefined) return readWithCurves(options.curves, paths, options);
  if (paths.length === 2) return predictTable(paths[0], paths[1], options, use);
  throw new InputError("no predictions were given", {
    code: "option.missing",
    hint: "give a model and a table, or predictions with --curves FILE",
  });
}

async function readWithCurves(
  path: string,
  paths: readonly string[],
  options: PredictionOptions,
): Promise<Predictions> {
  if (paths.length > 1) {
    throw new InputError("both a model and --curves were given", {
      code: "option.conflict",
      hint: "give a model and a table, or --curves with at most one table",
    });
  }
  const file = await readTableFile(path, paths.length === 0 ? options : {});
  const beside = paths.length === 0 ? null : await readTableFile(paths[0], options);
  if (beside !== null && beside.rows !== file.rows) {
    throw new InputError(`the curves have ${file.rows} rows and the table has ${beside.rows}`, {
      code: "rows.mismatch",
      where: `${file.name}, ${beside.name}`,
      hint: "give one curve for each row of the table, in the same order",
    });
  }
  // What the curves' file says of a column is not asked of the table as well.
  const named = new Set(file.columns.map(({ name }) => name));
  const more = beside?.columns.filter(({ name }) => !named.has(name)) ?? [];
  const { curves, outcomes, others, notes, grid, timeColumn } = readCurves(
    { ...file, columns: [...file.columns, ...more] },
    options,
  );
  const columns = {
    time: timeColumn,
    event: options.event ?? "event",
    ...present({ origin: options.origin }),
  };
  const names = outcomeNames(columns);
  const outcome = [...file.columns, ...more].filter(({ name }) => names.includes(name));
  const described =
    beside === null ? others.columns : beside.columns.filter((column) => !outcome.includes(column));
  const table = { name: beside?.name ?? file.name, rows: file.rows, columns: [...described, ...outcome] };
  const { id, people } = findPeople(table, options, null);
  return {
    curves,
    outcomes,
    grid,
    table,
    columns,
    id,
    people,
    model: null,
    warnings: notes,
    confirmRows: null,
    trainingRows: null,
    rowKinds: UNDIVIDED,
  };
}

const UNDIVIDED = { search: "rows", confirm: "rows" } as const;

async function predictTable(
  modelPath: string,
  path: string,
  options: PredictionOptions,
  use: PredictionUse,
): Promise<Predictions> {
  const model = await readModel(modelPath);
  const table = await readTableFile(path, withCategoriesOf(model, options));
  const { id, people, warnings } = findPeople(table, options, model);
  const backend = await openBackendOf(model, options.threads);
  try {
    const input = {
      model,
      table,
      sha256: (await describeOrigin(path, table, null)).table?.sha256 ?? null,
      ...present({ split: options.split }),
      predictRows: (chosen: Int32Array) => predictRows(model, table, chosen, backend, people),
    };
    const predicted = await (use === "search" ? predictSearchedRows(input) : judgeRows(input));
    const { rows, curves, binned, warning, confirm, searchedAre, confirmAre, trainingRows } = predicted;
    return {
      curves,
      outcomes: binned,
      grid: gridOf(model),
      table: selectRows(table, rows),
      columns: model.columns,
      id,
      people: people === null ? null : pickPeople(people, rows),
      model,
      warnings: [...(warning === null ? [] : [warning]), ...warnings],
      confirmRows: confirm,
      trainingRows,
      rowKinds: { search: searchedAre, confirm: confirmAre },
    };
  } finally {
    await backend?.close();
  }
}

async function judgeRows(input: UnseenRowsInput): Promise<SearchedRows> {
  const { search, confirm } = UNDIVIDED;
  return {
    ...(await predictUnseenRows(input)),
    confirm: null,
    searchedAre: search,
    confirmAre: confirm,
    trainingRows: null,
  };
}
