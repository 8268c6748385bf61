/** Makes the name of a new file survive a power loss by synchronising its folder, on systems that can. */
import { closeSync, fsyncSync, openSync } from "node:fs";
import { open } from "node:fs/promises";

/** Errors of systems that cannot synchronise a folder are ignored; those of a failing disk are not. */
const UNSUPPORTED: ReadonlySet<unknown> = new Set(["EINVAL", "ENOTSUP", "EOPNOTSUPP", "EISDIR", "EPERM"]);

function refuseFailure(error: unknown): void {
  if (!UNSUPPORTED.has((error as NodeJS.ErrnoException).code)) throw error;
}

export async function syncFolder(folder: string): Promise<void> {
  const handle = await open(folder, "r").catch(() => null);
  if (handle === null) return;
  try {
    await handle.sync().catch(refuseFailure);
  } finally {
    await handle.close();
  }
}

export function syncFolderNow(folder: string): void {
  let file: number;
  try {
    file = openSync(folder, "r");
  } catch {
    return;
  }
  try {
    fsyncSync(file);
  } catch (error) {
    refuseFailure(error);
  } finally {
    closeSync(file);
  }
}
