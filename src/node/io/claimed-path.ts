/**
 * Handles two programs that write to one path. A file that has changed since a run began is another program's result,
 * worth minutes of training, and is not overwritten. A file from before the run is overwritten: whoever names it again
 * asks for that.
 */
import { stat } from "node:fs/promises";
import { parse } from "node:path";

/** A mark of the file at a path, for later comparison; null if there is nothing or it is not a file. */
export async function markFile(path: string | undefined): Promise<string | null> {
  const found = path === undefined ? null : await stat(path).catch(() => null);
  return found?.isFile() ? `${found.ino} ${found.size} ${found.mtimeMs}` : null;
}

/**
 * The path itself if nobody has written to it since the mark was taken, else the first free one beside it: run-2.model.
 */
export async function findUnclaimed(path: string, mark: string | null): Promise<string> {
  if ((await markFile(path)) === mark) return path;
  const { dir, name, ext } = parse(path);
  for (let k = 2; ; k++) {
    const beside = `${dir === "" ? "" : `${dir}/`}${name}-${k}${ext}`;
    if ((await stat(beside).catch(() => null)) === null) return beside;
  }
}
