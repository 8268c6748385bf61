/**
 * Several rows of one person, found before a model is fitted. If rows are split one by one, such a person both teaches
 * the model and judges it, and every interval counts one person twice. So training refuses until it is told whose rows
 * are whose, or that the rows are independent. It rests on identifiers.ts, which warns of more: a column whose values
 * all occur equally often may also be a percentile. Such a column counts here only if another column never differs
 * within a value, if it holds texts, if its name is that of an id, or if it counts from row to row (1, 1, 2, 2, 3, 3).
 */
import { InputError } from "../../core/errors.ts";
import { continueSentence } from "../../core/sentence.ts";
import type { PersonColumn } from "../outcomes/people.ts";
import { type Column, findColumn, type Table } from "../table.ts";
import type { Finding, Notice } from "./findings.ts";
import { findIdentifier, isNamedAsId } from "./identifiers.ts";
import type { CheckedTable } from "./sanity.ts";

/** What a run is told about whose rows are whose. */
export interface RowIndependence extends PersonColumn {
  /** Rows are people even where a column looks like the id of people with several rows. */
  readonly rowsAreIndependent?: boolean;
}

/** The finding that people have several rows, from the first column that shows it; null where none does. */
export function findRepeatedPeople(
  table: Table,
  checked: CheckedTable,
  outcome: { readonly time: string; readonly event: string },
): Finding | null {
  const isChecked = new Set(checked.features.map(({ name }) => name));
  for (const column of table.columns) {
    const { name } = column;
    if (name === outcome.time || name === outcome.event) continue;
    // A run that names its features has only those checked, yet its people may repeat all the same.
    const finding = isChecked.has(name)
      ? checked.findings.find((one) => one.code === "id" && one.column === name)
      : findIdentifier(table, column);
    if (finding && isOfPeople(table, finding)) return finding;
  }
  return null;
}

function isOfPeople(table: Table, { column, evidence }: Finding): boolean {
  const { fixedColumns } = evidence;
  if (column === null || typeof fixedColumns !== "number") return false;
  if (fixedColumns > 0) return true;
  // Nothing else is fixed: its values all occur equally often.
  const own = findColumn(table, column);
  return own.type === "category" || isNamedAsId(column) || countsOn(own);
}

/** Whether the column's numbers stay the same or rise by 1 from each row to the next. */
function countsOn(column: Column): boolean {
  if (column.type !== "number") return false;
  const { values } = column;
  return values.every(
    (value, row) => row === 0 || value === values[row - 1] || value === values[row - 1] + 1,
  );
}

/** Refuses several rows of one person unless the run says whose they are; says so where rows are taken as they are. */
export function checkIndependence(
  table: Table,
  checked: CheckedTable,
  request: RowIndependence & { readonly time: string; readonly event: string },
): readonly Notice[] {
  if (request.id !== undefined) return [];
  const finding = findRepeatedPeople(table, checked, request);
  if (finding === null) return [];
  const { column, message } = finding;
  if (request.rowsAreIndependent === true) {
    const sentence = continueSentence(finding.sentence, "; they are taken as independent, as asked");
    return [{ level: "warning", sentence }];
  }
  throw new InputError(message, {
    code: "rows.repeated",
    where: `${table.name}, column "${column}"`,
    hint:
      `--id ${column} keeps the rows of a person together; ` +
      "--rows-are-independent takes every row as a person of its own",
  });
}
