/**
 * 2^z − 1 in float32, from which sigmoid and tanh are made without losing digits near zero: σ(a) = 1/(2 + m) with m =
 * 2^(−a·log₂e) − 1, tanh(a) = m/(2 + m) with m = 2^(2a·log₂e) − 1. The factors are multiplied into the weights once, so
 * that the product of weights and h is z itself. z is split into a whole number n and f in [−½, ½]; 2^f − 1 = f·q(f)
 * with q the minimax polynomial of degree 5 (relative error 2e-8, below float32 rounding); 2^z − 1 = 2^n·f·q(f) + (2^n
 * − 1). A NaN stays a NaN.
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
