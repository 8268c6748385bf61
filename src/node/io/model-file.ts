/**
 * Models, parts of ensembles and checkpoints on disk. The first bytes are checked before the rest is read, so that a
 * wrong file of any size is refused at once; writing replaces a file as a whole (growing-file.ts).
 */
import { type FileHandle, open } from "node:fs/promises";
import { basename } from "node:path";
import { GraduateError } from "../../core/errors.ts";
import { checkPrelude, MAX_FILE_BYTES } from "../../files/container/container.ts";
import {
  checkpointFromBytes,
  checkpointToBytes,
  type SavedCheckpoint,
} from "../../files/model/checkpoint-file.ts";
import { modelFromBytes, modelToBytes } from "../../files/model/model-file.ts";
import { partFromBytes, partToBytes, type SavedPart } from "../../files/model/part-file.ts";
import type { Model } from "../../training/model.ts";
import { warn } from "../print/output.ts";
import { replaceFile, writeUnclaimed } from "./growing-file.ts";
import { readAtMost, readBytes } from "./input-file.ts";
import { createUnreadableError } from "./write-errors.ts";

/** Enough bytes to recognise another kind of file. */
const LOOK_BYTES = 1024;

export async function readModel(path: string): Promise<Model> {
  return modelFromBytes(await readWhole(path, "the model"), basename(path));
}

export async function readCheckpoint(path: string): Promise<SavedCheckpoint> {
  return checkpointFromBytes(await readWhole(path, "the checkpoint"), basename(path));
}

/**
 * Writes a model and returns its name. With the mark of what was there when its training began (output-path.ts), the
 * model of a program that has written there meanwhile stays: this one takes another name beside it, and says so.
 */
export async function writeModel(path: string, model: Model, mark?: string | null): Promise<string> {
  const bytes = modelToBytes(model);
  if (mark === undefined) {
    await replaceFile(path, bytes, "the model");
    return path;
  }
  const name = await writeUnclaimed(path, mark, bytes, "the model");
  if (name !== path) warn(`${path} was written by another program meanwhile: this model is in ${name}`);
  return name;
}

export async function writeCheckpoint(path: string, saved: SavedCheckpoint): Promise<void> {
  await replaceFile(path, checkpointToBytes(saved), "the checkpoint");
}

export async function readPart(path: string): Promise<SavedPart> {
  return partFromBytes(await readWhole(path, "the part"), basename(path));
}

export async function writePart(path: string, part: SavedPart): Promise<void> {
  await replaceFile(path, partToBytes(part), "the part");
}

async function readWhole(path: string, what: string): Promise<Uint8Array> {
  let file: FileHandle | undefined;
  try {
    file = await open(path, "r");
    const found = await file.stat();
    if (found.isFile()) {
      const start = await readBytes(file, Math.min(found.size, LOOK_BYTES));
      checkPrelude(start, found.size, basename(path));
      return await readBytes(file, found.size);
    }
    return await readAtMost(file, MAX_FILE_BYTES);
  } catch (error) {
    if (error instanceof GraduateError) throw error;
    throw createUnreadableError(path, what, error);
  } finally {
    await file?.close();
  }
}
