// A file of lines that grows: whole lines or none of them, whatever stops the writing.
import { spawnSync } from "node:child_process";
import {
  existsSync,
  lstatSync,
  mkdtempSync,
  readFileSync,
  rmSync,
  symlinkSync,
  truncateSync,
  writeFileSync,
} from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, describe, expect, test } from "vitest";
import { FormatError } from "../../src/core/errors.ts";
import { type GrowingLines, openGrowingLines } from "../../src/node/io/run-results.ts";

const folder = mkdtempSync(join(tmpdir(), "graduate-lines-"));
const at = (name: string) => join(folder, name);
afterAll(() => rmSync(folder, { recursive: true }));

function open(path: string, lines: string[] = []): GrowingLines {
  const refuseLine = (line: number) => new FormatError(`not ours: line ${line}`, { code: "lines" });
  return openGrowingLines(path, {
    read(text) {
      const all = text.split("\n").slice(0, -1);
      all.forEach((line, k) => {
        if (!line.startsWith('{"n":')) throw refuseLine(k + 1);
      });
      lines.push(...all);
    },
    starts: ['{"n":'],
    refuseLine,
    option: "--out",
  });
}

describe("openGrowingLines", () => {
  test("appends; what was cut off in the middle, at every length, is cut off whole", () => {
    const path = at("grown");
    const file = open(path);
    file.append(['{"n":1}']);
    file.append(['{"n":2}', '{"n":3}']);
    file.close();
    const whole = readFileSync(path, "utf8");
    expect(whole).toBe('{"n":1}\n{"n":2}\n{"n":3}\n');
    for (let length = whole.length - 1; length > 8; length--) {
      writeFileSync(path, whole);
      truncateSync(path, length);
      const lines: string[] = [];
      const again = open(path, lines);
      expect(again.repaired).toBe(length !== 16);
      again.close();
      expect(readFileSync(path, "utf8")).toBe(lines.map((line) => `${line}\n`).join(""));
      expect(lines).toHaveLength(length >= 16 ? 2 : 1);
    }
  });

  test("a file of something else is refused, and stays", () => {
    for (const text of ["a,b\n1,2\n", "a,b", '{"n":1}\n{"m"', "#!/bin/sh\n"]) {
      writeFileSync(at("other"), text);
      expect(() => open(at("other"))).toThrow("not ours");
      expect(readFileSync(at("other"), "utf8")).toBe(text);
    }
    expect(() => open(at("none/lines"))).toThrow(/cannot keep the results in ".*" \(no such folder\)/);
  });

  test("a file that was made and not written to does not stay; one that was there does", () => {
    open(at("made")).close();
    expect(existsSync(at("made"))).toBe(false);
    writeFileSync(at("empty"), "");
    open(at("empty")).close();
    expect(existsSync(at("empty"))).toBe(true);
    symlinkSync("target", at("link"));
    open(at("link")).close();
    expect(lstatSync(at("link")).isSymbolicLink()).toBe(true);
    const file = open(at("link"));
    file.append(['{"n":1}']);
    file.close();
    expect(readFileSync(at("target"), "utf8")).toBe('{"n":1}\n');
  });

  test("a disk that fills up takes none of a line, and the lines before stay", () => {
    const path = at("full");
    const module = new URL("../../dist/node/io/run-results.js", import.meta.url).href;
    const program = `
      const { openGrowingLines } = await import(${JSON.stringify(module)});
      const file = openGrowingLines(${JSON.stringify(path)}, { read() {}, starts: [""], option: "--out" });
      try {
        for (let n = 0; ; n++) file.append([JSON.stringify({ n, text: "x".repeat(1000) })]);
      } catch (error) {
        console.log(error.message);
      }`;
    // The largest file that may be written has four kilobytes: the fifth line is let through in part.
    const { stdout } = spawnSync(
      "bash",
      ["-c", `ulimit -f 4; "$0" --input-type=module -e "$1"`, process.execPath, program],
      {
        encoding: "utf8",
      },
    );
    expect(stdout).toMatch(/^cannot keep the results in ".*" \(the file would be too large\)\n$/);
    const text = readFileSync(path, "utf8");
    expect(text.endsWith("}\n")).toBe(true);
    expect(
      text
        .split("\n")
        .slice(0, -1)
        .map((line) => JSON.parse(line).n),
    ).toEqual([0, 1, 2, 3]);
  });
});
