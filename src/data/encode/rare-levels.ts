/**
 * Levels of a category with too few rows to learn from: names of hospitals, postcodes, drugs. All that a model learns
 * from such a level is its particular rows, and the next table has others. A level with fewer than `fewestLevelRows`
 * rows is rare; the encoder can merge the rare ones into one (encode.ts), and a category that is mostly rare levels
 * is a finding.
 */

import { type Part, personal, say } from "../../core/sentence.ts";
import { countOf } from "../../core/text.ts";
import { createFinding, type Finding } from "../checks/findings.ts";
import type { CategoryColumn } from "../table.ts";
import type { Encoder } from "./encoder.ts";

/** From this many levels on, a category with more than half of them rare has many levels for its rows. */
const MANY_LEVELS = 20;
/**
 * Rows that a level needs for its effect to be estimated at all; in small tables this share, but never a single row.
 */
const LEVEL_ROWS = 10;
const LEVEL_SHARE = 0.01;
const LEVEL_ROWS_AT_LEAST = 2;

/** A level with fewer of N rows is rare. */
export function fewestLevelRows(N: number): number {
  return Math.min(LEVEL_ROWS, Math.max(LEVEL_ROWS_AT_LEAST, Math.ceil(LEVEL_SHARE * N)));
}

export function checkLevels(column: CategoryColumn): Finding | null {
  const counts = new Int32Array(column.levels.length);
  let rows = 0;
  for (const code of column.codes) {
    if (code < 0) continue;
    counts[code]++;
    rows++;
  }
  const fewest = fewestLevelRows(column.codes.length);
  let values = 0;
  let frequent = 0;
  for (const count of counts) {
    if (count > 0) values++;
    if (count >= fewest) frequent++;
  }
  if (values < MANY_LEVELS || 2 * frequent >= values) return null;
  const many = `${column.name} has many levels for its rows: ${values} in ${countOf(rows, "row")}`;
  const rest =
    frequent === 0
      ? `none with ${fewest} rows or more, so that nothing can be learned from it`
      : `${values - frequent} of them with fewer than ${fewest} rows`;
  const evidence = { rows, values, frequent, fewest };
  return createFinding({
    code: "levels.many",
    level: "warning",
    column: column.name,
    said: `${many}, ${rest}`,
    evidence,
  });
}

/**
 * One sentence for each category whose levels were pooled. The name of a single rare level may be one person's, so it
 * is a part of its own that a page for other readers leaves out.
 */
export function describePooling(encoder: Encoder, trainingRows: number): (readonly Part[])[] {
  return encoder.columns.flatMap((encoding) => {
    if (encoding.type !== "category" || encoding.pooled === undefined) return [];
    const { column, pooled, levels, otherLevel } = encoding;
    const few = `fewer than ${fewestLevelRows(trainingRows)} training rows`;
    const which =
      pooled.length === 1
        ? personal(`level ${pooled[0]} has`, "one level has")
        : `${pooled.length} of ${pooled.length + levels.length} levels have`;
    const what = otherLevel === true ? `taken as ${column}(other)` : "taken as none of the others";
    return [say`${column}: ${which} ${few}, ${what}`];
  });
}
