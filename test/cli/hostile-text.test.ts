// Control characters, marks of direction and endless values in cells, headers, names of groups and files, and model
// files: none reaches a terminal, an error message, an SVG or a page as it is, and no message is longer than a person
// reads.
import { readFileSync } from "node:fs";
import { join } from "node:path";
import { describe, expect, test } from "vitest";
import { encodeJson, packSections, unpackSections } from "../../src/files/container/container.ts";
import { root, runCli, writeScratch } from "./run-cli.ts";

/** Colours, a title, a bell, C1's CSI, DEL, a line separator, an override and an isolate. */
const HOSTILE = "\u001b[31mX\u001b]0;owned\u0007\u009b2J\u007f\u2028\u202egnp\u2067<b>&amp;";
// biome-ignore lint/suspicious/noControlCharactersInRegex: they are what is looked for
const UNSAFE = /[\u0000-\u0008\u000b-\u001f\u007f-\u009f\u2028\u2029\u202a-\u202e\u2066-\u2069]/;

const people = Array.from({ length: 60 }, (_, i) => {
  const level = i % 3 === 0 ? HOSTILE : i % 3 === 1 ? "b" : "c\nsecond line";
  return `${1 + ((i * 7) % 23)},${i % 4 === 0 ? 0 : 1},"${level}",${40 + (i % 17)}`;
});
const table = writeScratch("hostile.csv", `time,event,"g ${HOSTILE}",age\n${people.join("\n")}\n`);
const column = `"g ${HOSTILE}"`;
const outcome = ["--time", "time", "--event", "event"];
const group = `"${HOSTILE}": age >= 50`;

function expectSafe(args: readonly string[], code = 0): string {
  const result = runCli(args);
  const said = `${args[0]}: ${result.stderr.slice(0, 500)}`;
  expect(result.code, said).toBe(code);
  expect(result.stdout, said).not.toMatch(UNSAFE);
  expect(result.stderr, said).not.toMatch(UNSAFE);
  return code === 0 ? result.stdout : result.stderr;
}

/** Characters that XML may have, tags that close, and no bare & or <. */
function expectXml(text: string): void {
  expect(text).not.toMatch(UNSAFE);
  const open: string[] = [];
  const rest = text.replace(
    /<(\/?)([\w:-]+)((?:\s+[\w:-]+="[^"<]*")*)\s*(\/?)>/g,
    (_, closes, name, given, alone) => {
      if (/&(?!(?:\w+|#\d+);)/.test(given)) throw new Error(`a bare & in ${given}`);
      if (closes !== "") expect(open.pop()).toBe(name);
      else if (alone === "") open.push(name);
      return "";
    },
  );
  expect(open).toEqual([]);
  expect(rest).not.toMatch(/<|&(?!(?:amp|lt|gt|quot|apos|#\d+);)/);
}

describe("control characters", () => {
  test("describe, km and its plot, cox", () => {
    expect(expectSafe(["describe", table, ...outcome])).toContain("\\u001b[31mX\\u001b]0;owned\\u0007");
    const svg = writeScratch("hostile.svg", "");
    const text = expectSafe(["km", table, ...outcome, "--by", `g ${HOSTILE}`, "--svg", svg]);
    expect(text).toContain("c\\nsecond line");
    expectXml(readFileSync(svg, "utf8"));
    expectSafe(["cox", table, ...outcome, "--features", `age,g ${HOSTILE}`]);
  });

  test("the example: an escape in a cell", () => {
    const example = writeScratch("example.csv", "t,e,g\n1,1,\u001b[31mX\n2,0,b\n3,1,b\n");
    const svg = writeScratch("example.svg", "");
    const text = expectSafe(["km", example, "--time", "t", "--event", "e", "--by", "g", "--svg", svg]);
    expect(text).toContain("g=\\u001b[31mX  1 ");
    expectXml(readFileSync(svg, "utf8"));
  });

  test("--json is JSON of the same text", () => {
    const { code, stdout } = runCli(["km", table, ...outcome, "--by", `g ${HOSTILE}`, "--json"]);
    expect(code).toBe(0);
    expect(stdout).not.toMatch(UNSAFE);
    const { groups } = JSON.parse(stdout) as { readonly groups: readonly { readonly name: string }[] };
    expect(groups.some(({ name }) => name.includes(HOSTILE))).toBe(true);
  });

  test("training, its report, and what reads the model", () => {
    const model = writeScratch("hostile.model", "");
    const page = writeScratch("hostile.html", "");
    const small = ["--steps", "2", "--bins", "6", "--hidden", "2", "--draws", "0", "--replicates", "0"];
    const files = ["--out", model, "--report", page];
    expectSafe(["train", table, ...outcome, ...small, "--group", group, "--threads", "1", ...files]);
    expect(readFileSync(page, "utf8")).not.toMatch(UNSAFE);
    expectSafe(["audit", model, table, "--draws", "0", "--threads", "1"]);
    const other = writeScratch("other.csv", "age\n50\n");
    expect(expectSafe(["predict", model, other, "--threads", "1"], 1)).toContain("missing column");
  });

  test("in errors: columns, groups, files, a model's own text", () => {
    expectSafe(["km", table, "--time", HOSTILE, "--event", "event"], 1);
    expectSafe(["describe", table, ...outcome, "--group", `${column} = ${HOSTILE}`], 1);
    expectSafe(["km", `no such ${HOSTILE}.csv`, ...outcome], 1);
    expectSafe([`no${HOSTILE}`], 1);
    const { header, weights } = unpackSections(
      new Uint8Array(readFileSync(join(root, "test/files/v0.1.0/cox.model"))),
      "",
    );
    const changed = { ...JSON.parse(new TextDecoder().decode(header)), [HOSTILE]: 1 };
    const model = writeScratch("text.model", packSections({ header: encodeJson(changed), weights }));
    expectSafe(["predict", model, table], 1);
  });

  test("a line feed in a value forges no line of ours", () => {
    const said = expectSafe(["km", table, "--time", "x\ngraduate: all is well", "--event", "event"], 1);
    expect(said.split("\n").filter((line) => line.startsWith("graduate: "))).toHaveLength(1);
  });
});

describe("a value of three megabytes", () => {
  const long = "x".repeat(3e6);
  const rows = Array.from({ length: 30 }, (_, i) => `${i + 1},${i % 2},${i % 5 === 0 ? long : "a"},${i}`);
  const cells = writeScratch("long-cell.csv", `time,event,g,age\n${rows.join("\n")}\n`);
  const header = writeScratch("long-header.csv", `time,event,${long}\n1,1,2\n2,0,3\n3,1,4\n`);
  test.each([
    ["a cell as a number", ["km", cells, ...outcome, "--number", "g"]],
    ["a cell as an event", ["km", cells, "--time", "age", "--event", "g"]],
    ["a cell as a time", ["km", cells, "--time", "g", "--event", "event"]],
    ["a header", ["km", header, "--time", "t", "--event", "event"]],
    ["the levels there are", ["describe", cells, ...outcome, "--group", "g = c"]],
  ])("%s", (_, args) => {
    expect(expectSafe(args, 1).length).toBeLessThan(2000);
  });

  test.each([
    ["describe, a cell", ["describe", cells, ...outcome]],
    ["describe, a header", ["describe", header, ...outcome]],
    ["km by it", ["km", cells, ...outcome, "--by", "g"]],
  ])("%s", (_, args) => {
    expect(expectSafe(args).length).toBeLessThan(20_000);
  });
});
