// Weights against Python's safetensors, both ways: what it reads in a model file, and what it writes.
import { readFileSync } from "node:fs";
import fc from "fast-check";
import { describe, expect, test } from "vitest";
import { FormatError } from "../../src/core/errors.ts";
import { readSafetensors, type Tensor, writeSafetensors } from "../../src/files/container/safetensors.ts";

const oracle = (name: string) => readFileSync(new URL(`../oracles/model-file/${name}`, import.meta.url));

interface SeenByPython {
  readonly dtype: "float32" | "float64";
  readonly shape: readonly number[];
  readonly hex: string;
}
const seen: Readonly<Record<"tiny" | "python", Readonly<Record<string, SeenByPython>>>> = JSON.parse(
  oracle("safetensors.json").toString(),
);

function show(tensors: ReadonlyMap<string, Tensor>): Record<string, SeenByPython> {
  return Object.fromEntries(
    [...tensors].map(([name, { type, shape, values }]) => {
      const array = type === "F32" ? Float32Array.from(values) : Float64Array.from(values);
      const hex = Buffer.from(array.buffer).toString("hex");
      return [name, { dtype: type === "F32" ? "float32" : "float64", shape, hex }];
    }),
  );
}

describe("the safetensors layout", () => {
  test("a model's weights, cut out, are what Python reads", () => {
    const file = oracle("tiny.model");
    const start = 24 + file.readUInt32LE(12);
    const weights = file.subarray(start, start + Number(file.readBigUInt64LE(16)));
    expect(show(readSafetensors(weights, "tiny.model"))).toEqual(seen.tiny);
  });

  test("what Python writes is read, metadata, scalars and empty arrays included", () => {
    expect(show(readSafetensors(oracle("python.safetensors"), "python"))).toEqual(seen.python);
  });

  test("any arrays come back bit by bit, each at a multiple of its own size", () => {
    const tensor = fc.oneof(
      fc
        .float32Array({ maxLength: 9 })
        .map((values): Tensor => ({ type: "F32", shape: [values.length], values })),
      fc
        .float64Array({ maxLength: 9 })
        .map((values): Tensor => ({ type: "F64", shape: [values.length], values })),
    );
    const named = fc.dictionary(
      fc.string({ unit: fc.constantFrom("a", "é", "𝒮", '"', "\\", "\0", "7", "_"), maxLength: 6 }),
      tensor,
      { maxKeys: 6 },
    );
    fc.assert(
      fc.property(named, fc.nat(7), (record, shift) => {
        const tensors = new Map(Object.entries(record).filter(([name]) => name !== "__metadata__"));
        const bytes = writeSafetensors(tensors);
        const moved = new Uint8Array(bytes.length + shift);
        moved.set(bytes, shift);
        const read = readSafetensors(moved.subarray(shift), "moved");
        expect(show(read)).toEqual(show(tensors));
        expect(Buffer.compare(writeSafetensors(read), bytes)).toBe(0);
        const data = 8 + Number(new DataView(bytes.buffer).getBigUint64(0, true));
        const header = JSON.parse(new TextDecoder().decode(bytes.subarray(8, data)));
        for (const { dtype, shape, data_offsets } of Object.values<{
          dtype: "F32" | "F64";
          shape: number[];
          data_offsets: number[];
        }>(header)) {
          const View = dtype === "F32" ? Float32Array : Float64Array;
          // Making a view where it does not fit throws.
          expect(new View(bytes.buffer as ArrayBuffer, data + data_offsets[0], shape[0]).length).toBe(
            shape[0],
          );
        }
      }),
      { seed: 1, numRuns: 100 },
    );
  });

  const sectionOf = (header: string, data = 0, declared = header.length) => {
    const bytes = new Uint8Array(8 + header.length + data);
    new DataView(bytes.buffer).setBigUint64(0, BigInt(declared), true);
    bytes.set(new TextEncoder().encode(header), 8);
    return bytes;
  };
  const entry = (fields: object) =>
    JSON.stringify({ a: { dtype: "F32", shape: [2], data_offsets: [0, 8], ...fields } });

  test.each([
    ["nothing", new Uint8Array(0)],
    ["seven bytes", new Uint8Array(7)],
    ["a header longer than the section", sectionOf("{}", 0, 3)],
    ["a header of 2^63 bytes", Uint8Array.of(0, 0, 0, 0, 0, 0, 0, 0x80)],
    ["a list", sectionOf("[]")],
    ["null", sectionOf("null")],
    ["half a header", sectionOf("{")],
    ["an entry that is none", sectionOf('{"a":1}')],
    ["another type", sectionOf(entry({ dtype: "BF16" }), 8)],
    ["a field too many", sectionOf(entry({ more: 1 }), 8)],
    ["a shape that does not fit", sectionOf(entry({ shape: [3] }), 8)],
    ["a shape of a negative size", sectionOf(entry({ shape: [-2, -1] }), 8)],
    ["a shape of a broken size", sectionOf(entry({ shape: [2.0000001] }), 8)],
    ["a shape beyond all memory", sectionOf(entry({ shape: [2 ** 52, 2 ** 52] }), 8)],
    ["a shape of a hundred thousand sizes", sectionOf(entry({ shape: Array(1e5).fill(1) }), 4)],
    ["a gap before", sectionOf(entry({ data_offsets: [4, 12] }), 12)],
    ["values that nothing describes", sectionOf(entry({}), 12)],
    ["values that are not there", sectionOf(entry({}), 7)],
    ["offsets turned round", sectionOf(entry({ data_offsets: [8, 0] }), 8)],
    [
      "two that overlap",
      sectionOf(
        '{"a":{"dtype":"F32","shape":[2],"data_offsets":[0,8]},"b":{"dtype":"F32","shape":[1],"data_offsets":[4,8]}}',
        8,
      ),
    ],
  ])("%s is refused", (_, bytes) => {
    expect(() => readSafetensors(bytes, "odd")).toThrow(FormatError);
  });
});
