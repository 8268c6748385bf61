/**
 * Sentences about a table, made of parts: text, and what may point at single people (counts, row numbers, values of one
 * person's cells), each part with its numbers. `plainText` writes them for whoever holds the table. A page for other
 * readers writes the same parts without what they should not see (report/data/small-cells.ts), so nobody has to find
 * the numbers in a finished sentence again. Parts are plain data and can be stored.
 */
import { nameRows } from "./errors.ts";
import { present } from "./present.ts";
import { countOf, percentOf } from "./text.ts";

/** "3 rows" */
export interface CountPart {
  readonly kind: "count";
  readonly count: number;
  readonly noun: string;
}

/** "all 77 rows", "none of the 77 rows" */
export interface WholePart {
  readonly kind: "whole";
  readonly lead: "all" | "none of the";
  readonly count: number;
  readonly noun: string;
}

/** "3 of 228", "75 of the 77 rows", "2 of the other 38", "1 % (3 of 228)", "4 of these" */
export interface SharePart {
  readonly kind: "share";
  readonly part: number;
  readonly whole: number;
  /** What stands before the whole. */
  readonly before?: "the" | "the other";
  readonly noun?: string;
  /** The percentage first, the counts in brackets. */
  readonly percent?: boolean;
  /** The whole was named before: "these" stands for it. */
  readonly these?: boolean;
}

/** "8 events in 10 rows" */
export interface AmongPart {
  readonly kind: "among";
  readonly part: number;
  readonly partNoun: string;
  readonly whole: number;
  readonly wholeNoun: string;
}

/** " (50 %)", " (12 % of all events)": together with the whole, it would reveal the part. */
export interface PercentPart {
  readonly kind: "percent";
  readonly part: number;
  readonly whole: number;
  readonly of?: string;
}

/** A verb that agrees with a count. */
export interface VerbPart {
  readonly kind: "verb";
  readonly count: number;
  readonly one: string;
  readonly many: string;
}

/** "rows 3, 8 and 12" */
export interface RowsPart {
  readonly kind: "rows";
  readonly text: string;
  readonly count: number;
}

/** What belongs to one person, such as the content of a cell, and what is said without it. */
export interface ValuePart {
  readonly kind: "value";
  readonly text: string;
  readonly instead: string;
}

export type Part =
  | string
  | CountPart
  | WholePart
  | SharePart
  | AmongPart
  | PercentPart
  | VerbPart
  | RowsPart
  | ValuePart;

/** What is the case, what follows from it, and what to do about it. */
export interface Sentence {
  readonly parts: readonly Part[];
  readonly consequence?: string;
  readonly hint?: string;
}

/** The parts of a template: say`${name} is missing in ${named(rows)}`. */
export function say(
  texts: TemplateStringsArray,
  ...values: readonly (Part | number | readonly Part[])[]
): readonly Part[] {
  return joinParts(
    texts.flatMap((text, k) => {
      const value = k < values.length ? values[k] : "";
      return [text, ...(typeof value === "number" ? [String(value)] : isParts(value) ? value : [value])];
    }),
  );
}

function isParts(value: Part | readonly Part[]): value is readonly Part[] {
  return Array.isArray(value);
}

/** Joins adjacent texts into one. */
function joinParts(parts: readonly Part[]): readonly Part[] {
  const joined: Part[] = [];
  for (const part of parts) {
    const last = joined.at(-1);
    if (part === "") continue;
    if (typeof part === "string" && typeof last === "string") joined[joined.length - 1] = last + part;
    else joined.push(part);
  }
  return joined;
}

/** Joins lists of parts with a text between them. */
export function joinSaid(lists: readonly (readonly Part[])[], between: string): readonly Part[] {
  return joinParts(lists.flatMap((list, k) => (k === 0 ? list : [between, ...list])));
}

export function count(of: number, noun: string): CountPart {
  return { kind: "count", count: of, noun };
}

export function whole(lead: WholePart["lead"], of: number, noun: string): WholePart {
  return { kind: "whole", lead, count: of, noun };
}

export function share(
  part: number,
  of: number,
  words: Pick<SharePart, "before" | "noun" | "percent" | "these"> = {},
): SharePart {
  return { kind: "share", part, whole: of, ...words };
}

export function among(part: number, partNoun: string, of: number, wholeNoun: string): AmongPart {
  return { kind: "among", part, partNoun, whole: of, wholeNoun };
}

export function percent(part: number, of: number, whose?: string): PercentPart {
  return { kind: "percent", part, whole: of, ...present({ of: whose }) };
}

export function verb(of: number, one: string, many: string): VerbPart {
  return { kind: "verb", count: of, one, many };
}

/** Rows by their numbers, 1-based. */
export function named(rows: readonly number[]): RowsPart {
  return { kind: "rows", text: nameRows(rows), count: rows.length };
}

export function personal(text: string, instead = ""): ValuePart {
  return { kind: "value", text, instead };
}

export function createSentence(
  said: string | readonly Part[],
  tails: { readonly consequence?: string; readonly hint?: string | undefined } = {},
): Sentence {
  return { parts: typeof said === "string" ? [said] : said, ...present(tails) };
}

/** The same sentence with more text at its end. */
export function continueSentence(sentence: Sentence, more: string): Sentence {
  const { parts, consequence, hint } = sentence;
  const before = consequence === undefined ? parts : [...parts, `: ${consequence}`];
  const said = hint === undefined ? before : [...before, joinHint(hint)];
  return { parts: joinParts([...said, more]) };
}

/** Every number and name, for those who hold the table. */
export function plainText({ parts, consequence, hint }: Sentence): string {
  return writeSentence({ parts: parts.map(plainPart), ...present({ consequence, hint }) });
}

/** Writes a sentence whose parts are already text. */
export function writeSentence(sentence: Sentence & { readonly parts: readonly string[] }): string {
  const { parts, consequence, hint } = sentence;
  const so = consequence === undefined ? "" : `: ${consequence}`;
  return `${parts.join("")}${so}${hint === undefined ? "" : joinHint(hint)}`;
}

/** An option reads on after a colon; a sentence starts after a full stop. */
function joinHint(hint: string): string {
  return `${hint.startsWith("--") ? ":" : "."} ${hint}`;
}

export function plainPart(part: Part): string {
  if (typeof part === "string") return part;
  switch (part.kind) {
    case "count":
      return countOf(part.count, part.noun);
    case "whole":
      return `${part.lead} ${countOf(part.count, part.noun)}`;
    case "share":
      return plainShare(part);
    case "among":
      return `${countOf(part.part, part.partNoun)} in ${countOf(part.whole, part.wholeNoun)}`;
    case "percent":
      return ` (${percentOf(part.part, part.whole)}${part.of === undefined ? "" : ` of ${part.of}`})`;
    case "verb":
      return part.count === 1 ? part.one : part.many;
    case "rows":
    case "value":
      return part.text;
  }
}

function plainShare({ part, whole: of, before, noun, percent: first, these }: SharePart): string {
  if (these === true) return `${part} of these`;
  const counted = noun === undefined ? String(of) : countOf(of, noun);
  const said = `${part} of ${before === undefined ? "" : `${before} `}${counted}`;
  return first === true ? `${percentOf(part, of)} (${said})` : said;
}
