/**
 * Finds the worst groups one after the other. All candidates are measured once (search-groups.ts) and the best of each
 * kind are kept. Before the next is chosen, the expected events of those found are set to the observed in every time
 * block, so that the next has to be wrong in its own way and is not a neighbour of the first. Among groups of the same
 * columns that are nearly as bad, the simplest and then the largest is taken. Finding a group is not a test: that needs
 * rows that were not searched (src/verbs/discover/discover.ts).
 */
import { log } from "../../core/elementary.ts";
import { type BlockTotals, sumTotals } from "./excess-events.ts";
import {
  type FoundGroup,
  type FoundTerm,
  insertByScore,
  isMember,
  measureAgain,
  type SearchColumns,
  type SearchOptions,
  searchGroups,
} from "./search-groups.ts";

interface FindOptions extends Omit<SearchOptions, "keep" | "minScore"> {
  /** Maximum number of groups to find. */
  readonly top: number;
}

/** A group that was found, with who is in it among the searched rows. */
interface ChosenGroup extends Omit<FoundGroup, "charge"> {
  readonly members: Uint8Array; // [N], 1 for members
}

export interface WorstGroups {
  /** In the order they were found. */
  readonly found: readonly ChosenGroup[];
  /** How many groups were measured to find the first. */
  readonly candidates: number;
}

/** Two groups that share more than this of their rows are one finding. */
const MAX_JACCARD = 0.75;
/** A group is not worth a test if chance alone gives more than this many of its kind that look as bad. */
const MAX_BY_CHANCE = 20;
/** Nor is a group worth a test if it hardly shows even in the searched rows. */
const MAX_SEARCH_P = 0.05;
/** Candidates kept for each set of columns: once the best has been found, another of them may be next. */
const KEEP = 8;
/** A simpler or larger group of the same columns with nearly the best's score is taken in its place, … */
const NEARLY = 1;
/**
 * … if it holds this share of the best's rows: the extreme of many cuts is mostly luck, and large groups are easier to
 * confirm.
 */
const HOLDS = 0.9;
/**
 * The score that a group may gain once another that masked it has been found: groups this far below the minimum are
 * kept.
 */
const MASKED = 2;
/**
 * Events added on both sides of O/E when a group is taken as found, so that a block with no events does not become
 * certain.
 */
const PRIOR_EVENTS = 0.5;

/**
 * Finds the worst groups one after the other; kept groups are remeasured when they come up, since most show less by
 * then.
 */
export function findWorst(totals: BlockTotals, columns: SearchColumns, options: FindOptions): WorstGroups {
  const everyRow = Int32Array.from({ length: totals.N }, (_, row) => row);
  const minScore = -log(MAX_BY_CHANCE);
  const least = minScore - MASKED;
  const { best, candidates } = searchGroups(totals, columns, { ...options, keep: KEEP, minScore: least });
  const found: ChosenGroup[] = [];
  /** The number of finds after which each was last measured. */
  const measuredAt = new Map<FoundGroup, number>();
  const queue = [...best];
  let left = totals;
  while (found.length < options.top && queue.length > 0) {
    const [group] = queue.splice(0, 1);
    if ((measuredAt.get(group) ?? 0) < found.length) {
      const again = measureAgain(group, left, columns);
      measuredAt.set(again, found.length);
      insertByScore(queue, again);
      continue;
    }
    if (group.score < minScore || -group.score - group.charge > log(MAX_SEARCH_P)) continue;
    const chosen = widen(group);
    if (found.some(({ members }) => jaccard(members, chosen.members) > MAX_JACCARD)) continue;
    found.push(chosen);
    left = takeAsFound(
      left,
      everyRow.filter((row) => chosen.members[row] === 1),
    );
  }
  return { found, candidates };

  /**
   * The simplest, then the largest group of the same columns that is nearly as bad and holds nearly all of this one.
   */
  function widen(worst: FoundGroup): ChosenGroup {
    const own = membersOf(worst);
    const size = countMembers(own);
    let chosen = { ...worst, members: own, n: size };
    for (const { terms, charge, score } of best) {
      if (charge > chosen.charge || !sameColumns(terms, worst.terms)) continue;
      const again = measureAgain({ terms, charge, score }, left, columns);
      if (again.score < worst.score - NEARLY) continue;
      const members = membersOf(again);
      const n = countMembers(members);
      const isBetter = charge < chosen.charge || n > chosen.n;
      if (isBetter && countMembers(members, own) >= HOLDS * size) chosen = { ...again, members, n };
    }
    return { terms: chosen.terms, members: chosen.members, score: worst.score };
  }

  function membersOf({ terms }: FoundGroup): Uint8Array {
    return Uint8Array.from(everyRow, (row) => (isMember(row, terms, columns) ? 1 : 0));
  }
}

function sameColumns(a: readonly FoundTerm[], b: readonly FoundTerm[]): boolean {
  return a.length === b.length && a.every(({ column }, k) => column === b[k].column);
}

/** Counts the members of `these`, or those that are also in `those`. */
function countMembers(these: Uint8Array, those: Uint8Array = these): number {
  return these.reduce((sum, one, row) => sum + (one & those[row]), 0);
}

function jaccard(a: Uint8Array, b: Uint8Array): number {
  let [both, either] = [0, 0];
  for (let row = 0; row < a.length; row++) {
    both += a[row] & b[row];
    either += a[row] | b[row];
  }
  return either === 0 ? 0 : both / either;
}

/** Sets the rows' expected events to those observed among them, block by block. */
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
