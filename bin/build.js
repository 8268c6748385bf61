// Compiles src/ to dist/ when a source is newer than the last build; in an installed package (no sources) it does nothing.
import { spawnSync } from "node:child_process";
import { existsSync, readdirSync, statSync, writeFileSync } from "node:fs";
import { createRequire } from "node:module";
import { dirname, join } from "node:path";
import { fileURLToPath } from "node:url";

const root = dirname(dirname(fileURLToPath(import.meta.url)));
const stamp = join(root, "dist", ".built");

function newestChange(folder) {
  let newest = 0;
  for (const entry of readdirSync(folder, { withFileTypes: true, recursive: true })) {
    if (entry.isFile()) newest = Math.max(newest, statSync(join(entry.parentPath, entry.name)).mtimeMs);
  }
  return newest;
}

function isFresh() {
  if (!existsSync(stamp)) return false;
  const built = statSync(stamp).mtimeMs;
  const configs = ["package.json", "tsconfig.base.json", "tsconfig.core.json", "tsconfig.node.json"];
  return (
    newestChange(join(root, "src")) <= built && configs.every((f) => statSync(join(root, f)).mtimeMs <= built)
  );
}

/** Builds if needed. Messages go to stderr: stdout belongs to the command that is about to run. */
export function ensureBuilt({ force = false } = {}) {
  if (!existsSync(join(root, "tsconfig.json"))) return;
  if (!force && isFresh()) return;
  process.stderr.write("graduate: building from source\n");
  const started = new Date();
  const tsc = createRequire(import.meta.url).resolve("typescript/bin/tsc");
  const args = [tsc, "-b", join(root, "tsconfig.json"), ...(force ? ["--force"] : [])];
  const result = spawnSync(process.execPath, args, { cwd: root, stdio: ["ignore", 2, 2] });
  if (result.status !== 0) {
    process.stderr.write("graduate: the build failed (see above); `npm ci` installs what it needs\n");
    process.exit(70);
  }
  writeFileSync(stamp, `${started.toISOString()}\n`);
}

if (process.argv[1] === fileURLToPath(import.meta.url))
  ensureBuilt({ force: process.argv.includes("--force") });
