/**
 * Remarks on a model's features as a whole, before it is fitted: how many cells are missing and what replaces them, and
 * which feature alone orders people far better than the others do. These are notes, not alarms: honest tables have
 * both.
 */

import { joinSaid, say, share } from "../../core/sentence.ts";
import { countOf } from "../../core/text.ts";
import type { InspectedOutcomes } from "../outcomes/read-outcomes.ts";
import { type Column, countMissing, findColumn, type Table } from "../table.ts";
import { concordanceAlone } from "./feature-concordance.ts";
import { createFinding, type Finding } from "./findings.ts";

/** Most columns that a sentence on missing cells names, those with the most missing cells first. */
const MAX_COLUMNS_NAMED = 6;
/** A C-index below this is nothing special for one feature, however little the others do … */
const LEAST_ALONE = 0.65;
/** … and this much above the next is more than the luck of the sample. */
const FAR_ABOVE = 0.05;
/** At most this many features can lead the rest together; more do not stand out. */
const MAX_LEADERS = 3;
/** For one feature without a model: an honest one would need a hazard ratio in the hundreds per standard deviation. */
const EXTREME = 0.95;

/** Missing cells and leading features, as findings. */
export function checkFeatures(
  table: Table,
  features: readonly string[],
  { outcomes, usable }: InspectedOutcomes,
): Finding[] {
  const used = features.map((name) => findColumn(table, name));
  const missing = findMissing(used, table.rows);
  const alone = outcomes === null ? [] : findLeaders(concordanceAlone(used, outcomes, usable));
  return [...(missing === null ? [] : [missing]), ...alone];
}

function findMissing(columns: readonly Column[], rows: number): Finding | null {
  const counted = columns
    .map((column) => ({ column, missing: countMissing(column) }))
    .filter(({ missing }) => missing > 0)
    .sort((a, b) => b.missing - a.missing);
  if (counted.length === 0) return null;
  const named = counted
    .slice(0, MAX_COLUMNS_NAMED)
    .map(({ column, missing }) => say`${column.name} ${share(missing, rows, { percent: true })}`);
  const more = counted.length - named.length;
  const rest = more > 0 ? ` and ${countOf(more, "column")} with fewer` : "";
  const isCategory = ({ column }: { readonly column: Column }) => column.type === "category";
  const filled = [
    ...(counted.every(isCategory)
      ? []
      : ["the training median stands in for numbers (the majority for true/false)"]),
    ...(counted.some(isCategory) ? ["missing is a level of its own in a category"] : []),
  ];
  const said = say`missing cells: ${joinSaid(named, ", ")}${rest}; ${filled.join(", and ")}`;
  const evidence = {
    columns: counted.length,
    cells: counted.reduce((sum, { missing }) => sum + missing, 0),
    most: counted[0].column.name,
    mostCells: counted[0].missing,
    rows,
  };
  return createFinding({ code: "cells.missing", level: "note", column: null, said, evidence });
}

/** The features before the first wide gap, where they are few and their C-indices high. */
export function findLeaders(features: readonly { readonly name: string; readonly c: number }[]): Finding[] {
  const sorted = [...features].sort((a, b) => b.c - a.c);
  const end = sorted.findIndex(
    ({ c }, k) => k + 1 < sorted.length && c >= LEAST_ALONE && c - sorted[k + 1].c >= FAR_ABOVE,
  );
  if (end < 0 || end >= MAX_LEADERS) return [];
  const next = sorted[end + 1];
  return sorted.slice(0, end + 1).map(({ name, c }) =>
    createFinding({
      code: "feature.alone",
      level: c >= EXTREME ? "warning" : "note",
      column: name,
      said:
        `${name} alone gives a C-index of ${c.toFixed(3)}, ` +
        `the best of the rest (${next.name}) ${next.c.toFixed(3)}: make sure that it was known at the start`,
      evidence: { c, next: next.name, nextC: next.c },
    }),
  );
}
