/**
 * tanh of float32 numbers, computed in float64 by the steps of core/elementary.ts in the same order, so that it rounds
 * to the same float32 as the host's: tanh x = (E − 1)/(E + 1) with E = e^(2|x|) in two pieces; below 1/8, its series.
 * The table is the host's (wasm/tanh-table.ts): constants, then 2^(j/64) and its remainder, j = 0 … 63.
 */

const SERIES_BELOW: f64 = 0.125;
const END: f64 = 22;
const SPLITTER: f64 = 134217729;
/** Byte offsets in the table. */
const STEPS_PER_UNIT: usize = 0;
const STEP: usize = 8;
const STEP_REST: usize = 16;
const POWERS: usize = 24;
const RESTS: usize = 536;

/** e^r − 1, |r| < 0.0055. */
@inline
function expm1Series(r: f64): f64 {
  return r + r * r * (1.0 / 2.0 + r * (1.0 / 6.0 + r * (1.0 / 24.0 + r * (1.0 / 120.0 + r * (1.0 / 720.0)))));
}

/** a + b − sum, exactly, where sum is the rounded a + b. */
@inline
function lostBySum(a: f64, b: f64, sum: f64): f64 {
  const second = sum - a;
  return a - (sum - second) + (b - second);
}

/** ab − product, exactly, where product is the rounded ab. */
@inline
function lostByProduct(a: f64, b: f64, product: f64): f64 {
  const aSplit = SPLITTER * a;
  const aUpper = aSplit - (aSplit - a);
  const aLower = a - aUpper;
  const bSplit = SPLITTER * b;
  const bUpper = bSplit - (bSplit - b);
  const bLower = b - bUpper;
  return aUpper * bUpper - product + aUpper * bLower + aLower * bUpper + aLower * bLower;
}

/** tanh x / x − 1 in powers of x². */
@inline
function tanhTerms(xx: f64): f64 {
  const later = xx * (-1382.0 / 155925.0 + xx * (21844.0 / 6081075.0 + xx * (-929569.0 / 638512875.0)));
  return xx * (-1.0 / 3.0 + xx * (2.0 / 15.0 + xx * (-17.0 / 315.0 + xx * (62.0 / 2835.0 + later))));
}

export function tanh(x: f64, table: usize): f64 {
  const size = abs(x);
  if (!(size >= SERIES_BELOW)) return x === 0 ? x : x + x * tanhTerms(x * x);
  if (size > END) return x < 0 ? -1 : 1;
  const twice = 2 * size;
  const k = floor(twice * load<f64>(table + STEPS_PER_UNIT) + 0.5);
  const whole = <i32>k;
  const j = <usize>(whole & 63);
  const root = load<f64>(table + POWERS + (j << 3));
  // 2^e, from its bits: e is the whole part of the exponent, 0 … 64.
  const two = reinterpret<f64>((<u64>(whole >> 6) + 1023) << 52);
  const r = twice - k * load<f64>(table + STEP) - k * load<f64>(table + STEP_REST);
  const added = load<f64>(table + RESTS + (j << 3)) + root * expm1Series(r);
  const high = root + added;
  const rest = (root - high + added) * two;
  const power = high * two;
  const above = power - 1;
  const below = power + 1;
  const aboveRest = lostBySum(power, -1, above) + rest;
  const belowRest = lostBySum(power, 1, below) + rest;
  const quotient = above / below;
  const product = quotient * below;
  const left = above - product - lostByProduct(quotient, below, product);
  const value = quotient + (left + aboveRest - quotient * belowRest) / below;
  return x < 0 ? -value : value;
}

/** Replaces numbers by their tanh, in place. */
export function applyTanh(from: usize, count: usize, table: usize): void {
  const end = from + (count << 2);
  for (; from < end; from += 4) store<f32>(from, <f32>tanh(<f64>load<f32>(from), table));
}

/** d ← d·(1 − y²) with y the tanh: the gradient before the tanh. */
export function differentiateTanh(d: usize, y: usize, count: usize): void {
  const end = d + (count << 2);
  for (; d < end; d += 4) {
    const at = <f64>load<f32>(y);
    store<f32>(d, <f32>(<f64>load<f32>(d) * (1 - at * at)));
    y += 4;
  }
}
