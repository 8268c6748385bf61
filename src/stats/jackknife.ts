/**
 * The infinitesimal jackknife, the variance that R's survfit calls robust: Σ_c (Σ_{i of c} w_i U_i(t))² over people c,
 * where U_i is the derivative of the estimate by the weight of row i. It stays right with weights and with several rows
 * of a person. With n at risk and d events at a time, A(t) = Σ d/(n(n−d)) and A, S, F read at entry e and exit x,
 *   U of log S = A(t∧x) − A(e) − 1[event at x ≤ t]/(n−d),
 * of the cumulative hazard Λ = Σ d/n the same less its sign, with Σ d/n² for A and n for n−d,
 * and of the incidence F of a cause (Aalen-Johansen), dF = S(t−) d_k/n, B(t) = Σ dF (A(t−) − 1/n):
 *   while at risk B(t) − B(e) − A(e)(F(t) − F(e)); at its own event of the cause + S(t−)/n; then + u (F(t) − F(x)),
 * u the U of log S at x. Both are linear in functions of time alone, so a person is three coefficients, and their
 * squares are summed as they change: O(N), not rows times times. jackknife-by-rows.ts in test/stats is the slow twin.
 */
import { countAtMost } from "../core/ascending.ts";
import { square } from "../core/elementary.ts";
import { observedFrom } from "../data/outcomes/intervals.ts";
import type { Outcomes, RowWeights } from "../data/outcomes/outcomes.ts";
import { groupRowsByTime, type RiskTable } from "../data/outcomes/rows-by-time.ts";

/** Rows in the order in which they enter and leave the times of a risk table. */
export interface RowPassages {
  /** How many times pass before a row is at risk: it is at risk from this one on. */
  readonly from: Int32Array; // [N]
  /** Rows by the time of their exit: those of time k are leaving[start[k]] … leaving[start[k+1] − 1]. */
  readonly leaving: Int32Array;
  readonly start: Int32Array; // [K+1]
  /** The same for entries: rows that are first at risk at time k. */
  readonly entering: Int32Array;
  readonly firstEntering: Int32Array; // [K+1]
}

/** Where rows of positive weight enter and leave. */
export function passRows(outcomes: Outcomes, weights: RowWeights | undefined): RowPassages {
  const { time, start, rows: leaving } = groupRowsByTime(outcomes.time, { weights });
  const K = time.length;
  const entry = outcomes.entry && observedFrom(outcomes.entry);
  const from = new Int32Array(outcomes.time.length);
  if (entry !== undefined) for (const row of leaving) from[row] = countAtMost(time, entry[row]);
  const firstEntering = new Int32Array(K + 1);
  for (const row of leaving) firstEntering[from[row] + 1]++;
  for (let k = 0; k < K; k++) firstEntering[k + 1] += firstEntering[k];
  const entering = new Int32Array(leaving.length);
  const next = firstEntering.slice();
  for (const row of leaving) entering[next[from[row]]++] = row;
  return { from, leaving, start, entering, firstEntering };
}

/** Coefficients of each person on 1 and two functions of time, and the sums of their products. */
export function createSquares(people: number) {
  const one = new Float64Array(people);
  const first = new Float64Array(people);
  const second = new Float64Array(people);
  const sums = new Float64Array(6);
  const count = (person: number, sign: 1 | -1) => {
    const [a, b, c] = [one[person], first[person], second[person]];
    sums[0] += sign * a * a;
    sums[1] += sign * a * b;
    sums[2] += sign * a * c;
    sums[3] += sign * b * b;
    sums[4] += sign * b * c;
    sums[5] += sign * c * c;
  };
  return {
    add(person: number, a: number, b: number, c: number): void {
      count(person, -1);
      one[person] += a;
      first[person] += b;
      second[person] += c;
      count(person, 1);
    },
    /** Σ (a + b f + c g)²; rounding may put a sum of nothing just below 0. */
    at(f: number, g: number): number {
      const mixed = sums[1] * f + sums[2] * g + sums[4] * f * g;
      return Math.max(0, sums[0] + 2 * mixed + sums[3] * f * f + sums[5] * g * g);
    },
  };
}

/** Numbers people 0, 1, …; every row is one of its own where nothing says whose it is. */
export function numberClusters({ id, time }: Pick<Outcomes, "id" | "time">): {
  of: Int32Array;
  count: number;
} {
  if (id === undefined) return { of: Int32Array.from(time, (_, row) => row), count: time.length };
  const numbers = new Map<number, number>();
  const of = Int32Array.from(id, (person) => {
    const known = numbers.get(person) ?? numbers.size;
    numbers.set(person, known);
    return known;
  });
  return { of, count: numbers.size };
}

/** A(t) at every time; where S reaches 0 it is infinite. */
export function sumGreenwood({ atRisk, events }: Pick<RiskTable, "atRisk" | "events">): Float64Array {
  const A = new Float64Array(events.length);
  let sum = 0;
  for (let k = 0; k < A.length; k++) {
    if (events[k] > 0) sum += events[k] / (atRisk[k] * (atRisk[k] - events[k]));
    A[k] = sum;
  }
  return A;
}

/** A(t) of the cumulative hazard, Σ d/n², which is also its variance where rows are people (Aalen's). */
export function sumAalen({ atRisk, events }: Pick<RiskTable, "atRisk" | "events">): Float64Array {
  const A = new Float64Array(events.length);
  let sum = 0;
  for (let k = 0; k < A.length; k++) {
    if (events[k] > 0) sum += events[k] / square(atRisk[k]);
    A[k] = sum;
  }
  return A;
}

/** The robust variance of log S at each time of the table of these rows; NaN where S = 0. */
export function jackknifeSurvival(
  outcomes: Outcomes,
  table: RiskTable,
  weights: RowWeights | undefined,
): Float64Array {
  const left = table.atRisk.map((n, k) => n - table.events[k]);
  return jackknifeSums(outcomes, weights, sumGreenwood(table), left);
}

/** The robust variance of the Nelson-Aalen estimate at each time of the table of these rows. */
export function jackknifeHazard(
  outcomes: Outcomes,
  table: RiskTable,
  weights: RowWeights | undefined,
): Float64Array {
  return jackknifeSums(outcomes, weights, sumAalen(table), table.atRisk);
}

/** Σ_c (Σ w (A(t∧x) − A(e) − 1[event at x ≤ t]/m(x)))² at every time; NaN from where A is infinite. */
function jackknifeSums(
  outcomes: Outcomes,
  weights: RowWeights | undefined,
  A: Float64Array, // [K]
  m: Float64Array, // [K]
): Float64Array {
  const { leaving, start, entering, firstEntering } = passRows(outcomes, weights);
  const { of, count } = numberClusters(outcomes);
  const K = A.length;
  const squares = createSquares(count);
  const variance = new Float64Array(K);
  const weightOf = (row: number) => (weights === undefined ? 1 : weights[row]);
  for (let k = 0; k < K; k++) {
    if (A[k] === Number.POSITIVE_INFINITY) return variance.fill(Number.NaN, k);
    for (let i = firstEntering[k]; i < firstEntering[k + 1]; i++) {
      const w = weightOf(entering[i]);
      squares.add(of[entering[i]], k === 0 ? 0 : -w * A[k - 1], w, 0);
    }
    for (let i = start[k]; i < start[k + 1]; i++) {
      const row = leaving[i];
      const w = weightOf(row);
      const own = outcomes.event[row] === 1 ? 1 / m[k] : 0;
      // From A(t) − A(e) to what it is at the exit, for good.
      squares.add(of[row], w * (A[k] - own), -w, 0);
    }
    variance[k] = squares.at(A[k], 0);
  }
  return variance;
}

/** The robust standard error of ∫₀^τ S(t) dt, with S of the table of these rows. */
export function jackknifeRestrictedMean(
  outcomes: Outcomes,
  table: RiskTable & { readonly survival: Float64Array },
  weights: RowWeights | undefined,
  until: number,
): number {
  const { from, leaving, start } = passRows(outcomes, weights);
  const { of, count } = numberClusters(outcomes);
  const A = sumGreenwood(table);
  const K = countAtMost(table.time, until);
  // ∫ S dt and ∫ S A dt from time k to τ.
  const area = new Float64Array(K + 1);
  const weighed = new Float64Array(K + 1);
  for (let k = K - 1; k >= 0; k--) {
    const length = (k + 1 < K ? table.time[k + 1] : until) - table.time[k];
    const S = table.survival[k];
    area[k] = area[k + 1] + length * S;
    weighed[k] = weighed[k + 1] + (S > 0 ? length * S * A[k] : 0);
  }
  const sums = new Float64Array(count);
  for (let k = 0; k < start.length - 1; k++) {
    for (let i = start[k]; i < start[k + 1]; i++) {
      const row = leaving[i];
      const first = from[row];
      if (first >= K) continue;
      const last = Math.min(k, K);
      const early = first === 0 ? 0 : A[first - 1];
      let U = weighed[first] - weighed[last] - early * (area[first] - area[last]);
      if (k < K && area[k] > 0) {
        const own = outcomes.event[row] === 1 ? 1 / (table.atRisk[k] - table.events[k]) : 0;
        U += (A[k] - early - own) * area[k];
      }
      sums[of[row]] += (weights === undefined ? 1 : weights[row]) * U;
    }
  }
  return Math.sqrt(sums.reduce((sum, U) => sum + square(U), 0));
}
