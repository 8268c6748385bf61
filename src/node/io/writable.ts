/** Checks every file a command will write before minutes of work rather than after. */
import { constants } from "node:fs";
import { access, stat } from "node:fs/promises";
import { dirname, resolve } from "node:path";
import { InputError } from "../../core/errors.ts";
import { followLinks } from "./follow-links.ts";

/** Refuses a path that cannot be written to, that two files would share, or that would replace one of the `inputs`. */
export async function refuseUnwritable(
  outputs: readonly (string | undefined)[],
  inputs: readonly (string | undefined)[] = [],
): Promise<void> {
  const taken = new Map<string, "read" | "written">();
  for (const path of inputs) if (path !== undefined) taken.set(await nameFile(path), "read");
  for (const path of outputs) {
    if (path === undefined) continue;
    await refuseOne(path);
    const name = await nameFile(path);
    const use = taken.get(name);
    // A pipe or a device accepts anything.
    if (use !== undefined && (await stat(path).catch(() => null))?.isFile() !== false) {
      throw new InputError(
        use === "read"
          ? `the command would write over a file that it reads: "${path}"`
          : `two outputs have the same path: "${path}"`,
        { code: "file.twice", hint: "name another file" },
      );
    }
    taken.set(name, "written");
  }
}

/** A name that is the same for every path to one file, through any links. */
async function nameFile(path: string): Promise<string> {
  return followLinks(path).catch(() => resolve(path));
}

/** A file is replaced by a new one in its folder, so both must be writable. A pipe or a device is not replaced. */
async function refuseOne(path: string): Promise<void> {
  const found = await stat(path).catch(() => null);
  const isFolder = found?.isDirectory() === true;
  const target = await nameFile(path);
  const isReplaced = found === null || found.isFile();
  const places = [...(found === null ? [] : [path]), ...(isReplaced ? [dirname(target)] : [])];
  const writable = await Promise.all(places.map((place) => access(place, constants.W_OK))).then(
    () => true,
    () => false,
  );
  if (writable && !isFolder) return;
  throw new InputError(`cannot write to "${path}"`, {
    code: "file.unwritable",
    hint: isFolder ? "it is a folder; name a file in it" : "is there such a folder, and may you write to it?",
  });
}
