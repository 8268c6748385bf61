/**
 * Groups that are held, not told: the model may not see the columns they are made of, so it knows a person only by the
 * chance ŵ(x) = P(group | x) that the features give away. A logistic regression with a ridge, cross-fitted in five
 * parts: the rows of a solve get the chance that a fit to the other rows gives, so that nobody's own membership is in
 * it. What the features give away is said beside it: the area under the curve, and the share of the variance of
 * membership.
 */
import { exp, log1p, square } from "../../core/elementary.ts";
import {
  addOuter,
  createOuterSum,
  factorCholesky,
  flushOuter,
  solveCholesky,
} from "../../core/linear-algebra.ts";

export interface Membership {
  /** Slopes of the features, then the level: a row of held.membership over the first columns of x. */
  readonly coefficients: Float64Array; // [columns + 1]
  /** The chance of every row, from a fit to the others. */
  readonly chances: Float64Array; // [N]
  /** The chance that a member has the higher score than one who is not. */
  readonly auc: number;
  /** The share of the variance of membership that the chances explain. */
  readonly explained: number;
  /** The features that give most away, strongest first. */
  readonly strongest: readonly Tell[];
}

/** What one feature says of membership. */
export interface Tell {
  readonly column: number;
  /** Log-odds of membership for a standard deviation of the feature. */
  readonly slope: number;
}

/** How many features are named. */
const MOST_TELLS = 5;

const PARTS = 5;
/** The precision of the slopes of standardised features; 1 to 20 tell members alike. */
const RIDGE = 5;
const MOST_STEPS = 30;
const SETTLED = 1e-9;

export interface Features {
  readonly x: Float32Array | Float64Array; // [N,D]
  readonly D: number;
  /** How many of the first columns are looked at. */
  readonly columns: number;
  /** Those of them that are left out: splines, which cost more by their number than they tell. */
  readonly leftOut: readonly number[];
}

export function fitMembership(features: Features, N: number, members: ArrayLike<number>): Membership {
  const isMember = new Uint8Array(N);
  for (let k = 0; k < members.length; k++) isMember[members[k]] = 1;
  const coefficients = fitLogistic(features, isMember, (_) => true);
  const chances = new Float64Array(N);
  for (let part = 0; part < PARTS; part++) {
    const own = fitLogistic(features, isMember, (n) => n % PARTS !== part, coefficients);
    for (let n = part; n < N; n += PARTS) chances[n] = 1 / (1 + exp(-scoreOf(features, n, own)));
  }
  return {
    coefficients,
    chances,
    auc: areaUnderCurve(chances, isMember),
    explained: explain(chances, isMember),
    strongest: rankFeatures(features, N, coefficients),
  };
}

function rankFeatures({ x, D, columns }: Features, N: number, coefficients: Float64Array): Tell[] {
  const tells = Array.from({ length: columns }, (_, column): Tell => {
    let sum = 0;
    let squares = 0;
    for (let n = 0; n < N; n++) {
      sum += x[n * D + column];
      squares += square(x[n * D + column]);
    }
    const sd = Math.sqrt(Math.max(0, squares / N - square(sum / N)));
    return { column, slope: coefficients[column] * sd };
  });
  return tells
    .filter(({ slope }) => slope !== 0)
    .sort((a, b) => Math.abs(b.slope) - Math.abs(a.slope))
    .slice(0, MOST_TELLS);
}

/** The chances of other rows, from the fit to all. */
export function chancesOf(features: Features, N: number, { coefficients }: Membership): Float64Array {
  return Float64Array.from({ length: N }, (_, n) => 1 / (1 + exp(-scoreOf(features, n, coefficients))));
}

function scoreOf({ x, D, columns }: Features, n: number, coefficients: Float64Array): number {
  let sum = coefficients[columns];
  for (let j = 0; j < columns; j++) if (coefficients[j] !== 0) sum += coefficients[j] * x[n * D + j];
  return sum;
}

/** Newton's method with halving on the ridge-penalised likelihood. */
function fitLogistic(
  features: Features,
  isMember: Uint8Array,
  takes: (row: number) => boolean,
  from?: Float64Array,
): Float64Array {
  const { x, D, columns, leftOut } = features;
  const P = columns + 1;
  const isLeftOut = new Set(leftOut);
  const N = isMember.length;
  const loss = (at: Float64Array) => {
    let sum = 0;
    for (let n = 0; n < N; n++) {
      if (!takes(n)) continue;
      const z = scoreOf(features, n, at);
      sum += Math.max(z, 0) + log1p(exp(-Math.abs(z))) - (isMember[n] === 1 ? z : 0);
    }
    for (let j = 0; j < columns; j++) sum += (RIDGE * at[j] * at[j]) / 2;
    return sum;
  };
  let theta: Float64Array = from?.slice() ?? new Float64Array(P);
  let value = loss(theta);
  for (let step = 0; step < MOST_STEPS; step++) {
    const outer = createOuterSum(P);
    const gradient = new Float64Array(P);
    const row = new Float64Array(P);
    row[columns] = 1;
    for (let n = 0; n < N; n++) {
      if (!takes(n)) continue;
      for (let j = 0; j < columns; j++) row[j] = isLeftOut.has(j) ? 0 : x[n * D + j];
      const p = 1 / (1 + exp(-scoreOf(features, n, theta)));
      for (let j = 0; j < P; j++) gradient[j] += (p - isMember[n]) * row[j];
      addOuter(outer, p * (1 - p), row, 0, P);
    }
    flushOuter(outer);
    const matrix = new Float64Array(P * P);
    for (let j = 0; j < P; j++) {
      for (let k = 0; k <= j; k++) matrix[j * P + k] = outer.matrix[j * outer.width + k];
      if (j === columns) continue;
      matrix[j * P + j] += RIDGE;
      gradient[j] += RIDGE * theta[j];
    }
    const move = solveCholesky(factorCholesky(matrix, P, new Float64Array(P)), gradient);
    let size = 1;
    let next = theta.map((one, j) => one - move[j]);
    let after = loss(next);
    for (; !(after <= value) && size > 1e-6; after = loss(next)) {
      size /= 2;
      next = theta.map((one, j) => one - size * move[j]);
    }
    const gained = value - after;
    if (!(gained >= 0)) break;
    theta = next;
    value = after;
    if (gained < SETTLED * (1 + Math.abs(value))) break;
  }
  return theta;
}

/** Half of the ties count. */
export function areaUnderCurve(scores: Float64Array, isMember: Uint8Array): number {
  const order = Array.from(scores.keys()).sort((a, b) => scores[a] - scores[b]);
  let members = 0;
  let sum = 0;
  for (let from = 0; from < order.length; ) {
    let to = from;
    let inside = 0;
    while (to < order.length && scores[order[to]] === scores[order[from]]) inside += isMember[order[to++]];
    sum += inside * ((from + 1 + to) / 2);
    members += inside;
    from = to;
  }
  const others = order.length - members;
  return members === 0 || others === 0 ? 0.5 : (sum - (members * (members + 1)) / 2) / (members * others);
}

function explain(chances: Float64Array, isMember: Uint8Array): number {
  const N = chances.length;
  const share = isMember.reduce((sum, one) => sum + one, 0) / N;
  let left = 0;
  for (let n = 0; n < N; n++) left += square(isMember[n] - chances[n]);
  const all = N * share * (1 - share);
  return all > 0 ? Math.max(0, 1 - left / all) : 0;
}
