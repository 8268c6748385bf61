/**
 * A boost as a file: human-readable JSON with the updates in order or the groups' hazard ratios, the groups by their
 * expressions, and what the boost belongs to (the model and the table it was fitted on, by SHA-256). It holds no row of
 * a table. How the boost was chosen and what it did on held-out rows is stored as written and is not read again.
 * `sha256` covers everything else in the file, as JSON without blanks. Version 1 knew only updates; versions 1 and 2
 * had no checksum.
 */
import { z } from "zod";
import { FormatError } from "../../core/errors.ts";
import type { Boost } from "../../repair/mcboost.ts";
import { sha256, toHex } from "../container/checksum.ts";
import { boostSchemas } from "./boost-schema.ts";
import { explainIssue } from "./schema-parts.ts";

export interface SavedBoost {
  readonly boost: Boost;
  /** Hash of the model file whose curves it repairs; null for curves of another program. */
  readonly model: string | null;
  /** Hash of the file with the rows it was fitted on; null where that is not known. */
  readonly table: string | null;
}

export interface ReadBoost extends SavedBoost {
  /** What anyone applying the boost should know about the file. */
  readonly warnings: readonly string[];
}

const FORMAT = "graduate-boost";
const VERSION = 3;
const UNCHECKED_VERSIONS = [1, 2];
const READ_VERSIONS = [...UNCHECKED_VERSIONS, VERSION];
/** A file of 100 updates takes 30 kB; one this large is something else. */
export const MAX_BOOST_BYTES = 1 << 26;
const HINT = "get the file anew, or fit the boost again";

const hash = z.stringFormat("sha256", /^[0-9a-f]{64}$/);
const fileSchema = z.object({
  format: z.literal(FORMAT),
  version: z.literal(READ_VERSIONS),
  sha256: hash.exactOptional(),
  model: hash.nullable(),
  table: hash.nullable(),
  boost: z.looseObject({ kind: z.enum(["mcboost", "hazards"]) }),
});

/** `more` is stored for people to read. */
export function boostToJson({ boost, model, table }: SavedBoost, more: object = {}): string {
  const rest = { model, table, boost, ...more };
  const checksum = checksumOf({ format: FORMAT, version: VERSION, ...rest });
  return `${JSON.stringify({ format: FORMAT, version: VERSION, sha256: checksum, ...rest }, null, 1)}\n`;
}

export function boostFromJson(text: string, fileName: string): ReadBoost {
  const refuse = (what: string) => new FormatError(what, { code: "boost.file", where: fileName, hint: HINT });
  let json: unknown;
  try {
    json = JSON.parse(text);
  } catch {
    throw refuse("not a boost: the file is not JSON");
  }
  const head = z.looseObject({ format: z.literal(FORMAT), version: z.int() }).safeParse(json);
  if (!head.success) throw refuse("not a boost that `graduate boost --save` wrote");
  const { version } = head.data;
  if (!READ_VERSIONS.includes(version)) {
    throw refuse(`a boost of version ${version}; this program reads versions 1 to ${VERSION}`);
  }
  const file = fileSchema.safeParse(json);
  if (!file.success) throw refuse(`a damaged boost: ${explainIssue(file.error)}`);
  const { model, table, sha256: stored } = file.data;
  const isUnchecked = stored === undefined && UNCHECKED_VERSIONS.includes(version);
  if (!isUnchecked) {
    const { sha256: _, ...rest } = json as Readonly<Record<string, unknown>>;
    if (stored !== checksumOf(rest))
      throw refuse("the boost's checksum does not match: the file was damaged or changed");
  }
  const read = boostSchemas[file.data.boost.kind].safeParse(file.data.boost);
  if (!read.success) throw refuse(`a damaged boost: ${explainIssue(read.error, "boost")}`);
  const warning =
    `the boost was saved by an earlier version (${fileName}), which wrote no checksum: ` +
    "whether it was changed cannot be told";
  return { boost: read.data, model, table, warnings: isUnchecked ? [warning] : [] };
}

/** Independent of the file's indentation: parsed JSON is always written as the same text. */
function checksumOf(document: object): string {
  return toHex(sha256(new TextEncoder().encode(JSON.stringify(document))));
}
