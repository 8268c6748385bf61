/**
 * Tail probabilities and quantiles of the normal, chi-square, t and beta distributions, as upper tails computed as such
 * (never 1 − cdf) and as logarithms where they underflow. Built on the regularised incomplete gamma and beta
 * functions: series where they converge, Lentz continued fractions elsewhere (Press et al., Numerical Recipes §6.1-6.4).
 * Checked against R's pchisq, pnorm, pt, qnorm and qbeta in test/core/distributions.test.ts.
 */

/** Relative change at which series and fractions stop: a few units in the last place. */
const CONVERGED = 1e-16;
/** Keeps Lentz denominators away from zero. */
const TINY = 1e-300;
const MAX_TERMS = 100_000;
const HALF_LOG_TWO_PI = 0.918938533204672741780329736406;

/** Stirling's series is accurate to 1e-17 from here on. */
const STIRLING_FROM = 15;

/** log Γ(x), x > 0: recurrence up to Stirling's range, then the asymptotic series. */
export function logGamma(x: number): number {
  let shift = 1;
  let z = x;
  while (z < STIRLING_FROM) {
    shift *= z;
    z += 1;
  }
  const r = 1 / (z * z);
  const series =
    (1 / 12 - r * (1 / 360 - r * (1 / 1260 - r * (1 / 1680 - r * (1 / 1188 - r * (691 / 360360 - r / 156)))))) / z;
  return (z - 0.5) * Math.log(z) - z + HALF_LOG_TWO_PI + series - Math.log(shift);
}

/** log of x^a e^−x / Γ(a), the factor in front of both expansions. */
function logGammaFactor(a: number, x: number): number {
  return a * Math.log(x) - x - logGamma(a);
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

function gammaFraction(a: number, x: number): number {
  let b = x + 1 - a;
  let c = 1 / TINY;
  let d = 1 / b;
  let h = d;
  for (let i = 1; i < MAX_TERMS; i++) {
    const an = -i * (i - a);
    b += 2;
    d = an * d + b;
    if (Math.abs(d) < TINY) d = TINY;
    c = b + an / c;
    if (Math.abs(c) < TINY) c = TINY;
    d = 1 / d;
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
  if (x < a + 1) return Math.log1p(-Math.exp(factor + Math.log(gammaSeries(a, x))));
  return factor + Math.log(gammaFraction(a, x));
}

/** log P(X > x) for X chi-square with df degrees of freedom. */
export function logChiSquareUpperTail(x: number, df: number): number {
  return logGammaUpper(df / 2, x / 2);
}

/** P(X > x) for X chi-square with df degrees of freedom. */
export function chiSquareUpperTail(x: number, df: number): number {
  return Math.exp(logChiSquareUpperTail(x, df));
}

/** P(Z > z) for standard normal Z. */
export function normalUpperTail(z: number): number {
  const half = 0.5 * chiSquareUpperTail(z * z, 1);
  return z >= 0 ? half : 1 - half;
}

/** z with P(Z ≤ z) = p: a rational start (Abramowitz & Stegun 26.2.23), then Newton steps on the tail's logarithm. */
export function normalQuantile(p: number): number {
  if (!(p > 0 && p < 1)) return p === 0 ? Number.NEGATIVE_INFINITY : p === 1 ? Number.POSITIVE_INFINITY : Number.NaN;
  const tail = Math.min(p, 1 - p);
  if (tail === 0.5) return 0;
  const t = Math.sqrt(-2 * Math.log(tail));
  let z = t - (2.515517 + t * (0.802853 + t * 0.010328)) / (1 + t * (1.432788 + t * (0.189269 + t * 0.001308)));
  for (let i = 0; i < 6; i++) {
    const upper = normalUpperTail(z);
    const density = Math.exp(-0.5 * z * z - HALF_LOG_TWO_PI);
    z += (Math.log(upper / tail) * upper) / density;
  }
  return p < 0.5 ? -z : z;
}

function betaFraction(a: number, b: number, x: number): number {
  let c = 1;
  let d = 1 - ((a + b) * x) / (a + 1);
  if (Math.abs(d) < TINY) d = TINY;
  d = 1 / d;
  let h = d;
  for (let m = 1; m < MAX_TERMS; m++) {
    const even = (m * (b - m) * x) / ((a + 2 * m - 1) * (a + 2 * m));
    d = 1 + even * d;
    if (Math.abs(d) < TINY) d = TINY;
    c = 1 + even / c;
    if (Math.abs(c) < TINY) c = TINY;
    d = 1 / d;
    h *= d * c;
    const odd = (-(a + m) * (a + b + m) * x) / ((a + 2 * m) * (a + 2 * m + 1));
    d = 1 + odd * d;
    if (Math.abs(d) < TINY) d = TINY;
    c = 1 + odd / c;
    if (Math.abs(c) < TINY) c = TINY;
    d = 1 / d;
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
  const logFront = a * Math.log(x) + b * Math.log(y) + logGamma(a + b) - logGamma(a) - logGamma(b);
  if (x < (a + 1) / (a + b + 2)) return (Math.exp(logFront) * betaFraction(a, b, x)) / a;
  return 1 - (Math.exp(logFront) * betaFraction(b, a, y)) / b;
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

/** x with I_x(a, b) = p, by bisection: exact to the last bits and never lost, where Newton needs care. */
export function betaQuantile(p: number, a: number, b: number): number {
  let low = 0;
  let high = 1;
  for (let i = 0; i < 1100 && low < high; i++) {
    const middle = (low + high) / 2;
    if (middle === low || middle === high) break;
    if (betaRegularised(middle, a, b) < p) low = middle;
    else high = middle;
  }
  return (low + high) / 2;
}
