// The shortest program in a page: fit, audit and report open what they need. On a page that may share memory that is the
// wasm backend, whose threads end; elsewhere, and in a bare engine, the plain one.
import { mkdirSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { fileURLToPath } from "node:url";
import { createContext, runInContext } from "node:vm";
import type { Browser } from "playwright-core";
import { build } from "vite";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import type * as Graduate from "../../src/index.ts";
import { findChromium, launchChromium, WHY_SKIPPED } from "./chromium.ts";
import { buildImportMap } from "./import-map.ts";
import { type StaticServer, startServer } from "./static-server.ts";

const root = fileURLToPath(new URL("../../", import.meta.url));
const program = findChromium();
if (program === null) console.log(`a page is skipped: ${WHY_SKIPPED}`);

/** In Node, a page and a bare engine, by its text: it may use nothing but what it is given. */
async function shortest(graduate: typeof Graduate, text: string, report: boolean) {
  const bytes = new TextEncoder().encode(text);
  const table = await graduate.readTable(graduate.tableSourceFromBytes("gbsg.csv", bytes));
  const model = await graduate.fit(table, {
    time: "rfstime",
    event: "status",
    drop: ["pid"],
    bins: 6,
    network: "linear",
    ensemble: 1,
    options: { steps: 3 },
  });
  const audited = await graduate.modelFromBytes(model.toBytes(), "m").audit(table, { draws: 5 });
  const { median } = await graduate.predict(model, table, null, [0]);
  const { times } = await model.explain(table, 0, { at: [365], budget: 200 });
  const page = report ? await model.report(table, { draws: 5, replicates: 5 }) : "";
  return {
    backend: model.training.backend,
    n: audited.overall.n,
    rows: audited.rows,
    warnings: audited.warnings,
    numbers: median.length + times.length,
    page: page.slice(0, 15),
  };
}

const text = readFileSync(new URL("../tables/gbsg.csv", import.meta.url), "utf8");
const expected = {
  n: 138,
  rows: { which: "test rows", judged: 138 },
  warnings: ["the model was trained on this table: only its 138 test rows are judged"],
  numbers: 2,
};

/** The package bundled as an application would, into a folder of dist/ of its own. */
async function bundle(name: string, format: "es" | "iife"): Promise<string> {
  const folder = fileURLToPath(new URL(`../../dist/${name}/`, import.meta.url));
  mkdirSync(folder, { recursive: true });
  const code = 'import * as graduate from "../index.js";\nglobalThis.graduate = graduate;\n';
  writeFileSync(`${folder}entry.js`, code);
  await build({
    root: folder,
    base: "./",
    logLevel: "error",
    configFile: false,
    build: {
      outDir: "bundled",
      minify: false,
      target: "esnext",
      lib: { entry: "entry.js", formats: [format], name: "bare", fileName: () => "bundle.js" },
    },
  });
  return folder;
}

describe.skipIf(program === null)("in a page", () => {
  let server: StaticServer;
  let chromium: Browser;
  let folder: string;
  beforeAll(async () => {
    const imports = JSON.stringify({ imports: buildImportMap(root, ["graduate-survival"]) });
    const html = `<!doctype html><link rel="icon" href="data:,"><script type="importmap">${imports}</script>
      <script type="module">import * as graduate from "graduate-survival"; globalThis.graduate = graduate;</script>`;
    folder = await bundle("page-bundle", "es");
    const bundled =
      '<!doctype html><link rel="icon" href="data:,">' +
      '<script type="module" src="/dist/page-bundle/bundled/bundle.js"></script>';
    server = await startServer(root, {
      "/isolated.html": { html, isolated: true },
      "/ordinary.html": { html, isolated: false },
      "/bundled.html": { html: bundled, isolated: true },
    });
    chromium = await launchChromium(program ?? "");
  }, 60_000);
  afterAll(async () => {
    await chromium?.close();
    await server?.close();
    if (folder !== undefined) rmSync(folder, { recursive: true, force: true });
  });

  test.each([
    ["isolated", /^wasm/, false],
    ["ordinary", /^reference/, false],
    // Plot has modules that only a bundler takes.
    ["bundled", /^wasm/, true],
  ])("that is %s", async (kind, backend, report) => {
    const page = await (await chromium.newContext()).newPage();
    await page.goto(`${server.origin}/${kind}.html`);
    await expect
      .poll(() => page.evaluate("globalThis.graduate !== undefined"), { timeout: 30_000 })
      .toBe(true);
    const told = await page.evaluate(`(${shortest})(graduate, ${JSON.stringify(text)}, ${report})`);
    expect(told).toEqual({
      ...expected,
      backend: expect.stringMatching(backend),
      page: report ? "<!doctype html>" : "",
    });
    await expect.poll(() => page.workers().length, { timeout: 10_000 }).toBe(0);
    await page.close();
  });
});

describe("in a bare engine", () => {
  test("the package as one script, with nothing but the language and two coders of text", async () => {
    const folder = await bundle("bare-engine", "iife");
    const script = readFileSync(`${folder}bundled/bundle.js`, "utf8");
    rmSync(folder, { recursive: true });
    const context = createContext({ TextEncoder, TextDecoder });
    runInContext(script, context);
    const code = `(${shortest})(graduate, ${JSON.stringify(text)}, false)`;
    const told = (await runInContext(code, context)) as Awaited<ReturnType<typeof shortest>>;
    expect(JSON.parse(JSON.stringify(told))).toEqual({
      ...expected,
      backend: expect.stringMatching(/^reference/),
      page: "",
    });
    const refused = await runInContext(
      `graduate.plotKm({ groups: [], timeUnit: null, logrank: null }).catch(({ code, hint }) => [code, hint].join(": "))`,
      context,
    );
    expect(refused).toMatch(/^document\.none: .*linkedom/);
  }, 120_000);
});
