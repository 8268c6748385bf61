import { expect, test } from "vitest";
import { nearestName } from "../../src/core/names.ts";

test.each([
  ["evnt", ["time", "event"], "event"],
  ["trian", ["tune", "train"], "train"],
  ["Age", ["agf", "age"], "age"],
  ["7", ["3", "007"], "007"],
  ["histoloyg", ["instit", "histology"], "histology"],
  ["stage", ["age", "sex"], undefined],
  ["sex", ["age"], undefined],
  ["a", ["b"], undefined],
  ["time", [], undefined],
])("%s of %j is %s", (name, candidates, expected) => {
  expect(nearestName(name, candidates)).toBe(expected);
});
