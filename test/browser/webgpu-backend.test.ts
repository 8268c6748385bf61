// The WebGPU backend in a real page: what the reference gives in Node, and a page without WebGPU.
import { fileURLToPath } from "node:url";
import type { Browser, Page } from "playwright-core";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { createReferenceBackend } from "../../src/compute/reference.ts";
import type { WebGpuBackend } from "../../src/compute/webgpu/webgpu-backend.ts";
import { drawLstmProblem, type LstmProblem, type Numbers, runLstm } from "../compute/problems.ts";
import { findChromium, launchChromium, launchWithSoftwareDevice, WHY_SKIPPED } from "./chromium.ts";
import { buildImportMap } from "./import-map.ts";
import { type StaticServer, startServer } from "./static-server.ts";

const root = fileURLToPath(new URL("../../", import.meta.url));
const program = findChromium();
if (program === null) console.log(`test/browser is skipped: ${WHY_SKIPPED}`);

/** What the page has of graduate-survival/browser. */
interface PageGlobals {
  readonly browser: { openWebGpuBackend(): Promise<WebGpuBackend> };
}

/** A problem as a page can be given it: plain lists. */
function listed(problem: LstmProblem) {
  const weights = Object.entries<ArrayLike<number>>(problem.weights);
  return {
    shape: problem.shape,
    N: problem.N,
    weights: weights.map(([name, values]) => [name, Array.from(values)] as const),
    x: Array.from(problem.x),
    dLogits: Array.from(problem.dLogits),
  };
}

/** Runs in the page, by its text. Results start from 0.5, as those of runLstm. */
async function runInPage({ shape, N, weights, x, dLogits }: ReturnType<typeof listed>) {
  const { browser } = globalThis as unknown as PageGlobals;
  const backend = await browser.openWebGpuBackend();
  const place = (values: readonly number[]) => {
    const array = backend.allocate(values.length);
    backend.write(array, values);
    return array;
  };
  const half = (length: number) => place(new Array(length).fill(0.5));
  const placed = Object.fromEntries(weights.map(([name, values]) => [name, place(values)]));
  const gradient = Object.fromEntries(weights.map(([name, values]) => [name, half(values.length)]));
  const logits = half(N * shape.T);
  const tape = backend.createTape();
  await backend.lstmForward(shape, placed as never, place(x), N, logits, tape);
  await backend.lstmBackward(tape, place(dLogits), gradient as never);
  const results: Record<string, number[]> = {};
  for (const [name, array] of Object.entries({ logits, ...gradient }))
    results[name] = Array.from(await backend.read(array));
  await backend.close();
  return results;
}

function worstGap(actual: Readonly<Record<string, readonly number[]>>, expected: Numbers): number {
  const gaps = Object.entries(expected).map(([name, values]) => {
    const largest = Math.max(...Array.from(values, Math.abs));
    return Math.max(...Array.from(values, (value, i) => Math.abs(value - actual[name][i]))) / largest;
  });
  return Math.max(...gaps);
}

describe.skipIf(program === null)("WebGPU in a page", () => {
  let server: StaticServer;
  const opened: Browser[] = [];

  beforeAll(async () => {
    const imports = JSON.stringify({ imports: buildImportMap(root, ["graduate-survival/browser"]) });
    const script = `import * as browser from "graduate-survival/browser"; Object.assign(globalThis, { browser });`;
    const html =
      `<!doctype html><link rel="icon" href="data:,"><script type="importmap">${imports}</script>` +
      `<script type="module">${script}</script>`;
    server = await startServer(root, { "/page.html": { html, isolated: false } });
  });
  afterAll(async () => {
    for (const browser of opened) await browser.close();
    await server?.close();
  });

  async function openPage(launch: (program: string) => Promise<Browser>): Promise<Page> {
    const browser = await launch(program ?? "");
    opened.push(browser);
    const page = await browser.newPage();
    await page.goto(`${server.origin}/page.html`);
    return page;
  }

  test("gives what the reference gives, without headers", async () => {
    const problem = drawLstmProblem({ D: 3, H: 5, T: 7 }, 17);
    const page = await openPage(launchWithSoftwareDevice);
    const results = await page.evaluate(runInPage, listed(problem));
    expect(worstGap(results, await runLstm(createReferenceBackend(), problem))).toBeLessThan(2e-5);
  });

  test("a browser without a graphics device says so", async () => {
    const page = await openPage(launchChromium);
    const code = await page.evaluate(async () => {
      const { browser } = globalThis as unknown as PageGlobals;
      return browser.openWebGpuBackend().then(
        () => "none",
        (error) => error.code,
      );
    });
    expect(["gpu.unsupported", "adapter.missing"]).toContain(code);
  });
});
