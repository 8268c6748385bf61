/** Asked of every file a command is to write, before the work of minutes and not after it. */
import { constants, existsSync } from "node:fs";
import { access, stat } from "node:fs/promises";
import { dirname, resolve } from "node:path";
import { InputError } from "../core/errors.ts";

/** Refuses a path that cannot be written to, that two files would share, or that would replace one of the `inputs`. */
export async function refuseUnwritable(
  outputs: readonly (string | undefined)[],
  inputs: readonly (string | undefined)[] = [],
): Promise<void> {
  const taken = new Map(inputs.flatMap((path) => (path === undefined ? [] : [[resolve(path), "read"]])));
  for (const path of outputs) {
    if (path === undefined) continue;
    await refuseOne(path);
    const use = taken.get(resolve(path));
    // A pipe or a device takes whatever comes.
    if (use !== undefined && (await stat(path).catch(() => null))?.isFile() !== false) {
      throw new InputError(
        use === "read" ? `would write over what it reads: "${path}"` : `two files for one path: "${path}"`,
        { code: "file.twice", hint: "name another file" },
      );
    }
    taken.set(resolve(path), "written");
  }
}

async function refuseOne(path: string): Promise<void> {
  const isFolder = (await stat(path).catch(() => null))?.isDirectory() === true;
  const writable = await access(existsSync(path) ? path : dirname(path), constants.W_OK).then(
    () => true,
    () => false,
  );
  if (writable && !isFolder) return;
  throw new InputError(`cannot write to "${path}"`, {
    code: "file.unwritable",
    hint: isFolder ? "it is a folder; name a file in it" : "is there such a folder, and may you write to it?",
  });
}
