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

/** The test as a function of a row in which the column is not missing. */
function createTest(test: ValueTest, column: Column, evaluation: Evaluation): RowTest {
  switch (test.type) {
    case "holds": {
      if (column.type !== "boolean") {
        const problem = `"${column.name}" is a ${column.type} column: it needs a comparison`;
        throw typeError(test, evaluation, problem, "column");
      }
      return (row) => column.values[row] === 1;
    }
    case "in":
      return createEquality(test, test.values, column, evaluation);
    case "range": {
      const above = createOrder(test, 0, test.lowerIncluded ? ">=" : ">", test.lower, column, evaluation);
      const below = createOrder(test, 1, test.upperIncluded ? "<=" : "<", test.upper, column, evaluation);
      return (row) => above(row) && below(row);
    }
    case "compare": {
      const { comparison, value } = test;
      if (comparison !== "=" && comparison !== "!=")
        return createOrder(test, 0, comparison, value, column, evaluation);
      const equals = createEquality(test, [value], column, evaluation);
      return comparison === "=" ? equals : (row) => !equals(row);
    }
  }
}

function createEquality(
  test: ValueTest,
  values: readonly GroupValue[],
  column: Column,
  evaluation: Evaluation,
): RowTest {
  if (column.type === "category") {
    const wanted = new Uint8Array(column.levels.length);
    values.forEach((value, place) => {
      const codes = findLevels(column, value);
      if (codes.length === 0 && evaluation.unknownLevels === "reject")
        throw levelError(test, place, value, column, evaluation);
      for (const code of codes) wanted[code] = 1;
    });
    return (row) => wanted[column.codes[row]] === 1;
  }
  const wanted = new Set(values.map((value, place) => readValue(test, place, value, column, evaluation)));
  return (row) => wanted.has(column.values[row]);
}

function createOrder(
  test: ValueTest,
  place: number,
  comparison: Exclude<Comparison, "=" | "!=">,
  value: GroupValue,
  column: Column,
  evaluation: Evaluation,
): RowTest {
  if (column.type === "category" || column.type === "boolean") {
    const problem = `"${column.name}" is a ${column.type} column: "${comparison}" needs numbers or dates`;
    throw typeError(test, evaluation, problem, "column", "use =, != or in {…} instead");
  }
  const { values } = column;
  const bound = readValue(test, place, value, column, evaluation);
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
function readValue(
  test: ValueTest,
  place: number,
  value: GroupValue,
  column: Exclude<Column, CategoryColumn>,
  evaluation: Evaluation,
): number {
  const text = String(value);
  const refuse = (hint: string) => {
    const problem = `"${column.name}" is a ${column.type} column: it cannot be compared with ${JSON.stringify(value)}`;
    return typeError(test, evaluation, problem, place, hint);
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
  const { table } = evaluation;
  const found = table.columns.find((column) => column.name === name);
  if (found) return found;
  const names = table.columns.map((column) => column.name);
  const offset = evaluation.places.get(test)?.column ?? 0;
  const problem = `unknown column: ${JSON.stringify(name)} (have ${listSome(names)})`;
  throw new InputError(`${problem}\n${pointInto(evaluation.text, offset)}`, {
    code: "group.column",
    where: evaluation.where,
    ...suggest(name, names),
  });
}

function levelError(
  test: ValueTest,
  place: number,
  value: GroupValue,
  column: CategoryColumn,
  evaluation: Evaluation,
) {
  const offset = evaluation.places.get(test)?.values[place] ?? 0;
  const problem = `column "${column.name}" has no value ${JSON.stringify(value)} (have ${listSome(column.levels)})`;
  return new InputError(`${problem}\n${pointInto(evaluation.text, offset)}`, {
    code: "group.level",
    where: evaluation.where,
    ...suggest(String(value), column.levels),
  });
}

function typeError(
  test: ValueTest,
  evaluation: Evaluation,
  problem: string,
  at: "column" | number,
  hint?: string,
) {
  const place = evaluation.places.get(test);
  const offset = (at === "column" ? place?.column : place?.values[at]) ?? 0;
  return new InputError(`${problem}\n${pointInto(evaluation.text, offset)}`, {
    code: "group.type",
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

function suggest(name: string, candidates: readonly string[]): { readonly hint?: string } {
  const nearest = nearestName(name, candidates);
  return nearest === undefined ? {} : { hint: `did you mean ${JSON.stringify(nearest)}?` };
}
