/**
 * Rewrites sentences about a table (core/sentence.ts) for a page that is handed on: without row numbers, individual
 * people's times and values, or small counts of people. "3 of 228" becomes "under 5 of 228", "75 of the 77" becomes
 * "all but a few of the 77", and a percentage that would reveal the count is removed with it. Counts of levels, columns
 * or bins identify nobody: they are plain text and stay.
 */
import {
  type AmongPart,
  count,
  type Part,
  plainPart,
  type Sentence,
  type SharePart,
  writeSentence,
} from "../../core/sentence.ts";
import type { ReportFinding } from "./report-data.ts";

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
