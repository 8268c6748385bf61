/**
 * Hazards and survival of rows from their logits, and the way back from slopes of survival to slopes of logits, by the
 * operations of objectives/curves.ts in their order: the same bits in two lanes. Lanes are neighbouring bins; the
 * products and sums along a row stay one after the other.
 */
import { JOB_NEXT_SLOT, JOB_SLOTS } from "./job.ts";
import { ROW_BEYOND, ROW_HAZARD, ROW_LOGITS, ROW_N, ROW_SURVIVAL, ROW_T, ROW_TABLE } from "./row-job.ts";
import { areWithin, fillExponentials, loadPair } from "./exponential.ts";
import { takeSlot, word } from "./simd.ts";

/** A slot's rows begin here; the slot after it says where they end. */
@inline
export function firstOf(N: usize, slot: i32, slots: i32): usize {
  return <usize>((<u64>N * slot) / slots);
}

/** Tells the host that a row's logits are beyond the table. */
@inline
export function reportBeyond(job: usize): void {
  atomic.store<i32>(job + (ROW_BEYOND << 2), 1);
}

/** One row; e^−|z| lies where survival will be. */
function fillCurve(logits: usize, T: usize, hazard: usize, survival: usize): void {
  const one = f64x2.splat(1);
  const zero = f64x2.splat(0);
  let S: f64 = 1;
  const end = logits + (T << 2);
  for (; logits < end; logits += 8) {
    const isLast = logits + 8 > end;
    const z = loadPair(logits, isLast);
    const u = isLast ? v128.load64_zero(survival) : v128.load(survival);
    const larger = f64x2.div(one, f64x2.add(one, u));
    const smaller = f64x2.mul(u, larger);
    // The hazard is the larger where z ≥ 0, and 1 − h the other one.
    const exchanged = v128.and(v128.xor(larger, smaller), f64x2.ge(z, zero));
    const factor = v128.xor(larger, exchanged);
    const h = v128.xor(smaller, exchanged);
    S *= f64x2.extract_lane(factor, 0);
    store<f64>(survival, S);
    if (isLast) {
      v128.store64_lane(hazard, h, 0);
      return;
    }
    v128.store(hazard, h);
    S *= f64x2.extract_lane(factor, 1);
    store<f64>(survival, S, 8);
    hazard += 16;
    survival += 16;
  }
}

export function fillCurves(job: usize, thread: i32): void {
  const N = word(job, ROW_N);
  const T = word(job, ROW_T);
  const table = word(job, ROW_TABLE);
  const slots = <i32>word(job, JOB_SLOTS);
  const counter = job + (JOB_NEXT_SLOT << 2);
  for (let slot = takeSlot(counter); slot < slots; slot = takeSlot(counter)) {
    const last = firstOf(N, slot + 1, slots);
    for (let n = firstOf(N, slot, slots); n < last; n++) {
      const at = n * T;
      const hazard = word(job, ROW_HAZARD) + (at << 3);
      const survival = word(job, ROW_SURVIVAL) + (at << 3);
      const logits = word(job, ROW_LOGITS) + (at << 2);
      if (!areWithin(logits, T)) return reportBeyond(job);
      fillExponentials(logits, T, survival, table);
      fillCurve(logits, T, hazard, survival);
    }
  }
}
