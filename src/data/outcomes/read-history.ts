/**
 * Outcomes beyond right censoring, read from a table: when each row came under observation (`entry`, or `start` with
 * several rows a person), which cause its event was of, how many people it stands for, and whose row it is. A field
 * that no column is named for is absent, so a plain outcome stays what read-outcomes.ts makes of it. What cannot be
 * read as meant is refused by name; what should be known is among the findings (checks/check-history.ts).
 */
import { InputError } from "../../core/errors.ts";
import { present } from "../../core/present.ts";
import {
  checkEarlyRisk,
  checkEntryOrder,
  checkFollowingRows,
  checkPersonIntervals,
  checkWeightColumn,
} from "../checks/check-history.ts";
import { createProblemError, type Finding, type Problem, placeProblem, problem } from "../checks/findings.ts";
import { type Column, findColumn, type Table } from "../table.ts";
import type { EveryField, Outcomes } from "./outcomes.ts";
import { findSpellings, type People, type PersonColumn, readPeople } from "./people.ts";
import { type CausesOf, readCauses } from "./read-causes.ts";
import {
  type InspectedOutcomes,
  inspectOutcomes,
  type OutcomeColumns,
  outcomeNames,
  pickTold,
  readTime,
  requireOutcomes,
} from "./read-outcomes.ts";

/** Which columns hold the outcome, with all it may have beyond time and event. */
export interface HistoryColumns extends OutcomeColumns, PersonColumn {}

/** What was read, and what should be said of it. */
export interface EventHistory {
  readonly outcomes: Outcomes;
  /** The names of causes 1, 2, …; null where one kind of event is told. */
  readonly causes: readonly string[] | null;
  /** Whose rows are whose; null where no column says so. */
  readonly people: People | null;
  readonly findings: readonly Finding[];
  /** Those of the findings that anyone who uses the outcome should hear; every verb passes them on. */
  readonly told: readonly Finding[];
}

/** Whether an outcome has anything beyond time and event. */
export function isPlainOutcome({ entry, start, weights, causes, id }: HistoryColumns): boolean {
  return [entry, start, weights, causes, id].every((one) => one === undefined);
}

/** An outcome that was inspected with everything that columns are named for. */
export interface InspectedHistory extends InspectedOutcomes {
  /** The names of causes 1, 2, …; null where one kind of event is told. */
  readonly causes: readonly string[] | null;
  /** The cause of every row, NaN where it cannot be read. */
  readonly causeOf: Float64Array | null; // [N]
}

/** Inspects time, event and causes, without refusing a value. */
export function inspectHistory(
  table: Table,
  columns: OutcomeColumns,
  causesOf: CausesOf = "request",
): InspectedHistory {
  const causes =
    columns.causes === undefined
      ? null
      : readCauses(findColumn(table, columns.event), table.rows, columns, causesOf);
  const anyCause = causes && { ...causes, values: causes.values.map((cause) => (cause > 0 ? 1 : cause)) };
  const inspected = inspectOutcomes(table, columns, anyCause ?? undefined);
  return { ...inspected, causes: causes?.names ?? null, causeOf: causes?.values ?? null };
}

/** Reads the outcome with everything that columns are named for. */
export function readHistory(
  table: Table,
  columns: HistoryColumns,
  inspected: InspectedHistory = inspectHistory(table, columns),
): EventHistory {
  refuseOptions(table, columns);
  const { causes, causeOf } = inspected;
  const plain = requireOutcomes(table, inspected);
  const people = columns.id === undefined ? null : readPeople(table, columns.id);
  const { entry, weight, problems } = readAdded(table, columns, { ...plain, ...present({ id: people?.of }) });
  const history: EveryField<Outcomes> = {
    time: plain.time,
    event: plain.event,
    entry,
    cause: causeOf === null ? undefined : Uint8Array.from(causeOf),
    weight,
    id: people?.of,
  };
  const outcomes = present(history) as Outcomes;
  const refused = problems.find(({ finding }) => finding.level === "error");
  if (refused !== undefined) throw createProblemError(table, refused);
  const findings = [
    ...inspected.findings,
    ...problems.map(({ finding }) => finding),
    ...findSpellings(table, columns),
  ];
  return { outcomes, causes, people, findings, told: pickTold(findings) };
}

/** What is wrong with entries, intervals and weights, where time and event can be read; for a description. */
export function checkHistory(
  table: Table,
  columns: HistoryColumns,
  { outcomes, usable, refused }: InspectedHistory,
): readonly Finding[] {
  refuseOptions(table, columns);
  const id = columns.id === undefined ? undefined : readPeople(table, columns.id).of;
  const spellings = findSpellings(table, columns);
  if (outcomes !== null && refused === null) {
    const { problems } = readAdded(table, columns, { ...outcomes, ...present({ id }) });
    return [...problems.map(({ finding }) => finding), ...spellings];
  }
  // Whoever has to correct events should hear of the errors in other columns as well, on the rows that can be read.
  const { problems } = readAdded(table, columns, { ...setApart(usable, outcomes, id) }, usable);
  const errors = problems.map(({ finding }) => finding).filter(({ level }) => level === "error");
  return [...errors, ...spellings];
}

/** Rows that cannot be read as people of their own, under observation for a moment: nothing is wrong with those. */
function setApart(
  usable: Uint8Array,
  outcomes: Pick<Outcomes, "time" | "event"> | null,
  id: Int32Array | undefined,
): Pick<Outcomes, "time" | "event" | "id"> {
  const N = usable.length;
  const people = id?.reduce((most, one) => Math.max(most, one), -1) ?? -1;
  return {
    time: Float64Array.from(usable, (isRead, row) => (isRead ? (outcomes?.time[row] ?? 1) : 1)),
    event: outcomes?.event ?? new Uint8Array(N),
    ...present({ id: id?.map((one, row) => (usable[row] ? one : people + 1 + row)) }),
  };
}

/** Entries and weights as they are written, with everything that is wrong with them. */
function readAdded(
  table: Table,
  columns: HistoryColumns,
  known: Pick<Outcomes, "time" | "event" | "id">,
  usable?: Uint8Array,
): Pick<Outcomes, "entry" | "weight"> & { readonly problems: readonly Problem[] } {
  const { column: entryColumn, values: entry, problems: ofEntry } = readEntry(table, columns);
  const { column: weightColumn, values: weight, problems: ofWeights } = readWeights(table, columns);
  const problems = [...ofEntry, ...ofWeights];
  if (weightColumn !== null && weight !== undefined && ofWeights.length === 0)
    problems.push(...checkWeightColumn(weightColumn, weight));
  if (entryColumn !== null && entry !== undefined && ofEntry.length === 0) {
    const outcomes = {
      ...known,
      entry: usable === undefined ? entry : entry.map((one, row) => one * usable[row]),
    };
    const order = checkEntryOrder(entryColumn, outcomes);
    problems.push(...order);
    if (order.length === 0) {
      const checkRows = columns.start === undefined ? checkFollowingRows : checkPersonIntervals;
      problems.push(...checkRows(entryColumn, outcomes));
      problems.push(...checkEarlyRisk(entryColumn, outcomes));
    }
  }
  return { ...present({ entry, weight }), problems: problems.map((one) => placeProblem(table, one)) };
}

/**
 * The outcomes as models take them: weights are 1 on average, so that they change who counts and not how much all rows
 * count beside a prior; ids stay only where a person's rows follow on each other, which decides whose bin it is.
 */
export function modelOutcomes(
  { outcomes, causes }: EventHistory,
  { start }: OutcomeColumns,
): { readonly outcomes: Outcomes; readonly causes: readonly string[] | null } {
  const { id, weight, cause, ...rest } = outcomes;
  const total = weight?.reduce((sum, one) => sum + one, 0) ?? 0;
  // Nothing competes with one cause alone.
  const several = causes !== null && causes.length > 1 ? causes : null;
  return {
    causes: several,
    outcomes: {
      ...rest,
      ...(several && cause && { cause }),
      ...(weight && { weight: weight.map((one) => (one * weight.length) / total) }),
      ...(start !== undefined && id && { id }),
    },
  };
}

function refuseOptions(table: Table, columns: HistoryColumns): void {
  const refuse = (message: string, hint: string) => {
    throw new InputError(message, { code: "outcomes.options", where: table.name, hint });
  };
  const { entry, start, id, causes, eventIs } = columns;
  if (start !== undefined && id === undefined)
    refuse(
      "start and stop are given, but not whose rows they are",
      "name the column of people with --id COLUMN",
    );
  if (start !== undefined && entry !== undefined)
    refuse(
      "both --start and --entry are given",
      "--start is the entry where people have several rows: give one",
    );
  if (causes !== undefined && eventIs !== undefined)
    refuse("both --causes and --event-is are given", "--causes names every event: leave --event-is out");
  const names = [...outcomeNames(columns), ...(id === undefined ? [] : [id])];
  const twice = names.find((name, k) => names.indexOf(name) < k);
  if (twice !== undefined)
    refuse(
      `one column is named twice in the outcome: "${twice}"`,
      "time, entry, event, weights and id are different columns",
    );
}

/** A column that was named, what it holds, and why it cannot be used. */
interface AddedColumn {
  readonly column: Column | null;
  readonly values: Float64Array | undefined;
  readonly problems: readonly Problem[];
}

const NO_COLUMN: AddedColumn = { column: null, values: undefined, problems: [] };

/** Entries are read as times are: numbers, or days from the same origin. */
function readEntry(table: Table, columns: HistoryColumns): AddedColumn {
  const name = columns.start ?? columns.entry;
  if (name === undefined) return NO_COLUMN;
  const column = findColumn(table, name);
  const origin = columns.origin === undefined ? null : findColumn(table, columns.origin);
  const { values, problems } = readTime(column, origin, table.rows, "entry");
  // An entry at 0 is the ordinary case; everything else that is odd about a time is odd about an entry.
  return { column, values, problems: problems.filter(({ finding }) => finding.level === "error") };
}

function readWeights(table: Table, { weights }: HistoryColumns): AddedColumn {
  if (weights === undefined) return NO_COLUMN;
  const column = findColumn(table, weights);
  if (column.type === "number") return { column, values: column.values, problems: [] };
  const said = `weights must be numbers: ${column.name} holds none`;
  const hint = "name a column that says how many people a row stands for";
  return {
    column,
    values: undefined,
    problems: [problem("weights.values", "error", column, said, {}, [], hint)],
  };
}
