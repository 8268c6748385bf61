/**
 * A network from its description, and its parameters out of it and back by name: what a checkpoint and a model file keep.
 * The description is plain JSON. Values are float64 whatever the backend's precision, so reading and writing back loses
 * nothing, and a network trained on one backend can be opened on another.
 */
import type { Backend } from "../../compute/backend.ts";
import { FormatError } from "../../core/errors.ts";
import { createAnchored } from "./anchored.ts";
import { createDrsa } from "./drsa.ts";
import { createLinear } from "./linear.ts";
import { createMean } from "./mean.ts";
import { createMlp } from "./mlp.ts";
import type { Network, Parameter } from "./network.ts";

interface Sizes {
  /** Columns of x. */
  readonly D: number; // features
  /** Time bins. */
  readonly T: number; // time bins
}

export interface DrsaSpec extends Sizes {
  readonly kind: "drsa";
  /** Hidden units; default 50. */
  readonly H?: number;
}

export interface AnchoredSpec extends Sizes {
  readonly kind: "anchored";
  /** Hidden units; default 50. */
  readonly H?: number;
  /** As from anchorHazards, of the training rows. */
  readonly baselineHazard: readonly number[]; // [T]
  /** Default true; false is the linear network. */
  readonly lstm?: boolean;
  /** How many of the last columns of x say who is in a group; default 0. */
  readonly groups?: number;
}

export interface MlpSpec extends Sizes {
  readonly kind: "mlp";
  /** Units of each hidden layer; default [32]. */
  readonly hidden?: readonly number[];
  /** The hazard of each bin at the start. */
  readonly baselineHazard?: readonly number[]; // [T]
}

export interface LinearSpec extends Sizes {
  readonly kind: "linear";
  /** The hazard of each bin at the start. */
  readonly baselineHazard?: readonly number[]; // [T]
  /** How many of the last columns of x say who is in a group. */
  readonly groups?: number;
}

/** A network that is trained by itself. */
export type SingleNetworkSpec = DrsaSpec | AnchoredSpec | MlpSpec | LinearSpec;

/** The mean of the members' curves; each has the same D and T. */
export interface MeanSpec extends Sizes {
  readonly kind: "mean";
  /** The networks whose curves are averaged. */
  readonly members: readonly SingleNetworkSpec[];
}

/** Everything needed to build a network again, as plain data. */
export type NetworkSpec = SingleNetworkSpec | MeanSpec;

/** The same description, seed and precision give the same parameters. */
export function createNetwork(backend: Backend, spec: NetworkSpec, seed: number): Network {
  switch (spec.kind) {
    case "drsa":
      return createDrsa(backend, { ...spec, seed });
    case "anchored":
      return createAnchored(backend, { ...spec, seed });
    case "mlp":
      return createMlp(backend, { ...spec, seed });
    case "linear":
      return createLinear(backend, spec);
    case "mean":
      return createMean(
        backend,
        spec.members.map((member) => createNetwork(backend, member, seed)),
      );
    default: {
      const { kind } = spec satisfies never as { readonly kind: string };
      throw new FormatError(
        `unknown network: ${JSON.stringify(kind)} (have drsa, anchored, mlp, linear, mean)`,
        {
          code: "network.unknown",
        },
      );
    }
  }
}

/** Parameter name → its values, row-major. */
export type ParameterValues = Record<string, number[]>;

/** A copy. */
export function readParameters(network: Pick<Network, "parameters">): ParameterValues {
  return Object.fromEntries(network.parameters.map(({ name, values }) => [name, Array.from(values)]));
}

/** All parameters or, when anything does not fit, none. */
export function writeParameters(
  network: Pick<Network, "parameters">,
  from: Readonly<Record<string, ArrayLike<number>>>,
): void {
  const names = network.parameters.map(({ name }) => name);
  for (const name of Object.keys(from)) {
    if (!names.includes(name)) {
      throw new FormatError(`unknown parameter: ${name} (the network has ${names.join(", ")})`, {
        code: "parameter.unknown",
        where: name,
      });
    }
  }
  const checked = network.parameters.map((parameter) => ({ parameter, values: findValues(parameter, from) }));
  for (const { parameter, values } of checked) parameter.values.set(values);
}

function findValues(
  { name, shape, values: own }: Parameter,
  from: Readonly<Record<string, ArrayLike<number>>>,
): ArrayLike<number> {
  const values = Object.hasOwn(from, name) ? from[name] : undefined;
  if (values === undefined) {
    throw new FormatError(`missing parameter: ${name}`, { code: "parameter.missing", where: name });
  }
  if (values.length !== own.length) {
    throw new FormatError(
      `parameter ${name} has ${values.length} values, its shape [${shape.join(", ")}] has ${own.length}`,
      { code: "parameter.shape", where: name },
    );
  }
  for (let i = 0; i < values.length; i++) {
    if (Number.isFinite(values[i])) continue;
    throw new FormatError(`parameter ${name} is not a finite number: ${values[i]}, value ${i + 1}`, {
      code: "parameter.value",
      where: name,
    });
  }
  return values;
}
