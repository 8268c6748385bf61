// The workspace uses the product as anybody does: by its public subpaths, which lead to this checkout and to no
// registry.
import { readdirSync, readFileSync, realpathSync } from "node:fs";
import { createRequire } from "node:module";
import { dirname, join, relative, resolve } from "node:path";
import { describe, expect, test } from "vitest";
import { root } from "../../test/cli/run-cli.ts";
import { codeOf, ENGINES_OWN, importsOf } from "../../test/source-rules.ts";

const paper = join(root, "paper");
const read = (...path: readonly string[]) => readFileSync(join(root, ...path), "utf8");
const filesOf = (folder: string) =>
  readdirSync(join(paper, folder), { recursive: true, encoding: "utf8" })
    .filter((file) => file.endsWith(".ts"))
    .map((file) => join(folder, file));
const sources = filesOf("src");

interface PackageFile {
  readonly exports: Readonly<Record<string, unknown>>;
  readonly dependencies: Readonly<Record<string, string>>;
  readonly private: boolean;
}
const product = JSON.parse(read("package.json")) as PackageFile;
const own = JSON.parse(read("paper", "package.json")) as PackageFile;

describe("imports", () => {
  const subpaths = Object.keys(product.exports).map((path) => path.replace(/^\./, "graduate-survival"));

  test.each(sources)("%s imports its own modules, public subpaths and what package.json names", (file) => {
    for (const specifier of importsOf(read("paper", file))) {
      if (specifier.startsWith(".")) {
        expect(specifier, "relative imports carry their extension").toMatch(/\.ts$/);
        const target = relative(join(paper, "src"), resolve(paper, dirname(file), specifier));
        expect(target.startsWith(".."), `${file} → ${specifier}`).toBe(false);
      } else if (/^graduate-survival(\/|$)/.test(specifier)) expect(subpaths).toContain(specifier);
      else if (!specifier.startsWith("node:")) expect(Object.keys(own.dependencies)).toContain(specifier);
    }
  });

  test.each(filesOf("test"))(
    "%s reaches into neither the product's sources nor what is built of them",
    (file) => {
      for (const specifier of importsOf(read("paper", file))) {
        if (!specifier.startsWith(".")) continue;
        const target = relative(root, resolve(paper, dirname(file), specifier));
        expect(target, `${file} → ${specifier}`).toMatch(/^(paper\/(src|test)|test)\//);
      }
    },
  );
});

describe("the product that is linked", () => {
  test("is a path in package.json and a link in the lock file, never a version", () => {
    expect(own.private).toBe(true);
    expect(own.dependencies["graduate-survival"]).toBe("file:..");
    const lock = JSON.parse(read("package-lock.json")) as { readonly packages: Record<string, unknown> };
    const named = Object.keys(lock.packages).filter((path) =>
      /(^|\/)node_modules\/graduate-survival$/.test(path),
    );
    expect(named).toEqual(["node_modules/graduate-survival"]);
    expect(lock.packages["node_modules/graduate-survival"]).toEqual({ resolved: "", link: true });
  });

  test("is this checkout", () => {
    const { resolve: find } = createRequire(join(paper, "package.json"));
    expect(realpathSync(find("graduate-survival/package.json"))).toBe(
      realpathSync(join(root, "package.json")),
    );
  });
});

/** What draws people, and what is fitted to them. */
const DETERMINED = sources.filter((file) =>
  /^src\/eye\/(draw|generator-fit|law|membership|proxy|simulate|survival)\.ts$/.test(file),
);

test.each(DETERMINED)("%s takes exp, log and powers from graduate-survival/core", (file) => {
  const lines = codeOf(read("paper", file)).split("\n");
  expect(lines.filter((line) => ENGINES_OWN.test(line))).toEqual([]);
});

test("of the simulated people's files all seven are held", () => expect(DETERMINED).toHaveLength(7));
