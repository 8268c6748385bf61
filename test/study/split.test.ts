// A split as a model keeps it: packed and unpacked it is the same, whatever the number of rows, and damage is noticed.
import fc from "fast-check";
import { expect, test } from "vitest";
import { splitByOrder } from "../../src/data/outcomes/split.ts";
import { chooseSplit, packSplit, unpackSplit } from "../../src/study/split.ts";

const none = new Int32Array();

test("by hand: five rows, two bits each, the first in the lowest bits", () => {
  const split = { train: Int32Array.of(0, 3), validation: Int32Array.of(1), test: Int32Array.of(4) };
  // Rows 0..4 are train, valid, none, train, test: 00 01 11 00 | 10, from the right: 0b00110100, 0b00000010.
  const packed = packSplit(split, 5, null);
  expect(packed).toEqual({ sha256: null, rows: 5, sets: Buffer.of(0b00110100, 0b10).toString("base64") });
  expect(unpackSplit(packed)).toEqual(split);
});

test("any split comes back, and the text is base64", () => {
  fc.assert(
    fc.property(fc.array(fc.nat(3), { maxLength: 70 }), (sets) => {
      const rowsOf = (set: number) => Int32Array.from([...sets.keys()].filter((row) => sets[row] === set));
      const split = { train: rowsOf(0), validation: rowsOf(1), test: rowsOf(2) };
      const packed = packSplit(split, sets.length, "a".repeat(64));
      expect(unpackSplit(packed)).toEqual(split);
      expect(Buffer.from(packed.sets, "base64").toString("base64")).toBe(packed.sets);
    }),
    { seed: 14 },
  );
});

test("ten thousand rows take a quarter of a byte each", () => {
  const split = splitByOrder(10_000, { seed: 3 });
  const packed = packSplit(split, 10_000, null);
  expect(packed.sets.length).toBeLessThan(10_000 / 3 + 4);
  expect(unpackSplit(packed)).toEqual(split);
});

test.each(["AAA", "AA=A", "AA\u0000=", "AAAAAAAA", "????"])(
  "a text that holds no set a row is refused: %j",
  (sets) => {
    expect(unpackSplit({ sha256: null, rows: 5, sets })).toBeNull();
    expect(unpackSplit(packSplit({ train: none, validation: none, test: none }, 0, null))).not.toBeNull();
  },
);

test("a split that is given in any order is taken in ascending order", () => {
  const table = { name: "five.csv", rows: 5, columns: [] };
  const given = { train: Int32Array.of(3, 0), validation: Int32Array.of(1), test: Int32Array.of(4, 2) };
  const split = chooseSplit(table, { time: "time", event: "event", split: given }, null);
  expect(split).toEqual({
    train: Int32Array.of(0, 3),
    validation: Int32Array.of(1),
    test: Int32Array.of(2, 4),
  });
});
