/**
 * How much work a search of crosses is, so that a search over thousands of columns is refused at the start, with a way
 * out, instead of running for days. Pairs grow with the square of the columns; each costs a visit to every searched row
 * and a look at every cross of their runs of cells. Groups of one column are always searched, however many there are:
 * their work grows only linearly with the columns.
 */
import { InputError } from "../../core/errors.ts";

/** Looks that a search may take: about a minute on one slow core. 800 numeric columns and 1000 rows take that many. */
export const MOST_LOOKS = 1e9;
/** Cost of one row of a pair of columns, as a share of a look at a candidate. */
const LOOKS_PER_ROW = 0.4;

/** Looks at all crosses of two columns; `runs` is the number of runs of cells of each column. */
export function countLooks(runs: readonly number[], rows: number): number {
  const sum = runs.reduce((total, one) => total + one, 0);
  const squares = runs.reduce((total, one) => total + one * one, 0);
  return (sum * sum - squares) / 2 + countPairs(runs.length) * rows * LOOKS_PER_ROW;
}

function countPairs(columns: number): number {
  return (columns * (columns - 1)) / 2;
}

/**
 * Called before columns are cut, since their rows alone may be too many, and again with the runs of cells that the
 * columns have.
 */
export function refuseTooManyCrosses(runs: readonly number[], rows: number, maxCross: number): void {
  if (maxCross < 2 || countLooks(runs, rows) <= MOST_LOOKS) return;
  throw new InputError(
    `${runs.length} columns make ${countPairs(runs.length)} pairs: too many crosses to search`,
    {
      code: "search.large",
      hint: "name the columns that matter (--columns a,b), or search each by itself (--cross 1)",
    },
  );
}
