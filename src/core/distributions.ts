/**
 * Tail probabilities and quantiles of the normal, chi-square, t, binomial and beta distributions. Upper tails are
 * computed directly (never as 1 − cdf), and as logarithms where they underflow. They are built on the regularised
 * incomplete gamma and beta functions: series where they converge, Lentz continued fractions elsewhere (Press et al.,
 * Numerical Recipes §6.1-6.4), with the factor in front written as a deviance plus Stirling errors (Loader 2000), which
 * keeps its digits where differences of log Γ lose them. Checked against R's pchisq, pnorm, qnorm, pt, pbinom, qbeta
 * and lgamma in test/core/distributions.test.ts.
 */
import { exp, log, log1p } from "./elementary.ts";

/** Relative change at which series and fractions stop: one unit in the last place (some would never reach less). */
const CONVERGED = 2.3e-16;
/** Keeps Lentz denominators away from zero. */
const TINY = 1e-300;
const MAX_TERMS = 100_000;
/** Enough halvings of [0, 1] to reach the smallest double. */
const MAX_BISECTIONS = 1100;
const HALF_LOG_TWO_PI = 0.9189385332046728;

/** Stirling's series is accurate to 1e-17 from here on. */
const STIRLING_FROM = 15;

/**
 * log Γ(x), x > 0: recurrence up to Stirling's range, then the asymptotic series. Absolute error below 1e-14 near the
 * zeros at 1 and 2.
 */
export function logGamma(x: number): number {
  let shift = 1;
  let z = x;
  while (z < STIRLING_FROM) {
    shift *= z;
    z += 1;
  }
  return (z - 0.5) * log(z) - z + HALF_LOG_TWO_PI + stirlingError(z) - log(shift);
}

/** Below this the recurrence's series in 1/(2z+1) converges too slowly to be worth it. */
const RECURRENCE_SERIES_FROM = 0.5;

/** log Γ(z) − [(z − ½) log z − z + ½ log 2π], without the cancellation that this difference suffers. */
function stirlingError(x: number): number {
  let z = x;
  let sum = 0;
  // The error at z exceeds that at z+1 by (z + ½) log(1 + 1/z) − 1 = r²/3 + r⁴/5 + …, r = 1/(2z+1).
  for (; z < STIRLING_FROM; z += 1) {
    if (z < RECURRENCE_SERIES_FROM) sum += (z + 0.5) * log1p(1 / z) - 1;
    else sum += atanhTail(1 / (2 * z + 1));
  }
  const r = 1 / (z * z);
  const series = 1 / 1188 - r * (691 / 360360 - r / 156);
  return sum + (1 / 12 - r * (1 / 360 - r * (1 / 1260 - r * (1 / 1680 - r * series)))) / z;
}

/** r²/3 + r⁴/5 + r⁶/7 + … = atanh(r)/r − 1. */
function atanhTail(r: number): number {
  const square = r * r;
  let power = square;
  let sum = 0;
  for (let k = 3; k < MAX_TERMS; k += 2) {
    const term = power / k;
    sum += term;
    if (term <= sum * CONVERGED) break;
    power *= square;
  }
  return sum;
}

/** Where log q − u, u = q − 1, is taken from its series. */
const DEVIANCE_SERIES_UP_TO = 0.6;

/**
 * log q − u for q = 1 + u, with all its digits: near q = 1 by −ru + 2r(r²/3 + r⁴/5 + …), r = u/(2+u). The caller passes
 * both because neither gives the other exactly: u near q = 1, q near 0.
 */
function logDeviance(q: number, u: number): number {
  if (Math.abs(u) > DEVIANCE_SERIES_UP_TO) return log(q) - u;
  const r = u / (2 + u);
  return 2 * r * atanhTail(r) - r * u;
}

/** log of x^a e^−x / Γ(a), the factor in front of both expansions. */
function logGammaFactor(a: number, x: number): number {
  return a * logDeviance(x / a, (x - a) / a) + 0.5 * log(a) - HALF_LOG_TWO_PI - stirlingError(a);
}

function gammaSeries(a: number, x: number): number {
  let term = 1 / a;
  let sum = term;
  for (let n = 1; n < MAX_TERMS; n++) {
    term *= x / (a + n);
    sum += term;
    if (term < sum * CONVERGED) break;
  }
  return sum;
}

/** The value, kept away from zero so that a step of Lentz's method can divide by it. */
function awayFromZero(value: number): number {
  return Math.abs(value) < TINY ? TINY : value;
}

function gammaFraction(a: number, x: number): number {
  let b = x + 1 - a;
  let c = 1 / TINY;
  let d = 1 / b;
  let h = d;
  for (let i = 1; i < MAX_TERMS; i++) {
    const an = -i * (i - a);
    b += 2;
    d = 1 / awayFromZero(an * d + b);
    c = awayFromZero(b + an / c);
    const step = d * c;
    h *= step;
    if (Math.abs(step - 1) < CONVERGED) break;
  }
  return h;
}

/** log Q(a, x), the upper regularised incomplete gamma function. */
export function logGammaUpper(a: number, x: number): number {
  if (x <= 0) return 0;
  if (x === Number.POSITIVE_INFINITY) return Number.NEGATIVE_INFINITY;
  const factor = logGammaFactor(a, x);
  if (x < a + 1) return log1p(-exp(factor + log(gammaSeries(a, x))));
  return factor + log(gammaFraction(a, x));
}

/** log P(X > x) for X chi-square with df degrees of freedom. */
export function logChiSquareUpperTail(x: number, df: number): number {
  return logGammaUpper(df / 2, x / 2);
}

/** P(X > x) for X chi-square with df degrees of freedom. */
export function chiSquareUpperTail(x: number, df: number): number {
  return exp(logChiSquareUpperTail(x, df));
}

/** The continued fraction is used from here on; below, the chi-square series is just as exact. */
const NORMAL_FRACTION_FROM = 2;
/** exp(−z²/2) is split at a multiple of this, whose square is exact, so that rounding z² does not cost digits. */
const SQUARE_SPLIT = 1 / 16;

/** P(Z > z) for standard normal Z. */
export function normalUpperTail(z: number): number {
  if (z < 0) return 1 - normalUpperTail(-z);
  if (z === Number.POSITIVE_INFINITY) return 0;
  if (z < NORMAL_FRACTION_FROM) return 0.5 * chiSquareUpperTail(z * z, 1);
  const near = Math.floor(z / SQUARE_SPLIT) * SQUARE_SPLIT;
  const density = exp(-0.5 * near * near) * exp(-0.5 * (z - near) * (z + near) - HALF_LOG_TWO_PI);
  return 0.5 * z * gammaFraction(0.5, 0.5 * z * z) * density;
}

/** Wichura's algorithm AS 241 (1988), PPND16: numerators and denominators, lowest power first, of its three ranges. */
const QUANTILE_CENTRE = {
  over: [
    3.3871328727963665, 133.14166789178438, 1971.5909503065513, 13731.69376550946, 45921.95393154987,
    67265.7709270087, 33430.57558358813, 2509.0809287301227,
  ],
  under: [
    1, 42.31333070160091, 687.1870074920579, 5394.196021424751, 21213.794301586597, 39307.89580009271,
    28729.085735721943, 5226.495278852854,
  ],
};
const QUANTILE_MIDDLE = {
  over: [
    1.4234371107496835, 4.630337846156546, 5.769497221460691, 3.6478483247632045, 1.2704582524523684,
    0.2417807251774506, 0.022723844989269184, 0.0007745450142783414,
  ],
  under: [
    1, 2.053191626637759, 1.6763848301838038, 0.6897673349851, 0.14810397642748008, 0.015198666563616457,
    0.0005475938084995345, 1.0507500716444169e-9,
  ],
};
const QUANTILE_TAIL = {
  over: [
    6.657904643501103, 5.463784911164114, 1.7848265399172913, 0.29656057182850487, 0.026532189526576124,
    0.0012426609473880784, 2.7115555687434876e-5, 2.0103343992922881e-7,
  ],
  under: [
    1, 0.599832206555888, 0.1369298809227358, 0.014875361290850615, 0.0007868691311456133,
    1.8463183175100548e-5, 1.421511758316446e-7, 2.0442631033899397e-15,
  ],
};

function ratio({ over, under }: { over: readonly number[]; under: readonly number[] }, r: number): number {
  const polynomial = (coefficients: readonly number[]) =>
    coefficients.reduceRight((sum, c) => sum * r + c, 0);
  return polynomial(over) / polynomial(under);
}

/** z with P(Z ≤ z) = p; relative error about 1e-16 for p from 1e-316 up. */
export function normalQuantile(p: number): number {
  if (!(p > 0 && p < 1))
    return p === 0 ? Number.NEGATIVE_INFINITY : p === 1 ? Number.POSITIVE_INFINITY : Number.NaN;
  const q = p - 0.5;
  if (Math.abs(q) <= 0.425) return q * ratio(QUANTILE_CENTRE, 0.180625 - q * q);
  const r = Math.sqrt(-log(q < 0 ? p : 1 - p));
  const z = r <= 5 ? ratio(QUANTILE_MIDDLE, r - 1.6) : ratio(QUANTILE_TAIL, r - 5);
  return q < 0 ? -z : z;
}

function betaFraction(a: number, b: number, x: number): number {
  let c = 1;
  let d = 1 - ((a + b) * x) / (a + 1);
  if (Math.abs(d) < TINY) d = TINY;
  d = 1 / d;
  let h = d;
  for (let m = 1; m < MAX_TERMS; m++) {
    const even = (m * (b - m) * x) / ((a + 2 * m - 1) * (a + 2 * m));
    d = 1 / awayFromZero(1 + even * d);
    c = awayFromZero(1 + even / c);
    h *= d * c;
    const odd = (-(a + m) * (a + b + m) * x) / ((a + 2 * m) * (a + 2 * m + 1));
    d = 1 / awayFromZero(1 + odd * d);
    c = awayFromZero(1 + odd / c);
    const step = d * c;
    h *= step;
    if (Math.abs(step - 1) < CONVERGED) break;
  }
  return h;
}

/** I_x(a, b), the regularised incomplete beta function; `y` = 1 − x may be given where x is close to 1. */
export function betaRegularised(x: number, a: number, b: number, y = 1 - x): number {
  if (x <= 0) return 0;
  if (y <= 0) return 1;
  // x^a y^b / B(a, b) as a deviance from x = a/(a+b): both logarithms' first-order terms cancel.
  const excess = x * b - y * a;
  const logFront =
    a * logDeviance((x / a) * (a + b), excess / a) +
    b * logDeviance((y / b) * (a + b), -excess / b) +
    0.5 * log((a / (a + b)) * b) -
    HALF_LOG_TWO_PI +
    stirlingError(a + b) -
    stirlingError(a) -
    stirlingError(b);
  if (x < (a + 1) / (a + b + 2)) return (exp(logFront) * betaFraction(a, b, x)) / a;
  return 1 - (exp(logFront) * betaFraction(b, a, y)) / b;
}

/** P(|X| > |t|) for X Student's t with df degrees of freedom. */
export function studentTwoSidedTail(t: number, df: number): number {
  const square = t * t;
  return betaRegularised(df / (df + square), df / 2, 0.5, square / (df + square));
}

/** P(X ≥ k) for X binomial (n, p). */
export function binomialUpperTail(k: number, n: number, p: number): number {
  if (k <= 0) return 1;
  if (k > n) return 0;
  return betaRegularised(p, k, n - k + 1);
}

/**
 * x with I_x(a, b) = p, by bisection on the smaller tail: exact to the last bits, and it never gets lost, whereas
 * Newton's method needs care.
 */
export function betaQuantile(p: number, a: number, b: number): number {
  const isBelow = (x: number) =>
    p <= 0.5 ? betaRegularised(x, a, b) < p : betaRegularised(1 - x, b, a, x) > 1 - p;
  let low = 0;
  let high = 1;
  for (let i = 0; i < MAX_BISECTIONS; i++) {
    const middle = (low + high) / 2;
    if (middle === low || middle === high) break;
    if (isBelow(middle)) low = middle;
    else high = middle;
  }
  return (low + high) / 2;
}
