/**
 * How the page is built: static files that name each other by relative addresses, so that any host and any folder will
 * do. Vite's own compiler reads JSX; no plugin is needed. The policy is in the page too, for hosts that set no headers.
 */
import { copyFileSync, mkdirSync } from "node:fs";
import { PAGE_POLICY } from "graduate-survival/report";
import { defineConfig, type Plugin } from "vite";

const EXAMPLES = ["nwtco", "flchain"];

/** The tables to try, beside the page, as `graduate studio` serves them. */
function copyExamples(): Plugin {
  return {
    name: "copy-examples",
    writeBundle({ dir = "" }) {
      mkdirSync(`${dir}/datasets`, { recursive: true });
      for (const name of EXAMPLES) {
        copyFileSync(
          new URL(`../datasets/${name}/${name}.csv`, import.meta.url),
          `${dir}/datasets/${name}.csv`,
        );
      }
    },
  };
}

/** For hosts that send no policy of their own. */
function writePolicy(): Plugin {
  const attrs = { "http-equiv": "Content-Security-Policy", content: PAGE_POLICY };
  return {
    name: "write-policy",
    transformIndexHtml: () => [{ tag: "meta", attrs, injectTo: "head-prepend" }],
  };
}

export default defineConfig({
  base: "./",
  plugins: [copyExamples(), writePolicy()],
  oxc: { jsx: { runtime: "automatic", importSource: "preact" } },
  worker: { format: "es" },
  build: { outDir: "dist", target: "es2022", assetsInlineLimit: 0, modulePreload: false, emptyOutDir: true },
});
