/**
 * Which mean curves are held to what. Distances of the paper: `l2`, one term of all bins against Kaplan-Meier, and
 * `variance`, a term for each bin, since the largest must be small; of one of several causes against Aalen-Johansen.
 * Targets from outside (a registry's curve with its standard errors): held to a slack, mean over times of
 * (m − S*)²/(se² + s²/n) ≤ c, or by default a penalty, ½ dᵀΣ⁻¹d with Σ_jk = S*_j S*_k min(G_j, G_k) + Cov_jk/n and
 * G = (se/S*)², which is how much such a curve weighs beside the rows. s² and Cov are those of people's curves in the
 * group, frozen at the network below.
 */
import { square } from "../../../core/elementary.ts";
import { present } from "../../../core/present.ts";
import { factorCholesky } from "../../../core/linear-algebra.ts";
import type { TargetCurve } from "../../../data/targets/targets.ts";
import type { ConstraintGroup } from "../../../objectives/constraints.ts";
import { groupMeans } from "../../../objectives/curves.ts";
import { withStart } from "../../../objectives/distances/distance.ts";
import { varianceOfMean } from "../../../objectives/distances/variance.ts";
import type { CurveResidual, CurveTerm } from "./curve-terms.ts";

/** A term, the group it speaks of, and what a constraint is allowed. */
export interface HeldCurve {
  readonly term: CurveTerm;
  /** Place among the groups. */
  readonly group: number;
  /** c of a constraint; Infinity for a penalty. */
  readonly slack: number;
  /** Whether it is held to a curve from outside; otherwise to the group's own Kaplan-Meier curve. */
  readonly isTarget: boolean;
}

/** The paper's distances against Kaplan-Meier; `survival` are the rows' curves at the network below. */
export function holdToKaplanMeier(
  distance: "l2" | "variance",
  groups: readonly ConstraintGroup[],
  slack: ArrayLike<number>,
  survival: Float64Array, // [N,T]
  weight?: Float64Array, // [N]
): HeldCurve[] {
  return groups.flatMap((group, g): HeldCurve[] => {
    const { rows, km, bins, constrained } = group;
    if (!constrained) return [];
    const held = { rows, isConstraint: true, ...present({ weight }) };
    const at = (t: number, weight: number): CurveResidual => ({
      weights: [{ bin: t - 1, weight }],
      target: weight * km.survival[t],
    });
    if (distance === "l2") {
      const residuals = Array.from({ length: bins }, (_, k) => at(k + 1, 1 / Math.sqrt(bins)));
      return [{ term: { ...held, residuals }, group: g, slack: slack[g], isTarget: false }];
    }
    const variance = varianceOfMean(
      group,
      withStart(groupMeans(survival, km.atRisk.length - 1, [rows], weight)),
    );
    return Array.from({ length: bins }, (_, k) => k + 1)
      .filter((t) => variance[t] > 0)
      .map((t) => ({
        term: { ...held, residuals: [at(t, 1 / Math.sqrt(variance[t]))] },
        group: g,
        slack: slack[g] * slack[g],
        isTarget: false,
      }));
  });
}

/** Where targets stand on the model's grid, and people's curves there. */
export interface TargetContext {
  readonly edges: ArrayLike<number>; // [T+1]
  /** S(t|x) of every row at the network below. */
  readonly survival: Float64Array; // [N,T]
  readonly T: number;
}

/** `slack` null: the penalty. */
export function holdToTarget(
  target: Pick<TargetCurve, "time" | "survival" | "se">,
  { rows, group }: { readonly rows: Int32Array; readonly group: number },
  context: TargetContext,
  slack: number | null,
): HeldCurve {
  const { time, survival, se } = target;
  const J = time.length;
  const places = Array.from(time, (at) => placeTime(at, context.edges));
  const covariance = covarianceOfMeans(places, rows, context);
  if (slack !== null) {
    const residuals = places.map((weights, j): CurveResidual => {
      const scale = 1 / Math.sqrt(J * (se[j] * se[j] + covariance[j * J + j]));
      return residualOf([{ weights, target: survival[j] }], [scale]);
    });
    return { term: { rows, residuals, isConstraint: true }, group, slack, isTarget: true };
  }
  const sigma = new Float64Array(J * J);
  const grown = Array.from(se, (one, j) => square(one / survival[j]));
  for (let j = 0; j < J; j++) {
    for (let k = 0; k < J; k++) {
      sigma[j * J + k] = survival[j] * survival[k] * Math.min(grown[j], grown[k]) + covariance[j * J + k];
    }
  }
  const { lower, kept } = factorCholesky(sigma, J, new Float64Array(J));
  // u = L⁻¹ d, row by row: Σ_k inverse[j,k] d_k.
  const inverse = invertRows(lower, kept, J);
  const whole = places.map((weights, j) => ({ weights, target: survival[j] }));
  const residuals = inverse.map((row) => residualOf(whole, row));
  return {
    term: { rows, residuals, isConstraint: false },
    group,
    slack: Number.POSITIVE_INFINITY,
    isTarget: true,
  };
}

type Place = readonly { readonly bin: number; readonly weight: number }[];

/** A time between bin edges is read on the line between the curve's values there; S(0) = 1 has no bin. */
function placeTime(time: number, edges: ArrayLike<number>): Place {
  let t = 1;
  while (t < edges.length - 1 && edges[t] < time) t++;
  const share = (time - edges[t - 1]) / (edges[t] - edges[t - 1]);
  return [
    { bin: t - 2, weight: 1 - share },
    { bin: t - 1, weight: share },
  ];
}

/** Bin −1 stands for S(0) = 1, which goes to the target. */
function residualOf(
  parts: readonly { readonly weights: Place; readonly target: number }[],
  factors: ArrayLike<number>,
): CurveResidual {
  const byBin = new Map<number, number>();
  let target = 0;
  parts.forEach(({ weights, target: own }, k) => {
    target += factors[k] * own;
    for (const { bin, weight } of weights) {
      if (bin < 0) target -= factors[k] * weight;
      else byBin.set(bin, (byBin.get(bin) ?? 0) + factors[k] * weight);
    }
  });
  return { weights: Array.from(byBin, ([bin, weight]) => ({ bin, weight })), target };
}

/** Cov over people of S at the places, divided by their number. */
function covarianceOfMeans(
  places: readonly Place[],
  rows: Int32Array,
  { survival, T }: TargetContext,
): Float64Array {
  const J = places.length;
  const n = rows.length;
  const values = new Float64Array(n * J);
  const means = new Float64Array(J);
  rows.forEach((row, i) => {
    places.forEach((place, j) => {
      const value = place.reduce(
        (sum, { bin, weight }) => sum + weight * (bin < 0 ? 1 : survival[row * T + bin]),
        0,
      );
      values[i * J + j] = value;
      means[j] += value / n;
    });
  });
  const out = new Float64Array(J * J);
  for (let i = 0; i < n; i++) {
    for (let j = 0; j < J; j++) {
      for (let k = 0; k < J; k++)
        out[j * J + k] += (values[i * J + j] - means[j]) * (values[i * J + k] - means[k]);
    }
  }
  return out.map((sum) => sum / Math.max(n - 1, 1) / n);
}

function invertRows(lower: Float64Array, kept: Uint8Array, J: number): Float64Array[] {
  const rows: Float64Array[] = [];
  for (let j = 0; j < J; j++) {
    const row = new Float64Array(J);
    if (kept[j] === 1) {
      row[j] = 1 / lower[j * J + j];
      for (let k = 0; k < j; k++) {
        for (let m = 0; m <= k; m++) row[m] -= (lower[j * J + k] * rows[k][m]) / lower[j * J + j];
      }
    }
    rows.push(row);
  }
  return rows;
}
