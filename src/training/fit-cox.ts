/** Cox's model of a study, as a predictor of curves: the usual model for the same columns and rows. */
import { InputError } from "../core/errors.ts";
import { encode } from "../data/encode/encode.ts";
import { pickOutcomes, requireSingleCause } from "../data/outcomes/outcomes.ts";
import { describeInfinite, fitCox, requireCurves } from "../models/cox/cox.ts";
import { type CoxUncertainty, measureCoxUncertainty } from "../models/cox/curve-errors.ts";
import type { Study } from "../study/study.ts";
import type { Model, Predictor } from "./model.ts";

/** A fitted Cox model, with its notes and warnings. */
export interface FittedCox {
  readonly predictor: Extract<Predictor, { kind: "cox" }>;
  /** Null where a coefficient has no error. */
  readonly uncertainty: CoxUncertainty | null;
  readonly training: Omit<Model["training"], "seed" | "rows" | "people" | "warnings">;
  /** Shown before anything else. */
  readonly notes: readonly string[];
  /** Kept in the model. */
  readonly warnings: readonly string[];
}

export function fitCoxMethod({ encoder, widened, outcomes, split, grid }: Study): FittedCox {
  const D = encoder.names.length;
  const x = encode(encoder, widened, split.train).values;
  if (outcomes.cause !== undefined) {
    throw new InputError("a Cox model is of one hazard: it does not take several causes", {
      code: "method.causes",
      hint: "leave --method cox out; `graduate cox --cause VALUE` fits the cause-specific hazard of one cause",
    });
  }
  const learnt = requireSingleCause(pickOutcomes(outcomes, split.train), "a Cox model");
  const input = { ...learnt, x, D, names: encoder.names };
  const fit = fitCox(input);
  requireCurves(fit);
  const endless = fit.infinite.map((j) => encoder.names[j]);
  const { coefficients, means, baseline, iterations } = fit;
  return {
    predictor: {
      kind: "cox",
      D,
      coefficients: Array.from(coefficients),
      means: Array.from(means),
      time: Array.from(baseline.time),
      cumulativeHazardAtMeans: Array.from(baseline.cumulativeHazardAtMeans),
    },
    // Bands of late entries and of weighted rows would need the robust form.
    uncertainty:
      learnt.entry === undefined && learnt.weight === undefined
        ? measureCoxUncertainty(input, fit, grid.edges)
        : null,
    training: {
      backend: "none",
      parameters: D,
      steps: iterations,
      bestStep: iterations,
      history: [],
      verdict: [],
      multipliers: null,
    },
    notes: endless.length === 0 ? [] : [describeInfinite(endless)],
    warnings: fit.warnings,
  };
}
