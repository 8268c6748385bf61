/**
 * Layers and their parameters: a layer's weights by name, as an operation of the backend takes them, and as a list with
 * the names that files use. Also reading a network's parameters by name and writing them back, which is what a
 * checkpoint and a model file need. The values read are float64 whatever the backend's precision, so reading and
 * writing back loses nothing.
 */
import type { Backend, DeviceArray } from "../../compute/backend.ts";
import { countNumbers, type WeightShapes, type Weights } from "../../compute/shapes.ts";
import { FormatError } from "../../core/errors.ts";
import type { Network, Parameter, ParameterShape } from "./network.ts";

/** The weights of one layer. */
export interface LayerShapes<Name extends string> {
  /** Prefix of their names in files. */
  readonly prefix: string;
  readonly shapes: WeightShapes<Name>;
  /** Those that weight decay applies to. */
  readonly decays: readonly Name[];
}

export interface Layer<Name extends string> {
  readonly parameters: readonly Parameter[];
  readonly weights: Weights<Name>;
  readonly gradient: Weights<Name>;
}

/** The layer's parameters as files name them. */
export function listShapes<Name extends string>({
  prefix,
  shapes,
  decays,
}: LayerShapes<Name>): ParameterShape[] {
  return Object.entries<readonly number[]>(shapes).map(([name, shape]) => ({
    name: prefix + name,
    shape,
    decays: decays.includes(name as Name),
  }));
}

/** Allocates zeroed weights and gradients. */
export function createLayer<Name extends string>(backend: Backend, layer: LayerShapes<Name>): Layer<Name> {
  const parameters = listShapes(layer).map((one): Parameter => {
    const length = countNumbers(one.shape);
    return { ...one, values: backend.allocate(length), gradient: backend.allocate(length) };
  });
  const byName = (read: (one: Parameter) => DeviceArray) =>
    Object.fromEntries(
      parameters.map((one) => [one.name.slice(layer.prefix.length), read(one)]),
    ) as Weights<Name>;
  return {
    parameters,
    weights: byName(({ values }) => values),
    gradient: byName(({ gradient }) => gradient),
  };
}

/** Parameter name → its values, row-major. */
export type ParameterValues = Record<string, number[]>;

/** Copies the parameters. */
export async function readParameters(
  network: Pick<Network, "backend" | "parameters">,
): Promise<ParameterValues> {
  const values: ParameterValues = {};
  for (const parameter of network.parameters) {
    values[parameter.name] = Array.from(await network.backend.read(parameter.values));
  }
  return values;
}

/** Writes all parameters or, when anything does not fit, none. */
export function writeParameters(
  network: Pick<Network, "backend" | "parameters">,
  from: Readonly<Record<string, ArrayLike<number>>>,
): void {
  const checked = findParameters(network.parameters, from);
  network.parameters.forEach((parameter, k) => {
    network.backend.write(parameter.values, checked[k]);
  });
}

/** Sets every gradient to 0. */
export function zeroGradients(network: Pick<Network, "backend" | "parameters">): void {
  for (const { gradient } of network.parameters) network.backend.clear(gradient);
}

/**
 * The values of these parameters, in order; refused when any is missing, unknown, of the wrong length or not finite.
 */
export function findParameters(
  parameters: readonly ParameterShape[],
  from: Readonly<Record<string, ArrayLike<number>>>,
): readonly ArrayLike<number>[] {
  const names = parameters.map(({ name }) => name);
  for (const name of Object.keys(from)) {
    if (!names.includes(name)) {
      throw new FormatError(`unknown parameter: ${name} (the network has ${names.join(", ")})`, {
        code: "parameter.unknown",
        where: name,
      });
    }
  }
  return parameters.map((parameter) => findValues(parameter, from));
}

function findValues(
  { name, shape }: ParameterShape,
  from: Readonly<Record<string, ArrayLike<number>>>,
): ArrayLike<number> {
  const values = Object.hasOwn(from, name) ? from[name] : undefined;
  if (values === undefined) {
    throw new FormatError(`missing parameter: ${name}`, { code: "parameter.missing", where: name });
  }
  const length = countNumbers(shape);
  if (values.length !== length) {
    throw new FormatError(
      `parameter ${name} has ${values.length} values, its shape [${shape.join(", ")}] has ${length}`,
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
