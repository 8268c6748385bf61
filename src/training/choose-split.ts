/**
 * The split of a run: the one that was given, or one drawn by seed; by person where the run names the column of ids, whose values
 * are then never a feature. Whoever opens the model on the same table draws the same split again (redrawSplit), since the model
 * keeps the seed and how many rows and people each set has.
 */
import { InputError } from "../core/errors.ts";
import { type People, type PersonColumn, pickPeople, readPeople } from "../data/outcomes/people.ts";
import { refuseTornPeople, type Split, splitRows } from "../data/outcomes/split.ts";
import { findColumn, type Table } from "../data/table.ts";
import type { Model } from "./model.ts";

/** What a request says about rows, people and sets. */
export interface SplitRequest extends PersonColumn {
  readonly time: string;
  readonly event: string;
  readonly features?: readonly string[];
  readonly drop?: readonly string[];
  readonly split?: Split;
  readonly fractions?: readonly [number, number, number];
  readonly seed?: number;
}

export interface ChosenSplit {
  readonly split: Split;
  /** Of every row of the table; null where each row is a person. */
  readonly people: People | null;
}

/** How many of a set there are. */
export interface SetSizes {
  readonly train: number;
  readonly valid: number;
  readonly test: number;
}

export function chooseSplit(table: Table, request: SplitRequest): ChosenSplit {
  const { id, seed = 1, fractions, split: given } = request;
  const people = id === undefined ? null : readPeople(table, id);
  const split =
    given ??
    splitRows(table.rows, {
      seed,
      ...(fractions === undefined ? {} : { fractions }),
      ...(people === null ? {} : { people }),
    });
  if (people !== null && id !== undefined) refuseTornPeople(split, people, { table, id });
  return { split, people };
}

/** The request with the column of ids among those that are not learnt from. */
export function dropId<Request extends SplitRequest>(table: Table, request: Request): Request {
  const { id, time, event, features, drop = [] } = request;
  if (id === undefined) return request;
  findColumn(table, id);
  const role = id === time || id === event ? "the outcome" : features?.includes(id) ? "a feature" : null;
  if (role !== null) {
    throw new InputError(`the column of ids cannot be ${role}: "${id}"`, {
      code: "id.role",
      where: table.name,
      hint: "an id says whose row it is and nothing about the person",
    });
  }
  return { ...request, drop: [...drop, id] };
}

export function countSets(split: Split): SetSizes {
  return { train: split.train.length, valid: split.valid.length, test: split.test.length };
}

export function countPeople(people: People, split: Split): SetSizes {
  const count = (rows: Int32Array) => pickPeople(people, rows).count;
  return { train: count(split.train), valid: count(split.valid), test: count(split.test) };
}

/**
 * The split by seed with the recorded sizes, null where the table does not have so many rows or people. Whether the model was trained
 * with it is for the caller to find out: the split may have come from a file.
 */
export function redrawSplit(
  { columns, training }: Pick<Model, "columns" | "training">,
  table: Table,
): Split | null {
  const { seed, rows, people: sizes = rows } = training;
  const { id } = columns;
  const byPerson = training.people !== undefined && id !== undefined;
  if (byPerson && !table.columns.some(({ name }) => name === id)) return null;
  const people = byPerson ? readPeople(table, id) : null;
  const N = people?.count ?? table.rows;
  if (sizes.train + sizes.valid + sizes.test !== N) return null;
  const split = splitRows(table.rows, {
    seed,
    fractions: [sizes.train / N, sizes.valid / N, sizes.test / N],
    ...(people === null ? {} : { people }),
  });
  const drawn = countSets(split);
  const isSame = drawn.train === rows.train && drawn.valid === rows.valid && drawn.test === rows.test;
  return isSame ? split : null;
}
