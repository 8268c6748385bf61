/**
 * What a run says of each group. `met`: its distance on the rows of the solve is within its slack. `infeasible`: the
 * model may not see the group, and within the budget of likelihood no curves come closer than `reachable`.
 * `unsupported`: too few events or too little follow-up to hold anyone to. A run without the solve (the paper's recipe)
 * may also leave a group `unmet`. The rows of the solve say whether the promise was kept; whether it holds for others
 * is for rows that nothing was fitted to: there Σ_b D²/(V(1 + V/V_solve)) is χ² with a degree of freedom for each
 * block (small ones taken together), V/V_solve being the noise of the solve itself.
 */
import { chiSquareUpperTail } from "../../core/distributions.ts";
import { square } from "../../core/elementary.ts";
import { MINIMUM_BLOCK_VARIANCE } from "../../objectives/distances/at-risk.ts";
import { holm } from "../../stats/comparison.ts";

/** Whether a group's promise was kept. */
export const VERDICT_STATUSES = ["met", "infeasible", "unsupported", "unmet"] as const;
/** The status of a group. */
export type VerdictStatus = (typeof VERDICT_STATUSES)[number];

/** One group's verdict. */
export interface GroupVerdict {
  readonly group: string;
  /** Whether the model may know who is in it. */
  readonly told: boolean;
  /** Rows of the solve. */
  readonly n: number;
  readonly events: number;
  /** The distance allowed. */
  readonly slack: number;
  readonly distance: {
    /** On the rows of the solve. */
    readonly solve: number;
    /** On the test rows; null where they say too little of the group. */
    readonly fresh: number | null;
  };
  /** The test on the test rows that the group's events are as predicted, alone and among all groups (Holm). */
  readonly fresh: { readonly p: number; readonly adjusted: number } | null;
  readonly status: VerdictStatus;
  /** The least distance within the budget; null where the slack was reached. */
  readonly reachable: number | null;
  /** Nats of penalised log-likelihood for each unit of slack; 0 where the constraint costs nothing. */
  readonly price: number | null;
  /** Why it is unsupported or infeasible, or why the test rows say nothing. */
  readonly reason: string | null;
}

/** A group's sums on rows that nothing was fitted to. */
export interface FreshSums {
  readonly D: ArrayLike<number>; // [B]
  readonly V: ArrayLike<number>; // [B]
  readonly solveV: ArrayLike<number>; // [B]
}

/** Blocks with less variance than this are taken together before the test: χ² needs a few events in each. */
const LEAST_TESTED = 3;

/** The distance on fresh rows, and the p-value of as large a one. */
export function testFresh({ D, V, solveV }: FreshSums): { readonly distance: number; readonly p: number } {
  let sum = 0;
  let followed = 0;
  const tested: { D: number; V: number; solveV: number }[] = [];
  let open = { D: 0, V: 0, solveV: 0 };
  for (let b = 0; b < D.length; b++) {
    if (V[b] === 0) continue;
    followed++;
    sum += square(D[b]) / Math.max(V[b], MINIMUM_BLOCK_VARIANCE);
    open = { D: open.D + D[b], V: open.V + V[b], solveV: open.solveV + solveV[b] };
    if (open.V < LEAST_TESTED) continue;
    tested.push(open);
    open = { D: 0, V: 0, solveV: 0 };
  }
  if (followed === 0) return { distance: 0, p: 1 };
  // What is left over joins the last block.
  const last = tested.pop() ?? { D: 0, V: 0, solveV: 0 };
  tested.push({ D: last.D + open.D, V: last.V + open.V, solveV: last.solveV + open.solveV });
  const chi2 = tested.reduce(
    (total, one) =>
      total + square(one.D) / (one.V * (1 + one.V / Math.max(one.solveV, MINIMUM_BLOCK_VARIANCE))),
    0,
  );
  return { distance: sum / followed, p: chiSquareUpperTail(chi2, tested.length) };
}

/** The p-values adjusted among the groups that have one. */
export function adjustFresh(verdicts: readonly GroupVerdict[]): GroupVerdict[] {
  const tested = verdicts.filter(({ fresh }) => fresh !== null);
  const adjusted = holm(tested.map(({ fresh }) => fresh?.p ?? 1));
  return verdicts.map((verdict) => {
    const place = tested.indexOf(verdict);
    return place < 0 || verdict.fresh === null
      ? verdict
      : { ...verdict, fresh: { p: verdict.fresh.p, adjusted: adjusted[place] } };
  });
}
