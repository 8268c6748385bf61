// Every fenced example in the documentation is run: commands as they stand, TypeScript as modules, JSON by parsing it.
import { execFileSync } from "node:child_process";
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
import { fileURLToPath } from "node:url";
import ts from "typescript";
import { afterAll, describe, expect, test } from "vitest";

const root = fileURLToPath(new URL("..", import.meta.url));
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
  "npm run bench",
  "bash .ci/run",
  "npm run format",
  "npm run docs:api",
];

const scratch = mkdtempSync(join(tmpdir(), "graduate-docs-"));
symlinkSync(join(root, "datasets"), join(scratch, "datasets"));
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

function run(program: string, args: readonly string[]): string {
  return execFileSync(program, args, { cwd: scratch, encoding: "utf8", stdio: ["ignore", "pipe", "pipe"] });
}

/** In the package's own folder, so that `import "graduate"` finds it. */
function examplePath(title: string): string {
  return join(modules, `${title.replace(/\W+/g, "-")}.mts`);
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

  test.each(examples)("$title", ({ language, code, title }) => {
    switch (language) {
      case "sh": {
        const commands = code.replace(/\\\n\s*/g, " ").split("\n");
        for (const line of commands.filter((text) => text.trim() !== "" && !text.startsWith("#"))) {
          if (SET_UP.includes(line)) continue;
          expect(line, "only graduate's own commands and the set-up lines").toMatch(/^npx graduate /);
          const command = line.replace(
            /^npx graduate/,
            `"${process.execPath}" "${join(root, "bin", "graduate.js")}"`,
          );
          expect(run("bash", ["-c", `set -o pipefail; ${command}`]).length).toBeGreaterThan(0);
        }
        return;
      }
      case "ts": {
        const path = examplePath(title);
        const options = { module: ts.ModuleKind.ESNext, target: ts.ScriptTarget.ES2023 };
        const program = path.replace(/mts$/, "mjs");
        writeFileSync(program, ts.transpileModule(code, { compilerOptions: options }).outputText);
        // What a console.log line promises in its comment is what it prints.
        const promised = [...code.matchAll(/^console\.log\(.*\); \/\/ (.*)$/gm)].map((match) => match[1]);
        expect(promised.length, "an example shows what it prints").toBeGreaterThan(0);
        expect(run(process.execPath, [program]).trim().split("\n")).toEqual(promised);
        return;
      }
      case "json":
        expect(() => JSON.parse(code)).not.toThrow();
        return;
      // A page is opened by test/browser; Python and R are what test/files/onnx.test.ts holds against the exported file.
      case "html":
      case "python":
      case "r":
      case "text":
        return;
      default:
        throw new Error(`${title}: a fenced block names sh, ts, json, html, python, r or text`);
    }
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
