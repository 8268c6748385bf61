/**
 * Who is in which group, among the rows of one table. Each expression is evaluated once, however many parts of a run
 * ask for it: training, the inputs of the network, the audit and the report all look at the same members.
 */
import { type Group, type GroupMembers, requireDistinctNames, resolveGroups } from "../data/groups/groups.ts";
import type { Table } from "../data/table.ts";

/** The members of groups in one table, by their expressions. */
export type ResolveMembers = (groups: readonly Group[]) => GroupMembers[];

/** With "allow", a level that the table does not have is a group without members and no mistake of the user's. */
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

/** The same groups by the places of their members among some rows of the table. */
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
    rows: group.rows.map((row) => (row <= last ? place[row] : -1)).filter((k) => k >= 0),
  }));
}
