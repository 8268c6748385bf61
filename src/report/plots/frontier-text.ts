/**
 * Discrimination against worst-group calibration drawn with characters, for a terminal or a log: one letter per
 * setting, good above and to the left, and a dotted line where the worst group's error equals what chance alone may
 * give. Settings that fall on the same place share the letter of the first. The numbers are in the table beside it.
 */

export interface FrontierMark {
  /** One character. */
  readonly mark: string;
  readonly concordance: number | null;
  /** The worst group's error, divided by what a perfect model stays under in 95 of 100 samples. */
  readonly worst: number | null;
}

const MARKS = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz";
/** The mark of settings after the last letter. */
const NO_LETTER = "•";
/** Columns left of the axis. */
const MARGIN = 8;
const LINES = 12;
/** The smallest range of an axis, so that equal values still give a picture with height and width. */
const LEAST_SPAN = 0.002;

export function markOf(index: number): string {
  return MARKS[index] ?? NO_LETTER;
}

interface Axis {
  readonly low: number;
  readonly high: number;
}

/** The range of the values with a margin of a twentieth on both sides. */
function fitAxis(values: readonly number[]): Axis {
  const [low, high] = [Math.min(...values), Math.max(...values)];
  const span = Math.max(high - low, LEAST_SPAN);
  const middle = (low + high) / 2;
  return { low: middle - span * 0.55, high: middle + span * 0.55 };
}

/** Returns an empty text when nothing can be placed. */
export function plotFrontierAsText(
  settings: readonly FrontierMark[],
  options: { readonly width?: number } = {},
): string {
  const placed = settings.flatMap(({ mark, concordance, worst }) =>
    concordance === null || worst === null ? [] : [{ mark, concordance, worst }],
  );
  if (placed.length === 0) return "";
  const width = Math.max(20, (options.width ?? 80) - MARGIN - 2);
  // The noise line is always in the picture: how far a setting is from it is the point.
  const x = fitAxis([1, ...placed.map(({ worst }) => worst)]);
  const y = fitAxis(placed.map(({ concordance }) => concordance));
  const columnOf = (value: number) => Math.round(((value - x.low) / (x.high - x.low)) * (width - 1));
  const lineOf = (value: number) => Math.round(((y.high - value) / (y.high - y.low)) * (LINES - 1));
  const cells = Array.from({ length: LINES }, () => new Array<string>(width).fill(" "));
  const noise = columnOf(1);
  for (const line of cells) line[noise] = "┊";
  // Of two settings on the same place, the first stays.
  for (const { mark, concordance, worst } of [...placed].reverse()) {
    cells[lineOf(concordance)][columnOf(worst)] = mark;
  }
  const labelled = new Set([0, Math.round((LINES - 1) / 2), LINES - 1]);
  const picture = cells.map((line, k) => {
    const value = y.high - (k / (LINES - 1)) * (y.high - y.low);
    return `${(labelled.has(k) ? value.toFixed(3) : "").padStart(MARGIN - 1)} │${line.join("").trimEnd()}`;
  });
  const axis = [..."─".repeat(width)];
  axis[noise] = "┴";
  const below = [..." ".repeat(width)];
  const write = (text: string, at: number) => {
    const start = Math.max(0, Math.min(width - text.length, at));
    const isFree = below.slice(Math.max(0, start - 1), start + text.length + 1).every((cell) => cell === " ");
    if (!isFree) return;
    [...text].forEach((character, k) => {
      below[start + k] = character;
    });
  };
  write("1", noise);
  write(x.low.toFixed(2), 0);
  write(x.high.toFixed(2), width);
  const pad = " ".repeat(MARGIN + 1);
  return [
    `${"C".padStart(MARGIN - 1)}`,
    ...picture,
    `${" ".repeat(MARGIN)}└${axis.join("")}`,
    `${pad}${below.join("").trimEnd()}`,
    `${pad}error of the worst group (1: what chance may give a perfect model)`,
  ].join("\n");
}
