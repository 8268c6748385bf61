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
  checkPersonIntervals,
  checkWeightColumn,
} from "../checks/check-history.ts";
import { createProblemError, type Finding, type Problem, placeProblem, problem } from "../checks/findings.ts";
import { type Column, findColumn, type Table } from "../table.ts";
import type { EveryField, Outcomes } from "./outcomes.ts";
import { type People, type PersonColumn, readPeople } from "./people.ts";
import { type CauseColumns, readCauses } from "./read-causes.ts";
import {
  inspectOutcomes,
  type OutcomeColumns,
  outcomeNames,
  readTime,
  requireOutcomes,
} from "./read-outcomes.ts";

/** Which columns hold the outcome, with all it may have beyond time and event. */
export interface HistoryColumns extends OutcomeColumns, CauseColumns, PersonColumn {
  /** When a row came under observation, counted as its time is; without it, all at 0. */
  readonly entry?: string;
  /** The same where people have several rows, one after the other; `id` says whose they are. */
  readonly start?: string;
  /** How many people a row stands for. */
  readonly weights?: string;
}

/** What was read, and what should be said of it. */
export interface EventHistory {
  readonly outcomes: Outcomes;
  /** The names of causes 1, 2, …; null where one kind of event is told. */
  readonly causes: readonly string[] | null;
  /** Whose rows are whose; null where no column says so. */
  readonly people: People | null;
  readonly findings: readonly Finding[];
}

/** Whether an outcome has anything beyond time and event. */
export function isPlainOutcome({ entry, start, weights, causes, id }: HistoryColumns): boolean {
  return [entry, start, weights, causes, id].every((one) => one === undefined);
}

/** Reads the outcome with everything that columns are named for. */
export function readHistory(table: Table, columns: HistoryColumns): EventHistory {
  refuseOptions(table, columns);
  const N = table.rows;
  const causes =
    columns.causes === undefined ? null : readCauses(findColumn(table, columns.event), N, columns);
  const anyCause = causes && { ...causes, values: causes.values.map((cause) => (cause > 0 ? 1 : cause)) };
  const inspected = inspectOutcomes(table, columns, anyCause ?? undefined);
  const plain = requireOutcomes(table, inspected);
  const people = columns.id === undefined ? null : readPeople(table, columns.id);
  const [entryColumn, entry] = readEntry(table, columns);
  const [weightColumn, weight] = readWeights(table, columns);
  const history: EveryField<Outcomes> = {
    time: plain.time,
    event: plain.event,
    entry,
    cause: causes === null ? undefined : Uint8Array.from(causes.values),
    weight,
    id: people?.of,
  };
  const outcomes = present(history) as Outcomes;
  const problems: Problem[] = [];
  if (weightColumn !== null && weight !== undefined)
    problems.push(...checkWeightColumn(weightColumn, weight));
  if (entryColumn !== null) {
    const order = checkEntryOrder(entryColumn, outcomes);
    problems.push(...order);
    if (order.length === 0) {
      if (columns.start !== undefined) problems.push(...checkPersonIntervals(entryColumn, outcomes));
      problems.push(...checkEarlyRisk(entryColumn, outcomes));
    }
  }
  const placed = problems.map((one) => placeProblem(table, one));
  const refused = placed.find(({ finding }) => finding.level === "error");
  if (refused !== undefined) throw createProblemError(table, refused);
  const findings = [...inspected.findings, ...placed.map(({ finding }) => finding)];
  return { outcomes, causes: causes?.names ?? null, people, findings };
}

/** What anyone who uses such an outcome should hear. */
export function noteHistory({ findings }: EventHistory): string[] {
  const told = (finding: Finding) =>
    finding.level === "warning"
      ? !finding.code.startsWith("time.")
      : finding.code.startsWith("event.") && finding.evidence.values !== undefined;
  return findings.filter(told).map(({ message }) => message);
}

/** The names of all columns that hold the outcome: no feature is made from these. */
export function historyNames(columns: HistoryColumns): string[] {
  const { entry, start, weights } = columns;
  return [...outcomeNames(columns), ...[entry, start, weights].filter((name) => name !== undefined)];
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
  const names = [...historyNames(columns), ...(id === undefined ? [] : [id])];
  const twice = names.find((name, k) => names.indexOf(name) < k);
  if (twice !== undefined)
    refuse(
      `one column is named twice in the outcome: "${twice}"`,
      "time, entry, event, weights and id are different columns",
    );
}

/** Entries are read as times are: numbers, or days from the same origin. */
function readEntry(table: Table, columns: HistoryColumns): [Column | null, Float64Array | undefined] {
  const name = columns.start ?? columns.entry;
  if (name === undefined) return [null, undefined];
  const column = findColumn(table, name);
  const origin = columns.origin === undefined ? null : findColumn(table, columns.origin);
  const { values, problems } = readTime(column, origin, table.rows, "entry");
  // An entry at 0 is the ordinary case; everything else that is odd about a time is odd about an entry.
  const refused = problems.find(({ finding }) => finding.level === "error");
  if (refused !== undefined) throw createProblemError(table, placeProblem(table, refused));
  return [column, values];
}

function readWeights(table: Table, { weights }: HistoryColumns): [Column | null, Float64Array | undefined] {
  if (weights === undefined) return [null, undefined];
  const column = findColumn(table, weights);
  if (column.type === "number") return [column, column.values];
  const said = `weights must be numbers: ${column.name} holds none`;
  const hint = "name a column that says how many people a row stands for";
  throw createProblemError(table, problem("weights.values", "error", column, said, {}, [], hint));
}
