/**
 * Columns that name rows or patients instead of describing them. The values of a measurement may well be all different,
 * so an identifier is recognised by what measurements do not do. It counts: integers one after the other in the order
 * of the rows, or dense and without ties. Or it is text that hardly ever repeats. Or it repeats because a patient has
 * several rows; then other columns are the same in all rows of one value, or its name says so. A name alone proves
 * nothing. Sparse record numbers out of order are not recognised: nothing in their values tells them from a
 * measurement.
 */
import { keepDistinct } from "../../core/ascending.ts";
import { log } from "../../core/elementary.ts";
import { compareIntervals, compareOrder } from "../leaks/copies.ts";
import { type Column, isMissing, MISSING_BOOLEAN, sameCells, type Table } from "../table.ts";
import { createFinding, type Finding, type FindingParts } from "./findings.ts";

/** Share of known values, and of different ones among them, that still counts as all. */
const NEARLY_ALL = 0.95;
/** Integers 1 apart from row to row: at most one table in 40 000 sorted by a measurement has 8 such rows. */
const MIN_CONSECUTIVE = 8;
/** Fewer texts may all differ by chance, such as the names of 20 hospitals. */
const MIN_TEXTS = 20;
/** From this many rows on, any measurement with so few possible values (below) is expected to have ties. */
const MIN_DENSE = 50;
/**
 * Ratio of range to rows up to which integers are dense: at 3, a measurement would repeat a value in 15 % of the rows.
 */
const DENSE_RANGE = 3;
/** Patients with several rows: the fewest patients, and the most rows per patient on average. */
const MIN_PATIENTS = 20;
const MAX_ROWS_EACH = 10;
/** The identifier must fix this many other columns; one alone may be derived from a measurement. */
const MIN_FIXED_COLUMNS = 2;
/** Only the first so many columns are compared with each other: the number of pairs grows with the square. */
const MAX_COMPARED_COLUMNS = 200;
/** log of the chance that a column is the same within all patients by accident. */
const FIXED_BY_CHANCE = log(1e-6);
/** The stranger to compare with is a golden-section step further on. */
const STRANGER_STEP = 0.381966;

export function findIdentifier(table: Table, column: Column): Finding | null {
  const codes = codeValues(column, table.rows);
  if (codes === null || codes.known < NEARLY_ALL * table.rows) return null;
  const { known, distinct } = codes;
  const finding = ({ said, evidence, ...tails }: Pick<FindingParts, "said" | "evidence" | "consequence">) =>
    createFinding({
      code: "id",
      level: "warning",
      column: column.name,
      said,
      ...tails,
      evidence: { rows: known, values: distinct, ...evidence },
    });
  const isNearlyDistinct = distinct > NEARLY_ALL * known;
  if (column.type === "category") {
    if (isNearlyDistinct && known >= MIN_TEXTS) {
      const said = `${column.name} identifies rows: ${distinct} different texts in ${known} rows`;
      return finding({ said, evidence: {} });
    }
  } else {
    const { step, range } = codes;
    const isCounting =
      (step === "consecutive" && known >= MIN_CONSECUTIVE) ||
      (known >= MIN_DENSE && (step === "monotone" || (isNearlyDistinct && range <= DENSE_RANGE * known)));
    if (isCounting) {
      const said = `${column.name} counts rows: ${distinct} different integers in ${known} rows`;
      return finding({ said, evidence: {} });
    }
  }
  if (distinct < MIN_PATIENTS || distinct * MAX_ROWS_EACH < known || isNearlyDistinct) return null;
  const fixed = findFixedColumns(table, column, codes);
  if (isOfPlace(table, column, fixed)) return null;
  const { name } = column;
  const byName = isNamedAsPerson(name) ? 0 : isNamedAsId(name) ? 1 : MIN_FIXED_COLUMNS;
  // Where every row has an id of its own, a second id is that of a matched case, not of the person.
  const needed = byName < MIN_FIXED_COLUMNS && hasOwnIds(table, column) ? MIN_FIXED_COLUMNS : byName;
  if (!codes.isBalanced && fixed.length < needed) return null;
  const why = codes.isBalanced ? `every value occurs ${known / distinct} times` : sayFixed(fixed);
  return finding({
    said: `${name} identifies ${distinct} patients or groups with several rows each (${known} rows; ${why})`,
    consequence: "these rows are not independent",
    evidence: { fixedColumns: fixed.length },
  });
}

/** Most columns that a sentence names as fixed within one value. */
const MAX_FIXED_NAMED = 3;

function sayFixed(fixed: readonly string[]): string {
  if (fixed.length === 0) return "its name is that of people's ids";
  const more = fixed.length > MAX_FIXED_NAMED ? ` and ${fixed.length - MAX_FIXED_NAMED} more` : "";
  const never = fixed.length === 1 ? "differs" : "differ";
  return `${fixed.slice(0, MAX_FIXED_NAMED).join(", ")}${more} never ${never} within one value`;
}

/**
 * A postcode, or what goes with it (the income of the area): a value stands for many people, not one with many rows.
 */
function isOfPlace(table: Table, column: Column, fixed: readonly string[]): boolean {
  if (isNamedAsPlace(column.name)) return true;
  // Nearly every column of a wide table fixes none: no pass over all columns for each of them.
  if (fixed.length === 0) return false;
  return table.columns.some((other) => {
    if (!fixed.includes(other.name) || !isNamedAsPlace(other.name)) return false;
    const codes = codeValues(other, table.rows);
    return codes !== null && codes.codes.length > 0 && isFixedWithin(column, codes.codes);
  });
}

function hasOwnIds(table: Table, column: Column): boolean {
  return table.columns.some((other) => {
    if (other === column || !isNamedAsPerson(other.name)) return false;
    return codeValues(other, table.rows)?.distinct === table.rows;
  });
}

function isFixedWithin(column: Column, codes: Int32Array): boolean {
  const isSame = sameCells(column);
  const firstRow = new Map<number, number>();
  for (let row = 0; row < codes.length; row++) {
    if (codes[row] < 0) continue;
    const first = firstRow.get(codes[row]);
    if (first === undefined) firstRow.set(codes[row], row);
    else if (!isSame(row, first)) return false;
  }
  return true;
}

interface CodedValues {
  /** −1 = missing; empty where the values are nearly all different integers. */
  readonly codes: Int32Array; // [N]
  readonly known: number;
  readonly distinct: number;
  /** Largest − smallest + 1 of integers. */
  readonly range: number;
  /** How integers go from row to row. */
  readonly step: "consecutive" | "monotone" | "none";
  /** Every value occurs equally often, and more than once. */
  readonly isBalanced: boolean;
}

/** Integers and texts as codes; null for what cannot be an identifier (dates, booleans, numbers with decimals). */
function codeValues(column: Column, N: number): CodedValues | null {
  if (column.type === "date" || column.type === "boolean") return null;
  let codes: Int32Array;
  let range = Number.POSITIVE_INFINITY;
  let step: CodedValues["step"] = "none";
  let levels: number;
  if (column.type === "category") {
    codes = column.codes;
    levels = column.levels.length;
  } else {
    const { values } = column;
    for (let row = 0; row < N; row++)
      if (!Number.isInteger(values[row]) && !Number.isNaN(values[row])) return null;
    const sorted = values.filter((value) => !Number.isNaN(value)).sort();
    if (sorted.length === 0) return null;
    const different = keepDistinct(sorted);
    const K = different.length;
    range = different[K - 1] - different[0] + 1;
    step = describeSteps(values, N);
    // Too few different values to identify anything: their codes are not needed.
    if (step === "none" && (K < MIN_PATIENTS || K * MAX_ROWS_EACH < sorted.length)) return null;
    // The counts alone show that nearly all are different.
    if (K > NEARLY_ALL * sorted.length) {
      return { codes: new Int32Array(), known: sorted.length, distinct: K, range, step, isBalanced: false };
    }
    const codeOf = new Map(Array.from(different, (value, code) => [value, code]));
    codes = Int32Array.from(values, (value) => codeOf.get(value) ?? -1);
    levels = K;
  }
  const counts = new Int32Array(levels);
  let known = 0;
  for (let row = 0; row < N; row++) {
    if (codes[row] < 0) continue;
    counts[codes[row]]++;
    known++;
  }
  const used = counts.filter((count) => count > 0);
  const isBalanced = used.length > 0 && used[0] > 1 && used.every((count) => count === used[0]);
  return { codes, known, distinct: used.length, range, step, isBalanced };
}

function describeSteps(values: Float64Array, N: number): CodedValues["step"] {
  let isConsecutive = N > 1;
  let isMonotone = N > 1;
  const sign = Math.sign(values[1] - values[0]);
  for (let row = 1; row < N && isMonotone; row++) {
    const difference = (values[row] - values[row - 1]) * sign;
    if (difference !== 1) isConsecutive = false;
    if (!(difference > 0)) isMonotone = false;
  }
  if (isMonotone && isConsecutive) return "consecutive";
  return isMonotone ? "monotone" : "none";
}

/**
 * Columns with one value per code, beyond accident, that are not a function of the column's size (age and age group).
 */
function findFixedColumns(table: Table, column: Column, { codes, known, distinct }: CodedValues): string[] {
  const N = table.rows;
  const firstRow = new Int32Array(N).fill(-1);
  for (let row = N - 1; row >= 0; row--) if (codes[row] >= 0) firstRow[codes[row]] = row;
  const step = Math.max(1, Math.floor(N * STRANGER_STEP));
  const fixed: string[] = [];
  for (const other of table.columns.slice(0, MAX_COMPARED_COLUMNS)) {
    if (other === column) continue;
    const isSame = sameCells(other);
    let holds = true;
    for (let row = 0; row < N && holds; row++) if (codes[row] >= 0) holds = isSame(row, firstRow[codes[row]]);
    if (!holds) continue;
    let alike = 0;
    for (let row = 0; row < N; row++) if (isSame(row, (row + step) % N)) alike++;
    const chance = (known - distinct) * log(Math.max(alike, 1) / N);
    if (chance < FIXED_BY_CHANCE && !isDerived(other, column, codes)) fixed.push(other.name);
  }
  return fixed;
}

/** A rounding, grouping or transform of a number keeps its order. */
function isDerived(other: Column, column: Column, codes: Int32Array): boolean {
  if (column.type === "category") return false;
  const place = Float64Array.from(codes);
  const rows = Int32Array.from(codes.keys()).filter((row) => codes[row] >= 0 && !isMissing(other, row));
  rows.sort((a, b) => codes[a] - codes[b]);
  if (other.type === "number" || other.type === "date")
    return compareOrder(other.values, place, rows).inOrder;
  const members = other.type === "category" ? other.codes : Int32Array.from(other.values);
  const levels = other.type === "category" ? other.levels.length : MISSING_BOOLEAN;
  return compareIntervals(members, levels, place, rows).evidence > 0;
}

/** Words for a person, … */
const PERSON = new Set(
  (
    "patient pat pt subject subj person participant proband case client individual pseudonym pseudo mrn nhs chi " +
    "ssn pid patid ptid subjid usubjid patientid personid subjectid caseid"
  ).split(" "),
);
/** … and words that may stand beside one without making the column a measurement of the person. */
const NUMBERING = new Set(
  "id no nr num number nummer code key identifier study unique medical record".split(" "),
);
/** Words for places with many people. */
const PLACE = new Set(
  (
    "zip zipcode postcode postal plz area region hospital clinic ward centre center site inst institution institute " +
    "school county district city town village state province country municipality neighbourhood neighborhood " +
    "gp practice"
  ).split(" "),
);
/** The number under which a hospital knows a patient; `hospital_id` is the hospital's own. */
const HOSPITAL_NUMBER = /^hospital(no|nr|num|number)$/;
/** "loan_id", "case.id"; … */
const ENDS_IN_ID = /(^|[._ -])p?id$/i;
/** … and "patID", where only the capitals tell an id from the end of a word. */
const CAPITAL_ID = /[a-z]ID$/;

/** Cut at _ - . blanks and capitals (`PatientNr`, `nhs_number`), since "inpatient" and "age_of_person" are no ids. */
function wordsOf(name: string): string[] {
  return name
    .replace(/([a-z])([A-Z])/g, "$1 $2")
    .toLowerCase()
    .split(/[^a-z]+/)
    .filter((word) => word !== "");
}

export function isNamedAsPlace(name: string): boolean {
  const words = wordsOf(name);
  return words.some((word) => PLACE.has(word)) && !isNamedAsPerson(name);
}

/** Whether a column is named like an id of people, and like nothing else. */
export function isNamedAsPerson(name: string): boolean {
  const words = wordsOf(name);
  if (HOSPITAL_NUMBER.test(words.join("")) || words.join("") === "id") return true;
  return (
    words.some((word) => PERSON.has(word)) && words.every((word) => PERSON.has(word) || NUMBERING.has(word))
  );
}

export function isNamedAsId(name: string): boolean {
  if (isNamedAsPerson(name)) return true;
  return !isNamedAsPlace(name) && (ENDS_IN_ID.test(name) || CAPITAL_ID.test(name));
}
