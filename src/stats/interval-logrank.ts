/**
 * Observed and expected events of groups whose rows are at risk in (entry, time], with weights that say how many people
 * a row stands for. The covariance of O − E is hypergeometric, as R's survdiff has it and coxph's score test with
 * exact ties, or robust: Σ_c u_c u_cᵀ over people c, with u_c the score residuals of group membership at no effect,
 *   Σ_{i of c} w_i [δ_i (g_i − p(t_i)) − Σ_{t: i at risk} (g_i − p(t)) d(t)/n(t)],
 * p(t) the shares of the groups at risk: the robust score test of coxph with Breslow's ties. The logrank test of plain
 * outcomes is logrank.ts, which also makes a test of the sums.
 */
import { joinOutcomeTimes } from "../data/outcomes/intervals.ts";
import type { Outcomes } from "../data/outcomes/outcomes.ts";
import { productLimit, type RiskTable, tallyRisk } from "../data/outcomes/rows-by-time.ts";
import { numberClusters, passRows, type RowPassages } from "./jackknife.ts";

/** O, E and the covariance of O − E by group. */
export interface GroupSums {
  readonly observed: Float64Array; // [G]
  readonly expected: Float64Array; // [G]
  readonly variance: Float64Array; // [G,G]
}

interface IntervalOptions {
  readonly rho?: 0 | 1;
  /** 0 leaves a row out; multiplied by the outcomes' own weights. */
  readonly weights: Float64Array; // [N]
  readonly variance?: "hypergeometric" | "robust";
  readonly timefix?: boolean;
}

/** Sums over the event times; `group` holds 0…G−1. */
export function compareIntervals(
  given: Outcomes,
  group: Int32Array,
  G: number,
  options: IntervalOptions,
): GroupSums {
  const {
    rho = 0,
    timefix = true,
    variance: kind = given.weight === undefined ? "hypergeometric" : "robust",
  } = options;
  const outcomes = timefix ? joinOutcomeTimes(given) : given;
  const weight = options.weights.map((one, row) => one * (outcomes.weight?.[row] ?? 1));
  const passages = passRows(outcomes, weight);
  const table = tallyRisk(outcomes, { weights: weight });
  const shares = shareGroups(passages, table, group, weight, G);
  const K = table.time.length;
  const left = productLimit(table).survival;
  const emphasis = Float64Array.from({ length: K }, (_, k) => (rho === 0 ? 1 : k === 0 ? 1 : left[k - 1]));
  const observed = new Float64Array(G);
  const expected = new Float64Array(G);
  const variance = new Float64Array(G * G);
  for (let k = 0; k < K; k++) {
    for (let i = passages.start[k]; i < passages.start[k + 1]; i++) {
      const row = passages.leaving[i];
      if (outcomes.event[row] === 1) observed[group[row]] += weight[row] * emphasis[k];
    }
    const [n, d] = [table.atRisk[k], table.events[k]];
    if (d === 0) continue;
    for (let g = 0; g < G; g++) expected[g] += emphasis[k] * d * shares[k * G + g];
    // A row alone at risk is certain to have the event: no variance.
    if (n <= 1 || kind === "robust") continue;
    const scale = (emphasis[k] * emphasis[k] * d * (n - d)) / (n - 1);
    for (let g = 0; g < G; g++) {
      const share = shares[k * G + g];
      variance[g * G + g] += scale * share;
      for (let other = 0; other < G; other++)
        variance[g * G + other] -= scale * share * shares[k * G + other];
    }
  }
  if (kind === "robust")
    addResiduals(variance, { outcomes, passages, table, shares, emphasis, group, weight, G });
  return { observed, expected, variance };
}

/** The share of each group among those at risk at every time. */
function shareGroups(
  { from, leaving, start }: RowPassages,
  { atRisk }: RiskTable,
  group: Int32Array,
  weight: Float64Array,
  G: number,
): Float64Array {
  const K = atRisk.length;
  const shares = new Float64Array(K * G);
  for (let k = 0; k < K; k++) {
    for (let i = start[k]; i < start[k + 1]; i++) {
      const row = leaving[i];
      shares[k * G + group[row]] += weight[row];
      if (from[row] > 0) shares[(from[row] - 1) * G + group[row]] -= weight[row];
    }
  }
  for (let k = K - 2; k >= 0; k--) for (let g = 0; g < G; g++) shares[k * G + g] += shares[(k + 1) * G + g];
  for (let k = 0; k < K; k++) for (let g = 0; g < G; g++) shares[k * G + g] /= atRisk[k];
  return shares;
}

interface Residuals {
  readonly outcomes: Outcomes;
  readonly passages: RowPassages;
  readonly table: RiskTable;
  readonly shares: Float64Array; // [K,G]
  readonly emphasis: Float64Array; // [K]
  readonly group: Int32Array;
  readonly weight: Float64Array;
  readonly G: number;
}

/** Adds u_c u_cᵀ of every person. */
function addResiduals(variance: Float64Array, given: Residuals): void {
  const { outcomes, passages, table, shares, emphasis, group, weight, G } = given;
  const { from, leaving, start } = passages;
  const K = table.time.length;
  // Σ dH and Σ p dH through time k − 1.
  const hazard = new Float64Array(K + 1);
  const shared = new Float64Array((K + 1) * G);
  for (let k = 0; k < K; k++) {
    const step = table.events[k] > 0 ? (emphasis[k] * table.events[k]) / table.atRisk[k] : 0;
    hazard[k + 1] = hazard[k] + step;
    for (let g = 0; g < G; g++) shared[(k + 1) * G + g] = shared[k * G + g] + step * shares[k * G + g];
  }
  const { of, count } = numberClusters(outcomes);
  const sums = new Float64Array(count * G);
  for (let k = 0; k < K; k++) {
    for (let i = start[k]; i < start[k + 1]; i++) {
      const row = leaving[i];
      const own = of[row] * G;
      const first = from[row];
      const jump = outcomes.event[row] === 1 ? emphasis[k] : 0;
      sums[own + group[row]] += weight[row] * (jump - (hazard[k + 1] - hazard[first]));
      for (let g = 0; g < G; g++) {
        const passed = shared[(k + 1) * G + g] - shared[first * G + g];
        sums[own + g] += weight[row] * (passed - jump * shares[k * G + g]);
      }
    }
  }
  for (let person = 0; person < count; person++) {
    for (let g = 0; g < G; g++)
      for (let other = 0; other < G; other++)
        variance[g * G + other] += sums[person * G + g] * sums[person * G + other];
  }
}
