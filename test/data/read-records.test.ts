// The record scanner, block by block, against a parser that goes character by character over the whole text.
import fc from "fast-check";
import { describe, expect, test } from "vitest";
import { readTable, tableSourceFromBytes } from "../../src/data/reading/read-table.ts";
import {
  createRecordScanner,
  type ScanProblem,
  SENTINEL_BYTES,
  scanRecords,
} from "../../src/data/reading/scan-records.ts";

const encoder = new TextEncoder();
const decoder = new TextDecoder();

interface Scan {
  readonly records: string[][];
  readonly problem: ScanProblem | undefined;
}

/** Scans the text cut at the given bytes, what is left of one block going before the next. */
function scanText(text: string, cuts: readonly number[]): Scan {
  const bytes = encoder.encode(text);
  const scanner = createRecordScanner(",");
  const records: string[][] = [];
  let rest = new Uint8Array(0);
  const edges = [...cuts, bytes.length];
  for (let k = 0; k < edges.length; k++) {
    const part = bytes.subarray(k === 0 ? 0 : edges[k - 1], edges[k]);
    const length = rest.length + part.length;
    const block = new Uint8Array(length + SENTINEL_BYTES).fill(0x7a); // z, which must never show
    block.set(rest);
    block.set(part, rest.length);
    const consumed = scanRecords(scanner, block, length, k === edges.length - 1);
    for (let record = 0; record < scanner.records; record++) {
      const fields: string[] = [];
      for (let field = scanner.firstField[record]; field < scanner.firstField[record + 1]; field++) {
        fields.push(decoder.decode(block.subarray(scanner.starts[field], scanner.ends[field])));
      }
      records.push(fields);
    }
    if (scanner.problem) return { records, problem: scanner.problem };
    rest = block.slice(consumed, length);
  }
  expect(rest).toHaveLength(0);
  return { records, problem: undefined };
}

/** The slow twin. */
function scanCharacters(text: string): Scan {
  const records: string[][] = [];
  let blankLines = 0;
  let at = 0;
  while (at < text.length) {
    const fields: string[] = [];
    let isQuoted = false;
    for (;;) {
      let field = "";
      if (text[at] === '"') {
        isQuoted = true;
        for (at++; ; at++) {
          if (at >= text.length) return { records: addBlanks(), problem: "unterminated quote" };
          if (text[at] === '"' && text[at + 1] !== '"') break;
          if (text[at] === '"') at++;
          field += text[at];
        }
        at++;
        while (text[at] === " ") at++;
        if (at < text.length && !",\n\r".includes(text[at])) {
          return { records: addBlanks(), problem: "text after a closing quote" };
        }
      } else {
        while (at < text.length && !",\n\r".includes(text[at])) field += text[at++];
        field = field.replace(/^[ \t]+|[ \t]+$/g, "");
      }
      fields.push(field);
      if (text[at] !== ",") break;
      at++;
    }
    at += text[at] === "\r" && text[at + 1] === "\n" ? 2 : 1;
    if (fields.length === 1 && fields[0] === "" && !isQuoted) blankLines++;
    else {
      addBlanks();
      records.push(fields);
    }
  }
  return { records, problem: undefined };

  function addBlanks(): string[][] {
    for (; blankLines > 0; blankLines--) records.push([""]);
    return records;
  }
}

const soup = fc.string({
  unit: fc.constantFrom('"', '"', ",", "\n", "\r", "\r\n", "a", " ", "\t", "é", "1"),
  maxLength: 40,
});

describe("a soup of quotes, delimiters and line ends", () => {
  test("is cut as the slow twin cuts it", () => {
    fc.assert(
      fc.property(soup, (text) => {
        const twin = scanCharacters(text);
        const scan = scanText(text, []);
        expect(scan.problem).toBe(twin.problem);
        if (!twin.problem) expect(scan.records).toEqual(twin.records);
      }),
      { seed: 11, numRuns: 2000 },
    );
  });

  test("and the same in blocks of any size", () => {
    fc.assert(
      fc.property(soup, fc.array(fc.nat({ max: 60 }), { maxLength: 6 }), (text, places) => {
        const length = encoder.encode(text).length;
        const cuts = places.filter((place) => place <= length).sort((a, b) => a - b);
        const whole = scanText(text, []);
        const blocks = scanText(text, cuts);
        expect(blocks.problem).toBe(whole.problem);
        if (!whole.problem) expect(blocks.records).toEqual(whole.records);
      }),
      { seed: 12, numRuns: 2000 },
    );
  });
});

test("many blank lines between records need no more room than they are", () => {
  const scan = scanText(`a\n${"\n".repeat(20_000)}b\n\n\n`, [3, 9000]);
  expect(scan.records).toHaveLength(20_002);
  expect(scan.records.at(-1)).toEqual(["b"]);
});

test("a table reads the same wherever a block of 2^18 bytes ends in it", async () => {
  const rows = '"a\r\nb","x ""y"" z",1.25\r\n東京,",",-3e-5\r\né🙂,"",007\r\n"""",  b ,NA\r\n';
  const header = "first,second,third\r\n";
  const bytes = encoder.encode(rows);
  const expected = [
    ["a\r\nb", 'x "y" z', 1.25],
    ["東京", ",", -3e-5],
    ["é🙂", null, 7],
    ['"', "b", null],
  ];
  for (let back = 0; back <= bytes.length; back++) {
    // one long row up to `back` bytes before the end of the first block
    const filler = `${"f".repeat(2 ** 18 - back - header.length - 6)},g,1\r\n`;
    const text = `${header + filler + rows}f,g,1\r\n`;
    const table = await readTable(tableSourceFromBytes("t", encoder.encode(text)));
    expect(table.rows).toBe(6);
    const [a, b, c] = table.columns;
    if (a.type !== "category" || b.type !== "category" || c.type !== "number") throw new Error("wrong types");
    for (let k = 0; k < 4; k++) {
      const row = 1 + k;
      const [textA, textB, number] = expected[k];
      expect(a.levels[a.codes[row]]).toBe(textA);
      expect(b.levels[b.codes[row]] ?? null).toBe(textB);
      expect(c.values[row]).toBe(number ?? Number.NaN);
    }
  }
});
