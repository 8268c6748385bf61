/** Reading a model from disk. */
import { readFile } from "node:fs/promises";
import { basename } from "node:path";
import { InputError } from "../core/errors.ts";
import { type Model, modelFromBytes } from "../training/model.ts";

export async function readModel(path: string): Promise<Model> {
  let bytes: Uint8Array;
  try {
    bytes = await readFile(path);
  } catch {
    throw new InputError(`cannot read the model: "${path}"`, { code: "file.unreadable" });
  }
  return modelFromBytes(bytes, basename(path));
}
