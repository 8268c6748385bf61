/**
 * Gradient steps, exactly PyTorch's: SGD with momentum (no dampening, no Nesterov), Adam (decay added to the gradient)
 * and AdamW (weights decayed first), with θ ← θ − rate/(1−β₁ᵏ) · m / (√v/√(1−β₂ᵏ) + ε) at step k. Weight decay skips
 * parameters marked exempt (biases, baseline logits) unless `decayAll` is set; torch.optim decays everything by
 * default. Moments are float64 whatever the backend. Also the norm clip and the average of weights over training.
 * Nothing here knows about a loss.
 */
import { power } from "../core/elementary.ts";
import { FormatError, InputError, NumericalError } from "../core/errors.ts";
import type { HostParameter } from "../models/networks/host-parameters.ts";

export interface SgdSpec {
  readonly kind: "sgd";
  /** Learning rate. */
  readonly rate: number;
  /** Default 0. */
  readonly momentum?: number;
}

export interface AdamSpec {
  /** With `adamw`, decay acts on the weights directly, not through the gradient. */
  readonly kind: "adam" | "adamw";
  /** Learning rate. */
  readonly rate: number;
  /** Default 0.9. */
  readonly beta1?: number;
  /** Default 0.999. */
  readonly beta2?: number;
  /** Default 1e-8. */
  readonly epsilon?: number;
  /** Weight decay; default 0. */
  readonly decay?: number;
  /** Decay biases and baselines too; default false. */
  readonly decayAll?: boolean;
}

/** The update rule and its rates. */
export type OptimiserSpec = SgdSpec | AdamSpec;

/** Plain JSON. */
export interface OptimiserState {
  readonly kind: OptimiserSpec["kind"];
  readonly steps: number;
  /** Parameter name → momentum, or Adam's first moment. */
  readonly first: Readonly<Record<string, readonly number[]>>;
  /** Parameter name → Adam's second moment; empty for SGD. */
  readonly second: Readonly<Record<string, readonly number[]>>;
}

/** Moves parameters along their gradients. */
export interface Optimiser {
  /** Moves every parameter along its gradient; leaves the gradients unchanged. */
  step(): void;
  /** A copy of everything the next step depends on besides parameters and gradients. */
  state(): OptimiserState;
  /** Continues from a state that `state` returned. */
  restore(state: OptimiserState): void;
}

/** The moments of one parameter. */
interface Moments {
  readonly parameter: HostParameter;
  readonly first: Float64Array;
  readonly second: Float64Array; // empty for SGD
}

/** An optimiser for these parameters. */
export function createOptimiser(parameters: readonly HostParameter[], spec: OptimiserSpec): Optimiser {
  checkSpec(spec);
  const moments = parameters.map((parameter): Moments => {
    const length = parameter.values.length;
    return {
      parameter,
      first: new Float64Array(length),
      second: new Float64Array(spec.kind === "sgd" ? 0 : length),
    };
  });
  let steps = 0;
  return {
    step() {
      steps++;
      for (const one of moments) {
        if (spec.kind === "sgd") stepSgd(one, spec);
        else stepAdam(one, spec, steps);
      }
    },
    state: () => ({
      kind: spec.kind,
      steps,
      first: record(moments, ({ first }) => first),
      second: spec.kind === "sgd" ? {} : record(moments, ({ second }) => second),
    }),
    restore(state) {
      checkState(state, spec, moments);
      steps = state.steps;
      for (const { parameter, first, second } of moments) {
        first.set(state.first[parameter.name]);
        if (spec.kind !== "sgd") second.set(state.second[parameter.name]);
      }
    },
  };
}

function stepSgd({ parameter, first }: Moments, { rate, momentum = 0 }: SgdSpec): void {
  const { values, gradient } = parameter;
  for (let i = 0; i < values.length; i++) {
    first[i] = momentum * first[i] + gradient[i];
    values[i] -= rate * first[i];
  }
}

function stepAdam({ parameter, first, second }: Moments, spec: AdamSpec, steps: number): void {
  const { rate, beta1 = 0.9, beta2 = 0.999, epsilon = 1e-8, decay = 0, decayAll = false } = spec;
  const { values, gradient } = parameter;
  const applied = decayAll || parameter.decays ? decay : 0;
  const inGradient = spec.kind === "adam" ? applied : 0;
  const kept = spec.kind === "adamw" ? 1 - rate * applied : 1;
  const size = rate / (1 - power(beta1, steps));
  const root = Math.sqrt(1 - power(beta2, steps));
  for (let i = 0; i < values.length; i++) {
    const g = gradient[i] + inGradient * values[i];
    first[i] += (1 - beta1) * (g - first[i]);
    second[i] = beta2 * second[i] + (1 - beta2) * g * g;
    values[i] = kept * values[i] - (size * first[i]) / (Math.sqrt(second[i]) / root + epsilon);
  }
}

/** Keeps the factor finite at a norm of 0; torch's value. */
const CLIP_EPSILON = 1e-6;

/**
 * Scales all gradients together to a Euclidean norm of at most `max`, as torch.nn.utils.clip_grad_norm_ does, and
 * returns the norm before clipping. Where torch lets a norm of NaN or infinity through, this refuses.
 */
export function clipGradientNorm(parameters: readonly HostParameter[], max: number): number {
  if (!(max > 0)) {
    throw new InputError(`largest gradient norm is not above 0: ${max}`, { code: "option.invalid" });
  }
  let squares = 0;
  for (const { name, gradient } of parameters) {
    for (let i = 0; i < gradient.length; i++) squares += gradient[i] * gradient[i];
    if (Number.isFinite(squares)) continue;
    throw new NumericalError(`gradient norm is not finite: ${squares} at ${name}`, {
      code: "gradient.infinite",
      hint: "lower the rate, or look for features that are not on a common scale",
    });
  }
  const norm = Math.sqrt(squares);
  const factor = max / (norm + CLIP_EPSILON);
  if (factor >= 1) return norm;
  for (const { gradient } of parameters) {
    for (let i = 0; i < gradient.length; i++) gradient[i] *= factor;
  }
  return norm;
}

/** average ← decay·average + (1−decay)·weights; `average` starts as a copy of the weights. */
export function averageWeights(
  average: Readonly<Record<string, number[] | Float64Array>>,
  parameters: readonly HostParameter[],
  decay: number,
): void {
  if (!(decay >= 0 && decay <= 1)) {
    throw new InputError(`decay of the averaged weights outside [0, 1]: ${decay}`, {
      code: "option.invalid",
    });
  }
  for (const { name, values } of parameters) {
    const mean = find(average, name, values.length);
    for (let i = 0; i < values.length; i++) mean[i] = decay * mean[i] + (1 - decay) * values[i];
  }
}

function record(moments: readonly Moments[], read: (one: Moments) => Float64Array): Record<string, number[]> {
  return Object.fromEntries(moments.map((one) => [one.parameter.name, Array.from(read(one))]));
}

function find<A extends ArrayLike<number>>(
  from: Readonly<Record<string, A>>,
  name: string,
  length: number,
): A {
  const values = Object.hasOwn(from, name) ? from[name] : undefined;
  if (values === undefined) {
    throw new FormatError(`missing parameter: ${name}`, { code: "parameter.missing", where: name });
  }
  if (values.length !== length) {
    throw new FormatError(`parameter ${name} has ${values.length} values; expected ${length}`, {
      code: "parameter.shape",
      where: name,
    });
  }
  return values;
}

function checkState(state: OptimiserState, spec: OptimiserSpec, moments: readonly Moments[]): void {
  if (state.kind !== spec.kind) {
    throw new FormatError(`the optimiser state is of another kind: ${state.kind}, expected ${spec.kind}`, {
      code: "optimiser.kind",
    });
  }
  if (!(Number.isInteger(state.steps) && state.steps >= 0)) {
    throw new FormatError(`optimiser steps are not a count: ${state.steps}`, { code: "optimiser.steps" });
  }
  const names = moments.map(({ parameter }) => parameter.name);
  for (const name of [...Object.keys(state.first), ...Object.keys(state.second)]) {
    if (names.includes(name)) continue;
    throw new FormatError(`unknown parameter: ${name}`, { code: "parameter.unknown", where: name });
  }
  for (const { parameter, first, second } of moments) {
    checkFinite(parameter.name, find(state.first, parameter.name, first.length));
    if (spec.kind !== "sgd") checkFinite(parameter.name, find(state.second, parameter.name, second.length));
  }
}

function checkFinite(name: string, values: ArrayLike<number>): void {
  for (let i = 0; i < values.length; i++) {
    if (Number.isFinite(values[i])) continue;
    throw new FormatError(`optimiser state of ${name} is not a finite number: ${values[i]}, value ${i + 1}`, {
      code: "optimiser.value",
      where: name,
    });
  }
}

function checkSpec(spec: OptimiserSpec): void {
  const within = (name: string, value: number, low: number, high: number) => {
    if (value >= low && value < high) return;
    throw new InputError(`${name} of the optimiser outside [${low}, ${high}): ${value}`, {
      code: "option.invalid",
    });
  };
  within("rate", spec.rate, 0, Number.POSITIVE_INFINITY);
  if (spec.kind === "sgd") {
    within("momentum", spec.momentum ?? 0, 0, Number.POSITIVE_INFINITY);
    return;
  }
  within("beta1", spec.beta1 ?? 0, 0, 1);
  within("beta2", spec.beta2 ?? 0, 0, 1);
  within("epsilon", spec.epsilon ?? 0, 0, Number.POSITIVE_INFINITY);
  within("decay", spec.decay ?? 0, 0, Number.POSITIVE_INFINITY);
}
