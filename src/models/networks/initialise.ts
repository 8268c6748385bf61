/**
 * Where networks start. PyTorch's default for an LSTM of H units and for a linear layer of H inputs is one rule,
 * uniform on ±1/√H for weights and biases alike; numbers are drawn in float64 from the parameter's own stream of the
 * seed, so a float32 backend starts at the same weights, rounded. Baseline logits start at the logit of the training
 * rows' Kaplan-Meier hazard, made fit for a logarithm by `anchorHazards`; those of competing causes at
 * z_k = log(h_k / (1 − Σ_j h_j)).
 */
import type { DeviceArray } from "../../compute/backend.ts";
import { log } from "../../core/elementary.ts";
import { BackendError, InputError } from "../../core/errors.ts";
import { createRandom } from "../../core/random.ts";
import type { Network } from "./network.ts";
import type { ParameterValues } from "./parameters.ts";

/** First of the streams that initial weights are drawn from, separate from those of splits, bootstrap and noise. */
const WEIGHT_STREAM = 0x20000000;

/** A bin without events starts at this share of the mean rate: no events in a bin is weak evidence of no hazard. */
const FLOOR_SHARE = 0.1;

/** Bins on each side of the one smoothed: a moving mean of 5. */
const HALF_WINDOW = 2;

/** The last rows at risk can all have the event; a hazard of 1 has no logit. */
const HIGHEST_HAZARD = 0.999;

/** Size of the output weights, as a share of the usual, when a baseline already carries the level of the hazard. */
export const ANCHORED_OUTPUT_SCALE = 0.1;

/** Uniform on ±1/√fanIn · scale; `index` is the parameter's index in its network. */
export function drawUniform(
  length: number,
  fanIn: number,
  seed: number,
  index: number,
  scale = 1,
): Float64Array {
  const random = createRandom(seed, WEIGHT_STREAM + index);
  const bound = scale / Math.sqrt(fanIn);
  return Float64Array.from({ length }, () => (2 * random.uniform() - 1) * bound);
}

/** Weights of inputs: [units, D], or [units, D + 1] with time in the last column. */
const INPUT_WEIGHTS = ["lstm.input", "dense0.weight"];

/**
 * Hands the weights that were drawn for column k to the column whose place is k, and turns those of columns that are
 * turned: the network then starts as that of the same columns in another order, or of their negatives.
 */
export async function arrangeInputs(
  { backend, D, parameters }: Pick<Network, "backend" | "D" | "parameters">,
  { places, signs }: { readonly places: ArrayLike<number>; readonly signs: ArrayLike<number> }, // [D]
): Promise<void> {
  for (const { name, shape, values } of parameters) {
    if (!INPUT_WEIGHTS.includes(name)) continue;
    const width = shape[1];
    const drawn = await backend.read(values);
    const arranged = Float64Array.from(drawn, (weight, at) => {
      const d = at % width;
      return d < D ? signs[d] * drawn[at - d + places[d]] : weight;
    });
    backend.write(values, arranged);
  }
}

/** For parameters with numbers for each column of x: how many others follow along that axis, and along the next. */
const INPUT_AXES: Readonly<
  Record<string, { readonly more: "none" | "one" | "chances"; readonly inner?: true }>
> = {
  skip: { more: "none" },
  "dense0.weight": { more: "none" },
  "lstm.input": { more: "one" },
  "held.membership": { more: "one" },
  "held.coefficients": { more: "chances", inner: true },
};

/** The parameters of the same network for columns of x in another order: column d is that at places[d]. */
export function reorderInputs(
  values: ParameterValues,
  places: ArrayLike<number>, // [D]
  { chances = 0, blocks = [0] }: { readonly chances?: number; readonly blocks?: readonly number[] },
): ParameterValues {
  const D = places.length;
  return Object.fromEntries(
    Object.entries(values).map(([name, own]) => {
      const axis = INPUT_AXES[name.replace(/^base\./, "")];
      if (axis === undefined) return [name, own];
      const width = D + { none: 0, one: 1, chances }[axis.more];
      const inner = axis.inner ? blocks.length : 1;
      const columnOf = (at: number) => Math.floor(at / inner) % width;
      return [
        name,
        own.map((value, at) => {
          const d = columnOf(at);
          return d < D ? own[at + (places[d] - d) * inner] : value;
        }),
      ];
    }),
  );
}

/** Σ_k h_k of each bin. */
export function totalHazards(T: number, K: number, hazards: ArrayLike<number>): Float64Array {
  const total = new Float64Array(T);
  for (let i = 0; i < K * T; i++) total[i % T] += hazards[i];
  return total;
}

/** log(h_k / (1 − Σ_j h_j)) of K·T hazards, cause by cause. */
export function logitsOfHazards(T: number, hazards: ArrayLike<number>, K = 1): Float64Array {
  if (hazards.length !== K * T) {
    const found = `there are baseline hazards for ${hazards.length} bins, and the network has ${T}`;
    throw new InputError(K === 1 ? found : `${found} for each of ${K} causes`, {
      code: "baseline.length",
    });
  }
  const total = totalHazards(T, K, hazards);
  return Float64Array.from({ length: K * T }, (_, i) => {
    const [hazard, all] = [hazards[i], total[i % T]];
    if (hazard > 0 && all < 1) return log(hazard / (1 - all));
    const several = hazard > 0 && hazard < 1;
    const what = several
      ? `sum of baseline hazards outside (0, 1): ${all}`
      : `baseline hazard outside (0, 1): ${hazard}`;
    throw new InputError(`${what} in bin ${(i % T) + 1}`, {
      code: "baseline.range",
      hint: "pass Kaplan-Meier counts through anchorHazards",
    });
  });
}

/**
 * Hazards events/atRisk of bins 1…T (0 where nobody is at risk), floored at a tenth of the mean rate Σ events / Σ
 * atRisk, then smoothed by a moving mean over 5 bins whose window shrinks at both ends. All lie strictly between 0 and
 * 1.
 */
export function anchorHazards(
  events: ArrayLike<number>, // [T]
  atRisk: ArrayLike<number>, // [T]
): Float64Array {
  const T = events.length;
  if (atRisk.length !== T) {
    throw new InputError(`rows at risk in ${atRisk.length} bins, events in ${T}`, {
      code: "baseline.length",
    });
  }
  let allEvents = 0;
  let allAtRisk = 0;
  for (let t = 0; t < T; t++) {
    allEvents += events[t];
    allAtRisk += atRisk[t];
  }
  if (!(allEvents > 0)) {
    throw new InputError("no events to start the baseline hazard from", { code: "events.none" });
  }
  const floor = (FLOOR_SHARE * allEvents) / allAtRisk;
  const raised = new Float64Array(T);
  for (let t = 0; t < T; t++) raised[t] = Math.max(atRisk[t] > 0 ? events[t] / atRisk[t] : 0, floor);
  const smooth = new Float64Array(T);
  for (let t = 0; t < T; t++) {
    const first = Math.max(t - HALF_WINDOW, 0);
    const last = Math.min(t + HALF_WINDOW, T - 1);
    let sum = 0;
    for (let s = first; s <= last; s++) sum += raised[s];
    smooth[t] = Math.min(sum / (last - first + 1), HIGHEST_HAZARD);
  }
  return smooth;
}

/** Refuses anything but a whole number of at least 1. */
export function checkSize(name: string, size: number): void {
  if (Number.isInteger(size) && size >= 1) return;
  throw new InputError(`${name} of a network is not a whole number from 1: ${size}`, {
    code: "network.size",
  });
}

/** Refuses rows that do not fit; arrays may be longer than needed, so that one serves batches of any size. */
export function checkRows(
  { D, T, K = 1 }: { readonly D: number; readonly T: number; readonly K?: number },
  x: DeviceArray,
  N: number,
  logits: DeviceArray,
): void {
  const needed = N * K * T;
  if (x.length >= N * D && logits.length >= needed) return;
  throw new InputError(
    `too short for ${N} rows: x has ${x.length} numbers of ${N * D}, the logits ${logits.length} of ${needed}`,
    { code: "network.rows" },
  );
}

/** The error for a backward pass before any forward pass. */
export function refuseEmpty(): BackendError {
  return new BackendError("no activations to differentiate: no forward pass has kept any", {
    code: "activations.none",
    hint: "give these activations to forward first",
  });
}
