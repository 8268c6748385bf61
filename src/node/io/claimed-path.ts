/**
 * Two programs that write one path: a file that has changed since a run began is another's result, worth minutes of
 * training, and not written over. What was there before the run is: that is what a person who names it again asks for.
 */
import { stat } from "node:fs/promises";
import { parse } from "node:path";

/** What stands at a path, to be compared later; null for nothing or what is no file. */
export async function markFile(path: string | undefined): Promise<string | null> {
  const found = path === undefined ? null : await stat(path).catch(() => null);
  return found?.isFile() ? `${found.ino} ${found.size} ${found.mtimeMs}` : null;
}

/**
 * The path itself where nobody has written since the mark was taken, else the first free one beside it: run-2.model.
 */
export async function findUnclaimed(path: string, mark: string | null): Promise<string> {
  if ((await markFile(path)) === mark) return path;
  const { dir, name, ext } = parse(path);
  for (let k = 2; ; k++) {
    const beside = `${dir === "" ? "" : `${dir}/`}${name}-${k}${ext}`;
    if ((await stat(beside).catch(() => null)) === null) return beside;
  }
}
