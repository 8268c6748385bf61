/**
 * What the first bytes of a file say of it, and the files that people hand over instead of a table: refused with a word
 * on what they seem to be.
 */
import { InputError } from "../../core/errors.ts";

/** Whether the bytes begin with the signature, one character per byte. */
export function startsWith(head: Uint8Array, signature: string): boolean {
  if (head.length < signature.length) return false;
  for (let k = 0; k < signature.length; k++) if (head[k] !== signature.charCodeAt(k)) return false;
  return true;
}

export function findUtf16(head: Uint8Array): "utf-16le" | "utf-16be" | undefined {
  if (startsWith(head, "\xff\xfe")) return "utf-16le";
  if (startsWith(head, "\xfe\xff")) return "utf-16be";
  return undefined;
}

interface Signature {
  readonly bytes: string;
  readonly what: string;
}

/** What people hand over instead of a table, by its first bytes. */
const SIGNATURES: readonly Signature[] = [
  { bytes: "PK\x03\x04", what: "a zip archive or an Excel workbook (.xlsx)" },
  { bytes: "\xd0\xcf\x11\xe0\xa1\xb1\x1a\xe1", what: "an old Excel workbook (.xls)" },
  { bytes: "%PDF", what: "a PDF document" },
  { bytes: "\x89PNG", what: "a PNG image" },
  { bytes: "\xff\xd8\xff", what: "a JPEG image" },
  { bytes: "ARROW1", what: "an Arrow or Feather file" },
  { bytes: "FEA1", what: "a Feather file" },
  { bytes: "SQLite format 3", what: "an SQLite database" },
  { bytes: "\x89HDF", what: "an HDF5 file" },
  { bytes: "RDX", what: "an R workspace (.RData)" },
  { bytes: "X\n\x00\x00\x00", what: "an R object (.rds)" },
  { bytes: "$FL2", what: "an SPSS file (.sav)" },
  { bytes: "<stata_dta>", what: "a Stata file (.dta)" },
  { bytes: "BZh", what: "a bzip2 archive" },
  { bytes: "\xfd7zXZ", what: "an xz archive" },
  { bytes: "7z\xbc\xaf", what: "a 7-Zip archive" },
  { bytes: "\x28\xb5\x2f\xfd", what: "a zstd archive" },
  { bytes: "\x7fELF", what: "a program" },
  { bytes: '{"', what: "a JSON document" },
  { bytes: "{\n", what: "a JSON document" },
  { bytes: "{\r\n", what: "a JSON document" },
  { bytes: "[{", what: "a JSON document" },
  { bytes: "<!DOCTYPE html", what: "a web page, perhaps one that asks to log in" },
  { bytes: "<!doctype html", what: "a web page, perhaps one that asks to log in" },
  { bytes: "<html", what: "a web page, perhaps one that asks to log in" },
  { bytes: "<?xml", what: "an XML document" },
];

export function refuseBinary(name: string, head: Uint8Array, isGzip: boolean): void {
  const inside = isGzip ? "inside gzip" : undefined;
  const refuse = (what: string, hint: string) => {
    throw new InputError(`not a table: it looks like ${[what, inside].filter(Boolean).join(" ")}`, {
      code: "file.binary",
      where: name,
      hint,
    });
  };
  if (startsWith(head, "PAR1")) refuse("a Parquet file", "unpack it first: Parquet is compressed within");
  if (startsWith(head, "\x1f\x8b")) refuse("a gzip archive", "pack the table once, not twice");
  const found = SIGNATURES.find(({ bytes }) => startsWith(head, bytes));
  const hint = "give a CSV or TSV file (also as .gz) or a Parquet file";
  if (found) refuse(found.what, hint);
  if (findUtf16(head) === undefined && head.includes(0)) refuse("a binary file: it has zero bytes", hint);
}
