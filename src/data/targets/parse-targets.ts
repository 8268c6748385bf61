/**
 * Reads a targets file: CSV with the columns group, time, survival, se in any order, and before it, if wanted, lines
 * `# key: value` that say whose survival it is (event, origin, mortality, period, overlap). Lines of a group may be in
 * any order of time. What is wrong in it is collected, with line numbers, and refused in one error. Groups and times
 * are not held against a study here: checkTargets does that.
 */

import { InputError, MAX_ROWS_NAMED } from "../../core/errors.ts";
import { present } from "../../core/present.ts";
import { countOf } from "../../core/text.ts";
import { createEmptyFileError, createNoRowsError } from "../reading/containers.ts";
import { parseNumberText } from "../reading/parse-cell.ts";
import { readHeader } from "../reading/read-csv.ts";
import { createRecordScanner, SENTINEL_BYTES, scanRecords } from "../reading/scan-records.ts";
import { type Column, findColumn } from "../table.ts";
import {
  type AboutTargets,
  MORTALITIES,
  type Mortality,
  SE_FLOOR,
  type TargetCurve,
  type Targets,
} from "./targets.ts";

/** How a targets file is read. */
export interface ParseTargetsOptions {
  /** The file's name, for messages. */
  readonly name: string;
  /** Whether net survival is read. It is refused unless the local model is one of net survival too. */
  readonly allowNet?: boolean;
}

const COLUMNS = ["group", "time", "survival", "se"] as const;
type ColumnName = (typeof COLUMNS)[number];
const KEYS = ["event", "origin", "mortality", "period", "overlap"] as const;
type Key = (typeof KEYS)[number];

/** Something wrong in one line, 1-based. */
interface Problem {
  readonly line: number;
  readonly code: string;
  readonly message: string;
  readonly hint: string;
  readonly column?: ColumnName;
}

/** One line of the table as numbers. */
interface Point {
  readonly line: number;
  readonly group: string;
  readonly time: number;
  readonly survival: number;
  readonly se: number;
}

/** The fields of one line, each under its column's name. */
type Fields = Readonly<Record<ColumnName, string>> & { readonly line: number };

/** Reads the text of a targets file. */
export function parseTargets(text: string, { name, allowNet = false }: ParseTargetsOptions): Targets {
  const problems: Problem[] = [];
  const { head, body, bodyLine } = cutHead(text.replace(/^\ufeff/, ""));
  const about = readAbout(head, allowNet, problems);
  const points = readRecords(name, body, bodyLine, problems).flatMap((fields) => readPoint(fields, problems));
  const groups = [...new Set(points.map(({ group }) => group))];
  const curves = groups.map((group) => {
    const own = points.filter((point) => point.group === group);
    return toCurve(group, own, about.overlap, problems);
  });
  if (problems.length > 0) throw createProblemsError(name, problems);
  return { name, about, curves };
}

interface HeadLine {
  readonly line: number;
  readonly text: string;
}

/** The lines with # before the table, and the table. */
function cutHead(text: string): { head: readonly HeadLine[]; body: string; bodyLine: number } {
  const head: HeadLine[] = [];
  const lines = /([^\r\n]*)(\r\n|\n|\r|$)/y;
  let line = 1;
  for (let from = 0; from < text.length; from = lines.lastIndex, line++) {
    lines.lastIndex = from;
    const shown = (lines.exec(text)?.[1] ?? "").trim();
    if (shown.startsWith("#")) head.push({ line, text: shown.slice(1).trim() });
    else if (shown !== "") return { head, body: text.slice(from), bodyLine: line };
  }
  return { head, body: "", bodyLine: line };
}

const NET_HINT =
  "take the registry's observed (all-cause) survival; if other deaths are censored in the table, give allowNet: true";
const HEAD_HINT = `a head line is # key: value, where the key is one of ${KEYS.join(", ")}`;

function readAbout(head: readonly HeadLine[], allowNet: boolean, problems: Problem[]): AboutTargets {
  const said = new Map<Key, string>();
  for (const { line, text } of head) {
    const colon = text.indexOf(":");
    const key = text.slice(0, Math.max(0, colon)).trim() as Key;
    const value = text.slice(colon + 1).trim();
    const refuse = (message: string, hint = HEAD_HINT, code = "targets.head") =>
      problems.push({ line, code, message, hint });
    if (colon < 0) refuse(`head line without a key: "${text}"`);
    else if (!KEYS.includes(key)) refuse(`unknown key in the head: "${key}"`);
    else if (said.has(key)) refuse(`key twice in the head: "${key}"`, "say it once");
    else if (value === "") refuse(`key without a value in the head: "${key}"`);
    else if (key === "mortality" && !MORTALITIES.includes(value as Mortality))
      refuse(`unknown mortality: "${value}"`, `mortality is ${MORTALITIES.join(" or ")}`);
    else if (key === "mortality" && value === "net" && !allowNet)
      refuse("net survival is no target for a model of death from any cause", NET_HINT, "targets.net");
    else if (key === "overlap" && !isOverlap(parseNumberText(value, ".")))
      refuse(
        `overlap is not a share from 0 to below 1: "${value}"`,
        "overlap is the share of local people whom the registry also holds, e.g. 0.2",
      );
    else said.set(key, value);
  }
  const { overlap, mortality, ...words } = Object.fromEntries(said) as Partial<Record<Key, string>>;
  return {
    ...words,
    ...present({ mortality: mortality as Mortality | undefined }),
    overlap: overlap === undefined ? 0 : parseNumberText(overlap, "."),
  };
}

/** Were everyone in the registry, no outside knowledge would be left: 1/(1 − f) is infinite. */
function isOverlap(share: number): boolean {
  return share >= 0 && share < 1;
}

const FILE_HINT = `a targets file has the columns ${COLUMNS.join(",")}, separated by commas`;

/** The lines below the header, cut into fields; blank lines are passed over. */
function readRecords(name: string, body: string, bodyLine: number, problems: Problem[]): Fields[] {
  const text = new TextEncoder().encode(body);
  if (text.length === 0) throw createEmptyFileError(name);
  // The scanner undoes doubled quotes in place, and lines are counted in the text as it was.
  const bytes = new Uint8Array(text.length + SENTINEL_BYTES);
  bytes.set(text);
  const scanner = createRecordScanner(",");
  scanRecords(scanner, bytes, text.length, true);
  const { starts, ends, firstField, records, problem } = scanner;
  const decoder = new TextDecoder();
  const lineOf = createLineCounter(text, bodyLine);
  if (records === 0) throw createScanError(name, bodyLine, problem);
  const header = readHeader(name, bytes, scanner);
  checkHeader(name, header);
  const found: Fields[] = [];
  let line = bodyLine;
  for (let record = 1; record < records; record++) {
    const first = firstField[record];
    const fields = firstField[record + 1] - first;
    if (fields === 1 && starts[first] === ends[first]) continue;
    line = lineOf(starts[first]);
    if (fields !== header.length) {
      const message = `${countOf(fields, "field")} instead of ${header.length}`;
      const hint = "lines with # belong before the column names; quote a name that holds a comma";
      problems.push({ line, code: "targets.fields", message, hint });
      continue;
    }
    const texts = header.map((column, k) => {
      return [column, decoder.decode(bytes.subarray(starts[first + k], ends[first + k])).trim()] as const;
    });
    found.push({ line, ...(Object.fromEntries(texts) as Record<ColumnName, string>) });
  }
  if (problem !== undefined) throw createScanError(name, `after line ${line}`, problem);
  if (records === 1) throw createNoRowsError(name);
  return found;
}

/** The line of an offset, for offsets that never go back. A line ends with CRLF, LF or CR. */
function createLineCounter(text: Uint8Array, firstLine: number): (offset: number) => number {
  const LINE_FEED = 0x0a;
  const CARRIAGE_RETURN = 0x0d;
  let at = 0;
  let line = firstLine;
  return (offset) => {
    for (; at < offset; at++) {
      if (text[at] === LINE_FEED || (text[at] === CARRIAGE_RETURN && text[at + 1] !== LINE_FEED)) line++;
    }
    return line;
  };
}

function createScanError(name: string, where: number | string, problem: string | undefined): InputError {
  return new InputError(`targets file is not CSV: ${problem ?? "no line can be read"}`, {
    code: "targets.file",
    where: `${name}, ${typeof where === "number" ? `line ${where}` : where}`,
    hint: FILE_HINT,
  });
}

function checkHeader(name: string, header: readonly string[]): void {
  const columns = header.map((one): Column => ({ name: one, type: "number", values: new Float64Array(0) }));
  const extra = header.filter((one) => !COLUMNS.includes(one as ColumnName));
  const isOneField = header.length === 1;
  if (extra.length > 0 && !isOneField && COLUMNS.every((one) => header.includes(one))) {
    const quoted = extra.map((one) => `"${one}"`).join(", ");
    throw new InputError(`unknown ${extra.length === 1 ? "column" : "columns"}: ${quoted}`, {
      code: "targets.column",
      where: `${name}, header`,
      hint: `${FILE_HINT}; leave out the others`,
    });
  }
  if (isOneField) {
    throw new InputError(`missing columns: the header is "${header[0]}"`, {
      code: "column.missing",
      where: `${name}, header`,
      hint: FILE_HINT,
    });
  }
  for (const one of COLUMNS) findColumn({ name, rows: 0, columns }, one);
}

/** What each number may be, and what to say where it is not. */
const RANGES = {
  time: {
    isIn: (value: number) => value > 0,
    range: "above 0",
    hint: "survival at time 0 is 1 and needs no line",
  },
  survival: {
    isIn: (value: number) => value > 0 && value <= 1,
    range: "above 0 and at most 1",
    hint: "survival is a probability, not a percentage; where nobody survives there is no target",
  },
  se: {
    isIn: (value: number) => value >= 0,
    range: "0 or more",
    hint: "se is the standard error of the survival, on the same scale",
  },
} as const;

/** One line as numbers; nothing, and a problem for each bad field, where it has any. */
function readPoint(fields: Fields, problems: Problem[]): Point[] {
  const { line, group } = fields;
  const before = problems.length;
  if (group === "") {
    const hint = 'name a group; "all" is everyone';
    problems.push({ line, column: "group", code: "targets.group", message: "group is missing", hint });
  }
  const read = (column: "time" | "survival" | "se"): number => {
    const { isIn, range, hint } = RANGES[column];
    const text = fields[column];
    const value = parseNumberText(text, ".");
    const refuse = (message: string) =>
      problems.push({ line, column, code: `targets.${column}`, message, hint });
    if (text === "") refuse(`${column} is missing`);
    else if (!Number.isFinite(value)) refuse(`${column} is not a number: "${text}"`);
    else if (!isIn(value)) refuse(`${column} is not ${range}: ${text}`);
    return value;
  };
  const point = { line, group, time: read("time"), survival: read("survival"), se: read("se") };
  return problems.length > before ? [] : [point];
}

/** The lines of one group in the order of time, with errors that allow for overlap and rounding. */
function toCurve(group: string, points: readonly Point[], overlap: number, problems: Problem[]): TargetCurve {
  const sorted = points.toSorted((one, other) => one.time - other.time || one.line - other.line);
  const shown = `group ${JSON.stringify(group)}`;
  for (let j = 1; j < sorted.length; j++) {
    const [before, { line, time, survival }] = [sorted[j - 1], sorted[j]];
    if (time === before.time) {
      const message = `${shown} at time ${time} for the second time, after line ${before.line}`;
      const hint = "a group has one line for each time";
      problems.push({ line, code: "targets.duplicate", message, hint });
    } else if (survival > before.survival) {
      const message = `survival rises: ${shown} from ${before.survival} (line ${before.line}) to ${survival}`;
      const hint =
        "survival cannot rise with time, though an estimate of net survival may: leave out that line";
      problems.push({ line, column: "survival", code: "targets.rise", message, hint });
    }
  }
  // Rounding has nothing to do with whom the registry holds, so the floor comes after the overlap.
  const inflated = sorted.map(({ se }) => se / Math.sqrt(1 - overlap));
  return {
    group,
    time: Float64Array.from(sorted, ({ time }) => time),
    survival: Float64Array.from(sorted, ({ survival }) => survival),
    se: Float64Array.from(inflated, (se) => Math.max(se, SE_FLOOR)),
    floored: inflated.filter((se) => se < SE_FLOOR).length,
  };
}

/** One error for all that is wrong; code and hint are those of the first. */
function createProblemsError(name: string, problems: readonly Problem[]): InputError {
  const sorted = problems.toSorted((one, other) => one.line - other.line);
  const [{ code, hint, line, column, message }] = sorted;
  if (sorted.length === 1) {
    const where = [name, `line ${line}`, ...(column === undefined ? [] : [`column "${column}"`])].join(", ");
    return new InputError(message, { code, where, hint });
  }
  const shown = sorted.slice(0, MAX_ROWS_NAMED).map((one) => `line ${one.line}: ${one.message}`);
  const rest = sorted.length - shown.length;
  const all = [...shown, ...(rest > 0 ? [`and ${rest} more`] : [])].join("; ");
  return new InputError(`${sorted.length} problems: ${all}`, { code, where: name, hint });
}
