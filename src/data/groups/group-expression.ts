/**
 * A group of people as an expression over columns, such as `24 <= age < 48 & !(stage in {1, 2})`: its words, its tree,
 * and the tree as text. Comparisons = (==) != < <= > >=, `in {…}`, `not in {…}`, `is missing`, `is not missing`, a bare
 * boolean column, `all`; joined by ! & | or not, and, or (any case), ! before & before |. Column names are bare
 * (letters, digits, _ and .) or in double quotes or backticks; values are bare words, numbers, true, false, ISO dates,
 * or in single or double quotes, with the quote itself written twice. A numeral with a leading zero ("007") is a word,
 * since as a number it could no longer be told from "7". The tree is plain JSON, and parseGroup(formatGroup(tree))
 * equals tree.
 */
import { InputError } from "../../core/errors.ts";
import { present } from "../../core/present.ts";

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

export type TokenType = "word" | "name" | "quoted" | "text" | "number" | "date" | "symbol" | "end";

export interface Token {
  /** "name" is backticked (a column), "quoted" double-quoted (a column or a value), "text" single-quoted (a value). */
  readonly type: TokenType;
  /** Unquoted content; "" at the end. */
  readonly text: string;
  /** Where it begins, in code units. */
  readonly offset: number;
}

/** Words of the language, in any case; a column or value spelled like one of them has to be quoted. */
export const RESERVED_WORDS: readonly string[] = [
  "all",
  "and",
  "or",
  "not",
  "in",
  "is",
  "missing",
  "true",
  "false",
];

const SPACE = /\s+/uy;
const NUMBER = /[-+]?(?:(?:0|[1-9]\d*)(?:\.\d*)?|\.\d+)(?:e[-+]?\d+)?(?![\p{L}\p{M}\p{N}_.])/iuy;
const DATE =
  /\d{4}-\d{2}-\d{2}(?:T\d{2}:\d{2}(?::\d{2}(?:\.\d+)?)?(?:Z|[-+]\d{2}:\d{2})?)?(?![\p{L}\p{M}\p{N}_.:-])/uy;
const WORD = /[\p{L}\p{M}\p{N}_.]+/uy;
const SYMBOL = /==|!=|<=|>=|&&|\|\||[=<>&|!(){},]/uy;
const QUOTED = /"((?:[^"]|"")*)"|'((?:[^']|'')*)'|`((?:[^`]|``)*)`/uy;

/** Spellings that mean the same. */
const SYNONYMS: ReadonlyMap<string, string> = new Map([
  ["==", "="],
  ["&&", "&"],
  ["||", "|"],
]);

const BARE = /^[\p{L}_][\p{L}\p{M}\p{N}_.]*$/u;

/** Whether a column name or a text value can stand without quotes. */
export function canStandBare(text: string): boolean {
  return BARE.test(text) && !RESERVED_WORDS.includes(text.toLowerCase());
}

export function isDateText(text: string): boolean {
  return matchAt(DATE, text, 0) === text && text !== "";
}

export function isNumberText(text: string): boolean {
  return matchAt(NUMBER, text, 0) === text && text !== "";
}

function matchAt(pattern: RegExp, text: string, offset: number): string {
  pattern.lastIndex = offset;
  return pattern.exec(text)?.[0] ?? "";
}

export function cutIntoTokens(text: string, where?: string): Token[] {
  const tokens: Token[] = [];
  let offset = matchAt(SPACE, text, 0).length;
  while (offset < text.length) {
    const token = cutToken(text, offset, where);
    tokens.push({ type: token.type, text: token.text, offset });
    offset += token.length;
    offset += matchAt(SPACE, text, offset).length;
  }
  tokens.push({ type: "end", text: "", offset: text.trimEnd().length });
  return tokens;
}

interface CutToken {
  readonly type: TokenType;
  readonly text: string;
  readonly length: number;
}

function cutToken(text: string, offset: number, where: string | undefined): CutToken {
  const first = text[offset];
  if (first === '"' || first === "'" || first === "`") return cutQuoted(text, offset, first, where);
  // The order matters: a date begins like a number, a number like a word.
  for (const [type, pattern] of [
    ["date", DATE],
    ["number", NUMBER],
    ["word", WORD],
    ["symbol", SYMBOL],
  ] as const) {
    const found = matchAt(pattern, text, offset);
    if (found !== "") return { type, text: SYNONYMS.get(found) ?? found, length: found.length };
  }
  const character = String.fromCodePoint(text.codePointAt(offset) ?? 0);
  throw groupSyntaxError(text, offset, `unexpected character ${JSON.stringify(character)}`, where);
}

function cutQuoted(text: string, offset: number, quote: string, where: string | undefined): CutToken {
  const found = matchAt(QUOTED, text, offset);
  if (found === "") throw groupSyntaxError(text, offset, `this ${quote} is never closed`, where);
  const type = quote === '"' ? "quoted" : quote === "'" ? "text" : "name";
  return { type, text: found.slice(1, -1).replaceAll(quote + quote, quote), length: found.length };
}

/** How much of a long expression is shown on either side of the place an error points at. */
const SHOWN_CHARACTERS = 60;

/** The text and, on the next line, a caret under the character at `offset`; one line each whatever the text holds. */
export function pointInto(text: string, offset: number): string {
  // Counted in code points, so that the caret keeps its column after characters of two code units.
  const characters = Array.from(text, (character) => (/\s|\p{C}/u.test(character) ? " " : character));
  const at = Array.from(text.slice(0, offset)).length;
  const from = Math.max(0, at - SHOWN_CHARACTERS);
  const to = Math.min(characters.length, at + SHOWN_CHARACTERS);
  const before = from > 0 ? "…" : "";
  const after = to < characters.length ? "…" : "";
  const caret = " ".repeat(before.length + at - from);
  return `  ${before}${characters.slice(from, to).join("")}${after}\n  ${caret}^`;
}

export function groupSyntaxError(text: string, offset: number, problem: string, where?: string): InputError {
  return new InputError(`${problem}\n${pointInto(text, offset)}`, {
    code: "group.syntax",
    ...present({ where }),
    hint:
      'a group is written like age >= 60 & sex = F, stage in {3, 4} or "blood pressure" is missing; ' +
      "quote names and values that hold spaces or signs",
  });
}
