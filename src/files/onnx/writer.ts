/**
 * An ONNX model as bytes: the protocol-buffer messages of onnx.proto that our graphs need, by their field numbers
 * (github.com/onnx/onnx, onnx/onnx.proto). Written by hand because web pages import this library too: the usual
 * protocol-buffer package is CommonJS, and only two types of the wire format are used, whole numbers and bytes
 * (docs/decisions/007-onnx.md). The same model gives the same bytes. It checks nothing: a graph that makes no sense is
 * written as it is.
 */

export type OnnxType = "float" | "double" | "int32" | "int64" | "bool" | "string";

/** TensorProto.DataType. */
export const TYPE_NUMBERS = { float: 1, int32: 6, int64: 7, string: 8, bool: 9, double: 11 } as const;

export interface OnnxTensor {
  readonly name: string;
  readonly shape: readonly number[];
  readonly type: Exclude<OnnxType, "string">;
  readonly values: ArrayLike<number>; // row-major; bool as 0 and 1
}

/** A whole number of at least 0, a list of them, or a list of texts. */
export type OnnxAttribute = number | readonly number[] | readonly string[];

export interface OnnxNode {
  readonly op: string;
  /** "" is ONNX's own domain. */
  readonly domain: string;
  readonly inputs: readonly string[];
  readonly output: string;
  readonly attributes: Readonly<Record<string, OnnxAttribute>>;
}

/** An input or output of the whole graph. */
export interface OnnxValue {
  readonly name: string;
  readonly type: OnnxType;
  /** A text names a size that may differ between calls. */
  readonly shape: readonly (number | string)[];
  readonly about: string;
}

export interface OnnxModel {
  readonly irVersion: number;
  readonly producer: { readonly name: string; readonly version: string };
  readonly about: string;
  readonly name: string;
  /** Domain → version of its operators. */
  readonly operators: ReadonlyMap<string, number>;
  readonly inputs: readonly OnnxValue[];
  readonly outputs: readonly OnnxValue[];
  readonly tensors: readonly OnnxTensor[];
  readonly nodes: readonly OnnxNode[];
  readonly metadata: Readonly<Record<string, string>>;
}

export function writeOnnx(model: OnnxModel): Uint8Array {
  return join([
    whole(1, model.irVersion),
    text(2, model.producer.name),
    text(3, model.producer.version),
    text(6, model.about),
    ...Array.from(model.operators, ([domain, version]) =>
      bytes(8, join([text(1, domain), whole(2, version)])),
    ),
    bytes(7, writeGraph(model)),
    ...Object.entries(model.metadata).map(([key, value]) => bytes(14, join([text(1, key), text(2, value)]))),
  ]);
}

function writeGraph({ name, nodes, tensors, inputs, outputs }: OnnxModel): Uint8Array {
  return join([
    ...nodes.map((node) => bytes(1, writeNode(node))),
    text(2, name),
    ...tensors.map((tensor) => bytes(5, writeTensor(tensor))),
    ...inputs.map((value) => bytes(11, writeValue(value))),
    ...outputs.map((value) => bytes(12, writeValue(value))),
  ]);
}

function writeNode({ op, domain, inputs, output, attributes }: OnnxNode): Uint8Array {
  return join([
    ...inputs.map((name) => text(1, name)),
    text(2, output),
    text(3, output), // a node is called what its output is called
    text(4, op),
    ...Object.entries(attributes).map(([name, value]) => bytes(5, writeAttribute(name, value))),
    ...(domain === "" ? [] : [text(7, domain)]),
  ]);
}

/** AttributeProto.AttributeType. */
const ATTRIBUTE_TYPES = { int: 2, ints: 7, strings: 8 } as const;

function writeAttribute(name: string, value: OnnxAttribute): Uint8Array {
  const type = typeof value === "number" ? "int" : typeof value[0] === "string" ? "strings" : "ints";
  const values = typeof value === "number" ? [whole(3, value)] : value.map(writeListed);
  return join([text(1, name), ...values, whole(20, ATTRIBUTE_TYPES[type])]);
}

function writeListed(value: number | string): Uint8Array {
  return typeof value === "number" ? whole(8, value) : text(9, value);
}

function writeTensor({ name, shape, type, values }: OnnxTensor): Uint8Array {
  return join([
    ...shape.map((size) => whole(1, size)),
    whole(2, TYPE_NUMBERS[type]),
    text(8, name),
    bytes(9, writeNumbers(type, values)),
  ]);
}

const WIDTHS = { float: 4, double: 8, int32: 4, int64: 8, bool: 1 } as const;

function writeNumbers(type: keyof typeof WIDTHS, values: ArrayLike<number>): Uint8Array {
  const width = WIDTHS[type];
  const written = new Uint8Array(values.length * width);
  const view = new DataView(written.buffer);
  for (let i = 0; i < values.length; i++) {
    const at = i * width;
    if (type === "float") view.setFloat32(at, values[i], true);
    else if (type === "double") view.setFloat64(at, values[i], true);
    else if (type === "int32") view.setInt32(at, values[i], true);
    else if (type === "int64") view.setBigInt64(at, BigInt(values[i]), true);
    else view.setUint8(at, values[i]);
  }
  return written;
}

function writeValue({ name, type, shape, about }: OnnxValue): Uint8Array {
  const sizes = shape.map((size) => bytes(1, typeof size === "number" ? whole(1, size) : text(2, size)));
  const tensor = join([whole(1, TYPE_NUMBERS[type]), bytes(2, join(sizes))]);
  return join([text(1, name), bytes(2, bytes(1, tensor)), text(3, about)]);
}

const WIRE_WHOLE = 0;
const WIRE_BYTES = 2;

function whole(field: number, value: number): Uint8Array {
  return Uint8Array.from([...varint(field * 8 + WIRE_WHOLE), ...varint(value)]);
}

function bytes(field: number, content: Uint8Array): Uint8Array {
  return join([Uint8Array.from([...varint(field * 8 + WIRE_BYTES), ...varint(content.length)]), content]);
}

function text(field: number, content: string): Uint8Array {
  return bytes(field, new TextEncoder().encode(content));
}

/** Seven bits per byte, lowest first; by division, because shifts end at 32 bits. */
function varint(value: number): number[] {
  const septets: number[] = [];
  let rest = value;
  for (; rest >= 128; rest = Math.floor(rest / 128)) septets.push((rest % 128) + 128);
  septets.push(rest);
  return septets;
}

function join(parts: readonly Uint8Array[]): Uint8Array {
  const joined = new Uint8Array(parts.reduce((sum, { length }) => sum + length, 0));
  let at = 0;
  for (const part of parts) {
    joined.set(part, at);
    at += part.length;
  }
  return joined;
}
