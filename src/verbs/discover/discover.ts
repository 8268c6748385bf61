/**
 * Discover: for which groups are the predicted curves wrong? Some rows are searched and others confirm. By default
 * these are halves drawn by seed, with equally many events; the caller may instead name confirming rows that the model
 * has not seen, and the others are searched. On the searched rows the worst groups are found, one after the other
 * (stats/search/find-worst.ts). On the confirming rows, which no choice has seen, each of these few groups is tested
 * for the departure that the searched rows showed, in the same direction (one df, one side). The p-values are adjusted
 * by Holm with weights that fall along the list: for a model that is right for everybody, the probability that any
 * group is confirmed is at most `level`. The confirming rows must be new to the model; the searched rows need not be
 * (docs/decisions/010-discover.md).
 */

import { InputError } from "../../core/errors.ts";
import { type CellColumn, cutColumn } from "../../data/groups/candidate-groups.ts";
import { formatGroup, type GroupExpression } from "../../data/groups/group-expression.ts";
import { type BinnedSingleCause, pickBinned } from "../../data/outcomes/outcomes.ts";
import { type People, pickPeople } from "../../data/outcomes/people.ts";
import {
  type BinnedSingleCauseInput,
  type CurvesInput,
  toBinnedSingleCause,
  toCurves,
} from "../../data/plain-input.ts";
import { findColumn, type Table } from "../../data/table.ts";
import { equalEventBlocks } from "../../objectives/time-blocks.ts";
import { type BinBlock, tallyBlocks } from "../../stats/search/excess-events.ts";
import { findWorst } from "../../stats/search/find-worst.ts";
import type { FoundTerm, SearchColumns } from "../../stats/search/search-groups.ts";
import { confirmGroups, type DiscoveredGroup } from "./confirm.ts";
import { allowForLearning, designEffect, divideRows, keepApart } from "./rows.ts";
import { refuseTooManyCrosses } from "./work.ts";

/** Curves, outcomes and the table whose columns are searched. */
export interface DiscoverInput {
  /** Predicted survival of each person at the end of every bin. */
  readonly curves: CurvesInput;
  /** The bin in which each person had the event or was censored. */
  readonly outcomes: BinnedSingleCauseInput;
  /** The table of these rows, whose columns groups are made from. */
  readonly table: Table;
  /** Rows that confirm, none of which the model has seen; the others are searched. Default: halves by seed. */
  readonly confirmRows?: ArrayLike<number>;
  /**
   * How many rows the curves were learnt from; if given, departures that so small a sample explains are not confirmed.
   */
  readonly trainingRows?: number;
  /**
   * Whose rows are whose, where people have several: the halves then divide people, and the test allows for the
   * dependence of their rows.
   */
  readonly people?: People;
}

/** How far to search, and the level and seed. */
export interface DiscoverOptions {
  /** Columns of the table that may form groups (all). */
  readonly columns?: readonly string[];
  /** Seed of the two halves; 1 unless given. */
  readonly seed?: number;
  /** Most groups to find and test (8); the level is shared among that many places, whether or not they are filled. */
  readonly top?: number;
  /** Most columns in one group: 1, 2 (the default) or 3. */
  readonly maxCross?: number;
  /** Fewest rows in a group, over both halves (100). */
  readonly minRows?: number;
  /** Fewest events in a group, observed or expected, over both halves (10). */
  readonly minEvents?: number;
  /** Groups with adjusted p-values up to this are confirmed (0.05). */
  readonly level?: number;
}

/** What a search found, and which of the groups the other rows confirmed. */
export interface Discovery {
  readonly rows: { readonly search: number; readonly confirm: number };
  /** Where rows are identified by person. */
  readonly people?: { readonly search: number; readonly confirm: number };
  /**
   * How much more the confirming rows' events vary than those of independent rows; p-values and intervals allow for it.
   */
  readonly designEffect?: number;
  readonly events: { readonly search: number; readonly confirm: number };
  /** Columns that were searched. */
  readonly columns: readonly string[];
  /** How many groups were measured to find the first one. */
  readonly candidates: number;
  readonly blocks: readonly BinBlock[];
  readonly level: number;
  readonly seed: number;
  /** Sorted by adjusted p-value. */
  readonly groups: readonly DiscoveredGroup[];
}

export type { DiscoveredGroup, ReplicatedExcess } from "./confirm.ts";

const DEFAULT_TOP = 8;
const DEFAULT_CROSS = 2;
const MAX_CROSS = 3;
const DEFAULT_LEVEL = 0.05;
/** As for the automatic groups (group-selection.ts). */
const DEFAULT_MIN_ROWS = 100;
/** The least that can be audited (sanity.ts). */
const DEFAULT_MIN_EVENTS = 10;
/** Blocks of time: enough to see an early or late departure or a change of sign; each costs a degree of freedom. */
const BLOCKS = 4;
/** Ranges of an ordered column by itself (fortieths, so that a tail of 12 % is not missed for one of 10 or 15), … */
const CELLS_ALONE = 40;
/** … and in crosses (tenths: 54 runs, 2916 crosses of two such columns). */
const CELLS_CROSSED = 10;
/** Searches some of the rows for groups whose curves are off, and tests the worst on the others. */
export function discover(input: DiscoverInput, options: DiscoverOptions = {}): Discovery {
  const { table, people } = input;
  const curves = toCurves(input.curves);
  const outcomes = toBinnedSingleCause(input.outcomes, "a search for groups");
  const settings = checkSettings(options, input);
  const { seed, level, top, maxCross } = settings;
  if (table.rows !== curves.N) {
    throw new InputError(`the table has ${table.rows} rows and the curves ${curves.N}`, {
      code: "rows.mismatch",
    });
  }
  const halves =
    input.confirmRows === undefined
      ? divideRows(outcomes, seed, people)
      : keepApart(input.confirmRows, curves.N, people);
  const blocks = equalEventBlocks(pickBinned(outcomes, halves.search), BLOCKS);
  const totals = {
    search: tallyBlocks(curves, outcomes, blocks, halves.search),
    confirm: tallyBlocks(curves, outcomes, blocks, halves.confirm),
  };
  const confirming = people && pickPeople(people, halves.confirm);
  const shared = designEffect(totals.confirm, confirming);
  const columns = cutColumns(table, options.columns, halves.search, maxCross);
  const searchShare = halves.search.length / curves.N;
  const { found, candidates } = findWorst(totals.search, columns.searched, {
    top,
    maxCross,
    minRows: settings.minRows * searchShare,
    minEvents: settings.minEvents * searchShare,
  });
  const expressions = found.map(({ terms, score }) => {
    return { score, expression: formatGroup(describeTerms(terms, columns.cut)) };
  });
  const dispersion = shared * allowForLearning(halves.confirm.length, input.trainingRows);
  const groups = confirmGroups(expressions, {
    table,
    halves,
    totals,
    blocks,
    shared,
    dispersion,
    level,
    top,
  });
  return {
    rows: { search: halves.search.length, confirm: halves.confirm.length },
    ...(people === undefined || confirming === undefined
      ? {}
      : {
          people: { search: people.count - confirming.count, confirm: confirming.count },
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

/** The options with their defaults; throws on impossible values. */
function checkSettings(options: DiscoverOptions, { trainingRows = 1 }: DiscoverInput) {
  const { seed = 1, top = DEFAULT_TOP, maxCross = DEFAULT_CROSS, level = DEFAULT_LEVEL } = options;
  const { minRows = DEFAULT_MIN_ROWS, minEvents = DEFAULT_MIN_EVENTS } = options;
  requireOption("top", top, Number.isInteger(top) && top >= 1);
  requireOption("maxCross", maxCross, Number.isInteger(maxCross) && maxCross >= 1 && maxCross <= MAX_CROSS);
  requireOption("minRows", minRows, minRows >= 1);
  requireOption("minEvents", minEvents, minEvents > 0);
  requireOption("level", level, level > 0 && level < 1);
  requireOption("trainingRows", trainingRows, trainingRows >= 1);
  return { seed, top, maxCross, level, minRows, minEvents };
}

function requireOption(name: string, value: number, valid: boolean): void {
  if (!valid) throw new InputError(`discovery: ${name} cannot be ${value}`, { code: "option.invalid" });
}

function countEvents({ event }: BinnedSingleCause, rows: Int32Array): number {
  return rows.reduce((sum, row) => sum + event[row], 0);
}

interface CutColumns {
  readonly alone: readonly CellColumn[];
  readonly crossed: readonly CellColumn[];
}

/** The columns cut into cells, for all rows and for the searched rows only. */
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
