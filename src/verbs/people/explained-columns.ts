/**
 * What an explanation gives contributions to: the columns of the table, each with all columns of x that are made of it.
 * Membership of an input group counts to its column where the group is cut by one column alone; a group cut by several
 * has a contribution of its own, under its name. A column that enters only through such a group is listed, too.
 */
import { placeColumns } from "../../data/encode/encoder.ts";
import { columnsOf } from "../../data/groups/group-expression.ts";
import { evaluateNamedGroup } from "../../data/groups/group-members.ts";
import { groupColumnName } from "../../data/groups/groups.ts";
import { parseGroup } from "../../data/groups/parse-group.ts";
import { cellText, findColumn, isMissing, selectRows, type Table } from "../../data/table.ts";
import type { Model } from "../../training/model.ts";

/** A column of the table, or a group that is cut by several. */
export interface ExplainedColumn {
  readonly name: string;
  readonly kind: "column" | "group";
  /** The columns of x that it fills. */
  readonly places: readonly number[];
}

/** In the order of the encoder; groups cut by several columns last. */
export function listExplained({
  encoder,
  inputGroups,
}: Pick<Model, "encoder" | "inputGroups">): readonly ExplainedColumn[] {
  const groups = new Map(inputGroups.map((group) => [groupColumnName(group), group]));
  const columns = new Map<string, number[]>();
  const ofGroups: ExplainedColumn[] = [];
  for (const { encoding, first, width } of placeColumns(encoder.columns)) {
    const places = Array.from({ length: width }, (_, k) => first + k);
    const group = groups.get(encoding.column);
    const cutBy = group === undefined ? [encoding.column] : listCutColumns(group.expression);
    if (group !== undefined && cutBy.length !== 1) {
      ofGroups.push({ name: group.name, kind: "group", places });
      continue;
    }
    columns.set(cutBy[0], [...(columns.get(cutBy[0]) ?? []), ...places]);
  }
  const own = Array.from(columns, ([name, places]): ExplainedColumn => ({ name, kind: "column", places }));
  return [...own, ...ofGroups];
}

/** The columns that a group is cut by, each once. */
function listCutColumns(expression: string): readonly string[] {
  return [...new Set(columnsOf(parseGroup(expression)))];
}

/** The person's cell as the table has it, null where it is missing; of a group, whether the person belongs to it. */
export function readExplained(
  { name, kind }: ExplainedColumn,
  { inputGroups }: Pick<Model, "inputGroups">,
  table: Table,
  row: number,
): string | null {
  if (kind === "column") {
    const column = findColumn(table, name);
    return isMissing(column, row) ? null : cellText(column, row);
  }
  const group = inputGroups.find((one) => one.name === name);
  return group !== undefined && isMember(group, table, row) ? "in it" : "not in it";
}

/** Whether the person of a row belongs to a group. */
export function isMember(
  group: { readonly name: string; readonly expression: string },
  table: Table,
  row: number,
): boolean {
  return evaluateNamedGroup(group, selectRows(table, [row]), { unknownLevels: "allow" })[0] === 1;
}
