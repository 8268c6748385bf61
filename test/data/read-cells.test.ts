// One cell: the byte parser against Number(), the dates against Date.
import fc from "fast-check";
import { describe, expect, test } from "vitest";
import {
  isInfinityText,
  isMissingText,
  isMissingToken,
  parseDateText,
  parseNumberBytes,
  parseNumberText,
} from "../../src/data/reading/parse-cell.ts";

const encoder = new TextEncoder();

/** Parses the text from the middle of other bytes, which must not matter. */
function parseBytes(text: string, mark: "." | "," = "."): number {
  const bytes = encoder.encode(text);
  const padded = encoder.encode(`9${"9".repeat(bytes.length)}9`);
  padded.set(bytes, 1);
  return parseNumberBytes(padded, 1, 1 + bytes.length, mark);
}

describe("numbers from bytes", () => {
  test("equal Number() bit by bit for what JavaScript writes", () => {
    fc.assert(
      fc.property(fc.double({ noDefaultInfinity: true, noNaN: true }), (value) => {
        for (const text of [String(value), value.toExponential(), value.toPrecision(17)])
          expect(parseBytes(text)).toBe(Number(text));
      }),
      { seed: 1, numRuns: 1500 },
    );
  });

  test("equal Number() bit by bit for digits, points and exponents of any length", () => {
    const digits = fc.string({ unit: fc.constantFrom(..."0123456789"), maxLength: 24 });
    const sign = fc.constantFrom("", "-", "+");
    fc.assert(
      fc.property(
        sign,
        digits,
        digits,
        sign,
        fc.integer({ min: 0, max: 330 }),
        (s, whole, part, expSign, exponent) => {
          if (whole + part === "") return;
          for (const text of [
            `${s}${whole}.${part}`,
            `${s}${whole}.${part}e${expSign}${exponent}`,
            `${s}${whole}${part}E${exponent}`,
          ]) {
            expect(parseBytes(text)).toBe(Number(text));
            expect(parseNumberText(text, ".")).toBe(Number(text));
            expect(parseBytes(text.replace(".", ","), ",")).toBe(Number(text));
          }
        },
      ),
      { seed: 2, numRuns: 1500 },
    );
  });

  test("at the edges of exact arithmetic", () => {
    const texts = [
      "9007199254740991",
      "9007199254740992",
      "9007199254740993",
      "9007199254740993e22",
      "1e22",
      "1e23",
      "1e-22",
      "1e-23",
    ];
    texts.push(
      "9007199254740991e-22",
      "0.00000000000000000000009007199254740993",
      "1e10000",
      "1e-10000",
      "1e99999999999999",
      "4.9e-324",
    );
    for (const text of texts) expect(parseBytes(text), text).toBe(Number(text));
  });

  test("take nothing but what Number() takes in base ten", () => {
    const soup = fc.string({ unit: fc.constantFrom(..."0123456789+-.eExX,_ n\u00a0é"), maxLength: 8 });
    fc.assert(
      fc.property(soup, (text) => {
        const isDecimal = /^[+-]?(\d+\.?\d*|\.\d+)(e[+-]?\d+)?$/i.test(text.trim());
        const expected = isDecimal ? Number(text) : Number.NaN;
        expect(parseBytes(text)).toBe(expected);
        expect(parseNumberText(text, ".")).toBe(expected);
      }),
      { seed: 3, numRuns: 2000 },
    );
  });
});

test("missing from bytes equals missing from text", () => {
  const soup = fc.string({ unit: fc.constantFrom(..."naNAulL \t"), maxLength: 6 });
  fc.assert(
    fc.property(soup, (text) => {
      const bytes = encoder.encode(`x${text}x`);
      expect(isMissingToken(bytes, 1, bytes.length - 1)).toBe(isMissingText(text));
      expect(isMissingText(text)).toBe(["", "na", "nan", "null"].includes(text.trim().toLowerCase()));
    }),
    { seed: 4, numRuns: 1500 },
  );
});

test("infinity by its names", () => {
  for (const text of ["Inf", "-inf", "+INFINITY", " Infinity "]) expect(isInfinityText(text)).toBe(true);
  for (const text of ["", "info", "1", "in", "infinit"]) expect(isInfinityText(text)).toBe(false);
});

describe("dates", () => {
  test("every day from year 1 to 9999 equals Date's", () => {
    fc.assert(
      fc.property(fc.integer({ min: -719162, max: 2932896 }), (day) => {
        const iso = new Date(day * 86_400_000).toISOString().slice(0, 10);
        const [year, month, date] = iso.split("-");
        expect(parseDateText(iso, "month-first")).toBe(day);
        expect(parseDateText(`${year}/${month}/${date}`, "month-first")).toBe(day);
        expect(parseDateText(`${date}.${month}.${year}`, "month-first")).toBe(day);
        expect(parseDateText(`${Number(month)}/${Number(date)}/${year}`, "month-first")).toBe(day);
        expect(parseDateText(`${Number(date)}/${Number(month)}/${year}`, "day-first")).toBe(day);
      }),
      { seed: 5, numRuns: 2000 },
    );
  });

  test("times of day, with zones, equal Date's milliseconds", () => {
    fc.assert(
      fc.property(fc.integer({ min: -4e12, max: 4e12 }), (ms) => {
        expect(parseDateText(new Date(ms).toISOString(), "month-first")).toBe(ms / 86_400_000);
      }),
      { seed: 6, numRuns: 1000 },
    );
    const noon = Date.UTC(2021, 4, 6, 12) / 86_400_000;
    for (const time of [
      "T12:00",
      " 12:00:00",
      "T12:00Z",
      "T14:00:00+02:00",
      "T06:30-0530",
      "T12:00:00,000",
    ]) {
      expect(parseDateText(`2021-05-06${time}`, "month-first"), time).toBe(noon);
    }
  });

  test("are NaN where the calendar or the format says no", () => {
    const texts = [
      "",
      "2021",
      "2021-00-01",
      "2021-02-30",
      "1900-02-29",
      "2021-05-06T",
      "2021-05-06T24:00",
      "2021-05-06T12:60",
    ];
    texts.push(
      "21-05-06",
      "2021-5-6",
      "2021/05-06",
      "20210506",
      "6.5.21",
      "0/1/2021",
      "2021-05-06T12:00:60",
      "2021-05-06X12:00",
    );
    for (const text of texts) expect(parseDateText(text, "month-first"), text).toBeNaN();
  });
});
