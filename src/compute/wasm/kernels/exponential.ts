/**
 * e^−|z| of a row's logits, by the operations of objectives/exponential.ts in their order, so that both give the same
 * bits. The table is the host's: constants first, at the byte offsets below, then 2^(−k/64). It ends at |z| = 40: rows
 * with a logit beyond that, or NaN, are left to the host. The row has a pass of its own because each exponential is a
 * long chain of operations that wait for each other: the shorter the loop, the more of them are under way at a time.
 */

const PER_UNIT: usize = 0;
const STEP_HIGH: usize = 8;
const STEP_LOW: usize = 16;
/** 2^52: added to a whole number below 2^32, it leaves that number in the low half of its bits. */
const WHOLE: usize = 24;
const HALF: usize = 32;
const ONE: usize = 40;
const SIXTH: usize = 48;
const TWENTY_FOURTH: usize = 56;
const HUNDRED_TWENTIETH: usize = 64;
const POWERS: usize = 72;
const TABLE_END: f32 = 40;

/** The last of an odd number of bins as the first lane, with 0 in the second. */
@inline
export function loadPair(from: usize, isLast: bool): v128 {
  return f64x2.promote_low_f32x4(isLast ? v128.load32_zero(from) : v128.load64_zero(from));
}

/** Two float32, or the first alone. */
@inline
export function storePair(to: usize, values: v128, isLast: bool): void {
  const narrow = f32x4.demote_f64x2_zero(values);
  if (isLast) v128.store32_lane(to, narrow, 0);
  else v128.store64_lane(to, narrow, 0);
}

/** Whether the table holds e^−|z| of all these logits. */
export function areWithin(logits: usize, count: usize): bool {
  const limit = f32x4.splat(TABLE_END);
  let held = f32x4.eq(limit, limit);
  const end = logits + (count << 2);
  for (; logits + 16 <= end; logits += 16) held = v128.and(held, f32x4.lt(f32x4.abs(v128.load(logits)), limit));
  let all = v128.all_true<i32>(held);
  for (; logits < end; logits += 4) all = all && abs(load<f32>(logits)) < TABLE_END;
  return all;
}

/** u = e^−|z| of `count` logits; they must be within the table. */
export function fillExponentials(logits: usize, count: usize, u: usize, table: usize): void {
  const perUnit = v128.load64_splat(table, PER_UNIT);
  const stepHigh = v128.load64_splat(table, STEP_HIGH);
  const stepLow = v128.load64_splat(table, STEP_LOW);
  const whole = v128.load64_splat(table, WHOLE);
  const half = v128.load64_splat(table, HALF);
  const one = v128.load64_splat(table, ONE);
  const c3 = v128.load64_splat(table, SIXTH);
  const c4 = v128.load64_splat(table, TWENTY_FOURTH);
  const c5 = v128.load64_splat(table, HUNDRED_TWENTIETH);
  const end = logits + (count << 2);
  for (; logits < end; logits += 8) {
    const isLast = logits + 8 > end;
    const a = f64x2.abs(loadPair(logits, isLast));
    const k = f64x2.floor(f64x2.add(f64x2.mul(a, perUnit), half));
    const r = f64x2.add(f64x2.sub(f64x2.mul(k, stepHigh), a), f64x2.mul(k, stepLow));
    const e = powerTimes(loadPowers(table, f64x2.add(k, whole)), seriesOf(r, c5, c4, c3, half, one));
    if (isLast) v128.store64_lane(u, e, 0);
    else v128.store(u, e);
    u += 16;
  }
}

/** e^−a of `count` numbers a in their place; they must be within the table. */
export function exchangeExponentials(numbers: usize, count: usize, table: usize): void {
  const perUnit = v128.load64_splat(table, PER_UNIT);
  const stepHigh = v128.load64_splat(table, STEP_HIGH);
  const stepLow = v128.load64_splat(table, STEP_LOW);
  const whole = v128.load64_splat(table, WHOLE);
  const half = v128.load64_splat(table, HALF);
  const one = v128.load64_splat(table, ONE);
  const c3 = v128.load64_splat(table, SIXTH);
  const c4 = v128.load64_splat(table, TWENTY_FOURTH);
  const c5 = v128.load64_splat(table, HUNDRED_TWENTIETH);
  const end = numbers + (count << 3);
  for (; numbers < end; numbers += 16) {
    const isLast = numbers + 16 > end;
    const a = isLast ? v128.load64_zero(numbers) : v128.load(numbers);
    const k = f64x2.floor(f64x2.add(f64x2.mul(a, perUnit), half));
    const r = f64x2.add(f64x2.sub(f64x2.mul(k, stepHigh), a), f64x2.mul(k, stepLow));
    const e = powerTimes(loadPowers(table, f64x2.add(k, whole)), seriesOf(r, c5, c4, c3, half, one));
    if (isLast) v128.store64_lane(numbers, e, 0);
    else v128.store(numbers, e);
  }
}

/** 2^(−k/64) of two k, which are the low halves of these bits. */
@inline
function loadPowers(table: usize, bits: v128): v128 {
  const at0 = table + (<usize>i32x4.extract_lane(bits, 0) << 3);
  const at1 = table + (<usize>i32x4.extract_lane(bits, 2) << 3);
  return v128.load64_lane(at1, v128.load64_zero(at0, POWERS), 1, POWERS);
}

/** e^r − 1. */
@inline
function seriesOf(r: v128, c5: v128, c4: v128, c3: v128, half: v128, one: v128): v128 {
  let series = f64x2.mul(r, c5);
  series = f64x2.mul(r, f64x2.add(c4, series));
  series = f64x2.mul(r, f64x2.add(c3, series));
  series = f64x2.mul(r, f64x2.add(half, series));
  return f64x2.mul(r, f64x2.add(one, series));
}

/** power · (1 + series). */
@inline
function powerTimes(power: v128, series: v128): v128 {
  return f64x2.add(power, f64x2.mul(power, series));
}
