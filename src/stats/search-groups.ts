/**
 * The groups whose events depart most from the predicted, among all runs of cells of one column and all crosses of such runs of
 * two columns (of three, within the best crosses of two only). The sums of every cell of a column pair are added up once and
 * cumulated in both directions, so that each candidate costs a few additions however many rows it has.
 * A candidate's score is −log p (excess-events.ts) − log M, M the number of candidates of its kind: the runs of its columns
 * times the number of sets of so many columns. So a cross has to beat what the many crosses show by chance.
 * A score ranks candidates and is no test: that needs rows that were not searched.
 */
import { logChiSquareUpperTail } from "../core/distributions.ts";
import type { CellColumn, CellRun } from "../data/candidate-groups.ts";
import { type BlockTotals, measureExcess } from "./excess-events.ts";

/** What the search needs to know of a column. */
export type SearchColumn = Pick<CellColumn, "codes" | "cells" | "runs">;

export interface SearchColumns {
  /** For groups of one column … */
  readonly alone: readonly SearchColumn[]; // codes [N]
  /** … and the same columns for crosses, in fewer cells. */
  readonly crossed: readonly SearchColumn[]; // codes [N]
}

export interface SearchOptions {
  /** Most columns of a group: 1, 2 or 3. */
  readonly maxCross: number;
  readonly minRows: number;
  /** Fewest observed or expected events, whichever are more. */
  readonly minEvents: number;
  /** How many of the best are kept. */
  readonly keep: number;
}

export interface FoundTerm extends CellRun {
  /** Of `alone` if it is the only term, else of `crossed`. */
  readonly column: number;
}

export interface FoundGroup {
  /** None: everyone. */
  readonly terms: readonly FoundTerm[];
  readonly score: number;
}

export interface SearchResult {
  /** By decreasing score. */
  readonly best: readonly FoundGroup[];
  /** Candidates large enough to be measured. */
  readonly candidates: number;
}

export function isMember(
  row: number,
  terms: readonly FoundTerm[],
  { alone, crossed }: SearchColumns,
): boolean {
  const columns = terms.length === 1 ? alone : crossed;
  return terms.every(({ column, first, last }) => {
    const cell = columns[column].codes[row];
    return cell >= first && cell <= last;
  });
}

export function searchGroups(
  totals: BlockTotals,
  columns: SearchColumns,
  options: SearchOptions,
): SearchResult {
  const { alone, crossed } = columns;
  const { maxCross, minRows, minEvents, keep } = options;
  const { N, B, width } = totals;
  const everyRow = Int32Array.from({ length: N }, (_, row) => row);
  /** One cell with everyone in it: crossed with it, a column stands alone. */
  const undivided: SearchColumn = { codes: new Int32Array(N), cells: 1, runs: [{ first: 0, last: 0 }] };
  const best: FoundGroup[] = [];
  const sums = new Float64Array(width);
  const counts = 3 * B; // where a sum holds its number of rows
  let candidates = 0;

  searchCross(everyRow, undivided, undivided, 0, () => []);
  alone.forEach((column, a) => {
    const charge = Math.log(column.runs.length * alone.length);
    searchCross(everyRow, undivided, column, charge, (_, run) => [{ column: a, ...run }]);
  });
  const D = crossed.length;
  for (let a = 0; a < D && maxCross >= 2; a++) {
    for (let b = a + 1; b < D; b++) {
      const charge = Math.log((crossed[a].runs.length * crossed[b].runs.length * D * (D - 1)) / 2);
      searchCross(everyRow, crossed[a], crossed[b], charge, (outer, inner) => [
        { column: a, ...outer },
        { column: b, ...inner },
      ]);
    }
  }
  const pairs = maxCross >= 3 ? best.filter(({ terms }) => terms.length === 2) : [];
  for (const { terms } of pairs) {
    const rows = everyRow.filter((row) => isMember(row, terms, columns));
    const runs = terms.reduce((product, term) => product * crossed[term.column].runs.length, 1);
    crossed.forEach((column, c) => {
      if (terms.some((term) => term.column === c)) return;
      const charge = Math.log((runs * column.runs.length * D * (D - 1) * (D - 2)) / 6);
      searchCross(rows, undivided, column, charge, (_, run) => [...terms, { column: c, ...run }]);
    });
  }
  return { best, candidates };

  /** Measures every run of one column crossed with every run of another among the rows. */
  function searchCross(
    rows: Int32Array,
    first: SearchColumn,
    second: SearchColumn,
    charge: number,
    toTerms: (outer: CellRun, inner: CellRun) => readonly FoundTerm[],
  ): void {
    const table = cumulateCells(totals, rows, first, second);
    const across = (second.cells + 1) * width;
    const strip = new Float64Array(across); // [cells+1, width]: the rows of one outer run, cumulated over the second column
    const lefts = Int32Array.from(second.runs, (run) => run.first * width);
    const rights = Int32Array.from(second.runs, (run) => (run.last + 1) * width);
    let needed = leastDeviances(charge);
    for (const outer of first.runs) {
      const above = outer.first * across;
      const below = (outer.last + 1) * across;
      for (let k = 0; k < across; k++) strip[k] = table[below + k] - table[above + k];
      for (let r = 0; r < lefts.length; r++) {
        const left = lefts[r];
        const right = rights[r];
        if (strip[right + counts] - strip[left + counts] < minRows) continue;
        let observed = 0;
        let expected = 0;
        let variance = 0;
        let bound = 0;
        for (let b = 0; b < B; b++) {
          const O = strip[right + b] - strip[left + b];
          // Differences of cumulated sums leave rounding where there is nothing.
          const E = Math.max(strip[right + B + b] - strip[left + B + b], 0);
          const V = Math.max(strip[right + 2 * B + b] - strip[left + 2 * B + b], 0);
          sums[b] = O;
          sums[B + b] = E;
          sums[2 * B + b] = V;
          bound += boundDeviance(O, E, V);
          observed += O;
          expected += E;
          variance += V;
        }
        if (observed < minEvents && expected < minEvents) continue;
        candidates++;
        // Most candidates are known by these bounds to be too small, without a logarithm.
        if (bound < needed.shape && boundDeviance(observed, expected, variance) < needed.level) continue;
        const score = -measureExcess(sums, B).logP - charge;
        if (insert(score, outer, second.runs[r], toTerms)) needed = leastDeviances(charge);
      }
    }
  }

  /** Whether the last that is kept is another now. */
  function insert(
    score: number,
    outer: CellRun,
    inner: CellRun,
    toTerms: (outer: CellRun, inner: CellRun) => readonly FoundTerm[],
  ): boolean {
    if (best.length === keep && score <= best[keep - 1].score) return false;
    let place = best.length;
    while (place > 0 && best[place - 1].score < score) place--;
    best.splice(place, 0, { terms: toTerms(outer, inner), score });
    if (best.length > keep) best.pop();
    return best.length === keep;
  }

  /** Candidates of which neither deviance is as large have no score above the last that is kept. */
  function leastDeviances(charge: number): { readonly level: number; readonly shape: number } {
    if (best.length < keep) return { level: 0, shape: 0 };
    const logP = -(best[keep - 1].score + charge) - Math.LN2;
    return { level: deviancePassing(logP, 1), shape: deviancePassing(logP, B) };
  }
}

/**
 * At least the deviance: with x = O/E − 1, (1+x) log(1+x) − x is at most x²/2 for x ≥ 0, and at most that over (1+x), and x²,
 * for x < 0.
 */
function boundDeviance(O: number, E: number, V: number): number {
  if (O === E) return 0;
  const pearson = ((O - E) * (O - E)) / V;
  return O >= E ? pearson : pearson * Math.min(2, E / O);
}

/** The table of sums over rows with first cell < i and second cell < j. */
function cumulateCells(
  { width, values }: BlockTotals,
  rows: Int32Array,
  first: SearchColumn,
  second: SearchColumn,
): Float64Array {
  const across = second.cells + 1;
  const table = new Float64Array((first.cells + 1) * across * width); // [cells+1, cells+1, width]
  for (let i = 0; i < rows.length; i++) {
    const row = rows[i];
    const a = first.codes[row];
    const b = second.codes[row];
    if (a < 0 || b < 0) continue;
    const cell = ((a + 1) * across + b + 1) * width;
    const from = row * width;
    for (let w = 0; w < width; w++) table[cell + w] += values[from + w];
  }
  for (let a = 1; a <= first.cells; a++) {
    for (let b = 1; b <= second.cells; b++) {
      const cell = (a * across + b) * width;
      const above = cell - across * width;
      for (let w = 0; w < width; w++)
        table[cell + w] += table[cell - width + w] + table[above + w] - table[above - width + w];
    }
  }
  return table;
}

/** Halvings that bring the bracket below any difference worth a logarithm. */
const HALVINGS = 20;

/** Nearly the χ² whose log p is this, and no more than it. */
function deviancePassing(logP: number, df: number): number {
  if (logP >= 0) return 0;
  let low = 0;
  let high = 1;
  while (logChiSquareUpperTail(high, df) > logP) high *= 2;
  for (let k = 0; k < HALVINGS; k++) {
    const middle = (low + high) / 2;
    if (logChiSquareUpperTail(middle, df) > logP) low = middle;
    else high = middle;
  }
  return low;
}
