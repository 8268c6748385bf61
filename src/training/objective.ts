/** The loss a run minimises, by name: its value, and its gradient added to dLogits. */

import type { Floats } from "../compute/backend.ts";
import { unreachable } from "../core/errors.ts";
import { present } from "../core/present.ts";
import type { BinnedRightCensored } from "../data/outcomes/outcomes.ts";
import { discreteLikelihood } from "../objectives/likelihood.ts";
import { rankedProbability, rankingKernel } from "../objectives/rps.ts";
import { xcalPenalty } from "../objectives/xcal.ts";
import type { ObjectiveSpec } from "./options.ts";

export function addObjective(
  spec: ObjectiveSpec,
  logits: Floats, // [N,T]
  binned: BinnedRightCensored,
  dLogits: Floats | null, // [N,T]
): number {
  switch (spec.kind) {
    case "likelihood":
      return discreteLikelihood(logits, binned, spec, dLogits, 1);
    case "xcal": {
      const { lambda, bins, gamma } = spec;
      const options = present({ bins, gamma });
      const loss = discreteLikelihood(logits, binned, spec, dLogits, 1);
      return loss + lambda * xcalPenalty(logits, binned, options, dLogits, lambda);
    }
    case "rps": {
      const loss = rankedProbability(logits, binned, dLogits, 1);
      if (spec.ranking === undefined) return loss;
      const { lambda, sigma } = spec.ranking;
      return loss + lambda * rankingKernel(logits, binned, { sigma }, dLogits, lambda);
    }
    default:
      return unreachable(spec);
  }
}
