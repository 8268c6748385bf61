/**
 * What the sanity gate has to say about a table: findings. A finding is a value, not an exception: a sentence in parts
 * (core/sentence.ts), its plain text, and its numbers for programs. An "error" must be dealt with before a model is
 * fitted, a "warning" should be looked at, a "note" is for the record. Whether an error stops a run is the caller's
 * decision; a `Problem` is a finding with what an exception adds to it.
 */
import { InputError, MAX_ROWS_NAMED } from "../../core/errors.ts";
import { present } from "../../core/present.ts";
import { createSentence, type Part, plainText, type Sentence } from "../../core/sentence.ts";
import { type Column, namePlaces, placeRows, type Table } from "../table.ts";

/** How much a finding matters. */
export type FindingLevel = "error" | "warning" | "note";

/** What kind of thing a finding is. */
export type FindingCode =
  /** The column says, for all or many rows, whether the event happened. */
  | "leak.event"
  /** The same up to a few rows: too close for anything known at the start. */
  | "leak.near"
  /** The column, or its difference from another one, is the time. */
  | "leak.time"
  /** Known only later, by all appearances: a value without events, a time within the follow-up, another outcome. */
  | "leak.later"
  /** A row or patient number: it can be memorised, not learned from. */
  | "id"
  /** Two ids that are one number, such as 007 and 7. */
  | "id.spelling"
  | "constant"
  /** A category with so many levels that hardly any has enough rows to learn from. */
  | "levels.many"
  /** Numbers written with a comma, read as texts. */
  | "number.comma"
  /** A text or two among the numbers of a code, which make it a category. */
  | "number.text"
  /** Integers too large to be told apart as numbers. */
  | "number.large"
  /** Numbers whose mark stands before decimals or between thousands. */
  | "number.marks"
  /** A value far beyond all others that is a usual code for "missing". */
  | "number.sentinel"
  /** Dates that could be read in two ways. */
  | "date.ambiguous"
  /** Dates of which some have the day first and some the month. */
  | "date.mixed"
  /** Levels that are one text but for how it is written. */
  | "levels.alike"
  /** How many cells of the features are missing. */
  | "cells.missing"
  /** A feature that orders people far better than the others do. */
  | "feature.alone"
  | "time.values"
  | "time.missing"
  | "time.nonpositive"
  /** Dates as numbers, a code for "missing", or one time far beyond the others. */
  | "time.doubtful"
  | "event.values"
  /** A column named for those without the event, in which 1 would be read as the event. */
  | "event.name"
  | "event.missing"
  /** Values of the event column, beyond the event and its absence, that are read as censored. */
  | "event.causes"
  /** A person has rows after an event. */
  | "event.recurrent"
  /** A cause with too few events to say anything of. */
  | "cause.events"
  /** A value of the event column that is neither a cause nor censored, or a cause that cannot be told. */
  | "cause.values"
  /** A row enters when or after it leaves. */
  | "entry.order"
  /** Late entry leaves hardly anyone at risk at the first events. */
  | "entry.risk"
  /** Two rows of one person cover the same time. */
  | "interval.overlap"
  /** Rows of one person follow on each other and are told as late entries. */
  | "interval.follows"
  /** Time between a person's rows that no row covers. */
  | "interval.gap"
  | "weights.values"
  | "duplicate.rows"
  | "group.events"
  | "followup.overlap";

/** One thing that a table's reader should know before a model is fitted. */
export interface Finding {
  readonly code: FindingCode;
  readonly level: FindingLevel;
  /** The column it is about; null where it is about rows or groups. */
  readonly column: string | null;
  /** One plain sentence with the numbers. */
  readonly message: string;
  /** The numbers of the sentence, for programs. */
  readonly evidence: Readonly<Record<string, number | string>>;
  /** The sentence in parts; `message` is its plain text. */
  readonly sentence: Sentence;
}

/** Something said about a run, and how much it matters; a `Finding` is one. */
export type Notice = Pick<Finding, "level" | "sentence">;

/** A finding before its message is written. */
export interface FindingParts extends Omit<Finding, "message" | "sentence"> {
  readonly said: string | readonly Part[];
  /** What follows from it, and what to do about it. */
  readonly consequence?: string;
  readonly hint?: string | undefined;
}

export function createFinding(parts: FindingParts): Finding {
  const { code, level, column, said, evidence, ...tails } = parts;
  const sentence = createSentence(said, tails);
  return { code, level, column, message: plainText(sentence), evidence, sentence };
}

export function createNotice(level: FindingLevel, said: string | readonly Part[]): Notice {
  return { level, sentence: createSentence(said) };
}

/** A finding as programs read it. */
export type PlainFinding = Omit<Finding, "sentence">;

/** The finding with its sentence as text only. */
export function toPlainFinding({ code, level, column, message, evidence }: PlainFinding): PlainFinding {
  return { code, level, column, message, evidence };
}

/** A finding with what an exception adds to it. */
export interface Problem {
  readonly finding: Finding;
  readonly rows: readonly number[]; // 1-based
  readonly hint: string | undefined;
}

/** One column, or two, as numbers. */
export interface Reading {
  readonly values: Float64Array; // [N], NaN where unusable
  readonly problems: readonly Problem[];
  /** How they were read, in words. */
  readonly rule: string;
}

export function problem(
  code: FindingCode,
  level: FindingLevel,
  column: Column,
  said: string | readonly Part[],
  evidence: Finding["evidence"],
  rows: readonly number[] = [],
  hint?: string,
): Problem {
  const named: Finding["evidence"] =
    rows.length > 0 ? { rows: rows.length, first: rows.slice(0, MAX_ROWS_NAMED).join(" ") } : {};
  return {
    finding: createFinding({ code, level, column: column.name, said, evidence: { ...named, ...evidence } }),
    rows,
    hint,
  };
}

/** How a part about one person's cell names rows: ` (rows 3 and 4: "x")`, `: row 3 is "x"`. */
const ROWS_OF_CELL = /^( \(|: )rows? [\d, and()more]+?(?=: "| is ")/;

/** The problem with its rows named by their files, in a table of several; `evidence` counts over all of them. */
export function placeProblem(table: Table, found: Problem): Problem {
  const { finding, rows } = found;
  if (table.parts === undefined || rows.length === 0) return found;
  const parts = finding.sentence.parts.map((part): Part => {
    if (typeof part === "string") return part;
    if (part.kind === "rows") return { ...part, text: namePlaces(table, rows) };
    if (part.kind !== "value") return part;
    const text = part.text.replace(ROWS_OF_CELL, (_, open: string) =>
      open === ": " ? open + namePlaces(table, rows.slice(0, 1)) : open + namePlaces(table, rows),
    );
    return { ...part, text };
  });
  const sentence = { ...finding.sentence, parts };
  return { ...found, finding: { ...finding, sentence, message: plainText(sentence) } };
}

/** The problem as an exception, with its rows. */
export function createProblemError(table: Table, { finding, rows, hint }: Problem): InputError {
  const place = rows.length > 0 ? placeRows(table, rows) : table.name;
  return new InputError(finding.message, {
    code: finding.code,
    where: `${place}, column "${finding.column}"`,
    ...present({ hint }),
  });
}
