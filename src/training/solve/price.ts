/**
 * What a point of the frontier costs, in words that a reader knows: concordance and Brier score on the rows that price
 * it, and the largest distance among the other groups that are held.
 */
import { isAbsent } from "../../core/measured.ts";
import { requireRightCensored } from "../../data/outcomes/outcomes.ts";
import { concordancePaper, timeDependentPairs } from "../../stats/concordance/time-dependent.ts";
import { brierBinned } from "../../stats/scores/brier.ts";
import { curvesAt } from "./curves/curve-pass.ts";
import type { Layout } from "./layout.ts";
import { judgedRows, type SolveFrame } from "./problem.ts";
import type { GatheredRows } from "./rows.ts";

/** How well the curves of a point order and predict people; null where the rows do not say. */
export interface PointScores {
  /** The paper's C, as on the validation rows while training. */
  readonly concordance: number | null;
  /** Integrated Brier score over all bins. */
  readonly ibs: number | null;
}

/** `gathered` has logits in every bin. */
export function scorePoint(
  layout: Layout,
  frame: SolveFrame,
  gathered: GatheredRows,
  chances: readonly Float64Array[],
  theta: Float64Array,
): PointScores {
  const { binned } = gathered;
  // Neither score is defined for people who entered late; weights would need scores of their own.
  if (binned.firstBin !== undefined || binned.weight !== undefined) return { concordance: null, ibs: null };
  const plain = requireRightCensored(binned, "the price of a point");
  const survival = curvesAt(layout, judgedRows(frame, gathered, chances), theta);
  const curves = { N: binned.bin.length, T: binned.T, survival };
  const concordance = concordancePaper(timeDependentPairs(curves, plain));
  const brier = brierBinned(curves, plain);
  return {
    concordance: isAbsent(concordance) ? null : concordance,
    ibs: isAbsent(brier) ? null : brier.ibs,
  };
}
