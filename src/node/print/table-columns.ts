/**
 * Columns of the tables that commands print: names, which are shortened on a narrow terminal, and numbers, which are
 * right-aligned under their titles.
 */
import type { TextColumn } from "../../report/words/text-table.ts";

/** A column of names. */
export function nameColumn(title: string): TextColumn {
  return { title, flexible: true };
}

/** One column of numbers for each title. */
export function numberColumns(...titles: readonly string[]): TextColumn[] {
  return titles.map((title) => ({ title, align: "right" }));
}
