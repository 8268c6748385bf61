/**
 * Pictures drawn with characters, for a terminal or a log; the numbers are in the table beside them. Step curves: one
 * letter per curve, survival on the left, time below, and the numbers at risk under the axis. Discrimination against
 * worst-group calibration: one letter per setting, good above and to the left, and a dotted line where the worst
 * group's error equals what chance alone may give; settings that fall on the same place share the letter of the first.
 * Observable Plot is not loaded for them.
 */

import { countBelow } from "../../core/ascending.ts";
import { safeLine, shortenValue } from "../../core/text.ts";
import { stepValue } from "../../stats/censoring.ts";
import { chooseTicks } from "../words/report-time.ts";
import { formatWeighted } from "../words/text-table.ts";
import type { FrontierSetting } from "./frontier-plot.ts";
import type { KaplanMeierPlotGroup } from "./plots.ts";

interface TextPlotOptions {
  readonly width?: number;
}

const MARKS = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz";
/** Curves are marked with capitals only. */
const MOST_CURVES = 26;
/** Columns left of the axis. */
const MARGIN = 6;
const FRONTIER_MARGIN = 8;
/** The height the picture aims at, in text lines; each tenth of survival takes a whole number of them. */
const LINES_WANTED = 14;
const TICKS_WANTED = 5;

export function plotCurvesAsText(
  curves: readonly Pick<KaplanMeierPlotGroup, "name" | "time" | "survival" | "atRisk">[],
  options: TextPlotOptions = {},
): string {
  const shown = curves.slice(0, MOST_CURVES).filter((curve) => curve.time.length > 0);
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
      const line = Math.round((1 - stepValue(time, survival, at)) * 10 * linesPerTenth);
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
        ticks.map((t) => formatWeighted(atRisk[countBelow(time, t)] ?? 0)),
      ),
    ),
    shown.map(({ name }, c) => `${MARKS[c]} = ${safeLine(shortenValue(name))}`).join("   "),
  ].join("\n");
}

/** The mark of settings after the last letter. */
const NO_LETTER = "•";
const LINES = 12;
/** The smallest range of an axis, so that equal values still give a picture with height and width. */
const LEAST_SPAN = 0.002;

export function markOf(index: number): string {
  return MARKS[index] ?? NO_LETTER;
}

/** The range of the values with a margin of a twentieth on both sides. */
function fitAxis(values: readonly number[]): { readonly low: number; readonly high: number } {
  const [low, high] = [Math.min(...values), Math.max(...values)];
  const span = Math.max(high - low, LEAST_SPAN);
  const middle = (low + high) / 2;
  return { low: middle - span * 0.55, high: middle + span * 0.55 };
}

/** Returns an empty text when nothing can be placed. */
export function plotFrontierAsText(
  settings: readonly ({ readonly mark: string } & Pick<FrontierSetting, "concordance" | "worst">)[],
  options: TextPlotOptions = {},
): string {
  const placed = settings.flatMap(({ mark, concordance, worst }) =>
    concordance === null || worst === null ? [] : [{ mark, concordance, worst }],
  );
  if (placed.length === 0) return "";
  const width = Math.max(20, (options.width ?? 80) - FRONTIER_MARGIN - 2);
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
    return `${(labelled.has(k) ? value.toFixed(3) : "").padStart(FRONTIER_MARGIN - 1)} │${line.join("").trimEnd()}`;
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
  const pad = " ".repeat(FRONTIER_MARGIN + 1);
  return [
    `${"C".padStart(FRONTIER_MARGIN - 1)}`,
    ...picture,
    `${" ".repeat(FRONTIER_MARGIN)}└${axis.join("")}`,
    `${pad}${below.join("").trimEnd()}`,
    `${pad}error of the worst group (1: what chance may give a perfect model)`,
  ].join("\n");
}
