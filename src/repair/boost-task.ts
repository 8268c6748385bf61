/**
 * The data a repair of curves is fitted to and judged by, and how it is cut: subsets of rows, and folds with equally
 * many events.
 */
import { InputError } from "../core/errors.ts";
import { present } from "../core/present.ts";
import { createRandom, shuffle } from "../core/random.ts";
import type { Curves } from "../data/curves/curves.ts";
import { type BinnedRightCensored, pickBinned } from "../data/outcomes/outcomes.ts";
import { eventsOfPeople, type People, pickPeople } from "../data/outcomes/people.ts";
import type { BoostGroup } from "./mcboost-input.ts";

/** What is repaired: curves, the outcomes of their rows, and the groups. */
export interface BoostTask {
  /** Predicted survival of each person at the end of every bin. */
  readonly curves: Curves; // [N,T]
  /** The bin in which each person had the event or was censored. */
  readonly outcomes: BinnedRightCensored; // [N]
  /** Everyone is a group only if given as one. */
  readonly groups: readonly BoostGroup[];
  /**
   * The person of each row, where people have several: a person's rows go to one fold, and errors are counted by
   * person.
   */
  readonly people?: People;
}

export const DEFAULT_FOLDS = 5;
/** A separate stream of the seed: folds share no draws with a model's split of the same seed. */
const FOLD_STREAM = 0xb005;
/** A fold with fewer rows says nothing. */
const FEWEST_FOLD_ROWS = 10;

/** Selects some rows of everything; members that are not among them leave their groups. */
export function pickTask({ curves, outcomes, groups, people }: BoostTask, rows: Int32Array): BoostTask {
  const { T, survival } = curves;
  const picked = new Float64Array(rows.length * T);
  const place = new Int32Array(curves.N).fill(-1);
  rows.forEach((row, k) => {
    picked.set(survival.subarray(row * T, (row + 1) * T), k * T);
    place[row] = k;
  });
  return {
    curves: { N: rows.length, T, survival: picked },
    outcomes: pickBinned(outcomes, rows),
    groups: groups.map((group) => ({
      ...group,
      rows: Int32Array.from(group.rows, (row) => place[row]).filter((k) => k >= 0),
    })),
    ...present({ people: people && pickPeople(people, rows) }),
  };
}

/** One fold, and all rows outside it. */
export interface Fold {
  readonly inside: Int32Array;
  readonly outside: Int32Array;
}

/** How rows are cut into folds. */
export interface FoldOptions {
  readonly folds: number;
  readonly seed: number;
  /** Selects another cut with the same seed. */
  readonly repeat?: number;
  readonly people?: People;
}

/** Deals events equally to the folds, as far as possible; with people, those with an event in any of their rows. */
export function cutFolds(
  { event }: BinnedRightCensored,
  { folds, seed, repeat = 0, people }: FoldOptions,
): Fold[] {
  if (!(Number.isInteger(folds) && folds >= 2)) {
    throw new InputError(`the number of folds is not a whole number from 2 up: ${folds}`, {
      code: "option.invalid",
    });
  }
  const had = people === undefined ? event : eventsOfPeople(people, event);
  const N = had.length;
  if (N < folds * FEWEST_FOLD_ROWS) {
    const unit = people === undefined ? "rows" : "people";
    throw new InputError(`too few ${unit} to fit a boost on: ${N}`, {
      code: "rows.few",
      hint: `give at least ${folds * FEWEST_FOLD_ROWS}; groups worth repairing need hundreds`,
    });
  }
  const order = Int32Array.from(had, (_, unit) => unit);
  shuffle(order, createRandom(seed, FOLD_STREAM + repeat));
  const foldOf = new Uint8Array(N);
  let dealt = 0;
  for (const value of [1, 0])
    for (const unit of order) if (had[unit] === value) foldOf[unit] = dealt++ % folds;
  const everyone = Int32Array.from(event, (_, row) => row);
  const foldOfRow = (row: number) => foldOf[people?.of[row] ?? row];
  return Array.from({ length: folds }, (_, fold) => ({
    inside: everyone.filter((row) => foldOfRow(row) === fold),
    outside: everyone.filter((row) => foldOfRow(row) !== fold),
  }));
}
