/**
 * Who belongs to a group: evaluates an expression on the rows of a table. Logic is Kleene's, as in SQL: a test of a
 * missing value is neither true nor false but unknown, `!unknown` is unknown, `false & unknown` is false, `true |
 * unknown` is true, and only rows that come out true are members. So with x missing a row is in neither `x = 2`, `x !=
 * 2` nor `!(x = 2)`; `x is missing` alone finds it. A comparison that no row could sensibly meet (a misspelt column or
 * level, an order asked of a category) is refused rather than answered with an empty group.
 */

import { InputError } from "../../core/errors.ts";
import { nearestName } from "../../core/names.ts";
import { present } from "../../core/present.ts";
import { shortenValue } from "../../core/text.ts";
import { refuseDoubtfulMarks } from "../checks/check-marks.ts";
import { parseDateText } from "../reading/parse-cell.ts";
import { type CategoryColumn, type Column, isMissing, type Table } from "../table.ts";
import {
  type Comparison,
  formatGroup,
  type GroupExpression,
  type GroupValue,
  isNumberText,
  type LocatedGroup,
  pointInto,
} from "./group-expression.ts";
import { locateGroup } from "./parse-group.ts";

export interface EvaluateOptions {
  /**
   * What a value that the category column does not have means: a mistake (the default), or, for tables to predict on,
   * which need not hold every level, merely that no row has it.
   */
  readonly unknownLevels?: "reject" | "allow";
  /** Where the expression stands, for messages. */
  readonly where?: string;
}

const FALSE = 0;
const TRUE = 1;
const UNKNOWN = 2;

interface Evaluation extends LocatedGroup {
  readonly table: Table;
  readonly unknownLevels: "reject" | "allow";
  readonly where: string;
}

/** [N], 1 = member, 0 = not. */
export function evaluateGroup(
  expression: GroupExpression | string,
  table: Table,
  options: EvaluateOptions = {},
): Uint8Array {
  // A tree is written down and read again, so that errors can point into a text either way.
  const text = typeof expression === "string" ? expression : formatGroup(expression);
  const where = options.where ?? table.name;
  const located = locateGroup(text, where);
  const evaluation = { ...located, table, where, unknownLevels: options.unknownLevels ?? "reject" };
  return evaluateTruth(located.expression, evaluation).map((truth) => (truth === TRUE ? 1 : 0));
}

/** The same for a named group, whose name stands in messages. */
export function evaluateNamedGroup(
  { name, expression }: { readonly name: string; readonly expression: string },
  table: Table,
  options: Omit<EvaluateOptions, "where"> = {},
): Uint8Array {
  return evaluateGroup(expression, table, {
    ...options,
    where: `${table.name}, group ${JSON.stringify(name)}`,
  });
}

function evaluateTruth(expression: GroupExpression, evaluation: Evaluation): Uint8Array {
  switch (expression.type) {
    case "all":
      return new Uint8Array(evaluation.table.rows).fill(TRUE);
    case "not":
      return evaluateTruth(expression.term, evaluation).map((truth) =>
        truth === UNKNOWN ? UNKNOWN : 1 - truth,
      );
    case "and":
    case "or": {
      // `and` is settled by the first false, `or` by the first true; otherwise one unknown makes the result unknown.
      const settling = expression.type === "and" ? FALSE : TRUE;
      const result = new Uint8Array(evaluation.table.rows).fill(1 - settling);
      for (const term of expression.terms) {
        const truth = evaluateTruth(term, evaluation);
        for (let row = 0; row < result.length; row++) {
          if (truth[row] === settling) result[row] = settling;
          else if (truth[row] === UNKNOWN && result[row] !== settling) result[row] = UNKNOWN;
        }
      }
      return result;
    }
    case "missing": {
      const column = findTestedColumn(expression, expression.column, evaluation);
      const result = new Uint8Array(evaluation.table.rows);
      for (let row = 0; row < result.length; row++) result[row] = isMissing(column, row) ? TRUE : FALSE;
      return result;
    }
    default: {
      const column = findTestedColumn(expression, expression.column, evaluation);
      const result = new Uint8Array(evaluation.table.rows).fill(UNKNOWN);
      // Without a single value the type of a column is a guess, and no comparison with it is a mistake.
      if (result.every((_, row) => isMissing(column, row))) return result;
      refuseDoubtfulMarks(evaluation.table, column);
      const test = createTest(expression, column, evaluation);
      for (let row = 0; row < result.length; row++) {
        if (!isMissing(column, row)) result[row] = test(row) ? TRUE : FALSE;
      }
      return result;
    }
  }
}

type ValueTest = Extract<GroupExpression, { readonly type: "holds" | "compare" | "range" | "in" }>;
type RowTest = (row: number) => boolean;

/** What an error points at: the column of a test, or one of its values. */
interface Spot {
  readonly test: GroupExpression;
  readonly at: "column" | number;
  readonly evaluation: Evaluation;
}

/** The test as a function of a row in which the column is not missing. */
function createTest(test: ValueTest, column: Column, evaluation: Evaluation): RowTest {
  const spotOf = (at: Spot["at"]): Spot => ({ test, at, evaluation });
  switch (test.type) {
    case "holds": {
      if (column.type === "boolean") return (row) => column.values[row] === 1;
      const problem = `"${column.name}" is a ${column.type} column: it needs a comparison`;
      throw createGroupError("group.type", problem, spotOf("column"));
    }
    case "in":
      return createEquality(test.values, column, spotOf);
    case "range": {
      const above = createOrder(test.lowerIncluded ? ">=" : ">", test.lower, column, spotOf(0));
      const below = createOrder(test.upperIncluded ? "<=" : "<", test.upper, column, spotOf(1));
      return (row) => above(row) && below(row);
    }
    case "compare": {
      const { comparison, value } = test;
      if (comparison !== "=" && comparison !== "!=") return createOrder(comparison, value, column, spotOf(0));
      const equals = createEquality([value], column, spotOf);
      return comparison === "=" ? equals : (row) => !equals(row);
    }
  }
}

function createEquality(
  values: readonly GroupValue[],
  column: Column,
  spotOf: (place: number) => Spot,
): RowTest {
  if (column.type === "category") {
    const { name, levels } = column;
    const wanted = new Uint8Array(levels.length);
    values.forEach((value, place) => {
      const codes = findLevels(column, value);
      for (const code of codes) wanted[code] = 1;
      const spot = spotOf(place);
      if (codes.length > 0 || spot.evaluation.unknownLevels === "allow") return;
      const problem = `column "${name}" has no value ${JSON.stringify(value)} (have ${listSome(levels)})`;
      throw createGroupError("group.level", problem, spot, suggest(String(value), levels));
    });
    return (row) => wanted[column.codes[row]] === 1;
  }
  const wanted = new Set(values.map((value, place) => readValue(value, column, spotOf(place))));
  return (row) => wanted.has(column.values[row]);
}

function createOrder(
  comparison: Exclude<Comparison, "=" | "!=">,
  value: GroupValue,
  column: Column,
  spot: Spot,
): RowTest {
  if (column.type === "category" || column.type === "boolean") {
    const problem = `"${column.name}" is a ${column.type} column: "${comparison}" needs numbers or dates`;
    const hint = "use =, != or in {…} instead";
    throw createGroupError("group.type", problem, { ...spot, at: "column" }, hint);
  }
  const { values } = column;
  const bound = readValue(value, column, spot);
  switch (comparison) {
    case "<":
      return (row) => values[row] < bound;
    case "<=":
      return (row) => values[row] <= bound;
    case ">":
      return (row) => values[row] > bound;
    case ">=":
      return (row) => values[row] >= bound;
  }
}

/** The value as a number or date column holds it, or 0 and 1 for a boolean one. */
function readValue(value: GroupValue, column: Exclude<Column, CategoryColumn>, spot: Spot): number {
  const text = String(value);
  const refuse = (hint: string) => {
    const problem = `"${column.name}" is a ${column.type} column: it cannot be compared with ${JSON.stringify(value)}`;
    return createGroupError("group.type", problem, spot, hint);
  };
  switch (column.type) {
    case "number":
      if (typeof value === "number") return value;
      // "2" in quotes is no mistake: a column may hold numbers in one table and the same numerals as text in another.
      if (typeof value === "string" && isNumberText(value)) return Number(value);
      throw refuse("compare it with a number");
    case "date": {
      const days = /^\d{4}-\d{2}-\d{2}/.test(text) ? parseDateText(text, "month-first") : Number.NaN;
      if (Number.isNaN(days)) throw refuse("compare it with a date such as 2003-01-31");
      return days;
    }
    case "boolean":
      if (/^(?:true|1)$/i.test(text)) return 1;
      if (/^(?:false|0)$/i.test(text)) return 0;
      throw refuse("compare it with true or false");
  }
}

/** A number means the level spelled like it or, if there is none, the levels of that value ("2.0" for 2). */
function findLevels(column: CategoryColumn, value: GroupValue): number[] {
  const codesWhere = (same: (level: string) => boolean) =>
    column.levels.flatMap((level, code) => (same(level) ? [code] : []));
  const exact = codesWhere((level) => level === String(value));
  if (exact.length > 0) return exact;
  if (typeof value === "number") return codesWhere((level) => isNumberText(level) && Number(level) === value);
  if (typeof value === "boolean") return codesWhere((level) => level.toLowerCase() === String(value));
  return [];
}

function findTestedColumn(test: GroupExpression, name: string, evaluation: Evaluation): Column {
  const { columns } = evaluation.table;
  const found = columns.find((column) => column.name === name);
  if (found) return found;
  const names = columns.map((column) => column.name);
  const problem = `unknown column: ${JSON.stringify(name)} (have ${listSome(names)})`;
  throw createGroupError("group.column", problem, { test, at: "column", evaluation }, suggest(name, names));
}

/** The problem, and a caret under the column or value that has it. */
function createGroupError(code: string, problem: string, spot: Spot, hint?: string): InputError {
  const { test, at, evaluation } = spot;
  const place = evaluation.places.get(test);
  const offset = (at === "column" ? place?.column : place?.values[at]) ?? 0;
  return new InputError(`${problem}\n${pointInto(evaluation.text, offset)}`, {
    code,
    where: evaluation.where,
    ...present({ hint }),
  });
}

/** How many columns or levels a message lists before it only counts them. */
const MAX_LISTED = 20;

function listSome(names: readonly string[]): string {
  const shown = names.slice(0, MAX_LISTED).map(shortenValue).join(", ");
  return names.length <= MAX_LISTED ? shown : `${shown}, … ${names.length} in all`;
}

function suggest(name: string, candidates: readonly string[]): string | undefined {
  const nearest = nearestName(name, candidates);
  return nearest === undefined ? undefined : `did you mean ${JSON.stringify(nearest)}?`;
}
