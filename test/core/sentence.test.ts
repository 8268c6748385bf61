// Sentences in parts: how they are put together, and their plain text.
import { describe, expect, test } from "vitest";
import {
  among,
  continueSentence,
  count,
  createSentence,
  joinSaid,
  named,
  percent,
  personal,
  plainText,
  say,
  share,
  verb,
  whole,
} from "../../src/core/sentence.ts";

describe("say", () => {
  test("joins texts, numbers and lists of parts, and keeps the parts between them", () => {
    expect(say`${"a"} has ${3} of ${["b", "c"]}`).toEqual(["a has 3 of bc"]);
    expect(say`${count(1, "row")}`).toEqual([{ kind: "count", count: 1, noun: "row" }]);
    expect(say`x${[count(2, "row"), personal(" (7)")]}y`).toEqual([
      "x",
      { kind: "count", count: 2, noun: "row" },
      { kind: "value", text: " (7)", instead: "" },
      "y",
    ]);
    expect(say``).toEqual([]);
  });

  test("a list has its separator between its entries only", () => {
    expect(joinSaid([], ", ")).toEqual([]);
    expect(joinSaid([["a"], ["b"]], ", ")).toEqual(["a, b"]);
    expect(joinSaid([[count(1, "row")], ["b"]], ", ")).toEqual([count(1, "row"), ", b"]);
  });
});

describe("plainText", () => {
  test.each([
    [count(1, "row"), "1 row"],
    [count(0, "test row"), "0 test rows"],
    [whole("all", 2, "row"), "all 2 rows"],
    [whole("none of the", 1, "row"), "none of the 1 row"],
    [share(3, 228), "3 of 228"],
    [share(3, 228, { percent: true }), "1 % (3 of 228)"],
    [share(75, 77, { before: "the", noun: "row" }), "75 of the 77 rows"],
    [share(2, 38, { before: "the other" }), "2 of the other 38"],
    [share(2, 38, { these: true }), "2 of these"],
    [among(1, "event", 10, "row"), "1 event in 10 rows"],
    [percent(1, 250), " (0.4 %)"],
    [percent(12, 100, "all events"), " (12 % of all events)"],
    [verb(1, "is", "are"), "is"],
    [verb(0, "is", "are"), "are"],
    [named([3, 8, 12]), "rows 3, 8 and 12"],
    [personal(" such as 7", " and others"), " such as 7"],
  ])("%j", (part, text) => {
    expect(plainText({ parts: [part] })).toBe(text);
  });

  test("what follows stands after a colon, a hint after a full stop, an option after a colon", () => {
    const found = createSentence("two rows", { consequence: "they are not independent", hint: "Ask" });
    expect(plainText(found)).toBe("two rows: they are not independent. Ask");
    expect(plainText(createSentence("a comma", { hint: "--decimal comma" }))).toBe(
      "a comma: --decimal comma",
    );
    expect(plainText(continueSentence(found, ", as asked"))).toBe(
      "two rows: they are not independent. Ask, as asked",
    );
    expect(continueSentence(found, "!")).not.toHaveProperty("hint");
  });

  test("survives being stored", () => {
    const sentence = createSentence(say`${count(1, "row")} of ${named([5])}`, { hint: "look" });
    expect(plainText(JSON.parse(JSON.stringify(sentence)))).toBe("1 row of row 5. look");
  });
});
