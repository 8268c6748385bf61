/** The loss a run minimises, by name: its value, and its gradient added to dLogits. */

import type { Floats } from "../compute/backend.ts";
import { InputError, unreachable } from "../core/errors.ts";
import { present } from "../core/present.ts";
import {
  type BinnedOutcomes,
  type BinnedSingleCause,
  requireRightCensored,
} from "../data/outcomes/outcomes.ts";
import { causeLikelihood } from "../objectives/causes/cause-likelihood.ts";
import { discreteLikelihood } from "../objectives/likelihood.ts";
import { rankedProbability, rankingKernel } from "../objectives/rps.ts";
import { xcalPenalty } from "../objectives/xcal.ts";
import type { ObjectiveSpec } from "./options.ts";

export function addObjective(
  spec: ObjectiveSpec,
  logits: Floats, // [N,T]
  binned: BinnedSingleCause,
  dLogits: Floats | null, // [N,T]
): number {
  switch (spec.kind) {
    case "likelihood":
      return discreteLikelihood(logits, binned, spec, dLogits, 1);
    case "xcal": {
      const { lambda, bins, gamma } = spec;
      const options = present({ bins, gamma });
      const loss = discreteLikelihood(logits, binned, spec, dLogits, 1);
      const plain = requireRightCensored(binned, "X-Cal");
      return loss + lambda * xcalPenalty(logits, plain, options, dLogits, lambda);
    }
    case "rps": {
      const plain = requireRightCensored(binned, "the ranked probability score");
      const loss = rankedProbability(logits, plain, dLogits, 1);
      if (spec.ranking === undefined) return loss;
      const { lambda, sigma } = spec.ranking;
      return loss + lambda * rankingKernel(logits, plain, { sigma }, dLogits, lambda);
    }
    default:
      return unreachable(spec);
  }
}

/** The same for several causes, whose likelihood is the one loss that is defined for them. */
export function addCauseObjective(
  spec: ObjectiveSpec,
  logits: Floats, // [N,K,T]
  binned: BinnedOutcomes,
  K: number,
  dLogits: Floats | null, // [N,K,T]
): number {
  refuseCauseObjective(spec);
  return causeLikelihood(logits, binned, K, dLogits, 1);
}

/** Refuses, before anything is fitted, a loss that is not defined for such outcomes. */
export function refuseObjective(spec: ObjectiveSpec, { firstBin, weight }: BinnedOutcomes, K: number): void {
  if (K > 1) refuseCauseObjective(spec);
  if (spec.kind === "likelihood" && !spec.tail) return;
  if (firstBin !== undefined) refuseLoss(spec, "under late entry", "entry");
  if (weight !== undefined && spec.kind !== "likelihood") refuseLoss(spec, "for weighted rows", "weights");
}

/** Refuses losses that are not defined for several causes. */
export function refuseCauseObjective(spec: ObjectiveSpec): void {
  if (spec.kind !== "likelihood" || spec.tail) refuseLoss(spec, "for several causes", "causes");
}

function refuseLoss(spec: ObjectiveSpec, where: string, code: "causes" | "entry" | "weights"): never {
  const loss =
    spec.kind === "likelihood" ? "the likelihood with the paper's tail term" : `the ${spec.kind} loss`;
  throw new InputError(`${loss} is not defined ${where}`, {
    code: `objective.${code}`,
    hint: "train by the likelihood without the tail term (the default preset)",
  });
}
