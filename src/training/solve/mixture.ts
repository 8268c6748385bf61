/**
 * The network must earn its place. Beside the trained network stands the additive model it started from, and between
 * them the mixtures z = z_start + α (z_trained − z_start). The output layer is solved for each on the training rows;
 * the validation rows choose α by their likelihood, and the start is kept unless the best mixture beats it by more than
 * the noise of that comparison. A mixture is again a network of the same kind: everything but the LSTM's inside is
 * linear.
 */
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
 * `lossesOf`: the loss of every validation row under each mixture, in the order of MIXTURES. `noise`: the gain over the
 * start, in standard errors, below which the start is kept.
 */
export function chooseMixture(lossesOf: readonly Float64Array[], noise = NOISE): Mixture {
  const N = lossesOf[0].length;
  const means = lossesOf.map((losses) => losses.reduce((sum, loss) => sum + loss, 0) / N);
  let best = 0;
  means.forEach((mean, k) => {
    if (mean < means[best]) best = k;
  });
  const gain = means[0] - means[best];
  let squares = 0;
  for (let n = 0; n < N; n++) {
    const difference = lossesOf[0][n] - lossesOf[best][n] - gain;
    squares += difference * difference;
  }
  const standardError = N > 1 ? Math.sqrt(squares / (N - 1) / N) : 0;
  const share = gain > noise * standardError ? MIXTURES[best] : 0;
  return {
    share,
    losses: MIXTURES.map((one, k) => ({ share: one, loss: means[k] })),
    gain,
    standardError,
  };
}
