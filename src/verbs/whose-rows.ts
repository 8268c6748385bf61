/**
 * Whose rows are whose, where a model or its curves are judged: by the named column, or else by the column the model
 * was trained with if the table has it. Warnings say what cannot be known or is known to differ.
 */
import { countOf } from "../core/text.ts";
import { haveSeveralRows, type People, readPeople } from "../data/outcomes/people.ts";
import type { Table } from "../data/table.ts";
import type { Model } from "../training/model.ts";

/** Whose rows are whose, by which column, and the warnings about it. */
export interface FoundPeople {
  readonly id: string | null;
  readonly people: People | null;
  readonly warnings: readonly string[];
}

/** By the named column, or by the model's own. */
export function findPeople(
  table: Table,
  { id }: { readonly id?: string },
  model: Pick<Model, "columns"> | null,
): FoundPeople {
  const own = model?.columns.id;
  if (id === undefined && own !== undefined && !table.columns.some(({ name }) => name === own)) {
    const warning =
      `the model was trained with --id ${own}, which the table does not have: ` +
      "rows are taken as independent";
    return { id: null, people: null, warnings: [warning] };
  }
  const chosen = id ?? own;
  if (chosen === undefined) return { id: null, people: null, warnings: [] };
  return { id: chosen, people: readPeople(table, chosen), warnings: [] };
}

/** What is judged by person and what still counts rows; empty where everybody has one row. */
export function describePeople(people: People | null): string[] {
  if (people === null || !haveSeveralRows(people)) return [];
  return [
    `${countOf(people.of.length, "row")} of ${people.count} people: noise floor, intervals, tight bounds and the ` +
      "individual logrank go by person; max z, D-calibration and numbers at risk count rows",
  ];
}

/**
 * Warns of judged rows of people whose other rows the model may have learnt from, where it was not told whose rows are
 * whose.
 */
export function warnOfKnownPeople(people: People | null, judged: Int32Array): string[] {
  if (people === null) return [];
  const isJudged = new Uint8Array(people.of.length);
  for (const row of judged) isJudged[row] = 1;
  const others = Int32Array.from(people.of.keys()).filter((row) => isJudged[row] === 0);
  const known = new Set(Array.from(others, (row) => people.of[row]));
  const torn = judged.reduce((sum, row) => sum + (known.has(people.of[row]) ? 1 : 0), 0);
  if (torn === 0) return [];
  return [
    `${torn} of ${judged.length} judged rows belong to people with other rows in training or validation: ` +
      "train with --id to keep them together",
  ];
}
