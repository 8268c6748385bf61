/**
 * The sanity gate: what is looked at before anything is fitted. It looks for columns that are constant, that identify
 * rows, or that could only be known after the outcome (leaks/find-leaks.ts); for duplicate rows; for groups with too
 * few events; and for a test set whose follow-up the training set does not cover. It reports findings and changes
 * nothing; only several rows of one person are refused until a run says whose they are. The outcome's own columns are
 * checked where they are read (outcomes/read-outcomes.ts).
 */
import { InputError } from "../../core/errors.ts";
import { present } from "../../core/present.ts";
import {
  among,
  continueSentence,
  count,
  type Part,
  percent,
  personal,
  say,
  whole,
} from "../../core/sentence.ts";
import { percentOf } from "../../core/text.ts";
import { checkLevels } from "../encode/rare-levels.ts";
import { findLeaks } from "../leaks/find-leaks.ts";
import type { Outcomes } from "../outcomes/outcomes.ts";
import type { PersonColumn } from "../outcomes/people.ts";
import {
  type InspectedOutcomes,
  inspectOutcomes,
  type OutcomeColumns,
  outcomeNames,
} from "../outcomes/read-outcomes.ts";
import { type Column, cellText, countMissing, findColumn, sameCells, type Table } from "../table.ts";
import { checkCells, findDuplicateRows } from "./check-cells.ts";
import { whyDoubtful } from "./check-marks.ts";
import { createFinding, type Finding, type Notice } from "./findings.ts";
import { findIdentifier, isNamedAsId } from "./identifiers.ts";

export interface CheckedColumns extends OutcomeColumns {
  /** The columns to check; every column but time and event unless given. */
  readonly features?: readonly string[];
}

export interface CheckedFeature {
  readonly name: string;
  readonly usable: boolean;
  /** Why not, in a few words. */
  readonly reason: string | null;
}

export interface CheckedTable {
  readonly findings: readonly Finding[];
  readonly features: readonly CheckedFeature[];
}

/**
 * Fewer events cannot constrain a model or audit it: the Kaplan-Meier curve of so few has a standard error of a tenth.
 */
const MIN_GROUP_EVENTS = 10;
/** Test rows later than every training row: up to this share is the luck of a split. */
const FEW_LATER = 0.01;
/** Below this share of rows inside the other set's range of times, the ranges hardly overlap. */
const HARDLY = 0.5;

/** Looks for leaks, ids, bad times and duplicates before anything is fitted. */
export function checkTable(
  table: Table,
  options: CheckedColumns,
  { outcomes, usable }: InspectedOutcomes = inspectOutcomes(table, options),
): CheckedTable {
  const outcome = outcomeNames(options);
  const columns = (options.features ?? table.columns.map((column) => column.name))
    .filter((name) => (name === options.origin ? options.features !== undefined : !outcome.includes(name)))
    .map((name) => findColumn(table, name));
  const varying = columns.filter((column) => !isConstant(column));
  const leaks = outcomes ? findLeaks(varying, outcomes, usable, contextOf(table, columns, options)) : [];
  const findings: Finding[] = [];
  const features = columns.map((column): CheckedFeature => {
    const { name } = column;
    if (isConstant(column)) {
      findings.push(describeConstant(column, table.rows));
      const isEmpty = countMissing(column) > 0;
      return { name, usable: false, reason: isEmpty ? "has no value" : "has a single value" };
    }
    const identifier = findIdentifier(table, column);
    const levels = column.type === "category" && identifier === null ? checkLevels(column) : null;
    const found = leaks.filter((finding) => finding.column === name);
    findings.push(...found, ...(identifier ? [identifier] : []), ...(levels ? [levels] : []));
    findings.push(...checkCells(column, table));
    if (found.some((finding) => finding.level === "error")) {
      return { name, usable: false, reason: "gives the outcome away" };
    }
    if (identifier) return { name, usable: false, reason: "identifies rows" };
    const doubt = whyDoubtful(column);
    if (doubt !== null) return { name, usable: false, reason: doubt };
    if (levels?.evidence.frequent === 0) {
      const { values, rows } = levels.evidence;
      return {
        name,
        usable: false,
        reason: `has ${values} levels in ${rows} rows, none of them often enough`,
      };
    }
    return { name, usable: true, reason: null };
  });
  const time = findColumn(table, options.time);
  if (options.origin === undefined && table.rows > 1 && isConstant(time)) {
    findings.push(describeConstant(time, table.rows));
  }
  const duplicates = findDuplicateRows(table);
  return { findings: [...findings, ...(duplicates ? [duplicates] : [])], features };
}

/** What a judged column may form a pair with: the other columns, and the date that times are counted from. */
function contextOf(table: Table, judged: readonly Column[], options: CheckedColumns) {
  const taken = new Set([...judged.map(({ name }) => name), ...outcomeNames(options)]);
  const partners = options.features === undefined ? [] : table.columns.filter(({ name }) => !taken.has(name));
  const { origin } = options;
  return { partners, ...present({ origin: origin === undefined ? undefined : findColumn(table, origin) }) };
}

/** One value in every row, or none in any; a value against missing is not constant. */
function isConstant(column: Column): boolean {
  const isSame = sameCells(column);
  const { length } = column.type === "category" ? column.codes : column.values;
  for (let row = 1; row < length; row++) if (!isSame(row, 0)) return false;
  return true;
}

function describeConstant(column: Column, rows: number): Finding {
  const missing = countMissing(column);
  const has = missing > 0 || rows === 0 ? "no value" : `the value ${cellText(column, 0)}`;
  return createFinding({
    code: "constant",
    level: "warning",
    column: column.name,
    said: say`${column.name} is constant: ${has} in ${whole("all", rows, "row")}`,
    evidence: { rows, missing },
  });
}

export interface CheckedGroup {
  readonly name: string;
  readonly rows: ArrayLike<number>; // 0-based
}

/** Finds groups with too few events to say anything of. */
export function checkGroups(
  groups: readonly CheckedGroup[],
  outcomes: Pick<Outcomes, "event">,
  options: { readonly minEvents?: number } = {},
): Finding[] {
  const { minEvents = MIN_GROUP_EVENTS } = options;
  return groups.flatMap(({ name, rows }) => {
    let events = 0;
    for (let i = 0; i < rows.length; i++) events += outcomes.event[rows[i]];
    if (events >= minEvents) return [];
    const has = among(events, "event", rows.length, "row");
    return [
      createFinding({
        code: "group.events",
        level: "warning",
        column: null,
        said: say`group "${name}" has ${has}: fewer than ${minEvents}, too few to constrain or audit`,
        evidence: { group: name, rows: rows.length, events, minEvents },
      }),
    ];
  });
}

/** Whether the follow-up of the training rows covers that of the test rows. */
export function checkFollowup(train: Pick<Outcomes, "time">, test: Pick<Outcomes, "time">): Finding[] {
  if (train.time.length === 0 || test.time.length === 0) return [];
  const trained = rangeOf(train.time);
  const tested = rangeOf(test.time);
  const testInside = countInside(test.time, trained);
  const trainInside = countInside(train.time, tested);
  const evidence = {
    trainFirst: trained.first,
    trainLast: trained.last,
    testFirst: tested.first,
    testLast: tested.last,
    testInside,
    trainInside,
  };
  // The first and last times belong to single people.
  const spans = personal(
    `: training times span ${trained.first} to ${trained.last}, test times ${tested.first} to ${tested.last}`,
  );
  const finding = (level: Finding["level"], said: readonly Part[]): Finding[] => [
    createFinding({ code: "followup.overlap", level, column: null, said, evidence }),
  ];
  if (tested.first > trained.last || trained.first > tested.last) {
    return finding("error", say`follow-up does not overlap${spans}`);
  }
  const [testRows, trainRows] = [test.time.length, train.time.length];
  if (testInside < HARDLY * testRows || trainInside < HARDLY * trainRows) {
    const ofTest = `${percentOf(testInside, testRows)} of the test rows`;
    const ofTraining = `${percentOf(trainInside, trainRows)} of the training rows`;
    return finding(
      "warning",
      say`follow-up hardly overlaps${spans}; ${ofTest} and ${ofTraining} lie in both`,
    );
  }
  let later = 0;
  for (const time of test.time) if (time > trained.last) later++;
  if (later === 0) return [];
  const beyond = [count(later, "test row"), percent(later, testRows)];
  const level = later > FEW_LATER * testRows ? "warning" : "note";
  return finding(level, say`${beyond} beyond the training follow-up${spans}`);
}

interface TimeRange {
  readonly first: number;
  readonly last: number;
}

function rangeOf(times: Float64Array): TimeRange {
  let first = Number.POSITIVE_INFINITY;
  let last = Number.NEGATIVE_INFINITY;
  for (const time of times) {
    first = Math.min(first, time);
    last = Math.max(last, time);
  }
  return { first, last };
}

function countInside(times: Float64Array, { first, last }: TimeRange): number {
  let inside = 0;
  for (const time of times) if (time >= first && time <= last) inside++;
  return inside;
}

/** What a run is told about whose rows are whose. */
export interface RowIndependence extends PersonColumn {
  /** Rows are people even where a column looks like the id of people with several rows. */
  readonly rowsAreIndependent?: boolean;
}

/** The finding that people have several rows, from the first column that shows it; null where none does. */
export function findRepeatedPeople(
  table: Table,
  checked: CheckedTable,
  outcome: { readonly time: string; readonly event: string },
): Finding | null {
  const isChecked = new Set(checked.features.map(({ name }) => name));
  for (const column of table.columns) {
    const { name } = column;
    if (name === outcome.time || name === outcome.event) continue;
    // A run that names its features has only those checked, yet its people may repeat all the same.
    const finding = isChecked.has(name)
      ? checked.findings.find((one) => one.code === "id" && one.column === name)
      : findIdentifier(table, column);
    if (finding && isOfPeople(table, finding)) return finding;
  }
  return null;
}

/**
 * findIdentifier warns of more: a column whose values all occur equally often may also be a percentile. It counts here
 * only if another column never differs within a value, if it holds texts, if its name is that of an id, or if it counts
 * from row to row (1, 1, 2, 2, 3, 3).
 */
function isOfPeople(table: Table, { column, evidence }: Finding): boolean {
  const { fixedColumns } = evidence;
  if (column === null || typeof fixedColumns !== "number") return false;
  if (fixedColumns > 0) return true;
  const own = findColumn(table, column);
  return own.type === "category" || isNamedAsId(column) || countsOn(own);
}

/** Whether the column's numbers stay the same or rise by 1 from each row to the next. */
function countsOn(column: Column): boolean {
  if (column.type !== "number") return false;
  const { values } = column;
  return values.every(
    (value, row) => row === 0 || value === values[row - 1] || value === values[row - 1] + 1,
  );
}

/**
 * Refuses several rows of one person unless the run says whose they are; says so where rows are taken as they are. If
 * rows are split one by one, such a person both teaches the model and judges it, and every interval counts one person
 * twice.
 */
export function checkIndependence(
  table: Table,
  checked: CheckedTable,
  request: RowIndependence & { readonly time: string; readonly event: string },
): readonly Notice[] {
  if (request.id !== undefined && request.rowsAreIndependent === true)
    throw new InputError("both --id and --rows-are-independent are given", {
      code: "rows.options",
      where: table.name,
      hint: `leave --id out if every row is a person of its own; otherwise rows of one ${request.id} stay together`,
    });
  if (request.id !== undefined) return [];
  const finding = findRepeatedPeople(table, checked, request);
  if (finding === null) return [];
  const { column, message } = finding;
  if (request.rowsAreIndependent === true) {
    const sentence = continueSentence(finding.sentence, "; they are taken as independent, as asked");
    return [{ level: "warning", sentence }];
  }
  throw new InputError(message, {
    code: "rows.repeated",
    where: `${table.name}, column "${column}"`,
    hint:
      `--id ${column} keeps the rows of a person together; ` +
      "--rows-are-independent takes every row as a person of its own",
  });
}
