/**
 * How well features tell who is in a group: a logistic regression of membership, fitted by Newton's method on one
 * cohort, and the area under its ROC curve on another. Features are encoded as the product's models see them, medians
 * in place of missing values.
 */
import { exp, factorCholesky, log1p, solveCholesky } from "graduate-survival/core";
import { encode, fitEncoder, type Table } from "graduate-survival/data";

/** A small ridge, in rows: it keeps the coefficients finite where the features tell members apart without fail. */
const RIDGE = 1e-3;
const MAX_STEPS = 50;
/** Newton stops when the next step promises less than this, in nats. */
const LEAST_GAIN = 1e-4;
/** A pivot below this share of its diagonal entry means that a column repeats those before it. */
const ALIASED_PIVOT = 1e-10;

/** x [N,D] and who is a member; returns the intercept and D coefficients. */
export function fitLogistic(x: Float64Array, D: number, member: ArrayLike<number>): Float64Array {
  const W = D + 1;
  let beta = new Float64Array(W);
  let current = evaluate(x, D, member, beta);
  for (let steps = 0; steps < MAX_STEPS; steps++) {
    const { information, score, value } = current;
    const pivots = Float64Array.from({ length: W }, (_, j) => ALIASED_PIVOT * information[j * W + j]);
    const step = solveCholesky(factorCholesky(information, W, pivots), score);
    const gain = step.reduce((sum, one, j) => sum + one * score[j], 0) / 2;
    if (gain < LEAST_GAIN) break;
    let size = 1;
    let next = current;
    do {
      const candidate = beta.map((one, j) => one + size * step[j]);
      next = evaluate(x, D, member, candidate);
      if (next.value > value) beta = candidate;
      size /= 2;
    } while (!(next.value > value) && size > 1e-6);
    if (!(next.value > value)) break;
    current = next;
  }
  return beta;
}

/** The log-likelihood with the ridge, its score and its information (lower triangle). */
function evaluate(x: Float64Array, D: number, member: ArrayLike<number>, beta: Float64Array) {
  const W = D + 1;
  const score = beta.map((one) => -RIDGE * one);
  const information = new Float64Array(W * W);
  for (let j = 0; j < W; j++) information[j * W + j] = RIDGE;
  let value = -(RIDGE / 2) * beta.reduce((sum, one) => sum + one * one, 0);
  const row = new Float64Array(W);
  row[0] = 1;
  for (let i = 0; i < member.length; i++) {
    row.set(x.subarray(i * D, (i + 1) * D), 1);
    let logit = 0;
    for (let j = 0; j < W; j++) logit += beta[j] * row[j];
    const signed = member[i] === 1 ? logit : -logit;
    value -= signed > 0 ? log1p(exp(-signed)) : log1p(exp(signed)) - signed;
    const p = 1 / (1 + exp(-logit));
    const gap = (member[i] === 1 ? 1 : 0) - p;
    const weight = p * (1 - p);
    for (let j = 0; j < W; j++) {
      score[j] += gap * row[j];
      const scaled = weight * row[j];
      for (let k = 0; k <= j; k++) information[j * W + k] += scaled * row[k];
    }
  }
  return { value, score, information };
}

/** The chance that a member scores higher than somebody else; ties count half. */
export function areaUnderRoc(scores: Float64Array, member: ArrayLike<number>): number {
  const order = Int32Array.from(scores.keys()).sort((a, b) => scores[a] - scores[b]);
  let members = 0;
  let ranks = 0;
  for (let from = 0; from < order.length; ) {
    let to = from;
    while (to < order.length && scores[order[to]] === scores[order[from]]) to++;
    const rank = (from + to + 1) / 2;
    for (let k = from; k < to; k++) {
      if (member[order[k]] !== 1) continue;
      members++;
      ranks += rank;
    }
    from = to;
  }
  return (ranks - (members * (members + 1)) / 2) / (members * (order.length - members));
}

/** People, and who of them is in the group. */
export interface Membership {
  readonly table: Table;
  readonly member: ArrayLike<number>; // [rows]
}

/** The area on `judged` of a regression on the features, fitted on `fitted`. */
export function membershipArea(fitted: Membership, judged: Membership, features: readonly string[]): number {
  const encoder = fitEncoder(fitted.table, { features, reference: "drop", unknownLevels: "allow" });
  const { values, D } = encode(encoder, fitted.table);
  const beta = fitLogistic(values, D, fitted.member);
  const { values: x, N } = encode(encoder, judged.table);
  const scores = Float64Array.from({ length: N }, (_, i) => {
    let sum = 0;
    for (let j = 0; j < D; j++) sum += beta[j + 1] * x[i * D + j];
    return sum;
  });
  return areaUnderRoc(scores, judged.member);
}
