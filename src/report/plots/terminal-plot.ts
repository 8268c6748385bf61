/**
 * Step curves drawn with characters, for a terminal or a log: one letter per curve, survival on the left, time below,
 * and the numbers at risk under the axis. It is a picture only; the numbers are in the table beside it.
 */
import { safeLine, shortenValue } from "../../core/text.ts";
import { chooseTicks } from "./ticks.ts";

export interface TerminalCurve {
  readonly name: string;
  readonly time: ArrayLike<number>;
  readonly survival: ArrayLike<number>;
  readonly atRisk: ArrayLike<number>;
}

export interface TerminalPlotOptions {
  readonly width?: number;
}

const MARKS = "ABCDEFGHIJKLMNOPQRSTUVWXYZ";
/** Columns left of the axis. */
const MARGIN = 6;
/** The height the picture aims at, in text lines; each tenth of survival takes a whole number of them. */
const LINES_WANTED = 14;
const TICKS_WANTED = 5;

/** How many times are below the given one. */
function countBefore(time: ArrayLike<number>, at: number): number {
  let low = 0;
  let high = time.length;
  while (low < high) {
    const middle = (low + high) >>> 1;
    if (time[middle] < at) low = middle + 1;
    else high = middle;
  }
  return low;
}

export function plotCurvesAsText(
  curves: readonly TerminalCurve[],
  options: TerminalPlotOptions = {},
): string {
  const shown = curves.slice(0, MARKS.length).filter((curve) => curve.time.length > 0);
  const width = Math.max(20, (options.width ?? 80) - MARGIN - 2);
  let end = 0;
  let lowest = 1;
  for (const { time, survival } of shown) {
    end = Math.max(end, time[time.length - 1]);
    lowest = Math.min(lowest, survival[survival.length - 1]);
  }
  const tenths = 10 - Math.min(9, Math.floor(lowest * 10));
  const linesPerTenth = Math.max(1, Math.round(LINES_WANTED / tenths));
  const lines = Array.from({ length: tenths * linesPerTenth + 1 }, () => new Array<string>(width).fill(" "));
  shown.forEach(({ time, survival }, c) => {
    let before = 0;
    for (let x = 0; x < width; x++) {
      const at = (end * x) / (width - 1);
      // A curve ends where its follow-up ends: nothing is drawn past the last person seen.
      if (at > time[time.length - 1]) break;
      const passed = countBefore(time, at);
      const steps = passed < time.length && time[passed] === at ? passed + 1 : passed;
      const line = Math.round((1 - (steps === 0 ? 1 : survival[steps - 1])) * 10 * linesPerTenth);
      for (let y = before; y <= line; y++) lines[y][x] = MARKS[c];
      before = line;
    }
  });
  const picture = lines.map((cells, y) => {
    const label = y % linesPerTenth === 0 ? (1 - y / linesPerTenth / 10).toFixed(1) : "";
    return `${label.padStart(MARGIN - 1)} │${cells.join("").trimEnd()}`;
  });
  const ticks = chooseTicks(end, TICKS_WANTED);
  const columnOf = (t: number) => MARGIN + 1 + (end > 0 ? Math.round((t / end) * (width - 1)) : 0);
  const placeAtTicks = (first: string, texts: readonly string[]) => {
    const cells = [...first.padEnd(MARGIN + 1 + width)];
    texts.forEach((text, k) => {
      const start = Math.min(cells.length - text.length, columnOf(ticks[k]) - (text.length >> 1));
      [...text].forEach((character, i) => {
        cells[start + i] = character;
      });
    });
    return cells.join("").trimEnd();
  };
  const axis = [..." ".repeat(MARGIN), "└", ..."─".repeat(width)];
  for (const t of ticks.slice(1)) axis[columnOf(t)] = "┴";
  return [
    ...picture,
    axis.join(""),
    placeAtTicks(
      "",
      ticks.map((t) => String(Number(t.toPrecision(6)))),
    ),
    "at risk",
    ...shown.map(({ time, atRisk }, c) =>
      placeAtTicks(
        `  ${MARKS[c]}`,
        ticks.map((t) => String(atRisk[countBefore(time, t)] ?? 0)),
      ),
    ),
    shown.map(({ name }, c) => `${MARKS[c]} = ${safeLine(shortenValue(name))}`).join("   "),
  ].join("\n");
}
