/**
 * Reads what an audit by cause judges: a table with the outcome, its causes, late entry and weights, and beside it, row
 * by row, a file of curves for each cause; the groups of the table; and what should be said of them.
 */
import { InputError } from "../../core/errors.ts";
import { namesOf } from "../../core/names.ts";
import { present } from "../../core/present.ts";
import { countOf } from "../../core/text.ts";
import type { Finding } from "../../data/checks/findings.ts";
import type { CauseCurves } from "../../data/curves/cause-curves.ts";
import { parseCauseFiles, readCauseCurves } from "../../data/curves/read-cause-curves.ts";
import type { Outcomes } from "../../data/outcomes/outcomes.ts";
import { haveSeveralRows, type People } from "../../data/outcomes/people.ts";
import {
  type EventHistory,
  type HistoryColumns,
  inspectHistory,
  readHistory,
} from "../../data/outcomes/read-history.ts";
import { outcomeNames } from "../../data/outcomes/read-outcomes.ts";
import { binningGap, type TimeGrid } from "../../data/outcomes/time-grid.ts";
import type { Table } from "../../data/table.ts";
import type { StudyGroup } from "../../study/study.ts";
import { checkCauseRequirements } from "../../verbs/causes/cause-requirements.ts";
import type { Requirement } from "../../verbs/requirements.ts";
import {
  checkHistoryOptions,
  type GroupOptions,
  groupsBy,
  readGroups,
  readTableFile,
  type TableOptions,
} from "../options/table-options.ts";
import type { ReportOptions, RequireOptions } from "../print/write-report.ts";
import { refuseUnwritable } from "./output-path.ts";

/** What an outcome may have beyond time and event, as options name it. */
export interface OutcomeOptions {
  readonly causes?: readonly string[];
  readonly censored?: string;
  readonly entry?: string;
  readonly start?: string;
  readonly stop?: string;
  readonly weights?: string;
}

/** What an audit by cause is given beyond any audit. */
export interface CauseOptions extends OutcomeOptions {
  readonly at?: readonly number[];
  /** NAME=FILE each, or several with commas. */
  readonly curves?: readonly string[];
}

/** All that the command takes with --causes. */
export type CauseCommandOptions = CauseOptions &
  GroupOptions &
  ReportOptions &
  RequireOptions &
  TableOptions & {
    readonly causes: readonly string[];
    readonly time?: string;
    readonly event?: string;
    readonly origin?: string;
    readonly horizon?: number;
    readonly id?: string;
    readonly by?: readonly string[];
    readonly bin?: string;
    readonly split?: string;
    readonly allRows?: boolean;
    readonly certify?: number;
    readonly json?: boolean;
  };

/** Everything that is judged: curves of the rows, what became of them, and the groups. */
export interface CausePredictions {
  readonly title: string;
  readonly table: Table;
  readonly curves: CauseCurves;
  readonly outcomes: Outcomes;
  readonly grid: TimeGrid;
  readonly groups: readonly StudyGroup[];
  readonly people: People | null;
  /** What the checks say about the outcome. */
  readonly findings: readonly Finding[];
  /** What else should be said. */
  readonly notes: readonly string[];
  readonly files: readonly { readonly role: string; readonly path: string; readonly name?: string }[];
}

/** A model has its own outcome: its causes or none, its entries, its weights. */
export function refuseOutcomeOfModel(options: OutcomeOptions): void {
  for (const name of namesOf(OWN_OF_MODEL)) {
    if (options[name] === undefined) continue;
    throw new InputError(`--${name} is given with a model, which knows its own ${OWN_OF_MODEL[name]}`, {
      code: "option.conflict",
      where: `--${name}`,
      hint: `leave --${name} out; to judge other curves, give the table alone and --curves NAME=FILE,NAME=FILE`,
    });
  }
}

const OWN_OF_MODEL = {
  causes: "causes",
  censored: "causes",
  entry: "entries",
  start: "entries",
  stop: "times",
  weights: "weights",
} as const satisfies Readonly<Record<keyof OutcomeOptions, string>>;

/** What the curves of several causes and their table are read with. */
export type CauseTableOptions = OutcomeOptions &
  TableOptions & {
    readonly causes: readonly string[];
    readonly curves?: readonly string[];
    readonly time?: string;
    readonly event?: string;
    readonly origin?: string;
    readonly horizon?: number;
    readonly id?: string;
    readonly bin?: string;
  };

/** A table with the outcome, and beside it the curves of every cause. */
export interface CauseTable {
  readonly table: Table;
  readonly path: string;
  readonly columns: HistoryColumns;
  readonly history: EventHistory;
  readonly curves: CauseCurves;
  readonly grid: TimeGrid;
  readonly files: ReturnType<typeof parseCauseFiles>;
  /** Where the curves have too few times. */
  readonly notes: readonly string[];
}

/** Reads the table with the outcome, and beside it a file of curves for each cause. */
export async function readCauseTable(
  path: string | undefined,
  options: CauseTableOptions,
): Promise<CauseTable> {
  const { curves: given, horizon } = options;
  if (path === undefined || given === undefined) {
    throw new InputError(path === undefined ? "no table is given" : "no curves are given", {
      code: "option.missing",
      hint: "give the table with the outcome, and a file of curves for each cause: --curves NAME=FILE,NAME=FILE",
    });
  }
  const columns = historyColumns(options);
  const table = await readTableFile(path, options);
  const history = readHistory(table, columns, inspectHistory(table, columns, "curves"));
  const files = parseCauseFiles(given, history.causes ?? []);
  const tables = [];
  for (const { cause, path: from } of files) tables.push({ cause, table: await readTableFile(from, {}) });
  const { curves, grid } = readCauseCurves(tables, table.rows, present({ horizon }));
  return {
    table,
    path,
    columns,
    history,
    curves,
    grid,
    files,
    notes: warnOfFewTimes(history.outcomes, grid),
  };
}

/** The columns of an outcome as options name them. */
export function historyColumns(options: Omit<CauseTableOptions, "causes"> & OutcomeOptions): HistoryColumns {
  const { time = "time", event = "event", stop, ...rest } = options;
  const { causes, censored, origin, entry, start, weights, id } = rest;
  checkHistoryOptions({ time, ...present({ start, stop, causes, censored }) });
  return { time, event, ...present({ causes, censored, origin, entry, start, weights, id }) };
}

/** A table with the outcome, a file of curves for each cause, and the groups of the table. */
export async function readCausePredictions(
  path: string | undefined,
  options: CauseCommandOptions,
  requirements: readonly Requirement[],
): Promise<CausePredictions> {
  const { id } = options;
  const read = await readCauseTable(path, options);
  const { table, columns, history, curves, grid, files } = read;
  await refuseUnwritable(
    [options.report],
    files.map((file) => file.path),
  );
  const names = [...outcomeNames(columns), ...(id === undefined ? [] : [id])];
  const groups = [...groupsBy(table, options.by ?? []), ...(await readGroups(table, options, names))].filter(
    // The audit's first line already is everyone.
    ({ name }) => name !== "all",
  );
  checkCauseRequirements(
    requirements,
    groups.map(({ name }) => name),
  );
  return {
    title: `${files.map(({ cause }) => cause).join(", ")} on ${table.name}`,
    table,
    curves,
    outcomes: history.outcomes,
    grid,
    groups,
    people: history.people,
    findings: history.told,
    notes: [...read.notes, ...describeCausePeople(history.people)],
    files: [
      { role: "table", path: read.path, name: table.name },
      ...files.map(({ cause, path: from }) => ({ role: `curves of ${cause}`, path: from })),
    ],
  };
}

/** Times are rounded up to the next column's time, censored ones too, so too few columns raise what is left. */
function warnOfFewTimes(outcomes: Outcomes, grid: TimeGrid): string[] {
  if (outcomes.entry !== undefined || outcomes.weight !== undefined) return [];
  const { time, event } = outcomes;
  const { raw, binned, exceedsHalfStandardError } = binningGap({ time, event }, grid);
  if (!exceedsHalfStandardError) return [];
  return [
    `${countOf(grid.T, "time")} of prediction ${grid.T === 1 ? "raises" : "raise"} the share without an event at the ` +
      `end from ${raw.toFixed(4)} to ${binned.toFixed(4)}, over half a standard error: predict for more times`,
  ];
}

function describeCausePeople(people: People | null): string[] {
  if (people === null || !haveSeveralRows(people)) return [];
  return [
    `${countOf(people.of.length, "row")} of ${people.count} people: noise floor, bounds and the individual logrank ` +
      "go by person; numbers at risk count rows",
  ];
}
