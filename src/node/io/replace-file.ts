/** Writes a file whose contents are all in memory, as a whole or not at all (growing-file.ts). */
import { openGrowingFile } from "./growing-file.ts";

/** `what` names the contents in an error: "the model". */
export async function replaceFile(path: string, contents: Uint8Array | string, what: string): Promise<void> {
  const file = await openGrowingFile(path, what);
  try {
    await file.write(typeof contents === "string" ? Buffer.from(contents) : contents);
    await file.finish();
  } finally {
    await file.abandon();
  }
}
