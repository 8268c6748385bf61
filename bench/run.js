// Runs the benchmarks (all, or those whose name holds the first argument) and appends what was measured to history.jsonl.
// Every case checks its result before it is timed, and carries a baseline timed in the same run where there is one.
import { execFileSync } from "node:child_process";
import { appendFileSync, mkdirSync, readdirSync, readFileSync, writeFileSync } from "node:fs";
import { availableParallelism, cpus } from "node:os";
import { dirname, join } from "node:path";
import { fileURLToPath, pathToFileURL } from "node:url";
import ts from "typescript";

const here = dirname(fileURLToPath(import.meta.url));
// Beside dist/, so that a bench file's "../dist/…" imports resolve as they read.
const built = join(here, "..", ".bench");
mkdirSync(built, { recursive: true });

function compile(file) {
  const options = {
    module: ts.ModuleKind.ESNext,
    target: ts.ScriptTarget.ES2023,
    verbatimModuleSyntax: true,
    rewriteRelativeImportExtensions: true,
  };
  const { outputText } = ts.transpileModule(readFileSync(join(here, file), "utf8"), {
    compilerOptions: options,
  });
  const path = join(built, file.replace(/\.ts$/, ".js"));
  writeFileSync(path, outputText);
  return pathToFileURL(path).href;
}

const commit = execFileSync("git", ["rev-parse", "--short", "HEAD"], { cwd: here, encoding: "utf8" }).trim();
const machine = `${cpus()[0]?.model ?? "unknown"}, ${availableParallelism()} threads, Node ${process.versions.node}`;
const wanted = process.argv[2] ?? "";

// What benchmarks share.
for (const file of readdirSync(here).filter((name) => /^[^.]+\.ts$/.test(name))) compile(file);

for (const file of readdirSync(here)
  .filter((name) => name.endsWith(".bench.ts"))
  .sort()) {
  const { benches } = await import(compile(file));
  for (const bench of benches.filter(({ name }) => name.includes(wanted))) {
    const result = await bench.run();
    const ratio = result.baseline ? result.baseline.seconds / result.seconds : null;
    const against = ratio === null ? "" : `, ${ratio.toFixed(2)} × ${result.baseline.name}`;
    const more = Object.entries(result.extra ?? {}).map(([key, value]) => `, ${key} ${value}`);
    console.log(`${result.name}: ${result.seconds.toFixed(3)} s${against}${more.join("")}`);
    const line = { commit, date: new Date().toISOString().slice(0, 10), machine, ...result, ratio };
    appendFileSync(join(here, "history.jsonl"), `${JSON.stringify(line)}\n`);
  }
}
