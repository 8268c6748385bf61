/**
 * What kernels over rows share. A row is a person with logits of K curves, whose numbers are packed by loss-layout.ts.
 * Where everybody is at risk from the first bin and counts once, the code does without their entry and weight.
 */

import { sumOverThreads } from "./elementary.ts";

/** Threads of a row: each takes a bin, or as many neighbouring bins as it must. */
export const ROW_THREADS = 128;

/** What rows are like: it is written into the code. */
export interface RowKind {
  /** Competing causes, 1 where there is one kind of event. */
  readonly K: number;
  /** Whether rows may enter late and have weights; rows with several causes always may. */
  readonly counted: boolean;
}

export function kindOfRows({
  K,
  first,
  weight,
}: {
  readonly K: number;
  readonly first?: unknown;
  readonly weight?: unknown;
}): RowKind {
  return { K, counted: K > 1 || first !== undefined || weight !== undefined };
}

/** Tells code for these rows from that for others. */
export function nameKind({ K, counted }: RowKind): string {
  if (K > 1) return `, ${K} causes`;
  return counted ? ", counted" : "";
}

/** The size that says what rows are counted by, and the same in the code. */
export function totalSizes({ counted }: RowKind): readonly "total"[] {
  return counted ? ["total"] : [];
}

export function totalText({ counted }: RowKind): string {
  return counted ? "bitcast<f32>(size.total)" : "f32(size.N)";
}

export const OPEN_ROW = `
  let n = group;
  if (n >= size.N) { return; }
  let row = rows[n];
  let begin = row.x - 1u;
  let own = row.y - 1u;`;

export const READ_WEIGHT = "let weight = bitcast<f32>(row.w);";

/** Bins of a thread. */
export function binsEach(T: number): number {
  return Math.ceil(T / ROW_THREADS);
}

/** Sums over threads up to one's own, or from it on, and everybody's sum. */
export const SCANS = `
var<workgroup> lane: array<f32, ${ROW_THREADS}>;
fn sumUpTo(thread: u32, value: f32) -> f32 {
  var sum = value;
  for (var off = 1u; off < ${ROW_THREADS}u; off *= 2u) {
    lane[thread] = sum;
    workgroupBarrier();
    if (thread >= off) { sum += lane[thread - off]; }
    workgroupBarrier();
  }
  return sum;
}
fn sumFrom(thread: u32, value: f32) -> f32 {
  return sumUpTo(${ROW_THREADS - 1}u - thread, value);
}${sumOverThreads(ROW_THREADS)}`;
