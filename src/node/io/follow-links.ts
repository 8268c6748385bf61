/** Where a path leads through links, whether or not anything exists at their end. */
import { readlink, realpath } from "node:fs/promises";
import { basename, dirname, join, resolve } from "node:path";

/** The number of links that Linux follows. */
const MAX_LINKS = 40;

/** The file that is meant, by a name that is not a link. Its folders must exist. */
export async function followLinks(path: string): Promise<string> {
  let target = path;
  for (let links = 0; links < MAX_LINKS; links++) {
    const folder = await realpath(dirname(target));
    const here = join(folder, basename(target));
    const next = await readlink(here).catch((error: NodeJS.ErrnoException) => {
      // Not a link, or nothing there yet.
      if (error.code === "EINVAL" || error.code === "ENOENT" || error.code === "UNKNOWN") return null;
      throw error;
    });
    if (next === null) return here;
    target = resolve(folder, next);
  }
  throw Object.assign(new Error("too many links"), { code: "ELOOP" });
}
