// The measures of the house, held against the sources: how long functions and lines may be, how many files a folder may
// hold, and what no file is called. And every file that a comment or a page names is there.
import { existsSync, readdirSync, readFileSync } from "node:fs";
import { basename, dirname, join } from "node:path";
import ts from "typescript";
import { describe, expect, test } from "vitest";
import { root } from "./cli/run-cli.ts";

const src = join(root, "src");
const files = listFiles("src", ".ts").map((name) => name.slice("src/".length));

const MAX_FUNCTION_LINES = 80;
const MAX_LINE = 120;
const MAX_FOLDER_FILES = 20;

/** Functions that may be longer, and why. */
const LONG_FUNCTIONS: Readonly<Record<string, string>> = {
  "data/reading/scan-records.ts scanRecords":
    "the loop over bytes: a call for each of them would be paid for",
  "training/solve/sums.ts createRowSums":
    "a kernel: its loops share the sums of a row, which would else be passed on for every bin",
};

/** Lines that cannot be broken: a pattern of characters, a diagram of weights. */
const LONG_LINES: readonly string[] = ["core/text.ts"];

/** Below a folder, with the folder before their names, in order. */
function listFiles(folder: string, suffix: string): string[] {
  return readdirSync(join(root, folder), { recursive: true, encoding: "utf8" })
    .filter((name) => name.endsWith(suffix))
    .map((name) => `${folder}/${name}`)
    .sort();
}

function nameOf(node: ts.Node): string {
  if (ts.isFunctionDeclaration(node) || ts.isMethodDeclaration(node))
    return node.name?.getText() ?? "default";
  const { parent } = node;
  if (ts.isVariableDeclaration(parent) || ts.isPropertyAssignment(parent)) return parent.name.getText();
  return "anonymous";
}

function parseSource(file: string): ts.SourceFile {
  return ts.createSourceFile(file, readFileSync(join(src, file), "utf8"), ts.ScriptTarget.ES2023, true);
}

/** "room/file.ts name" of every function that takes more lines than it may, functions within it included. */
function listLongFunctions(file: string): string[] {
  const source = parseSource(file);
  const found: string[] = [];
  const lineAt = (position: number) => source.getLineAndCharacterOfPosition(position).line;
  const visit = (node: ts.Node) => {
    if (ts.isFunctionLike(node) && "body" in node && node.body !== undefined) {
      const lines = lineAt(node.getEnd()) - lineAt(node.getStart()) + 1;
      if (lines > MAX_FUNCTION_LINES) found.push(`${file} ${nameOf(node)}`);
    }
    ts.forEachChild(node, visit);
  };
  visit(source);
  return found;
}

describe("measures", () => {
  test("functions are short, but for those that are named", () => {
    expect(files.flatMap(listLongFunctions).sort()).toEqual(Object.keys(LONG_FUNCTIONS).sort());
  });

  test("lines are short", () => {
    const long = files.flatMap((file) => {
      const lines = readFileSync(join(src, file), "utf8").split("\n");
      return lines.flatMap((line, k) => ([...line].length > MAX_LINE ? [`${file}:${k + 1}`] : []));
    });
    expect(long.filter((place) => !LONG_LINES.includes(place.split(":")[0]))).toEqual([]);
  });

  test("a folder with many files has rooms", () => {
    const counts = new Map<string, number>();
    for (const file of files) {
      const folder = dirname(`src/${file}`);
      counts.set(folder, (counts.get(folder) ?? 0) + 1);
    }
    const full = Array.from(counts).flatMap(([name, count]) => (count > MAX_FOLDER_FILES ? [name] : []));
    expect(full).toEqual([]);
  });

  test("a file says what is in it", () => {
    const vague = files.filter((file) => /^(utils?|helpers?|common|misc|types)\.ts$/.test(basename(file)));
    expect(vague).toEqual([]);
  });
});

const pages = [
  ...readdirSync(root).filter((name) => name.endsWith(".md") && name !== "CHANGELOG.md"),
  ...listFiles("docs", ".md").filter((name) => !name.startsWith("docs/api/")),
  "test/README.md",
];

/** Pages that tell how something is added, and the file that it would be. */
const GUIDES: Readonly<Record<string, readonly string[]>> = {
  "docs/concepts/adding-a-constraint.md": ["src/objectives/distances/last-gap.ts"],
  "docs/concepts/adding-a-network.md": ["src/models/networks/slopes.ts"],
};

/** The comments of a file; its code and its strings are the compiler's business. */
function commentsOf(file: string): string {
  const text = readFileSync(join(root, file), "utf8");
  return [...text.matchAll(/\/\*[\s\S]*?\*\/|(?<=^|\s)\/\/.*$/gm)].map(([comment]) => comment).join("\n");
}

const rooms = readdirSync(src, { withFileTypes: true }).flatMap((entry) =>
  entry.isDirectory() ? [entry.name] : [],
);
const FROM_ROOT =
  /(?<![\w./-])(?:src|docs|test|paper|bench|schemas|datasets|studio)\/[\w./-]+\.(?:ts|js|md|json)\b/g;
const FROM_SRC = new RegExp(`(?<![\\w./-])(?:${rooms.join("|")})/[\\w./-]+\\.ts\\b`, "g");
const BARE = /(?<![\w./*-])[a-z][a-z\d-]*\.ts\b/g;

const known = new Set([...files, ...listFiles("test", ".ts")].map((file) => basename(file)));

/** Names of files in a text that lead nowhere: from the root, from src, or by the file's name alone. */
function listStale(text: string): string[] {
  const named = (pattern: RegExp) => [...text.matchAll(pattern)].map(([name]) => name);
  return [
    ...named(FROM_ROOT).filter((name) => !existsSync(join(root, name))),
    ...named(FROM_SRC).filter((name) => !existsSync(join(src, name))),
    ...named(BARE).filter((name) => !known.has(name)),
  ];
}

describe("files that are named are there", () => {
  test.each(pages)("%s", (page) => {
    // A guide names the file that its reader is going to write.
    const planned = GUIDES[page] ?? [];
    const stale = listStale(readFileSync(join(root, page), "utf8"));
    expect(stale.filter((name) => !planned.includes(name))).toEqual([]);
  });

  test("in comments", () => {
    const sources = [...files.map((file) => `src/${file}`), ...listFiles("test", ".ts")];
    const stale = sources.flatMap((file) => listStale(commentsOf(file)).map((name) => `${file}: ${name}`));
    expect(stale).toEqual([]);
  });
});
