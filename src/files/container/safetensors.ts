/**
 * Named arrays in the safetensors layout (github.com/huggingface/safetensors, format description): the length of a JSON
 * header as 8 bytes, little-endian; the header, name → { dtype, shape, data_offsets }; the values, little-endian,
 * row-major, without gaps. Only F32 and F64 occur here. The header is padded with spaces to eight bytes and F64 comes
 * before F32, so that every array lies at a multiple of its own size. Names are in order of code units: the same arrays
 * give the same bytes.
 */
import * as z from "zod";
import { FormatError } from "../../core/errors.ts";
import { decodeJson, encodeJson, UNREADABLE } from "./container.ts";

export interface Tensor {
  readonly type: "F32" | "F64";
  readonly shape: readonly number[];
  readonly values: ArrayLike<number>;
}

const BYTES = { F32: 4, F64: 8 } as const;
const LENGTH_BYTES = 8;
/** A network of a thousand layers needs a fifth of this. */
const MAX_TENSORS_HEADER_BYTES = 1 << 20;
/** Not a tensor: free text that some writers add. */
const METADATA = "__metadata__";

/** More dimensions than anything here has. */
const MAX_DIMENSIONS = 8;

/** One check of the whole list, so that a long wrong one makes one complaint and not a million. */
const sizes = (isLength: (length: number) => boolean) =>
  z.custom<readonly number[]>(
    (list) =>
      Array.isArray(list) &&
      isLength(list.length) &&
      list.every((size) => Number.isSafeInteger(size) && size >= 0),
  );

const entrySchema = z.strictObject({
  dtype: z.enum(["F32", "F64"]),
  shape: sizes((length) => length <= MAX_DIMENSIONS),
  data_offsets: sizes((length) => length === 2),
});

export function writeSafetensors(tensors: ReadonlyMap<string, Tensor>): Uint8Array {
  const ordered = [...tensors].sort(([a, { type: typeA }], [b, { type: typeB }]) =>
    typeA === typeB ? (a < b ? -1 : 1) : BYTES[typeB] - BYTES[typeA],
  );
  let end = 0;
  const entries = ordered.map(([name, { type, shape, values }]) => {
    const start = end;
    end += values.length * BYTES[type];
    return [name, { dtype: type, shape, data_offsets: [start, end] }];
  });
  const header = encodeJson(Object.fromEntries(entries));
  const bytes = new Uint8Array(LENGTH_BYTES + header.length + end);
  const view = new DataView(bytes.buffer);
  view.setBigUint64(0, BigInt(header.length), true);
  bytes.set(header, LENGTH_BYTES);
  let at = LENGTH_BYTES + header.length;
  for (const [, { type, values }] of ordered) {
    for (let i = 0; i < values.length; i++, at += BYTES[type]) {
      if (type === "F32") view.setFloat32(at, values[i], true);
      else view.setFloat64(at, values[i], true);
    }
  }
  return bytes;
}

/** `where` names the file in errors. The arrays are copies. */
export function readSafetensors(bytes: Uint8Array, where: string): Map<string, Tensor> {
  const refuse = (reason: string) =>
    new FormatError(`the weights cannot be read: ${reason}`, {
      code: "model.weights",
      where,
      hint: UNREADABLE,
    });
  if (bytes.length < LENGTH_BYTES) throw refuse(`${bytes.length} bytes, too few for their header`);
  const view = new DataView(bytes.buffer, bytes.byteOffset, bytes.byteLength);
  const declared = view.getBigUint64(0, true);
  if (declared > BigInt(Math.min(bytes.length - LENGTH_BYTES, MAX_TENSORS_HEADER_BYTES))) {
    throw refuse(`a header of ${declared} bytes in a section of ${bytes.length}`);
  }
  const dataStart = LENGTH_BYTES + Number(declared);
  const header = decodeJson(bytes.subarray(LENGTH_BYTES, dataStart), "the header of the weights", where);
  if (typeof header !== "object" || header === null || Array.isArray(header)) {
    throw refuse("their header is not a JSON object");
  }
  const entries = Object.entries(header)
    .filter(([name]) => name !== METADATA)
    .map(([name, entry]) => {
      const checked = entrySchema.safeParse(entry);
      if (!checked.success) throw refuse(`the entry ${quote(name)} is not as it should be`);
      const { dtype, shape, data_offsets: offsets } = checked.data;
      return { name, type: dtype, shape, start: offsets[0], end: offsets[1] };
    })
    .sort((a, b) => a.start - b.start || a.end - b.end);
  const dataBytes = bytes.length - dataStart;
  let expected = 0;
  // Every size is checked against the bytes present before any array is made.
  for (const { name, type, shape, start, end } of entries) {
    const length = shape.reduce((product, size) => product * size, 1);
    if (start !== expected || end > dataBytes || length * BYTES[type] !== end - start) {
      throw refuse(
        `${quote(name)} of shape [${shape.join(", ")}] does not fit its place, ${start} to ${end}`,
      );
    }
    expected = end;
  }
  if (expected !== dataBytes)
    throw refuse(`the values have ${dataBytes} bytes, and ${expected} are described`);
  return new Map(
    entries.map(({ name, type, shape, start, end }) => [
      name,
      { type, shape, values: readValues(view, type, dataStart + start, dataStart + end) },
    ]),
  );
}

/** Uses a DataView: correct on any machine, wherever in memory the bytes begin. */
function readValues(view: DataView, type: Tensor["type"], start: number, end: number): ArrayLike<number> {
  const length = (end - start) / BYTES[type];
  const values = type === "F32" ? new Float32Array(length) : new Float64Array(length);
  for (let i = 0; i < length; i++) {
    values[i] = type === "F32" ? view.getFloat32(start + 4 * i, true) : view.getFloat64(start + 8 * i, true);
  }
  return values;
}

/** Names come from outside: long ones are cut to fit a sentence. */
function quote(name: string): string {
  return JSON.stringify(name.length > 60 ? `${name.slice(0, 60)}…` : name);
}
