/**
 * Reads small text files that people write or that this program saved: groups, plans, boosts. A file too large to be
 * any of these is not read, nor is one without an end.
 */
import { type FileHandle, open } from "node:fs/promises";
import { InputError } from "../../core/errors.ts";
import { createUnreadableError } from "./write-errors.ts";

/** Far larger than any list of groups or plan of runs. */
const MAX_TEXT_BYTES = 1 << 24;
const CHUNK_BYTES = 1 << 16;

/** `what` names the contents in an error: "the groups file". */
export async function readTextFile(
  path: string,
  what: string,
  limit: number = MAX_TEXT_BYTES,
): Promise<string> {
  let file: FileHandle | undefined;
  try {
    file = await open(path, "r");
    const parts: Uint8Array[] = [];
    for (let total = 0; ; ) {
      const { buffer, bytesRead } = await file.read(new Uint8Array(CHUNK_BYTES), 0, CHUNK_BYTES, null);
      if (bytesRead === 0) return Buffer.concat(parts).toString("utf8");
      parts.push(buffer.subarray(0, bytesRead));
      total += bytesRead;
      if (total > limit) {
        throw new InputError(`too large to be ${what}: "${path}" (more than ${limit} bytes)`, {
          code: "file.large",
        });
      }
    }
  } catch (error) {
    if (error instanceof InputError) throw error;
    throw createUnreadableError(path, what, error);
  } finally {
    await file?.close();
  }
}
