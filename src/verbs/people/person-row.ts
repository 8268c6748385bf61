/**
 * Which row of a table a person means: by the value of the column that says whose row it is, where one is known, else
 * by the row's number. With such a column a number is an id; `#17` is row 17 in either case. A name that no row has, or
 * that several have, is refused: a guess would explain somebody else.
 */
import { InputError } from "../../core/errors.ts";
import { present } from "../../core/present.ts";
import { quoteValue } from "../../core/text.ts";
import { cellText, findColumn, namePlaces, type Table } from "../../data/table.ts";

/** A row by its number, 1-based, as one writes it where a column of ids is known. */
const BY_NUMBER = /^#\s*(\d+)$/;
const NUMBER = /^\d+$/;

/** The row (0-based) that is meant by `wanted`; `id` is the column of ids, null where there is none. */
export function findPersonRow(table: Table, wanted: string, id: string | null): number {
  const text = wanted.trim();
  const number = BY_NUMBER.exec(text)?.[1] ?? (id === null && NUMBER.test(text) ? text : null);
  if (number !== null) return checkNumber(table, Number(number));
  if (id === null) {
    throw new InputError(`not a row number: ${quoteValue(text)}`, {
      code: "row.unknown",
      where: table.name,
      hint: `give a number from 1 to ${table.rows}, or name the column of ids with --id COLUMN`,
    });
  }
  const column = findColumn(table, id);
  const found: number[] = [];
  for (let row = 0; row < table.rows; row++) if (cellText(column, row) === text) found.push(row);
  if (found.length === 1) return found[0];
  const where = `${table.name}, column "${id}"`;
  if (found.length > 1) {
    throw new InputError(
      `several rows belong to ${quoteValue(text)}: ${namePlaces(table, found.map(toNumber))}`,
      {
        code: "row.ambiguous",
        where,
        hint: `name one of them by its number, --row '#${toNumber(found[0])}'`,
      },
    );
  }
  const isNumber = NUMBER.test(text) && Number(text) >= 1 && Number(text) <= table.rows;
  throw new InputError(`no row belongs to ${quoteValue(text)}`, {
    code: "row.unknown",
    where,
    ...present({ hint: isNumber ? `the row of that number is --row '#${text}'` : undefined }),
  });
}

function toNumber(row: number): number {
  return row + 1;
}

function checkNumber(table: Table, number: number): number {
  if (number >= 1 && number <= table.rows) return number - 1;
  throw new InputError(`no such row in a table of ${table.rows}: ${number}`, {
    code: "rows.range",
    where: table.name,
  });
}
