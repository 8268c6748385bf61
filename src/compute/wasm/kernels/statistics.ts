/**
 * Sums of survival curves over groups, and the way back from slopes of those sums to dLogits, by the operations of
 * objectives/group-statistics.ts in their order. Rows come combination by combination: a combination's rows are summed
 * first, and its sum is added to each of its groups. A slot is a range of bins, whose sums do not depend on other bins;
 * on the way back a slot is all rows.
 */
import { JOB_NEXT_SLOT, JOB_SCRATCH, JOB_SCRATCH_BYTES, JOB_SLOTS } from "./job.ts";
import { ROW_COMBINATION, ROW_D_LOGITS, ROW_FIRST_MEMBER, ROW_GROUP_SHARE, ROW_HAZARD } from "./row-job.ts";
import { ROW_MEMBERS, ROW_N, ROW_ORDER, ROW_ROWS, ROW_SHARE, ROW_SUMS, ROW_SURVIVAL, ROW_T } from "./row-job.ts";
import { ROW_TERMS } from "./row-job.ts";
import { firstOf } from "./curves.ts";
import { fillZero, takeSlot, word } from "./simd.ts";

@inline
function int(array: usize, index: usize): usize {
  return load<u32>(array + (index << 2));
}

/** change += value − kept, and kept = value. */
function replaceTerms(value: usize, kept: usize, change: usize, bytes: usize): void {
  let l: usize = 0;
  for (; l + 16 <= bytes; l += 16) {
    const v = v128.load(value + l);
    v128.store(change + l, f64x2.add(v128.load(change + l), f64x2.sub(v, v128.load(kept + l))));
    v128.store(kept + l, v);
  }
  if (l === bytes) return;
  const v = load<f64>(value + l);
  store<f64>(change + l, load<f64>(change + l) + (v - load<f64>(kept + l)));
  store<f64>(kept + l, v);
}

/** to += from. */
function addTerms(from: usize, to: usize, bytes: usize): void {
  let l: usize = 0;
  for (; l + 16 <= bytes; l += 16) v128.store(to + l, f64x2.add(v128.load(to + l), v128.load(from + l)));
  if (l < bytes) store<f64>(to + l, load<f64>(to + l) + load<f64>(from + l));
}

/** to += share · from. */
function addShare(share: f64, from: usize, to: usize, bytes: usize): void {
  for (let l: usize = 0; l < bytes; l += 8) {
    store<f64>(to + l, load<f64>(to + l) + share * load<f64>(from + l));
  }
}

/** Adds what the rows' curves change to the sums of their groups; where terms are kept, replaces them. */
export function replaceCurves(job: usize, thread: i32): void {
  const N = word(job, ROW_N);
  const T = word(job, ROW_T);
  const order = word(job, ROW_ORDER);
  const rows = word(job, ROW_ROWS);
  const combinationOf = word(job, ROW_COMBINATION);
  const terms = word(job, ROW_TERMS);
  const change = word(job, JOB_SCRATCH) + <usize>thread * word(job, JOB_SCRATCH_BYTES);
  const slots = <i32>word(job, JOB_SLOTS);
  const counter = job + (JOB_NEXT_SLOT << 2);
  for (let slot = takeSlot(counter); slot < slots; slot = takeSlot(counter)) {
    const first = firstOf(T, slot, slots) << 3;
    const bytes = (firstOf(T, slot + 1, slots) << 3) - first;
    fillZero(change, bytes);
    for (let p: usize = 0; p < N; p++) {
      const k = int(order, p);
      const row = int(rows, k);
      const value = word(job, ROW_SURVIVAL) + ((k * T) << 3) + first;
      if (terms === 0) addTerms(value, change, bytes);
      else replaceTerms(value, terms + ((row * T) << 3) + first, change, bytes);
      const combination = int(combinationOf, row);
      if (p + 1 < N && int(combinationOf, int(rows, int(order, p + 1))) === combination) continue;
      const end = int(word(job, ROW_FIRST_MEMBER), combination + 1);
      for (let m = int(word(job, ROW_FIRST_MEMBER), combination); m < end; m++) {
        addTerms(change, word(job, ROW_SUMS) + ((int(word(job, ROW_MEMBERS), m) * T) << 3) + first, bytes);
      }
      fillZero(change, bytes);
    }
  }
}

/** The same bin of two rows. */
@inline
function loadTwo(first: usize, second: usize): v128 {
  return v128.load64_lane(second, v128.load64_zero(first), 1);
}

/**
 * The scans of two rows of one combination from their last bin: each row's sum waits for itself, so two go together. A
 * row without a second is its own, and is stored once more with the same numbers.
 */
function backThroughTwo(job: usize, k0: usize, k1: usize, dSurvival: usize, scale: v128): void {
  const T = word(job, ROW_T);
  const at0 = (k0 * T) << 3;
  const at1 = (k1 * T) << 3;
  const hazard0 = word(job, ROW_HAZARD) + at0;
  const hazard1 = word(job, ROW_HAZARD) + at1;
  const survival0 = word(job, ROW_SURVIVAL) + at0;
  const survival1 = word(job, ROW_SURVIVAL) + at1;
  const dLogits0 = word(job, ROW_D_LOGITS) + (at0 >> 1);
  const dLogits1 = word(job, ROW_D_LOGITS) + (at1 >> 1);
  let sum = f64x2.splat(0);
  for (let l = T << 2; l > 0; ) {
    l -= 4;
    const l8 = l << 1;
    const survival = loadTwo(survival0 + l8, survival1 + l8);
    sum = f64x2.add(sum, f64x2.mul(survival, v128.load64_splat(dSurvival + l8)));
    const added = f64x2.mul(f64x2.mul(scale, loadTwo(hazard0 + l8, hazard1 + l8)), sum);
    const before = f64x2.promote_low_f32x4(v128.load32_lane(dLogits1 + l, v128.load32_zero(dLogits0 + l), 1));
    const after = f32x4.demote_f64x2_zero(f64x2.sub(before, added));
    v128.store32_lane(dLogits0 + l, after, 0);
    v128.store32_lane(dLogits1 + l, after, 1);
  }
}

/** dRow = Σ share · slopes over the groups of a combination; returns whether it has any. */
function fillSlopes(job: usize, combination: usize, dRow: usize): bool {
  const T = word(job, ROW_T);
  const first = int(word(job, ROW_FIRST_MEMBER), combination);
  const end = int(word(job, ROW_FIRST_MEMBER), combination + 1);
  fillZero(dRow, T << 3);
  for (let m = first; m < end; m++) {
    const g = int(word(job, ROW_MEMBERS), m);
    addShare(load<f64>(word(job, ROW_GROUP_SHARE) + (g << 3)), word(job, ROW_SUMS) + ((g * T) << 3), dRow, T << 3);
  }
  return end > first;
}

/** Adds ROW_SHARE · dL/dz of the rows to dLogits, given slopes of the groups' means in ROW_SUMS. */
export function backThroughCurves(job: usize): void {
  const N = word(job, ROW_N);
  const rows = word(job, ROW_ROWS);
  const order = word(job, ROW_ORDER);
  const combinationOf = word(job, ROW_COMBINATION);
  const dRow = word(job, JOB_SCRATCH);
  const scale = f64x2.splat(load<f64>(job + (ROW_SHARE << 2)));
  let combination: usize = usize.MAX_VALUE;
  let isInGroup = false;
  for (let p: usize = 0; p < N; p++) {
    const k0 = int(order, p);
    const own = int(combinationOf, int(rows, k0));
    if (own !== combination) isInGroup = fillSlopes(job, own, dRow);
    combination = own;
    if (!isInGroup) continue;
    let k1 = k0;
    if (p + 1 < N && int(combinationOf, int(rows, int(order, p + 1))) === own) k1 = int(order, ++p);
    backThroughTwo(job, k0, k1, dRow, scale);
  }
}
