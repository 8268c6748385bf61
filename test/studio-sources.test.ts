// The studio's sources: they use the product by its public subpaths alone, its two halves meet in one file, and the
// measures of the house hold there too.
import { readdirSync, readFileSync } from "node:fs";
import { dirname, join, relative, resolve } from "node:path";
import { describe, expect, test } from "vitest";
import { root } from "./cli/run-cli.ts";

const src = join(root, "studio", "src");
const files = readdirSync(src, { recursive: true, encoding: "utf8" }).filter((file) => /\.tsx?$/.test(file));
const read = (...path: readonly string[]) => readFileSync(join(root, ...path), "utf8");

interface PackageFile {
  readonly exports: Readonly<Record<string, unknown>>;
  readonly dependencies: Readonly<Record<string, string>>;
  readonly private: boolean;
}
const product = JSON.parse(read("package.json")) as PackageFile;
const own = JSON.parse(read("studio", "package.json")) as PackageFile;
const subpaths = Object.keys(product.exports).map((path) => path.replace(/^\./, "graduate-survival"));

/** Words in the text of a page are no imports. */
function importsOf(text: string): string[] {
  const found = text.matchAll(
    /^(?:import|export)\b[^;]*?\bfrom "([^"]+)";|\bimport\("([^"]+)"\)|^import "([^"]+)";/gm,
  );
  return [...found].map(([, from, lazily, bare]) => from ?? lazily ?? bare);
}

/** "page", "work", or "" for what both share. */
const halfOf = (file: string) => (file.includes("/") ? file.split("/")[0] : "");

describe("the studio's sources", () => {
  test.each(files)("%s imports its own half, public subpaths and what package.json names", (file) => {
    for (const specifier of importsOf(read("studio", "src", file))) {
      if (specifier.startsWith(".")) {
        const target = relative(src, resolve(src, dirname(file), specifier));
        expect(["", halfOf(file)], `${file} → ${specifier}`).toContain(halfOf(target));
      } else if (/^graduate-survival(\/|$)/.test(specifier)) expect(subpaths).toContain(specifier);
      else {
        const name = specifier.startsWith("@") ? specifier.split("/", 2).join("/") : specifier.split("/")[0];
        expect(Object.keys(own.dependencies)).toContain(name);
      }
    }
  });

  test("is private, and its product is this checkout", () => {
    expect(own.private).toBe(true);
    expect(own.dependencies["graduate-survival"]).toBe("file:..");
  });

  test("files are short and say what they are for; lines are short", () => {
    for (const file of files.filter((name) => !name.endsWith(".d.ts"))) {
      const lines = read("studio", "src", file).split("\n");
      expect(lines.length, file).toBeLessThanOrEqual(300);
      expect(lines[0], file).toMatch(/^\/\*\*/);
      expect(
        lines.filter((line) => [...line].length > 120),
        file,
      ).toEqual([]);
    }
  });
});
