/**
 * Observed against expected events of the people at risk: mean_b (O − E)²/V over time blocks, E = Σ h and V = Σ h(1−h)
 * over the group's rows and bins at risk, with ∂/∂E_b = −2 (O − E)/(n·V). V is floored and has no gradient; n counts
 * the blocks in which the group has anyone at risk (the others have neither O nor E, and counting them would put the
 * null scale below 1). It stays valid where censoring depends on the features, and has the same scale for every group:
 * 1 for a perfect model.
 */
import { square } from "../../core/elementary.ts";
import type { DistanceDefinition } from "./distance.ts";

/** Below this variance, a hundredth of an expected event in a block would decide the distance. */
export const MINIMUM_BLOCK_VARIANCE = 0.01;

export const atRisk: DistanceDefinition = {
  words: "mean squared z of observed against predicted events, over stretches of time",
  statistic: "blockTotals",
  findObstacle: () => null,
  measure: ({ blocks: { length: blocks } }, { observed, followedBlocks }, statistics) => {
    let sum = 0;
    for (let b = 0; b < blocks; b++) {
      const V = Math.max(statistics[blocks + b], MINIMUM_BLOCK_VARIANCE);
      sum += square(observed[b] - statistics[b]) / V;
    }
    return sum / followedBlocks;
  },
  fillGradient: (
    { blocks: { length: blocks } },
    { observed, followedBlocks },
    statistics,
    multiplier,
    gradient,
  ) => {
    for (let b = 0; b < blocks; b++) {
      const V = Math.max(statistics[blocks + b], MINIMUM_BLOCK_VARIANCE);
      const excess = observed[b] - statistics[b];
      gradient[b] = (-2 * multiplier * excess) / (V * followedBlocks);
    }
  },
  noise: () => 1,
  automaticSlack: (_group, _variant, kappa) => kappa,
  // A mean square of standardised gaps: κ = 1 asks for no more than the noise allows.
  defaults: { kappa: 1, dual: { form: "ascent", rate: 0.12, start: 1.2, perRow: true } },
  // The paper does not have this distance: the null's own scale.
  paper: { slack: "auto", kappa: 1 },
};
