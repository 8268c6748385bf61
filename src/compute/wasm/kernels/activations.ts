/**
 * The activations. Of the LSTM, in float32: sigmoid and tanh are made of 2^z − 1 without losing digits near zero,
 * σ(a) = 1/(2 + m) with m = 2^(−a·log₂e) − 1, tanh(a) = m/(2 + m) with m = 2^(2a·log₂e) − 1. The factors are multiplied
 * into the weights once, so that the product of weights and h is z itself. z is split into a whole number n and f in
 * [−½, ½]; 2^f − 1 = f·q(f) with q the minimax polynomial of degree 5 (relative error 2e-8, below float32 rounding);
 * 2^z − 1 = 2^n·f·q(f) + (2^n − 1). A NaN stays a NaN. Of dense layers: tanh as the host computes it (below).
 */
import { madd } from "./simd.ts";

/** −log₂e and 2·log₂e: the factors of the pre-activations of σ and of tanh. */
export const SIGMOID_SCALE: f64 = -1.4426950408889634;
export const TANH_SCALE: f64 = 2.8853900817779268;

/**
 * Where z is cut off. Above: the product of two denominators must stay finite (2^120). Below: 2^n must stay normal. A
 * sigmoid is then at least 2^-60.
 */
const LARGEST: f32 = 60;
const SMALLEST: f32 = -100;

/** 1.5·2^23: adding it leaves the nearest whole number in the last bits. */
const ROUND_TO_WHOLE: f32 = 12582912;

const Q0: f32 = 0.6931471824645996;
const Q1: f32 = 0.24022649228572845;
const Q2: f32 = 0.05550357326865196;
const Q3: f32 = 0.009618237614631653;
const Q4: f32 = 0.0013390735257416964;
const Q5: f32 = 0.00015403512225020677;

/**
 * Constants that the loops load from memory: the engine would rebuild a vector constant, in three instructions, at
 * every use.
 */
export const EXPONENTIAL_CONSTANTS: usize = 10;

export function storeConstants(at: usize): void {
  v128.store(at, f32x4.splat(LARGEST), 0);
  v128.store(at, f32x4.splat(SMALLEST), 16);
  v128.store(at, f32x4.splat(ROUND_TO_WHOLE), 32);
  v128.store(at, f32x4.splat(1), 48);
  v128.store(at, f32x4.splat(Q0), 64);
  v128.store(at, f32x4.splat(Q1), 80);
  v128.store(at, f32x4.splat(Q2), 96);
  v128.store(at, f32x4.splat(Q3), 112);
  v128.store(at, f32x4.splat(Q4), 128);
  v128.store(at, f32x4.splat(Q5), 144);
}

/** 2^z + offset, where `offset` is ±`one`: 2^z − 1 keeps its digits near z = 0, 2^z + 1 is a sigmoid's denominator. */
@inline
export function exp2Plus(
  z: v128,
  minus: bool,
  largest: v128,
  smallest: v128,
  magic: v128,
  one: v128,
  q0: v128,
  q1: v128,
  q2: v128,
  q3: v128,
  q4: v128,
  q5: v128,
): v128 {
  z = f32x4.pmax(f32x4.pmin(z, largest), smallest);
  const shifted = f32x4.add(z, magic);
  const f = f32x4.sub(z, f32x4.sub(shifted, magic));
  const power = i32x4.add(i32x4.shl(shifted, 23), one);
  // Not Horner's order: four multiplications deep instead of six.
  const square = f32x4.mul(f, f);
  const high = madd(madd(q5, f, q4), square, madd(q3, f, q2));
  const q = madd(high, square, madd(q1, f, q0));
  return madd(q, f32x4.mul(power, f), minus ? f32x4.sub(power, one) : f32x4.add(power, one));
}

/** For the tests: sigmoid and tanh of `count` values (a multiple of four); `constants` has room for them. */
export function activate(x: usize, sigmoids: usize, tanhs: usize, count: i32, constants: usize): void {
  storeConstants(constants);
  const largest = v128.load(constants, 0);
  const smallest = v128.load(constants, 16);
  const magic = v128.load(constants, 32);
  const one = v128.load(constants, 48);
  const q0 = v128.load(constants, 64);
  const q1 = v128.load(constants, 80);
  const q2 = v128.load(constants, 96);
  const q3 = v128.load(constants, 112);
  const q4 = v128.load(constants, 128);
  const q5 = v128.load(constants, 144);
  const end = x + (<usize>count << 2);
  while (x < end) {
    const a = v128.load(x);
    const s = f32x4.mul(a, f32x4.splat(<f32>SIGMOID_SCALE));
    const t = f32x4.mul(a, f32x4.splat(<f32>TANH_SCALE));
    v128.store(sigmoids, f32x4.div(one, exp2Plus(s, false, largest, smallest, magic, one, q0, q1, q2, q3, q4, q5)));
    const m = exp2Plus(t, true, largest, smallest, magic, one, q0, q1, q2, q3, q4, q5);
    v128.store(tanhs, f32x4.div(m, f32x4.add(f32x4.splat(2), m)));
    x += 16;
    sigmoids += 16;
    tanhs += 16;
  }
}

// tanh of float32 numbers, computed in float64 by the steps of core/elementary.ts in the same order, so that it rounds
// to the same float32 as the host's: tanh x = (E − 1)/(E + 1) with E = e^(2|x|) in two pieces; below 1/8, its series.
// The table is the host's (wasm/memory.ts): constants, then 2^(j/64) and its remainder, j = 0 … 63.

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
