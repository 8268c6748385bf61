// Text from outside as it is shown: control characters spelled out, long values cut.
import { describe, expect, test } from "vitest";
import {
  createMemoryError,
  FormatError,
  GraduateError,
  InputError,
  isMemoryFailure,
  NumericalError,
  restate,
} from "../../src/core/errors.ts";
import { quoteValue, safeLine, safeText, shortenValues } from "../../src/core/text.ts";

/**
 * Every code unit that a terminal may act on, that reorders what stands around it, or that has no width and joins
 * nothing.
 */
const UNSAFE = Array.from({ length: 0xffff }, (_, code) => code).filter(
  (code) =>
    (code < 0x20 && code !== 9 && code !== 10) ||
    (code >= 0x7f && code <= 0x9f) ||
    (code >= 0x2028 && code <= 0x202e) ||
    (code >= 0x2060 && code <= 0x2069) ||
    [0x061c, 0x200b, 0x200e, 0x200f, 0xfeff, 0xfffe].includes(code),
);

describe("safeText", () => {
  test("spells out control characters and marks of direction, and nothing else", () => {
    const changed = Array.from({ length: 0xffff }, (_, code) => code).filter((code) => {
      const text = String.fromCharCode(code);
      return safeText(text) !== text;
    });
    expect(changed).toEqual(UNSAFE);
    for (const code of UNSAFE) {
      expect(safeText(String.fromCharCode(code))).toBe(`\\u${code.toString(16).padStart(4, "0")}`);
    }
    expect(safeText("a\tb\nc é 𝒮 \u001b[31m")).toBe("a\tb\nc é 𝒮 \\u001b[31m");
    expect(safeText("\u{e0041}")).toBe("\\udb40\\udc41");
    expect(safeLine("a\tb\nc\r")).toBe("a\\tb\\nc\\u000d");
  });

  test("JSON means the same after it", () => {
    const value = { name: String.fromCharCode(...UNSAFE), "\u009b": ["\u2028\\u001b"] };
    const text = safeText(JSON.stringify(value));
    expect(JSON.parse(text)).toEqual(value);
    expect(UNSAFE.some((code) => text.includes(String.fromCharCode(code)))).toBe(false);
  });
});

describe("values in messages", () => {
  test("are cut at 300 characters, our own words are not", () => {
    const long = "x".repeat(3e6);
    expect(quoteValue(long)).toBe(`"${"x".repeat(300)}…"`);
    expect(quoteValue("x".repeat(300))).toBe(`"${"x".repeat(300)}"`);
    expect(quoteValue(`${"x".repeat(299)}𝒮y`)).toBe(`"${"x".repeat(299)}…"`);
    const words = " our own words ".repeat(50);
    expect(shortenValues(`missing: "${long}"${words}"b"`)).toBe(`missing: "${"x".repeat(300)}…"${words}"b"`);
  });

  test("whatever a value holds, a message has an end", () => {
    for (const text of ['"', 'a"', "a", "\n", "\u001b"]) {
      const error = new InputError(`no such: "${text.repeat(3e6)}"`, {
        code: "x",
        where: `row 1, column "${text.repeat(3e6)}"`,
        hint: `leave it out (--drop ${text.repeat(3e6)})`,
      });
      // Each character takes up to six when it is spelled out.
      for (const part of [error.message, error.where, error.hint]) expect(part?.length).toBeLessThan(25_000);
      expect(error.message).not.toContain("\u001b");
    }
  });
});

describe("errors in other words", () => {
  test.each([InputError, NumericalError, FormatError])("stay of their class, with their code", (Refusal) => {
    const error = new Refusal("no", { code: "a.b", where: "there", hint: "do" });
    const again = restate(error, { message: "at step 3: no", hint: "do it" });
    expect(again).toBeInstanceOf(Refusal);
    expect(again).toMatchObject({ name: Refusal.name, code: "a.b", where: "there", hint: "do it" });
    expect(restate(new Refusal("no", { code: "c" }), { message: "m" }).hint).toBeUndefined();
  });
});

describe("memory that ran out", () => {
  const thrownBy = (make: () => unknown): unknown => {
    try {
      return make();
    } catch (error) {
      return error;
    }
  };
  test.each([
    ["a buffer", () => new ArrayBuffer(2 ** 52)],
    ["a typed array", () => new Float64Array(2 ** 52)],
    ["a text", () => "x".repeat(2 ** 29).repeat(8)],
    ["a process", () => Object.assign(new Error("spawn ENOMEM"), { code: "ENOMEM" })],
  ])("%s: what the engine itself throws is known", (_, make) => {
    const error = thrownBy(make);
    expect(isMemoryFailure(error), String(error)).toBe(true);
    const told = createMemoryError(error as Error);
    expect(told).toBeInstanceOf(GraduateError);
    expect(told.message).toMatch(/^not enough memory: /);
  });

  test("a bug is not", () => {
    const deep = (): number => 1 + deep();
    expect(isMemoryFailure(thrownBy(deep))).toBe(false);
    expect(isMemoryFailure(thrownBy(() => new Array(-1)))).toBe(false);
    expect(isMemoryFailure(new TypeError("allocation failed"))).toBe(false);
    expect(isMemoryFailure("out of memory")).toBe(false);
  });
});
