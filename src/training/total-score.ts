/**
 * The paper's total score of a network at its current weights, on rows it did not learn from: the harmonic mean of
 * C-index and 1 − ECE.
 */
import type { Backend } from "../compute/backend.ts";
import { isAbsent } from "../core/measured.ts";
import type { Network } from "../models/networks/network.ts";
import { survivalCurves } from "../objectives/curves.ts";
import { expectedCalibrationError, meanCurve, totalScore } from "../stats/calibration/calibration.ts";
import { requireRightCensored } from "../data/outcomes/outcomes.ts";
import { concordancePaper, timeDependentPairs } from "../stats/concordance/time-dependent.ts";
import { kaplanMeierBinned } from "../stats/kaplan-meier.ts";
import type { TrainingRows } from "./trainer.ts";

/** 0 where the score is undefined. */
export async function scoreTotal(backend: Backend, network: Network, rows: TrainingRows): Promise<number> {
  const { T } = network;
  const N = rows.binned.bin.length;
  const logits = backend.allocate(N * T);
  await network.forward(rows.x, N, logits, null);
  const curves = { N, T, survival: new Float64Array(N * T) };
  survivalCurves(await backend.read(logits), N, T, curves.survival);
  backend.release(logits);
  const binned = requireRightCensored(rows.binned, "the total score");
  const mean = meanCurve(curves);
  if (isAbsent(mean)) return 0;
  const ece = expectedCalibrationError(mean, kaplanMeierBinned(binned).survival);
  const total = totalScore(
    concordancePaper(timeDependentPairs(curves, binned)),
    isAbsent(ece) ? ece : ece.ece,
  );
  return isAbsent(total) ? 0 : total;
}
