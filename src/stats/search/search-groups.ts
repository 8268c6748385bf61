/**
 * Finds the groups whose events depart most from the predicted, among all runs of cells of one column and all crosses
 * of such runs of two columns (of three, within the best crosses of two only). The sums of every cell of a column pair
 * are added up once and accumulated in both directions, so that each candidate costs a few additions however many rows
 * it has. A candidate's score is −log p (excess-events.ts) − log M − (k−1) log 2: k is how many numbers or values
 * describe it (`age >= 75` has one, `60 <= age < 75` two), and M is how many candidates of its columns have the same k
 * (tails of one column are counted in the cells of crosses), times the number of sets with as many columns. So a cross
 * has to beat what the many crosses show by chance, and of two equal groups the simpler comes first. The best few of
 * each set of columns and each k are kept: remeasured after one of them has been taken as found, they show which is
 * next. A score ranks candidates and is not a test: that needs rows that were not searched.
 */
import { log } from "../../core/elementary.ts";
import type { CellColumn, CellRun } from "../../data/groups/candidate-groups.ts";
import { type BlockTotals, DEVIANCES, measureExcess } from "./excess-events.ts";

/** What the search needs to know about a column. */
export interface SearchColumn extends Pick<CellColumn, "codes" | "cells" | "runs"> {
  /** For each run, how many numbers or values describe it: 1 or 2. */
  readonly bounds: Uint8Array;
}

export interface SearchColumns {
  /** For groups of one column … */
  readonly alone: readonly SearchColumn[]; // codes [N]
  /** … and the same columns for crosses, in fewer cells. */
  readonly crossed: readonly SearchColumn[]; // codes [N]
}

export interface SearchOptions {
  /** Maximum number of columns in a group: 1, 2 or 3. */
  readonly maxCross: number;
  readonly minRows: number;
  /** Minimum number of observed or expected events, whichever is larger. */
  readonly minEvents: number;
  /** How many candidates are kept for each set of columns and each number of values that describe them. */
  readonly keep: number;
  /** Candidates with a lower score are not kept. */
  readonly minScore: number;
}

export interface FoundTerm extends CellRun {
  /** Index in `alone` if it is the only term, otherwise in `crossed`. */
  readonly column: number;
}

export interface FoundGroup {
  /** Empty: everyone. */
  readonly terms: readonly FoundTerm[];
  /** How much its score is below −log p. */
  readonly charge: number;
  readonly score: number;
}

export interface SearchResult {
  /** By decreasing score. */
  readonly best: readonly FoundGroup[];
  /** Candidates large enough to be measured. */
  readonly candidates: number;
}

/** The number of crosses of two columns within which crosses of three are searched. */
const CROSSED_AGAIN = 32;
/** Numbers that describe one run: where it begins and where it ends. */
const MOST_BOUNDS = 2;
/** Each further number or value in a description halves the odds. */
const BOUND_CHARGE = Math.LN2;

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
  const { maxCross } = options;
  const { N } = totals;
  const everyRow = Int32Array.from({ length: N }, (_, row) => row);
  /** One cell with everyone in it: crossed with it, a column stands alone. */
  const undivided: SearchColumn = {
    codes: new Int32Array(N),
    cells: 1,
    runs: [{ first: 0, last: 0 }],
    bounds: new Uint8Array(1),
  };
  let candidates = 0;
  const count = (more: number) => {
    candidates += more;
  };
  const search: Search = { totals, options, sums: new Float64Array(totals.width), count };

  const found: FoundGroup[] = searchCross(search, everyRow, undivided, undivided, { sets: 1 }, () => []);
  alone.forEach((column, a) => {
    const terms = (_: CellRun, run: CellRun) => [{ column: a, ...run }];
    found.push(
      ...searchCross(search, everyRow, undivided, column, { sets: alone.length, coarser: crossed[a] }, terms),
    );
  });
  const D = crossed.length;
  for (let a = 0; a < D && maxCross >= 2; a++) {
    for (let b = a + 1; b < D; b++) {
      const kind = { sets: (D * (D - 1)) / 2 };
      found.push(
        ...searchCross(search, everyRow, crossed[a], crossed[b], kind, (outer, inner) => [
          { column: a, ...outer },
          { column: b, ...inner },
        ]),
      );
    }
  }
  found.sort((a, b) => b.score - a.score);
  const pairs = maxCross >= 3 ? found.filter(({ terms }) => terms.length === 2) : [];
  for (const { terms } of pairs.slice(0, CROSSED_AGAIN)) {
    const rows = everyRow.filter((row) => isMember(row, terms, columns));
    const within = terms.map(({ column, first, last }) => {
      const { runs, bounds } = crossed[column];
      const own = bounds[runs.findIndex((run) => run.first === first && run.last === last)];
      return { bounds: own, alike: countBounds(crossed[column], own) };
    });
    const kind = {
      sets: (D * (D - 1) * (D - 2)) / 6,
      bounds: within.reduce((sum, one) => sum + one.bounds, 0),
      alike: within.reduce((product, one) => product * one.alike, 1),
    };
    crossed.forEach((column, c) => {
      if (terms.some((term) => term.column === c)) return;
      const toTerms = (_: CellRun, run: CellRun) => [...terms, { column: c, ...run }];
      found.push(...searchCross(search, rows, undivided, column, kind, toTerms));
    });
  }
  return { best: found.sort((a, b) => b.score - a.score), candidates };
}

/** What every cross of a search shares. */
interface Search {
  readonly totals: BlockTotals;
  readonly options: SearchOptions;
  /** Room for the sums of one candidate. */
  readonly sums: Float64Array; // [width]
  /** Adds to the count of measured candidates. */
  readonly count: (candidates: number) => void;
}

/** The best of every run of one column crossed with every run of another among the rows. */
function searchCross(
  { totals, options, sums, count }: Search,
  rows: Int32Array,
  first: SearchColumn,
  second: SearchColumn,
  kind: CandidateKind,
  toTerms: (outer: CellRun, inner: CellRun) => readonly FoundTerm[],
): FoundGroup[] {
  const { minRows, minEvents, keep, minScore } = options;
  const { B, width } = totals;
  const counts = 3 * B; // index of the number of rows in a sum
  let candidates = 0;
  const best = Array.from({ length: 2 * MOST_BOUNDS + 1 }, (): FoundGroup[] => []);
  const table = cumulateCells(totals, rows, first, second);
  const across = (second.cells + 1) * width;
  // [cells+1, width]: the rows of one outer run, accumulated over the second column
  const strip = new Float64Array(across);
  const lefts = Int32Array.from(second.runs, (run) => run.first * width);
  const rights = Int32Array.from(second.runs, (run) => (run.last + 1) * width);
  const charges = chargeBounds(first, second, kind);
  const needed = charges.map((charge) => leastDeviances(minScore + charge));
  for (let o = 0; o < first.runs.length; o++) {
    const outer = first.runs[o];
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
        // Differences of accumulated sums leave rounding errors where there is nothing.
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
      const bounds = first.bounds[o] + second.bounds[r];
      // These bounds show, without a logarithm, that most candidates are too small.
      const { level, shape } = needed[bounds];
      if (bound < shape && boundDeviance(observed, expected, variance) < level) continue;
      const charge = charges[bounds];
      const score = -measureExcess(sums, B).logP - charge;
      const kept = best[bounds];
      if (score <= (kept.length < keep ? minScore : kept[keep - 1].score)) continue;
      insertByScore(kept, { terms: toTerms(outer, second.runs[r]), charge, score });
      if (kept.length > keep) kept.pop();
      if (kept.length === keep) needed[bounds] = leastDeviances(kept[keep - 1].score + charge);
    }
  }
  count(candidates);
  return best.flat();
}

interface CandidateKind {
  /** The number of sets with as many columns. */
  readonly sets: number;
  /**
   * The second column in fewer cells, where it has them: finer cuts of a tail make near copies of it, not more groups.
   */
  readonly coarser?: SearchColumn;
  /** For terms that are already fixed: how many numbers describe them, and how many alike there are. */
  readonly bounds?: number;
  readonly alike?: number;
}

function countBounds({ bounds }: SearchColumn, count: number): number {
  return bounds.reduce((sum, one) => sum + (one === count ? 1 : 0), 0);
}

/** Indexed by how many numbers describe the two runs (0…4): log M + (k−1) log 2. */
function chargeBounds(first: SearchColumn, second: SearchColumn, kind: CandidateKind): number[] {
  const { sets, coarser = second, bounds = 0, alike = 1 } = kind;
  const counts = [countBounds(second, 0), countBounds(coarser, 1), countBounds(second, 2)];
  return Array.from({ length: 2 * MOST_BOUNDS + 1 }, (_, total) => {
    let M = 0;
    for (let own = 0; own <= MOST_BOUNDS; own++) M += countBounds(first, own) * (counts[total - own] ?? 0);
    return log(Math.max(1, M * sets * alike)) + Math.max(0, bounds + total - 1) * BOUND_CHARGE;
  });
}

/** Keeps the order by decreasing score; of equals the earlier stays first. */
export function insertByScore(best: FoundGroup[], group: FoundGroup): void {
  let place = best.length;
  while (place > 0 && best[place - 1].score < group.score) place--;
  best.splice(place, 0, group);
}

/** The same group measured on other sums of the same rows. */
export function measureAgain(
  { terms, charge }: FoundGroup,
  { N, B, width, values }: BlockTotals,
  columns: SearchColumns,
): FoundGroup {
  const cells = terms.length === 1 ? columns.alone : columns.crossed;
  const runs = terms.map(({ column, first, last }) => ({ codes: cells[column].codes, first, last }));
  const sums = new Float64Array(width);
  // Like isMember, but without a closure per row: this runs thousands of times.
  next: for (let row = 0; row < N; row++) {
    for (let k = 0; k < runs.length; k++) {
      const cell = runs[k].codes[row];
      if (cell < runs[k].first || cell > runs[k].last) continue next;
    }
    for (let w = 0; w < width; w++) sums[w] += values[row * width + w];
  }
  return { terms, charge, score: -measureExcess(sums, B).logP - charge };
}

/**
 * What the deviances of a candidate must reach for this −log p: for χ² with 2 df or more, p is at least exp(−x/2); with
 * 1 df, it is at least exp(−x/2) √(2/π) √x/(1+x) (Mills' ratio), taken at the larger of these x, since it falls with x
 * ≥ 1.
 */
function leastDeviances(wanted: number): { readonly level: number; readonly shape: number } {
  const shape = Math.max(0, 2 * (wanted + log(DEVIANCES)));
  const mills = log((Math.sqrt(Math.PI / 2) * (1 + shape)) / Math.sqrt(shape));
  return { level: shape > 1 ? Math.max(0, shape - 2 * mills) : 0, shape };
}

/**
 * An upper bound on the deviance: with x = O/E − 1, (1+x) log(1+x) − x is at most x²/2 for x ≥ 0, and at most that over
 * (1+x), and x², for x < 0.
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
