/**
 * The network must earn its place. Beside the trained network stands the additive model it started from, and between
 * them the mixtures z = z_start + α (z_trained − z_start). The output layer is solved for each on the training rows;
 * the validation rows choose α by their likelihood. The start is kept unless the best mixture beats it by more than the
 * noise of that comparison, and beyond, α grows from 0 with the gain: what the validation rows cannot tell apart gives
 * nearly the same curves. A mixture is again a network of the same kind: everything but the LSTM's inside is
 * linear.
 */
import { square } from "../../core/elementary.ts";
import type { AnchoredSpec } from "../../models/networks/anchored.ts";
import type { SingleNetworkSpec } from "../../models/networks/list.ts";
import type { ParameterValues } from "../../models/networks/parameters.ts";

/** The shares of training that are tried. */
export const MIXTURES = [0, 0.25, 0.5, 0.75, 1] as const;
/** Of one run: the gain over the start must exceed the standard error of the paired differences. */
const NOISE = 1;

/** What was chosen, and by how much. Losses are means over validation rows. */
export interface Mixture {
  /** α: 0 keeps the start, 1 the trained network. */
  readonly share: number;
  readonly losses: readonly { readonly share: number; readonly loss: number }[];
  /** Gain of the best mixture over the start, a mean over validation rows, and its standard error. */
  readonly gain: number;
  readonly standardError: number;
}

/** Parameters that training changes and the logits are linear in. */
const LINEAR = ["baseline", "skip", "groupOffsets"];
/** Parameters of the LSTM's output, of which the start has none. */
const OUTPUT = ["lstm.output", "lstm.outputBias"];

/** Whether a network's parameters can be mixed with its start's. */
export function canMix(parameters: ParameterValues): boolean {
  return parameters.baseline !== undefined && parameters.skip !== undefined;
}

export function mixParameters(
  start: ParameterValues,
  trained: ParameterValues,
  share: number,
): ParameterValues {
  return Object.fromEntries(
    Object.entries(trained).map(([name, values]) => {
      if (OUTPUT.includes(name)) return [name, values.map((value) => share * value)];
      if (!LINEAR.includes(name)) return [name, values];
      return [name, values.map((value, k) => (1 - share) * start[name][k] + share * value)];
    }),
  );
}

/** Without the LSTM, to which a kept start gives no weight: the same curves from fewer numbers. */
export function dropLstm(
  { kind: _kind, H: _hidden, lstm: _lstm, ...spec }: AnchoredSpec,
  parameters: ParameterValues,
): { readonly spec: SingleNetworkSpec; readonly parameters: ParameterValues } {
  return {
    spec: { kind: "linear", ...spec },
    parameters: Object.fromEntries(Object.entries(parameters).filter(([name]) => LINEAR.includes(name))),
  };
}

/**
 * Least squares of a parabola through values at 0, ¼, ½, ¾ and 1: the weights of the values in its slope at 0 and in
 * its quadratic term.
 */
const SLOPE = [-108, 26, 80, 54, -52].map((weight) => weight / 35);
const BEND = [80, -40, -80, -40, 80].map((weight) => weight / 35);

/**
 * `lossesOf`: the loss of every validation row under each mixture, in the order of MIXTURES. `noise`: the gain over the
 * start, in standard errors, up to which the start is kept. α is where a parabola through the mean losses is least; of
 * that, none is kept at such a gain and all at twice as much, so that α varies with the losses without a jump.
 */
export function chooseMixture(lossesOf: readonly Float64Array[], noise = NOISE): Mixture {
  const N = lossesOf[0].length;
  const means = lossesOf.map((losses) => losses.reduce((sum, loss) => sum + loss, 0) / N);
  const [slope, bend] = [weigh(SLOPE, means), weigh(BEND, means)];
  const least = bend > 0 ? Math.min(Math.max(-slope / (2 * bend), 0), 1) : slope + bend < 0 ? 1 : 0;
  const gainOf = (losses: readonly number[]) => -least * (weigh(SLOPE, losses) + least * weigh(BEND, losses));
  const gain = Math.max(gainOf(means), 0);
  let squares = 0;
  for (let n = 0; n < N; n++) squares += square(gainOf(lossesOf.map((losses) => losses[n])) - gain);
  const standardError = N > 1 ? Math.sqrt(squares / (N - 1) / N) : 0;
  const allowed = noise * standardError;
  return {
    share: gain > allowed ? least * Math.min(gain / allowed - 1, 1) : 0,
    losses: MIXTURES.map((one, k) => ({ share: one, loss: means[k] })),
    gain,
    standardError,
  };
}

function weigh(weights: readonly number[], values: readonly number[]): number {
  return weights.reduce((sum, weight, k) => sum + weight * values[k], 0);
}
