/**
 * Tables for a terminal: aligned columns, numbers to the right, never wider than asked. When a row does not fit, the
 * flexible column is shortened with an ellipsis; if that is not enough, the columns continue below in a second table
 * that begins with the flexible one again. No other column loses a character of what a message would show. The contents
 * of a cell stay on one line.
 */
import { safeLine, shortenValue } from "../../core/text.ts";

export interface TextColumn {
  readonly title: string;
  readonly align?: "left" | "right";
  /** May be shortened to make the table fit. */
  readonly flexible?: boolean;
}

/** The width every human-readable table keeps to, unless the terminal is narrower. */
export const MAX_WIDTH = 100;
const GAP = "  ";
/** A flexible column is not made narrower than this: the table is split into several instead. */
const MIN_FLEXIBLE = 8;
/** The width of the column repeated at the left of each part of a split table: enough to tell groups apart. */
const REPEATED_WIDTH = 20;

/** Cuts a text to a width, with an ellipsis where something is lost. */
export function shorten(text: string, width: number): string {
  const characters = [...text];
  return characters.length <= width ? text : `${characters.slice(0, Math.max(0, width - 1)).join("")}…`;
}

function pad(text: string, width: number, align: "left" | "right"): string {
  const fill = " ".repeat(Math.max(0, width - [...text].length));
  return align === "right" ? fill + text : text + fill;
}

export function formatTable(
  columns: readonly TextColumn[],
  texts: readonly (readonly string[])[],
  width: number = MAX_WIDTH,
): string {
  const rows = texts.map((cells) => cells.map((cell) => safeLine(shortenValue(cell))));
  const widths = columns.map((column, c) =>
    Math.max([...column.title].length, ...rows.map((row) => [...row[c]].length)),
  );
  const totalOf = (own: readonly number[]) =>
    own.reduce((sum, c) => sum + widths[c], 0) + GAP.length * (own.length - 1);
  const every = columns.map((_, c) => c);
  const flexible = columns.findIndex((column) => column.flexible);
  if (flexible >= 0 && totalOf(every) > width) {
    const fitting = widths[flexible] - (totalOf(every) - width);
    if (fitting >= MIN_FLEXIBLE) widths[flexible] = fitting;
    else widths[flexible] = Math.min(widths[flexible], REPEATED_WIDTH, Math.max(MIN_FLEXIBLE, width >> 1));
  }
  const line = (own: readonly number[], cells: readonly string[]) =>
    own
      .map((c) => pad(shorten(cells[c], widths[c]), widths[c], columns[c].align ?? "left"))
      .join(GAP)
      .trimEnd();
  const titles = columns.map((column) => column.title);
  return breakColumns(every, flexible, (own) => totalOf(own) <= width)
    .map((own) => [titles, ...rows].map((cells) => line(own, cells)).join("\n"))
    .join("\n\n");
}

/** Splits columns into parts that fit, each beginning with the repeated one; without one, all stay in one part. */
function breakColumns(
  every: readonly number[],
  repeated: number,
  fits: (own: readonly number[]) => boolean,
): readonly (readonly number[])[] {
  if (fits(every) || repeated < 0) return [every];
  const parts: number[][] = [];
  for (const c of every.filter((one) => one !== repeated)) {
    const last = parts.at(-1);
    if (last !== undefined && fits([...last, c])) last.push(c);
    else parts.push([repeated, c]);
  }
  return parts;
}

/** Breaks a sentence at spaces to the given width; later lines are indented. */
export function wrapText(text: string, width: number, indent = ""): string {
  const lines: string[] = [];
  let line = "";
  for (const word of text.split(" ")) {
    const limit = lines.length === 0 ? width : width - indent.length;
    if (line !== "" && line.length + 1 + word.length > limit) {
      lines.push(line);
      line = word;
    } else {
      line = line === "" ? word : `${line} ${word}`;
    }
  }
  lines.push(line);
  return lines.join(`\n${indent}`);
}

/** A number of people or pairs: whole, or to a tenth where they are weighted. */
export function formatWeighted(count: number): string {
  return Number.isInteger(count) ? String(count) : count.toFixed(1);
}

/** A number for people: fixed decimals where they are informative, otherwise significant digits. */
export function formatNumber(value: number | null | undefined, digits = 4): string {
  if (value === null || value === undefined || Number.isNaN(value)) return "–";
  if (Number.isInteger(value) && Math.abs(value) < 1e15) return String(value);
  const size = Math.abs(value);
  if (size >= 1e-3 && size < 1e6) return value.toFixed(size >= 100 ? 1 : digits);
  return value.toExponential(2);
}

/** "0.52 – 0.61"; a dash alone where both ends are undefined. */
export function formatRange(
  lower: number | null | undefined,
  upper: number | null | undefined,
  digits = 4,
): string {
  const [from, to] = [formatNumber(lower, digits), formatNumber(upper, digits)];
  return from === "–" && to === "–" ? "–" : `${from} – ${to}`;
}

/** "0.031", "4.2e-94", "<1e-300". */
export function formatP(p: number | null | undefined): string {
  if (p === null || p === undefined || Number.isNaN(p)) return "–";
  if (p < 1e-300) return "<1e-300";
  return p >= 1e-3 ? p.toFixed(3) : p.toExponential(1);
}
