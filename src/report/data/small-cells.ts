/**
 * Counts of people in a page that is handed on. A count under five can identify someone, so it is written "under 5". A
 * count from which a small one would follow by subtraction in the same line (19 events of 20 people) is written "over
 * 15". This protects that line only: curves, and other lines or reports of the same people, are not considered.
 */
import { plainText, type Sentence } from "../../core/sentence.ts";
import { maskCounts } from "./page-sentence.ts";

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
