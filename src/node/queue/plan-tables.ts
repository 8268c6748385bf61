/**
 * The tables that a plan in Redis names. A worker reads none but those below one folder of its own, through whatever
 * links, that are regular files with the plan's SHA-256. Why another is refused is not said, so that nobody learns from
 * a worker which files its machine has.
 */
import { lstat, realpath } from "node:fs/promises";
import { basename, isAbsolute, join, relative, resolve, sep, win32 } from "node:path";
import { InputError } from "../../core/errors.ts";
import { hashFile } from "../io/provenance.ts";
import { listTableFiles } from "../io/table-files.ts";
import type { PlanHead } from "./plan-heads.ts";

type PlanFile = PlanHead["files"][number];

/** How a plan names a table: below the folder where the command runs, else by its name alone. */
export function nameTable(path: string): string {
  const below = relative(process.cwd(), resolve(path));
  const isBelow = below !== "" && isBelowFolder(below);
  return (isBelow ? below : basename(resolve(path))).split(sep).join("/");
}

/** A relative path that does not leave its folder, by its words alone. */
function isBelowFolder(path: string): boolean {
  return (
    !isAbsolute(path) &&
    !win32.isAbsolute(path) &&
    !/^[a-z]:/i.test(path) &&
    !path.includes("\0") &&
    !path.split(/[\\/]/).includes("..")
  );
}

/** The table's path on this machine; refused in one sentence, whatever the reason. */
export async function requirePlanFile({ path, sha256 }: PlanFile, folder: string): Promise<string> {
  const found = isBelowFolder(path) ? await findFile(path, folder).catch(() => null) : null;
  if (found !== null && (await hashFile(found).catch(() => null)) === sha256) return found;
  throw new InputError(`the table "${path}" with the plan's SHA-256 is not below this worker's folder`, {
    code: "queue.table",
    hint: "copy it there, name the folder that holds it (--tables FOLDER), or submit with --ship-table",
  });
}

/** Null where any of its files is none, or lies elsewhere. */
async function findFile(path: string, folder: string): Promise<string | null> {
  const root = await realpath(folder);
  const found = join(root, path);
  const files = (await listTableFiles(found))?.files ?? [{ path: found }];
  for (const file of files) {
    const real = await realpath(file.path);
    const below = relative(root, real);
    if (below === "" || !isBelowFolder(below) || !(await lstat(real)).isFile()) return null;
  }
  return found;
}
