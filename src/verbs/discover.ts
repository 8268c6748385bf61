/**
 * Discover: which groups are the predicted curves wrong for? Some rows are searched and others confirm: the halves of a division by
 * seed, with equally many events, or, where the caller says which, rows that the model has not seen confirm and others are searched.
 * On the searched rows the worst groups are found, one after the other (stats/search/find-worst.ts). On the confirming rows, which no choice
 * has seen, each of the few is tested for the departure that the searched rows showed, in the same direction (one df, one side), and
 * the p-values are adjusted by Holm with weights that fall along the list: a model that is right for everybody has any group
 * confirmed with probability at most `level`. The rows that confirm must be new to the model; those searched need not be
 * (docs/decisions/010-discover.md).
 */
import { InputError } from "../core/errors.ts";
import { type CellColumn, cutColumn } from "../data/groups/candidate-groups.ts";
import { formatGroup, type GroupExpression } from "../data/groups/group-expression.ts";
import { evaluateGroup } from "../data/groups/group-members.ts";
import type { BinnedOutcomes } from "../data/outcomes/outcomes.ts";
import { type People, pickPeople } from "../data/outcomes/people.ts";
import {
  type BinnedOutcomesInput,
  type CurvesInput,
  toBinnedOutcomes,
  toCurves,
} from "../data/plain-input.ts";
import { findColumn, type Table } from "../data/table.ts";
import { equalEventBlocks } from "../objectives/time-blocks.ts";
import {
  type BinBlock,
  describeExcess,
  type ExcessEvents,
  estimateDirection,
  sumTotals,
  tallyBlocks,
  testExcess,
  testReplication,
} from "../stats/search/excess-events.ts";
import { findWorst } from "../stats/search/find-worst.ts";
import type { FoundTerm, SearchColumns } from "../stats/search/search-groups.ts";
import { allowForLearning, designEffect, divideRows, keepApart } from "./discover-rows.ts";
import { refuseTooManyCrosses } from "./discover-work.ts";

/** Curves, outcomes and the table whose columns are searched. */
export interface DiscoverInput {
  /** Predicted survival of each person at the end of every bin. */
  readonly curves: CurvesInput;
  /** In which bin each of them had the event or was censored. */
  readonly outcomes: BinnedOutcomesInput;
  /** Who the rows are: the columns that groups are made of. */
  readonly table: Table;
  /** Rows that confirm, none of which the model has seen; the others are searched. Without: halves by seed. */
  readonly confirmRows?: ArrayLike<number>;
  /** How many rows the curves were learnt from, if departures that so few rows explain are not to be confirmed. */
  readonly trainingRows?: number;
  /** Whose rows are whose, where people have several: halves are of people, and the test allows for what their rows share. */
  readonly people?: People;
}

/** How far to search, and with which level and seed. */
export interface DiscoverOptions {
  /** Columns of the table that may form groups (all). */
  readonly columns?: readonly string[];
  /** Seed of the two halves; 1 unless given. */
  readonly seed?: number;
  /** Most groups to find and test (8); the level is shared out over so many places, whether or not they are filled. */
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

/** Events of confirming rows, and whether they show again what the searched rows showed. */
export interface ReplicatedExcess extends ExcessEvents {
  /** One-sided p of the departure of the searched rows, in level and over time (excess-events.ts). */
  readonly replicationP: number;
}

export interface DiscoveredGroup {
  /** As `--group` takes it. */
  readonly expression: string;
  /** −log p of the searched rows when it was found, less the log number of groups like it (search-groups.ts): 0 is what chance gives. */
  readonly score: number;
  /** On the rows that were searched: flattered by the search. */
  readonly search: ExcessEvents;
  /** On the other rows. */
  readonly confirm: ReplicatedExcess;
  /** Its share of the level, by its place in the search; `top` shares sum to 1. */
  readonly weight: number;
  /** Of confirm.replicationP, over all groups listed (Holm, by weight). */
  readonly adjustedP: number;
  readonly confirmed: boolean;
  /** Of a confirmed group: its confirming rows that are in no confirmed group before it in the list; null for the others. */
  readonly beyond: ReplicatedExcess | null;
  /** Confirmed, but the groups before it account for it: beyond them it does not replicate (p above the level). */
  readonly explained: boolean;
  /** What the confirming rows show, in words. */
  readonly direction: string;
}

/** What a search found, and which of it the other half of the rows confirmed. */
export interface Discovery {
  readonly rows: { readonly search: number; readonly confirm: number };
  /** Where the rows are told apart by person. */
  readonly people?: { readonly search: number; readonly confirm: number };
  /** How much more the confirming rows' events vary than those of independent rows; p-values and intervals allow for it. */
  readonly designEffect?: number;
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

const DEFAULT_TOP = 8;
const DEFAULT_CROSS = 2;
const MAX_CROSS = 3;
const DEFAULT_LEVEL = 0.05;
/** The automatic groups' (group-selection.ts). */
const DEFAULT_MIN_ROWS = 100;
/** The least that can be audited (sanity.ts). */
const DEFAULT_MIN_EVENTS = 10;
/** Blocks of time: enough to see early, late and a change of sign; each costs a degree of freedom. */
const BLOCKS = 4;
/** Ranges of an ordered column by itself (fortieths: a tail of 12 % is not to be missed for one of 10 or 15), … */
const CELLS_ALONE = 40;
/** … and in crosses (tenths: 54 runs, 2916 crosses of two such columns). */
const CELLS_CROSSED = 10;
/** Searches half of the rows for groups whose curves are off, and tests the worst on the other half. */
export function discover(input: DiscoverInput, options: DiscoverOptions = {}): Discovery {
  const { table } = input;
  const curves = toCurves(input.curves);
  const outcomes = toBinnedOutcomes(input.outcomes);
  const { seed = 1, top = DEFAULT_TOP, maxCross = DEFAULT_CROSS, level = DEFAULT_LEVEL } = options;
  const { minRows = DEFAULT_MIN_ROWS, minEvents = DEFAULT_MIN_EVENTS } = options;
  requireOption("top", top, Number.isInteger(top) && top >= 1);
  requireOption("maxCross", maxCross, Number.isInteger(maxCross) && maxCross >= 1 && maxCross <= MAX_CROSS);
  requireOption("minRows", minRows, minRows >= 1);
  requireOption("minEvents", minEvents, minEvents > 0);
  requireOption("level", level, level > 0 && level < 1);
  const { trainingRows = 1 } = input;
  requireOption("trainingRows", trainingRows, trainingRows >= 1);
  if (table.rows !== curves.N) {
    throw new InputError(`the table has ${table.rows} rows and the curves ${curves.N}`, {
      code: "rows.mismatch",
    });
  }
  const halves =
    input.confirmRows === undefined
      ? divideRows(outcomes, seed, input.people)
      : keepApart(input.confirmRows, curves.N, input.people);
  const searched = pickBins(outcomes, halves.search);
  const blocks = equalEventBlocks(searched, BLOCKS);
  const B = blocks.length;
  const totals = {
    search: tallyBlocks(curves, outcomes, blocks, halves.search),
    confirm: tallyBlocks(curves, outcomes, blocks, halves.confirm),
  };
  const confirming = input.people && pickPeople(input.people, halves.confirm);
  const shared = designEffect(totals.confirm, confirming);
  const dispersion = shared * allowForLearning(halves.confirm.length, input.trainingRows);
  const columns = cutColumns(table, options.columns, halves.search, maxCross);
  const searchShare = halves.search.length / curves.N;
  const { found, candidates } = findWorst(totals.search, columns.searched, {
    top,
    maxCross,
    minRows: minRows * searchShare,
    minEvents: minEvents * searchShare,
  });
  const tested = found.map(({ terms, score }) => {
    const expression = formatGroup(describeTerms(terms, columns.cut));
    // Who is tested is who the printed expression means.
    const members = evaluateGroup(expression, table);
    const places = placesOf(members, halves.confirm);
    const own = placesOf(members, halves.search);
    const direction = estimateDirection(sumTotals(totals.search, own), B);
    const replicate = (rows: Int32Array): ReplicatedExcess => ({
      ...testExcess(totals.confirm, blocks, rows, { dispersion: shared }),
      replicationP: testReplication(sumTotals(totals.confirm, rows), B, direction, dispersion),
    });
    const search = testExcess(totals.search, blocks, own);
    return { expression, score, places, replicate, search, confirm: replicate(places) };
  });
  const weights = weighByPlace(tested.length, top);
  const adjusted = holmWeighted(
    tested.map(({ confirm }) => confirm.replicationP),
    weights,
  );
  const ordered = tested
    .map((group, k) => ({
      ...group,
      weight: weights[k],
      adjustedP: adjusted[k],
      confirmed: adjusted[k] <= level,
    }))
    .sort((a, b) => a.adjustedP - b.adjustedP || a.confirm.replicationP - b.confirm.replicationP);
  const taken = new Uint8Array(halves.confirm.length);
  const groups = ordered.map(({ places, replicate, ...group }): DiscoveredGroup => {
    const direction = describeExcess(group.confirm);
    if (!group.confirmed) return { ...group, beyond: null, explained: false, direction };
    const beyond = replicate(places.filter((place) => taken[place] === 0));
    for (const place of places) taken[place] = 1;
    return { ...group, beyond, explained: beyond.replicationP > level, direction };
  });
  return {
    rows: { search: halves.search.length, confirm: halves.confirm.length },
    ...(input.people === undefined || confirming === undefined
      ? {}
      : {
          people: { search: input.people.count - confirming.count, confirm: confirming.count },
          designEffect: shared,
        }),
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

/** Of `top` places the k-th has 1/k of the first one's share of the level; what the list leaves empty nobody gets. */
function weighByPlace(count: number, top: number): number[] {
  const sum = Array.from({ length: top }, (_, k) => 1 / (k + 1)).reduce((total, one) => total + one, 0);
  return Array.from({ length: count }, (_, k) => 1 / (k + 1) / sum);
}

/** Holm's (1979) p-values, adjusted, with weights that sum to 1 at most: by increasing p/w, p · (1 − Σ of the weights before)/w. */
export function holmWeighted(p: readonly number[], weights: readonly number[]): number[] {
  const order = p.map((_, k) => k).sort((a, b) => p[a] / weights[a] - p[b] / weights[b]);
  const adjusted = new Array<number>(p.length).fill(1);
  let left = 1;
  let largest = 0;
  for (const k of order) {
    largest = Math.max(largest, Math.min(1, (p[k] * left) / weights[k]));
    adjusted[k] = largest;
    left -= weights[k];
  }
  return adjusted;
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
  maxCross: number,
): { readonly cut: CutColumns; readonly searched: SearchColumns } {
  const columns = names?.map((name) => findColumn(table, name)) ?? table.columns;
  refuseTooManyCrosses(
    columns.map(() => 1),
    rows.length,
    maxCross,
  );
  const cut = columns.flatMap((column) => {
    const alone = cutColumn(column, { cells: CELLS_ALONE, rows });
    const crossed = cutColumn(column, { cells: CELLS_CROSSED, rows });
    return alone && crossed ? [{ alone, crossed }] : [];
  });
  const alone = cut.map((one) => one.alone);
  const crossed = cut.map((one) => one.crossed);
  refuseTooManyCrosses(
    crossed.map(({ runs }) => runs.length),
    rows.length,
    maxCross,
  );
  const narrow = ({ codes, cells, runs, describe }: CellColumn) => ({
    cells,
    runs,
    bounds: Uint8Array.from(runs, (run) => (describe(run).type === "range" ? 2 : 1)),
    codes: Int32Array.from(rows, (row) => codes[row]),
  });
  return {
    cut: { alone, crossed },
    searched: { alone: alone.map(narrow), crossed: crossed.map(narrow) },
  };
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
