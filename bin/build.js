// Compiles src/ to dist/ when a source is newer than the last build; in an installed package (no sources) it does
// nothing. src/compute/wasm/kernels is AssemblyScript: asc compiles it twice, with plain and with relaxed SIMD, when it
// has changed. The workspaces paper/ and studio/, whose sources only a checkout has, are built after it (--paper,
// --studio), by who needs them; the studio's build is part of the package.
import { spawnSync } from "node:child_process";
import {
  existsSync,
  mkdirSync,
  readdirSync,
  readFileSync,
  renameSync,
  rmSync,
  statSync,
  writeFileSync,
} from "node:fs";
import { createRequire } from "node:module";
import { dirname, join } from "node:path";
import { fileURLToPath } from "node:url";

const root = dirname(dirname(fileURLToPath(import.meta.url)));
/** What is compiled: its sources, where to, the configurations that decide how, and the compiler's options. */
const PRODUCT = {
  sources: join(root, "src"),
  target: join(root, "dist"),
  configs: [
    "package.json",
    "tsconfig.base.json",
    "tsconfig.core.json",
    "tsconfig.node.json",
    "tsconfig.json",
  ],
  compile: (force) => ["-b", join(root, "tsconfig.json"), ...(force ? ["--force"] : [])],
};
const PAPER = {
  sources: join(root, "paper", "src"),
  target: join(root, "paper", "dist"),
  configs: ["paper/package.json", "paper/tsconfig.json", "tsconfig.base.json"],
  compile: () => ["-p", join(root, "paper", "tsconfig.json")],
};

/** The page: Vite makes it of its own sources and of what is compiled of the product's. */
const STUDIO = {
  sources: join(root, "studio", "src"),
  target: join(root, "studio", "dist"),
  configs: [
    "studio/package.json",
    "studio/index.html",
    "studio/vite.config.ts",
    "studio/public/add-headers.js",
  ],
};

const stampOf = ({ target }) => join(target, ".built");

function newestChange(folder) {
  let newest = 0;
  for (const entry of readdirSync(folder, { withFileTypes: true, recursive: true })) {
    if (entry.isFile()) newest = Math.max(newest, statSync(join(entry.parentPath, entry.name)).mtimeMs);
  }
  return newest;
}

function isFresh(part) {
  if (!existsSync(stampOf(part))) return false;
  const built = statSync(stampOf(part)).mtimeMs;
  return (
    newestChange(part.sources) <= built &&
    part.configs.every((file) => statSync(join(root, file)).mtimeMs <= built)
  );
}

const KERNEL_MODULES = [
  { file: "kernels-plain.wasm", features: [] },
  { file: "kernels-relaxed.wasm", features: ["--enable", "relaxed-simd"] },
];

/** 65536 pages of 64 KiB: the memory a kernel is given may be any up to the 4 GiB it can address. */
const KERNEL_OPTIONS = [
  ...["-O3", "--converge", "--noAssert", "--runtime", "stub", "--enable", "simd", "--enable", "threads"],
  ...["--importMemory", "--sharedMemory", "--initialMemory", "1", "--maximumMemory", "65536"],
];

function findTool(path) {
  try {
    return createRequire(import.meta.url).resolve(path);
  } catch {
    process.stderr.write(
      `graduate: ${path.split("/")[0]} is not installed; \`npm ci\` installs what the build needs\n`,
    );
    process.exit(70);
  }
}

function buildKernels(force) {
  const kernels = join(root, "src", "compute", "wasm", "kernels");
  const folder = join(root, "dist", "compute");
  const asc = findTool("assemblyscript/bin/asc.js");
  const changed = newestChange(kernels);
  mkdirSync(folder, { recursive: true });
  for (const { file, features } of KERNEL_MODULES) {
    const target = join(folder, file);
    if (!force && existsSync(target) && statSync(target).mtimeMs >= changed) continue;
    // Written beside and moved, so that no reader ever meets half a module.
    const unfinished = `${target}.${process.pid}`;
    const args = [asc, join(kernels, "module.ts"), "-o", unfinished, ...KERNEL_OPTIONS, ...features];
    const result = spawnSync(process.execPath, args, { cwd: root, stdio: ["ignore", "pipe", "pipe"] });
    if (result.status !== 0) {
      process.stderr.write(result.stdout);
      process.stderr.write(result.stderr);
      return false;
    }
    renameSync(unfinished, target);
  }
  return true;
}

function fail() {
  process.stderr.write("graduate: the build failed (see above); `npm ci` installs what it needs\n");
  process.exit(70);
}

/** Modules whose source has moved or gone: nothing that is built is without its source. */
function removeStale({ sources, target }) {
  for (const name of readdirSync(target, { recursive: true, encoding: "utf8" })) {
    const match = /^(.*)\.(?:d\.ts|js)$/.exec(name);
    if (match && !existsSync(join(sources, `${match[1]}.ts`))) rmSync(join(target, name), { force: true });
  }
}

/** Messages go to stderr: stdout belongs to the command that is about to run. */
function compile(part, started, force) {
  const args = [findTool("typescript/bin/tsc"), ...part.compile(force)];
  const result = spawnSync(process.execPath, args, { cwd: root, stdio: ["ignore", 2, 2] });
  if (result.status !== 0) fail();
  removeStale(part);
  writeFileSync(stampOf(part), `${started.toISOString()}\n`);
}

/** Builds the product if needed. */
export function ensureBuilt({ force = false } = {}) {
  if (!existsSync(join(root, "tsconfig.json"))) return;
  if (!force && isFresh(PRODUCT)) return;
  process.stderr.write("graduate: building from source\n");
  const started = new Date();
  if (!buildKernels(force)) fail();
  compile(PRODUCT, started, force);
}

/** Whether this is a checkout, which has the paper's workspace; an installed package has not. */
export function hasPaper() {
  return existsSync(PAPER.sources);
}

/** Builds the paper's workspace if needed: a change of the product may change what it is compiled against. */
export function ensurePaperBuilt({ force = false } = {}) {
  if (!hasPaper()) return;
  const product = statSync(stampOf(PRODUCT)).mtimeMs;
  if (!force && isFresh(PAPER) && statSync(stampOf(PAPER)).mtimeMs >= product) return;
  process.stderr.write("graduate: building the paper's experiments\n");
  compile(PAPER, new Date(), force);
}

/** Builds the page if needed: a change of the product is a change of what runs in it. */
export function ensureStudioBuilt({ force = false } = {}) {
  if (!existsSync(STUDIO.sources)) return;
  const product = statSync(stampOf(PRODUCT)).mtimeMs;
  if (!force && isFresh(STUDIO) && statSync(stampOf(STUDIO)).mtimeMs >= product) return;
  process.stderr.write("graduate: building the studio\n");
  const started = new Date();
  const vite = join(dirname(findTool("vite/package.json")), "bin", "vite.js");
  const args = [vite, "build", join(root, "studio"), "--logLevel", "error"];
  const result = spawnSync(process.execPath, args, { cwd: root, stdio: ["ignore", 2, 2] });
  if (result.status !== 0) fail();
  writeFileSync(stampOf(STUDIO), `${started.toISOString()}\n`);
}

/** A compiled module without its comments, by TypeScript's own printer. */
export function withoutComments(ts, text) {
  const compilerOptions = {
    target: ts.ScriptTarget.ES2023,
    module: ts.ModuleKind.ESNext,
    removeComments: true,
    verbatimModuleSyntax: true,
  };
  return ts.transpileModule(text, { compilerOptions, fileName: "module.js" }).outputText;
}

/**
 * For the package: comments of the compiled modules are a tenth of it. Declarations keep theirs, which is where
 * editors look; the next build of a changed source puts its module's back.
 */
async function stripComments() {
  const { default: ts } = await import("typescript");
  const folder = join(root, "dist");
  for (const name of readdirSync(folder, { recursive: true, encoding: "utf8" })) {
    if (!name.endsWith(".js")) continue;
    const path = join(folder, name);
    // Written beside and moved, so that no reader ever meets half a module.
    const unfinished = `${path}.${process.pid}`;
    writeFileSync(unfinished, withoutComments(ts, readFileSync(path, "utf8")));
    renameSync(unfinished, path);
  }
}

if (process.argv[1] === fileURLToPath(import.meta.url)) {
  const force = process.argv.includes("--force");
  ensureBuilt({ force });
  if (process.argv.includes("--paper")) ensurePaperBuilt({ force });
  if (process.argv.includes("--studio") || process.argv.includes("--for-package"))
    ensureStudioBuilt({ force });
  if (process.argv.includes("--for-package")) await stripComments();
}
