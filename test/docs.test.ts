// Every fenced example in the documentation is run: commands as they stand, TypeScript as modules, JSON by parsing it.
import { spawnSync } from "node:child_process";
import {
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
import { dirname, join } from "node:path";
import { pathToFileURL } from "node:url";
import ts from "typescript";
import { afterAll, describe, expect, test } from "vitest";
import { type CliResult, root, runCli } from "./cli/run-cli.ts";

const pages = [
  ...readdirSync(root).filter((name) => name.endsWith(".md")),
  ...readdirSync(join(root, "docs"), { recursive: true, encoding: "utf8" })
    // what `npm run docs:api` writes is made from the sources
    .filter((name) => name.endsWith(".md") && !name.startsWith("api"))
    .map((name) => join("docs", name)),
];

/** Set-up lines that a test cannot run inside itself; `npm run demo` is run by test/cli. */
const SET_UP = [
  "npm ci && npm run demo",
  "npm ci && npm test",
  "npm ci && npm install --global .",
  "npm run bench",
  "bash .ci/run",
  "npm run format",
  "npm run docs:api",
];

const scratch = mkdtempSync(join(tmpdir(), "graduate-docs-"));
symlinkSync(join(root, "datasets"), join(scratch, "datasets"));
// What the recipes of docs/audit-any-model.md write; tables are known by their bytes, not by their names.
for (const name of ["coxph", "lifelines", "scikit-survival", "pycox"]) {
  symlinkSync(join(root, "test", "recipes", `${name}.csv.gz`), join(scratch, `${name}.csv`));
}
for (const name of ["heart", "mgus2"]) {
  symlinkSync(join(root, "test", "tables", `${name}.csv`), join(scratch, `${name}.csv`));
}
const modules = join(root, "dist", "docs-examples");
mkdirSync(modules, { recursive: true });
afterAll(() => {
  rmSync(scratch, { recursive: true });
  rmSync(modules, { recursive: true });
});

interface Example {
  readonly title: string;
  readonly language: string;
  readonly code: string;
}

const examples: Example[] = pages.flatMap((page) => {
  const text = readFileSync(join(root, page), "utf8");
  return [...text.matchAll(/^```(\w*)\n([\s\S]*?)^```/gm)].map((match, k) => ({
    title: `${page} #${k + 1} (${match[1]})`,
    language: match[1],
    code: match[2],
  }));
});

test.each(pages)("%s says how to install before it says npx graduate", (page) => {
  // without an install npx would fetch the package that has this name on the public registry: another one
  const text = readFileSync(join(root, page), "utf8");
  const before = text.slice(0, Math.max(0, text.indexOf("npx graduate")));
  if (text.includes("npx graduate")) expect(before).toMatch(/npm (ci|install)/);
});

/** A command line as a shell cuts it. Whatever else a shell does has no place in an example. */
function splitWords(line: string): string[] {
  expect(line).toMatch(/^(?:(?:"[^"$`\\]*"|'[^']*'|[\w./:=,+-]+)(?: +|$))+$/);
  const words = line.matchAll(/"([^"]*)"|'([^']*)'|([^\s"']+)/g);
  return [...words].map(([, double, single, bare]) => double ?? single ?? bare);
}

const ran = new Map<string, CliResult>();

/** Runs a command; one that several pages show, and that reads no model of an example before it, only once. */
function runLine(args: readonly string[]): CliResult {
  const line = args.join(" ");
  const known = ran.get(line);
  if (known !== undefined) return known;
  const result = runCli(args, "", scratch);
  if (!line.includes(".model")) ran.set(line, result);
  return result;
}

/** In the package's own folder, so that `import "graduate-survival"` finds it. */
function examplePath(title: string): string {
  return join(modules, `${title.replace(/\W+/g, "-")}.mts`);
}

/** Milliseconds: the first of the TypeScript examples waits for all of them. */
const PATIENCE = 300_000;
const END = "end of an example";
let printed: ReadonlyMap<string, string> | null = null;

/**
 * What an example prints. All of them run one after another in one process, as modules that know nothing of each other.
 */
function printedBy(title: string): string {
  printed ??= runModules(examples.filter(({ language }) => language === "ts"));
  return printed.get(title) ?? "";
}

function runModules(all: readonly Example[]): ReadonlyMap<string, string> {
  const compilerOptions = { module: ts.ModuleKind.ESNext, target: ts.ScriptTarget.ES2023 };
  const programs = all.map((example) => {
    const program = examplePath(example.title).replace(/mts$/, "mjs");
    writeFileSync(program, ts.transpileModule(example.code, { compilerOptions }).outputText);
    return pathToFileURL(program).href;
  });
  const script = programs.map(
    (program) => `await import(${JSON.stringify(program)}).catch((error) => console.log(error));
      console.log(${JSON.stringify(END)});`,
  );
  const args = ["--input-type=module", "--eval", script.join("\n")];
  const { stdout } = spawnSync(process.execPath, args, { cwd: scratch, encoding: "utf8" });
  const outputs = stdout.split(`${END}\n`);
  return new Map(all.map(({ title }, k) => [title, (outputs[k] ?? "").trimEnd()]));
}

describe("documentation examples", () => {
  test("the TypeScript ones have no type errors", () => {
    const paths = examples
      .filter(({ language }) => language === "ts")
      .map(({ title, code }) => {
        writeFileSync(examplePath(title), code);
        return examplePath(title);
      });
    const program = ts.createProgram(paths, {
      module: ts.ModuleKind.NodeNext,
      target: ts.ScriptTarget.ES2023,
      lib: ["lib.es2023.d.ts"],
      types: ["node"],
      strict: true,
      noEmit: true,
      skipLibCheck: true,
    });
    const problems = ts.getPreEmitDiagnostics(program).map(({ file, messageText }) => {
      return `${file?.fileName ?? ""}: ${ts.flattenDiagnosticMessageText(messageText, " ")}`;
    });
    expect(problems).toEqual([]);
  });

  test.each(examples)(
    "$title",
    ({ language, code, title }) => {
      switch (language) {
        case "sh": {
          const commands = code.replace(/\\\n\s*/g, " ").split("\n");
          for (const line of commands.filter((text) => text.trim() !== "" && !text.startsWith("#"))) {
            if (SET_UP.includes(line)) continue;
            const [program, ...args] = splitWords(line.replace(/^npx graduate /, "graduate "));
            expect(program, "only graduate's own commands and the set-up lines").toBe("graduate");
            const { code, stdout, stderr } = runLine(args);
            expect(code, stderr).toBe(0);
            expect(stdout.length).toBeGreaterThan(0);
          }
          return;
        }
        case "ts": {
          // What a console.log line promises in its comment is what it prints.
          const promised = [...code.matchAll(/^console\.log\(.*\); \/\/ (.*)$/gm)].map((match) => match[1]);
          expect(promised.length, "an example shows what it prints").toBeGreaterThan(0);
          expect(printedBy(title).split("\n")).toEqual(promised);
          return;
        }
        case "json":
          expect(() => JSON.parse(code)).not.toThrow();
          return;
        // A page is opened by test/browser; Python and R are held against files by test/files/onnx.test.ts and
        // test/recipes.
        case "html":
        case "python":
        case "r":
        case "text":
          return;
        default:
          throw new Error(`${title}: a fenced block names sh, ts, json, html, python, r or text`);
      }
    },
    PATIENCE,
  );
});

/** Lines of commands in blocks that no test can run: their tables, machines or pages are the reader's own. */
const told = examples
  .filter(({ language }) => language === "text")
  .flatMap(({ title, code }) =>
    code
      .replace(/\\\n\s*/g, " ")
      .split("\n")
      .filter((line) => /^(?:npx )?graduate [a-z]/.test(line))
      .map((line) => ({
        title,
        line: line
          .replace(/^npx /, "")
          .replace(/ {2,}.*$/, "")
          .replace(/ > .*$/, ""),
      })),
  );

describe("commands that are shown and not run", () => {
  test.each(told)("$title: $line", ({ line }) => {
    const [, command] = line.split(" ");
    const help = runLine([command, "--help", "all"]).stdout;
    const options = [...line.matchAll(/ (--[a-z][a-z-]*)/g)].map(([, option]) => option);
    const known = new Set(help.match(/--[a-z][a-z-]*/g));
    expect(options.filter((option) => !known.has(option))).toEqual([]);
  });
});

describe("links", () => {
  test.each(pages)("%s leads somewhere", (page) => {
    const text = readFileSync(join(root, page), "utf8").replace(/^```[\s\S]*?^```/gm, "");
    const targets = [...text.matchAll(/\]\(([^)\s]+)\)/g)].map((match) => match[1].replace(/#.*$/, ""));
    const broken = targets
      .filter((target) => target !== "" && !/^[a-z]+:/.test(target))
      .filter((target) => !existsSync(join(root, dirname(page), target)));
    expect(broken).toEqual([]);
  });
});
