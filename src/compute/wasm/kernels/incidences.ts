/**
 * Incidences of people with K causes, as 1 − F, and the way back from their slopes, by the operations of
 * objectives/causes/cause-curves.ts in their order. Each bin waits for the one before it, and within a bin sums go from
 * cause to cause: numbers go one by one here, and people side by side on the threads.
 */
import { divide, fillNone, openPerson } from "./causes.ts";
import { firstOf, reportBeyond } from "./curves.ts";
import { exchangeExponentials } from "./exponential.ts";
import { JOB_NEXT_SLOT, JOB_SCRATCH, JOB_SCRATCH_BYTES, JOB_SLOTS } from "./job.ts";
import { ROW_CAUSES, ROW_CONDITIONAL, ROW_D_LOGITS, ROW_HAZARD, ROW_LOGITS, ROW_N } from "./row-job.ts";
import { ROW_SURVIVAL, ROW_T, ROW_TABLE } from "./row-job.ts";
import { fillZero, takeSlot, word } from "./simd.ts";

/** 1 − F_k of one person; `left` has what is left by each bin, `reached` room for K numbers. */
function accumulate(hazard: usize, free: usize, K: usize, T: usize, left: usize, reached: usize): void {
  fillZero(reached, K << 3);
  let S: f64 = 1;
  for (let t: usize = 0; t < T; t++) {
    for (let k: usize = 0; k < K; k++) {
      const at = (k * T + t) << 3;
      const F = load<f64>(reached + (k << 3)) + S * load<f64>(hazard + at);
      store<f64>(reached + (k << 3), F);
      store<f64>(free + at, 1 - F);
    }
    S *= load<f64>(left + (t << 3));
  }
}

export function fillFreeCurves(job: usize, thread: i32): void {
  const N = word(job, ROW_N);
  const K = word(job, ROW_CAUSES);
  const T = word(job, ROW_T);
  const table = word(job, ROW_TABLE);
  const left = word(job, JOB_SCRATCH) + <usize>thread * word(job, JOB_SCRATCH_BYTES);
  const reached = left + ((T + 1) << 3);
  const slots = <i32>word(job, JOB_SLOTS);
  const counter = job + (JOB_NEXT_SLOT << 2);
  for (let slot = takeSlot(counter); slot < slots; slot = takeSlot(counter)) {
    const last = firstOf(N, slot + 1, slots);
    for (let n = firstOf(N, slot, slots); n < last; n++) {
      const at = n * K * T;
      const hazard = word(job, ROW_HAZARD) + (at << 3);
      if (!openPerson(word(job, ROW_LOGITS) + (at << 2), K, T, left, hazard)) return reportBeyond(job);
      fillNone(left, T, table);
      exchangeExponentials(hazard, K * T, table);
      divide(hazard, left, K, T, true);
      accumulate(hazard, word(job, ROW_SURVIVAL) + (at << 3), K, T, left, reached);
    }
  }
}

/** S(t−1) of one person in each bin. */
function fillBefore(hazard: usize, K: usize, T: usize, before: usize): void {
  let S: f64 = 1;
  for (let t: usize = 0; t < T; t++) {
    store<f64>(before + (t << 3), S);
    let any: f64 = 0;
    for (let k: usize = 0; k < K; k++) any += load<f64>(hazard + ((k * T + t) << 3));
    S *= 1 - any;
  }
}

/** One person's scan from the last bin; `later` has room for the sum of each cause's slopes so far. */
function pullPerson(
  hazard: usize,
  dFree: usize,
  dLogits: usize,
  K: usize,
  T: usize,
  before: usize,
  later: usize,
): void {
  fillZero(later, K << 3);
  let pulled: f64 = 0;
  for (let t = T; t > 0; ) {
    t--;
    const S = load<f64>(before + (t << 3));
    for (let k: usize = 0; k < K; k++) {
      const at = (k * T + t) << 3;
      const sum = load<f64>(later + (k << 3)) + load<f64>(dFree + at);
      store<f64>(later + (k << 3), sum);
      pulled += S * load<f64>(hazard + at) * sum;
    }
    for (let k: usize = 0; k < K; k++) {
      const at = (k * T + t) << 3;
      const slope = dLogits + (at >> 1);
      const added = load<f64>(hazard + at) * (pulled - S * load<f64>(later + (k << 3)));
      store<f32>(slope, <f32>(<f64>load<f32>(slope) + added));
    }
  }
}

/** dL/dz from dL/d(1 − F), added to dLogits. */
export function backThroughFreeCurves(job: usize, thread: i32): void {
  const N = word(job, ROW_N);
  const K = word(job, ROW_CAUSES);
  const T = word(job, ROW_T);
  const before = word(job, JOB_SCRATCH) + <usize>thread * word(job, JOB_SCRATCH_BYTES);
  const later = before + (T << 3);
  const slots = <i32>word(job, JOB_SLOTS);
  const counter = job + (JOB_NEXT_SLOT << 2);
  for (let slot = takeSlot(counter); slot < slots; slot = takeSlot(counter)) {
    const last = firstOf(N, slot + 1, slots);
    for (let n = firstOf(N, slot, slots); n < last; n++) {
      const at = n * K * T;
      const hazard = word(job, ROW_HAZARD) + (at << 3);
      fillBefore(hazard, K, T, before);
      const dFree = word(job, ROW_CONDITIONAL) + (at << 3);
      pullPerson(hazard, dFree, word(job, ROW_D_LOGITS) + (at << 2), K, T, before, later);
    }
  }
}
