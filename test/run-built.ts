// Tests name the sources, and run what is built of them: the modules that ship. The engine runs these as they stand,
// while modules that Vitest compiles reach each other's functions through getters, which is slow where it is numbers
// that are computed. Whatever is not up to date is built first, so that a test never runs what a source was before.
import { spawnSync } from "node:child_process";
import { existsSync } from "node:fs";
import { dirname, relative, resolve, sep } from "node:path";
import { fileURLToPath } from "node:url";
import type { Plugin } from "vitest/config";

const root = fileURLToPath(new URL("../", import.meta.url));

/** Where the module is that is built of a source, or null for any other file. */
function builtFrom(path: string): string | null {
  const named = relative(root, path).split(sep).join("/");
  const built = named.replace(/^(paper\/)?src\/(.*)\.ts$/, "$1dist/$2.js");
  return built !== named && existsSync(resolve(root, built)) ? resolve(root, built) : null;
}

export function runBuilt(): Plugin {
  const { status } = spawnSync(process.execPath, ["bin/build.js", "--paper", "--studio"], {
    cwd: root,
    stdio: "inherit",
  });
  if (status !== 0) throw new Error("the build failed");
  return {
    name: "run-built",
    enforce: "pre",
    resolveId(source, importer) {
      if (importer === undefined || !source.startsWith(".")) return null;
      return builtFrom(resolve(dirname(importer), source));
    },
  };
}
