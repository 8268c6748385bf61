/**
 * exp, log, powers and tanh in float64 that give the same bits on every engine: ECMAScript leaves the last digits of
 * Math.exp, Math.log, Math.pow and their kin to the engine, and engines change them. Only +, −, ×, ÷ and Math.fround
 * are used, which IEEE 754 defines to the last bit. Every result is within 0.6 ulp of the true one (tanh 0.7,
 * test/core/elementary.test.ts); NaN, infinities and signed zeros are treated as Math does.
 *
 * exp: k is the whole number nearest to 64 x/log 2, and e^x = 2^(k/64) · e^r. The power comes from a table, and e^r,
 * |r| < 0.0055, from its series. log: x = 2^k m, m in 0.705 … 1.41; a table gives c near 1/m, and log x = k log 2 − log
 * c + log(1 + r) with r = mc − 1, |r| < 1/250, computed without rounding. Powers: e^(y log x), where log x has two
 * float64 pieces.
 */
import {
  LOG_OF_POWER_STEP,
  LOG_OF_TWO,
  LOG_STEPS,
  logarithms,
  PER_LOG_OF_TEN,
  PER_LOG_OF_TWO,
  POWER_STEPS,
  powersOfTwo,
  type SplitConstant,
} from "./elementary-tables.ts";

const { high: POWER, low: POWER_REST } = powersOfTwo();
const {
  reciprocal: RECIPROCAL,
  log: { high: LOG, low: LOG_REST },
} = logarithms();
const STEP = LOG_OF_POWER_STEP.high;
const STEP_REST = LOG_OF_POWER_STEP.low;
const STEPS_PER_UNIT = 1 / STEP;
const LN2 = LOG_OF_TWO.high;
const LN2_REST = LOG_OF_TWO.low;

const SMALLEST_EXPONENT = -1074;
const LARGEST_EXPONENT = 1023;
const SMALLEST_NORMAL_EXPONENT = -1022;
const SMALLEST_NORMAL = 2.2250738585072014e-308;
/** 2^e at e + 1074: doubling from the smallest positive number is exact. */
const TWO_TO = new Float64Array(LARGEST_EXPONENT - SMALLEST_EXPONENT + 1);
TWO_TO[0] = Number.MIN_VALUE;
for (let k = 1; k < TWO_TO.length; k++) TWO_TO[k] = 2 * TWO_TO[k - 1];

/** e^x is infinite above the first, and 0 below the second. */
const OVERFLOW = 709.782712893384;
const UNDERFLOW = -745.1332191019412;
/** To the last bit, e^x − 1 is e^x above this, and −1 below its negative. */
const ONE_IS_LOST = 45;
/** Below this, e^x − 1 comes from its own series: 2^(k/64) − 1 would lose digits. */
const EXPM1_SERIES = 0.125;
/** tanh is ±1 beyond this: 2e^−44 is a thousandth of its last bit. */
const TANH_END = 22;
/** Below this, tanh comes from its own series. */
const TANH_SERIES = 0.125;
/** Below this, log(1 + x) comes from its own series. */
const LOG1P_SERIES = 0.00390625;
/** 2^27 + 1: multiplying by it separates the leading 26 bits of a number from the rest (Veltkamp). */
const SPLITTER = 134217729;

/** One float64 and its upper half: sign, exponent and 20 bits of the mantissa. */
const FLOAT = new Float64Array(1);
const WORDS = new Int32Array(FLOAT.buffer);
FLOAT[0] = 1;
const UPPER = WORDS[1] === 0 ? 0 : 1;
/** The upper half of 1 + 52.5/128, halved: where the mantissas of the logarithm's table begin. */
const TABLE_BEGIN = 0x3fe69000;

/** Bits of the upper half that lie below one step of the table, and half a step. */
const STEP_BITS = 13;
const HALF_A_STEP = 1 << (STEP_BITS - 1);
/** Subnormal numbers are scaled up by 2^100 on their way in and scaled down again on their way out. */
const AWAY_FROM_ZERO = 100;

/** What reduce, logPieces and expPieces hand over besides their return value, without creating an object per number. */
const REDUCED = new Float64Array(4);
const REST = new Float64Array(1);

/** x². The engine may compile x ** 2 to a product in one place and to a power in another. */
export function square(x: number): number {
  return x * x;
}

/** 10^k for a whole number k, the nearest float64. */
export function powerOfTen(k: number): number {
  return Number(`1e${k}`);
}

/** e^x. */
export function exp(x: number): number {
  if (x > OVERFLOW) return Number.POSITIVE_INFINITY;
  if (x < UNDERFLOW) return 0;
  if (Number.isNaN(x)) return x;
  const k = Math.floor(x * STEPS_PER_UNIT + 0.5);
  const r = x - k * STEP - k * STEP_REST;
  const j = k & (POWER_STEPS - 1);
  const power = POWER[j];
  return scale(power + (POWER_REST[j] + power * expm1Series(r)), (k - j) / POWER_STEPS);
}

/** e^r − 1, |r| < 0.0055. */
function expm1Series(r: number): number {
  return r + r * r * (1 / 2 + r * (1 / 6 + r * (1 / 24 + r * (1 / 120 + r * (1 / 720)))));
}

/** value · 2^e, value in 0.5 … 2. */
function scale(value: number, e: number): number {
  if (e > LARGEST_EXPONENT) {
    return e > LARGEST_EXPONENT + 1
      ? Number.POSITIVE_INFINITY
      : value * 2 * TWO_TO[e - 1 - SMALLEST_EXPONENT];
  }
  if (e >= SMALLEST_NORMAL_EXPONENT) return value * TWO_TO[e - SMALLEST_EXPONENT];
  return value * TWO_TO[e + AWAY_FROM_ZERO - SMALLEST_EXPONENT] * TWO_TO[-AWAY_FROM_ZERO - SMALLEST_EXPONENT];
}

/** e^x for |x| ≤ 45, its second piece left in REST. */
function expPieces(x: number): number {
  const k = Math.floor(x * STEPS_PER_UNIT + 0.5);
  const j = k & (POWER_STEPS - 1);
  const power = POWER[j];
  const two = TWO_TO[(k - j) / POWER_STEPS - SMALLEST_EXPONENT];
  const added = POWER_REST[j] + power * expm1Series(x - k * STEP - k * STEP_REST);
  const high = power + added;
  REST[0] = (power - high + added) * two;
  return high * two;
}

/** e^x − 1. */
export function expm1(x: number): number {
  if (x > ONE_IS_LOST) return exp(x);
  if (x < -ONE_IS_LOST) return -1;
  if (!(Math.abs(x) > EXPM1_SERIES)) return x === 0 ? x : x + x * x * expm1Terms(x);
  const power = expPieces(x);
  const less = power - 1;
  return less + (lostBySum(power, -1, less) + REST[0]);
}

/** (e^x − 1 − x)/x² to x^9/11!. */
function expm1Terms(x: number): number {
  const xx = x * x;
  const even = 1 / 2 + xx * (1 / 24 + xx * (1 / 720 + xx * (1 / 40320 + xx * (1 / 3628800))));
  const odd = 1 / 6 + xx * (1 / 120 + xx * (1 / 5040 + xx * (1 / 362880 + xx * (1 / 39916800))));
  return even + x * odd;
}

/** a + b − sum, exactly, where sum is a + b as rounded (Knuth). */
function lostBySum(a: number, b: number, sum: number): number {
  const second = sum - a;
  return a - (sum - second) + (b - second);
}

/** ab − product, exactly, where product is ab as rounded (Dekker). */
function lostByProduct(a: number, b: number, product: number): number {
  const aSplit = SPLITTER * a;
  const aUpper = aSplit - (aSplit - a);
  const aLower = a - aUpper;
  const bSplit = SPLITTER * b;
  const bUpper = bSplit - (bSplit - b);
  const bLower = b - bUpper;
  return aUpper * bUpper - product + aUpper * bLower + aLower * bUpper + aLower * bLower;
}

/** tanh x = (E − 1)/(E + 1) with E = e^(2x). */
export function tanh(x: number): number {
  if (!(Math.abs(x) >= TANH_SERIES)) return x === 0 ? x : x + x * tanhTerms(x * x);
  if (Math.abs(x) > TANH_END) return x < 0 ? -1 : 1;
  const power = expPieces(2 * Math.abs(x));
  const rest = REST[0];
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

/** tanh x / x − 1 in powers of x². */
function tanhTerms(xx: number): number {
  const later = xx * (-1382 / 155925 + xx * (21844 / 6081075 + xx * (-929569 / 638512875)));
  return xx * (-1 / 3 + xx * (2 / 15 + xx * (-17 / 315 + xx * (62 / 2835 + later))));
}

/**
 * For 0 < x < ∞ and |past| at most half x's last bit: r = mc − 1 of x + past in two pieces, and k log 2 − log c in two
 * pieces, the first a multiple of 2^-42.
 */
function reduce(x: number, past: number): void {
  FLOAT[0] = x;
  let e = (WORDS[UPPER] - TABLE_BEGIN) >> 20;
  if (x < SMALLEST_NORMAL) {
    // A subnormal number has its exponent in its mantissa.
    FLOAT[0] = x * TWO_TO[AWAY_FROM_ZERO - SMALLEST_EXPONENT];
    e = ((WORDS[UPPER] - TABLE_BEGIN) >> 20) - AWAY_FROM_ZERO;
  }
  const j = ((WORDS[UPPER] + HALF_A_STEP) >> STEP_BITS) & (LOG_STEPS - 1);
  const c = RECIPROCAL[j];
  // 2^−e itself would be infinite for the smallest numbers.
  const half = TWO_TO[-(e >> 1) - SMALLEST_EXPONENT];
  const other = TWO_TO[(e >> 1) - e - SMALLEST_EXPONENT];
  const m = x * half * other;
  const upper = Math.fround(m);
  const first = upper * c - 1;
  const second = (m - upper) * c;
  const r = first + second;
  REDUCED[0] = r;
  REDUCED[1] = lostBySum(first, second, r) + past * half * other * c;
  REDUCED[2] = e * LN2 + LOG[j];
  REDUCED[3] = e * LN2_REST + LOG_REST[j];
}

/** (log(1 + r) − r + r²/2)/r³, |r| < 1/250. */
function logTerms(r: number): number {
  const rr = r * r;
  const odd = 1 / 3 + rr * (1 / 5 + rr * (1 / 7 + rr * (1 / 9)));
  const even = 1 / 4 + rr * (1 / 6 + rr * (1 / 8 + rr * (1 / 10)));
  return odd - r * even;
}

/** log(x + past) for 0 < x < ∞. */
function logOf(x: number, past: number): number {
  reduce(x, past);
  const r = REDUCED[0];
  const rest = REDUCED[1];
  const whole = REDUCED[2];
  const sum = whole + r;
  const small = whole - sum + r + REDUCED[3] + (rest - r * rest);
  return sum + (small + r * r * (r * logTerms(r) - 0.5));
}

/** log x for 0 < x < ∞ to about 2^-68 of itself, the second piece left in REST. */
function logPieces(x: number): number {
  reduce(x, 0);
  const r = REDUCED[0];
  const rest = REDUCED[1];
  const whole = REDUCED[2];
  const squared = r * r;
  const squaredRest = lostByProduct(r, r, squared);
  const sum = whole + r;
  const less = sum - 0.5 * squared;
  const small = REDUCED[3] + (rest - r * rest) - 0.5 * squaredRest + squared * r * logTerms(r);
  const lost = whole - sum + r + (sum - less - 0.5 * squared) + small;
  const high = less + lost;
  REST[0] = less - high + lost;
  return high;
}

/** The natural logarithm. */
export function log(x: number): number {
  return x > 0 && x < Number.POSITIVE_INFINITY ? logOf(x, 0) : logAtEdges(x);
}

function logAtEdges(x: number): number {
  if (x === 0) return Number.NEGATIVE_INFINITY;
  return x > 0 ? x : Number.NaN;
}

/** log(1 + x). */
export function log1p(x: number): number {
  if (Math.abs(x) < LOG1P_SERIES) return x === 0 ? x : x + x * x * (x * logTerms(x) - 0.5);
  const sum = 1 + x;
  if (!(sum > 0 && sum < Number.POSITIVE_INFINITY)) return logAtEdges(sum);
  return logOf(sum, lostBySum(x, 1, sum));
}

/** A product is taken apart before it can overflow: no factor is above 2. */
const LARGE_PRODUCT = 2 ** 500;

/** Σ log of the first `count` factors, each from 1 to 2: one logarithm of their product instead of one each. */
export function sumLogs(factors: Float64Array, count: number): number {
  let sum = 0;
  let product = 1;
  for (let k = 0; k < count; k++) {
    product *= factors[k];
    if (product <= LARGE_PRODUCT) continue;
    sum += log(product);
    product = 1;
  }
  return sum + log(product);
}

/** The logarithm to base 2; a whole number for powers of 2. */
export function log2(x: number): number {
  return logToBase(x, PER_LOG_OF_TWO);
}

/** The logarithm to base 10; a whole number for powers of 10. */
export function log10(x: number): number {
  return logToBase(x, PER_LOG_OF_TEN);
}

function logToBase(x: number, per: SplitConstant): number {
  if (!(x > 0 && x < Number.POSITIVE_INFINITY)) return logAtEdges(x);
  const natural = logPieces(x);
  const product = natural * per.high;
  return product + (lostByProduct(natural, per.high, product) + natural * per.low + REST[0] * per.high);
}

/** x^y, the same as ECMAScript's ** except for the last digits. */
export function power(x: number, y: number): number {
  if (y === 0) return 1;
  if (Number.isNaN(x) || Number.isNaN(y)) return Number.NaN;
  const size = Math.abs(x);
  if (Math.abs(y) === Number.POSITIVE_INFINITY) {
    if (size === 1) return Number.NaN;
    return size > 1 === y > 0 ? Number.POSITIVE_INFINITY : 0;
  }
  if (x < 0 && !Number.isInteger(y)) {
    if (size < Number.POSITIVE_INFINITY) return Number.NaN;
    return y > 0 ? Number.POSITIVE_INFINITY : 0;
  }
  const value = powerOf(size, y);
  // Whole numbers from 2^53 on are even, and their remainder says so.
  return (x < 0 || Object.is(x, -0)) && y % 2 !== 0 && Number.isInteger(y) ? -value : value;
}

/** size^y for size ≥ 0 and finite y other than 0. */
function powerOf(size: number, y: number): number {
  if (size === 0 || size === Number.POSITIVE_INFINITY)
    return (size === 0) === y > 0 ? 0 : Number.POSITIVE_INFINITY;
  if (size === 1) return 1;
  const natural = logPieces(size);
  const rest = REST[0];
  const product = natural * y;
  // A little beyond exp's own limits, where the second piece could still bring the result back.
  if (product > OVERFLOW + 1) return Number.POSITIVE_INFINITY;
  if (product < UNDERFLOW - 1) return 0;
  const past = lostByProduct(natural, y, product) + rest * y;
  const k = Math.floor(product * STEPS_PER_UNIT + 0.5);
  const r = product - k * STEP - (k * STEP_REST - past);
  const j = k & (POWER_STEPS - 1);
  return scale(POWER[j] + (POWER_REST[j] + POWER[j] * expm1Series(r)), (k - j) / POWER_STEPS);
}
