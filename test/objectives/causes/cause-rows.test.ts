// People with causes as rows of one kind of event, by hand.
import { expect, test } from "vitest";
import {
  causeRows,
  crossCauses,
  seeCause,
  seeCauseAgainstNone,
  spreadCauses,
} from "../../../src/objectives/causes/cause-rows.ts";

const binned = {
  T: 4,
  bin: Int32Array.of(1, 3, 2, 4),
  event: Uint8Array.of(1, 1, 0, 1),
  cause: Uint8Array.of(2, 1, 0, 2),
};

test("a row for each person and cause", () => {
  const spread = spreadCauses({ ...binned, weight: Float64Array.of(1, 2, 3, 4) }, 2);
  expect(Array.from(spread.bin)).toEqual([1, 1, 3, 3, 2, 2, 4, 4]);
  expect(Array.from(spread.event)).toEqual([0, 1, 1, 0, 0, 0, 0, 1]);
  expect(Array.from(spread.weight ?? [])).toEqual([1, 1, 2, 2, 3, 3, 4, 4]);
  expect(spread.firstBin).toBeUndefined();
  expect(Array.from(causeRows([3, 0], 2))).toEqual([6, 7, 0, 1]);
  const crossed = crossCauses([{ name: "g", rows: Int32Array.of(0, 3) }], ["a", "b"]);
  expect(crossed.map(({ name, rows }) => [name, Array.from(rows)])).toEqual([
    ["g: a", [0, 6]],
    ["g: b", [1, 7]],
  ]);
});

test("one cause: others are censored after their bin, and against none before it", () => {
  const own = seeCause(binned, 0);
  expect([Array.from(own.bin), Array.from(own.event)]).toEqual([
    [1, 3, 2, 4],
    [0, 1, 0, 0],
  ]);
  const none = seeCauseAgainstNone(binned, 0);
  // The first person has an event of the other cause in bin 1: at risk in no bin.
  expect([Array.from(none.bin), Array.from(none.firstBin ?? []), Array.from(none.event)]).toEqual([
    [1, 3, 2, 3],
    [2, 1, 1, 1],
    [0, 1, 0, 0],
  ]);
});
