/**
 * The files that a path to a table stands for: a folder stands for the tables in it, a pattern for the files that
 * match, anything else for itself. Files come in natural order of their names: part-2 before part-10. In a folder,
 * whatever is no table by its name is passed over; what a pattern names is taken, except names that begin with a dot
 * or an underscore, which programs that write such folders use for their own. Folders below are reached by patterns.
 */
import { existsSync } from "node:fs";
import { readdir, stat } from "node:fs/promises";
import { basename, join, resolve } from "node:path";
import { InputError } from "../../core/errors.ts";
import { compareLevels } from "../../data/natural-order.ts";
import { ANY_FOLDERS, findMatches, isPattern, splitPattern } from "./file-pattern.ts";
import { explainUnreadable } from "./write-errors.ts";

/** One file of a table. */
export interface ListedFile {
  /** Its path below the folder. */
  readonly name: string;
  readonly path: string;
}

/** The files of a folder or a pattern, at least one. */
export interface ListedFiles {
  /** What messages call the table: "patients/". */
  readonly name: string;
  /** What messages call its folder, with a slash, or nothing for the current one. */
  readonly folder: string;
  readonly files: readonly ListedFile[];
}

const PARQUET = /\.(?:parquet|pq)$/i;
const TEXT = /\.(?:csv|tsv)(?:\.gz)?$/i;

/** Whether a file in a folder counts as a table, by its name. */
export function isTableName(name: string): boolean {
  return !/^[._]/.test(name) && (PARQUET.test(name) || TEXT.test(name));
}

/** The files of a folder or a pattern; null for any other path, also for one that leads nowhere. */
export async function listTableFiles(path: string): Promise<ListedFiles | null> {
  if (path === "-") return null;
  const found = await stat(path).catch(() => null); // whoever opens it says why
  if (found?.isDirectory()) return listFolder(path);
  return found === null && isPattern(path) ? listMatches(path) : null;
}

async function listFolder(path: string): Promise<ListedFiles> {
  const entries = await readdir(path).catch((error: unknown) => {
    throw new InputError(`cannot read folder: "${path}" (${explainUnreadable(error)})`, {
      code: "file.unreadable",
      where: path,
    });
  });
  const names: string[] = [];
  for (const name of entries.filter(isTableName)) {
    const found = await stat(join(path, name)).catch(() => null); // a link to nowhere is refused when it is opened
    if (found?.isDirectory() !== true) names.push(name);
  }
  names.sort(compareLevels);
  if (names.length === 0) {
    throw new InputError(`no table in the folder: "${path}"`, {
      code: "files.none",
      where: path,
      hint:
        "its tables are the files that end in .csv, .tsv (also with .gz), .parquet or .pq; " +
        `other files, and those in folders below, are named by a pattern: '${join(path, ANY_FOLDERS, "*.txt")}'`,
    });
  }
  const [parquet, text] = [names.find((name) => PARQUET.test(name)), names.find((name) => TEXT.test(name))];
  if (parquet !== undefined && text !== undefined) {
    throw new InputError(`tables of two kinds in one folder: "${text}" and "${parquet}"`, {
      code: "files.kinds",
      where: path,
      hint: `name those of one kind by a pattern: '${join(path, "*.csv")}' or '${join(path, "*.parquet")}'`,
    });
  }
  const folder = `${basename(resolve(path))}/`;
  return { name: folder, folder, files: names.map((name) => ({ name, path: join(path, name) })) };
}

async function listMatches(path: string): Promise<ListedFiles> {
  const pattern = splitPattern(path);
  const matches = await findMatches(pattern);
  const isAsked = pattern.below.some((name) => /^[._]/.test(name));
  const names = isAsked ? matches : matches.filter((name) => !/(?:^|\/)[._]/.test(name));
  if (names.length === 0) {
    throw new InputError(`no file matches the pattern: "${path}"`, { code: "files.none", where: path });
  }
  const folder = pattern.folder === "" ? "" : `${basename(resolve(pattern.folder))}/`;
  return {
    name: folder + pattern.below.join("/"),
    folder,
    files: names.sort(compareLevels).map((name) => ({ name, path: join(pattern.folder, name) })),
  };
}

/** What files made from a table are called after: its file's name, or that of the folder its files lie in. */
export function stemOfTable(path: string): string {
  if (!isPattern(path) || existsSync(path)) return basename(resolve(path));
  const { folder } = splitPattern(path);
  return folder === "" ? "table" : basename(resolve(folder));
}
