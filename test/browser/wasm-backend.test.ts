// The package's built files in a real page: the same training run as in Node; threads that end; pages and servers that
// cannot run it; the page shown in the documentation.
import { copyFileSync, mkdirSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { fileURLToPath } from "node:url";
import type { Browser, BrowserContext, Page } from "playwright-core";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import type { WasmBackend } from "../../src/compute/wasm/wasm-backend.ts";
import type * as Graduate from "../../src/index.ts";
import type * as NodeEntry from "../../src/node/index.ts";
import { findChromium, launchChromium, WHY_SKIPPED } from "./chromium.ts";
import { buildImportMap } from "./import-map.ts";
import { type StaticServer, startServer } from "./static-server.ts";

const root = fileURLToPath(new URL("../../", import.meta.url));
const program = findChromium();
if (program === null) console.log(`test/browser is skipped: ${WHY_SKIPPED}`);

interface Run {
  readonly simd: string;
  readonly threads: number;
  readonly losses: number[];
  readonly lagrangians: number[];
  /** Of the first rows of the table, by the model. */
  readonly survival: number[];
}

/** A table of nwtco's first thousand rows, which show as well as all of them whether a page computes what Node does. */
function firstRows(table: Uint8Array<ArrayBuffer>): Uint8Array<ArrayBuffer> {
  const lines = new TextDecoder().decode(table).split("\n");
  return new TextEncoder().encode(`${lines.slice(0, 1001).join("\n")}\n`);
}

/** Runs in Node and, by its text, in the page: it may use nothing but what it is given. */
async function takeSteps(
  graduate: typeof Graduate,
  backend: WasmBackend,
  table: Uint8Array<ArrayBuffer>,
  groups: string,
  steps: number,
  members: number,
): Promise<Run> {
  const nwtco = await graduate.readTable(graduate.tableSourceFromBytes("nwtco.csv", table));
  const request = {
    time: "edrel",
    event: "rel",
    groupsFile: graduate.parseGroupsFile(groups, "groups.json"),
    seed: 1,
    bins: 20,
    options: { steps },
  };
  const run: Run = {
    simd: backend.simd,
    threads: backend.threads,
    losses: [],
    lagrangians: [],
    survival: [],
  };
  const training =
    members === 1
      ? graduate.train(graduate.prepare(nwtco, request), request, backend)
      : graduate.trainEnsemble(
          graduate.prepare(nwtco, { ...request, splines: true }),
          { ...request, splines: true, ensemble: members },
          backend,
        );
  let next = await training.next();
  for (; !next.done; next = await training.next()) {
    if (next.value.type !== "step") continue;
    run.losses.push(next.value.loss);
    run.lagrangians.push(next.value.lagrangian);
  }
  const { curves } = await graduate.predict(next.value, nwtco, backend, Int32Array.of(0, 1, 2, 3, 4));
  run.survival.push(...curves.survival);
  await backend.close();
  return run;
}

/** Two verbs that make many runs; in Node and, by its text, in the page. */
async function judge(graduate: typeof Graduate, backend: WasmBackend, bytes: Uint8Array<ArrayBuffer>) {
  const table = await graduate.readTable(graduate.tableSourceFromBytes("nwtco.csv", bytes));
  const request = { time: "edrel", event: "rel", drop: ["seqno"], bins: 8, options: { steps: 3 } };
  const last = async <Outcome>(events: AsyncGenerator<unknown, Outcome>): Promise<Outcome> => {
    let next = await events.next();
    while (!next.done) next = await events.next();
    return next.value;
  };
  const study = graduate.prepare(table, request);
  const settings = [{ hidden: 2 }, { method: "cox" as const }];
  const tuned = await last(graduate.tune(study, request, { settings }, { backend }));
  const methods = [
    { label: "cox", method: "cox" as const, distance: null, boosted: false },
    { label: "nll", method: "nll" as const, distance: null, boosted: false },
  ];
  const compared = await last(graduate.compare(study, request, { methods, replicates: 20 }, { backend }));
  await backend.close();
  // As JSON: a page hands back no typed arrays.
  return JSON.parse(JSON.stringify({ tuned, compared })) as {
    tuned: Graduate.TuneOutcome;
    compared: Graduate.Comparison;
  };
}

const NWTCO = new URL("../../datasets/nwtco/nwtco.csv", import.meta.url);

/** The same built files as a page loads. */
async function loadGraduate(): Promise<typeof Graduate> {
  return import(new URL("../../dist/index.js", import.meta.url).href);
}

async function openInNode(threads: number): Promise<WasmBackend> {
  const node: typeof NodeEntry = await import(new URL("../../dist/node/index.js", import.meta.url).href);
  return node.openWasmBackend({ threads, deterministic: true });
}

function htmlOf(body: string): string {
  const imports = JSON.stringify({
    imports: buildImportMap(root, ["graduate-survival", "graduate-survival/browser"]),
  });
  // An icon of its own, so that the browser asks for none.
  return `<!doctype html><link rel="icon" href="data:,"><script type="importmap">${imports}</script>${body}`;
}

/** A page that leaves the modules where the tests' scripts find them, by the names of the folders they come from. */
function pageWith(modules: Readonly<Record<string, string>>): string {
  const names = Object.keys(modules);
  const imports = names.map((name) => `import * as ${name} from "${modules[name]}";`).join("\n");
  return htmlOf(
    `<script type="module">${imports} Object.assign(globalThis, { ${names.join(", ")} });</script>`,
  );
}

/** The page shown in the documentation, as it stands there. */
function documentedPage(): string {
  const text = readFileSync(new URL("../../docs/concepts/in-the-browser.md", import.meta.url), "utf8");
  const block = /^```\w+\n(<!doctype html>[\s\S]*?)^```/m.exec(text);
  if (block === null) throw new Error("in-the-browser.md shows no page");
  return block[1];
}

describe.skipIf(program === null)("in a browser page", () => {
  let server: StaticServer;
  let chromium: Browser;
  let context: BrowserContext;

  beforeAll(async () => {
    server = await startServer(root, {
      "/training.html": {
        html: pageWith({ graduate: "graduate-survival", browser: "graduate-survival/browser" }),
        isolated: true,
      },
      "/isolated.html": { html: pageWith({ browser: "graduate-survival/browser" }), isolated: true },
      "/documented.html": { html: htmlOf(documentedPage()), isolated: true },
      "/ordinary.html": { html: pageWith({ browser: "graduate-survival/browser" }), isolated: false },
    });
    chromium = await launchChromium(program ?? "");
    context = await chromium.newContext();
  }, 60_000);

  afterAll(async () => {
    await chromium?.close();
    await server?.close();
  });

  interface Opened {
    readonly page: Page;
    readonly problems: string[];
  }

  async function open(path: string): Promise<Opened> {
    const page = await context.newPage();
    const problems: string[] = [];
    page.on("pageerror", (error) => problems.push(error.message));
    page.on("console", (message) => {
      if (message.type() === "error") problems.push(message.text());
    });
    page.on("requestfailed", (request) => problems.push(`${request.url()} failed`));
    await page.goto(`${server.origin}${path}`);
    return { page, problems };
  }

  /** Opens a page, hands it over, closes it; fails on any error the page had beyond those that are expected. */
  async function inPage(
    path: string,
    work: (page: Page) => Promise<void>,
    expected: readonly RegExp[] = [],
  ): Promise<void> {
    const { page, problems } = await open(path);
    await work(page);
    await page.close();
    const unexpected = problems.filter((problem) => !expected.some((pattern) => pattern.test(problem)));
    expect(unexpected).toEqual([]);
  }

  let training: Promise<Opened> | null = null;

  /** The page with all of the package, which is many files: opened once for the tests that train. */
  async function inTrainingPage(work: (page: Page) => Promise<void>): Promise<void> {
    training ??= open("/training.html");
    const { page, problems } = await training;
    await work(page);
    expect(problems).toEqual([]);
  }

  /** The run in a page, which fetches table and groups itself. */
  function runInPage(page: Page, threads: number, steps: number, members = 1): Promise<Run> {
    return page.evaluate(`(async () => {
      const fetched = async (name) => (await fetch("datasets/nwtco/" + name)).arrayBuffer();
      const table = (${firstRows})(new Uint8Array(await fetched("nwtco.csv")));
      const groups = new TextDecoder().decode(await fetched("groups.json"));
      const backend = await browser.openWasmBackend({ threads: ${threads}, deterministic: true });
      return (${takeSteps})(graduate, backend, table, groups, ${steps}, ${members});
    })()`);
  }

  async function runInNode(threads: number, steps: number, members = 1): Promise<Run> {
    const groups = readFileSync(new URL("groups.json", NWTCO), "utf8");
    const table = firstRows(new Uint8Array(readFileSync(NWTCO)));
    return takeSteps(await loadGraduate(), await openInNode(threads), table, groups, steps, members);
  }

  test("twenty steps on nwtco, twelve groups: the page's losses are Node's, on two threads and on one", async () => {
    const here = await runInNode(2, 20);
    expect(here).toMatchObject({ simd: "plain", threads: 2 });
    expect(new Set(here.losses).size).toBe(20);
    await inTrainingPage(async (page) => {
      const there = await runInPage(page, 2, 20);
      expect(there).toMatchObject({ simd: "plain", threads: 2 });
      expect(there.losses).toEqual(here.losses);
      expect(there.lagrangians).toEqual(here.lagrangians);
      expect(there.survival).toEqual(here.survival);
      const alone = await runInPage(page, 1, 3);
      expect(alone.threads).toBe(1);
      expect(alone.losses).toEqual(there.losses.slice(0, 3));
      expect(alone.lagrangians).toEqual(there.lagrangians.slice(0, 3));
    });
  });

  test("an ensemble of two with splines: the page's steps and mean curves are Node's", async () => {
    const here = await runInNode(2, 3, 2);
    expect([here.losses.length, here.survival.length]).toEqual([6, 5 * 20]);
    await inTrainingPage(async (page) => {
      const there = await runInPage(page, 2, 3, 2);
      expect(there.losses).toEqual(here.losses);
      expect(there.survival).toEqual(here.survival);
    });
  });

  test("tune and compare: the page's choice, scores and differences are Node's", async () => {
    const here = await judge(
      await loadGraduate(),
      await openInNode(2),
      firstRows(new Uint8Array(readFileSync(NWTCO))),
    );
    expect(here.tuned.runs).toHaveLength(2);
    expect(here.compared.differences).toHaveLength(5);
    await inTrainingPage(async (page) => {
      const there = await page.evaluate(`(async () => {
        const fetched = await fetch("datasets/nwtco/nwtco.csv");
        const table = (${firstRows})(new Uint8Array(await fetched.arrayBuffer()));
        const backend = await browser.openWasmBackend({ threads: 2, deterministic: true });
        return (${judge})(graduate, backend, table);
      })()`);
      expect(there).toEqual(here);
    });
  });

  test("as many threads as the machine has, relaxed SIMD where the browser has it; close ends them", async () => {
    await inPage("/isolated.html", async (page) => {
      const opened = `browser.openWasmBackend().then((backend) => {
        globalThis.backend = backend;
        return { threads: backend.threads, simd: backend.simd };
      })`;
      const threads = await page.evaluate<number>("navigator.hardwareConcurrency");
      expect(await page.evaluate(opened)).toEqual({ threads, simd: "relaxed" });
      expect(page.workers()).toHaveLength(threads);
      await page.evaluate("backend.close()");
      await expect.poll(() => page.workers().length, { timeout: 10_000 }).toBe(0);
      const refused = `backend.denseForward({}, 1, 1, null, 1, null).catch(({ name, code }) => ({ name, code }))`;
      expect(await page.evaluate(refused)).toEqual({ name: "BackendError", code: "backend.closed" });
    });
  });

  test("a worker of the page opens the backend as the page does", async () => {
    await inPage("/isolated.html", async (page) => {
      const answer = await page.evaluate(`new Promise((resolve, reject) => {
        const code = \`import { openWasmBackend } from "\${location.origin}/dist/browser/index.js";
          const backend = await openWasmBackend({ threads: 2 });
          const [x, weight, bias, out] = [3, 3, 1, 1].map((length) => backend.allocate(length));
          backend.write(x, [1, 2, 3]);
          backend.write(weight, [0.5, 0.25, -1]);
          backend.write(bias, [10]);
          const shape = { inputs: 3, outputs: 1, activation: "none" };
          await backend.denseForward(shape, { weight, bias }, x, 1, out);
          const [answer] = await backend.read(out);
          await backend.close();
          postMessage(answer);\`;
        const script = URL.createObjectURL(new Blob([code], { type: "text/javascript" }));
        const worker = new Worker(script, { type: "module" });
        worker.onmessage = ({ data }) => resolve(data);
        worker.onerror = ({ message }) => reject(new Error(message));
      })`);
      expect(answer).toBe(8); // 10 + 1·0.5 + 2·0.25 − 3·1
    });
  });

  test("kernels and worker are taken from the folder that is named, as a bundler without assets leaves them", async () => {
    const folder = fileURLToPath(new URL("../../dist/elsewhere/", import.meta.url));
    mkdirSync(folder, { recursive: true });
    for (const name of ["kernels-plain.wasm", "kernels-relaxed.wasm"])
      copyFileSync(fileURLToPath(new URL(`../../dist/compute/${name}`, import.meta.url)), `${folder}${name}`);
    writeFileSync(`${folder}wasm-worker.js`, 'import "../browser/wasm-worker.js";\n');
    try {
      await inPage("/isolated.html", async (page) => {
        const fetched: string[] = [];
        page.on("request", (request) => fetched.push(new URL(request.url()).pathname));
        const opened = `browser.openWasmBackend({ threads: 1, files: "dist/elsewhere" })
          .then(async (backend) => { await backend.close(); return backend.simd; })`;
        expect(await page.evaluate(opened)).toBe("relaxed");
        expect(fetched).toContain("/dist/elsewhere/kernels-relaxed.wasm");
        expect(fetched.filter((path) => /compute.*wasm$/.test(path))).toEqual([]);
      });
    } finally {
      rmSync(folder, { recursive: true });
    }
  });

  /** How the page's openWasmBackend refuses. */
  function refusalIn(page: Page, options = "{}"): Promise<unknown> {
    return page.evaluate(`browser.openWasmBackend(${options}).then(
      () => "not refused",
      ({ name, code, message, where, hint }) => ({ name, code, message, where, hint }),
    )`);
  }

  test("a page that is not isolated is told the two headers", async () => {
    await inPage("/ordinary.html", async (page) => {
      expect(await refusalIn(page)).toEqual({
        name: "BackendError",
        code: "page.notIsolated",
        message: "this page may not share memory between threads: it is not cross-origin isolated",
        hint:
          "serve it with the headers `Cross-Origin-Opener-Policy: same-origin` and " +
          "`Cross-Origin-Embedder-Policy: require-corp`, over https or from localhost; the reference backend runs everywhere",
      });
    });
  });

  test("wrong options, missing kernels, a start page in their place, a missing worker script", async () => {
    const failures = [/404/, /kernels-plain\.wasm failed/, /wasm-worker\.js failed/];
    await inPage(
      "/isolated.html",
      async (page) => {
        const threads = { name: "InputError", code: "option.invalid" };
        expect(await refusalIn(page, "{ threads: 1.5 }")).toMatchObject(threads);
        const where = `${server.origin}/dist/compute/kernels-plain.wasm`;
        const kernels = { name: "BackendError", code: "kernels.missing", where };
        await page.route("**/*.wasm", (route) => route.fulfill({ status: 404 }));
        const missing = await refusalIn(page, "{ deterministic: true }");
        expect(missing).toMatchObject({ ...kernels, message: "the kernels cannot be fetched: status 404" });
        await page.route("**/*.wasm", (route) => route.fulfill({ body: "<!doctype html>" }));
        const other = await refusalIn(page, "{ deterministic: true }");
        expect(other).toMatchObject({
          ...kernels,
          message: "the kernels cannot be fetched: not a WebAssembly file",
        });
        await page.unroute("**/*.wasm");
        await page.route("**/wasm-worker.js", (route) => route.abort());
        expect(await refusalIn(page, "{ threads: 1 }")).toMatchObject({
          name: "BackendError",
          code: "worker.failed",
          message: expect.stringMatching(/did not start: its script, wasm-worker\.js/),
        });
      },
      failures,
    );
  });

  test("the documented page does what its comment says", async () => {
    const promised = /progress\.textContent \+= .*; \/\/ (.*)$/m.exec(documentedPage())?.[1];
    await inPage("/documented.html", async (page) => {
      const progress = page.locator("#progress");
      await expect.poll(() => progress.textContent(), { timeout: 20_000 }).toBe(promised);
    });
  });
});
