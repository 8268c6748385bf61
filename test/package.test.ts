// What npm would publish: small, whole (every page the README links to, every module another one imports), and without
// result lines.
import { execFileSync } from "node:child_process";
import { existsSync, readFileSync } from "node:fs";
import { dirname, join, posix } from "node:path";
import { gzipSync } from "node:zlib";
import ts from "typescript";
import { describe, expect, test } from "vitest";
import { root } from "./cli/run-cli.ts";

const { withoutComments }: { withoutComments(compiler: typeof ts, text: string): string } = await import(
  new URL("../bin/build.js", import.meta.url).href
);

/** Bytes of the tarball: the library with its pages and tables, … */
const LIBRARY_BYTES = 1_660_000;
/** … and the studio's build: Plot and the library twice (page and worker), linkedom and Parquet's codecs. */
const STUDIO_BYTES = 700_000;
const MOST_BYTES = LIBRARY_BYTES + STUDIO_BYTES;

/** Of a tar file. */
const BLOCK = 512;

interface Packed {
  readonly files: readonly { readonly path: string }[];
}

const shell = process.platform === "win32";
const listed = execFileSync("npm", ["pack", "--dry-run", "--json", "--ignore-scripts"], {
  cwd: root,
  encoding: "utf8",
  shell,
  stdio: ["ignore", "pipe", "ignore"],
});
const [packed] = JSON.parse(listed) as readonly Packed[];
const paths = new Set(packed.files.map(({ path }) => path));

const END = '"end of a module";\n';

/**
 * The files' contents as `npm run prepack` leaves them; that itself would change the modules under the other tests. The
 * compiler takes all modules at once, as one text.
 */
function contentsOf(files: readonly string[]): ReadonlyMap<string, Buffer> {
  const contents = new Map(files.map((path) => [path, readFileSync(join(root, path))]));
  const modules = files.filter((path) => path.startsWith("dist/") && path.endsWith(".js"));
  const text = modules.map((path) => `${contents.get(path)}\n${END}`).join("");
  const stripped = withoutComments(ts, text).split(END);
  expect(stripped).toHaveLength(modules.length + 1);
  modules.forEach((path, k) => {
    contents.set(path, Buffer.from(stripped[k]));
  });
  return contents;
}

/** Relative links and pictures of a page, as paths of the package. */
function linksOf(page: string): string[] {
  const text = readFileSync(join(root, page), "utf8");
  return [...text.matchAll(/\]\(([^)\s#]+)[^)]*\)/g)]
    .map(([, target]) => target)
    .filter((target) => !/^[a-z]+:/.test(target))
    .map((target) => posix.normalize(posix.join(dirname(page), target)));
}

const isPacked = (target: string) =>
  paths.has(target) || [...paths].some((path) => path.startsWith(`${target.replace(/\/$/, "")}/`));

describe("the package", () => {
  test(`takes less than ${MOST_BYTES / 1e6} MB`, () => {
    const parts = [...contentsOf([...paths].sort())].flatMap(([path, content]) => {
      const head = Buffer.alloc(BLOCK);
      head.write(`package/${path} ${content.length}`);
      return [head, content, Buffer.alloc((BLOCK - (content.length % BLOCK)) % BLOCK)];
    });
    const { length } = gzipSync(Buffer.concat(parts), { level: 9 });
    expect(length).toBeGreaterThan(MOST_BYTES / 2);
    expect(length).toBeLessThan(MOST_BYTES);
  });

  test("holds no result lines and nothing of the paper's runs", () => {
    expect([...paths].filter((path) => path.endsWith(".jsonl") || path.startsWith("paper/"))).toEqual([]);
  });

  test("holds what its README links to, and the pictures of those pages", () => {
    const links = linksOf("README.md");
    expect(links.length).toBeGreaterThan(5);
    expect(links.filter((target) => !isPacked(target))).toEqual([]);
    const pages = links.filter((target) => target.endsWith(".md"));
    const pictures = pages.flatMap(linksOf).filter((target) => /\.(svg|png)$/.test(target));
    expect(pictures.filter((target) => !isPacked(target))).toEqual([]);
  });

  test("holds every module that another one imports", () => {
    const missing = [...paths]
      .filter((path) => path.startsWith("dist/") && path.endsWith(".js"))
      .flatMap((path) => {
        const text = readFileSync(join(root, path), "utf8");
        const targets = [...text.matchAll(/^(?:import|export)\b[^;]*?from "(\.[^"]+)";$/gm)].map(
          ([, to]) => to,
        );
        return targets.map((to) => posix.normalize(posix.join(dirname(path), to)));
      });
    // what the sources no longer have may be left in dist/ from an earlier build
    const current = missing.filter((target) => existsSync(join(root, target)) && !paths.has(target));
    expect(current).toEqual([]);
  });

  test("holds what its exports name", () => {
    const { exports } = JSON.parse(readFileSync(join(root, "package.json"), "utf8")) as {
      exports: Record<string, string | { types: string; default: string }>;
    };
    const named = Object.values(exports).flatMap((one) =>
      typeof one === "string" ? [one] : Object.values(one),
    );
    const files = named.filter((path) => !path.includes("*")).map((path) => path.replace(/^\.\//, ""));
    expect(files.filter((path) => !paths.has(path))).toEqual([]);
  });
});
