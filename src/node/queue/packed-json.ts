/**
 * What goes through Redis as text: JSON in which typed arrays keep their kind and every bit. Plain JSON would make
 * lists of them and nulls of what is not a number; the lines of results must come out as if nothing had travelled.
 */
import { FormatError } from "../../core/errors.ts";

const ARRAYS = { Float64Array, Float32Array, Int32Array, Uint32Array, Uint8Array } as const;

type ArrayName = keyof typeof ARRAYS;

/** The only key of an object that stands for an array: its kind, then its bytes in base64. */
const MARK = "$array";

export function packJson(value: unknown): string {
  return JSON.stringify(value, (_key, inner: unknown) => {
    if (!ArrayBuffer.isView(inner)) return inner;
    const name = inner.constructor.name;
    if (!(name in ARRAYS)) throw new Error(`no array that can be packed: ${name}`);
    const bytes = Buffer.from(inner.buffer, inner.byteOffset, inner.byteLength);
    return { [MARK]: [name, bytes.toString("base64")] };
  });
}

/** `what` names the text, for the error if it is damaged. */
export function unpackJson(text: string, what: string): unknown {
  try {
    return JSON.parse(text, (_key, inner: unknown) => {
      const packed =
        typeof inner === "object" && inner !== null && MARK in inner ? (inner[MARK] as unknown) : null;
      return Array.isArray(packed) ? unpackArray(packed[0], packed[1]) : inner;
    });
  } catch {
    throw new FormatError(`${what} cannot be read`, {
      code: "queue.damaged",
      hint: "it was not written by this program, or by another version of it",
    });
  }
}

function unpackArray(name: unknown, text: unknown): unknown {
  if (typeof name !== "string" || !Object.hasOwn(ARRAYS, name) || typeof text !== "string")
    throw new Error("no packed array");
  const bytes = Buffer.from(text, "base64");
  const Kind = ARRAYS[name as ArrayName];
  // A copy of its own: a Buffer's bytes may begin at any place of a pool.
  return new Kind(Uint8Array.from(bytes).buffer);
}
