/**
 * Reads which of several causes an event was of: each cause is a value of the event column, given as "value" or as
 * "value=name"; one value means censored. Every other value is refused, since a cause that is forgotten would be read
 * as censored, and a curve that censors another cause overstates the risk.
 */
import { InputError } from "../../core/errors.ts";
import { count, say } from "../../core/sentence.ts";
import { type Problem, problem, type Reading } from "../checks/findings.ts";
import { type Column, cellText, isMissing } from "../table.ts";
import { countTexts, distinctTexts, listTexts, NOTHING_WORDS, sameValue } from "./read-event.ts";

/** Which values of the event column are events, and which is none. */
export interface CauseColumns {
  /** The causes, each a value of the event column, or "value=name". */
  readonly causes?: readonly string[];
  /** The value that means censored; 0, false, no, none, alive, censored and the like unless given. */
  readonly censored?: string;
}

/** Who names the causes: whoever asks for a statistic of the table, or curves or a model that are judged on it. */
export type CausesOf = "request" | "curves" | "model";

/** A cause of the event, and its value in the table. */
interface Cause {
  readonly value: string;
  readonly name: string;
}

/** Causes of every row as numbers: 0 = censored, k = of the k-th cause. */
export interface CauseReading extends Reading {
  readonly names: readonly string[];
}

/** Fewer events of a cause give a curve with a standard error of a third of itself, and a test without power. */
const MIN_CAUSE_EVENTS = 10;
/** As many as a byte can number. */
const MAX_CAUSES = 255;

/** "2=death" → value 2, name death; a value of the column that holds an equals sign itself is a value. */
function parseCause(text: string, texts: readonly string[]): Cause {
  const at = text.indexOf("=");
  if (at <= 0 || texts.includes(text)) return { value: text, name: text };
  return { value: text.slice(0, at).trim(), name: text.slice(at + 1).trim() };
}

function refuseCauses(message: string, column: Column, hint: string): never {
  throw new InputError(message, { code: "cause.values", where: `column "${column.name}"`, hint });
}

function parseCauses(column: Column, wanted: readonly string[], texts: readonly string[]): readonly Cause[] {
  if (!Array.isArray(wanted))
    refuseCauses(`causes are not a list: "${wanted}"`, column, 'name each by itself: causes: ["a", "b"]');
  const causes = wanted.map((text) => parseCause(text, texts));
  if (causes.length === 0)
    refuseCauses("no cause is named", column, "name the values that are events: --causes a,b");
  if (causes.length > MAX_CAUSES)
    refuseCauses(`too many causes: ${causes.length} (at most ${MAX_CAUSES})`, column, "join rare causes");
  for (const [k, { value, name }] of causes.entries()) {
    const earlier = causes.slice(0, k);
    if (earlier.some((one) => sameValue(column, one.value, value)))
      refuseCauses(`a cause is named twice: "${value}"`, column, "name every cause once");
    if (name === "" || earlier.some((one) => one.name === name))
      refuseCauses(`two causes have one name: "${name}"`, column, "give each a name: --causes 1=a,2=b");
  }
  return causes;
}

/**
 * Reads the causes; what cannot be read as meant is among the problems. A cause that is named for a table has events in
 * it, or the name is wrong; one that was predicted may have none among other people.
 */
export function readCauses(
  column: Column,
  N: number,
  { causes = [], censored }: CauseColumns,
  of: CausesOf = "request",
): CauseReading {
  const texts = distinctTexts(column, N);
  const named = parseCauses(column, causes, texts);
  const codes = new Map<string, number>();
  for (const text of texts) {
    const at = named.findIndex(({ value }) => sameValue(column, text, value));
    if (at >= 0) codes.set(text, at + 1);
    else if (isCensoredText(column, text, censored)) codes.set(text, 0);
  }
  const values = new Float64Array(N).fill(Number.NaN);
  const missing: number[] = [];
  for (let row = 0; row < N; row++) {
    if (isMissing(column, row)) missing.push(row + 1);
    else values[row] = codes.get(cellText(column, row)) ?? Number.NaN;
  }
  const problems = listProblems(column, N, { texts, named, codes, censored, missing, of });
  const told = named.map(({ value, name }) => (value === name ? name : `${value} = ${name}`));
  const rule = `${column.name}: ${told.join(", ")}`;
  return {
    values,
    problems,
    rule: `${rule}, every other value censored`,
    names: named.map(({ name }) => name),
  };
}

/** The values that compete with one cause: all of the column but those that mean censored. */
export function listCompeting(
  column: Column,
  N: number,
  cause: string,
  censored?: string,
): readonly string[] {
  const texts = distinctTexts(column, N);
  // Whoever misspells the censored value would have the censored compete.
  if (censored !== undefined && !texts.some((text) => sameValue(column, text, censored)))
    refuseCauses(
      `no row of ${column.name} is "${censored}" (have ${listTexts(texts)})`,
      column,
      "name the value that means censored with --censored; leave it out where nobody is",
    );
  return texts.filter((text) => !sameValue(column, text, cause) && !isCensoredText(column, text, censored));
}

/** Whether a value of the event column means censored. */
function isCensoredText(column: Column, text: string, censored: string | undefined): boolean {
  return censored === undefined
    ? NOTHING_WORDS.includes(text.trim().toLowerCase())
    : sameValue(column, text, censored);
}

const NAME_ALL = "name every cause in --causes, and the value that means censored with --censored";
const QUOTE = "; a value with a comma stands in quotation marks: --causes '\"a, b\",c'";
const NO_EVENTS = "nothing can be said of this cause here";

/** What the event column of a table may hold that a model of several causes is used on. */
function sayModelValues(named: readonly Cause[], censored: string | undefined): string {
  const causes = named.map(({ value }) => value).join(", ");
  return `write ${censored ?? "0"} for censored and one of ${causes} for events, or leave these rows out`;
}

interface ReadCauses {
  readonly texts: readonly string[];
  readonly named: readonly Cause[];
  readonly codes: ReadonlyMap<string, number>;
  readonly censored: string | undefined;
  readonly missing: readonly number[];
  readonly of: CausesOf;
}

function listProblems(column: Column, N: number, read: ReadCauses): Problem[] {
  const { texts, named, codes, censored, missing, of } = read;
  const problems: Problem[] = [];
  const add = (
    level: "error" | "warning",
    said: Parameters<typeof problem>[3],
    hint: string | undefined,
    rows: readonly number[] = [],
    code: "cause.values" | "cause.events" | "event.missing" = "cause.values",
  ) =>
    problems.push(
      problem(code, level, column, said, rows.length > 0 ? {} : { values: listTexts(texts) }, rows, hint),
    );
  if (missing.length > 0)
    add(
      "error",
      `${column.name} is missing`,
      "remove these rows or fill in their events",
      missing,
      "event.missing",
    );
  const clash = named.find(
    ({ value }) => censored !== undefined && (value === censored || sameValue(column, value, censored)),
  );
  if (clash !== undefined)
    add("error", `"${clash.value}" is both a cause and censored`, "name it once, in --causes or --censored");
  const unknown = texts.filter((text) => !codes.has(text));
  if (unknown.length > 0) {
    const whose = of === "model" ? " of the model" : "";
    const said = `${column.name} holds values that are neither a cause${whose} nor censored: ${listTexts(unknown)}`;
    const inQuotes = unknown.some((text) => text.includes(",")) ? QUOTE : "";
    add("error", said, of === "model" ? sayModelValues(named, censored) : `${NAME_ALL}${inQuotes}`);
  }
  if (censored !== undefined && !texts.some((text) => sameValue(column, text, censored))) {
    add("warning", `no row of ${column.name} is "${censored}": nobody is censored`, undefined);
  }
  const counts = countTexts(column, N, texts);
  named.forEach(({ value, name }, k) => {
    const own = texts.filter((text) => codes.get(text) === k + 1);
    const events = own.reduce((sum, text) => sum + (counts.get(text) ?? 0), 0);
    if (events === 0) {
      const said = `no row of ${column.name} is "${value}" (have ${listTexts(texts)})`;
      if (of !== "request") add("warning", `${said}: ${NO_EVENTS}`, undefined, [], "cause.events");
      else add("error", said, "name the column's values in --causes");
    } else if (events < MIN_CAUSE_EVENTS) {
      const few = `fewer than ${MIN_CAUSE_EVENTS}, too few to say much of this cause`;
      add("warning", say`${name} has ${count(events, "event")}: ${few}`, undefined, [], "cause.events");
    }
  });
  return problems;
}
