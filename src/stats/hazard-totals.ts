/**
 * One row's own predicted hazards h_s = 1 − S(s)/S(s−1), summed from the start: E(t) = Σ_{s≤t} h_s, the events a row
 * observed through bin t was expected to have, and V(t) = Σ_{s≤t} h_s(1 − h_s), their variance. Observed minus expected
 * over rows is the individual logrank (logrank.ts, whose rule for a curve that has reached 0 is kept: no hazard from
 * there on). This is separate because the bootstrap and the noise floor need the totals per row, and the test itself
 * gives no result for a row without variance.
 */

export interface HazardTotals {
  readonly expected: Float64Array; // [T+1], E(0) = 0
  readonly variance: Float64Array; // [T+1]
}

/** Fills `totals` for the curve that starts at survival[start]; bins beyond `through` are left untouched. */
export function totalHazards(
  survival: Float64Array | Float32Array,
  start: number,
  through: number,
  totals: HazardTotals,
): void {
  const { expected, variance } = totals;
  let before = 1;
  let E = 0;
  let V = 0;
  expected[0] = 0;
  variance[0] = 0;
  for (let t = 1; t <= through; t++) {
    if (before > 0) {
      const now = survival[start + t - 1];
      const hazard = 1 - now / before;
      E += hazard;
      V += hazard * (1 - hazard);
      before = now;
    }
    expected[t] = E;
    variance[t] = V;
  }
}
