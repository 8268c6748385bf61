/**
 * What a page that is handed on says about single people. A count under five can identify someone, so it is written
 * "under 5". A count from which a small one would follow by subtraction in the same line (19 events of 20 people) is
 * written "over 15". Sentences about a table (core/sentence.ts) lose row numbers, people's times and values, and small
 * counts: "75 of the 77" becomes "all but a few of the 77", and a percentage that would reveal the count is removed
 * with it. Counts of levels, columns or bins identify nobody: they are plain text and stay. This protects one line
 * only: curves, and other lines or reports of the same people, are not considered.
 */

import {
  type AmongPart,
  count,
  type Part,
  plainPart,
  plainText,
  type Sentence,
  type SharePart,
  writeSentence,
} from "../../core/sentence.ts";
import type { ReportFinding } from "./report-data.ts";

/** The smallest count that is printed. */
export const SMALLEST_CELL = 5;

export interface Cells {
  readonly hides: boolean;
  /** "12" or "under 5"; with a whole printed beside it, also "over 15". */
  text(count: number, whole?: number): string;
  /** Whether the count itself is printed. */
  shows(count: number, whole?: number): boolean;
  /** The value that the printed text may be sorted by. */
  value(count: number, whole?: number): number;
  /** "under 5 events", "1 event", "12 events". */
  countOf(count: number, noun: string, whole?: number): string;
  /** Numbers at risk over time: two that differ by less than five are not both printed. */
  falling(counts: readonly number[]): string[];
  /** A sentence about the table, with its small counts of people hidden. */
  sentence(said: Sentence): string;
}

/** 12 345 with a narrow space, readable in any language. */
export function formatCount(count: number): string {
  return String(count).replace(/\B(?=(\d{3})+(?!\d))/g, count >= 10000 ? "\u202f" : "");
}

export function createCells(hides: boolean): Cells {
  const isSmall = (count: number) => hides && count < SMALLEST_CELL;
  const isNearlyAll = (count: number, whole: number | undefined) =>
    whole !== undefined && hides && whole - count < SMALLEST_CELL;
  const shows = (count: number, whole?: number) => !isSmall(count) && !isNearlyAll(count, whole);
  const text = (count: number, whole?: number) => {
    if (isSmall(count)) return `under ${SMALLEST_CELL}`;
    if (whole !== undefined && isNearlyAll(count, whole)) {
      const least = whole - SMALLEST_CELL;
      return least < SMALLEST_CELL ? `${SMALLEST_CELL} or more` : `over ${formatCount(least)}`;
    }
    return formatCount(count);
  };
  return {
    hides,
    shows,
    text,
    value: (count, whole) =>
      isSmall(count) ? 0 : isNearlyAll(count, whole) ? (whole ?? 0) - SMALLEST_CELL : count,
    countOf: (count, noun, whole) => {
      const one = shows(count, whole) && count === 1;
      const plural = noun === "person" ? "people" : `${noun}s`;
      return `${text(count, whole)} ${one ? noun : plural}`;
    },
    falling: (counts) => {
      let before: number | undefined;
      return counts.map((count) => {
        if (count === before) return text(count);
        const said = text(count, before);
        if (shows(count, before)) before = count;
        return said;
      });
    },
    sentence: (said) => (hides ? maskCounts(said, SMALLEST_CELL) : plainText(said)),
  };
}

/** A group by what could tell it from others. */
export interface SizedGroup {
  readonly name: string;
  readonly expression?: string | null;
  readonly n: number;
  /** Its members, where they are known: groups inside one another are then seen too. */
  readonly rows?: ArrayLike<number>;
}

/** `stage = 4` or "stage=4": one level of one column. Levels of a column have nobody in common. */
const ONE_LEVEL = /^\s*("[^"]+"|`[^`]+`|[^=<>!&|()"`]+?)\s*={1,2}\s*("[^"]*"|'[^']*'|[^=<>!&|()"'`]+)\s*$/u;

function columnOf({ name, expression }: SizedGroup): string | null {
  const found = ONE_LEVEL.exec(expression ?? name) ?? ONE_LEVEL.exec(name);
  return found === null || /\s(and|or)\s/iu.test(found[2]) ? null : found[1].replace(/["`]/gu, "").trim();
}

/**
 * Groups that are large enough by themselves and must not be shown: everyone less such a group, everyone less all shown
 * levels of its column, or a group less one inside it, is a group of a few people whose numbers would follow. The
 * smallest that would do is left out (secondary suppression), until a few people no longer follow. Sums and differences
 * over groups of different columns that merely overlap are not looked through.
 */
export function findRevealing(groups: readonly SizedGroup[], all: number): ReadonlySet<string> {
  const isFew = (count: number) => count > 0 && count < SMALLEST_CELL;
  const hidden = new Set<string>();
  const families = new Map<string, SizedGroup[]>();
  for (const group of groups) {
    if (group.n < SMALLEST_CELL) continue;
    if (isFew(all - group.n)) hidden.add(group.name);
    const column = columnOf(group);
    if (column !== null) families.set(column, [...(families.get(column) ?? []), group]);
  }
  for (const levels of families.values()) {
    const shown = levels.filter(({ name }) => !hidden.has(name)).sort((a, b) => a.n - b.n);
    let rest = all - shown.reduce((sum, { n }) => sum + n, 0);
    for (const { name, n } of shown) {
      if (!isFew(rest)) break;
      hidden.add(name);
      rest += n;
    }
  }
  const open = groups.filter(({ name, n }) => n >= SMALLEST_CELL && !hidden.has(name));
  for (const inner of open) {
    const members = new Set(Array.from(inner.rows ?? []));
    const surrounds = (outer: SizedGroup) =>
      isFew(outer.n - inner.n) &&
      Array.from(outer.rows ?? []).filter((row) => members.has(row)).length === inner.n;
    if (members.size > 0 && open.some((outer) => !hidden.has(outer.name) && surrounds(outer)))
      hidden.add(inner.name);
  }
  return hidden;
}

/** Puts "6 rows" in place of row numbers, and removes what belongs to one person. */
export function withoutPeople(sentence: Sentence): Sentence {
  const hide = (part: Part): Part => {
    if (typeof part === "string") return part;
    if (part.kind === "rows") return count(part.count, "row");
    return part.kind === "value" ? part.instead : part;
  };
  return { ...sentence, parts: sentence.parts.map(hide) };
}

/** A finding with its rows and values where rows are shown, and without them everywhere else. */
export function forPage(
  { level, sentence }: ReportFinding,
  { showRows }: { readonly showRows?: boolean },
): ReportFinding {
  return { level, sentence: showRows === true ? sentence : withoutPeople(sentence) };
}

/** Puts into words the counts of people below `smallest`, and those from which one would follow in the same phrase. */
export function maskCounts(sentence: Sentence, smallest: number): string {
  return writeSentence({ ...sentence, parts: sentence.parts.map((part) => maskPart(part, smallest)) });
}

function maskPart(part: Part, smallest: number): string {
  if (typeof part === "string") return part;
  switch (part.kind) {
    case "count":
      return part.count < smallest ? `under ${smallest} ${part.noun}s` : plainPart(part);
    case "whole": {
      const of = part.lead === "all" ? "all of the" : part.lead;
      return part.count < smallest ? `${of} few ${part.noun}s` : plainPart(part);
    }
    case "share":
      return maskShare(part, smallest);
    case "among":
      return maskAmong(part, smallest);
    case "percent":
      return shareWords(part, smallest) === null ? plainPart(part) : "";
    case "verb":
      return part.count < smallest ? part.many : plainPart(part);
    case "rows":
    case "value":
      return part.text;
  }
}

/** The words for a part that is hidden; null where it can be printed. */
function shareWords(
  { part, whole }: { readonly part: number; readonly whole: number },
  smallest: number,
): string | null {
  if (part > whole) return null;
  if (part < smallest) return `under ${smallest}`;
  return whole - part < smallest ? "all but a few" : null;
}

function maskShare(part: SharePart, smallest: number): string {
  const words = shareWords(part, smallest);
  if (words === null) return plainPart(part);
  if (part.these === true) return `${words} of these`;
  const before = part.before === undefined ? "" : `${part.before} `;
  const isSmall = part.whole < smallest;
  const whole = isSmall ? `under ${smallest}` : String(part.whole);
  const noun = part.noun === undefined ? "" : ` ${part.noun}s`;
  return `${words} of ${before}${whole}${noun}`;
}

function maskAmong({ part, partNoun, whole, wholeNoun }: AmongPart, smallest: number): string {
  if (part >= smallest && shareWords({ part, whole }, smallest) !== null) {
    return `${partNoun}s in all but a few of ${whole} ${wholeNoun}s`;
  }
  const counted = [count(part, partNoun), count(whole, wholeNoun)];
  return counted.map((one) => maskPart(one, smallest)).join(" in ");
}
