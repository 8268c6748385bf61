/**
 * The sanity gate: what is looked at before anything is fitted. It looks for columns that are constant, that identify
 * rows, or that could only be known after the outcome (leaks/find-leaks.ts); for duplicate rows; for groups with too
 * few events; and for a test set whose follow-up the training set does not cover. It reports findings and changes
 * nothing. The outcome's own columns are checked where they are read (outcomes/read-outcomes.ts).
 */
import { log2, power } from "../../core/elementary.ts";
import { nameRows } from "../../core/errors.ts";
import { present } from "../../core/present.ts";
import { among, count, type Part, percent, personal, say, verb, whole } from "../../core/sentence.ts";
import { percentOf } from "../../core/text.ts";
import { checkLevels } from "../encode/rare-levels.ts";
import { findLeaks } from "../leaks/find-leaks.ts";
import { type RightCensored, refuseBeyondCensoring } from "../outcomes/outcomes.ts";
import {
  type InspectedOutcomes,
  inspectOutcomes,
  type OutcomeColumns,
  outcomeNames,
} from "../outcomes/read-outcomes.ts";
import { type Column, cellText, countMissing, findColumn, sameCells, type Table } from "../table.ts";
import { checkCells } from "./check-cells.ts";
import { createFinding, type Finding } from "./findings.ts";
import { findIdentifier } from "./identifiers.ts";

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
    findings.push(...checkCells(column));
    if (found.some((finding) => finding.level === "error")) {
      return { name, usable: false, reason: "gives the outcome away" };
    }
    if (identifier) return { name, usable: false, reason: "identifies rows" };
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
  // The outcome's dates are no features, and matter most.
  for (const name of outcome) {
    const column = findColumn(table, name);
    if (column.type === "date" && !columns.includes(column)) findings.push(...checkCells(column));
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
  outcomes: RightCensored,
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
export function checkFollowup(train: RightCensored, test: RightCensored): Finding[] {
  for (const outcomes of [train, test]) refuseBeyondCensoring(outcomes, "the check of follow-up");
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

/**
 * From this share of the rows on, duplicates are a warning: a table pasted twice, or features too coarse to tell people
 * apart.
 */
const MANY = 0.01;

/**
 * Rows that are the same in every column. Each row is hashed column by column over the bits of its values. Rows with
 * the same hash are then compared cell by cell, so everything called a duplicate really is one.
 */
export function findDuplicateRows(table: Table): Finding | null {
  const N = table.rows;
  if (N < 2 || table.columns.length === 0) return null;
  const hashes = hashRows(table);
  const columns = table.columns.map(sameCells);
  const isSameRow = (a: number, b: number) => columns.every((isSame) => isSame(a, b));
  // At most half full: twice the rows, rounded up to a power of two.
  const size = power(2, Math.ceil(log2(2 * N)));
  const slots = new Int32Array(size).fill(-1);
  const repeats: number[] = [];
  for (let row = 0; row < N; row++) {
    let slot = hashes[row] & (size - 1);
    while (slots[slot] >= 0 && !(hashes[slots[slot]] === hashes[row] && isSameRow(slots[slot], row))) {
      slot = (slot + 1) & (size - 1);
    }
    if (slots[slot] >= 0) repeats.push(row + 1);
    else slots[slot] = row;
  }
  if (repeats.length === 0) return null;
  const rows = repeats.length;
  const how = [count(rows, "row"), percent(rows, N), verb(rows, " repeats", " repeat")];
  return createFinding({
    code: "duplicate.rows",
    level: rows >= MANY * N ? "warning" : "note",
    column: null,
    said: say`${how} an earlier row in every column${personal(`: ${nameRows(repeats)}`)}`,
    evidence: { rows },
  });
}

/** Multiply-and-fold over the 32-bit halves of every cell; every NaN is one value, and so are 0 and −0. */
function hashRows(table: Table): Uint32Array {
  const hashes = new Uint32Array(table.rows).fill(0x811c9dc5);
  const number = new Float64Array(1);
  const halves = new Uint32Array(number.buffer);
  const fold = (row: number, bits: number) => {
    const mixed = Math.imul(hashes[row] ^ bits, 0x9e3779b1);
    hashes[row] = mixed ^ (mixed >>> 15);
  };
  for (const column of table.columns) {
    for (let row = 0; row < table.rows; row++) {
      if (column.type === "category") fold(row, column.codes[row]);
      else if (column.type === "boolean") fold(row, column.values[row]);
      else {
        number[0] = Number.isNaN(column.values[row]) ? Number.NaN : column.values[row] + 0;
        fold(row, halves[0]);
        fold(row, halves[1]);
      }
    }
  }
  return hashes;
}
