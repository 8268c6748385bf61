// Files changed under a checksum that was made right, so that what lies behind it is reached.
import { createHash } from "node:crypto";
import { sha256 } from "../../src/files/container/checksum.ts";

/** A model or a checkpoint. */
export function resealed(bytes: Uint8Array): Uint8Array {
  if (bytes.length < 32) return bytes;
  const sealed = bytes.slice();
  sealed.set(sha256(sealed.subarray(0, -32)), sealed.length - 32);
  return sealed;
}

/** The same file under another format version. */
export function asVersion(bytes: Uint8Array, version: number): Uint8Array {
  const changed = bytes.slice();
  new DataView(changed.buffer).setUint32(8, version, true);
  return resealed(changed);
}

export function headerOf(bytes: Uint8Array): unknown {
  const length = new DataView(bytes.buffer, bytes.byteOffset).getUint32(12, true);
  return JSON.parse(new TextDecoder().decode(bytes.subarray(24, 24 + length)));
}

/** Not yet resealed. */
export function withHeader(file: Uint8Array, header: unknown): Uint8Array {
  const before = new DataView(file.buffer, file.byteOffset).getUint32(12, true);
  const text = new TextEncoder().encode(JSON.stringify(header));
  const padded = new Uint8Array(Math.ceil(text.length / 8) * 8).fill(0x20);
  padded.set(text);
  const bytes = new Uint8Array(file.length - before + padded.length);
  bytes.set(file.subarray(0, 24));
  bytes.set(padded, 24);
  bytes.set(file.subarray(24 + before), 24 + padded.length);
  new DataView(bytes.buffer).setUint32(12, padded.length, true);
  return bytes;
}

/** A boost, as its file says it is computed: of everything but the checksum, without blanks. */
export function resealedBoost(document: object): string {
  const { sha256: _, ...rest } = document as Readonly<Record<string, unknown>>;
  return JSON.stringify({ ...rest, sha256: createHash("sha256").update(JSON.stringify(rest)).digest("hex") });
}
