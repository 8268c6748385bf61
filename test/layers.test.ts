// The table of who may import whom, held against the sources; and what no module outside src/node may touch.
import { readdirSync, readFileSync } from "node:fs";
import { dirname, join, relative, resolve } from "node:path";
import { fileURLToPath } from "node:url";
import { describe, expect, test } from "vitest";
import { codeOf, ENGINES_OWN, importsOf } from "./source-rules.ts";

const src = fileURLToPath(new URL("../src/", import.meta.url));

/**
 * Room → rooms it may import from (besides itself). index.ts, what the package is, may import anything but Node's own, as
 * may the room of its functions, `library`.
 */
const MAY_IMPORT: Record<string, readonly string[]> = {
  core: [],
  data: ["core"],
  compute: ["core"],
  stats: ["core", "data"],
  models: ["core", "compute", "data"],
  objectives: ["core", "data", "stats", "compute"],
  study: ["core", "data", "stats", "compute", "models"],
  training: ["core", "data", "stats", "compute", "models", "objectives", "study"],
  repair: ["core", "data", "stats", "compute", "models", "objectives", "study", "training"],
  files: ["core", "data", "models", "study", "training", "repair"],
  verbs: ["core", "data", "stats", "compute", "models", "objectives", "study", "training", "repair", "files"],
  // Of training the verdicts and the words of choices: a page must not name a distance of its own.
  report: ["core", "stats", "training"],
  browser: ["core", "compute", "verbs"],
  library: [
    "core",
    "data",
    "stats",
    "compute",
    "models",
    "objectives",
    "study",
    "training",
    "repair",
    "files",
    "verbs",
    "report",
    "browser",
  ],
  node: [
    "core",
    "data",
    "stats",
    "compute",
    "models",
    "objectives",
    "study",
    "training",
    "repair",
    "files",
    "verbs",
    "report",
    "library",
  ],
};

/**
 * Rooms of which a room may import types alone. A report shows results, so it takes their types from where they are
 * made and has none of its own; it calls nothing there.
 */
const MAY_IMPORT_TYPES: Record<string, readonly string[]> = {
  report: ["data", "study", "training", "verbs"],
};

const files = readdirSync(src, { recursive: true, encoding: "utf8" }).filter((file) => file.endsWith(".ts"));

function roomOf(path: string): string {
  const parts = relative(src, path).split("/");
  return parts.length === 1 ? "library" : parts[0];
}

/** Of its imports, the ones that are gone when the file runs. */
function typeImportsOf(text: string): string[] {
  return [...text.matchAll(/\bimport type\s[^;]*?from\s*"([^"]+)"/g)].map((match) => match[1]);
}

describe("import directions", () => {
  test.each(files)("%s imports only what its room may", (file) => {
    const path = join(src, file);
    const room = roomOf(path);
    const text = readFileSync(path, "utf8");
    const all = importsOf(text);
    const types = typeImportsOf(text);
    const times = (among: readonly string[], one: string) => among.filter((other) => other === one).length;
    for (const specifier of all) {
      if (!specifier.startsWith(".")) continue;
      expect(specifier, "relative imports carry their extension").toMatch(/\.ts$/);
      const target = roomOf(resolve(dirname(path), specifier));
      if (target === room) continue;
      const isType = times(types, specifier) === times(all, specifier);
      const mayTake = isType ? (MAY_IMPORT_TYPES[room] ?? []) : [];
      expect([...MAY_IMPORT[room], ...mayTake], `${file} → ${specifier}`).toContain(target);
    }
  });

  test.each(files.filter((file) => !file.startsWith("node/")))("%s runs in a browser", (file) => {
    const text = readFileSync(join(src, file), "utf8");
    for (const specifier of importsOf(text)) expect(specifier).not.toMatch(/^node:|^linkedom|^commander/);
    expect(codeOf(text)).not.toMatch(
      /\b(process|Buffer|console|Math\.random|Date\.now|performance)\b(?!["'])/,
    );
  });

  test("text leaves the program in one place, where it is made safe", () => {
    const writers = files.filter((file) =>
      /process\.std(?:out|err)\.write|console\.|writeSync\(1/.test(
        codeOf(readFileSync(join(src, file), "utf8")),
      ),
    );
    expect(writers).toEqual(["node/print/output.ts"]);
  });

  test("files are written in one place, and grow in one other", () => {
    const writes =
      /\b(?:writeFile|appendFile|createWriteStream|rename)(?:Sync)?\b|\bopen(?:Sync)?\([^)]*"(?:[wa]|r\+)/;
    const writers = files.filter((file) => writes.test(codeOf(readFileSync(join(src, file), "utf8"))));
    // A pipe that has to be read twice goes into a temporary file of its own; a lock is made in one exclusive step.
    expect(writers.sort()).toEqual([
      "node/io/file-lock.ts",
      "node/io/growing-file.ts",
      "node/io/input-file.ts",
      "node/io/run-results.ts",
    ]);
  });

  test.each(files)("%s knows nothing of the private workspaces", (file) => {
    const foreign = importsOf(codeOf(readFileSync(join(src, file), "utf8"))).filter(
      (specifier) => /^graduate(-|\/|$)/.test(specifier) || /(^|\/)(paper|studio)\//.test(specifier),
    );
    expect(foreign).toEqual([]);
  });

  test("an index only exports", () => {
    for (const file of files.filter((name) => name.endsWith("index.ts"))) {
      const code = codeOf(readFileSync(join(src, file), "utf8")).replace(
        /export[\s\S]*?from\s*"[^"]+";/g,
        "",
      );
      expect(code.trim(), file).toBe("");
    }
  });
});

/** Rooms whose numbers can reach a model file, a checkpoint or a prediction. */
const DETERMINED = files.filter((file) => !/^(report|compute\/wasm\/kernels)\//.test(file));

describe("the same bits on every engine", () => {
  test.each(DETERMINED)("%s takes exp, log and powers from core/elementary.ts", (file) => {
    const lines = codeOf(readFileSync(join(src, file), "utf8")).split("\n");
    expect(lines.filter((line) => ENGINES_OWN.test(line))).toEqual([]);
  });

  test("the rule sees what it forbids, and 2 ** 31 is not it", () => {
    const forbidden = [
      "Math.exp(x)",
      "Math.pow(x, 2)",
      "Math.hypot(a, b)",
      "Math.tanh(x)",
      "x ** 2",
      "x ** 0.5",
      "2 ** k",
    ];
    for (const code of [...forbidden, "2 ** 0.5", "12 ** 2", "10 ** 3", "Math.atan2(y, x)"]) {
      expect(code).toMatch(ENGINES_OWN);
    }
    for (const code of [
      "2 ** 31",
      "2 ** 45) / 2 ** 45",
      "Math.sqrt(x)",
      "Math.LN2",
      "exp(x)",
      "Math.floor(x)",
    ]) {
      expect(code).not.toMatch(ENGINES_OWN);
    }
  });
});
