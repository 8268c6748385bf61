/**
 * Groups as columns: who is in a group, true or false, beside the columns of a table, so that a model can take them as
 * features. A group is fit to be an input when all columns it is made of are features themselves (a trait kept from the
 * model must not come in through its groups) and when there are enough rows on both sides to learn from.
 */

import type { BooleanColumn, Table } from "../table.ts";
import { columnsOf } from "./group-expression.ts";
import { type Group, type GroupMembers, resolveGroups } from "./groups.ts";
import { parseGroup } from "./parse-group.ts";

/** Fewer training rows inside or outside of a group say nothing about it. */
const FEWEST_ROWS = 10;

/** The name of a group's column, which no column of a file has by accident. */
export function groupColumnName({ name }: Group): string {
  return `group: ${name}`;
}

/** The table with one more column for each group: who is in it. */
export function widenTable(table: Table, groups: readonly GroupMembers[]): Table {
  if (groups.length === 0) return table;
  const columns = groups.map((group): BooleanColumn => {
    const values = new Uint8Array(table.rows);
    for (const row of group.rows) values[row] = 1;
    return { name: groupColumnName(group), type: "boolean", values };
  });
  return { ...table, columns: [...table.columns, ...columns] };
}

/** The same for groups whose members are not known yet. */
export function addGroupColumns(table: Table, groups: readonly Group[]): Table {
  // A table to predict for need not have every level that a group speaks of.
  return widenTable(table, resolveGroups(groups, table, { unknownLevels: "allow" }));
}

/** The groups that can be inputs, in a table of so many rows; with features, only groups made of them. */
export function chooseInputGroups(
  groups: readonly GroupMembers[],
  tableRows: number,
  features: readonly string[] | null,
  fitRows: Int32Array,
): Group[] {
  const isFitted = new Uint8Array(tableRows);
  for (const row of fitRows) isFitted[row] = 1;
  return groups
    .filter(({ expression, rows: members }) => {
      const columns = columnsOf(parseGroup(expression));
      let inside = 0;
      for (const row of members) inside += isFitted[row];
      return (
        columns.every((column) => features?.includes(column) ?? true) &&
        inside >= FEWEST_ROWS &&
        fitRows.length - inside >= FEWEST_ROWS
      );
    })
    .map(({ name, expression }) => ({ name, expression }));
}
