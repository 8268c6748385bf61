/**
 * Discover: which groups are the predicted curves wrong for? The rows are divided by seed into two halves with equally many
 * events. On one, all candidate groups are searched (search-groups.ts) and the worst taken, one after the other: before the next
 * is looked for, the expected events of those found are brought to the observed in every time block, so that it has to be
 * wrong in a way of its own and not a neighbour of the first. On the other half, which no choice has seen, each of the few is
 * tested as it stands against the model, and the p-values adjusted by Holm: a model that is right for everybody has any group
 * confirmed with probability at most `level`. Curves must come from a model that has not seen these rows.
 */
import { InputError } from "./core/errors.ts";
import { createRandom } from "./core/random.ts";
import { type CellColumn, cutColumn } from "./data/candidate-groups.ts";
import type { Curves } from "./data/curves.ts";
import { formatGroup, type GroupExpression } from "./data/group-expression.ts";
import { evaluateGroup } from "./data/group-members.ts";
import type { BinnedOutcomes } from "./data/outcomes.ts";
import { splitRows } from "./data/split.ts";
import { findColumn, type Table } from "./data/table.ts";
import { equalEventBlocks } from "./objectives/time-blocks.ts";
import { holm } from "./stats/comparison.ts";
import {
  type BinBlock,
  type BlockTotals,
  describeExcess,
  type ExcessEvents,
  sumTotals,
  tallyBlocks,
  testExcess,
} from "./stats/excess-events.ts";
import {
  type FoundGroup,
  type FoundTerm,
  isMember,
  type SearchColumns,
  searchGroups,
} from "./stats/search-groups.ts";

/** Curves, outcomes and the table whose columns are searched. */
export interface DiscoverInput {
  readonly curves: Curves;
  readonly outcomes: BinnedOutcomes;
  /** Who the rows are: the columns that groups are made of. */
  readonly table: Table;
}

/** How far to search, and with which level and seed. */
export interface DiscoverOptions {
  /** Columns of the table that may form groups (all). */
  readonly columns?: readonly string[];
  readonly seed?: number;
  /** Most groups to find and test (10). */
  readonly top?: number;
  /** Most columns in one group: 1, 2 (the default) or 3. */
  readonly maxCross?: number;
  /** Fewest rows of a group, over both halves (100). */
  readonly minRows?: number;
  /** Fewest events of a group, observed or expected, over both halves (10). */
  readonly minEvents?: number;
  /** Adjusted p-values up to this confirm (0.05). */
  readonly level?: number;
}

export interface DiscoveredGroup {
  /** As `--group` takes it. */
  readonly expression: string;
  /** On the rows that were searched: flattered by the search. */
  readonly search: ExcessEvents;
  /** On the other rows. */
  readonly confirm: ExcessEvents;
  /** Of confirm.p, over all groups listed (Holm). */
  readonly adjustedP: number;
  readonly confirmed: boolean;
  /** Of a confirmed group: its confirming rows that are in no confirmed group before it in the list; null for the others. */
  readonly beyond: ExcessEvents | null;
  /** Confirmed, but the groups before it account for it: beyond them it does not depart (p above the level). */
  readonly explained: boolean;
  /** What the confirming rows show, in words. */
  readonly direction: string;
}

/** What a search found, and which of it the other half of the rows confirmed. */
export interface Discovery {
  readonly rows: { readonly search: number; readonly confirm: number };
  readonly events: { readonly search: number; readonly confirm: number };
  /** Columns that took part. */
  readonly columns: readonly string[];
  /** How many groups were measured to find the first. */
  readonly candidates: number;
  readonly blocks: readonly BinBlock[];
  readonly level: number;
  readonly seed: number;
  /** By adjusted p-value. */
  readonly groups: readonly DiscoveredGroup[];
}

const DEFAULT_TOP = 10;
const DEFAULT_CROSS = 2;
const MAX_CROSS = 3;
const DEFAULT_LEVEL = 0.05;
/** The automatic groups' (group-selection.ts). */
const DEFAULT_MIN_ROWS = 100;
/** The least that can be audited (sanity.ts). */
const DEFAULT_MIN_EVENTS = 10;
/** Blocks of time: enough to see early, late and a change of sign; each costs a degree of freedom. */
const BLOCKS = 4;
/** Ranges of an ordered column by itself (twentieths: 209 runs), … */
const CELLS_ALONE = 20;
/** … and in crosses (tenths: 54 runs, 2916 crosses of two such columns). */
const CELLS_CROSSED = 10;
/** Two groups with a larger share of their rows in common are one finding. */
const MAX_JACCARD = 0.75;
/** A group is not worth a test when, of its kind alone, chance gives more than this many that look as bad. */
const MAX_BY_CHANCE = 20;
/** Candidates kept in each round, in case the best are too like those found before. */
const KEEP = 32;
/** Events added on both sides of O/E when a group is taken as found: a block with none does not become certain. */
const PRIOR_EVENTS = 0.5;
/** Own stream of the seed: a model's split with the same seed shares no draws with these halves. */
const HALVES_STREAM = 0xd15c;

/** Searches half of the rows for groups whose curves are off, and tests the worst on the other half. */
export function discover(input: DiscoverInput, options: DiscoverOptions = {}): Discovery {
  const { curves, outcomes, table } = input;
  const { seed = 1, top = DEFAULT_TOP, maxCross = DEFAULT_CROSS, level = DEFAULT_LEVEL } = options;
  const { minRows = DEFAULT_MIN_ROWS, minEvents = DEFAULT_MIN_EVENTS } = options;
  requireOption("top", top, Number.isInteger(top) && top >= 1);
  requireOption("maxCross", maxCross, Number.isInteger(maxCross) && maxCross >= 1 && maxCross <= MAX_CROSS);
  requireOption("minRows", minRows, minRows >= 1);
  requireOption("minEvents", minEvents, minEvents > 0);
  requireOption("level", level, level > 0 && level < 1);
  if (table.rows !== curves.N) {
    throw new InputError(`the table has ${table.rows} rows and the curves ${curves.N}`, {
      code: "rows.mismatch",
    });
  }
  const halves = divideRows(outcomes, seed);
  const searched = pickBins(outcomes, halves.search);
  const blocks = equalEventBlocks(searched, BLOCKS);
  const totals = {
    search: tallyBlocks(curves, outcomes, blocks, halves.search),
    confirm: tallyBlocks(curves, outcomes, blocks, halves.confirm),
  };
  const columns = cutColumns(table, options.columns, halves.search);

  const { found, candidates } = findWorst(totals.search, columns.searched, {
    top,
    maxCross,
    minRows: minRows / 2,
    minEvents: minEvents / 2,
  });
  const tested = found.map((terms) => {
    const expression = formatGroup(describeTerms(terms, columns.cut));
    // Who is tested is who the printed expression means.
    const members = evaluateGroup(expression, table);
    const places = placesOf(members, halves.confirm);
    return {
      expression,
      places,
      search: testExcess(totals.search, blocks, placesOf(members, halves.search)),
      confirm: testExcess(totals.confirm, blocks, places),
    };
  });
  const adjusted = holm(tested.map(({ confirm }) => confirm.p));
  const ordered = tested
    .map((group, k) => ({ ...group, adjustedP: adjusted[k], confirmed: adjusted[k] <= level }))
    .sort((a, b) => a.adjustedP - b.adjustedP || a.confirm.logP - b.confirm.logP);
  const taken = new Uint8Array(halves.confirm.length);
  const groups = ordered.map(({ places, ...group }): DiscoveredGroup => {
    const direction = describeExcess(group.confirm);
    if (!group.confirmed) return { ...group, beyond: null, explained: false, direction };
    const beyond = testExcess(
      totals.confirm,
      blocks,
      places.filter((place) => taken[place] === 0),
    );
    for (const place of places) taken[place] = 1;
    return { ...group, beyond, explained: beyond.p > level, direction };
  });
  return {
    rows: { search: halves.search.length, confirm: halves.confirm.length },
    events: { search: countEvents(outcomes, halves.search), confirm: countEvents(outcomes, halves.confirm) },
    columns: columns.cut.alone.map(({ name }) => name),
    candidates,
    blocks,
    level,
    seed,
    groups,
  };
}

function requireOption(name: string, value: number, valid: boolean): void {
  if (!valid) throw new InputError(`discovery: ${name} cannot be ${value}`, { code: "option.invalid" });
}

interface Halves {
  readonly search: Int32Array;
  readonly confirm: Int32Array;
}

function divideRows(outcomes: BinnedOutcomes, seed: number): Halves {
  const N = outcomes.bin.length;
  if (N < 2) throw new InputError(`too few rows to divide into halves: ${N}`, { code: "rows.few" });
  const drawn = createRandom(seed, HALVES_STREAM).integer(2 ** 31);
  const { train, test } = splitRows(N, {
    fractions: [0.5, 0, 0.5],
    seed: drawn,
    stratifyBy: outcomes.event,
  });
  return { search: train, confirm: test };
}

function pickBins({ T, bin, event }: BinnedOutcomes, rows: Int32Array): BinnedOutcomes {
  return {
    T,
    bin: Int32Array.from(rows, (row) => bin[row]),
    event: Uint8Array.from(rows, (row) => event[row]),
  };
}

function countEvents({ event }: BinnedOutcomes, rows: Int32Array): number {
  return rows.reduce((sum, row) => sum + event[row], 0);
}

interface CutColumns {
  readonly alone: readonly CellColumn[];
  readonly crossed: readonly CellColumn[];
}

/** The columns in cells, and the same for the searched rows only. */
function cutColumns(
  table: Table,
  names: readonly string[] | undefined,
  rows: Int32Array,
): { readonly cut: CutColumns; readonly searched: SearchColumns } {
  const columns = names?.map((name) => findColumn(table, name)) ?? table.columns;
  const cut = columns.flatMap((column) => {
    const alone = cutColumn(column, { cells: CELLS_ALONE, rows });
    const crossed = cutColumn(column, { cells: CELLS_CROSSED, rows });
    return alone && crossed ? [{ alone, crossed }] : [];
  });
  const alone = cut.map((one) => one.alone);
  const crossed = cut.map((one) => one.crossed);
  const narrow = ({ codes, cells, runs }: CellColumn) => ({
    cells,
    runs,
    codes: Int32Array.from(rows, (row) => codes[row]),
  });
  return {
    cut: { alone, crossed },
    searched: { alone: alone.map(narrow), crossed: crossed.map(narrow) },
  };
}

interface FindOptions {
  readonly top: number;
  readonly maxCross: number;
  readonly minRows: number;
  readonly minEvents: number;
}

function findWorst(
  totals: BlockTotals,
  columns: SearchColumns,
  options: FindOptions,
): { readonly found: readonly (readonly FoundTerm[])[]; readonly candidates: number } {
  const everyRow = Int32Array.from({ length: totals.N }, (_, row) => row);
  const found: { readonly terms: readonly FoundTerm[]; readonly members: Uint8Array }[] = [];
  let left: BlockTotals = { ...totals, values: totals.values.slice() };
  let candidates = 0;
  while (found.length < options.top) {
    const result = searchGroups(left, columns, { ...options, keep: KEEP });
    if (found.length === 0) candidates = result.candidates;
    const next = chooseUnlike(result.best);
    if (next === null) break;
    found.push(next);
    left = takeAsFound(
      left,
      everyRow.filter((row) => next.members[row] === 1),
    );
  }
  return { found: found.map(({ terms }) => terms), candidates };

  /** The best that is not nearly one of those found before. */
  function chooseUnlike(
    best: readonly FoundGroup[],
  ): { terms: readonly FoundTerm[]; members: Uint8Array } | null {
    for (const { terms, score } of best) {
      if (score < -Math.log(MAX_BY_CHANCE)) return null;
      const members = Uint8Array.from(everyRow, (row) => (isMember(row, terms, columns) ? 1 : 0));
      if (found.every((earlier) => jaccard(earlier.members, members) <= MAX_JACCARD))
        return { terms, members };
    }
    return null;
  }
}

function jaccard(a: Uint8Array, b: Uint8Array): number {
  let [both, either] = [0, 0];
  for (let row = 0; row < a.length; row++) {
    both += a[row] & b[row];
    either += a[row] | b[row];
  }
  return either === 0 ? 0 : both / either;
}

/** The rows' expected events brought to what was observed of them, block by block. */
function takeAsFound(totals: BlockTotals, rows: Int32Array): BlockTotals {
  const { B, width } = totals;
  const sums = sumTotals(totals, rows);
  const values = totals.values.slice();
  for (let b = 0; b < B; b++) {
    const ratio = (sums[b] + PRIOR_EVENTS) / (sums[B + b] + PRIOR_EVENTS);
    for (const row of rows) {
      values[row * width + B + b] *= ratio;
      values[row * width + 2 * B + b] *= ratio;
    }
  }
  return { ...totals, values };
}

function describeTerms(terms: readonly FoundTerm[], { alone, crossed }: CutColumns): GroupExpression {
  const columns = terms.length === 1 ? alone : crossed;
  const described = terms.map((term) => columns[term.column].describe(term));
  if (described.length === 0) return { type: "all" };
  return described.length === 1 ? described[0] : { type: "and", terms: described };
}

/** Members among `rows`, as places in them. */
function placesOf(members: Uint8Array, rows: Int32Array): Int32Array {
  const places: number[] = [];
  rows.forEach((row, place) => {
    if (members[row] === 1) places.push(place);
  });
  return Int32Array.from(places);
}
