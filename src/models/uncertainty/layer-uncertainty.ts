/**
 * How uncertain the curves of a held network are. Its logits are z_t = φ_tᵀθ + what the network below adds, with φ the
 * features, the groups and their offsets by block, and the free bins of the baseline. The penalised information of θ is
 * kept as its Cholesky factor L, an arrow (training/solve/algebra/arrow.ts). By the delta method the cumulative hazard
 * Λ(t) = Σ log(1 + exp z) has the variance |L⁻¹ g(t)|², g(t) = Σ_{s ≤ t} h_s φ_s, and its logarithm that over Λ(t)².
 * With the priors in the information this is a posterior variance: it knows of shrinkage, not of terms that φ lacks.
 */
import { log } from "../../core/elementary.ts";
import { type CholeskyFactor, invertLower } from "../../core/linear-algebra.ts";
import { chanceOf, type HeldSpec } from "../networks/held.ts";

/** The factor, and what its entries are of. Triangles are packed row by row. */
export interface LayerUncertainty {
  readonly kind: "layer";
  /** The first columns of x have a slope. */
  readonly dense: number;
  /** The last columns of x, and after them the chances of membership, have a level and an offset in each block. */
  readonly shaped: number;
  /** The free bin of each bin, counted from 0 over all blocks. */
  readonly bins: readonly number[]; // [T]
  /** Of the border, [dense, shaped], once the blocks are eliminated. */
  readonly border: readonly number[]; // [C(C+1)/2]
  /** Of the blocks [free bins, shaped], one after the other. */
  readonly blocks: readonly number[]; // Σ_b Q(Q+1)/2
  /** L⁻¹ of what each block has in common with the border. */
  readonly cross: readonly number[]; // Σ_b [Q,C]
}

/** What the sizes of a factor follow from. */
type FactorShape = Pick<LayerUncertainty, "dense" | "shaped" | "bins">;

/** How many numbers each part of the factor has. */
export function factorSizes(
  { dense, shaped, bins }: FactorShape,
  lastBins: readonly number[], // [B]
): { readonly border: number; readonly blocks: number; readonly cross: number } {
  const C = dense + shaped;
  const sizes = countBins(bins, lastBins).map((own) => own + shaped);
  return {
    border: triangle(C),
    blocks: sizes.reduce((sum, Q) => sum + triangle(Q), 0),
    cross: sizes.reduce((sum, Q) => sum + Q * C, 0),
  };
}

/** Whether free bins are counted from 0 in order, and none reaches over the end of a block. */
export function binsFit(bins: readonly number[], lastBins: readonly number[]): boolean {
  return (
    bins.length === lastBins[lastBins.length - 1] &&
    bins[0] === 0 &&
    bins.every((own, t) => t === 0 || own === bins[t - 1] || own === bins[t - 1] + 1) &&
    lastBins.slice(0, -1).every((last) => bins[last] === bins[last - 1] + 1)
  );
}

function triangle(D: number): number {
  return (D * (D + 1)) / 2;
}

/** Free bins of each block. */
function countBins(bins: readonly number[], lastBins: readonly number[]): number[] {
  return lastBins.map((last, b) => bins[last - 1] - (b === 0 ? -1 : bins[lastBins[b - 1] - 1]));
}

/** A lower triangle, row by row. */
export function packLower({ D, lower }: CholeskyFactor): Float64Array {
  const packed = new Float64Array(triangle(D));
  for (let j = 0, at = 0; j < D; j++) for (let k = 0; k <= j; k++) packed[at++] = lower[j * D + k];
  return packed;
}

function unpackLower(packed: readonly number[], from: number, D: number): CholeskyFactor {
  const lower = new Float64Array(D * D);
  for (let j = 0, at = from; j < D; j++) for (let k = 0; k <= j; k++) lower[j * D + k] = packed[at++];
  const kept = Uint8Array.from({ length: D }, (_, j) => (lower[j * D + j] > 0 ? 1 : 0));
  return { D, lower, kept, rank: kept.reduce((sum, one) => sum + one, 0) };
}

/** What a parameter of a block adds to L⁻¹ g: rows by parameter. */
interface BlockRows {
  readonly bins: number;
  readonly size: number;
  readonly own: Float64Array; // [Q,Q]
  readonly atBorder: Float64Array; // [Q,C]
}

function readBlocks(
  uncertainty: LayerUncertainty,
  lastBins: readonly number[],
  ofBorder: Float64Array,
): BlockRows[] {
  const { dense, shaped, bins, blocks, cross } = uncertainty;
  const C = dense + shaped;
  let [triangles, crosses] = [0, 0];
  return countBins(bins, lastBins).map((count) => {
    const Q = count + shaped;
    const inverse = invertLower(unpackLower(blocks, triangles, Q));
    const own = new Float64Array(Q * Q);
    const common = new Float64Array(Q * C); // (L_b⁻¹)ᵀ cross
    for (let q = 0; q < Q; q++) {
      for (let p = 0; p <= q; p++) {
        const entry = inverse[q * Q + p];
        own[p * Q + q] = entry;
        for (let c = 0; c < C; c++) common[p * C + c] += entry * cross[crosses + q * C + c];
      }
    }
    const atBorder = new Float64Array(Q * C);
    for (let q = 0; q < Q; q++) {
      for (let c = 0; c < C; c++) {
        let sum = 0;
        for (let k = 0; k <= c; k++) sum += ofBorder[c * C + k] * common[q * C + k];
        atBorder[q * C + c] = -sum;
      }
    }
    triangles += triangle(Q);
    crosses += Q * C;
    return { bins: count, size: Q, own, atBorder };
  });
}

/** Standard errors of log Λ(t) of people: `x` [N,D] and their curves [N,T]. */
export type LogHazardErrors = (x: ArrayLike<number>, survival: Float32Array | Float64Array) => Float64Array; // [N,T]

/**
 * The same as vectors, at the last time: L⁻¹ g(T) / Λ(T) of each person. Their lengths are the errors, and the length
 * of a difference is the error of a difference.
 */
export type LogHazardSlopes = (
  x: ArrayLike<number>,
  survival: Float32Array | Float64Array,
) => readonly Float64Array[]; // [N][parameters]

/** What is seen on the way through a person's bins: L⁻¹ g(t), in parts that are orthogonal. */
interface PersonWalk {
  /** At each bin |L⁻¹ g(t)|². */
  readonly bin?: (at: number, square: number) => void;
  /** At the end of each block its own part of the vector, and at the last one the border's. */
  readonly part?: (part: Float64Array) => void;
}

type WalkPerson = (
  x: ArrayLike<number>,
  survival: Float32Array | Float64Array,
  n: number,
  walk: PersonWalk,
) => void;

/** `membership` as in a held network's parameters; empty without chances. */
function prepareWalk(
  uncertainty: LayerUncertainty,
  spec: HeldSpec,
  membership: readonly number[],
): WalkPerson {
  const { D, T, blocks: lastBins, chances } = spec;
  const { dense, shaped, bins } = uncertainty;
  const C = dense + shaped;
  const ofBorder = invertLower(unpackLower(uncertainty.border, 0, C));
  const blocks = readBlocks(uncertainty, lastBins, ofBorder);
  const inputs = new Float64Array(D);
  const columns = new Float64Array(C);
  const level = new Float64Array(C);
  const border = new Float64Array(C);
  const own = new Float64Array(Math.max(...blocks.map(({ size }) => size)));
  const told = shaped - (shaped > 0 ? chances : 0);

  function openPerson(x: ArrayLike<number>, from: number): void {
    for (let j = 0; j < D; j++) inputs[j] = x[from + j];
    for (let j = 0; j < dense; j++) columns[j] = inputs[j];
    for (let s = 0; s < shaped; s++)
      columns[dense + s] = s < told ? inputs[D - told + s] : chanceOf(inputs, membership, s - told, D);
    for (let c = 0; c < C; c++) {
      level[c] = 0;
      for (let k = 0; k <= c; k++) level[c] += ofBorder[c * C + k] * columns[k];
    }
  }

  return (x, survival, n, { bin, part }) => {
    openPerson(x, n * D);
    border.fill(0);
    let ended = 0;
    for (let b = 0, t = 0, free = 0; b < blocks.length; free += blocks[b++].bins) {
      const { block, reached } = shapeBlock(blocks[b], level, columns.subarray(dense));
      const Q = blocks[b].size;
      own.fill(0, 0, Q);
      let squares = 0;
      for (; t < lastBins[b]; t++) {
        const at = n * T + t;
        const hazard = hazardOf(survival, at, t);
        const m = bins[t] - free;
        squares = 0;
        for (let q = 0; q < Q; q++) {
          own[q] += hazard * (block[q] + blocks[b].own[m * Q + q]);
          squares += own[q] * own[q];
        }
        let common = 0;
        for (let c = 0; c < C; c++) {
          border[c] += hazard * (reached[c] + blocks[b].atBorder[m * C + c]);
          common += border[c] * border[c];
        }
        bin?.(at, ended + squares + common);
      }
      ended += squares;
      part?.(own.subarray(0, Q));
    }
    part?.(border);
  };
}

/** As `prepareWalk`. Before the first risk and after the last survivor a curve has no logarithm to be uncertain of. */
export function prepareLayerErrors(
  uncertainty: LayerUncertainty,
  spec: HeldSpec,
  membership: readonly number[],
): LogHazardErrors {
  const walkPerson = prepareWalk(uncertainty, spec, membership);
  return (x, survival) => {
    const errors = new Float64Array(survival.length);
    const bin = (at: number, square: number) => {
      const cumulative = -log(survival[at]);
      if (cumulative > 0 && cumulative < Number.POSITIVE_INFINITY)
        errors[at] = Math.sqrt(square) / cumulative;
    };
    for (let n = 0; n * spec.T < survival.length; n++) walkPerson(x, survival, n, { bin });
    return errors;
  };
}

/** As `prepareWalk`; for people whose curves end between 0 and 1. */
export function prepareLayerSlopes(
  uncertainty: LayerUncertainty,
  spec: HeldSpec,
  membership: readonly number[],
): LogHazardSlopes {
  const walkPerson = prepareWalk(uncertainty, spec, membership);
  return (x, survival) =>
    Array.from({ length: survival.length / spec.T }, (_, n) => {
      const parts: number[] = [];
      walkPerson(x, survival, n, { part: (part) => parts.push(...part) });
      const cumulative = -log(survival[(n + 1) * spec.T - 1]);
      return Float64Array.from(parts, (one) => one / cumulative);
    });
}

function hazardOf(survival: Float32Array | Float64Array, at: number, t: number): number {
  const before = t === 0 ? 1 : survival[at - 1];
  return before > 0 ? 1 - survival[at] / before : 0;
}

/** What a person's level and offsets add in a block: to the block's own part, and to the border's. */
function shapeBlock(
  { bins, size: Q, own, atBorder }: BlockRows,
  level: Float64Array, // [C]
  shaped: Float64Array,
): { readonly block: Float64Array; readonly reached: Float64Array } {
  const C = level.length;
  const block = new Float64Array(Q);
  const reached = level.slice();
  shaped.forEach((value, s) => {
    if (value === 0) return;
    const row = bins + s;
    for (let q = 0; q < Q; q++) block[q] += value * own[row * Q + q];
    for (let c = 0; c < C; c++) reached[c] += value * atBorder[row * C + c];
  });
  return { block, reached };
}
