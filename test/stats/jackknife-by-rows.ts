// The slow twin of src/stats/jackknife.ts: the derivative of the curves by the weight of every row, time by time.
import type { Outcomes } from "../../src/data/outcomes/outcomes.ts";

/** Derivatives of S and of the incidence of causes 1…causes, [K] for each row. */
export function influenceByRows(outcomes: Outcomes, times: ArrayLike<number>, causes = 1) {
  const { time, event, entry, cause, weight } = outcomes;
  const N = time.length;
  const isAtRisk = (i: number, t: number) =>
    time[i] >= t && (entry === undefined || entry[i] === 0 || entry[i] < t);
  const w = (i: number) => weight?.[i] ?? 1;
  const survival = Array.from({ length: N }, () => new Float64Array(times.length));
  const incidence = Array.from({ length: N }, () =>
    Array.from({ length: causes }, () => new Float64Array(times.length)),
  );
  const U = new Float64Array(N);
  const V = Array.from({ length: causes }, () => new Float64Array(N));
  let S = 1;
  for (let k = 0; k < times.length; k++) {
    const t = times[k];
    let n = 0;
    const d = new Float64Array(causes);
    for (let i = 0; i < N; i++) {
      if (!isAtRisk(i, t)) continue;
      n += w(i);
      if (time[i] === t && event[i] === 1) d[(cause?.[i] ?? 1) - 1] += w(i);
    }
    const all = d.reduce((sum, one) => sum + one, 0);
    for (let i = 0; i < N; i++) {
      const at = isAtRisk(i, t) ? 1 : 0;
      const own = at === 1 && time[i] === t && event[i] === 1 ? (cause?.[i] ?? 1) : 0;
      for (let c = 0; c < causes; c++) {
        V[c][i] += (U[i] * d[c]) / n + (S / n) * ((own === c + 1 ? 1 : 0) - (at * d[c]) / n);
        incidence[i][c][k] = V[c][i];
      }
      U[i] = U[i] * (1 - all / n) - (S / n) * ((own > 0 ? 1 : 0) - (at * all) / n);
      survival[i][k] = U[i];
    }
    S *= 1 - all / n;
  }
  return { survival, incidence };
}

/** Σ over people of the square of their rows' weighted sum, at each time. */
export function squareByPerson({ id, weight }: Outcomes, values: readonly Float64Array[]): Float64Array {
  const sums = new Map<number, Float64Array>();
  values.forEach((own, i) => {
    const person = id?.[i] ?? i;
    const sum = sums.get(person) ?? new Float64Array(own.length);
    own.forEach((one, k) => {
      sum[k] += (weight?.[i] ?? 1) * one;
    });
    sums.set(person, sum);
  });
  const [first] = sums.values();
  return first.map((_, k) => [...sums.values()].reduce((total, sum) => total + sum[k] * sum[k], 0));
}
