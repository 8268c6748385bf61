/**
 * The discrete likelihood of rows and its gradient, by the operations of objectives/likelihood.ts in their order. A row
 * leaves four numbers for the host, which takes the logarithms and adds the rows up: the loss up to its own bin but for
 * log(1+Q), Q there, and for the tail term the sum of positive logits and Q at the last bin. Q ← Q + u(1+Q) waits for
 * itself from bin to bin, so four rows go together: one that ends before the others goes on with u = 0, which leaves Q
 * as it is.
 */
import { JOB_NEXT_SLOT, JOB_SCRATCH, JOB_SCRATCH_BYTES, JOB_SLOTS } from "./job.ts";
import { ROW_BIN, ROW_D_LOGITS, ROW_EVENT, ROW_LOGITS, ROW_N, ROW_ROWS, ROW_SHARE, ROW_T } from "./row-job.ts";
import { ROW_TABLE, ROW_TAIL, ROW_VALUES } from "./row-job.ts";
import { firstOf, reportBeyond } from "./curves.ts";
import { areWithin, fillExponentials, loadPair, storePair } from "./exponential.ts";
import { takeSlot, word } from "./simd.ts";

/** Rows that go together, and the bytes of what they leave. */
const ROWS: usize = 4;
const VALUE_BYTES: usize = 32;

/** u of a row's bins, then their max(z, 0); lanes may write one bin too many. */
@inline
function binBytes(T: usize): usize {
  return (T + 2) << 3;
}

/** Of one thread: the bins of the rows that go together, and where their sums end. */
export function likelihoodScratchBytes(T: usize): usize {
  return ROWS * ((binBytes(T) << 1) + 16);
}

@inline
function rowOf(job: usize, n: usize): usize {
  return load<u32>(word(job, ROW_ROWS) + (n << 2)) << 2;
}

/** (z ≥ 0 ? 1 : u)/(1 + u). */
@inline
function hazardOf(z: v128, u: v128): v128 {
  const one = f64x2.splat(1);
  return f64x2.div(v128.bitselect(one, u, f64x2.ge(z, f64x2.splat(0))), f64x2.add(one, u));
}

/** max(z, 0) of the first `count` bins, and share · h in dLogits. */
function openBins(logits: usize, count: usize, dLogits: usize, u: usize, positive: usize, share: v128): void {
  const zero = f64x2.splat(0);
  const end = logits + (count << 2);
  for (; logits < end; logits += 8) {
    const isLast = logits + 8 > end;
    const z = loadPair(logits, isLast);
    v128.store(positive, f64x2.pmax(zero, z));
    storePair(dLogits, f64x2.mul(share, hazardOf(z, v128.load(u))), isLast);
    dLogits += 8;
    u += 16;
    positive += 16;
  }
}

/** Zeros in float64 or in pairs of float32, one number at a time: a row has few. */
@inline
function clear(from: usize, to: usize): void {
  for (; from + 8 <= to; from += 8) store<u64>(from, 0);
  if (from < to) store<u32>(from, 0);
}

/** Sum of max(z, 0), and Q, of the bins in bytes from … to, carried on from what is at `ends`. */
function carryOn(u: usize, positive: usize, from: usize, to: usize, ends: usize): void {
  let sum = load<f64>(ends);
  let Q = load<f64>(ends, 8);
  for (let l = from; l < to; l += 8) {
    sum += load<f64>(positive + l);
    Q += load<f64>(u + l) * (1 + Q);
  }
  store<f64>(ends, sum);
  store<f64>(ends, Q, 8);
}

/** The same for four rows, `stride` bytes apart, from their first bin. */
function carryFour(u0: usize, stride: usize, to: usize, ends: usize): void {
  const u1 = u0 + stride;
  const u2 = u1 + stride;
  const u3 = u2 + stride;
  const positive = stride >> 1;
  let s0: f64 = 0;
  let s1: f64 = 0;
  let s2: f64 = 0;
  let s3: f64 = 0;
  let Q0: f64 = 0;
  let Q1: f64 = 0;
  let Q2: f64 = 0;
  let Q3: f64 = 0;
  for (let l: usize = 0; l < to; l += 8) {
    s0 += load<f64>(u0 + positive + l);
    s1 += load<f64>(u1 + positive + l);
    s2 += load<f64>(u2 + positive + l);
    s3 += load<f64>(u3 + positive + l);
    Q0 += load<f64>(u0 + l) * (1 + Q0);
    Q1 += load<f64>(u1 + l) * (1 + Q1);
    Q2 += load<f64>(u2 + l) * (1 + Q2);
    Q3 += load<f64>(u3 + l) * (1 + Q3);
  }
  store<f64>(ends, s0);
  store<f64>(ends, Q0, 8);
  store<f64>(ends, s1, 16);
  store<f64>(ends, Q1, 24);
  store<f64>(ends, s2, 32);
  store<f64>(ends, Q2, 40);
  store<f64>(ends, s3, 48);
  store<f64>(ends, Q3, 56);
}

/**
 * Row n: its bins, its slopes without the tail term, and zeros up to byte `longest` of its bins. What the row leaves is
 * complete here where it has a tail term; otherwise only −z of its own bin is, where that is an event.
 */
function openRow(job: usize, n: usize, u: usize, longest: usize): void {
  const T = word(job, ROW_T);
  const row = rowOf(job, n);
  const own = load<u32>(word(job, ROW_BIN) + row);
  const isEvent = load<u32>(word(job, ROW_EVENT) + row) === 1;
  const withTail = isEvent && word(job, ROW_TAIL) === 1;
  const logits = word(job, ROW_LOGITS) + ((n * T) << 2);
  const dLogits = word(job, ROW_D_LOGITS) + ((n * T) << 2);
  const share = load<f64>(job + (ROW_SHARE << 2));
  const positive = u + binBytes(T);
  const through = withTail ? T : own;
  if (!areWithin(logits, through)) reportBeyond(job);
  else fillExponentials(logits, through, u, word(job, ROW_TABLE));
  openBins(logits, through, dLogits, u, positive, f64x2.splat(share));
  const last = (own - 1) << 2;
  const z = <f64>load<f32>(logits + last);
  const values = word(job, ROW_VALUES) + n * VALUE_BYTES;
  if (isEvent) {
    const e = load<f64>(u + (last << 1));
    store<f32>(dLogits + last, <f32>(share * -((z >= 0 ? e : 1) / (1 + e))));
  }
  clear(dLogits + (own << 2), dLogits + (T << 2));
  if (withTail) {
    store<f64>(values, 0);
    store<f64>(values, 0, 8);
    carryOn(u, positive, 0, last << 1, values);
    const before = load<f64>(values);
    carryOn(u, positive, last << 1, own << 3, values);
    v128.store(values, v128.load(values), 16);
    store<f64>(values, before + max(-z, 0));
    carryOn(u, positive, own << 3, T << 3, values + 16);
    return;
  }
  // −log h of an event has max(−z, 0) where −log(1−h) has max(z, 0).
  store<f64>(values, isEvent ? max(-z, 0) : 0, 16);
  if (isEvent) store<f64>(positive + (last << 1), 0);
  clear(u + (own << 3), u + longest);
  clear(positive + (own << 3), positive + longest);
}

/** Up to four rows. */
function addRows(job: usize, first: usize, last: usize, scratch: usize): void {
  const T = word(job, ROW_T);
  const stride = binBytes(T) << 1;
  const ends = scratch + ROWS * stride;
  let longest: usize = 0;
  for (let n = first; n < last; n++) {
    longest = max(longest, <usize>load<u32>(word(job, ROW_BIN) + rowOf(job, n)) << 3);
  }
  for (let n = first; n < last; n++) openRow(job, n, scratch + (n - first) * stride, longest);
  carryFour(scratch, stride, longest, ends);
  const isTailed = word(job, ROW_TAIL) === 1;
  for (let n = first; n < last; n++) {
    if (isTailed && load<u32>(word(job, ROW_EVENT) + rowOf(job, n)) === 1) continue;
    const end = ends + ((n - first) << 4);
    const values = word(job, ROW_VALUES) + n * VALUE_BYTES;
    store<f64>(values, load<f64>(end) + load<f64>(values, 16));
    store<f64>(values, load<f64>(end, 8), 8);
  }
}

/** Overwrites dLogits. */
export function likelihood(job: usize, thread: i32): void {
  const N = word(job, ROW_N);
  const scratch = word(job, JOB_SCRATCH) + <usize>thread * word(job, JOB_SCRATCH_BYTES);
  const slots = <i32>word(job, JOB_SLOTS);
  const counter = job + (JOB_NEXT_SLOT << 2);
  for (let slot = takeSlot(counter); slot < slots; slot = takeSlot(counter)) {
    const last = firstOf(N, slot + 1, slots);
    for (let n = firstOf(N, slot, slots); n < last; n += ROWS) addRows(job, n, min(n + ROWS, last), scratch);
  }
}

/** dLogits −= share · odds · h for the event rows, whose odds the host has put in the third of their numbers. */
export function likelihoodTail(job: usize, thread: i32): void {
  const N = word(job, ROW_N);
  const T = word(job, ROW_T);
  const table = word(job, ROW_TABLE);
  const share = load<f64>(job + (ROW_SHARE << 2));
  const scratch = word(job, JOB_SCRATCH) + <usize>thread * word(job, JOB_SCRATCH_BYTES);
  const slots = <i32>word(job, JOB_SLOTS);
  const counter = job + (JOB_NEXT_SLOT << 2);
  for (let slot = takeSlot(counter); slot < slots; slot = takeSlot(counter)) {
    const last = firstOf(N, slot + 1, slots);
    for (let n = firstOf(N, slot, slots); n < last; n++) {
      if (load<u32>(word(job, ROW_EVENT) + rowOf(job, n)) !== 1) continue;
      const factor = f64x2.splat(share * load<f64>(word(job, ROW_VALUES) + n * VALUE_BYTES, 16));
      const at = (n * T) << 2;
      const logits = word(job, ROW_LOGITS) + at;
      fillExponentials(logits, T, scratch, table);
      takeOff(logits, T, word(job, ROW_D_LOGITS) + at, factor, scratch);
    }
  }
}

/** dLogits −= factor · h of one row. */
function takeOff(logits: usize, T: usize, dLogits: usize, factor: v128, u: usize): void {
  const end = logits + (T << 2);
  for (; logits < end; logits += 8) {
    const isLast = logits + 8 > end;
    const h = hazardOf(loadPair(logits, isLast), v128.load(u));
    storePair(dLogits, f64x2.sub(loadPair(dLogits, isLast), f64x2.mul(factor, h)), isLast);
    dLogits += 8;
    u += 16;
  }
}
