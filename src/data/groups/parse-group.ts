/**
 * Reads a group expression (group-expression.ts has its grammar and its tree) from text, by recursive descent over
 * tokens. Every test's place in the text is kept, so that later errors, about a missing column or a value of the wrong
 * type, can point at the character.
 */
import type { InputError } from "../../core/errors.ts";
import {
  type Comparison,
  cutIntoTokens,
  type GroupExpression,
  type GroupValue,
  groupSyntaxError,
  type LocatedGroup,
  MAX_NESTING,
  RESERVED_WORDS,
  type TestPlace,
  type Token,
} from "./group-expression.ts";

const COMPARISONS: readonly string[] = ["=", "!=", "<", "<=", ">", ">="];
const MIRRORED = { "=": "=", "!=": "!=", "<": ">", "<=": ">=", ">": "<", ">=": "<=" } as const;

/** Reads an expression such as `age >= 60 & sex = F`; an error points at the character. */
export function parseGroup(text: string, where?: string): GroupExpression {
  return locateGroup(text, where).expression;
}

/** Parses and remembers where every test stands, so that later errors can point into the text. */
export function locateGroup(text: string, where?: string): LocatedGroup {
  const places = new Map<GroupExpression, TestPlace>();
  const reader = createTokenReader(text, where, places);
  const expression = parseOr(reader, 0);
  if (reader.peek().type !== "end") throw reader.fail('"&", "|" or end');
  return { text, expression, places };
}

type TokenReader = ReturnType<typeof createTokenReader>;

/** The tokens of a text from the first to the last, and errors that point at the one that is next. */
function createTokenReader(text: string, where: string | undefined, places: Map<GroupExpression, TestPlace>) {
  const tokens = cutIntoTokens(text, where);
  let next = 0;
  const peek = (): Token => tokens[next];
  const failAt = (offset: number, problem: string): InputError =>
    groupSyntaxError(text, offset, problem, where);
  return {
    peek,
    isSymbol: (symbol: string) => peek().type === "symbol" && peek().text === symbol,
    isWord: (word: string) => peek().type === "word" && peek().text.toLowerCase() === word,
    isComparison: () => peek().type === "symbol" && COMPARISONS.includes(peek().text),
    take: (): Token => tokens[next++],
    accept: (found: boolean): boolean => {
      if (found) next++;
      return found;
    },
    failAt,
    fail: (expected: string): InputError => {
      const token = peek();
      const found = token.type === "end" ? "end" : JSON.stringify(token.text);
      return failAt(token.offset, `expected ${expected}, found ${found}`);
    },
    placed: (expression: GroupExpression, column: number, values: number[] = []): GroupExpression => {
      places.set(expression, { column, values });
      return expression;
    },
  };
}

function parseOr(reader: TokenReader, depth: number): GroupExpression {
  const terms = [parseAnd(reader, depth)];
  while (reader.accept(reader.isSymbol("|") || reader.isWord("or"))) terms.push(parseAnd(reader, depth));
  return terms.length === 1 ? terms[0] : { type: "or", terms };
}

function parseAnd(reader: TokenReader, depth: number): GroupExpression {
  const terms = [parseTerm(reader, depth)];
  while (reader.accept(reader.isSymbol("&") || reader.isWord("and"))) terms.push(parseTerm(reader, depth));
  return terms.length === 1 ? terms[0] : { type: "and", terms };
}

function parseTerm(reader: TokenReader, depth: number): GroupExpression {
  if (depth > MAX_NESTING) {
    const problem = `nested too deeply: more than ${MAX_NESTING} brackets and negations inside each other`;
    throw reader.failAt(reader.peek().offset, problem);
  }
  if (reader.accept(reader.isSymbol("!") || reader.isWord("not")))
    return { type: "not", term: parseTerm(reader, depth + 1) };
  if (reader.accept(reader.isSymbol("("))) {
    const inside = parseOr(reader, depth + 1);
    if (!reader.accept(reader.isSymbol(")"))) throw reader.fail('"&", "|" or ")"');
    return inside;
  }
  if (reader.accept(reader.isWord("all"))) return { type: "all" };
  const { type } = reader.peek();
  return type === "number" || type === "date" || type === "text"
    ? parseValueFirst(reader)
    : parseColumnFirst(reader);
}

function takeColumn(reader: TokenReader, expected: string): Token {
  const { type, text: name } = reader.peek();
  const reserved = type === "word" && RESERVED_WORDS.includes(name.toLowerCase());
  if (reserved) throw reader.fail(`${expected} (a column of that name needs quotes)`);
  if (type !== "word" && type !== "name" && type !== "quoted") throw reader.fail(expected);
  return reader.take();
}

function takeValue(reader: TokenReader, after: string): GroupValue {
  const { type, text: value, offset } = reader.peek();
  const word = value.toLowerCase();
  const operator = type === "word" && (word === "and" || word === "or" || word === "not");
  if (operator || type === "symbol" || type === "name" || type === "end")
    throw reader.fail(`a value after "${after}"`);
  reader.take();
  if (type === "number") {
    const number = Number(value);
    if (!Number.isFinite(number)) throw reader.failAt(offset, `number too large: ${value}`);
    return number === 0 ? 0 : number; // −0 would not survive being written down
  }
  if (type === "word" && (word === "true" || word === "false")) return word === "true";
  return value;
}

function parseColumnFirst(reader: TokenReader): GroupExpression {
  const { text: column, offset } = takeColumn(reader, "a column");
  if (reader.isComparison()) {
    const comparison = reader.take().text as Comparison;
    const at = reader.peek().offset;
    return reader.placed(
      { type: "compare", column, comparison, value: takeValue(reader, comparison) },
      offset,
      [at],
    );
  }
  if (reader.accept(reader.isWord("is"))) {
    const negated = reader.accept(reader.isWord("not"));
    if (!reader.accept(reader.isWord("missing")))
      throw reader.fail(negated ? '"missing"' : '"missing" or "not missing"');
    return negate(reader.placed({ type: "missing", column }, offset), negated);
  }
  const negated = reader.accept(reader.isWord("not"));
  if (reader.accept(reader.isWord("in"))) return negate(parseSet(reader, column, offset), negated);
  if (negated) throw reader.fail('"in" after "not"');
  const closes = ["&", "|", ")"].some(reader.isSymbol) || ["and", "or"].some(reader.isWord);
  if (!closes && reader.peek().type !== "end")
    throw reader.fail(`a comparison after ${JSON.stringify(column)}`);
  return reader.placed({ type: "holds", column }, offset);
}

function parseSet(reader: TokenReader, column: string, offset: number): GroupExpression {
  if (!reader.accept(reader.isSymbol("{"))) throw reader.fail('"{" after "in"');
  const values: GroupValue[] = [];
  const at: number[] = [];
  do {
    at.push(reader.peek().offset);
    values.push(takeValue(reader, values.length === 0 ? "{" : ","));
  } while (reader.accept(reader.isSymbol(",")));
  if (!reader.accept(reader.isSymbol("}"))) throw reader.fail('"," or "}"');
  return reader.placed({ type: "in", column, values }, offset, at);
}

/** `24 <= age`, `24 <= age < 48` or `48 > age >= 24`. */
function parseValueFirst(reader: TokenReader): GroupExpression {
  const firstAt = reader.peek().offset;
  const first = takeValue(reader, "");
  if (!reader.isComparison()) throw reader.fail("a comparison after the value");
  const comparison = reader.take().text as Comparison;
  const { text: column, offset } = takeColumn(reader, `a column after "${comparison}"`);
  if (!reader.isComparison()) {
    return reader.placed(
      { type: "compare", column, comparison: MIRRORED[comparison], value: first },
      offset,
      [firstAt],
    );
  }
  const rises = comparison === "<" || comparison === "<=";
  const allowed = rises ? ["<", "<="] : [">", ">="];
  if (comparison === "=" || comparison === "!=") throw reader.fail('"&", "|" or end');
  if (!allowed.includes(reader.peek().text))
    throw reader.fail(`"${allowed[0]}" or "${allowed[1]}" to go on from "${comparison}"`);
  const second = reader.take().text;
  const lastAt = reader.peek().offset;
  const last = takeValue(reader, second);
  if (typeof first === "boolean" || typeof last === "boolean") {
    throw reader.failAt(lastAt, "true and false have no order");
  }
  const ends = [
    { value: first, included: comparison.endsWith("="), at: firstAt },
    { value: last, included: second.endsWith("="), at: lastAt },
  ];
  const [lower, upper] = rises ? ends : ends.reverse();
  const range: GroupExpression = {
    type: "range",
    column,
    lower: lower.value,
    lowerIncluded: lower.included,
    upper: upper.value,
    upperIncluded: upper.included,
  };
  return reader.placed(range, offset, [lower.at, upper.at]);
}

function negate(term: GroupExpression, negated: boolean): GroupExpression {
  return negated ? { type: "not", term } : term;
}
