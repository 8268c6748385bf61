/**
 * Bounds on ‖E[Ŝ|g] − S_g‖ for large groups, by a multiplier bootstrap of the influence of each row on Δ = mean curve −
 * KM: with n rows in the group, hazards ĥ = e/k, and indicators Y (at risk) and dN (event),
 *   IF_i(t) = (Ŝ(t|x_i) − m(t)) + KM(t) Σ_{s≤t} n (dN_is − Y_is ĥ_s) / (k_s (1 − ĥ_s))
 *   Z_g(t) = Σ_i w_i IF_i(t) / n,  w_i = ±1 by a fair coin, one per row and draw, shared by all groups
 *   U_g = ‖Δ̂_g‖ + q s_g,  s_g² = mean_t Σ_i IF_i(t)²/n²,  q the 1 − α quantile over draws of max_g ‖Z_g‖/s_g
 * ‖·‖ is the root mean square over 1…τ_g. The signs of a row over the draws are a column of a Hadamard matrix, drawn at
 * random and with a random sign: within a draw the signs are independent coins, different draws are uncorrelated, and a
 * fast transform computes all of them at the cost of a few, so there can be thousands. Where people have several rows,
 * there is one coin per person, and s_g² sums the squares of people's influences, each the sum over their rows.
 */
import { square } from "../../core/elementary.ts";
import { present } from "../../core/present.ts";
import { createRandom } from "../../core/random.ts";
import type { Curves } from "../../data/curves/curves.ts";
import type { BinnedRightCensored } from "../../data/outcomes/outcomes.ts";
import { groupByPerson, type People } from "../../data/outcomes/people.ts";
import type { BinnedKaplanMeier } from "../kaplan-meier.ts";
import { quantile } from "../scores/bootstrap.ts";
import type { CertifyOptions } from "./certificates.ts";

export interface TightGroup {
  readonly rows: ArrayLike<number>;
  readonly mean: ArrayLike<number>; // [T+1]
  readonly km: BinnedKaplanMeier;
  /** τ_g. */
  readonly last: number;
}

export interface TightBounds {
  /** The quantile q of the largest standardised ‖Z‖. */
  readonly quantile: number;
  readonly groups: readonly Readonly<Record<"distance" | "scale" | "upper", number>>[];
}

/** Keeps this stream apart from those of the noise floor and the bootstrap under the same seed. */
const SIGN_STREAM = 0x43000000;

/**
 * The signs of every row in every draw: w_ib = σ_i H[b, k_i], σ_i = ±1 and k_i drawn by seed, H[b, k] = (−1)^(bits that
 * b and k share).
 */
export interface RowSigns {
  /** A power of two. */
  readonly draws: number;
  readonly sign: Int8Array; // [N], σ
  readonly column: Int32Array; // [N], k
  /** The person of each row, where people have several: a person's rows have the same sign. */
  readonly people?: People;
}

export function drawSigns(N: number, draws: number, seed: number, people?: People): RowSigns {
  const random = createRandom(seed, SIGN_STREAM);
  const units = people?.count ?? N;
  const sign = new Int8Array(units);
  const column = new Int32Array(units);
  for (let unit = 0; unit < units; unit++) {
    // One number gives both: the last bit the sign, the others the column.
    const drawn = random.integer(2 * draws);
    sign[unit] = (drawn & 1) === 1 ? 1 : -1;
    column[unit] = drawn >>> 1;
  }
  if (people === undefined) return { draws, sign, column };
  return {
    draws,
    sign: Int8Array.from(people.of, (person) => sign[person]),
    column: people.of.map((person) => column[person]),
    people,
  };
}

export function createInfluence(
  curves: Curves,
  outcomes: BinnedRightCensored,
  group: TightGroup,
): WriteInfluence {
  const { rows, mean, km, last } = group;
  const n = rows.length;
  const jump = new Float64Array(last + 1); // n / (k (1 − ĥ))
  const drift = new Float64Array(last + 1); // Σ_{s≤t} ĥ_s jump_s
  for (let t = 1; t <= last; t++) {
    // Once nobody is left, Kaplan-Meier stays where it is; at 0 the factor KM(t) cancels the whole sum.
    const left = km.atRisk[t] - km.events[t];
    jump[t] = left > 0 ? n / left : 0;
    drift[t] = drift[t - 1] + km.hazard[t] * jump[t];
  }
  const { T, survival } = curves;
  return (row: number, out: Float64Array, offset: number): void => {
    const own = outcomes.bin[row];
    const start = row * T - 1;
    const until = Math.min(own - 1, last);
    for (let t = 1; t <= until; t++) {
      out[offset + t - 1] = survival[start + t] - mean[t] - km.survival[t] * drift[t];
    }
    if (own > last) return;
    const rest = (outcomes.event[row] === 1 ? jump[own] : 0) - drift[own];
    for (let t = own; t <= last; t++) {
      out[offset + t - 1] = survival[start + t] - mean[t] + km.survival[t] * rest;
    }
  };
}

/** Writes the influence of one row at t = 1…last to out[offset …]. */
export type WriteInfluence = (row: number, out: Float64Array, offset: number) => void;

/** ‖Z_g‖ of every draw, and s_g. */
export interface DrawnNorms {
  readonly norms: Float64Array; // [draws]
  readonly scale: number;
}

/** The draws of a group's mean curve less Kaplan-Meier. */
export function drawNorms(
  curves: Curves,
  outcomes: BinnedRightCensored,
  group: TightGroup,
  signs: RowSigns,
): DrawnNorms {
  return drawInfluences(group, createInfluence(curves, outcomes, group), signs);
}

/** The draws of any gap whose influences are known, over t = 1…last; their sum over the rows is 0. */
export function drawInfluences(
  { rows, last: L }: Pick<TightGroup, "rows" | "last">,
  writeInfluence: WriteInfluence,
  { draws, sign, column, people }: RowSigns,
): DrawnNorms {
  const n = rows.length;
  const influence = new Float64Array(L);
  const ofRow = new Float64Array(L);
  const sums = new Float64Array(draws * L); // [column, t], then [draw, t]
  let squares = 0;
  // A person's rows follow one another: each person's influence is squared once it is complete.
  for (const own of people === undefined ? singly(rows) : groupByPerson(people, rows)) {
    influence.fill(0);
    for (const row of own) {
      writeInfluence(row, ofRow, 0);
      for (let t = 0; t < L; t++) influence[t] += ofRow[t];
    }
    const to = column[own[0]] * L;
    const s = sign[own[0]];
    for (let t = 0; t < L; t++) {
      squares += influence[t] * influence[t];
      sums[to + t] += s * influence[t];
    }
  }
  transformHadamard(sums, draws, L);
  const norms = new Float64Array(draws);
  for (let draw = 0; draw < draws; draw++) {
    let sum = 0;
    for (let t = 0; t < L; t++) sum += square(sums[draw * L + t]);
    norms[draw] = Math.sqrt(sum / L) / n;
  }
  return { norms, scale: Math.sqrt(squares / L) / n };
}

/** Treats each row as a person of its own. */
function* singly(rows: ArrayLike<number>): Generator<readonly [number]> {
  for (let i = 0; i < rows.length; i++) yield [rows[i]];
}

/** values[b] ← Σ_k H[b, k] values[k], for blocks of `size` numbers. */
function transformHadamard(values: Float64Array, count: number, size: number): void {
  for (let half = 1; half < count; half *= 2) {
    const reach = half * size;
    for (let block = 0; block < count * size; block += 2 * reach) {
      for (let i = block; i < block + reach; i++) {
        const first = values[i];
        const second = values[i + reach];
        values[i] = first + second;
        values[i + reach] = first - second;
      }
    }
  }
}

/** Upper bounds that hold together for all groups with probability about 1 − α. */
export function boundByMultipliers(
  curves: Curves,
  outcomes: BinnedRightCensored,
  groups: readonly TightGroup[],
  options: Required<Pick<CertifyOptions, "alpha" | "draws" | "seed">> &
    Pick<CertifyOptions, "people" | "onProgress">,
): TightBounds {
  const { alpha, draws, seed, people, onProgress } = options;
  const signs = drawSigns(curves.N, draws, seed, people);
  return boundTogether(
    groups.map(({ mean, km, last }) => rootGap(mean, km.survival, last)),
    (g) => drawNorms(curves, outcomes, groups[g], signs),
    { alpha, draws, ...present({ onProgress }) },
  );
}

/** U_g = distance + q s_g for all groups together; `draw` makes the draws of one of them. */
export function boundTogether(
  distances: readonly number[],
  draw: (g: number) => DrawnNorms,
  {
    alpha,
    draws,
    onProgress,
  }: Required<Pick<CertifyOptions, "alpha" | "draws">> & Pick<CertifyOptions, "onProgress">,
): TightBounds {
  const largest = new Float64Array(draws);
  const scales = distances.map((_, g) => {
    onProgress?.(g, distances.length);
    const { norms, scale } = draw(g);
    if (scale > 0) {
      for (let k = 0; k < draws; k++) largest[k] = Math.max(largest[k], norms[k] / scale);
    }
    return scale;
  });
  onProgress?.(distances.length, distances.length);
  const q = quantile(largest, 1 - alpha);
  return {
    quantile: q,
    groups: distances.map((distance, g) => ({
      distance,
      scale: scales[g],
      upper: distance + q * scales[g],
    })),
  };
}

/** √ of the mean over 1…last of (first − second)². */
export function rootGap(first: ArrayLike<number>, second: ArrayLike<number>, last: number): number {
  let sum = 0;
  for (let t = 1; t <= last; t++) sum += square(first[t] - second[t]);
  return Math.sqrt(sum / last);
}
