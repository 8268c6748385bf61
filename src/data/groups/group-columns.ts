/**
 * Groups as columns: who is in a group, true or false, beside the columns of a table, so that a model can take them as
 * features. A group is a fit input when all columns it is made of are features themselves (a trait that was kept from the
 * model must not come in by its groups) and when there are rows enough on both sides to learn from.
 */

import type { BooleanColumn, Table } from "../table.ts";
import { columnsOf, parseGroup } from "./group-expression.ts";
import { type Group, resolveGroups } from "./groups.ts";

/** Fewer training rows inside or outside of a group say nothing about it. */
const FEWEST_ROWS = 10;

/** No column of a file is called so by accident. */
export function groupColumnName({ name }: Group): string {
  return `group: ${name}`;
}

/** The table with a yes/no column for each of the groups, named by `groupColumnName`. */
export function addGroupColumns(table: Table, groups: readonly Group[]): Table {
  if (groups.length === 0) return table;
  // A table to predict for need not have every level that a group speaks of.
  const columns = resolveGroups(groups, table, { unknownLevels: "allow" }).map((group): BooleanColumn => {
    const values = new Uint8Array(table.rows);
    for (const row of group.rows) values[row] = 1;
    return { name: groupColumnName(group), type: "boolean", values };
  });
  return { ...table, columns: [...table.columns, ...columns] };
}

/** Of some groups, those that can be inputs; with features, only those made of them. */
export function chooseInputGroups(
  groups: readonly Group[],
  table: Table,
  features: readonly string[] | null,
  rows: Int32Array,
): Group[] {
  const training = new Uint8Array(table.rows);
  for (const row of rows) training[row] = 1;
  return resolveGroups(groups, table)
    .filter(({ expression, rows: members }) => {
      const columns = columnsOf(parseGroup(expression));
      let inside = 0;
      for (const row of members) inside += training[row];
      return (
        columns.every((column) => features?.includes(column) ?? true) &&
        inside >= FEWEST_ROWS &&
        rows.length - inside >= FEWEST_ROWS
      );
    })
    .map(({ name, expression }) => ({ name, expression }));
}
