/** A table's columns as the page shows them: type, what is missing, a small histogram, and values to choose from. */

import { type Column, type ColumnSummary, summariseColumn, type Table } from "graduate-survival/data";
import type { ColumnView } from "../protocol.ts";

/** Bars of a histogram: as many as can be told apart in the width of a thumb. */
const BARS = 24;
/** Numbers that are codes by all appearances: they are named, not summed up. */
const FEW_VALUES = 8;
/** Values that a list offers; a column with more is searched, not chosen from. */
const MOST_VALUES = 40;

export function viewColumns(table: Table): ColumnView[] {
  return table.columns.map((column) => {
    const summary = summariseColumn(column);
    const { name, type, missing, distinct } = summary;
    const values = listValues(column, summary);
    return {
      name,
      type,
      missing,
      distinct,
      words: describe(summary, values),
      bars: drawBars(column, summary),
      values,
    };
  });
}

function describe(
  { type, distinct, minimum, median, maximum, levels = [] }: ColumnSummary,
  values: readonly string[],
): string {
  if (distinct === 0) return "no value";
  if (minimum === undefined || median === undefined || maximum === undefined) {
    const shown = levels.slice(0, 4).map(({ value }) => value);
    return distinct > shown.length
      ? `${shown.join(", ")} and ${distinct - shown.length} more`
      : shown.join(", ");
  }
  if (type === "number" && values.length > 0 && values.length <= FEW_VALUES) return values.join(", ");
  const write = type === "date" ? writeDay : writeNumber;
  return `${write(minimum)} to ${write(maximum)}, half below ${write(median)}`;
}

export function writeNumber(value: number): string {
  return String(Number(value.toPrecision(4)));
}

const MILLISECONDS = 86_400_000;

export function writeDay(day: number): string {
  return new Date(day * MILLISECONDS).toISOString().slice(0, 10);
}

function drawBars(column: Column, { minimum, maximum, distinct, levels = [] }: ColumnSummary): number[] {
  if (column.type === "category" || column.type === "boolean") {
    return levels.slice(0, BARS).map(({ rows }) => rows);
  }
  if (minimum === undefined || maximum === undefined) return [];
  const bars = new Array<number>(Math.min(BARS, Math.max(1, distinct))).fill(0);
  const width = (maximum - minimum) / bars.length || 1;
  for (const value of column.values) {
    if (Number.isNaN(value)) continue;
    bars[Math.min(bars.length - 1, Math.floor((value - minimum) / width))]++;
  }
  return bars;
}

/** Ascending, for numbers with few values too; empty where there are too many. */
function listValues(column: Column, { distinct }: ColumnSummary): string[] {
  if (distinct > MOST_VALUES) return [];
  if (column.type === "category") return [...column.levels];
  if (column.type === "boolean") return ["false", "true"];
  const known = new Set(column.values.filter((value) => !Number.isNaN(value)));
  const ascending = [...known].sort((a, b) => a - b);
  return ascending.map((value) => (column.type === "date" ? writeDay(value) : String(value)));
}
