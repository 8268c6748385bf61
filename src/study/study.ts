/**
 * A study: one table and one question about it, prepared once. It holds the outcome as read, the findings of the
 * checks, whose rows are whose, which rows train and which judge, who is in which group, how columns become numbers and
 * how time is cut. All of this is computed here and nowhere else, and every verb takes it from here. A study of a model
 * (verbs/model-study.ts) has the model's own groups, encoder and grid. Nothing in it is fitted to rows outside
 * `fitRows`.
 */
import type { Finding } from "../data/checks/findings.ts";
import { type EncodedBlock, encodeBlocks } from "../data/encode/encode.ts";
import type { Encoder } from "../data/encode/encoder.ts";
import type { Group } from "../data/groups/groups.ts";
import { type BinnedOutcomes, type Outcomes, pickOutcomes } from "../data/outcomes/outcomes.ts";
import { type People, type PersonColumn, pickPeople } from "../data/outcomes/people.ts";
import type { OutcomeColumns } from "../data/outcomes/read-outcomes.ts";
import type { Split } from "../data/outcomes/split.ts";
import { binOutcomes, type TimeGrid } from "../data/outcomes/time-grid.ts";
import type { Table } from "../data/table.ts";
import { placesAmong, type ResolveMembers } from "./members.ts";

/** The columns that hold the outcome and, where known, whose row it is. */
export type StudyColumns = OutcomeColumns & PersonColumn;

/** A table and what is known of it before the rows are divided. */
export interface Subject {
  readonly table: Table;
  /** SHA-256 of the file it was read from; null where there is none. */
  readonly sha256: string | null;
  readonly columns: StudyColumns;
  /** For every row of the table. */
  readonly outcomes: Outcomes;
  /** The names of causes 1, 2, …; null where there is one kind of event. */
  readonly causes: readonly string[] | null;
  /** How the event column was read, in words. */
  readonly eventRule: string;
  /** For every row; null where each row is a person. */
  readonly people: People | null;
  /** What anyone who uses the outcome should hear; every verb passes it on. */
  readonly told: readonly Finding[];
  /** What the checks found in all columns of the table; the search runs once, on the first call. */
  readonly findings: () => readonly Finding[];
  /** Who is in which group; each expression is evaluated once. */
  readonly membersOf: ResolveMembers;
}

/** How columns become the model's inputs. */
export interface Design {
  /** Groups whose membership is an input; each is a column of `widened`. */
  readonly inputGroups: readonly Group[];
  /** The table with those columns added. */
  readonly widened: Table;
  readonly encoder: Encoder;
}

/** A group with its rows in the table; it has no expression where it was made from a column's values. */
export interface StudyGroup {
  readonly name: string;
  readonly expression?: string;
  readonly rows: Int32Array;
}

/** A subject with its rows divided and with everything that is fitted before a model. */
export interface Study extends Subject, Design {
  readonly split: Split;
  /** The rows that groups, encoder and grid were fitted to. */
  readonly fitRows: Int32Array;
  readonly groups: readonly StudyGroup[];
  readonly grid: TimeGrid;
}

/** Some rows of a study, in their order. */
export interface StudyRows {
  readonly rows: Int32Array;
  readonly outcomes: Outcomes; // [N]
  readonly binned: BinnedOutcomes; // [N]
  /** Whose rows these are, where that is known. */
  readonly people?: People; // [N]
}

/** Outcomes and people of some rows of a study. */
export function pickStudyRows({ outcomes, grid, people }: Study, rows: Int32Array): StudyRows {
  const own = pickOutcomes(outcomes, rows);
  return { rows, outcomes: own, binned: binOutcomes(own, grid), ...pickStudyPeople(people, rows) };
}

/** As an optional field, absent where each row is a person. */
export function pickStudyPeople(
  people: People | null,
  rows: ArrayLike<number>,
): { readonly people?: People } {
  return people === null ? {} : { people: pickPeople(people, rows) };
}

/** The study's groups, with their members given as positions among some rows. */
export function pickStudyGroups({ groups }: Pick<Study, "groups">, rows: Int32Array): StudyGroup[] {
  return placesAmong(groups, rows);
}

/** Rows encoded at a time: a block stays small beside the table itself, however wide the table is. */
const BLOCK_ROWS = 65536;

/** The encoded rows block by block, so that memory never holds a second copy of a long table. */
export function encodeStudyRows({ widened, encoder }: Design, rows: Int32Array): Iterable<EncodedBlock> {
  return encodeBlocks(encoder, widened, rows, BLOCK_ROWS);
}
