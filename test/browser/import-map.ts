/**
 * The import map a page without a bundler needs: every bare specifier that is reached from the package's own entry
 * points, and from there on, with the address of the file a browser is to load. Addresses are paths below the project's
 * folder.
 */
import { existsSync, readFileSync } from "node:fs";
import { dirname, join } from "node:path";

/** The parts of a package.json that say which file a specifier means. */
interface Manifest {
  readonly name: string;
  readonly main?: string;
  readonly exports?: Exports;
}

type Exports = string | null | { readonly [key: string]: Exports };

const CONDITIONS = ["browser", "import", "default"];

const IMPORTS = /(?:^|[\s;}])(?:import|export)\s*(?:\(|[\w$*{}\s,]+?from)?\s*["']([^"'\n]+)["']/g;

function importsOf(path: string): string[] {
  const code = readFileSync(path, "utf8").replace(/\/\*[\s\S]*?\*\//g, "");
  return [...code.matchAll(IMPORTS)].map((match) => match[1]);
}

function chooseExport(exports: Exports): string | null {
  if (typeof exports === "string" || exports === null) return exports;
  for (const [condition, rest] of Object.entries(exports)) {
    const found = CONDITIONS.includes(condition) ? chooseExport(rest) : null;
    if (found !== null) return found;
  }
  return null;
}

/** `subpath` is "." or begins with "./". */
function fileOf({ name, main, exports }: Manifest, subpath: string): string {
  const isTable =
    typeof exports === "object" &&
    exports !== null &&
    Object.keys(exports).some((key) => key.startsWith("."));
  const table: Readonly<Record<string, Exports>> = isTable ? exports : { ".": exports ?? main ?? "index.js" };
  const file = chooseExport(table[subpath] ?? null);
  if (file === null) throw new Error(`${name} exports nothing for a browser as ${subpath}`);
  return file;
}

/** Specifier → path from the root of the project, beginning with "/". */
export function buildImportMap(root: string, entries: readonly string[]): Record<string, string> {
  const own = JSON.parse(readFileSync(join(root, "package.json"), "utf8")) as Manifest;
  const map: Record<string, string> = {};
  const seen = new Set<string>();

  function resolveBare(specifier: string): string {
    const parts = specifier.split("/");
    const name = parts.slice(0, specifier.startsWith("@") ? 2 : 1).join("/");
    const subpath = specifier === name ? "." : `.${specifier.slice(name.length)}`;
    if (name === own.name) return join("/", fileOf(own, subpath));
    const folder = join("/node_modules", name);
    const manifest = join(root, folder, "package.json");
    if (!existsSync(manifest)) throw new Error(`not installed: ${specifier}`);
    return join(folder, fileOf(JSON.parse(readFileSync(manifest, "utf8")) as Manifest, subpath));
  }

  function visit(path: string): void {
    if (seen.has(path)) return;
    seen.add(path);
    for (const specifier of importsOf(join(root, path))) {
      if (specifier.startsWith(".")) visit(join(dirname(path), specifier));
      else add(specifier);
    }
  }

  function add(specifier: string): void {
    if (!Object.hasOwn(map, specifier)) map[specifier] = resolveBare(specifier);
    visit(map[specifier]);
  }

  for (const entry of entries) add(entry);
  return map;
}
