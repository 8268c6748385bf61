/**
 * The output layer that is solved, and where its parameters are. To the frozen logits of a trained model it adds
 *   wᵀx + Σ_j s_j (l_j + d_jb) + β_m,   b the time block and m the free bin that bin t lies in,
 * with x the dense columns and s_j the shaped ones: memberships of groups, 0 or 1, or a chance of membership. A free
 * offset l_j + d_jb in the constraint's own blocks is the at-risk constraint itself: its score is Σ (y − h) over the
 * group and the block. Parameters: the border [w, l], which every block meets, then for each block [β, d], which meets
 * nothing of other blocks. That is the arrow that arrow.ts factors.
 */
import type { TimeBlock } from "../../objectives/time-blocks.ts";

/** A free bin has at least this many events: fewer and its hazard is noise. */
const FEWEST_BIN_EVENTS = 5;

export interface Layout {
  readonly T: number;
  readonly blocks: readonly TimeBlock[];
  readonly blockOf: Int32Array; // [T], of each bin
  /** The free bin of each bin, counted within its block. */
  readonly binOf: Int32Array; // [T]
  /** How many free bins each block has. */
  readonly binsIn: Int32Array; // [B]
  readonly dense: number;
  readonly shaped: number;
  /** Where each block's parameters begin; the last entry is the number of parameters. */
  readonly at: Int32Array; // [B+1]
}

/** `events` are those of the rows of the solve, per bin 1…T. */
export function createLayout(
  blocks: readonly TimeBlock[],
  events: ArrayLike<number>, // [T]
  { dense, shaped }: { readonly dense: number; readonly shaped: number },
): Layout {
  const T = events.length;
  const blockOf = new Int32Array(T);
  const binOf = new Int32Array(T);
  const binsIn = new Int32Array(blocks.length);
  blocks.forEach(({ first, last }, b) => {
    let inside = 0;
    let place = 0;
    let begin = first - 1;
    for (let t = first - 1; t < last; t++) {
      blockOf[t] = b;
      binOf[t] = place;
      inside += events[t];
      if (inside < FEWEST_BIN_EVENTS) continue;
      place++;
      inside = 0;
      begin = t + 1;
    }
    // What is left over joins the last full bin.
    for (let t = begin; t < last && place > 0; t++) binOf[t] = place - 1;
    binsIn[b] = Math.max(place, 1);
  });
  return withColumns({ T, blocks, blockOf, binOf, binsIn }, { dense, shaped });
}

/** The same free bins with other columns. */
export function withColumns(
  { T, blocks, blockOf, binOf, binsIn }: Omit<Layout, "dense" | "shaped" | "at">,
  { dense, shaped }: { readonly dense: number; readonly shaped: number },
): Layout {
  const at = new Int32Array(blocks.length + 1);
  at[0] = dense + shaped;
  for (let b = 0; b < blocks.length; b++) at[b + 1] = at[b] + binsIn[b] + shaped;
  return { T, blocks, blockOf, binOf, binsIn, dense, shaped, at };
}

/** How many parameters there are. */
export function countTheta({ at }: Layout): number {
  return at[at.length - 1];
}

/** Where the offset of a shaped column in a block is. */
export function offsetAt({ at, binsIn }: Layout, block: number, column: number): number {
  return at[block] + binsIn[block] + column;
}

/** Entries of rows, those of row n at first[n] … first[n+1] − 1. */
export interface RowLists {
  readonly first: Int32Array; // [N+1]
  readonly column: Int32Array;
  readonly value: Float64Array;
}

/** Collects the entries of columns into lists by row; a column is its rows and their values, 1 unless given. */
export function listByRow(
  N: number,
  columns: readonly { readonly rows: ArrayLike<number>; readonly values?: ArrayLike<number> }[],
): RowLists {
  const first = new Int32Array(N + 1);
  for (const { rows } of columns) for (let k = 0; k < rows.length; k++) first[rows[k] + 1]++;
  for (let n = 0; n < N; n++) first[n + 1] += first[n];
  const next = first.slice(0, N);
  const column = new Int32Array(first[N]);
  const value = new Float64Array(first[N]).fill(1);
  columns.forEach(({ rows, values }, j) => {
    for (let k = 0; k < rows.length; k++) {
      const place = next[rows[k]]++;
      column[place] = j;
      if (values !== undefined) value[place] = values[k];
    }
  });
  return { first, column, value };
}

/** The rows of a solve; everything is frozen. */
export interface SolveRows {
  readonly N: number;
  readonly bin: Int32Array; // [N], the last bin at risk
  readonly event: Uint8Array; // [N]
  /** The first bin at risk, where not bin 1 for all; the weight of each row, where not 1. */
  readonly firstBin?: Int32Array; // [N]
  readonly weight?: Float64Array; // [N]
  /** Of one of several causes: 1 where a row ended in an event of another. */
  readonly rival?: Uint8Array; // [N]
  /** Where incidences are held: beside each logit, the chance of no event of other causes given none of this one. */
  readonly beside?: Float64Array;
  /** Logits of the model below, row by row; row n has those from first[n] to first[n+1]. */
  readonly logits: Float32Array | Float64Array;
  readonly first: Float64Array; // [N+1]
  readonly x: Float32Array | Float64Array; // [N,stride], of which the first columns have slopes
  readonly stride: number;
  readonly shaped: RowLists;
}

/** ½ Σ precision·(θ − centre)². */
export interface Prior {
  readonly precision: Float64Array; // [P]
  readonly centre: Float64Array; // [P]
}
