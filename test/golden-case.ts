/**
 * One folder of test/golden: the arguments of a command, the files it is given, and all that it must print, write and
 * return. A case is run in a folder of its own with copies of its files, those of golden/tables, and the bundled
 * datasets; so outputs name no path of any machine. What varies all the same is replaced (REPLACEMENTS) before it is
 * compared or kept.
 */
import {
  cpSync,
  existsSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  rmSync,
  symlinkSync,
  writeFileSync,
} from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { root, runCli, runFresh } from "./cli/run-cli.ts";

export const golden = fileURLToPath(new URL("golden/", import.meta.url));
const tables = join(golden, "tables");

/** What a case expects; every other file in its folder is input. */
const EXPECTED = new Set(["args", "stdout", "stderr", "code", "files", "out"]);
/** This one of every command has a process of its own: it must also end by itself. */
const FRESH = "plain";

export interface GoldenCase {
  /** "km/all-censored" */
  readonly name: string;
  readonly folder: string;
  readonly args: readonly string[];
}

export interface Outcome {
  readonly code: number | null;
  readonly stdout: string;
  readonly stderr: string;
  /** Names of the files it left beside its input. */
  readonly files: readonly string[];
  /** The CSV files among them. */
  readonly out: Readonly<Record<string, string>>;
  /** Inputs that are not what they were. */
  readonly touched: readonly string[];
  /** Pages among the files. */
  readonly pages: readonly string[];
}

export function findCases(): GoldenCase[] {
  const folders = readdirSync(golden, { withFileTypes: true }).filter((entry) => entry.isDirectory());
  return folders
    .filter(({ name }) => name !== "tables")
    .flatMap(({ name: command }) =>
      readdirSync(join(golden, command)).map((one) => {
        const folder = join(golden, command, one);
        const args = readFileSync(join(folder, "args"), "utf8").split("\n").slice(0, -1);
        return { name: `${command}/${one}`, folder, args };
      }),
    );
}

const { version } = JSON.parse(readFileSync(join(root, "package.json"), "utf8")) as { version: string };

/** What differs from run to run or from machine to machine, and what stands for it in the folders. */
const REPLACEMENTS: readonly { readonly what: string; readonly from: RegExp; readonly to: string }[] = [
  { what: "seconds a step took", from: /\b\d+\.\d s\b/g, to: "0.0 s" },
  { what: "seconds left", from: /, \d+ s left/g, to: "" },
  { what: "seconds in JSON", from: /("seconds": ?)[\d.e+-]+/g, to: "$10" },
  { what: "seconds in the table of compare", from: /^(cox\S* {2}.*?) +\d+\.\d$/gm, to: "$1  0.0" },
  { what: "this machine's threads", from: /(--(?:threads|workers) <n>[^(]*\(default: )\d+\)/g, to: "$1N)" },
  { what: "the engine's words for bad JSON", from: /( is not JSON: ).*/g, to: "$1…" },
  {
    what: "how it is called",
    from: /(?:npx graduate|node \S*\bbin\/graduate\.js'?)(?= [a-z])/g,
    to: "graduate",
  },
  { what: "the version", from: new RegExp(version.replaceAll(".", "\\."), "g"), to: "VERSION" },
];

/** The text with what varies replaced: how the program was called is as long as the folder it is installed in. */
export function settle(text: string): string {
  return REPLACEMENTS.reduce((settled, { from, to }) => settled.replace(from, to), text);
}

/** Longest JSON value on one line. */
const LINE = 100;

/** One line where it fits, otherwise one line an entry: differences stay small. */
function layOut(value: unknown, indent = ""): string {
  const line = JSON.stringify(value);
  if (typeof value !== "object" || value === null || indent.length + line.length <= LINE) return line;
  const deeper = `${indent} `;
  const entries = Array.isArray(value)
    ? value.map((entry) => layOut(entry, deeper))
    : Object.entries(value).map(([key, entry]) => `${JSON.stringify(key)}: ${layOut(entry, deeper)}`);
  const [open, close] = Array.isArray(value) ? "[]" : "{}";
  return `${open}\n${deeper}${entries.join(`,\n${deeper}`)}\n${indent}${close}`;
}

/** The document on one line, and nothing else. */
export function parseDocument(stdout: string): unknown {
  const document: unknown = JSON.parse(stdout);
  if (`${JSON.stringify(document)}\n` !== stdout) throw new Error("not one JSON document on one line");
  return document;
}

/** Copies of golden/tables, and what each NAME.args among them makes: models, and one damaged in each way. */
export function prepareInputs(): string {
  const folder = mkdtempSync(join(tmpdir(), "graduate-golden-"));
  cpSync(tables, folder, { recursive: true });
  for (const file of readdirSync(tables).filter((name) => name.endsWith(".args"))) {
    const args = readFileSync(join(tables, file), "utf8").split("\n").slice(0, -1);
    const { code, stderr } = runCli(args, "", folder);
    if (code !== 0) throw new Error(`${file}: ${stderr}`);
    rmSync(join(folder, file));
  }
  rmSync(join(folder, "make-tables.js"));
  const model = readFileSync(join(folder, "cox.model"));
  writeFileSync(join(folder, "truncated.model"), model.subarray(0, model.length >> 1));
  const tampered = Uint8Array.from(model);
  tampered[model.length - 100] ^= 1;
  writeFileSync(join(folder, "tampered.model"), tampered);
  const newer = Uint8Array.from(model);
  newer[VERSION_AT] = 99;
  writeFileSync(join(folder, "newer.model"), newer);
  return folder;
}

/** Where the version of the format stands in a model file (docs/model-file.md). */
const VERSION_AT = 8;

export function runCase({ args, folder, name }: GoldenCase, inputs: string): Outcome {
  const cwd = mkdtempSync(join(tmpdir(), "graduate-case-"));
  try {
    cpSync(inputs, cwd, { recursive: true });
    for (const file of readdirSync(folder).filter((one) => !EXPECTED.has(one))) {
      cpSync(join(folder, file), join(cwd, file), { recursive: true });
    }
    const before = readAll(cwd);
    symlinkSync(join(root, "datasets"), join(cwd, "datasets"));
    const run = name.endsWith(`/${FRESH}`) ? runFresh : runCli;
    const { code, stdout, stderr } = run(args, "", cwd);
    rmSync(join(cwd, "datasets"));
    const after = readAll(cwd);
    const touched = [...before].filter(([file, bytes]) => after.get(file)?.equals(bytes) !== true);
    const written = [...after].filter(([file]) => !before.has(file));
    const texts = (end: string) => written.filter(([file]) => file.endsWith(end));
    return {
      code,
      stdout,
      stderr,
      files: written.map(([file]) => file).sort(),
      out: Object.fromEntries(texts(".csv").map(([file, bytes]) => [file, bytes.toString()])),
      touched: touched.map(([file]) => file),
      pages: texts(".html").map(([, bytes]) => bytes.toString()),
    };
  } finally {
    rmSync(cwd, { recursive: true });
  }
}

function readAll(folder: string): Map<string, Buffer> {
  const files = readdirSync(folder, { recursive: true, withFileTypes: true }).filter((one) => one.isFile());
  return new Map(
    files.map(({ parentPath, name }) => {
      const path = join(parentPath, name);
      return [path.slice(folder.length + 1), readFileSync(path)];
    }),
  );
}

/** An outcome as the files of a case. */
function toFiles({ args }: GoldenCase, { code, stdout, stderr, files, out }: Outcome): Map<string, string> {
  const isDocument = args.includes("--json") && stdout !== "";
  const shown = isDocument ? `${layOut(parseDocument(stdout))}\n` : stdout;
  return new Map([
    ["code", code === 0 ? "" : `${code}\n`],
    ["stdout", settle(shown)],
    ["stderr", settle(stderr)],
    ["files", files.map((file) => `${file}\n`).join("")],
    ...Object.entries(out).map(([file, text]): [string, string] => [join("out", file), text]),
  ]);
}

/** All of it as one text, in which a difference can be read. */
function show(args: readonly string[], files: ReadonlyMap<string, string>): string {
  const parts = [...files].filter(([, text]) => text !== "").map(([file, text]) => `--- ${file}\n${text}`);
  return `graduate ${args.join(" ")}\n${parts.join("")}`;
}

export function showOutcome(one: GoldenCase, outcome: Outcome): string {
  return show(one.args, toFiles(one, outcome));
}

export function showExpected({ args, folder }: GoldenCase): string {
  const out = join(folder, "out");
  const names = [
    "code",
    "stdout",
    "stderr",
    "files",
    ...(existsSync(out) ? readdirSync(out) : []).map((file) => join("out", file)),
  ];
  const read = (file: string) =>
    existsSync(join(folder, file)) ? readFileSync(join(folder, file), "utf8") : "";
  return show(args, new Map(names.map((file) => [file, read(file)])));
}

/** Makes the outcome what is expected from now on. */
export function keepOutcome(one: GoldenCase, outcome: Outcome): void {
  for (const file of EXPECTED) {
    if (file !== "args") rmSync(join(one.folder, file), { recursive: true, force: true });
  }
  for (const [file, text] of toFiles(one, outcome)) {
    if (text === "") continue;
    if (file.startsWith("out")) mkdirSync(join(one.folder, "out"), { recursive: true });
    writeFileSync(join(one.folder, file), text);
  }
}
