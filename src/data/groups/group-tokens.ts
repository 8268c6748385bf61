/**
 * The words of a group expression: cuts the text into tokens and points into it when something is wrong. Inside quoted
 * text, the quote itself is written twice ("say ""yes"""). A numeral with a leading zero ("007") is a word, not a
 * number, because as a number it could no longer be told from "7". The grammar is group-expression.ts' business.
 */

import { InputError } from "../../core/errors.ts";
import { present } from "../../core/present.ts";

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
