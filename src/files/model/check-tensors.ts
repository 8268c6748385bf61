/**
 * Whether the tensors of a file are those that its header speaks of: the names, all of them and no others, and the
 * shapes. What they hold is checked by whoever reads them. The refusal says which tensor and what is wrong with it.
 */
import { FormatError } from "../../core/errors.ts";
import { UNREADABLE } from "../container/container.ts";
import type { Tensor } from "../container/safetensors.ts";

/** Refuses tensors of other names, and missing ones. */
export function checkNames(
  tensors: ReadonlyMap<string, Tensor>,
  names: ReadonlySet<string>,
  where: string,
): void {
  for (const name of tensors.keys()) {
    if (!names.has(name)) throw refuseWeights(`"${name.slice(0, 60)}" is none of this model's`, where);
  }
  for (const name of names) if (!tensors.has(name)) throw refuseWeights(`"${name}" is missing`, where);
}

/** The tensor of a name, if it has the shape. */
export function checkShape(
  tensors: ReadonlyMap<string, Tensor>,
  name: string,
  shape: readonly number[],
  where: string,
): Tensor {
  const tensor = tensors.get(name);
  if (tensor === undefined) throw refuseWeights(`"${name}" is missing`, where);
  const length = shape.reduce((product, size) => product * size, 1);
  if (tensor.shape.join() !== shape.join() || tensor.values.length !== length) {
    throw refuseWeights(
      `"${name}" has shape [${tensor.shape.join(", ")}], the model needs [${shape.join(", ")}]`,
      where,
    );
  }
  return tensor;
}

export function refuseWeights(reason: string, where: string): FormatError {
  return new FormatError(`the weights do not fit: ${reason}`, {
    code: "model.weights",
    where,
    hint: UNREADABLE,
  });
}
