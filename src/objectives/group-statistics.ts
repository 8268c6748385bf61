/**
 * Everything a distance needs from the model, per group, in one flat array [G,W]. A distance's definition says which
 * of two:
 *   meanCurve     W = T: mean_g(t), the mean survival curve of the group's rows, weighted where they have weights; of
 *                 one of several causes, the mean of 1 − F
 *   blockTotals   W = 2·blocks: expected events E_gb = Σ ω h, then their variances V_gb = Σ ω² h(1−h), over rows and
 *                 bins at risk, ω the weight of a row, 1 unless given
 * Both are sums over rows, so a minibatch needs only every row's latest terms (the cache, [N,W]) and the difference its
 * own rows make: a group is never estimated from one batch's members. The cache ages between refreshes; each refresh
 * restarts the sums, so rounding does not accumulate. The way back, from dL/d statistics to dLogits of some rows, is
 * here too.
 */
import type { Floats } from "../compute/backend.ts";
import { unreachable } from "../core/errors.ts";
import type { Constraints } from "./constraints.ts";
import { backThroughCurve, type CurveWorkspace, checkRoom } from "./curves.ts";
import { DISTANCES } from "./distances/list.ts";

export function statisticsWidth(constraints: Constraints): number {
  return isOverCurves(constraints) ? constraints.T : 2 * constraints.blocks.length;
}

/** Whether the statistics are mean curves; they are totals over time blocks otherwise. */
function isOverCurves({ distance }: Constraints): boolean {
  const { statistic } = DISTANCES[distance];
  switch (statistic) {
    case "meanCurve":
      return true;
    case "blockTotals":
      return false;
    default:
      return unreachable(statistic);
  }
}

/** One row's expected events and variances per block, from its hazards starting at `offset`. */
function fillBlockTotals(
  constraints: Constraints,
  hazard: Float64Array,
  offset: number,
  row: number,
  out: Float64Array, // [2·blocks]
): void {
  const { blocks, firstBin, weight } = constraints;
  const last = constraints.bin[row];
  const begin = firstBin === undefined ? 1 : firstBin[row];
  const own = weight === undefined ? 1 : weight[row];
  for (let b = 0; b < blocks.length; b++) {
    const through = Math.min(blocks[b].last, last);
    let E = 0;
    let V = 0;
    for (let t = Math.max(blocks[b].first, begin); t <= through; t++) {
      const h = hazard[offset + t - 1];
      E += h;
      V += h * (1 - h);
    }
    out[b] = own * E;
    out[blocks.length + b] = own * own * V;
  }
}

/** Statistics of all rows, curves [N,T] in the order of the training rows. */
export function measureStatistics(constraints: Constraints, curves: CurveWorkspace): Float64Array {
  const { N, T, groups, memberships, weight } = constraints;
  const { combinationOf, groupsOf, order } = memberships;
  checkRoom("survival", curves.survival, N, T);
  checkRoom("hazard", curves.hazard, N, T);
  const W = statisticsWidth(constraints);
  const sums = new Float64Array(groups.length * W);
  const overCurves = isOverCurves(constraints);
  const terms = new Float64Array(W);
  const total = new Float64Array(W); // over the rows of one combination
  for (let k = 0; k < N; k++) {
    const row = order[k];
    if (overCurves) {
      const { survival } = curves;
      const own = weight === undefined ? 1 : weight[row];
      for (let t = 0; t < T; t++) total[t] += own * survival[row * T + t];
    } else {
      fillBlockTotals(constraints, curves.hazard, row * T, row, terms);
      for (let w = 0; w < W; w++) total[w] += terms[w];
    }
    const combination = combinationOf[row];
    if (k + 1 < N && combinationOf[order[k + 1]] === combination) continue;
    for (const g of groupsOf[combination]) for (let w = 0; w < W; w++) sums[g * W + w] += total[w];
    total.fill(0);
  }
  divideCurves(constraints, sums);
  return sums;
}

/** Sums of curves become means; expected events and variances stay sums. */
function divideCurves(constraints: Constraints, sums: Float64Array): void {
  if (!isOverCurves(constraints)) return;
  const { T } = constraints;
  constraints.groups.forEach(({ total }, g) => {
    if (total === 0) return;
    for (let k = g * T; k < (g + 1) * T; k++) sums[k] /= total;
  });
}

/** Each row's latest terms, and their sums over groups. */
export interface StatisticsCache {
  /** Empty when no row is ever replaced: each row must then be added once after emptyCache. */
  readonly terms: Float64Array; // [N,W]: S(t) by weight, or a row's E and V per block
  readonly sums: Float64Array; // [G,W]
}

/**
 * An empty cache: every row must be replaced once before the cache is read. Without `keepsTerms` its size does not
 * depend on N. `allocate` gives the memory of the rows' terms, zeroed.
 */
export function createStatisticsCache(
  constraints: Constraints,
  keepsTerms = true,
  allocate: (length: number) => Float64Array = (length) => new Float64Array(length),
): StatisticsCache {
  const W = statisticsWidth(constraints);
  return {
    terms: keepsTerms ? allocate(constraints.N * W) : new Float64Array(0),
    sums: new Float64Array(constraints.groups.length * W),
  };
}

/**
 * The same rows' terms summed over other groups, after the strata were rebuilt. Distance and blocks must be the same.
 */
export function regroupCache(constraints: Constraints, cache: StatisticsCache): StatisticsCache {
  const { terms } = cache;
  const W = statisticsWidth(constraints);
  checkRoom("cached terms", terms, constraints.N, W);
  const sums = new Float64Array(constraints.groups.length * W);
  constraints.groups.forEach(({ rows }, g) => {
    for (const row of rows) for (let w = 0; w < W; w++) sums[g * W + w] += terms[row * W + w];
  });
  return { terms, sums };
}

/**
 * Replaces the terms of some rows; curve k of `curves` belongs to training row rows[k]. The number of rows is free, so
 * a refresh of the whole cache can run in parts: `emptyCache` first, then every row once.
 */
export function replaceRows(
  constraints: Constraints,
  cache: StatisticsCache,
  curves: CurveWorkspace,
  rows: ArrayLike<number>,
): void {
  const { T, weight } = constraints;
  const { combinationOf, groupsOf } = constraints.memberships;
  const W = statisticsWidth(constraints);
  const { terms, sums } = cache;
  checkRoom("survival", curves.survival, rows.length, T);
  const order = orderByCombination(constraints, rows);
  const overCurves = isOverCurves(constraints);
  if (overCurves && curves.kernels?.replaceRows(constraints, cache, rows, order)) return;
  const fresh = overCurves ? curves.survival : new Float64Array(W);
  const change = new Float64Array(W); // of the rows of one combination
  for (let p = 0; p < order.length; p++) {
    const k = order[p];
    const row = rows[k];
    const from = overCurves ? k * T : 0;
    const kept = row * W;
    if (!overCurves) fillBlockTotals(constraints, curves.hazard, k * T, row, fresh);
    // Totals over blocks have their weights in them.
    const own = overCurves && weight !== undefined ? weight[row] : 1;
    if (terms.length === 0) for (let w = 0; w < W; w++) change[w] += own * fresh[from + w];
    else
      for (let w = 0; w < W; w++) {
        const value = own * fresh[from + w];
        change[w] += value - terms[kept + w];
        terms[kept + w] = value;
      }
    const combination = combinationOf[row];
    if (p + 1 < order.length && combinationOf[rows[order[p + 1]]] === combination) continue;
    const members = groupsOf[combination];
    for (let m = 0; m < members.length; m++) {
      const at = members[m] * W;
      for (let w = 0; w < W; w++) sums[at + w] += change[w];
    }
    change.fill(0);
  }
}

/** Positions in `rows`, by combination and otherwise in their order: groups are then summed once per combination. */
function orderByCombination(constraints: Constraints, rows: ArrayLike<number>): Int32Array {
  const { combinationOf, groupsOf } = constraints.memberships;
  const next = new Int32Array(groupsOf.length + 1);
  for (let k = 0; k < rows.length; k++) next[combinationOf[rows[k]] + 1]++;
  for (let c = 0; c < groupsOf.length; c++) next[c + 1] += next[c];
  const order = new Int32Array(rows.length);
  for (let k = 0; k < rows.length; k++) order[next[combinationOf[rows[k]]]++] = k;
  return order;
}

/** Forgets all rows. */
export function emptyCache(cache: StatisticsCache): void {
  cache.terms.fill(0);
  cache.sums.fill(0);
}

/** The statistics from the cached rows. */
export function readStatistics(constraints: Constraints, cache: StatisticsCache): Float64Array {
  const statistics = cache.sums.slice();
  divideCurves(constraints, statistics);
  return statistics;
}

/**
 * Adds scale · N/B · dL/dz to dLogits for the B rows in `rows` (row k of the curves and of dLogits belongs to training
 * row rows[k]), or for all N rows in order if `rows` is null. The factor N/B makes the mean over the batches of a
 * partition equal the gradient over all rows. Incidences are bent by every cause: there what is added is dL/d(1 − F),
 * and backThroughFreeCurves (causes/cause-curves.ts) goes on from it.
 */
export function backThroughStatistics(
  constraints: Constraints,
  dStatistics: Float64Array, // [G,W]
  curves: CurveWorkspace, // [B,T]
  rows: ArrayLike<number> | null,
  dLogits: Floats, // [B,T]
  scale: number,
): void {
  const { N, T, groups, memberships, weight } = constraints;
  const { combinationOf, groupsOf } = memberships;
  const B = rows === null ? N : rows.length;
  checkRoom("survival", curves.survival, B, T);
  checkRoom("hazard", curves.hazard, B, T);
  checkRoom("dLogits", dLogits, B, T);
  const W = statisticsWidth(constraints);
  const overCurves = isOverCurves(constraints);
  const { isIncidence } = constraints;
  const order = rows === null ? memberships.order : orderByCombination(constraints, rows);
  const factor = (scale * N) / B;
  if (overCurves && !isIncidence && curves.kernels && rows !== null) {
    if (curves.kernels.backThrough(constraints, dStatistics, rows, order, dLogits, factor)) return;
  }
  const dRow = new Float64Array(W); // dL / d the terms of a row of this combination
  let combination = -1;
  for (let b = 0; b < B; b++) {
    const k = order[b];
    const row = rows === null ? k : rows[k];
    if (combinationOf[row] !== combination) {
      combination = combinationOf[row];
      dRow.fill(0);
      for (const g of groupsOf[combination]) {
        const share = overCurves ? 1 / groups[g].total : 1;
        for (let w = 0; w < W; w++) dRow[w] += share * dStatistics[g * W + w];
      }
    }
    if (groupsOf[combination].length === 0) continue;
    const own = overCurves && weight !== undefined ? factor * weight[row] : factor;
    if (isIncidence) for (let t = 0; t < T; t++) dLogits[k * T + t] += own * dRow[t];
    else if (overCurves)
      backThroughCurve(curves.hazard, curves.survival, k * T, dRow, T, dLogits, k * T, own);
    else backThroughBlocks(constraints, curves.hazard, k * T, row, dRow, dLogits, factor);
  }
}

/** dE/dz = ω h(1−h) in each bin at risk. No gradient through V: its part of dRow is not read. */
function backThroughBlocks(
  constraints: Constraints,
  hazard: Float64Array,
  start: number,
  row: number,
  dRow: Float64Array,
  dLogits: Floats,
  factor: number,
): void {
  const { blocks, firstBin, weight: weights } = constraints;
  const last = constraints.bin[row];
  const begin = firstBin === undefined ? 1 : firstBin[row];
  const own = weights === undefined ? factor : factor * weights[row];
  for (let b = 0; b < blocks.length; b++) {
    const weight = own * dRow[b];
    const through = Math.min(blocks[b].last, last);
    for (let t = Math.max(blocks[b].first, begin); t <= through; t++) {
      const h = hazard[start + t - 1];
      dLogits[start + t - 1] += weight * h * (1 - h);
    }
  }
}
