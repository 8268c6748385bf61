/**
 * Tables for a terminal: columns aligned, numbers to the right, never wider than asked. When a row does not fit, the
 * flexible column is shortened with an ellipsis; no other column ever loses a character.
 */

export interface TextColumn {
  readonly title: string;
  readonly align?: "left" | "right";
  /** May be shortened to make the table fit. */
  readonly flexible?: boolean;
}

/** The width every human-readable table keeps to, unless the terminal is narrower. */
export const MAX_WIDTH = 100;
const GAP = "  ";
/** A flexible column is not squeezed below this: past that, the table may be wider than asked. */
const MIN_FLEXIBLE = 8;

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
  rows: readonly (readonly string[])[],
  width: number = MAX_WIDTH,
): string {
  const widths = columns.map((column, c) =>
    Math.max([...column.title].length, ...rows.map((row) => [...row[c]].length)),
  );
  const total = widths.reduce((sum, w) => sum + w, 0) + GAP.length * (columns.length - 1);
  const flexible = columns.findIndex((column) => column.flexible);
  if (total > width && flexible >= 0) {
    widths[flexible] = Math.max(MIN_FLEXIBLE, widths[flexible] - (total - width));
  }
  const line = (cells: readonly string[]) =>
    cells
      .map((cell, c) => pad(shorten(cell, widths[c]), widths[c], columns[c].align ?? "left"))
      .join(GAP)
      .trimEnd();
  return [line(columns.map((column) => column.title)), ...rows.map(line)].join("\n");
}

/** Breaks a sentence at blanks to the given width; later lines are indented. */
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

/** A number for people: fixed decimals where they say something, otherwise significant digits. */
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
