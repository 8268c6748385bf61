/**
 * A group of people as an expression over columns, such as `24 <= age < 48 & !(stage in {1, 2})`: text to tree and back.
 * Comparisons = (==) != < <= > >=, `in {…}`, `not in {…}`, `is missing`, `is not missing`, a bare boolean column, `all`;
 * joined by ! & | or not, and, or (any case), ! before & before |. Column names are bare (letters, digits, _ and .) or in
 * double quotes or backticks; values are bare words, numbers, true, false, ISO dates, or in single or double quotes.
 * The tree is plain JSON, and parseGroup(formatGroup(tree)) equals tree. Which rows belong is group-members.ts' business.
 */
import { InputError } from "../../core/errors.ts";
import {
  canStandBare,
  cutIntoTokens,
  groupSyntaxError,
  isDateText,
  RESERVED_WORDS,
  type Token,
} from "./group-tokens.ts";

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

const COMPARISONS: readonly string[] = ["=", "!=", "<", "<=", ">", ">="];
const MIRRORED = { "=": "=", "!=": "!=", "<": ">", "<=": ">=", ">": "<", ">=": "<=" } as const;

/** Reads an expression such as `age >= 60 & sex = F`; an error points at the character. */
export function parseGroup(text: string, where?: string): GroupExpression {
  return locateGroup(text, where).expression;
}

/** Parses and remembers where every test stands, so that later errors can point into the text. */
export function locateGroup(text: string, where?: string): LocatedGroup {
  const tokens = cutIntoTokens(text, where);
  const places = new Map<GroupExpression, TestPlace>();
  let next = 0;

  const peek = (): Token => tokens[next];
  const isSymbol = (symbol: string) => peek().type === "symbol" && peek().text === symbol;
  const isWord = (word: string) => peek().type === "word" && peek().text.toLowerCase() === word;
  const isComparison = () => peek().type === "symbol" && COMPARISONS.includes(peek().text);
  const take = (): Token => tokens[next++];
  const accept = (found: boolean): boolean => {
    if (found) next++;
    return found;
  };
  const fail = (expected: string): InputError => {
    const token = peek();
    const found = token.type === "end" ? "end" : JSON.stringify(token.text);
    return groupSyntaxError(text, token.offset, `expected ${expected}, found ${found}`, where);
  };
  const placed = (expression: GroupExpression, column: number, values: number[] = []): GroupExpression => {
    places.set(expression, { column, values });
    return expression;
  };

  function parseOr(depth: number): GroupExpression {
    const terms = [parseAnd(depth)];
    while (accept(isSymbol("|") || isWord("or"))) terms.push(parseAnd(depth));
    return terms.length === 1 ? terms[0] : { type: "or", terms };
  }

  function parseAnd(depth: number): GroupExpression {
    const terms = [parseTerm(depth)];
    while (accept(isSymbol("&") || isWord("and"))) terms.push(parseTerm(depth));
    return terms.length === 1 ? terms[0] : { type: "and", terms };
  }

  function parseTerm(depth: number): GroupExpression {
    if (depth > MAX_NESTING) {
      const problem = `nested too deeply: more than ${MAX_NESTING} brackets and negations inside each other`;
      throw groupSyntaxError(text, peek().offset, problem, where);
    }
    if (accept(isSymbol("!") || isWord("not"))) return { type: "not", term: parseTerm(depth + 1) };
    if (accept(isSymbol("("))) {
      const inside = parseOr(depth + 1);
      if (!accept(isSymbol(")"))) throw fail('"&", "|" or ")"');
      return inside;
    }
    if (accept(isWord("all"))) return { type: "all" };
    const { type } = peek();
    return type === "number" || type === "date" || type === "text" ? parseValueFirst() : parseColumnFirst();
  }

  function takeColumn(expected: string): Token {
    const { type, text: name } = peek();
    const reserved = type === "word" && RESERVED_WORDS.includes(name.toLowerCase());
    if (reserved) throw fail(`${expected} (a column of that name needs quotes)`);
    if (type !== "word" && type !== "name" && type !== "quoted") throw fail(expected);
    return take();
  }

  function takeValue(after: string): GroupValue {
    const { type, text: value, offset } = peek();
    const word = value.toLowerCase();
    const operator = type === "word" && (word === "and" || word === "or" || word === "not");
    if (operator || type === "symbol" || type === "name" || type === "end")
      throw fail(`a value after "${after}"`);
    take();
    if (type === "number") {
      const number = Number(value);
      if (!Number.isFinite(number)) throw groupSyntaxError(text, offset, `number too large: ${value}`, where);
      return number === 0 ? 0 : number; // −0 would not survive being written down
    }
    if (type === "word" && (word === "true" || word === "false")) return word === "true";
    return value;
  }

  function parseColumnFirst(): GroupExpression {
    const { text: column, offset } = takeColumn("a column");
    if (isComparison()) {
      const comparison = take().text as Comparison;
      const at = peek().offset;
      return placed({ type: "compare", column, comparison, value: takeValue(comparison) }, offset, [at]);
    }
    if (accept(isWord("is"))) {
      const negated = accept(isWord("not"));
      if (!accept(isWord("missing"))) throw fail(negated ? '"missing"' : '"missing" or "not missing"');
      return negate(placed({ type: "missing", column }, offset), negated);
    }
    const negated = accept(isWord("not"));
    if (accept(isWord("in"))) return negate(parseSet(column, offset), negated);
    if (negated) throw fail('"in" after "not"');
    const closes = isSymbol("&") || isSymbol("|") || isSymbol(")") || isWord("and") || isWord("or");
    if (!closes && peek().type !== "end") throw fail(`a comparison after ${JSON.stringify(column)}`);
    return placed({ type: "holds", column }, offset);
  }

  function parseSet(column: string, offset: number): GroupExpression {
    if (!accept(isSymbol("{"))) throw fail('"{" after "in"');
    const values: GroupValue[] = [];
    const at: number[] = [];
    do {
      at.push(peek().offset);
      values.push(takeValue(values.length === 0 ? "{" : ","));
    } while (accept(isSymbol(",")));
    if (!accept(isSymbol("}"))) throw fail('"," or "}"');
    return placed({ type: "in", column, values }, offset, at);
  }

  /** `24 <= age`, `24 <= age < 48` or `48 > age >= 24`. */
  function parseValueFirst(): GroupExpression {
    const firstAt = peek().offset;
    const first = takeValue("");
    if (!isComparison()) throw fail("a comparison after the value");
    const comparison = take().text as Comparison;
    const { text: column, offset } = takeColumn(`a column after "${comparison}"`);
    if (!isComparison()) {
      return placed({ type: "compare", column, comparison: MIRRORED[comparison], value: first }, offset, [
        firstAt,
      ]);
    }
    const rises = comparison === "<" || comparison === "<=";
    const allowed = rises ? ["<", "<="] : [">", ">="];
    if (comparison === "=" || comparison === "!=") throw fail('"&", "|" or end');
    if (!allowed.includes(peek().text))
      throw fail(`"${allowed[0]}" or "${allowed[1]}" to go on from "${comparison}"`);
    const second = take().text;
    const lastAt = peek().offset;
    const last = takeValue(second);
    if (typeof first === "boolean" || typeof last === "boolean") {
      throw groupSyntaxError(text, lastAt, "true and false have no order", where);
    }
    const firstIncluded = comparison.endsWith("=");
    const lastIncluded = second.endsWith("=");
    const range: GroupExpression = rises
      ? {
          type: "range",
          column,
          lower: first,
          lowerIncluded: firstIncluded,
          upper: last,
          upperIncluded: lastIncluded,
        }
      : {
          type: "range",
          column,
          lower: last,
          lowerIncluded: lastIncluded,
          upper: first,
          upperIncluded: firstIncluded,
        };
    return placed(range, offset, rises ? [firstAt, lastAt] : [lastAt, firstAt]);
  }

  const expression = parseOr(0);
  if (peek().type !== "end") throw fail('"&", "|" or end');
  return { text, expression, places };
}

function negate(term: GroupExpression, negated: boolean): GroupExpression {
  return negated ? { type: "not", term } : term;
}

/** The columns an expression looks at, each as often as it does. */
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
