/**
 * Which rows of one table are in which group. Each expression is evaluated once, however many parts of a run ask for
 * it: training, the network's inputs, the audit and the report all see the same members.
 */
import { type Group, type GroupMembers, requireDistinctNames, resolveGroups } from "../data/groups/groups.ts";
import type { Table } from "../data/table.ts";

/** The members of groups in one table, by their expressions. */
export type ResolveMembers = (groups: readonly Group[]) => GroupMembers[];

/** With "allow", a level that the table does not have gives a group without members instead of an error. */
export function createMembers(table: Table, unknownLevels: "reject" | "allow"): ResolveMembers {
  const known = new Map<string, Int32Array>();
  return (groups) => {
    requireDistinctNames(groups);
    return groups.map((group) => {
      const rows = known.get(group.expression) ?? resolveGroups([group], table, { unknownLevels })[0].rows;
      known.set(group.expression, rows);
      return { name: group.name, expression: group.expression, rows };
    });
  };
}

/** The same groups, with their members given as positions among some rows of the table. */
export function placesAmong<Members extends { readonly rows: Int32Array }>(
  groups: readonly Members[],
  rows: ArrayLike<number>,
): Members[] {
  let last = -1;
  for (let k = 0; k < rows.length; k++) last = Math.max(last, rows[k]);
  const place = new Int32Array(last + 1).fill(-1);
  for (let k = 0; k < rows.length; k++) place[rows[k]] = k;
  return groups.map((group) => ({
    ...group,
    // Ascending, whatever the order of the rows.
    rows: group.rows
      .map((row) => (row <= last ? place[row] : -1))
      .filter((k) => k >= 0)
      .sort(),
  }));
}
