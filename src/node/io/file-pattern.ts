/**
 * Patterns of file names as shells write them: * and ? within a name, [a-c] and {a,b}, and two stars for any number of
 * folders. Names that begin with a dot are matched only where the pattern writes the dot. Our own, because Node 20 has
 * none and a pattern of paths is one page.
 */
import type { Dirent } from "node:fs";
import { readdir, stat } from "node:fs/promises";
import { join } from "node:path";

/** Two stars: any number of folders. */
export const ANY_FOLDERS = "*".repeat(2);

const MAGIC = /[*?[{]/;

/** Whether a path has signs of a pattern; a file may have such a name all the same. */
export function isPattern(path: string): boolean {
  return MAGIC.test(path);
}

export interface FilePattern {
  /** The folder where every match lies, without signs of a pattern; "" is the current one. */
  readonly folder: string;
  /** The names below it, each perhaps a pattern. */
  readonly below: readonly string[];
}

/** "data/2024-*\/part-?.csv" is looked for in "data". */
export function splitPattern(path: string): FilePattern {
  const names = path.split("/");
  const first = names.findIndex((name) => isPattern(name));
  const at = first < 0 ? names.length - 1 : first;
  const folder = names.slice(0, at).join("/");
  return { folder: folder === "" && path.startsWith("/") ? "/" : folder, below: names.slice(at) };
}

/** The files that match, as paths below the pattern's folder, in no particular order. */
export async function findMatches({ folder, below }: FilePattern): Promise<string[]> {
  const found = new Set<string>();
  const names = below.filter((name) => name !== "" && name !== ".");
  await search(folder, "", names, found);
  return [...found];
}

async function search(
  folder: string,
  at: string,
  names: readonly string[],
  found: Set<string>,
): Promise<void> {
  const [name, ...rest] = names;
  if (name === undefined) return;
  const entries = await list(join(folder, at) || ".");
  if (name === ANY_FOLDERS) {
    await search(folder, at, rest.length === 0 ? ["*"] : rest, found);
    // a link to a folder is not followed: it may lead back
    for (const entry of entries.filter((one) => one.isDirectory() && !one.name.startsWith(".")))
      await search(folder, join(at, entry.name), names, found);
    return;
  }
  const matches = toExpression(name);
  for (const entry of entries) {
    if (!matches.test(entry.name) || (entry.name.startsWith(".") && !name.startsWith("."))) continue;
    const path = join(at, entry.name);
    const isFolder = await isDirectory(entry, join(folder, path));
    if (rest.length === 0 && !isFolder) found.add(path);
    else if (rest.length > 0 && isFolder) await search(folder, path, rest, found);
  }
}

async function list(folder: string): Promise<Dirent[]> {
  return readdir(folder, { withFileTypes: true }).catch(() => []);
}

async function isDirectory(entry: Dirent, path: string): Promise<boolean> {
  if (!entry.isSymbolicLink()) return entry.isDirectory();
  return (await stat(path).catch(() => null))?.isDirectory() === true;
}

/** A name's pattern as a regular expression; a bracket or brace that is never closed means itself. */
export function toExpression(name: string): RegExp {
  const tokens = name.matchAll(/\*+|\?|\[(!?)((?:\][^\]]*|[^\]]+))\]|\{([^{}]*,[^{}]*)\}|./gs);
  const source = Array.from(tokens, ([token, not, set, choices]) => {
    if (token.startsWith("*")) return ".*";
    if (token === "?") return ".";
    if (set !== undefined) return `[${not === "!" ? "^" : ""}${set.replace(/[\\\]^]/g, "\\$&")}]`;
    if (choices !== undefined) {
      const each = choices.split(",").map((choice) => toExpression(choice).source.slice(1, -1));
      return `(?:${each.join("|")})`;
    }
    return token.replace(/[.*+?^${}()|[\]\\/]/g, "\\$&");
  });
  try {
    return new RegExp(`^${source.join("")}$`, "su");
  } catch {
    return new RegExp(`^${name.replace(/[.*+?^${}()|[\]\\/]/g, "\\$&")}$`, "su"); // such as [z-a]
  }
}
