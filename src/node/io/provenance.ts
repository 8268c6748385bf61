/**
 * Where a model comes from, as far as this machine knows: the program, what computed it, and the table's file by its
 * SHA-256. A table of several files has the SHA-256 of the lines that `sha256sum` prints of them: in the table's order,
 * the hash of each, two blanks, and its name below the folder.
 */
import { createHash } from "node:crypto";
import { createReadStream, readFileSync } from "node:fs";
import { stat } from "node:fs/promises";
import { InputError } from "../../core/errors.ts";
import type { Table } from "../../data/table.ts";
import type { Provenance } from "../../training/model.ts";
import { originOf } from "../../verbs/run-origin.ts";
import { listTableFiles } from "./table-files.ts";

/** The version of the program. */
export const { version: programVersion } = JSON.parse(
  readFileSync(new URL("../../../package.json", import.meta.url), "utf8"),
) as {
  version: string;
};

/** A table, the path it was read from, and the SHA-256 of its file or files; null if there is none. */
export interface TableFile {
  readonly path: string;
  readonly table: Table;
  readonly sha256: string | null;
}

/** The origin of a model that this program makes. */
export function describeOrigin(file: TableFile, backend: Parameters<typeof originOf>[2]): Provenance {
  return originOf(programVersion, file, backend);
}

/** The hash of the bytes on disk, of one file or of several; null for standard input and pipes. */
export async function hashFile(path: string): Promise<string | null> {
  if (path === "-") return null;
  const { files } = (await listTableFiles(path)) ?? { files: [{ name: "", path }] };
  if (files.length === 1) return hashOne(files[0].path);
  const hash = createHash("sha256");
  for (const file of files) hash.update(`${await hashOne(file.path)}  ${file.name}\n`);
  return hash.digest("hex");
}

async function hashOne(path: string): Promise<string | null> {
  try {
    if (!(await stat(path)).isFile()) return null;
    const hash = createHash("sha256");
    for await (const part of createReadStream(path)) hash.update(part as Uint8Array);
    return hash.digest("hex");
  } catch {
    throw new InputError(`the table can no longer be read: "${path}"`, { code: "file.unreadable" });
  }
}
