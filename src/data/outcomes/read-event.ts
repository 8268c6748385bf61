/**
 * Reads whether the event happened in each row. Accepted codings: 0/1, true/false, words that mean one thing (yes/no,
 * dead/alive, event/censored, in any case; reported in a note), exactly {1, 2} under the rule of R's Surv (reported in
 * a warning), or a value named by the caller. Everything else is a problem, read as "largest code = event" so that a
 * description can go on.
 */
import { count, joinSaid, named, type Part, say } from "../../core/sentence.ts";
import { shortenValue } from "../../core/text.ts";
import { type Problem, problem, type Reading } from "../checks/findings.ts";
import { parseNumberText } from "../reading/parse-cell.ts";
import { type Column, cellText, isMissing } from "../table.ts";

/** Enough to see what kind of values a column holds. */
const MAX_VALUES_NAMED = 8;

/** Distinct values of the column as texts, ascending: numbers as numbers. */
export function distinctTexts(column: Column, N: number): string[] {
  if (column.type === "category") {
    const seen = new Uint8Array(column.levels.length);
    for (const code of column.codes) if (code >= 0) seen[code] = 1;
    return column.levels.filter((_, code) => seen[code] === 1);
  }
  const first = new Map<number, number>();
  for (let row = 0; row < N; row++) {
    if (!isMissing(column, row) && !first.has(column.values[row])) first.set(column.values[row], row);
  }
  const ascending = [...first.entries()].sort((a, b) => a[0] - b[0]);
  return ascending.map(([, row]) => cellText(column, row));
}

export function listTexts(texts: readonly string[]): string {
  const shown = texts.slice(0, MAX_VALUES_NAMED).map(shortenValue).join(", ");
  return texts.length > MAX_VALUES_NAMED ? `${shown}, … (${texts.length} in all)` : shown;
}

/** Per row: 1 where `isEvent` holds for the cell's text, 0 where not, NaN where the cell is missing. */
function readByText(column: Column, N: number, isEvent: (text: string) => boolean): Float64Array {
  const values = new Float64Array(N).fill(Number.NaN);
  if (column.type === "category") {
    const events = column.levels.map(isEvent);
    for (let row = 0; row < N; row++)
      if (column.codes[row] >= 0) values[row] = events[column.codes[row]] ? 1 : 0;
    return values;
  }
  const known = new Map<number, number>();
  for (let row = 0; row < N; row++) {
    if (isMissing(column, row)) continue;
    const cell = column.values[row];
    let event = known.get(cell);
    if (event === undefined) {
      event = isEvent(cellText(column, row)) ? 1 : 0;
      known.set(cell, event);
    }
    values[row] = event;
  }
  return values;
}

/** Words that say one thing in any study, in small letters. */
const EVENT_WORDS = ["yes", "y", "dead", "died", "deceased", "death", "event"];
const CENSORED_WORDS = ["no", "n", "alive", "censored", "censor"];
/** Beside a named event, these say just as plainly that it was not seen; among numbers, 0 does. */
export const NOTHING_WORDS = [...CENSORED_WORDS, "none", "lost", "lost to follow-up", "0", "false"];

/** "a", "a and b", "a, b and c". */
function joinAnd(all: readonly (readonly Part[])[]): readonly Part[] {
  return joinSaid(
    [joinSaid(all.slice(0, -1), ", "), ...all.slice(-1)].slice(all.length < 2 ? 1 : 0),
    " and ",
  );
}

/** Rows of every value of the column, as texts. */
export function countTexts(column: Column, N: number, texts: readonly string[]): Map<string, number> {
  const counts = new Map(texts.map((text) => [text, 0]));
  for (let row = 0; row < N; row++) {
    if (isMissing(column, row)) continue;
    const text = cellText(column, row);
    counts.set(text, (counts.get(text) ?? 0) + 1);
  }
  return counts;
}

/**
 * Values besides the event and those that mean "nothing happened". Censoring people who can no longer have the event
 * answers a different question from the one most people ask.
 */
function findOtherCauses(column: Column, N: number, texts: readonly string[], eventIs: string): Problem[] {
  const besides = texts.filter((text) => !sameValue(column, text, eventIs));
  const others = besides.filter((text) => !NOTHING_WORDS.includes(text.trim().toLowerCase()));
  if (besides.length < 2 || others.length === 0) return [];
  const counts = countTexts(column, N, others);
  const byRows = [...others].sort((a, b) => (counts.get(b) ?? 0) - (counts.get(a) ?? 0));
  const rows = others.reduce((sum, text) => sum + (counts.get(text) ?? 0), 0);
  const shown = byRows
    .slice(0, MAX_VALUES_NAMED)
    .map((text) => say`${shortenValue(text)} (${count(counts.get(text) ?? 0, "row")})`);
  const more = byRows.length > shown.length ? ` (and ${byRows.length - shown.length} more values)` : "";
  const overstated =
    `Where ${others.length === 1 ? "this" : "one of them"} keeps the event from happening, ` +
    "as another cause of death or a transplantation does, censoring it overstates the risk: " +
    "curves then say what would happen without it, not how many people will have the event";
  const besidesIt = `besides ${eventIs}, ${column.name} has`;
  const message = say`${besidesIt} ${joinAnd(shown)}${more}, read as censored. ${overstated}`;
  const evidence = { values: listTexts(byRows), others: others.length, otherRows: rows };
  return [problem("event.causes", "warning", column, message, evidence)];
}

/** Words for people who did not have the event, or were lost, without accents. */
const ABSENCE = new Set(
  (
    "alive living survived survivor survivors surviving survive censored censor cens censoring censorship lost ltfu " +
    "dropout dropouts withdrawn withdrew withdrawal eventfree lebt lebend lebendig uberlebt ueberlebt uberlebend " +
    "zensiert zensur abgebrochen vivant vivante vivants survecu censure censuree perdu perdue vivo viva vivos " +
    "sobrevivio sobreviviente censurado censurada perdido abandono sopravvissuto censurato"
  ).split(" "),
);
/** Words that turn these around, or say that the column has both: dead_or_alive, not_censored. */
const PRESENCE = new Set(
  (
    "not no non un nicht dead death died dies deceased event fail failed failure tod tot gestorben verstorben mort " +
    "decede muerto muerte fallecido morto"
  ).split(" "),
);

/** Whether a column is named for those to whom nothing happened: alive, is_censored, lostToFollowUp, dropout. */
function isNamedForAbsence(name: string): boolean {
  const words = name
    .replace(/([a-z])([A-Z])/g, "$1 $2")
    .normalize("NFD")
    .replace(/\p{M}/gu, "")
    .toLowerCase()
    .replace(/event[^a-z]*free/g, "eventfree")
    .replace(/drop[^a-z]*(?:ped[^a-z]*)?out/g, "dropout")
    .split(/[^a-z]+/);
  return words.some((word) => ABSENCE.has(word)) && !words.some((word) => PRESENCE.has(word));
}

export function readEvent(column: Column, N: number, eventIs: string | undefined): Reading {
  const problems: Problem[] = [];
  const missing: number[] = [];
  for (let row = 0; row < N; row++) if (isMissing(column, row)) missing.push(row + 1);
  if (missing.length > 0) {
    const said = say`event is missing in ${named(missing)}`;
    const fill = "remove these rows or fill in the event";
    problems.push(problem("event.missing", "error", column, said, {}, missing, fill));
  }
  const texts = distinctTexts(column, N);
  const lower = texts.map((text) => text.toLowerCase());
  const only = (...allowed: string[]) => texts.length > 0 && lower.every((text) => allowed.includes(text));

  if (eventIs !== undefined) {
    const rule = `${column.name} = ${eventIs} is the event, every other value censored, as asked`;
    const wanted = (text: string) => sameValue(column, text, eventIs);
    if (!texts.some(wanted)) {
      const message = `no row of ${column.name} is "${eventIs}" (have ${listTexts(texts)})`;
      const hint = "name one of the column's values";
      problems.push(
        problem("event.values", "error", column, message, { values: listTexts(texts) }, [], hint),
      );
    }
    problems.push(...findOtherCauses(column, N, texts, eventIs));
    return { values: readByText(column, N, wanted), problems, rule };
  }
  const isPlainCode =
    only("0", "1", "false", "true", "yes", "no", "y", "n") || (texts.length === 2 && only("1", "2"));
  if (isPlainCode && isNamedForAbsence(column.name)) {
    const [happened] = texts.slice(-1);
    const other = texts.length > 1 ? texts[0] : happened === "0" ? "1" : "0";
    const said = `${column.name} sounds like people without the event, and ${happened} would be read as the event`;
    const hint = `say which value means that the event happened: --event-is ${other} or --event-is ${happened}`;
    problems.push(problem("event.name", "error", column, said, { values: listTexts(texts) }, [], hint));
  }
  if (only("0", "1") || only("false", "true")) {
    const rule = only("0", "1") ? "1 = event, 0 = censored" : "true = event, false = censored";
    const values = readByText(column, N, (text) => ["1", "true"].includes(text.toLowerCase()));
    return { values, problems, rule };
  }
  const words = [...new Set(lower.map((text) => text.trim()))];
  const happened = words.filter((word) => EVENT_WORDS.includes(word));
  const not = words.filter((word) => CENSORED_WORDS.includes(word));
  const isPair = happened.length <= 1 && not.length <= 1 && happened.length + not.length === words.length;
  if (texts.length > 0 && isPair) {
    const rule = [
      ...happened.map((word) => `${word} = event`),
      ...not.map((word) => `${word} = censored`),
    ].join(", ");
    const message = `${column.name} is read as ${rule}`;
    problems.push(problem("event.values", "note", column, message, { values: listTexts(texts) }));
    const values = readByText(column, N, (text) => happened.includes(text.trim().toLowerCase()));
    return { values, problems, rule };
  }
  if (texts.length === 2 && only("1", "2")) {
    const rule = "1 = censored, 2 = event, as in R's Surv";
    const message = `${column.name} is coded 1/2: read as ${rule}`;
    problems.push(problem("event.values", "warning", column, message, { values: listTexts(texts) }));
    return { values: readByText(column, N, (text) => text === "2"), problems, rule };
  }
  if (texts.length === 0)
    return { values: new Float64Array(N).fill(Number.NaN), problems, rule: "no value to read" };
  const largest = texts[texts.length - 1];
  const bad: number[] = [];
  const valid = readByText(column, N, (text) => text === "0" || text === "1");
  for (let row = 0; row < N; row++) if (valid[row] === 0) bad.push(row + 1);
  const must = "event must be 0/1, true/false, yes/no, dead/alive or 1/2";
  const message = say`${must}: ${column.name} holds ${listTexts(texts)} (${named(bad)})`;
  const hint = `say which value is the event with --event-is VALUE, e.g. --event-is ${largest}`;
  problems.push(problem("event.values", "error", column, message, { values: listTexts(texts) }, bad, hint));
  const rule = `not a valid coding; for the description only, ${largest} (the largest code) is taken as the event`;
  return { values: readByText(column, N, (text) => text === largest), problems, rule };
}

/** Equality as a person means it: 2, 2.0 and "2" are one value, and so are true and 1 in a column of booleans. */
export function sameValue(column: Column, text: string, wanted: string): boolean {
  const asked = wanted.trim();
  if (text === asked) return true;
  if (column.type === "boolean") {
    return (text === "true" ? ["true", "1"] : ["false", "0"]).includes(asked.toLowerCase());
  }
  return parseNumberText(text, ".") === parseNumberText(asked, ".");
}
