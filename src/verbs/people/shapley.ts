/**
 * Shapley values of a game between one person and a background of others (interventional, as Štrumbelj and Kononenko
 * 2014 and Lundberg and Lee 2017 define them): v_b(S) is the prediction for a row with the person's cells in the
 * columns of S and those of background row b elsewhere, and
 *   φ_j = mean over b of Σ_S |S|! (k − |S| − 1)! / k! · (v_b(S + j) − v_b(S)).
 * Columns in which b and the person agree move nothing, so only the k others are played. All 2^k subsets are computed
 * where that is cheap. Where it is not, orders of the columns are drawn in antithetic pairs, an order and its reverse.
 * Every b has the same weight, so that the sum over columns is exact then too; only its division carries a sampling
 * error, which the pairs of each b show.
 */
import { square } from "../../core/elementary.ts";
import { createRandom, type Random, shuffle } from "../../core/random.ts";

/** One person against the rows of a background; a coalition is the players whose cells are the person's. */
export interface Game {
  /** How many numbers a prediction has. */
  readonly outputs: number; // Q
  /** For background row b the players that differ from the person. */
  readonly differing: readonly (readonly number[])[]; // [B][k]
  /** The predictions of composed rows; `coalitions` [C,k] has 1 for each differing player that is in it. */
  evaluate(b: number, coalitions: Uint8Array): Promise<Float64Array>; // [C,Q]
}

/** What each player contributes to each number of the prediction. */
export interface Contributions {
  readonly values: Float64Array; // [players,Q]
  /** 0 where every subset was computed. */
  readonly standardErrors: Float64Array; // [players,Q]
  /** v of nobody, the mean over the background. */
  readonly baseline: Float64Array; // [Q]
  /** Background rows whose orders were drawn, and the drawn pairs of the one with most. */
  readonly sampled: { readonly rows: number; readonly pairs: number };
}

export interface ShapleyOptions {
  readonly seed: number;
  /** Composed rows that may be computed in all. */
  readonly budget: number;
}

/** Fewer pairs than this do not show how much they differ. */
const FEWEST_PAIRS = 2;
/** More columns than this are never enumerated: subsets are counted in 32 bits. */
const MOST_ENUMERATED = 20;
/** Streams of the seed below this draw the background. */
const FIRST_STREAM = 1;

/** `everyone` is the prediction [Q] for the person's own row. */
export async function shapleyValues(
  game: Game,
  players: number,
  everyone: Float64Array,
  { seed, budget }: ShapleyOptions,
): Promise<Contributions> {
  const { outputs: Q, differing } = game;
  const B = differing.length;
  const each = Math.floor(budget / B);
  const values = new Float64Array(players * Q);
  const variances = new Float64Array(players * Q);
  const baseline = new Float64Array(Q);
  const sampled = { rows: 0, pairs: 0 };
  for (let b = 0; b < B; b++) {
    const own = differing[b];
    const k = own.length;
    const pairs = Math.max(FEWEST_PAIRS, Math.floor(each / (2 * k)));
    const isEnumerated = k <= MOST_ENUMERATED && 1 << k <= Math.max(each, 2 * k * FEWEST_PAIRS);
    const played: Played =
      k === 0
        ? { nobody: everyone, values: new Float64Array(), variances: new Float64Array() }
        : isEnumerated
          ? await playEverySubset(game, b)
          : await playOrders(game, b, pairs, createRandom(seed, FIRST_STREAM + b));
    if (k > 0 && !isEnumerated) {
      sampled.rows++;
      sampled.pairs = Math.max(sampled.pairs, pairs);
    }
    for (let q = 0; q < Q; q++) baseline[q] += played.nobody[q] / B;
    own.forEach((player, i) => {
      for (let q = 0; q < Q; q++) {
        values[player * Q + q] += played.values[i * Q + q] / B;
        variances[player * Q + q] += played.variances[i * Q + q] / (B * B);
      }
    });
  }
  return { values, standardErrors: variances.map(Math.sqrt), baseline, sampled };
}

/** The game against one background row. */
interface Played {
  readonly nobody: Float64Array; // [Q]
  readonly values: Float64Array; // [k,Q]
  readonly variances: Float64Array; // [k,Q]
}

async function playEverySubset(game: Game, b: number): Promise<Played> {
  const k = game.differing[b].length;
  const Q = game.outputs;
  const subsets = 1 << k;
  const coalitions = new Uint8Array(subsets * k);
  const sizes = new Uint8Array(subsets);
  for (let S = 0; S < subsets; S++) {
    for (let i = 0; i < k; i++) {
      const isIn = (S >> i) & 1;
      coalitions[S * k + i] = isIn;
      sizes[S] += isIn;
    }
  }
  const v = await game.evaluate(b, coalitions);
  const weights = orderShares(k);
  const values = new Float64Array(k * Q);
  for (let S = 0; S < subsets; S++) {
    for (let i = 0; i < k; i++) {
      if (coalitions[S * k + i] === 1) continue;
      const joined = S + (1 << i);
      const weight = weights[sizes[S]];
      for (let q = 0; q < Q; q++) values[i * Q + q] += weight * (v[joined * Q + q] - v[S * Q + q]);
    }
  }
  return { nobody: v.slice(0, Q), values, variances: new Float64Array(k * Q) };
}

/** s! (k − s − 1)! / k!: the share of all orders in which a given set of s players comes right before a given one. */
function orderShares(k: number): Float64Array {
  const shares = new Float64Array(k);
  shares[0] = 1 / k;
  for (let s = 1; s < k; s++) shares[s] = (shares[s - 1] * s) / (k - s);
  return shares;
}

async function playOrders(game: Game, b: number, pairs: number, random: Random): Promise<Played> {
  const k = game.differing[b].length;
  const Q = game.outputs;
  const orders = drawPairs(k, pairs, random);
  // Nobody and everyone stand once at the beginning; each order adds what lies between them.
  const between = k - 1;
  const coalitions = new Uint8Array((2 + orders.length * between) * k);
  coalitions.fill(1, k, 2 * k);
  orders.forEach((order, o) => {
    for (let step = 0; step < between; step++) {
      const at = (2 + o * between + step) * k;
      for (let i = 0; i <= step; i++) coalitions[at + order[i]] = 1;
    }
  });
  const v = await game.evaluate(b, coalitions);
  const moved = Array.from({ length: pairs }, () => new Float64Array(k * Q));
  orders.forEach((order, o) => {
    const own = moved[o >> 1];
    for (let step = 0; step < k; step++) {
      const before = step === 0 ? 0 : 2 + o * between + step - 1;
      const after = step === between ? 1 : 2 + o * between + step;
      for (let q = 0; q < Q; q++) own[order[step] * Q + q] += (v[after * Q + q] - v[before * Q + q]) / 2;
    }
  });
  const values = new Float64Array(k * Q);
  for (const own of moved) {
    own.forEach((value, c) => {
      values[c] += value / pairs;
    });
  }
  const variances = new Float64Array(k * Q);
  for (const own of moved) {
    own.forEach((value, c) => {
      variances[c] += square(value - values[c]) / (pairs - 1) / pairs;
    });
  }
  return { nobody: v.slice(0, Q), values, variances };
}

/** Orders of k players: at 2p one that was drawn, at 2p + 1 its reverse. */
function drawPairs(k: number, pairs: number, random: Random): readonly Int32Array[] {
  return Array.from({ length: pairs }, () => {
    const order = Int32Array.from({ length: k }, (_, i) => i);
    shuffle(order, random);
    return [order, order.toReversed()];
  }).flat();
}
