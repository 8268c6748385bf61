/**
 * A group of people as an expression over columns, such as `24 <= age < 48 & !(stage in {1, 2})`: text to tree and
 * back. Comparisons = (==) != < <= > >=, `in {…}`, `not in {…}`, `is missing`, `is not missing`, a bare boolean column,
 * `all`; joined by ! & | or not, and, or (any case), ! before & before |. Column names are bare (letters, digits, _ and
 * .) or in double quotes or backticks; values are bare words, numbers, true, false, ISO dates, or in single or double
 * quotes. The tree is plain JSON, and parseGroup(formatGroup(tree)) equals tree. Which rows belong is group-members.ts'
 * business.
 */
import { InputError } from "../../core/errors.ts";
import { canStandBare, isDateText } from "./group-tokens.ts";

/** A date is kept as its text. */
export type GroupValue = string | number | boolean;
export type Comparison = "=" | "!=" | "<" | "<=" | ">" | ">=";

/** A group as a tree of tests on columns. */
export type GroupExpression =
  | { readonly type: "all" }
  /** A boolean column that is true. */
  | { readonly type: "holds"; readonly column: string }
  | { readonly type: "missing"; readonly column: string }
  | {
      readonly type: "compare";
      readonly column: string;
      readonly comparison: Comparison;
      readonly value: GroupValue;
    }
  /** lower < or <= column < or <= upper */
  | {
      readonly type: "range";
      readonly column: string;
      readonly lower: number | string;
      readonly lowerIncluded: boolean;
      readonly upper: number | string;
      readonly upperIncluded: boolean;
    }
  | { readonly type: "in"; readonly column: string; readonly values: readonly GroupValue[] }
  | { readonly type: "not"; readonly term: GroupExpression }
  /** Two terms or more. */
  | { readonly type: "and" | "or"; readonly terms: readonly GroupExpression[] };

/** Where a test names its column and its values, as offsets into the text. */
export interface TestPlace {
  readonly column: number;
  readonly values: readonly number[];
}

export interface LocatedGroup {
  readonly text: string;
  readonly expression: GroupExpression;
  readonly places: ReadonlyMap<GroupExpression, TestPlace>;
}

/** Brackets and negations inside each other: far beyond what anyone writes, far below what overflows the stack. */
export const MAX_NESTING = 100;
/** What that can amount to in a tree: an `or` and an `and` each level, and one more of each around them all. */
const MAX_TREE_DEPTH = 2 * MAX_NESTING + 2;

/** The columns an expression looks at, each as often as it is used. */
export function columnsOf(expression: GroupExpression): string[] {
  switch (expression.type) {
    case "all":
      return [];
    case "not":
      return columnsOf(expression.term);
    case "and":
    case "or":
      return expression.terms.flatMap(columnsOf);
    default:
      return [expression.column];
  }
}

/** The expression as text that parses back to the same tree. */
export function formatGroup(expression: GroupExpression): string {
  return formatTerm(expression, 0);
}

function formatTerm(expression: GroupExpression, depth: number): string {
  if (depth > MAX_TREE_DEPTH) {
    throw new InputError(`group expression nested too deeply: more than ${MAX_TREE_DEPTH} levels`, {
      code: "group.syntax",
    });
  }
  switch (expression.type) {
    case "all":
      return "all";
    case "holds":
      return formatColumn(expression.column);
    case "missing":
      return `${formatColumn(expression.column)} is missing`;
    case "compare":
      return `${formatColumn(expression.column)} ${expression.comparison} ${formatValue(expression.value)}`;
    case "range": {
      const { column, lower, lowerIncluded, upper, upperIncluded } = expression;
      const left = lowerIncluded ? "<=" : "<";
      const right = upperIncluded ? "<=" : "<";
      return `${formatFirstValue(lower)} ${left} ${formatColumn(column)} ${right} ${formatValue(upper)}`;
    }
    case "in":
      return `${formatColumn(expression.column)} in ${formatSet(expression.values)}`;
    case "not": {
      const { term } = expression;
      if (term.type === "in") return `${formatColumn(term.column)} not in ${formatSet(term.values)}`;
      if (term.type === "missing") return `${formatColumn(term.column)} is not missing`;
      const inside = formatTerm(term, depth + 1);
      return term.type === "all" || term.type === "holds" || term.type === "not"
        ? `!${inside}`
        : `!(${inside})`;
    }
    case "and":
    case "or": {
      const { type } = expression;
      const parts = expression.terms.map((term) => {
        const inside = formatTerm(term, depth + 1);
        const loose = term.type === "or" || (type === "and" && term.type === "and");
        return loose ? `(${inside})` : inside;
      });
      return parts.join(type === "and" ? " & " : " | ");
    }
  }
}

function formatColumn(name: string): string {
  return canStandBare(name) ? name : quote(name, '"');
}

function formatValue(value: GroupValue): string {
  if (typeof value !== "string") return String(value);
  return canStandBare(value) || isDateText(value) ? value : quote(value, '"');
}

/** A text that opens a range: a bare word or double quotes there would be read as a column. */
function formatFirstValue(value: number | string): string {
  return typeof value === "number" || isDateText(value) ? String(value) : quote(value, "'");
}

function formatSet(values: readonly GroupValue[]): string {
  return `{${values.map(formatValue).join(", ")}}`;
}

function quote(text: string, mark: string): string {
  return mark + text.replaceAll(mark, mark + mark) + mark;
}
