/**
 * How uncertain the difference of two rows' log cumulative hazards at the horizon is: of a Cox model by the covariance
 * of its coefficients, of a held network by the curvature of its layer. That is what the rows leave uncertain; what the
 * model's form misses is in the bands of a person's curve and not in here.
 */
import { square } from "../../core/elementary.ts";
import { absent, type Measured } from "../../core/measured.ts";
import type { EncodedFeatures } from "../../data/encode/encode.ts";
import { coxContrastError } from "../../models/cox/curve-errors.ts";
import { prepareLayerSlopes } from "../../models/uncertainty/layer-uncertainty.ts";
import type { Model } from "../../training/model.ts";

/** The standard error of row `to` less row `from`. */
export type ContrastError = (from: number, to: number) => Measured;

const NO_COVARIANCE = "the model file holds no covariance of its coefficients";
const NO_CURVATURE = "the model file holds no curvature of the fit";

/** For encoded rows and their curves [N,T]. */
export function prepareContrastErrors(
  { predictor, uncertainty }: Pick<Model, "predictor" | "uncertainty">,
  { values, D }: EncodedFeatures,
  survival: Float64Array,
): ContrastError {
  if (predictor.kind === "cox") {
    if (uncertainty?.kind !== "cox") return () => absent(NO_COVARIANCE);
    const rowOf = (row: number) => values.subarray(row * D, (row + 1) * D);
    return (from, to) => coxContrastError(uncertainty, rowOf(to), rowOf(from));
  }
  if (uncertainty?.kind !== "layer" || predictor.network.kind !== "held") return () => absent(NO_CURVATURE);
  const { network, parameters } = predictor;
  const slopes = prepareLayerSlopes(
    uncertainty,
    network,
    parameters["held.membership"] ?? [],
  )(values, survival);
  return (from, to) =>
    Math.sqrt(slopes[to].reduce((sum, slope, k) => sum + square(slope - slopes[from][k]), 0));
}
