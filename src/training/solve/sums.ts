/**
 * Sums over the rows of a solve at given parameters: the negative log-likelihood −ℓ = Σ softplus(z) − y z over the bins
 * at risk, its gradient and information, and for the held groups what the at-risk distance is made of: D_gb = Σ (y −
 * h), V_gb = Σ h(1−h) and their derivatives. A row's bins are added up to its free bins and blocks before any product
 * with its columns, so that a row costs its bins plus blocks × columns. With weights ω the likelihood's terms and D
 * count by ω and V by ω²; a row that entered late has its first bins left out.
 */
import { exp, log1p, sumLogs } from "../../core/elementary.ts";
import { addOuter, createOuterSum, flushOuter } from "../../core/linear-algebra.ts";
import { type ArrowMatrix, createArrow } from "./algebra/arrow.ts";
import { countTheta, type Layout, type RowLists, type SolveRows } from "./layout.ts";

export interface HeldSums {
  /** −ℓ. */
  readonly value: number;
  readonly D: Float64Array; // [G,B]
  readonly V: Float64Array; // [G,B]
}

/** What a block of a group adds to the gradient: Σ w φ and Σ w(1−2h) φ over [border, the block's own]. */
export interface BlockSlopes {
  readonly ofD: Float64Array;
  readonly ofV: Float64Array;
}

export interface Differentiated extends Omit<HeldSums, "value"> {
  readonly gradient: Float64Array; // [P], of −ℓ
  /** Of the groups asked for; null for the others. */
  readonly slopes: readonly (readonly BlockSlopes[] | null)[]; // [G][B]
}

export interface RowSums {
  measure(theta: Float64Array): HeldSums;
  /** −ℓ of every row. */
  losses(theta: Float64Array): Float64Array; // [N]
  differentiate(theta: Float64Array, which: ArrayLike<number>): Differentiated;
  /**
   * The information of every `stride`-th row, scaled up. `bend` changes the weight of row n in block b: w becomes
   * w·max(least, 1 + bend₁(1−2h) + bend₂(1−6w)), with bends summed over the row's groups.
   */
  inform(theta: Float64Array, stride: number, bend: Bends | null): ArrowMatrix;
}

/** Second derivatives of the constraints at fixed multipliers, per group and block. */
export interface Bends {
  readonly first: Float64Array; // [G,B]
  readonly second: Float64Array; // [G,B]
}

/** The least share of its weight that a bin keeps under the bends: the matrix must stay positive. */
const LEAST_WEIGHT = 0.1;

/** `held`: the groups that each row is in. */
export function createRowSums(layout: Layout, rows: SolveRows, held: RowLists, groups: number): RowSums {
  const { blocks, blockOf, binOf, binsIn, dense: R, shaped: J, at } = layout;
  const { N, bin, event, logits, first, x, stride: S, shaped, firstBin, weight } = rows;
  const B = blocks.length;
  const border = R + J;
  const P = countTheta(layout);
  const beginOf = (n: number) => (firstBin === undefined ? 0 : firstBin[n] - 1);
  const weightOf = (n: number) => (weight === undefined ? 1 : weight[n]);
  const inBlock = new Float64Array(B);
  let level = 0;
  /** The row's own part of the logit: level over all bins, and in each block. */
  const openRow = (n: number, theta: Float64Array, last: number) => {
    level = 0;
    for (let r = 0; r < R; r++) level += theta[r] * x[n * S + r];
    for (let b = 0; b <= last; b++) inBlock[b] = 0;
    for (let k = shaped.first[n]; k < shaped.first[n + 1]; k++) {
      const j = shaped.column[k];
      const s = shaped.value[k];
      level += s * theta[R + j];
      for (let b = 0; b <= last; b++) inBlock[b] += s * theta[at[b] + binsIn[b] + j];
    }
  };
  const logitAt = (n: number, t: number, theta: Float64Array) => {
    const b = blockOf[t];
    return logits[first[n] + t] + level + inBlock[b] + theta[at[b] + binOf[t]];
  };

  const inD = new Float64Array(B);
  const inV = new Float64Array(B); // Σ ω² w
  const inI = new Float64Array(B); // Σ ω w
  const inW = new Float64Array(B); // Σ ω² w(1−2h)
  /** Adds the row's sums per block to its groups. */
  const addToGroups = (n: number, last: number, D: Float64Array, V: Float64Array) => {
    for (let k = held.first[n]; k < held.first[n + 1]; k++) {
      const g = held.column[k] * B;
      for (let b = 0; b <= last; b++) {
        D[g + b] += inD[b];
        V[g + b] += inV[b];
      }
    }
  };

  const factors = new Float64Array(layout.T);

  function measure(theta: Float64Array): HeldSums {
    let value = 0;
    const D = new Float64Array(groups * B);
    const V = new Float64Array(groups * B);
    for (let n = 0; n < N; n++) {
      const [begin, end] = [beginOf(n), bin[n]];
      if (begin >= end) continue;
      const last = blockOf[end - 1];
      openRow(n, theta, last);
      inD.fill(0, 0, last + 1);
      inV.fill(0, 0, last + 1);
      const before = value;
      for (let t = begin; t < end; t++) {
        const z = logitAt(n, t, theta);
        const e = exp(-Math.abs(z));
        const h = z >= 0 ? 1 / (1 + e) : e / (1 + e);
        value += Math.max(z, 0);
        factors[t - begin] = 1 + e;
        inD[blockOf[t]] -= h;
        inV[blockOf[t]] += h * (1 - h);
      }
      value += sumLogs(factors, end - begin);
      if (event[n] === 1) {
        value -= logitAt(n, end - 1, theta);
        inD[last] += 1;
      }
      if (weight !== undefined) {
        value = before + weight[n] * (value - before);
        for (let b = 0; b <= last; b++) {
          inD[b] *= weight[n];
          inV[b] *= weight[n] * weight[n];
        }
      }
      addToGroups(n, last, D, V);
    }
    return { value, D, V };
  }

  function losses(theta: Float64Array): Float64Array {
    return Float64Array.from({ length: N }, (_, n) => {
      openRow(n, theta, blockOf[bin[n] - 1]);
      let loss = 0;
      for (let t = beginOf(n); t < bin[n]; t++) {
        const z = logitAt(n, t, theta);
        loss += Math.max(z, 0) + log1p(exp(-Math.abs(z))) - (event[n] === 1 && t === bin[n] - 1 ? z : 0);
      }
      return weightOf(n) * loss;
    });
  }

  const binV = new Float64Array(layout.T);
  const binW = new Float64Array(layout.T);

  function differentiate(theta: Float64Array, which: ArrayLike<number>): Differentiated {
    const D = new Float64Array(groups * B);
    const V = new Float64Array(groups * B);
    const gradient = new Float64Array(P);
    const slopes: (BlockSlopes[] | null)[] = Array.from({ length: groups }, () => null);
    for (let k = 0; k < which.length; k++) {
      slopes[which[k]] = Array.from({ length: B }, (_, b) => ({
        ofD: new Float64Array(border + binsIn[b] + J),
        ofV: new Float64Array(border + binsIn[b] + J),
      }));
    }
    for (let n = 0; n < N; n++) {
      const [begin, end] = [beginOf(n), bin[n]];
      if (begin >= end) continue;
      const own = weightOf(n);
      const last = blockOf[end - 1];
      openRow(n, theta, last);
      for (let b = 0; b <= last; b++) inD[b] = inV[b] = inI[b] = inW[b] = 0;
      for (let t = begin; t < end; t++) {
        const z = logitAt(n, t, theta);
        const e = exp(-Math.abs(z));
        const h = z >= 0 ? 1 / (1 + e) : e / (1 + e);
        const b = blockOf[t];
        const isEvent = t === end - 1 && event[n] === 1;
        const gap = own * ((isEvent ? 1 : 0) - h);
        const w = own * (h * (1 - h));
        const w2 = own * (w * (1 - 2 * h));
        gradient[at[b] + binOf[t]] -= gap;
        inD[b] += gap;
        inV[b] += own * w;
        inI[b] += w;
        inW[b] += w2;
        binV[t] = w;
        binW[t] = w2;
      }
      addToGroups(n, last, D, V);
      let all = 0;
      for (let b = 0; b <= last; b++) all += inD[b];
      for (let r = 0; r < R; r++) gradient[r] -= all * x[n * S + r];
      for (let k = shaped.first[n]; k < shaped.first[n + 1]; k++) {
        const j = shaped.column[k];
        const s = shaped.value[k];
        gradient[R + j] -= s * all;
        for (let b = 0; b <= last; b++) gradient[at[b] + binsIn[b] + j] -= s * inD[b];
      }
      for (let k = held.first[n]; k < held.first[n + 1]; k++) {
        const ofGroup = slopes[held.column[k]];
        if (ofGroup === null) continue;
        for (let t = begin; t < end; t++) {
          const { ofD, ofV } = ofGroup[blockOf[t]];
          const m = border + binOf[t];
          ofD[m] += binV[t];
          ofV[m] += binW[t];
        }
        for (let b = 0; b <= last; b++) addRow(n, ofGroup[b], binsIn[b], inI[b], inW[b]);
      }
    }
    return { D, V, gradient, slopes };
  }

  function addRow(n: number, { ofD, ofV }: BlockSlopes, bins: number, v: number, w: number): void {
    const from = n * S;
    for (let r = 0; r < R; r++) {
      ofD[r] += v * x[from + r];
      ofV[r] += w * x[from + r];
    }
    for (let k = shaped.first[n]; k < shaped.first[n + 1]; k++) {
      const j = shaped.column[k];
      const s = shaped.value[k];
      ofD[R + j] += s * v;
      ofV[R + j] += s * w;
      ofD[border + bins + j] += s * v;
      ofV[border + bins + j] += s * w;
    }
  }

  function inform(theta: Float64Array, stride: number, bend: Bends | null): ArrowMatrix {
    const arrow = createArrow(layout);
    const outer = createOuterSum(R);
    const columns = new Float64Array(R);
    const bendFirst = new Float64Array(B);
    const bendSecond = new Float64Array(B);
    let taken = 0;
    for (let n = 0; n < N; n += stride) taken++;
    const scale = N / taken;
    for (let n = 0; n < N; n += stride) {
      const [begin, end] = [beginOf(n), bin[n]];
      if (begin >= end) continue;
      const own = weightOf(n);
      const last = blockOf[end - 1];
      openRow(n, theta, last);
      for (let b = 0; b <= last; b++) inI[b] = bendFirst[b] = bendSecond[b] = 0;
      if (bend !== null) {
        for (let k = held.first[n]; k < held.first[n + 1]; k++) {
          const g = held.column[k] * B;
          for (let b = 0; b <= last; b++) {
            bendFirst[b] += bend.first[g + b];
            bendSecond[b] += own * bend.second[g + b];
          }
        }
      }
      for (let r = 0; r < R; r++) columns[r] = x[n * S + r];
      let all = 0;
      let run = 0; // weight of the free bin so far
      for (let t = begin; t < end; t++) {
        const z = logitAt(n, t, theta);
        const e = exp(-Math.abs(z));
        const h = z >= 0 ? 1 / (1 + e) : e / (1 + e);
        const w = h * (1 - h);
        const b = blockOf[t];
        const bent = 1 + bendFirst[b] * (1 - 2 * h) + bendSecond[b] * (1 - 6 * w);
        run += own * scale * w * Math.max(bent, LEAST_WEIGHT);
        if (t + 1 < end && blockOf[t + 1] === b && binOf[t + 1] === binOf[t]) continue;
        inI[b] += run;
        all += run;
        arrow.addBin(b, binOf[t], run, columns, shaped, n);
        run = 0;
      }
      addOuter(outer, all, columns, 0, R);
      for (let b = 0; b <= last; b++) arrow.addOffsets(b, inI[b], columns, shaped, n);
    }
    flushOuter(outer);
    arrow.completeBorder(outer);
    return arrow;
  }

  return { measure, losses, differentiate, inform };
}
