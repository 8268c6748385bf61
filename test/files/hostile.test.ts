// Whatever bytes the readers are given, they give a model or a FormatError: no other error, no long wait, no memory
// beyond the file's.
import fc from "fast-check";
import { describe, expect, test } from "vitest";
import { FormatError } from "../../src/core/errors.ts";
import { checkpointFromBytes, checkpointToBytes } from "../../src/files/model/checkpoint-file.ts";
import { modelFromBytes, modelToBytes } from "../../src/files/model/model-file.ts";
import { headerOf, resealed, withHeader } from "./resealed.ts";
import {
  smallBent,
  smallCheckpoint,
  smallCox,
  smallMembers,
  smallMlp,
  smallNetwork,
} from "./sample-models.ts";

const models = [smallNetwork, smallMlp, smallCox, smallBent].map((model) => ({
  bytes: modelToBytes(model),
  read: modelFromBytes as (bytes: Uint8Array, name: string) => unknown,
}));
const checkpoint = {
  bytes: checkpointToBytes({ checkpoint: smallCheckpoint, history: [], run: "run" }),
  read: checkpointFromBytes,
};
const ensemble = {
  bytes: checkpointToBytes({ checkpoint: smallCheckpoint, history: [], run: "run", members: smallMembers }),
  read: checkpointFromBytes,
};
const files = [...models, checkpoint, ensemble];
type Reader = (typeof files)[number]["read"];

/** Whether the reader took it; anything but a FormatError with place and advice fails the test. */
function isTaken(read: Reader, bytes: Uint8Array): boolean {
  try {
    read(bytes, "hostile");
    return true;
  } catch (error) {
    const isRefusal =
      error instanceof FormatError &&
      error.where === "hostile" &&
      error.hint !== undefined &&
      error.message.length < 400;
    if (!isRefusal) throw error;
    return false;
  }
}

function withBitTurned(bytes: Uint8Array, at: number, bit: number): Uint8Array {
  const changed = bytes.slice();
  changed[at] ^= 1 << bit;
  return changed;
}

const anyFile = fc.constantFrom(...files);
const settings = { seed: 1, numRuns: 400 };

describe("hostile bytes", () => {
  test("none of the files is refused as it is", () => {
    for (const { bytes, read } of files) expect(isTaken(read, bytes)).toBe(true);
  });

  test("random bytes, alone and after the beginning of a file", () => {
    fc.assert(
      fc.property(anyFile, fc.uint8Array({ maxLength: 300 }), fc.nat(24), ({ bytes, read }, random, kept) => {
        return !isTaken(read, Uint8Array.of(...bytes.subarray(0, kept), ...random));
      }),
      settings,
    );
  });

  test("cut off at every length", () => {
    for (const { bytes, read } of files) {
      const taken = Array.from(bytes.keys()).filter((length) => isTaken(read, bytes.subarray(0, length)));
      expect(taken).toEqual([]);
    }
  });

  test("every byte changed in one bit: nothing passes the checksum", () => {
    const [{ bytes, read }] = files;
    const taken = Array.from(bytes.keys()).filter((at) => isTaken(read, withBitTurned(bytes, at, at % 8)));
    expect(taken).toEqual([]);
  });

  test("bytes everywhere changed in one bit under a checksum that was made right", () => {
    for (const { bytes, read } of files) {
      const headerEnd = 24 + new DataView(bytes.buffer).getUint32(12, true);
      const inHeader = (at: number) => at >= 24 && at < headerEnd;
      let taken = 0;
      for (let at = 0; at < bytes.length - 32; at += inHeader(at) ? 7 : 1) {
        if (isTaken(read, resealed(withBitTurned(bytes, at, (at * 5) % 8)))) taken++;
      }
      // A letter of a warning or a bit of a weight may change; the structure may not.
      expect(taken).toBeGreaterThan(30);
      expect(taken).toBeLessThan(bytes.length / 3);
    }
  });

  test("several bytes changed, moved, doubled or removed under a checksum that was made right", () => {
    const at = fc.double({ min: 0, max: 1, noNaN: true, maxExcluded: true });
    const edit = fc.record({
      at,
      length: fc.nat(40),
      put: fc.oneof(
        fc.uint8Array({ maxLength: 40 }),
        fc
          .constantFrom(
            "[",
            "]",
            "{",
            "}",
            '"',
            "\\",
            ",",
            ":",
            "null",
            "-1",
            "1e999",
            "9".repeat(30),
            "__proto__",
            '"a":',
          )
          .map((text) => new TextEncoder().encode(text)),
      ),
    });
    fc.assert(
      fc.property(anyFile, fc.array(edit, { minLength: 1, maxLength: 4 }), (file, edits) => {
        let { bytes } = file;
        for (const { at: share, length, put } of edits) {
          const place = Math.floor(share * bytes.length);
          bytes = Uint8Array.of(...bytes.subarray(0, place), ...put, ...bytes.subarray(place + length));
        }
        isTaken(file.read, resealed(bytes));
        isTaken(file.read, resealed(withLengthsMadeRight(bytes)));
      }),
      settings,
    );
  });

  test("any lengths", () => {
    const max = (1n << 64n) - 1n;
    const length = fc.oneof(
      fc.bigInt({ min: 0n, max }),
      fc.bigInt({ min: 0n, max: 4096n }),
      fc.constantFrom(max, max / 2n, 1n << 32n),
    );
    fc.assert(
      fc.property(anyFile, fc.nat(0xffffffff), length, length, (file, header, weights, inner) => {
        const bytes = file.bytes.slice();
        const view = new DataView(bytes.buffer);
        view.setBigUint64(24 + view.getUint32(12, true), inner, true);
        isTaken(file.read, resealed(bytes));
        view.setBigUint64(16, weights, true);
        isTaken(file.read, resealed(bytes));
        view.setUint32(12, header, true);
        isTaken(file.read, resealed(bytes));
        view.setUint32(12, header % 4096, true);
        isTaken(file.read, resealed(bytes));
      }),
      settings,
    );
  });

  /** The lengths of the prelude moved to the file's, header first, so that the edits are not all caught there. */
  function withLengthsMadeRight(bytes: Uint8Array): Uint8Array {
    if (bytes.length < 64) return bytes;
    const made = bytes.slice(0, bytes.length);
    const view = new DataView(made.buffer);
    const header = Math.min(view.getUint32(12, true), bytes.length - 56);
    view.setUint32(12, header - (header % 8), true);
    view.setBigUint64(16, BigInt(bytes.length - 56 - (header - (header % 8))), true);
    return made;
  }

  test("any JSON in the place of any part of the header", () => {
    const [{ bytes, read }] = files;
    const header = headerOf(bytes);
    const paths = pathsOf(header);
    fc.assert(
      fc.property(fc.constantFrom(...paths), fc.jsonValue({ maxDepth: 3 }), (path, value) => {
        isTaken(read, resealed(withHeader(bytes, place(header, path, value))));
      }),
      { ...settings, numRuns: 400 },
    );
  });
});

type Path = readonly (string | number)[];

function pathsOf(value: unknown): Path[] {
  if (typeof value !== "object" || value === null) return [[]];
  const inner = Object.entries(value).flatMap(([key, one]) => pathsOf(one).map((path) => [key, ...path]));
  return [[], ...inner];
}

function place(tree: unknown, [key, ...rest]: Path, value: unknown): unknown {
  if (key === undefined) return value;
  const copy: Record<string | number, unknown> | unknown[] = Array.isArray(tree)
    ? [...tree]
    : { ...(tree as object) };
  const slots = copy as Record<string | number, unknown>;
  slots[key] = place(slots[key], rest, value);
  return copy;
}
