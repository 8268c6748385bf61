/**
 * The rival that a model of several causes has to beat: one Cox model a cause, fitted with the events of the others
 * censored, whose incidences are the product limit of all of them together (models/cox/cause-specific.ts). Late entries
 * and weights enter every fit. It makes no model file: `graduate cox --cause` shows the fit of one cause.
 */
import { NumericalError } from "../../core/errors.ts";
import { encode } from "../../data/encode/encode.ts";
import { type Outcomes, pickOutcomes, requireSingleCause } from "../../data/outcomes/outcomes.ts";
import { type CoxPredictor, gridTimes } from "../../models/cox/baseline.ts";
import { causeSpecificIncidence } from "../../models/cox/cause-specific.ts";
import { describeInfinite, fitCox, requireCurves } from "../../models/cox/cox.ts";
import type { Study } from "../../study/study.ts";

/** Fitted models, in the order of the causes, and what is to be said of them. */
export interface CauseSpecificCox {
  readonly models: readonly CoxPredictor[];
  readonly warnings: readonly string[];
}

/** Fits the cause-specific hazards to the training rows of a study that sees columns as Cox does. */
export function fitCauseSpecificCox(study: Study): CauseSpecificCox {
  const { encoder, widened, split, outcomes, causes } = study;
  const { names } = encoder;
  const D = names.length;
  const x = encode(encoder, widened, split.train).values;
  const learnt = pickOutcomes(outcomes, split.train);
  const warnings: string[] = [];
  const models = (causes ?? []).map((cause, k): CoxPredictor => {
    const own = censorOthers(learnt, k + 1);
    if (!own.event.includes(1)) {
      throw new NumericalError(`no training row has an event of ${cause}: its hazard has no Cox model`, {
        code: "cox.events",
      });
    }
    const fit = fitCox({ ...requireSingleCause(own, "a cause-specific hazard"), x, D, names });
    requireCurves(fit);
    const endless = fit.infinite.map((j) => names[j]);
    const notes = endless.length === 0 ? fit.warnings : [describeInfinite(endless), ...fit.warnings];
    warnings.push(...notes.map((one) => `${cause}: ${one}`));
    return fit;
  });
  return { models, warnings };
}

/** The outcomes with the events of all causes but one as censorings. */
export function censorOthers({ cause, ...outcomes }: Outcomes, kept: number): Outcomes {
  return { ...outcomes, event: Uint8Array.from(cause ?? [], (one) => (one === kept ? 1 : 0)) };
}

/** The incidences [N,K,T] of some rows at the ends of the study's bins. */
export function predictCauseSpecificCox(
  { models }: CauseSpecificCox,
  { encoder, widened, grid }: Study,
  rows: Int32Array,
): Float64Array {
  const { T } = grid;
  const K = models.length;
  const x = encode(encoder, widened, rows).values;
  const own = causeSpecificIncidence(models, x, gridTimes(grid.edges));
  const incidence = new Float64Array(rows.length * K * T);
  for (let i = 0; i < rows.length; i++)
    for (let k = 0; k < K; k++) incidence.set(own[k].subarray(i * T, (i + 1) * T), (i * K + k) * T);
  return incidence;
}
