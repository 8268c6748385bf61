/**
 * Where a model comes from, as far as this machine knows: the program, what computed it, and the table's file by its
 * SHA-256. A table of several files has the SHA-256 of the lines that `sha256sum` prints of them: in the table's order,
 * the hash of each, two blanks, and its name below the folder.
 */
import { createHash } from "node:crypto";
import { createReadStream, readFileSync } from "node:fs";
import { stat } from "node:fs/promises";
import type { Backend } from "../../compute/backend.ts";
import { InputError } from "../../core/errors.ts";
import { present } from "../../core/present.ts";
import type { Table } from "../../data/table.ts";
import type { Provenance } from "../../training/model.ts";
import type { TrainRequest } from "../../verbs/train.ts";
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

/** Neither threads nor clock nor folder; a graphics device is named, because its numbers are its own. */
export function describeOrigin(
  { table, sha256 }: TableFile,
  backend: (Backend & { readonly simd?: "plain" | "relaxed" }) | null,
): Provenance {
  return {
    version: programVersion,
    backend: backend && {
      name: backend.name,
      simd: backend.simd ?? null,
      ...present({ adapter: backend.adapter }),
    },
    table: sha256 === null ? null : { name: table.name, rows: table.rows, sha256 },
  };
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

/**
 * What a checkpoint must share with the run that continues from it: the request and the table, but not the backend or
 * threads. The number of steps is included only for an ensemble, whose first members may have taken theirs.
 */
export function fingerprintRun(
  { options, ...request }: TrainRequest,
  { table }: Provenance,
  members?: number,
): string {
  const { steps, ...rest } = options ?? {};
  const ensemble = members === undefined ? [] : [members, steps ?? null];
  return createHash("sha256")
    .update(JSON.stringify([nameAsBefore(request), rest, table?.sha256 ?? null, ...ensemble]))
    .digest("hex");
}

/** Uses the names of version 0.1.0 in their order, so that a checkpoint of any version has the same fingerprint. */
function nameAsBefore(request: Omit<TrainRequest, "options">): object {
  const { split, constraint } = request;
  const { distance, ...held } = constraint ?? {};
  // A renamed field keeps its place among the fields.
  return {
    ...request,
    ...(split && { split: { train: split.train, valid: split.validation, test: split.test } }),
    ...(constraint && { constraint: { ...present({ kind: distance }), ...held } }),
  };
}
