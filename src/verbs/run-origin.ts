/**
 * Where a model comes from, as it is kept in its file, and what a checkpoint must share with the run that goes on from
 * it. Whoever holds the table's file, a terminal or a page, knows its SHA-256 and the version of the program; the rest
 * is the same for both, so that a model or a checkpoint of one is the other's too.
 */
import type { Backend } from "../compute/backend.ts";
import { present } from "../core/present.ts";
import type { Table } from "../data/table.ts";
import { sha256 as hashBytes, toHex } from "../files/container/checksum.ts";
import type { Provenance } from "../training/model.ts";
import type { TrainRequest } from "./train-request.ts";

/** A table, and the SHA-256 of the file or files that it was read from; null where there is none. */
export interface HashedTable {
  readonly table: Pick<Table, "name" | "rows">;
  readonly sha256: string | null;
}

/** Neither threads nor clock nor folder; a graphics device is named, because its numbers are its own. */
export function originOf(
  version: string,
  { table, sha256 }: HashedTable,
  backend: (Backend & { readonly simd?: "plain" | "relaxed" }) | null,
): Provenance {
  return {
    version,
    backend: backend && {
      name: backend.name,
      simd: backend.simd ?? null,
      ...present({ adapter: backend.adapter }),
    },
    table: sha256 === null ? null : { name: table.name, rows: table.rows, sha256 },
  };
}

/**
 * The request and the table, but not the backend or threads. The number of steps is included only for an ensemble,
 * whose first members may have taken theirs.
 */
export function fingerprintRun(
  { options, ...request }: TrainRequest,
  { table }: Provenance,
  members?: number,
): string {
  const { steps, ...rest } = options ?? {};
  const ensemble = members === undefined ? [] : [members, steps ?? null];
  const text = JSON.stringify([nameAsBefore(request), rest, table?.sha256 ?? null, ...ensemble]);
  return toHex(hashBytes(new TextEncoder().encode(text)));
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
