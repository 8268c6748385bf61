/**
 * Hazards and curves of people with K causes, their likelihood, and the way back from slopes of conditional logits, by
 * the operations of objectives/causes/ in their order: the same bits in two lanes. Lanes are neighbouring bins, but for
 * survival, whose product waits for itself from bin to bin: there two causes go together. A person's logits, hazards
 * and slopes are [K,T], one cause after the other. People with a logit beyond the table, and products that the host
 * would fold, are left to the host.
 */
import { JOB_NEXT_SLOT, JOB_SCRATCH, JOB_SCRATCH_BYTES, JOB_SLOTS } from "./job.ts";
import { ROW_BIN, ROW_CAUSES, ROW_CONDITIONAL, ROW_D_LOGITS, ROW_EVENT, ROW_FIRST_BIN } from "./row-job.ts";
import { ROW_HAZARD, ROW_LOGITS, ROW_N, ROW_ROWS, ROW_SHARE, ROW_SURVIVAL, ROW_T } from "./row-job.ts";
import { ROW_TABLE, ROW_VALUES, ROW_WEIGHT } from "./row-job.ts";
import { firstOf, reportBeyond } from "./curves.ts";
import { exchangeExponentials, loadPair, storePair } from "./exponential.ts";
import { takeSlot, word } from "./simd.ts";

const TABLE_END: f64 = 40;
/** FOLD_BELOW of cause-likelihood.ts. */
const FOLD_BELOW: f64 = 1e-100;

@inline
function int(array: usize, index: usize): usize {
  return load<u32>(array + (index << 2));
}

/** Two float64, or the first alone. */
@inline
function loadTwo(from: usize, isLast: bool): v128 {
  return isLast ? v128.load64_zero(from) : v128.load(from);
}

@inline
function storeTwo(to: usize, values: v128, isLast: bool): void {
  if (isLast) v128.store64_lane(to, values, 0);
  else v128.store(to, values);
}

/**
 * One person: leaves max(0, z_k) of each bin in `most`, and what z_k is below it in `below` [K,T]. Returns whether the
 * table holds e^− of all these.
 */
export function openPerson(logits: usize, K: usize, T: usize, most: usize, below: usize): bool {
  const limit = f64x2.splat(TABLE_END);
  const stride = T << 2;
  let held = f64x2.eq(limit, limit);
  for (let l: usize = 0; l < stride; l += 8) {
    const isLast = l + 8 > stride;
    let m = f64x2.splat(0);
    for (let k: usize = 0; k < K; k++) m = f64x2.max(m, loadPair(logits + k * stride + l, isLast));
    v128.store(most + (l << 1), m);
    held = v128.and(held, f64x2.lt(m, limit));
    for (let k: usize = 0; k < K; k++) {
      const a = f64x2.sub(m, loadPair(logits + k * stride + l, isLast));
      held = v128.and(held, f64x2.lt(a, limit));
      storeTwo(below + ((k * stride + l) << 1), a, isLast);
    }
  }
  return i64x2.all_true(held);
}

/** e^−most: 1 wherever no logit is above 0. */
export function fillNone(most: usize, T: usize, table: usize): void {
  let any = f64x2.splat(0);
  const end = most + (T << 3);
  for (let at = most; at < end; at += 16) any = v128.or(any, v128.load(at));
  if (v128.any_true(any)) return exchangeExponentials(most, T, table);
  const one = f64x2.splat(1);
  for (let at = most; at < end; at += 16) v128.store(at, one);
}

/** h_k = e_k/(none + Σ e), in the place of e_k [K,T]; what is left of 1, in the place of `none` where it is kept. */
export function divide(hazard: usize, none: usize, K: usize, T: usize, isKept: bool): void {
  const stride = T << 3;
  for (let l: usize = 0; l < stride; l += 16) {
    const isLast = l + 16 > stride;
    let sum = v128.load(none + l);
    for (let k: usize = 0; k < K; k++) sum = f64x2.add(sum, loadTwo(hazard + k * stride + l, isLast));
    for (let k: usize = 0; k < K; k++) {
      const at = hazard + k * stride + l;
      storeTwo(at, f64x2.div(loadTwo(at, isLast), sum), isLast);
    }
    if (isKept) v128.store(none + l, f64x2.div(v128.load(none + l), sum));
  }
}

/** Π (1 − h) of two causes; one without a second is its own, and is stored once more with the same numbers. */
function multiplyOut(hazard0: usize, hazard1: usize, survival0: usize, survival1: usize, T: usize): void {
  const one = f64x2.splat(1);
  const end = T << 3;
  let left = one;
  for (let l: usize = 0; l < end; l += 8) {
    const h = v128.load64_lane(hazard1 + l, v128.load64_zero(hazard0 + l), 1);
    left = f64x2.mul(left, f64x2.sub(one, h));
    v128.store64_lane(survival0 + l, left, 0);
    v128.store64_lane(survival1 + l, left, 1);
  }
}

export function fillCauseCurves(job: usize, thread: i32): void {
  const N = word(job, ROW_N);
  const K = word(job, ROW_CAUSES);
  const T = word(job, ROW_T);
  const table = word(job, ROW_TABLE);
  const most = word(job, JOB_SCRATCH) + <usize>thread * word(job, JOB_SCRATCH_BYTES);
  const slots = <i32>word(job, JOB_SLOTS);
  const counter = job + (JOB_NEXT_SLOT << 2);
  for (let slot = takeSlot(counter); slot < slots; slot = takeSlot(counter)) {
    const last = firstOf(N, slot + 1, slots);
    for (let n = firstOf(N, slot, slots); n < last; n++) {
      const at = n * K * T;
      const hazard = word(job, ROW_HAZARD) + (at << 3);
      const survival = word(job, ROW_SURVIVAL) + (at << 3);
      if (!openPerson(word(job, ROW_LOGITS) + (at << 2), K, T, most, hazard)) return reportBeyond(job);
      fillNone(most, T, table);
      exchangeExponentials(hazard, K * T, table);
      divide(hazard, most, K, T, false);
      for (let k: usize = 0; k < K; k += 2) {
        const first = (k * T) << 3;
        const second = (min(k + 1, K - 1) * T) << 3;
        multiplyOut(hazard + first, hazard + second, survival + first, survival + second, T);
      }
    }
  }
}

/** The bins before the first one at risk, of this training row. */
@inline
function binsBefore(job: usize, row: usize): usize {
  const firstBin = word(job, ROW_FIRST_BIN);
  return firstBin === 0 ? 0 : int(firstBin, row) - 1;
}

/** Zeros in float32: too few of them for a call. */
@inline
function clear(from: usize, to: usize): void {
  for (; from + 16 <= to; from += 16) v128.store(from, f32x4.splat(0));
  for (; from < to; from += 4) store<f32>(from, 0);
}

/** share · h of the bins from … to, in which nothing happens to the person, and Π (1 − Σ h) of them. */
function surviveBins(hazard: usize, dLogits: usize, K: usize, T: usize, from: usize, to: usize, share: v128): f64 {
  const one = f64x2.splat(1);
  let left: f64 = 1;
  let lowest: f64 = 1;
  for (let t = from; t < to; t += 2) {
    const isLast = t + 1 === to;
    let any = f64x2.splat(0);
    for (let k: usize = 0; k < K; k++) {
      const h = loadTwo(hazard + ((k * T + t) << 3), isLast);
      any = f64x2.add(any, h);
      storePair(dLogits + ((k * T + t) << 2), f64x2.mul(share, h), isLast);
    }
    const factor = f64x2.sub(one, any); // 1 in a lane without a bin
    left *= f64x2.extract_lane(factor, 0);
    lowest = min(lowest, left);
    left *= f64x2.extract_lane(factor, 1);
    lowest = min(lowest, left);
  }
  return lowest < FOLD_BELOW ? 0 : left;
}

/** Leaves the person's slopes, and Π (1 − Σ h) with the hazard of the event that ends it; 0 where that is too small. */
function weighPerson(job: usize, n: usize): f64 {
  const K = word(job, ROW_CAUSES);
  const T = word(job, ROW_T);
  const row = int(word(job, ROW_ROWS), n);
  const begin = binsBefore(job, row);
  const through = int(word(job, ROW_BIN), row);
  const weights = word(job, ROW_WEIGHT);
  const own: f64 = weights === 0 ? 1 : load<f64>(weights + (row << 3));
  const share = own / load<f64>(job + (ROW_SHARE << 2));
  const hazard = word(job, ROW_HAZARD) + ((n * K * T) << 3);
  const dLogits = word(job, ROW_D_LOGITS) + ((n * K * T) << 2);
  if (begin >= through) {
    clear(dLogits, dLogits + ((K * T) << 2));
    return 1;
  }
  for (let k: usize = 0; k < K; k++) {
    const slopes = dLogits + ((k * T) << 2);
    clear(slopes, slopes + (begin << 2));
    clear(slopes + (through << 2), slopes + (T << 2));
  }
  const happened = int(word(job, ROW_EVENT), row);
  const quiet = happened > 0 ? through - 1 : through;
  let left = surviveBins(hazard, dLogits, K, T, begin, quiet, f64x2.splat(share));
  if (happened === 0) return left;
  for (let k: usize = 0; k < K; k++) {
    const at = k * T + quiet;
    const h = load<f64>(hazard + (at << 3));
    const slope = k === happened - 1 ? h - 1 : h;
    // From 0, as the host adds it: there is no −0.
    store<f32>(dLogits + (at << 2), <f32>(0 + share * slope));
    if (k === happened - 1) left *= h;
  }
  return left < FOLD_BELOW ? 0 : left;
}

/** Overwrites dLogits, and leaves one number for each person, whose logarithm the host takes. */
export function causeLikelihood(job: usize, thread: i32): void {
  const N = word(job, ROW_N);
  const values = word(job, ROW_VALUES);
  const slots = <i32>word(job, JOB_SLOTS);
  const counter = job + (JOB_NEXT_SLOT << 2);
  for (let slot = takeSlot(counter); slot < slots; slot = takeSlot(counter)) {
    const last = firstOf(N, slot + 1, slots);
    for (let n = firstOf(N, slot, slots); n < last; n++) {
      const left = weighPerson(job, n);
      if (left === 0) return reportBeyond(job);
      store<f64>(values + (n << 3), left);
    }
  }
}

/** One person's bins from … to; `shares` has room for du_k/(1 − h_k) of a pair of bins. */
function pullPerson(
  hazard: usize,
  dConditional: usize,
  dLogits: usize,
  K: usize,
  T: usize,
  from: usize,
  to: usize,
  shares: usize,
): void {
  const one = f64x2.splat(1);
  const zero = f64x2.splat(0);
  for (let t = from; t < to; t += 2) {
    const isLast = t + 1 === to;
    let pulled = zero;
    for (let k: usize = 0; k < K; k++) {
      const at = (k * T + t) << 3;
      const own = loadTwo(dConditional + at, isLast);
      const share = f64x2.div(own, f64x2.sub(one, loadTwo(hazard + at, isLast)));
      const taken = v128.andnot(share, f64x2.eq(own, zero)); // 0 of 0, even beside a hazard of 1
      v128.store(shares + (k << 4), taken);
      pulled = f64x2.add(pulled, taken);
    }
    for (let j: usize = 0; j < K; j++) {
      const at = (j * T + t) << 3;
      const others = f64x2.sub(pulled, v128.load(shares + (j << 4)));
      const own = loadTwo(dConditional + at, isLast);
      const added = f64x2.sub(own, f64x2.mul(loadTwo(hazard + at, isLast), others));
      const slopes = dLogits + (at >> 1);
      storePair(slopes, f64x2.add(loadPair(slopes, isLast), added), isLast);
    }
  }
}

/** dL/dz from dL/du, added to dLogits, in the bins at risk: slopes are 0 in all others. */
export function backThroughConditional(job: usize, thread: i32): void {
  const N = word(job, ROW_N);
  const K = word(job, ROW_CAUSES);
  const T = word(job, ROW_T);
  const shares = word(job, JOB_SCRATCH) + <usize>thread * word(job, JOB_SCRATCH_BYTES);
  const slots = <i32>word(job, JOB_SLOTS);
  const counter = job + (JOB_NEXT_SLOT << 2);
  for (let slot = takeSlot(counter); slot < slots; slot = takeSlot(counter)) {
    const last = firstOf(N, slot + 1, slots);
    for (let n = firstOf(N, slot, slots); n < last; n++) {
      const row = int(word(job, ROW_ROWS), n);
      const at = n * K * T;
      const hazard = word(job, ROW_HAZARD) + (at << 3);
      const dConditional = word(job, ROW_CONDITIONAL) + (at << 3);
      const dLogits = word(job, ROW_D_LOGITS) + (at << 2);
      pullPerson(
        hazard,
        dConditional,
        dLogits,
        K,
        T,
        binsBefore(job, row),
        int(word(job, ROW_BIN), row),
        shares,
      );
    }
  }
}
