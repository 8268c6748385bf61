/**
 * The tables behind elementary.ts, computed once when it is loaded, in whole numbers of 2^-BITS: powers 2^(j/64) by
 * square roots, logarithms by the series of atanh. Whole-number arithmetic has one answer on every engine, so no digit
 * is written down here. Each value is held in two float64 pieces: the first is the nearest float64 (or a shorter
 * number), the second is the remainder. Together they have about 106 bits.
 */

/** Bits after the point: a good twenty more than the two pieces hold, so that the roundings below do not matter. */
const BITS = 128n;
const ONE = 1n << BITS;

export const POWER_STEPS = 64;
/** The logarithm's table has an entry for every 128th of the mantissa. */
export const LOG_STEPS = 128;
/**
 * Rounded mantissas (1 + j/128) with j from here on are halved, so that the table spans 0.705 … 1.41, with 1 inside.
 */
export const FIRST_HALVED = 53;
/** Bits after the point of a reciprocal: few enough that its product with half a mantissa is exact. */
const RECIPROCAL_BITS = 18n;
/** First pieces of logarithms are multiples of 2^-42: the sum of up to 1075 of them still fits float64. */
const LOG_FIRST_BITS = 42n;

/** A number in two pieces. */
export interface Pieces {
  readonly high: Float64Array;
  readonly low: Float64Array;
}

/** `value` / 2^BITS. Exact when value has at most 53 bits; otherwise its 53 leading bits are rounded to nearest. */
function toFloat(value: bigint): number {
  return Number(value) / Number(ONE); // Number(bigint) rounds to nearest, and division by a power of two is exact here
}

function fromFloat(value: number): bigint {
  // Times 2^64, a first piece is a whole number: none but 0 is below 2^-11, and none has more than 53 bits.
  return BigInt(value * Number(1n << 64n)) << (BITS - 64n);
}

/** `first` of 53 bits, or rounded to a multiple of 2^-bits. */
function split(values: readonly bigint[], bits?: bigint): Pieces {
  const first = values.map((value) => {
    if (bits === undefined) return toFloat(value);
    const unit = 1n << (BITS - bits);
    return toFloat(((value + unit / 2n) / unit) * unit);
  });
  return {
    high: Float64Array.from(first),
    low: Float64Array.from(first, (high, j) => toFloat(values[j] - fromFloat(high))),
  };
}

function squareRoot(value: bigint): bigint {
  let root = 1n << BigInt(Math.ceil(value.toString(2).length / 2));
  for (;;) {
    const next = (root + value / root) >> 1n;
    if (next >= root) return root;
    root = next;
  }
}

/** 2^(j/64), j = 0 … 63. */
export function powersOfTwo(): Pieces {
  let step = 2n * ONE;
  for (let halvings = POWER_STEPS; halvings > 1; halvings /= 2) step = squareRoot(step * ONE);
  const values = [ONE];
  for (let j = 1; j < POWER_STEPS; j++) values.push((values[j - 1] * step) >> BITS);
  return split(values);
}

/** log(p/q) = 2 atanh((p − q)/(p + q)) for p, q > 0. */
function logOfRatio(p: bigint, q: bigint): bigint {
  const w = ((p - q) * ONE) / (p + q);
  const square = (w * w) >> BITS;
  let sum = 0n;
  let power = w;
  for (let k = 1n; power !== 0n && power !== -1n; k += 2n) {
    sum += power / k;
    power = (power * square) >> BITS;
  }
  return 2n * sum;
}

/** Approximate reciprocals c of the table's mantissas, and −log c. */
export function logarithms(): { readonly reciprocal: Float64Array; readonly log: Pieces } {
  const reciprocals = Array.from({ length: LOG_STEPS }, (_, j) => {
    // 1/(1 + j/128) = 128/(128 + j), twice that for the halved ones, to the nearest multiple of 2^-18.
    const numerator = BigInt(j < FIRST_HALVED ? LOG_STEPS : 2 * LOG_STEPS) << (RECIPROCAL_BITS + 1n);
    return (numerator / BigInt(LOG_STEPS + j) + 1n) >> 1n;
  });
  return {
    reciprocal: Float64Array.from(reciprocals, (c) => Number(c) / Number(1n << RECIPROCAL_BITS)),
    log: split(
      reciprocals.map((c) => -logOfRatio(c, 1n << RECIPROCAL_BITS)),
      LOG_FIRST_BITS,
    ),
  };
}

/** A constant in two pieces. */
export interface SplitConstant {
  readonly high: number;
  readonly low: number;
}

function constant(value: bigint, bits?: bigint): SplitConstant {
  const { high, low } = split([value], bits);
  return { high: high[0], low: low[0] };
}

const LN2 = logOfRatio(2n, 1n);
const LN10 = 3n * LN2 + logOfRatio(10n, 8n);

/** log 2, with a first piece whose multiples up to 2^10 are exact, as for the logarithms. */
export const LOG_OF_TWO = constant(LN2, LOG_FIRST_BITS);
/** log 2 / 64 with a first piece of 36 bits: multiples up to 2^17 are exact. */
export const LOG_OF_POWER_STEP = constant(LN2 / BigInt(POWER_STEPS), LOG_FIRST_BITS);
/** 1/log 2 and 1/log 10. */
export const PER_LOG_OF_TWO = constant((ONE * ONE) / LN2);
export const PER_LOG_OF_TEN = constant((ONE * ONE) / LN10);
