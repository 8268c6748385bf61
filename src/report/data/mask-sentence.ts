/**
 * Sentences that were written for whoever holds the table (findings of its checks, warnings of a training), as a page that is handed
 * on may carry them: without numbers of rows, single people's times and values, and small counts of people. "3 of 228" becomes
 * "under 5 of 228", "75 of the 77" becomes "all but a few of the 77", and a percentage that would give the count back goes with
 * it. Counts of levels, columns or bins are nobody's and stay.
 */

/** "row 3", "rows 3, 8 and 12", "rows 1, 2 (and 71 more)", as core/errors.ts writes them. */
const NAMED_ROWS = /\brows? (\d+(?:, \d+)*)(?: and (\d+))?(?: \(and (\d+) more\))?/g;
const SMALL_COUNT = /(?<![\d.,])[0-4] ((?:[a-z]+ )?)(rows?|people|persons?|events?)\b(?: \([\d.]+ %\))?/g;
/** "3 of 228", "75 of the 77", "8 rows of 90", "2 of the other 38", with a percentage before it: "1 % (3 of 228)". */
const PART =
  /(?:[\d.]+ % \()?(?<![\d.,])\b(\d+)( rows?)? of ((?:the )?(?:other )?)(\d+)\b(?![.,]\d)(?! (?:levels?|columns?|groups?|constraints?|features?|runs?|(?:time )?bins?)\b)(\))?/g;
/** "(97 %)", "(12 % of all events)". */
const SHARE = / \([\d.]+ %[^)]*\)/;
const EVENTS_IN_ROWS = /(?<![\d.,])\b(\d+) events? in (\d+) rows?\b/g;

/** "6 rows" in place of their numbers. */
export function withoutRowNumbers(text: string): string {
  return text
    .replace(NAMED_ROWS, (_, listed: string, last?: string, more?: string) => {
      const count = listed.split(",").length + (last === undefined ? 0 : 1) + Number(more ?? 0);
      return count === 1 ? "1 row" : `${count} rows`;
    })
    .replace(/(an earlier row in every column): \d+ rows?$/, "$1");
}

/** Without the first and last times of a set of rows, which are single people's, and without cells given as examples. */
export function withoutOwnValues(text: string): string {
  return text
    .replace(/[:;]? training times span \S+ to \S+, test times [^\s;]+ to [^\s;]+/, "")
    .replace(/ had the event up to time [^\s,]+/, " had the event early on")
    .replace(/( beyond 2\^53), such as [^\s:]+/, "$1")
    .replace(/( commas in [^(]*?) \([^)]*\)/, "$1");
}

/** Counts of people below `smallest`, and those from which one would follow in the same phrase, in words. */
export function maskCounts(text: string, smallest: number): string {
  const few = text.replace(/^[0-4] rows? \([\d.]+ %\) repeats?\b/, "a few rows repeat");
  const counted = maskParts(few, smallest).replace(EVENTS_IN_ROWS, (said, events: string, rows: string) => {
    const censored = Number(rows) - Number(events);
    if (Number(events) < smallest || censored < 0 || censored >= smallest) return said;
    return `events in all but a few of ${rows} rows`;
  });
  return counted
    .replace(/\ball [0-4] rows?\b/g, "all of the few rows")
    .replace(SMALL_COUNT, (_, kind: string, noun: string) => {
      const plural = /s$|people/.test(noun) ? noun : noun === "person" ? "people" : `${noun}s`;
      return `under ${smallest} ${kind}${plural}`;
    });
}

function maskParts(text: string, smallest: number): string {
  let written = "";
  let end = 0;
  let dropsShare = false;
  const follow = (between: string) => (dropsShare ? between.replace(SHARE, "") : between);
  for (const match of text.matchAll(PART)) {
    const [said, part, rows = "", of, whole] = match;
    written += follow(text.slice(end, match.index));
    end = match.index + said.length;
    const wholeWords = (count: string) => (Number(count) < smallest ? `under ${smallest}` : count);
    const masked = partWords(Number(part), Number(whole), smallest);
    dropsShare = masked !== null;
    // A bracket that only closes the sentence's own stays; one that belongs to the percentage goes with it.
    const closes = said.endsWith(")") && !said.includes("(") ? ")" : "";
    written +=
      masked === null ? said : `${masked}${rows === "" ? "" : " rows"} of ${of}${wholeWords(whole)}${closes}`;
  }
  return written + follow(text.slice(end));
}

function partWords(part: number, whole: number, smallest: number): string | null {
  if (part > whole) return null;
  if (part < smallest) return `under ${smallest}`;
  return whole - part < smallest ? "all but a few" : null;
}
